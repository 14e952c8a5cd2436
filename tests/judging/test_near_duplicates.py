"""Items that say the same, or nearly."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.dataset import Item, Pair
from core.domain.rubric import Criterion
from core.judging import near_duplicates
from core.judging.near_duplicates import fingerprint_of, group_numbers
from core.judging.prompts.few_shot import ExampleBank

ESSAY = (
    "The tide rises because the Moon pulls the water on the near side more than the Earth, and "
    "the Earth more than the water on the far side, so there are two bulges a day."
)


def item(text: str, prompt: str = "", name: str = "a") -> Item:
    return Item(id=name, submission=text, prompt=prompt)


def alike(one: Item, other: Item) -> bool:
    return fingerprint_of(one).is_near(fingerprint_of(other))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Two words.", "two  WORDS", True),
        ("caf\u00e9", "cafe\u0301", True),  # one sign, or two: the same letter
        ("\uff21\uff22\uff23", "abc", True),  # full width
        ("\U0001f44d", "\U0001f44e", False),  # no letters: as written
        ("+1", "-1", False),  # as in arithmetic
        ("1.", '"1"', True),
        ("", "", False),
        (ESSAY, ESSAY.replace("a day", "daily"), True),  # its last two sequences of 29 or more
        (ESSAY, ESSAY.replace("Moon", "Sun").replace("near", "far").replace("two", "six"), False),
    ],
)
def test_texts_are_twins_by_their_letters_and_their_sequences_of_words(
    one: str, other: str, expected: bool
) -> None:
    assert alike(item(one), item(other)) is expected


def test_a_short_answer_is_a_twin_under_the_same_prompt_only_a_long_one_under_any() -> None:
    assert not alike(item("Yes.", "Is it wet?"), item("Yes.", "Is it dry?"))
    assert alike(item("Yes.", "Is it wet?"), item("yes", "Is it wet"))
    assert alike(item(ESSAY, "Is it wet?"), item(ESSAY, "Is it dry?"))


def test_a_script_without_spaces_is_compared_sign_by_sign() -> None:
    text = "\u6f6e\u6c50\u662f\u7531\u6708\u7403\u5f15\u529b\u9020\u6210\u7684\u73b0\u8c61"
    text *= 3
    assert alike(item(text), item(text + "\u3002\u5f88\u597d"))


def test_pairs_with_the_same_answers_are_twins() -> None:
    same = [Item(id=i, submission=Pair(first="x", second="y")) for i in "ab"]
    swapped = Item(id="c", submission=Pair(first="y", second="x"))
    assert group_numbers([*same, swapped]) == [0, 0, 1]


def _random_texts(rng: Random, count: int) -> list[Item]:
    """Texts of 12 to 40 words, many of them copies with a few words changed."""
    made = list[list[str]]()
    for _ in range(count):
        if made and rng.random() < 0.6:
            words = list(rng.choice(made))
            for _ in range(rng.randrange(4)):
                words[rng.randrange(len(words))] = f"w{rng.randrange(50)}"
        else:
            words = [f"w{rng.randrange(50)}" for _ in range(rng.randrange(12, 40))]
        made.append(words)
    return [item(" ".join(words), name=str(at)) for at, words in enumerate(made)]


@pytest.mark.parametrize("seed", range(6))
def test_groups_are_those_that_comparing_all_pairs_finds(seed: int) -> None:
    items = _random_texts(Random(seed), 60)
    of = list(range(len(items)))
    for a, b in combinations(range(len(items)), 2):
        if alike(items[a], items[b]):
            of = [min(of[a], of[b]) if at in (of[a], of[b]) else at for at in of]
    first: dict[int, int] = {}
    assert group_numbers(items) == [first.setdefault(at, len(first)) for at in of]


def test_of_very_much_text_a_share_is_compared_and_copies_are_still_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = Random(1)
    words = [" ".join(f"w{rng.randrange(5000)}" for _ in range(400)) for _ in range(20)]
    items = [item(text, name=str(at)) for at, text in enumerate(words)]
    near = [item(f"{text} indeed", name=f"{at}'") for at, text in enumerate(words)]
    monkeypatch.setattr(near_duplicates, "MOST_SEQUENCES", 4_000)  # of 16,000
    assert group_numbers([*items, *near]) == [*range(20), *range(20)]


@given(st.text(st.characters(max_codepoint=127), max_size=30))
def test_plain_signs_are_read_as_all_others_are(text: str) -> None:
    assert near_duplicates._words(text) == near_duplicates._words(f"{text} \u00e9")[:-1]


def test_no_example_is_nearly_the_graded_text() -> None:
    criterion = Criterion(name="c", requirement="Says why.")
    near = item(ESSAY.replace("a day", "daily"), name="near")
    others = [(item(f"text {n}", name=f"i{n}"), n % 2, "") for n in range(3)]
    bank = ExampleBank(criterion, [(near, 0, ""), *others], 4, seed=1)
    shown = bank.for_item(item(ESSAY, name="graded"))
    assert sorted(example.item.id for example in shown) == ["i0", "i1", "i2"]

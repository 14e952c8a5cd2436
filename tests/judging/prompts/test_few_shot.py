"""Which labelled items are shown as examples."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.judging.prompts.few_shot import ExampleBank
from core.judging.protocol import Example

CRITERION = Criterion(name="c", requirement="Names the capital.")


def labelled(count: int, options: int = 2) -> list[tuple[Item, int, str]]:
    return [
        (Item(id=f"i{n}", submission=f"text {n}"), n % options, f"why {n}") for n in range(count)
    ]


NEW = Item(id="new", submission="unseen")


def draw_examples(
    criterion: Criterion,
    labelled: Sequence[tuple[Item, int, str]],
    k: int,
    *,
    seed: int,
    item: Item,
) -> tuple[Example, ...]:
    return ExampleBank(criterion, labelled, k, seed=seed).for_item(item)


def options(examples: tuple[Example, ...]) -> list[int]:
    return [example.option for example in examples]


def test_slots_are_equal_over_the_options_and_the_rest_goes_to_drawn_ones() -> None:
    assert Counter(options(draw_examples(CRITERION, labelled(30), 4, seed=7, item=NEW))) == {
        0: 2,
        1: 2,
    }
    # 5 slots over 3 options: one each, and the 2 that remain to two of the three.
    counts = Counter(options(draw_examples(CRITERION, labelled(30, 3), 5, seed=7, item=NEW)))
    assert sorted(counts.values()) == [1, 2, 2]
    favoured = {
        min(counts, key=lambda option: counts[option])
        for seed in range(20)
        for counts in [
            Counter(options(draw_examples(CRITERION, labelled(30, 3), 5, seed=seed, item=NEW)))
        ]
    }
    assert favoured == {0, 1, 2}  # not always the first options, as the peer does


def test_slots_that_cannot_be_filled_go_to_what_is_there() -> None:
    pool = [(item, 0 if n else 1, "") for n, (item, _, _) in enumerate(labelled(10))]
    # One item of option 1, so it has 1 of its 2 slots and option 0 has 3.
    assert Counter(options(draw_examples(CRITERION, pool, 4, seed=7, item=NEW))) == {0: 3, 1: 1}


def test_options_do_not_stand_one_after_the_other() -> None:
    for seed in range(50):
        shown = options(draw_examples(CRITERION, labelled(30), 4, seed=seed, item=NEW))
        assert sum(a != b for a, b in pairwise(shown)) >= 2  # grouped would change once


def test_an_example_keeps_its_reason_and_true_option() -> None:
    for example in draw_examples(CRITERION, labelled(9), 9, seed=7, item=NEW):
        number = int(example.item.id[1:])
        assert example == Example(example.item, "c", number % 2, f"why {number}")


def test_the_graded_item_and_its_text_under_another_id_are_never_examples() -> None:
    pool = labelled(6)
    for item, _, _ in pool:
        twin = Item(id="twin", submission=f"  {str(item.submission).upper()}\n")
        for graded in (item, twin):
            shown = draw_examples(CRITERION, pool, 6, seed=7, item=graded)
            assert item.id not in {example.item.id for example in shown}
            assert len(shown) == 5


def test_only_the_example_that_would_leak_is_replaced_and_by_one_of_its_option() -> None:
    pool = labelled(30)
    usual = draw_examples(CRITERION, pool, 4, seed=7, item=NEW)
    for place, example in enumerate(usual):
        other = draw_examples(CRITERION, pool, 4, seed=7, item=example.item)
        assert [a == b for a, b in zip(usual, other, strict=True)] == [i != place for i in range(4)]
        assert options(other) == options(usual)


def test_items_share_the_very_same_examples() -> None:
    bank = ExampleBank(CRITERION, labelled(30), 4, seed=7)
    assert bank.for_item(NEW) is bank.for_item(Item(id="other", submission="also unseen"))


def test_the_same_text_is_shown_once() -> None:
    pool = [(Item(id=f"i{n}", submission=f"Same  text{' ' * n}"), n % 2, "") for n in range(5)]
    assert len(draw_examples(CRITERION, pool, 3, seed=7, item=NEW)) == 1


def test_examples_of_the_same_prompt_come_first_within_an_option() -> None:
    pool = [
        (Item(id=f"i{n}", submission=f"text {n}", prompt="A" if n < 8 else "B"), n % 2, "")
        for n in range(30)
    ]
    graded = NEW.model_copy(update={"prompt": "A"})
    prompts = [e.item.prompt for e in draw_examples(CRITERION, pool, 10, seed=7, item=graded)]
    assert Counter(prompts) == {"A": 8, "B": 2}  # all 8 there are, 4 of each option
    assert Counter(options(draw_examples(CRITERION, pool, 10, seed=7, item=graded))) == {0: 5, 1: 5}


def test_nothing_labelled_gives_no_examples() -> None:
    assert draw_examples(CRITERION, [], 3, seed=7, item=NEW) == ()


@given(
    given_options=st.lists(st.integers(0, 3), max_size=12),
    k=st.integers(1, 8),
    seed=st.integers(0, 99),
    graded=st.integers(0, 12),
)
def test_a_draw_is_bounded_balanced_without_the_item_and_the_same_whatever_the_order_given(
    given_options: list[int], k: int, seed: int, graded: int
) -> None:
    pool = [
        (Item(id=f"i{n}", submission=f"text {n}"), option, "")
        for n, option in enumerate(given_options)
    ]
    item = Item(id=f"i{graded}", submission=f"text {graded}")
    shown = draw_examples(CRITERION, pool, k, seed=seed, item=item)
    ids = [example.item.id for example in shown]
    assert item.id not in ids
    assert len(set(ids)) == len(ids) == min(k, len([p for p in pool if p[0].id != item.id]))
    assert shown == draw_examples(CRITERION, pool[::-1], k, seed=seed, item=item)
    counts = Counter(options(shown))
    there = Counter(option for i, option, _ in pool if i.id != item.id)
    for option in there:
        # Short of its equal share only where the option has no more, or where one was replaced.
        assert counts[option] >= min(there[option], k // len(set(given_options))) - 1

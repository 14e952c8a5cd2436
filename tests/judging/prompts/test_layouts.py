"""Layouts: what calls share, and which layout is cheaper."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.prefix import ITEMS, prompt_sharing, questions
from core.domain.dataset import Item
from core.domain.votes import Segment
from core.judging.prompts.assembly import build_prompt
from core.judging.prompts.layouts import cheaper_layout, layout_for
from core.judging.protocol import Example, Question
from tests.judging.asked import CAPITAL, CASES, FULL, PLAIN, question

ONE, TWO, THREE = Segment("user", "ab-one"), Segment("user", "ab-two"), Segment("user", "c")


def test_shared_is_what_some_other_call_begins_with_and_seen_before_what_an_earlier_one_did() -> (
    None
):
    # "user\n" (5 characters) begins all three, "user\nab-" (8) the first two.
    found = prompt_sharing([[ONE], [TWO], [THREE]])
    assert found.all == 11 + 11 + 6
    assert found.shared == 8 + 8 + 5
    assert found.seen_before == 0 + 8 + 5
    assert found.share == 21 / 28


def test_nothing_sent_shares_nothing() -> None:
    assert prompt_sharing([]).share == 0.0


@given(st.lists(st.text(alphabet="ab", max_size=6), max_size=8))
def test_sharing_is_what_comparing_every_pair_gives(texts: list[str]) -> None:
    found = prompt_sharing([[Segment("r", text)] for text in texts])
    sent = [f"r\n{text}" for text in texts]

    def common(a: str, b: str) -> int:
        return next(
            (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(map(len, (a, b)))
        )

    every = [[common(a, b) for j, b in enumerate(sent) if i != j] for i, a in enumerate(sent)]
    assert found.shared == sum(max(row, default=0) for row in every)
    assert found.seen_before == sum(max(row[:i], default=0) for i, row in enumerate(every))


@pytest.mark.parametrize(
    ("criterion", "item", "criteria", "items", "shuffled", "options", "wanted"),
    [
        # Shared by item: 50 x 5 x 1500 = 375,000; by criterion: 6 x 49 x 60 = 17,640.
        (60, 1500, 6, 50, True, 100, "item_first"),
        # With three examples of 1,500 tokens: 6 x 49 x 4560 = 1,340,640.
        (4560, 1500, 6, 50, True, 100, "criterion_first"),
        # One criterion: an item's submission is sent once and shared with nobody.
        (60, 1500, 1, 50, True, 100, "criterion_first"),
        # One item: no criterion is asked twice.
        (60, 1500, 6, 1, True, 100, "item_first"),
        (60, 1500, 1, 1, True, 100, "item_first"),
        # 10 x 1 x 100 = 1,000 by item; by criterion 2 x 9 x 50 = 900, or 1,800 with the options,
        # which are shared where they are not shuffled.
        (50, 100, 2, 10, True, 50, "item_first"),
        (50, 100, 2, 10, False, 50, "criterion_first"),
    ],
)
def test_the_layout_that_shares_more_is_taken(
    criterion: float,
    item: float,
    criteria: float,
    items: int,
    shuffled: bool,
    options: float,
    wanted: str,
) -> None:
    assert cheaper_layout(criterion, item, criteria, items, shuffled, options) == wanted


@pytest.mark.parametrize("shots", [0, 3])
@pytest.mark.parametrize("mode", ["criterion", "rubric"])
def test_the_layout_chosen_from_a_sample_is_the_one_that_measures_better(
    mode: str, shots: int
) -> None:
    shares = {
        layout: prompt_sharing(
            build_prompt(q).segments for q in questions(mode, layout, shots)
        ).seen_before
        for layout in ("item_first", "criterion_first")
    }
    sample = list(questions(mode, "item_first", shots))[:18]
    assert layout_for(sample, ITEMS, shuffled=True) == max(shares, key=lambda k: shares[k])


def test_without_a_sample_the_item_comes_first() -> None:
    assert layout_for([], 9, shuffled=True) == "item_first"


def test_six_criteria_of_long_items_share_at_least_three_quarters_of_their_prompts() -> None:
    # The bound. bench/prefix.py prints 96% for this run.
    found = prompt_sharing(
        build_prompt(q).segments for q in questions("criterion", "item_first", 0)
    )
    assert found.share >= 0.75


def _begins_alike(a: Question, b: Question) -> str:
    one, other = ("".join(s.text for s in build_prompt(q).segments) for q in (a, b))
    return one[: next(i for i in range(len(one)) if one[i] != other[i : i + 1])]


def test_criterion_first_shares_requirement_examples_and_task_whatever_order_is_shown() -> None:
    base = CASES["examples-criterion-first"]
    other = replace(base, item=FULL.model_copy(update={"submission": "Perth."}), order=(0, 1, 2))
    alike = _begins_alike(base, other)
    for text in ("Spelling", "Names the capital", "Sydney.", "Option chosen in example 2", "1927"):
        assert text in alike
    assert "UNMET: the submission" not in alike  # the options come after what is shared
    assert "It is Canberra." not in alike


def test_items_with_the_same_task_share_it_under_both_layouts() -> None:
    for layout in ("item_first", "criterion_first"):
        base = replace(CASES["binary-shuffled-full"], layout=layout)
        other = replace(base, item=FULL.model_copy(update={"submission": "Perth."}))
        assert "Canberra (since 1927)" in _begins_alike(base, other)


def test_examples_are_shared_by_items_with_tasks_of_their_own() -> None:
    shots = (Example(Item(id="e", submission="Sydney.", prompt="P0"), "capital", 1),)
    a, b = (
        replace(
            question(CAPITAL, PLAIN.model_copy(update={"prompt": prompt})),
            examples=shots,
            layout="criterion_first",
        )
        for prompt in ("P1", "P2")
    )
    assert "Option chosen in example 1: UNMET" in _begins_alike(a, b)


def test_the_bench_asks_about_texts_that_begin_differently() -> None:
    # The bound above would mean little if submissions were alike: pairs share next to nothing.
    texts = [q.item.output for q in questions("rubric", "item_first", 0)]
    assert all(len(text) >= 5_900 for text in texts)
    assert all(a[:200] != b[:200] for a, b in pairwise(texts))

"""The order options are shown in: drawn from the cell, abstentions last."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Criterion, Option
from core.judging.prompts.parts import shown_order

LEVELS = tuple(Option(label=f"level {i}", value=i / 4) for i in range(5))
ORDINAL = Criterion(name="depth", requirement="How deep is it?", scale="ordinal", options=LEVELS)
FIXED: dict[str, object] = {"item": "i1", "judge": "j1", "replicate": 0}


def test_the_same_cell_always_gets_the_same_order() -> None:
    first = shown_order(ORDINAL, seed=7, item="i1", judge="j1", replicate=0)
    assert first == shown_order(ORDINAL, seed=7, item="i1", judge="j1", replicate=0)


def test_this_order_is_the_same_on_every_machine() -> None:
    # Recorded once; identity.seeded is SHA-256, so a change here would change stored runs.
    assert shown_order(ORDINAL, seed=7, item="i1", judge="j1", replicate=0) == (2, 4, 1, 3, 0, 5)


def test_without_shuffling_the_authors_order_is_kept() -> None:
    order = shown_order(ORDINAL, seed=7, item="i1", judge="j1", replicate=0, shuffle=False)
    assert order == (0, 1, 2, 3, 4, 5)


def test_an_authors_abstention_in_the_middle_is_shown_last() -> None:
    options = (LEVELS[0], Option(label="not applicable", na=True), LEVELS[4])
    criterion = Criterion(name="c", requirement="r", scale="ordinal", options=options)
    assert all(
        shown_order(criterion, seed=s, item="i", judge="j", replicate=0)[-1] == 1 for s in range(20)
    )


def test_every_part_of_the_cell_changes_the_draw() -> None:
    def orders(**changes: int | str) -> list[tuple[int, ...]]:
        return [
            shown_order(ORDINAL, **{**FIXED, "seed": seed, **changes})  # type: ignore[arg-type]
            for seed in range(50)
        ]

    plain = orders()
    for changes in ({"item": "i2"}, {"judge": "j2"}, {"replicate": 1}):
        same = sum(a == b for a, b in zip(plain, orders(**changes), strict=True))
        assert same < 5  # 50/120 = 0.4 expected by chance


def test_all_orders_of_three_options_come_up_about_equally_often() -> None:
    criterion = Criterion(
        name="tone", requirement="r", scale="ordinal", options=LEVELS[:3], forced_choice=True
    )
    drawn = Counter(
        shown_order(criterion, seed=1, item=str(i), judge="j", replicate=0) for i in range(6000)
    )
    # 6 orders, 1,000 expected each; chi-squared with 5 degrees of freedom is below 20.5 with
    # probability 0.999 (and the draw is fixed, so this is not flaky).
    assert len(drawn) == 6
    assert sum((n - 1000) ** 2 / 1000 for n in drawn.values()) < 20.5


@given(seed=st.integers(), item=st.text(), replicate=st.integers(0, 9), shuffle=st.booleans())
def test_an_order_is_always_a_permutation(
    seed: int, item: str, replicate: int, shuffle: bool
) -> None:
    order = shown_order(
        ORDINAL, seed=seed, item=item, judge="j", replicate=replicate, shuffle=shuffle
    )
    assert sorted(order) == [0, 1, 2, 3, 4, 5]
    assert order[-1] == 5

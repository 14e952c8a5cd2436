"""Scores of other tools become options: passed or not, levels, or steps of a number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.formats.votes.scales import Bins, scale_of

NUMBERS = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False).filter(lambda number: number == 0 or abs(number) > 1e-6),
    min_size=1,
    max_size=30,
)


@given(NUMBERS, st.integers(2, 20))
def test_every_number_has_an_option_and_larger_ones_never_a_lower(
    numbers: list[float], count: int
) -> None:
    scale = scale_of("score", numbers, bins=Bins(count))
    labels = [label for label, _ in scale.options]

    places = [labels.index(scale.label_of(number)) for number in sorted(numbers)]

    assert places == sorted(places)
    assert len(set(labels)) == len(labels) == count
    assert [value for _, value in scale.options] == sorted(value for _, value in scale.options)


def test_numbers_keep_the_usual_range_that_holds_them_all() -> None:
    # 0 to 1, -1 to 1, 0 to 5, 0 to 10, 0 to 100; beyond, whole numbers around them.
    ends = {
        (scale.edges[0], scale.edges[-1])
        for scale in (
            scale_of("s", [0.31, 0.9]),
            scale_of("s", [-0.5, 0.9]),
            scale_of("s", [2.5, 4.5]),
            scale_of("s", [2.5, 9.5]),
            scale_of("s", [2.5, 99.5]),
            scale_of("s", [150.5, 220.2]),
        )
    }
    assert ends == {(0, 1), (-1, 1), (0, 5), (0, 10), (0, 100), (150, 221)}


def test_words_are_kept_and_worth_nothing_until_somebody_says_it() -> None:
    scale = scale_of("tone", ["warm", "cold", None])

    assert (scale.kind, scale.options) == ("nominal", (("cold", 0.0), ("warm", 0.0)))
    assert scale.label_of(None) == ""

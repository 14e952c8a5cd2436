"""A difference beside its two ends is the difference of what is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.text.numbers import MINUS, forms_of_change, percent, points, score

SHARES = st.floats(0, 1)


def number(shown: str) -> float:
    return float(shown.replace(MINUS, "-").replace("points", "").replace("%", ""))


@given(SHARES, SHARES, st.booleans())
def test_what_is_shown_adds_up(first: float, second: float, share: bool) -> None:
    ends, change = forms_of_change(first, second, second - first, share=share)
    shown = [number(form(value)) for form, value in ((ends, first), (ends, second))]
    assert abs(shown[1] - shown[0] - number(change(second - first))) < 1e-9


def test_usual_digits_are_enough_where_they_fit() -> None:
    ends, change = forms_of_change(0.5, 0.75, 0.25)
    assert [ends(0.5), ends(0.75), change(0.25)] == ["0.50", "0.75", "+0.25"]
    ends, change = forms_of_change(0.75, 0.8, 0.05, share=True)
    assert [ends(0.75), ends(0.8), change(0.05)] == ["75%", "80%", "+5.0 points"]


def test_a_difference_over_other_items_keeps_the_usual_digits() -> None:
    ends, change = forms_of_change(0.384, 0.386, 0.1)
    assert (ends(0.384), change(0.1)) == (score(0.384), points(0.1))
    ends, change = forms_of_change(0.384, 0.386, 0.1, share=True)
    assert (ends(0.384), change(0.1)) == (percent(0.384), points(0.1, share=True))

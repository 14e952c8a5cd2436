"""Do the place of an answer or its length decide? Per judge, and over the systems."""

from __future__ import annotations

import streamlit as st

from core.services import numbers as fmt
from core.services.contest_position import Position, positions
from core.services.ranking_board import Leaderboard
from pages.grade._contests import chosen as chosen_
from pages.grade._contests.board import NAMED, measured
from pages.grade._contests.chosen import Chosen
from pages.ui.resources import remembered
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import table, tag


def show(chosen: Chosen) -> None:
    """The whole view."""
    st.html('<div class="rs-section">Place: the same two answers, exchanged</div>')
    found = remembered(
        "positions",
        (*chosen.about, chosen.question),
        lambda: positions(chosen.contests, chosen.question),
    )
    if any(one.pairs for one in found):
        table(
            ("Judge", "Asked in both orders", "Same choice", "Always A", "Always B", "Chose A", ""),
            map(_row, found),
            name="Position figures of every judge",
            numbers=(1, 2, 3, 4, 5),
        )
        st.caption(
            "Same choice: both orders name the same winner, or none. Chose A: the share of choices "
            "of a winner that went to the answer shown first; a half is fair, because each answer "
            "stood first once. Intervals: Wilson, 95 %."
        )
    else:
        st.caption("No judge answered a contest in both orders, so nothing can be said.")
    _length(chosen_.board(chosen))


def _row(one: Position) -> list[str]:
    mark = tag("✓ no preference found", "good")
    if one.biased:
        side = "first" if (one.shown_first or 0) > 0.5 else "last"
        mark = tag(f"⚠ prefers the answer shown {side}", "warn")
    elif not one.choices:
        mark = tag("no data")
    return [
        esc(one.judge),
        fmt.count(one.pairs),
        _share(one.rate, one.rate_low, one.rate_high),
        fmt.count(one.first),
        fmt.count(one.last),
        _share(one.shown_first, one.first_low, one.first_high),
        mark,
    ]


def _share(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return fmt.DASH
    ends = f"{fmt.percent(low)} to {fmt.percent(high)}"
    return f'{fmt.percent(value)}<br><span class="rs-quiet">{ends}</span>'


def _length(found: Leaderboard) -> None:
    st.html('<div class="rs-section">Length: strengths if all answers were equally long</div>')
    if isinstance(found.length, str):
        st.caption(label(found.length))
        return
    slope, ends = found.length.slope, found.length.slope_interval
    words = f"{slope:+.2f}".replace("-", "\N{MINUS SIGN}")
    known = ends.low is not None and ends.high is not None
    clear = known and not (ends.low or 0) <= 0 <= (ends.high or 0)
    verdict = (
        tag("⚠ longer answers win more" if slope > 0 else "⚠ shorter answers win more", "warn")
        if clear
        else tag("no effect of length found")
    )
    interval = f" ({ends.low:+.2f} to {ends.high:+.2f})" if known else f" ({ends.reason})"
    st.html(
        f'<div class="rs-row">{verdict}<span class="rs-num">effect of much more length, in log '
        f"odds: {esc(words)}{esc(interval.replace('-', chr(0x2212)))}</span></div>"
    )
    ignored = dict(zip(found.systems, found.length.ignored, strict=True))
    table(
        ("System", "Length ignored", "At equal length"),
        (
            [
                esc(one_line(s.system, NAMED)),
                f"{ignored[s.system]:.2f}".replace("-", fmt.MINUS),
                measured(s.length_controlled),
            ]
            for s in found.standings
        ),
        name="Strengths with and without control for length",
        numbers=(1, 2),
    )
    st.caption(
        "Logistic regression with and without the difference in words, in natural log units; a tie "
        "is half a win for each, so these are smaller than the strengths of the leaderboard."
    )

"""The leaderboard with its intervals and limits; and whether place or length decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from core import figures as draw
from core.metrics.estimate import Estimate
from core.services.pairwise.leaderboard_parts import (
    Leaderboard,
    Methods,
    RankedSystem,
    RankGap,
)
from core.services.pairwise.position_bias import Position, positions
from core.text import numbers as fmt
from pages.pairwise import selection
from pages.pairwise.selection import ContestSelection
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import (
    LabelledFigure,
    empty_state,
    figure_cell,
    figures,
    interval_choice,
    level_words,
    table,
    tag,
)

WHY = {
    "orders": "the orders disagree",
    "judges": "the judges are evenly split",
    "abstained": "a judge would not say",
    "missing": "an answer is missing",
}
GAPS = 30
#: Names of systems are cut here in tables; the contest itself has them whole.
NAMED = 70


def show(chosen: ContestSelection) -> None:
    """The whole view."""
    found = selection.board(chosen)
    if not found.decided:
        empty_state("Nothing is decided yet", _counted(found.undecided) or "No contest has a vote.")
        return
    _head(found)
    for note in found.notes:
        st.warning(label(note), icon=":material/info:")
    standings(found)
    methods(found.methods, found.systems, [one.system for one in found.standings])
    _gaps(found)


def _head(found: Leaderboard) -> None:
    undecided = sum(found.undecided.values())
    figures(
        [
            LabelledFigure("Contests decided", fmt.count(found.decided)),
            LabelledFigure("Undecided", fmt.count(undecided), _counted(found.undecided)),
            LabelledFigure(
                "Ties for want of agreement",
                fmt.count(sum(found.tied_for.values())),
                _counted(found.tied_for),
            ),
            LabelledFigure("Tasks", fmt.count(found.items)),
        ]
    )


def _counted(by_why: Mapping[str, int]) -> str:
    return "; ".join(f"{fmt.count(n)}: {WHY.get(why, why)}" for why, n in by_why.items())


def standings(found: Leaderboard) -> None:
    """The table of all systems, and their strengths as a picture."""
    several = len({s.group for s in found.standings}) > 1
    interval_choice(methods=False)
    table(
        ("System", "Ranks", "Strength", "Win rate", "Weighted", "Elo", "Won, tied, lost"),
        (_row(s, several=several) for s in found.standings),
        name="Leaderboard",
        numbers=(1, 2, 3, 4, 5, 6),
    )
    st.caption(
        "Ranks: those that the contests allow, e.g. 1-2 where two cannot be told apart. Strength: "
        "Bradley-Terry with ties, in natural log units. Intervals: "
        f"{level_words()}, by resampling tasks; ranks are decided at 95%. Win "
        "rate: the mean over opponents, a tie is a half. Weighted: of all contests, a tie is one "
        "point of two, as Arena-Hard and unitxt count."
    )
    _forest(found)


def _row(s: RankedSystem, *, several: bool) -> list[str]:
    ranks = str(s.range or s.rank or fmt.DASH)
    group = f' <span class="rs-quiet">of group {s.group + 1}</span>' if several else ""
    marks = f" {tag('regularised', 'warn')}" if s.regularised else ""
    return [
        esc(one_line(s.system, NAMED)) + marks,
        f"<b>{esc(ranks)}</b>{group}",
        figure_cell(s.strength),
        figure_cell(s.win_rate, fmt.percent),
        figure_cell(s.weighted_win_rate, fmt.percent),
        figure_cell(s.elo, partial(fmt.score, digits=0)),
        " · ".join(f"{value:g}" for value in (s.wins, s.ties, s.losses)),
    ]


def _forest(found: Leaderboard) -> None:
    dots = [
        draw.Dot(
            s.system,
            s.strength.value,
            s.strength.low,
            s.strength.high,
            n=found.items,
        )
        for s in found.standings
    ]
    st.plotly_chart(
        draw.forest(dots, "Strength, log units", "", whole=False),
        key=state.key(selection.CONTEST_CHART, "strengths"),
        config={"displayModeBar": False},
        alt="Strength of every system with its interval. The table has its numbers.",
    )


def methods(found: Methods, systems: tuple[str, ...], order: Sequence[str]) -> None:
    """Ways to rank side by side, in this order of systems, and whether the winner differs.

    ``systems`` are in the order of the figures.
    """
    st.html('<div class="rs-section">Ways to rank, side by side</div>')
    if found.winner_differs:
        st.html(tag("⚠ the winner depends on the method", "warn"))
    else:
        winners = {w for way in found.ways for w in way.winners}
        st.html(tag("✓ the same winner by every way", "good") if winners else "")
    table(
        ("System", *(way.name for way in found.ways)),
        (
            [
                esc(one_line(system, NAMED)),
                *(_ranked(way.ranks[systems.index(system)]) for way in found.ways),
            ]
            for system in order
        ),
        name="Ranks of every system by every way to rank",
        numbers=range(1, len(found.ways) + 1),
    )
    with st.expander("Kendall's tau between them", expanded=found.winner_differs):
        table(
            ("Ways", "Kendall's tau", "Same winner"),
            (
                [
                    f"{esc(a.one)} and {esc(a.other)}",
                    esc(a.tau.reason) if a.tau.value is None else fmt.score(a.tau.value),
                    "yes" if a.same_winner else tag("no", "warn"),
                ]
                for a in found.accords
            ),
            name="Kendall's tau between ways to rank",
            numbers=(1,),
        )


def _ranked(rank: int | None) -> str:
    return fmt.DASH if rank is None else f"<b>{rank}</b>" if rank == 1 else str(rank)


def _gaps(found: Leaderboard) -> None:
    """Every two systems: told apart, or how many contests would do it."""
    if not found.gaps:
        return
    apart = sum(gap.apart for gap in found.gaps)
    st.html('<div class="rs-section">Can two systems be told apart?</div>')
    st.caption(f"{apart} of {fmt.plural(len(found.gaps), 'pair')} can, all tested together (95%).")
    rows = sorted(found.gaps, key=lambda gap: (gap.apart, gap.difference))
    _gap_table(rows[:GAPS])
    if len(rows) > GAPS:
        with st.expander(f"{len(rows) - GAPS} more"):
            _gap_table(rows[GAPS:])


def _gap_table(rows: list[RankGap]) -> None:
    table(
        ("Which leads", "Difference", "Told apart", "Further contests"),
        (
            [
                f"{esc(one_line(gap.better, NAMED))} over {esc(one_line(gap.worse, NAMED))}",
                fmt.score(gap.difference),
                tag("✓ yes", "good") if gap.apart else tag("not yet"),
                _further(gap),
            ]
            for gap in rows
        ),
        name="Which systems are told apart",
        numbers=(1,),
    )


def _further(gap: RankGap) -> str:
    if gap.apart:
        return fmt.DASH
    if gap.further.value is None:
        return f'<span class="rs-quiet">{esc(gap.further.reason)}</span>'
    return f"about {fmt.count(round(gap.further.value))} between the two, if they differ so"


def position_and_length(chosen: ContestSelection) -> None:
    """The whole view."""
    st.html('<div class="rs-section">Place: the same two answers, exchanged</div>')
    found = remembered(
        "positions",
        (*chosen.about, chosen.question),
        lambda: positions(chosen.contests, chosen.question),
    )
    if any(one.rate.n for one in found):
        table(
            ("Judge", "Asked in both orders", "Same choice", "Always A", "Always B", "Chose A", ""),
            map(_position_row, found),
            name="Position figures of every judge",
            numbers=(1, 2, 3, 4, 5),
        )
        st.caption(
            "Same choice: both orders name the same winner, or none. Chose A: the share of choices "
            "of a winner that went to the answer shown first; a half is fair, because each answer "
            "stood first once. Intervals: Wilson, 95%."
        )
    else:
        st.caption("No judge answered a contest in both orders, so nothing can be said.")
    _length(selection.board(chosen))


def _position_row(one: Position) -> list[str]:
    mark = tag("✓ no preference found", "good")
    if one.biased:
        side = "first" if (one.shown_first.value or 0) > 0.5 else "last"
        mark = tag(f"⚠ prefers the answer shown {side}", "warn")
    elif not one.shown_first.n:
        mark = tag("no data")
    return [
        esc(one.judge),
        fmt.count(one.rate.n),
        figure_cell(one.rate, fmt.percent),
        fmt.count(one.first),
        fmt.count(one.last),
        figure_cell(one.shown_first, fmt.percent),
        mark,
    ]


def _length(found: Leaderboard) -> None:
    st.html('<div class="rs-section">Length: strengths if all answers were equally long</div>')
    if isinstance(found.length, str):
        st.caption(label(found.length))
        return
    slope, ends = found.length.slope, found.length.slope_interval
    known = ends.low is not None and ends.high is not None
    clear = known and not (ends.low or 0) <= 0 <= (ends.high or 0)
    verdict = (
        tag("⚠ longer answers win more" if slope > 0 else "⚠ shorter answers win more", "warn")
        if clear
        else tag("no effect of length found")
    )
    said = Estimate(slope).within(ends).words(fmt.points).inline
    st.html(
        f'<div class="rs-row">{verdict}<span class="rs-num">effect of much more length, in log '
        f"odds: {esc(said)}</span></div>"
    )
    ignored = dict(zip(found.systems, found.length.ignored, strict=True))
    table(
        ("System", "Length ignored", "At equal length"),
        (
            [
                esc(one_line(s.system, NAMED)),
                fmt.score(ignored[s.system]),
                figure_cell(s.length_controlled),
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

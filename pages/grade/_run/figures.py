"""How scores and verdicts are distributed. Every bar leads to its items, and so do the buttons."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import figures as draw
from core.domain.rubric import Rubric
from core.domain.runs import Run, ScoreBin
from core.files.visible import visible
from core.services import browsing, grading
from core.services import numbers as fmt
from core.services.browsing import VerdictCounts
from pages.grade._run import filters
from pages.grade._run.filters import LEAST, MOST, VERDICT
from pages.ui import state
from pages.ui.grades import grades_button
from pages.ui.resources import remembered, store
from pages.ui.text import label, one_line
from pages.ui.widgets import empty_state

RUN_CHART = "run_chart"

CRITERIA = 12


def show(run: Run, rubric: Rubric) -> None:
    """The histogram of scores, then the verdicts of every criterion."""
    about = browsing.stands_on(store(), run)
    bins = remembered("scores", about, lambda: browsing.scores(store(), run.id))
    if not bins:
        empty_state("No scores yet", "They appear here as soon as the first items are graded.")
        return
    grades_button(run.id)
    _histogram(run, bins, about)
    counts = remembered("verdicts", about, lambda: browsing.verdict_counts(store(), run.id, rubric))
    _verdicts(run, counts, about)


def _histogram(run: Run, bins: list[ScoreBin], about: tuple[object, ...]) -> None:
    scored = sum(one.items for one in bins)
    mean = grading.means(store(), run.id).score
    st.html('<div class="rs-section">Scores</div>')
    st.caption(
        f"Mean {fmt.score(mean)} over {fmt.plural(scored, 'item')} with a score. "
        f"{fmt.count(run.items - scored)} without. Click a bar to see its items."
    )
    figure = remembered("histogram", about, lambda: draw.score_histogram(bins, mean))
    key = state.key(RUN_CHART, "scores", run.id)
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _on_bar(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt=_in_words(bins, mean),
    )


def _in_words(bins: list[ScoreBin], mean: float | None) -> str:
    highest = max(bins, key=lambda one: one.items)
    return (
        f"Histogram of {sum(one.items for one in bins)} scores, mean {fmt.score(mean)}; most, "
        f"{highest.items}, lie between {fmt.score(highest.low)} and {fmt.score(highest.high)}."
    )


def _on_bar(key: str) -> None:
    point = _point(key)
    if point:
        low, high = point["customdata"][:2]
        # The bin's upper edge belongs to the next bin, except at the end of the scale.
        most = high if high >= 1 else high - 1e-6
        filters.narrow(**{LEAST: f"{low:.6g}", MOST: f"{most:.6g}", state.VIEW: None})


def _verdicts(run: Run, counts: list[VerdictCounts], about: tuple[object, ...]) -> None:
    st.html('<div class="rs-section">Verdicts</div>')
    page = 1
    if len(counts) > CRITERIA:
        pages = -(-len(counts) // CRITERIA)
        page = st.pagination(pages, key=state.key(RUN_CHART, "page"))
    shown = counts[(page - 1) * CRITERIA : page * CRITERIA]
    figure = remembered("bars", (*about, page), lambda: draw.verdict_bars(_bars(shown)))
    key = state.key(RUN_CHART, "verdicts", run.id, page)
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _on_piece(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt="For every criterion the share of items by verdict; the lists below say the same.",
    )
    with st.expander("The same in numbers", icon=":material/table_rows:"):
        for one in shown:
            _buttons(one)


def _bars(
    counts: list[VerdictCounts],
) -> list[tuple[str, list[tuple[str, int | None, float | None, int]]]]:
    rows = []
    for one in counts:
        pieces = [
            (one_line(one.criterion.choices[i].label, 40), i, one.criterion.values[i], n)
            for i, n in zip(one.criterion.scored, one.settled, strict=True)
        ]
        rows.append(
            (visible(one.criterion.name), [*pieces, ("abstained", None, None, one.abstained)])
        )
    return rows


def _buttons(one: VerdictCounts) -> None:
    criterion = one.criterion
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(label(criterion.name, 60), width=260)
        for index, count in zip(criterion.scored, one.settled, strict=True):
            _button(criterion.name, index, criterion.choices[index].label, count)
        _button(criterion.name, None, "abstained", one.abstained)


def _button(name: str, option: int | None, words: str, count: int) -> None:
    st.button(
        f"{label(words, 40)} {fmt.count(count)}",
        key=state.key(RUN_CHART, "see", name, -1 if option is None else option),
        type="tertiary",
        disabled=not count,
        on_click=_see,
        args=(name, option),
    )


def _on_piece(key: str) -> None:
    point = _point(key)
    if point:
        name, option = point["customdata"][:2]
        _see(name, None if option < 0 else option)


def _see(name: str, option: int | None) -> None:
    filters.clear()
    filters.narrow(**{state.CRITERION: name, VERDICT: option, state.VIEW: None})


def _point(key: str) -> dict[str, Any] | None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    return points[0] if points else None

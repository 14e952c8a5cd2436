"""A run in figures: scores and verdicts, verdicts against labels, and both orders of options."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import figures as draw
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.metrics.estimate import Estimate, surely_below
from core.scoring.explanation import ungraded_words
from core.services.agreement.rater_pairs import PairLine
from core.services.reports import worked_example
from core.services.results import browsing, flip_check, grid
from core.services.results.browsing import VerdictCounts
from core.services.results.flip_check import FlipRate
from core.services.runs import lifecycle
from core.text import numbers as fmt
from core.text.names import visible
from pages.run import filters
from pages.run.filters import LEAST, MOST, ONLY, VERDICT
from pages.ui import state
from pages.ui.grades import grades_button
from pages.ui.resources import remembered, store
from pages.ui.run_status import RUN_ACT
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, empty_state, figure_cell, quiet_html, tag

RUN_CHART = "run_chart"

CRITERIA = 12


def show(run: Run, rubric: Rubric) -> None:
    """Draw the histogram of scores, then the verdicts of every criterion."""
    cache_key = browsing.results_state(store(), run)
    bins = remembered("scores", cache_key, lambda: browsing.score_distribution(store(), run.id))
    mean, _, ungraded = lifecycle.run_means(store(), run.id)
    if not bins and ungraded:
        empty_state("No grades", f"{ungraded_words(ungraded)}.")
        return
    if not bins:
        empty_state("No scores yet", "Figures appear here as soon as the first items are graded.")
        return
    grades_button(run.id)
    lacking = f" {label(words)}." if (words := ungraded_words(ungraded)) else ""
    _score_histogram(run, bins, mean, lacking, cache_key)
    counts = remembered(
        "verdicts", cache_key, lambda: browsing.verdict_counts(store(), run.id, rubric)
    )
    _verdict_bars(run, counts, cache_key)


def _score_histogram(
    run: Run,
    bins: list[tuple[float, float, int]],
    mean: float | None,
    lacking: str,
    cache_key: tuple[object, ...],
) -> None:
    scored = sum(items for *_, items in bins)
    st.html('<div class="rs-section">Scores</div>')
    st.caption(
        f"Mean {fmt.score(mean)} over {fmt.plural(scored, 'item')} with a score. "
        f"{fmt.count(run.items - scored)} without.{lacking} Click a bar to see its items."
    )
    figure = remembered("histogram", cache_key, lambda: draw.score_histogram(bins, mean))
    key = state.key(RUN_CHART, "scores", run.id)
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _on_bar(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt=_histogram_words(bins, mean),
    )


def _histogram_words(bins: list[tuple[float, float, int]], mean: float | None) -> str:
    start, end, items = max(bins, key=lambda score_bin: score_bin[2])
    return (
        f"Histogram of {fmt.plural(sum(n for *_, n in bins), 'score')}, mean {fmt.score(mean)}. "
        f"The largest bin, {fmt.score(start)} to {fmt.score(end)}, has {fmt.count(items)}."
    )


def _on_bar(key: str) -> None:
    point = _clicked_point(key)
    if point:
        low, high = point["customdata"][:2]
        # The bin's upper edge belongs to the next bin, except at the end of the scale.
        most = high if high >= 1 else high - 1e-6
        filters.filter_items(**{LEAST: f"{low:.6g}", MOST: f"{most:.6g}", state.VIEW: None})


def _verdict_bars(run: Run, counts: list[VerdictCounts], cache_key: tuple[object, ...]) -> None:
    st.html('<div class="rs-section">Verdicts</div>')
    page = 1
    if len(counts) > CRITERIA:
        pages = -(-len(counts) // CRITERIA)
        page = st.pagination(pages, key=state.key(RUN_CHART, "page"))
    shown = counts[(page - 1) * CRITERIA : page * CRITERIA]
    figure = remembered("bars", (*cache_key, page), lambda: draw.verdict_bars(_bar_rows(shown)))
    key = state.key(RUN_CHART, "verdicts", run.id, page)
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _on_piece(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt="For every criterion the share of items by verdict; as in the lists below.",
    )
    with st.expander("As numbers", icon=":material/table_rows:"):
        for verdict in shown:
            _verdict_buttons(verdict)


def _bar_rows(
    counts: list[VerdictCounts],
) -> list[tuple[str, list[tuple[str, int | None, float | None, int]]]]:
    rows = []
    for counted in counts:
        pieces = [
            (
                one_line(counted.criterion.choices[i].label, 40),
                i,
                grid.earned_share(counted.criterion, counted.criterion.values[i]) or 0.0,
                n,
            )
            for i, n in zip(counted.criterion.scored, counted.settled, strict=True)
        ]
        rows.append(
            (
                visible(counted.criterion.name),
                [*pieces, ("abstained", None, None, counted.abstained)],
            )
        )
    return rows


def _verdict_buttons(counts: VerdictCounts) -> None:
    criterion = counts.criterion
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(label(criterion.name, 60), width=260)
        for index, count in zip(criterion.scored, counts.settled, strict=True):
            _verdict_button(criterion.name, index, criterion.choices[index].label, count)
        _verdict_button(criterion.name, None, "abstained", counts.abstained)


def _verdict_button(name: str, option: int | None, title: str, count: int) -> None:
    st.button(
        f"{label(title, 40)} {fmt.count(count)}",
        key=state.key(RUN_CHART, "see", name, -1 if option is None else option),
        type="tertiary",
        disabled=not count,
        on_click=_see_items,
        args=(name, option),
    )


def _on_piece(key: str) -> None:
    point = _clicked_point(key)
    if point:
        name, option = point["customdata"][:2]
        _see_items(name, None if option < 0 else option)


def _see_items(name: str, option: int | None) -> None:
    filters.clear_filters()
    filters.filter_items(**{state.CRITERION: name, VERDICT: option, state.VIEW: None})


def _clicked_point(key: str) -> dict[str, Any] | None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    return points[0] if points else None


def show_against_labels(run: Run) -> None:
    """Draw a line per criterion with labelled items."""
    lines = remembered(
        "labels",
        browsing.results_state(store(), run),
        lambda: worked_example.panel_against_labels(store(), run.id),
    )
    compared = [(line, abstentions) for line, abstentions in lines if line.n + line.abstained]
    if not compared:
        empty_state(
            "No labels to compare with",
            "Where people have labelled items of this dataset, this page shows how often the "
            "verdicts are right, next to the accuracy of always giving the most common answer.",
        )
        return
    draw_table(
        ("Criterion", "Right", "Most common answer", "", "Kappa", "Items compared", "Abstained"),
        (_label_line(line, abstentions) for line, abstentions in compared),
        name="Verdicts against labels",
        numbers=(1, 2, 4, 5, 6),
    )
    st.caption(
        "Right: the share of verdicts that match the label, as votes alone gave them, before "
        "people settled any; below it the 95% interval (Wilson 1927, with t). Most common answer: "
        "the accuracy of always giving the most common label on the same items; a panel must be "
        "above it to be of use. Kappa: agreement beyond chance (Cohen 1960), with quadratic "
        "weights where options have an order; 0 is chance, 1 is perfect. Items on which the "
        "panel abstained are counted, and left out of all three."
    )


def _label_line(line: PairLine, switched_off: bool) -> list[str]:
    kappa = line.accuracy if line.accuracy.value is None else line.kappa
    return [
        esc(line.name),
        figure_cell(line.accuracy, fmt.percent),
        fmt.percent(line.commonest.value),
        _baseline_tag(line, switched_off),
        figure_cell(Estimate(kappa.value, reason=kappa.reason), interval=False),
        fmt.count(line.n),
        fmt.count(line.abstained),
    ]


def _baseline_tag(line: PairLine, switched_off: bool) -> str:
    """Return a tag: whether the accuracy is significantly above or below the commonest answer's."""
    (right, low, high, *_), commonest = line.accuracy, line.commonest.value
    if right is None or low is None or high is None or commonest is None:
        return tag("judges switched off" if switched_off else "nothing to compare")
    if low > commonest:
        return tag("▲ clearly above", "good")
    if surely_below(high, commonest, line.n):
        return tag("▼ clearly below", "bad")
    return tag("≈ not clearly better" if right > commonest else "▼ not above", "warn")


def show_both_orders(run: Run) -> None:
    """Draw a line per judge that was asked in both orders."""
    cache_key = (run.id, run.votes)
    rates = remembered("flip rates", cache_key, lambda: flip_check.flip_rates(store(), run.id))
    if not any(rate.differ.n for rate in rates):
        empty_state(
            "No pair of answers yet",
            "Here you will see how often a judge's answer changes when the same options are in "
            "reversed order.",
        )
        return
    draw_table(
        ("Judge", "Answers differ", "Chose the first", "Chose the last", "By chance", "Pull"),
        map(_flip_row, rates),
        name="Answers in both orders",
        numbers=(1, 2, 3, 4, 5),
    )
    items = remembered("items apart", cache_key, lambda: flip_check.items_apart(store(), run.id))
    if items:
        st.button(
            f"See the {fmt.plural(len(items), 'item')} where answers differ",
            key=state.key(RUN_ACT, "apart"),
            icon=":material/swap_vert:",
            on_click=filters.filter_items,
            kwargs={ONLY: "order", state.VIEW: None},
        )
    st.caption(
        "Answers differ: the share of differing answers to the same question in both orders, with "
        "its 95% interval (Wilson 1927). A judge that ignores the order still differs now and then "
        "where it is unsure; asking it twice in the same order (replicates) shows how often. Chose "
        "the first, the last: the share of answers, without abstentions, that went to the option "
        "shown there; the next column has the value expected by chance. Pull: the share that went "
        "to the first place because it was first; 0: none, below 0: the first place is avoided."
    )


def _flip_row(rate: FlipRate) -> list[str]:
    if not rate.differ.n:
        return [esc(rate.judge), "no pair yet", *[fmt.DASH] * 4]
    differ_words = f"{fmt.count(rate.differ.hits)} of {fmt.count(rate.differ.n)}"
    return [
        f"{esc(rate.judge)}<br>{_flip_tag(rate)}",
        f"{figure_cell(rate.differ, fmt.percent)}<br>{quiet_html(differ_words)}",
        fmt.percent(rate.first),
        fmt.percent(rate.last),
        fmt.percent(rate.expected),
        figure_cell(rate.pull, fmt.percent),
    ]


def _flip_tag(rate: FlipRate) -> str:
    """Return a tag: whether answers are significantly drawn to the first option, or away from
    it.
    """
    low, high = rate.pull.low, rate.pull.high
    if low is None or high is None:
        return ""
    if low > 0:
        return tag("▲ drawn to the first", "warn")
    if high < 0:
        return tag("▼ avoids the first", "warn")
    return tag("≈ no clear pull", "good")

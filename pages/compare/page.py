"""Compare runs: what changed, what flipped, what it cost (`?runs=1,2,3`, `&a=1&b=2`)."""

from __future__ import annotations

import streamlit as st

from core.blocks.blocks import Section
from core.scoring.explanation import ungraded_sides
from core.services.comparison import comparison_blocks as blocks
from core.services.comparison import run_comparison
from core.services.comparison.in_words import headline
from core.services.comparison.run_comparison import RunComparison
from pages.compare import beside, differences, flips, selection
from pages.compare.selection import ComparedRuns
from pages.ui import routes, state
from pages.ui.blocks.drawn import show_sections
from pages.ui.places import run_head
from pages.ui.resources import require_seen, shared_value, store
from pages.ui.text import esc, label
from pages.ui.widgets import (
    chosen_confidence,
    draw_row,
    empty_state,
    page_header,
    shown_errors,
)


def show_page() -> None:
    """Draw the page."""
    if single_run := selection.only_run():
        run_head.show_head(single_run, routes.COMPARE)
    else:
        page_header("Compare runs")
    with st.container(gap="xsmall"):
        _show_comparison()


def _show_comparison() -> None:
    chosen = selection.chosen_runs()
    if chosen is None:
        _show_too_few()
        return
    if chosen.pair is None:
        empty_state("One run alone", "Choose a second run to compare with the first.")
        return
    with shown_errors():
        require_seen(*chosen.pair)
        both_runs = beside.paired_runs_of(chosen, chosen.pair)
        if not both_runs.same_ids or selection.chosen_view(chosen) == selection.BESIDE:
            beside.show(chosen, both_runs)
        else:
            _show_differences(chosen, chosen.pair)


def _show_differences(chosen: ComparedRuns, pair: tuple[int, int]) -> None:
    """Draw which run is better, the figures, the flips, and the price of accuracy."""
    comparison = _cached_comparison(chosen, pair)
    show_sections([Section("", tuple(blocks.unfinished_warnings(comparison)))])
    waiting = [run for run in comparison.runs if not run.votes]
    if waiting:
        empty_state(
            "No votes yet",
            f"Runs without votes so far: {len(waiting)} of the two. Differences appear here as "
            "soon as judges have answered.",
        )
        return
    with st.container(gap="xxsmall"):
        _show_answer(comparison)
        differences.show(comparison)
    show_section("Verdicts that flipped")
    flips.show(comparison)
    with st.expander("Accuracy against cost", icon=":material/payments:"):
        differences.accuracy_and_cost(chosen)


def _show_answer(comparison: RunComparison) -> None:
    """Draw which run is better in one line, the reason, what changed, and the main figures."""
    facts = (
        f"{esc(name)}: <b>{esc(words.text)}</b>"
        for name, words in blocks.overall_figures(comparison).rows
    )
    parts = [f"<b>{esc(headline(comparison.deltas.criteria))}</b>", *facts]
    draw_row(f'<span class="rs-num">{part}</span>' for part in parts)
    lines = [
        blocks.changed_line(comparison),
        *blocks.item_sentences(comparison).lines,
        *_missing_figures(comparison),
    ]
    with st.expander(label(" ".join(lines)), type="compact"):
        show_sections([Section("", blocks.change_blocks(comparison))])


def _missing_figures(comparison: RunComparison) -> list[str]:
    ungraded = "; ".join(ungraded_sides(comparison.ungraded))
    return [f"{ungraded}."] if ungraded else []


def _cached_comparison(chosen: ComparedRuns, pair: tuple[int, int]) -> RunComparison:
    confidence = chosen_confidence()
    cache_key = (*pair, *chosen.content_stamp, *confidence)
    return shared_value(
        "comparison",
        cache_key,
        lambda: run_comparison.compare_runs(
            store(), *pair, confidence=confidence, pair=chosen.paired
        ),
    )


def _show_too_few() -> None:
    empty_state(
        "Two runs are needed",
        "Grade the same dataset twice, with another rubric, judge or way of asking, and see here "
        "what that changed. A sweep sets up many such runs in one step.",
        _draw_plan_links,
    )


def _draw_plan_links() -> None:
    for words, icon, plan in (
        ("Plan a run", "play_circle", "new"),
        ("Plan a sweep", "tune", "sweep"),
    ):
        routes.draw_link(routes.RUNS, words, {state.PLAN: plan}, icon=icon, width="content")


def show_section(words: str) -> None:
    """Draw a heading."""
    st.html(f'<div class="rs-section">{words}</div>')


show_page()

"""Compare runs: what changed, what flipped, what it cost (`?runs=1,2,3`, `&a=1&b=2`)."""

from __future__ import annotations

import streamlit as st

from core.blocks.blocks import Section
from core.scoring.explanation import ungraded_sides
from core.services.comparison import comparison_blocks as blocks
from core.services.comparison import run_comparison
from core.services.comparison.in_words import headline
from core.services.comparison.run_comparison import RunComparison
from core.text import numbers as fmt
from pages.compare import beside, differences, flips, selection
from pages.compare.selection import ComparedRuns
from pages.ui import routes, state
from pages.ui.blocks.drawn import show_sections
from pages.ui.places import run_head
from pages.ui.resources import require_seen, shared, store
from pages.ui.text import esc, label
from pages.ui.widgets import (
    confidence,
    empty_state,
    page_header,
    row,
    shown_errors,
)


def show_page() -> None:
    """Draw the page."""
    if alone := selection.only_run():
        run_head.show(alone, routes.COMPARE)
    else:
        page_header("Compare runs")
    with st.container(gap="xsmall"):
        _compared()


def _compared() -> None:
    chosen = selection.choose()
    if chosen is None:
        _too_few()
        return
    if chosen.pair is None:
        empty_state("One run alone", "Choose a second run to compare it with.")
        return
    with shown_errors():
        require_seen(*chosen.pair)
        both = beside.pair_of(chosen, chosen.pair)
        if not both.items.by_id or selection.view(chosen) == selection.BESIDE:
            beside.show(chosen, both)
        else:
            _differences(chosen, chosen.pair)


def _differences(chosen: ComparedRuns, pair: tuple[int, int]) -> None:
    """Draw which run is better, the figures, the flips, and the price of accuracy."""
    comparison = _comparison(chosen, pair)
    show_sections([Section("", tuple(blocks.unfinished_warnings(comparison)))])
    waiting = [run for run in comparison.runs if not run.votes]
    if waiting:
        empty_state(
            "No votes yet",
            f"{fmt.plural(len(waiting), 'run')} of the two without votes. Differences appear "
            "here as soon as judges have answered.",
        )
        return
    with st.container(gap="xxsmall"):
        _answer(comparison)
        differences.show(comparison)
    section("Verdicts that flipped")
    flips.show(comparison)
    with st.expander("Accuracy against cost", icon=":material/payments:"):
        differences.accuracy_and_cost(chosen)


def _answer(comparison: RunComparison) -> None:
    """Draw which run is better in one line, the reason, what changed, and the main figures."""
    facts = (
        f"{esc(name)}: <b>{esc(words.text)}</b>"
        for name, words in blocks.overall_figures(comparison).rows
    )
    parts = [f"<b>{esc(headline(comparison.deltas.criteria))}</b>", *facts]
    row(f'<span class="rs-num">{part}</span>' for part in parts)
    lines = [
        blocks.changed_line(comparison),
        *blocks.item_sentences(comparison).lines,
        *_lacking(comparison),
    ]
    with st.expander(label(" ".join(lines)), type="compact"):
        show_sections([Section("", blocks.change_blocks(comparison))])


def _lacking(comparison: RunComparison) -> list[str]:
    lacking = "; ".join(ungraded_sides(comparison.ungraded))
    return [f"{lacking}."] if lacking else []


def _comparison(chosen: ComparedRuns, pair: tuple[int, int]) -> RunComparison:
    how = confidence()
    about = (*pair, *chosen.content_stamp, *how)
    return shared(
        "comparison",
        about,
        lambda: run_comparison.compare_runs(store(), *pair, how=how, pair=chosen.paired),
    )


def _too_few() -> None:
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
        routes.link(routes.RUNS, words, {state.PLAN: plan}, icon=icon, width="content")


def section(words: str) -> None:
    """Draw a heading."""
    st.html(f'<div class="rs-section">{words}</div>')


show_page()

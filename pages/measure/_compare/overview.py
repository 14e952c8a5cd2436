"""The whole page: the runs, what changed, the differences, the flips, accuracy beside cost."""

from __future__ import annotations

import streamlit as st

from core.services import comparing
from core.services import numbers as fmt
from core.services.comparing import Comparison
from pages.measure._compare import changed, choosing, costs, differences, flips
from pages.measure._compare.choosing import Chosen
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.widgets import empty_state, page_header, shown_errors


def show() -> None:
    """The page."""
    page_header(
        "Compare runs",
        "What changed from one run to another, which verdicts flipped, and what accuracy costs.",
    )
    chosen = choosing.choose()
    if chosen is None:
        _too_few()
        return
    if chosen.pair is None:
        empty_state("One run alone", "Choose a second run to compare it with.")
        return
    with shown_errors():
        found = _comparison(chosen, chosen.pair)
        _items(found)
        section("What changed")
        changed.show(found)
        waiting = [run for run in found.runs if not run.votes]
        if waiting:
            empty_state(
                "No votes yet",
                f"{fmt.plural(len(waiting), 'run')} of the two without votes. Differences appear "
                "here as soon as judges have answered.",
            )
            return
        section("Differences on the same items (B minus A)")
        differences.show(found)
        section("Verdicts that flipped")
        flips.show(found)
        section("Accuracy against cost")
        costs.show(chosen)


def _comparison(chosen: Chosen, pair: tuple[int, int]) -> Comparison:
    about = (*pair, *chosen.about)
    return remembered(
        "comparison",
        about,
        lambda: comparing.compare_runs(store(), *pair, pair=chosen.paired),
    )


def _too_few() -> None:
    empty_state(
        "Two runs are needed",
        "Grade the same dataset twice, with another rubric, judge or way of asking, and see here "
        "what that changed. A sweep sets up many such runs in one step.",
        _to_plans,
    )


def _to_plans() -> None:
    for words, icon, plan in (
        ("Plan a run", "play_circle", "new"),
        ("Plan a sweep", "tune", "sweep"),
    ):
        routes.link(routes.RUNS, words, {state.PLAN: plan}, icon=icon, width="content")


def _items(found: Comparison) -> None:
    match = found.match
    parts = [f"{fmt.plural(len(match.both), 'item')} in both"]
    for words, items in (
        ("only in A", match.only_first),
        ("only in B", match.only_second),
        ("left out because their text changed", match.reworded),
        ("with another label in B, which counts for both", match.relabelled),
    ):
        parts += [f"{fmt.count(len(items))} {words}"] if items else []
    going = [run.id for run in found.runs if run.status != "done"]
    if going:
        st.warning(
            f"Not finished: run {' and run '.join(map(str, going))}. What is shown holds for the "
            "votes there are.",
            icon=":material/hourglass_top:",
        )
    few = " Few items: every figure is uncertain." if len(match.both) < comparing.FEW else ""
    st.caption(f"{', '.join(parts)}.{few}")


def section(words: str) -> None:
    """A heading."""
    st.html(f'<div class="rs-section">{words}</div>')

"""Compare runs: what changed, what flipped, what it cost (`?runs=1,2,3`, `&a=1&b=2`)."""

from __future__ import annotations

import streamlit as st

from core.services.comparison import in_words, rightness, run_comparison
from core.services.comparison.run_comparison import RunComparison
from core.text import numbers as fmt
from pages.compare import differences, flips, selection
from pages.compare.selection import ComparedRuns
from pages.ui import routes, state
from pages.ui.resources import require_seen, shared, store
from pages.ui.text import esc
from pages.ui.widgets import (
    confidence,
    empty_state,
    interval_choice,
    page_header,
    shown_errors,
    table,
)

MOST = 12
_NOTHING = '<span class="rs-quiet">nothing</span>'


def what_changed(found: RunComparison) -> None:
    """A table, or that nothing changed."""
    rows = [
        (esc(c.area), esc(c.what), esc(c.before or "") or _NOTHING, esc(c.after or "") or _NOTHING)
        for c in found.changed
    ]
    if not rows:
        st.html(
            '<div class="rs-prose">Nothing: same rubric, dataset, panel and seed. What differs '
            "below is chance.</div>"
        )
    else:
        heads = ("Part", "What", "A", "B")
        table(heads, rows[:MOST], name="What changed")
        if len(rows) > MOST:
            with st.expander(f"{len(rows) - MOST} more"):
                table(heads, rows[MOST:], name="What else changed")
    for name, why in found.apart.items():
        st.html(f'<div class="rs-quiet"><b>{esc(name)}</b> cannot be compared. {esc(why)}</div>')


def show() -> None:
    """The page."""
    page_header(
        "Compare runs",
        "What changed from one run to another, which verdicts flipped, and what accuracy costs.",
    )
    chosen = selection.choose()
    if chosen is None:
        _too_few()
        return
    if chosen.pair is None:
        empty_state("One run alone", "Choose a second run to compare it with.")
        return
    with shown_errors():
        require_seen(*chosen.pair)
        found = _comparison(chosen, chosen.pair)
        _items(found)
        if all(run.votes for run in found.runs):
            for words in (
                *in_words.trust_words(found.trust),
                in_words.in_words(found.deltas.criteria, found.deltas.decided),
                rightness.in_words(found.corrected),
                *run_comparison.stand_in_words(found),
            ):
                if words:
                    st.html(f'<div class="rs-prose" style="max-width:100ch">{esc(words)}</div>')
        section("What changed")
        what_changed(found)
        waiting = [run for run in found.runs if not run.votes]
        if waiting:
            empty_state(
                "No votes yet",
                f"{fmt.plural(len(waiting), 'run')} of the two without votes. Differences appear "
                "here as soon as judges have answered.",
            )
            return
        section("Differences on the same items (B minus A)")
        interval_choice()
        differences.show(found)
        section("Verdicts that flipped")
        flips.show(found)
        section("Accuracy against cost")
        differences.accuracy_and_cost(chosen)


def _comparison(chosen: ComparedRuns, pair: tuple[int, int]) -> RunComparison:
    how = confidence()
    about = (*pair, *chosen.about, *how)
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
        _to_plans,
    )


def _to_plans() -> None:
    for words, icon, plan in (
        ("Plan a run", "play_circle", "new"),
        ("Plan a sweep", "tune", "sweep"),
    ):
        routes.link(routes.RUNS, words, {state.PLAN: plan}, icon=icon, width="content")


def _items(found: RunComparison) -> None:
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
    few = " Few items: every figure is uncertain." if len(match.both) < run_comparison.FEW else ""
    st.caption(f"{', '.join(parts)}.{few}")


def section(words: str) -> None:
    """A heading."""
    st.html(f'<div class="rs-section">{words}</div>')


show()

"""What the rubric as it stands in the form would change in its newest graded run."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import RESTING, Run
from core.errors import InputError
from core.identity import content_hash
from core.services.results import browsing, item_view
from core.services.rubrics import library
from core.services.rubrics.drafts import payload, rubric_from
from core.services.versions import follow_version, score_changes
from core.services.versions.score_changes import ChangedItem, ScoreDifference
from core.text import numbers as fmt
from pages.rubric.versions.graded_runs import signed
from pages.ui import drafts, routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import table, worked_out

#: The number of items shown, those that change most.
SHOWN = 5


def show(name: str) -> None:
    """Draw how the form's rubric would change the scores of its newest graded run, if at all."""
    draft = drafts.draft(name)
    run = None if draft["rubric_id"] is None else _newest(draft["rubric_id"])
    if run is None:
        return
    try:
        rubric = rubric_from(draft)
    except InputError:
        return  # The simulator below says what must be fixed.
    if rubric == library.version(store(), run.scored_version_id).rubric:
        return
    st.html(f'<div class="rs-section">In run {run.id}, {esc(one_line(run.name, 60))}</div>')
    about = (*browsing.stands_on(store(), run), content_hash(payload(draft)))
    if not worked_out("rescored", run.votes, about):
        return
    difference = remembered(
        "rescored", about, lambda: follow_version.difference_under(store(), run.id, rubric)
    )
    _draw(run, difference)


def _newest(rubric_id: int) -> Run | None:
    """Return the newest run of the rubric that has votes and is not being graded."""
    uses = score_changes.uses(store(), rubric_id).values()
    runs = [run for use in uses for run in use.asked if run.votes and run.status in RESTING]
    newest = max(runs, key=lambda run: run.id, default=None)
    return None if newest is None else item_view.require_run(store(), newest.id)


def _draw(run: Run, difference: ScoreDifference) -> None:
    if not difference.moved:
        st.caption("No score and no outcome would change.")
        return
    moved = f"{fmt.count(len(difference.moved))} of {fmt.plural(difference.items, 'item')}"
    st.html(
        f"<div><b>{moved} would change</b>: {fmt.count(difference.rising)} up, "
        f"{fmt.count(difference.falling)} down. Mean score {fmt.score(difference.mean_before)} → "
        f"<b>{fmt.score(difference.mean_after)}</b>.</div>"
    )
    rows = difference.moved[:SHOWN]
    table(
        ("Item", "Before", "After", "Change"),
        (_line(run, moved) for moved in rows),
        name="Items that would change, the largest change first",
        numbers=(1, 2, 3),
    )


def _line(run: Run, moved: ChangedItem) -> list[str]:
    to = routes.href(routes.RUN.url, {state.RUN: run.id, state.ITEM: moved.item_id})
    link = f'<a href="{esc(to)}" target="_self">{esc(one_line(moved.item_id, 40))}</a>'
    change = fmt.DASH if moved.change is None else signed(moved.change)
    return [link, fmt.score(moved.before), fmt.score(moved.after), change]

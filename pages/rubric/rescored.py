"""What the rubric as it stands in the form would change in its newest graded run."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import RESTING, Run
from core.errors import InputError
from core.identity import content_hash
from core.rubric_diff.edits import edits_between
from core.services.results import browsing, item_view
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_payload, rubric_from
from core.services.versions import follow_version, score_changes
from core.services.versions.score_changes import ChangedItem, ScoreDifference
from core.text import numbers as fmt
from pages.rubric.versions.graded_runs import signed_text
from pages.ui import drafts, routes, state
from pages.ui.drafts import RUBRIC_SIDE
from pages.ui.resources import remembered, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import MANY, compute_now, draw_table

#: The side of the form that says how scores follow.
SCORING = "Scoring"
#: The effect of unsaved changes on scores, as last shown in this tab.
RUBRIC_EFFECT = "rubric_effect"
#: The number of items shown that rise most, and of those that fall most.
EACH = 3


def show(name: str) -> None:
    """Draw how the form's rubric would change the scores of its newest graded run, if at all."""
    if (changed := _changed_run(name)) is None:
        return
    run, rubric, about = changed
    st.html(f'<div class="rs-section">In run {run.id}, {esc(one_line(run.name, 60))}</div>')
    if compute_now("rescored", run.votes, about):
        _draw_difference(run, _cached_difference(run, rubric, about))


def short_effect(name: str) -> str:
    """Return how many items of the newest run would change, how many of them up and down.

    Empty if no edit concerns scores.
    """
    if (changed := _changed_run(name)) is None:
        return ""
    run, rubric, about = changed
    edits = edits_between(library.version_by_id(store(), run.rubric_version_id).rubric, rubric)
    if run.votes > MANY["rescored"] or edits.unmapped or not edits.of("score"):
        return ""
    difference = _cached_difference(run, rubric, about)
    if not difference.moved:
        return ""
    verb = "changes" if len(difference.moved) == 1 else "change"
    return f"{fmt.plural(len(difference.moved), 'item')} {verb}: {_up_and_down(difference)}"


def _up_and_down(difference: ScoreDifference) -> str:
    return f"{fmt.count(difference.rising)} up, {fmt.count(difference.falling)} down"


def follow_effect(name: str, effect: str) -> None:
    """Open *Scoring* beside the form once the effect of unsaved changes is another one."""
    shown = state.key(RUBRIC_EFFECT, name)
    before = state.get(shown)
    state.put(shown, effect)
    if effect and before not in (None, effect):
        state.put(state.key(RUBRIC_SIDE, name), SCORING)


def _changed_run(name: str) -> tuple[Run, Rubric, tuple[object, ...]] | None:
    """Return the newest run, the form's rubric if its scores follow another, and a key for both."""
    draft = drafts.draft(name)
    run = None if draft["rubric_id"] is None else _newest_run(draft["rubric_id"])
    if run is None:
        return None
    try:
        rubric = rubric_from(draft)
    except InputError:
        return None  # The simulator below says what must be fixed.
    if rubric == library.version_by_id(store(), run.scored_version_id).rubric:
        return None
    return run, rubric, (*browsing.results_state(store(), run), content_hash(draft_payload(draft)))


def _cached_difference(run: Run, rubric: Rubric, cache_key: tuple[object, ...]) -> ScoreDifference:
    return remembered(
        "rescored", cache_key, lambda: follow_version.score_difference(store(), run.id, rubric)
    )


def _newest_run(rubric_id: int) -> Run | None:
    """Return the newest run of the rubric that has votes and is not being graded."""
    uses = score_changes.uses_of_versions(store(), rubric_id).values()
    runs = [run for use in uses for run in use.asked if run.votes and run.status in RESTING]
    newest = max(runs, key=lambda run: run.id, default=None)
    return None if newest is None else item_view.require_run(store(), newest.id)


def _draw_difference(run: Run, difference: ScoreDifference) -> None:
    if not difference.moved:
        st.caption("No score and no outcome would change.")
        return
    moved_words = f"{fmt.count(len(difference.moved))} of {fmt.plural(difference.items, 'item')}"
    before, after = difference.mean_before, difference.mean_after
    digits = 3 if before != after and fmt.score(before) == fmt.score(after) else 2
    st.html(
        f"<div><b>{moved_words} would change</b>: {_up_and_down(difference)}. "
        f"Mean score {fmt.score(before, digits)} → "
        f"<b>{fmt.score(after, digits)}</b>.</div>"
    )
    up = [item for item in difference.moved if (item.change or 0.0) > 0]
    down = [item for item in difference.moved if (item.change or 0.0) < 0]
    draw_table(
        ("Item", "Before", "After", "Change"),
        (_item_row(run, item) for item in up[:EACH] + down[:EACH] or difference.moved[:EACH]),
        name="Items that would rise and fall most",
        numbers=(1, 2, 3),
    )


def _item_row(run: Run, changed_item: ChangedItem) -> list[str]:
    url = routes.link_address(routes.RUN.url, {state.RUN: run.id, state.ITEM: changed_item.item_id})
    link = f'<a href="{esc(url)}" target="_self">{esc(one_line(changed_item.item_id, 40))}</a>'
    change = fmt.DASH if changed_item.change is None else signed_text(changed_item.change)
    return [link, fmt.score(changed_item.before), fmt.score(changed_item.after), change]

"""Applying a version to a graded run, undoing it, and the changes so far."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import Run
from core.rubric_diff.edits import VersionEdits, VersionMapping, may_be_typo
from core.services.results import scored_items
from core.services.versions import carry_votes, follow_version
from core.text import numbers as fmt
from pages.ui import identity, routes, state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, shown_errors

# Keys of the versions' screens, next to those of `state`.

SPREAD_ACT = "spread_act"
SPREAD_VERSION = "spread_version"
SPREAD_MOVE = "spread_move"
SPREAD_KEEP = "spread_keep"
SPREAD_ASK = "spread_ask"
SPREAD_AGAIN = "spread_again"
SPREAD_REASON = "spread_reason"


WAYS = {
    "follow": "Scores follow this version; no calls are made",
    "carry": "A new run under this version; changed questions are judged again",
}


def apply_version(run: Run, version_id: int, edits: VersionEdits, moves: VersionMapping) -> None:
    """Choose a way of applying the version, and apply it."""
    st.html('<div class="rs-section">Apply it</div>')
    chosen = _choose_way(run, version_id, edits)
    keep, again, ask = list[str](), list[str](), False
    if chosen == "follow":
        keep = _criteria_to_keep(run, version_id, edits)
    else:
        again, ask = _criteria_to_ask(run, version_id, edits, moves)
    with st.container(horizontal=True):
        reviewer = identity.ask_name(state.key(SPREAD_REASON, "name"))
        key = state.key(SPREAD_REASON, run.id, version_id)
        reason = st.text_input("Why (optional)", key=key, max_chars=300, width=420)
    st.button(
        "Apply",
        key=state.key(SPREAD_ACT, run.id, version_id, "apply"),
        type="primary",
        icon=":material/done_all:",
        on_click=_on_follow if chosen == "follow" else _on_carry,
        args=(reviewer, run.id, version_id, moves)
        + ((keep, reason) if chosen == "follow" else (again, ask)),
    )


def _choose_way(run: Run, version_id: int, edits: VersionEdits) -> str:
    if not edits.in_place:
        st.caption(
            "Criteria or options changed, so the votes are carried over to a new run under this "
            "version. This run stays as it is."
        )
        return "carry"
    if not edits.stale:
        return "follow"
    key = state.key(SPREAD_ASK, run.id, version_id, "way")
    state.seed(key, "follow")
    choice: str = st.radio(
        "How", list(WAYS), key=key, format_func=WAYS.__getitem__, label_visibility="collapsed"
    )
    return choice


def _criteria_to_keep(run: Run, version_id: int, edits: VersionEdits) -> list[str]:
    """Return the chosen criteria whose answers stay valid; likely corrected typos are
    preselected.
    """
    if not edits.stale:
        return []
    changed = [e for e in edits.edits if e.kind == "question"]
    slips = {
        name
        for name in edits.stale
        if all(may_be_typo(e) for e in changed if e.criterion in (name, None))
    }
    st.caption(
        "Judges were asked a different question on these. Select the criteria whose answers may "
        "stand. The others become stale: they keep their votes, and can be queued for people or "
        "judged again."
    )
    unchanged = []
    for name in edits.stale:
        key = state.key(SPREAD_KEEP, run.id, version_id, name)
        state.seed(key, name in slips)
        hint = " (only letters changed, as in a corrected typo)" if name in slips else ""
        if st.checkbox(label(f"{name}: keep the answers{hint}", 160), key=key):
            unchanged.append(name)
    return unchanged


def _criteria_to_ask(
    run: Run, version_id: int, edits: VersionEdits, moves: VersionMapping
) -> tuple[list[str], bool]:
    """Return the chosen criteria to judge again, and whether to do it at once."""
    again = []
    for name in edits.stale:
        key = state.key(SPREAD_AGAIN, run.id, version_id, name)
        state.seed(key, True)
        if st.checkbox(label(f"{name}: judge again", 120), key=key):
            again.append(name)
    carried, to_ask = carry_votes.carry_counts(
        store(), run.id, version_id, moves, asked_again=again
    )
    votes, answers = fmt.plural(carried, "vote"), fmt.plural(to_ask, "answer")
    st.caption(
        f"{votes} carried over without a call; {answers} to be asked."
        if run.panel.askable
        else f"{votes} carried over. Imported raters cannot be asked."
    )
    if not to_ask or not run.panel.askable:
        return again, False
    key = state.key(SPREAD_ASK, run.id, version_id, "now")
    state.seed(key, True)
    return again, st.toggle("Ask at once (otherwise when the run is resumed)", key=key)


def _on_follow(
    reviewer: str, run_id: int, version_id: int, moves: VersionMapping, keep: list[str], reason: str
) -> None:
    with shown_errors():
        follow_version.follow(
            store(),
            identity.take_seat(reviewer),
            run_id,
            version_id,
            keep=keep,
            moves=moves,
            reason=reason,
        )
        state.flash("Scores follow this version now. No judge was asked.")


def _on_carry(
    reviewer: str, run_id: int, version_id: int, moves: VersionMapping, again: list[str], ask: bool
) -> None:
    with shown_errors():
        new_run = carry_votes.start_under(
            store(),
            identity.take_seat(reviewer),
            run_id,
            version_id,
            moves,
            asked_again=again,
            ask=ask,
        )
        state.set_address(**{state.RUN: new_run})
        state.flash("The votes were carried over to this new run.")


def version_acts(run: Run) -> None:
    """Offer acts on the version that scores follow: stale cells, and undoing in one click."""
    cells = scored_items.stale_cells(store(), run.id)
    last = next(iter(follow_version.followed_versions(store(), run.id)), None)
    if last is None and not cells:
        st.caption(
            "Scores already follow the version that judges were asked. Choose another "
            "version above."
        )
        return
    if cells:
        names = ", ".join(
            one_line(name, 40) for name in sorted({criterion for _, criterion in cells})[:6]
        )
        st.warning(
            label(f"{fmt.plural(len(cells), 'cell')} stale: the question has changed ({names})."),
            icon=":material/update:",
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        reviewer = identity.ask_name(state.key(SPREAD_REASON, "name"))
        if cells:
            st.button(
                "Queue these cells for people",
                key=state.key(SPREAD_ACT, run.id, "queue"),
                icon=":material/group:",
                on_click=_on_queue,
                args=(reviewer, run.id, run.scored_number),
            )
            routes.draw_link(routes.QUEUES, "All queues", icon="arrow_outward")
        if last is not None:
            st.button(
                f"Back to version {last.from_number}",
                key=state.key(SPREAD_ACT, run.id, "back"),
                icon=":material/undo:",
                on_click=_on_back,
                args=(reviewer, run.id),
            )


def _on_queue(reviewer: str, run_id: int, number: int) -> None:
    with shown_errors():
        queue = follow_version.queue_stale(
            store(), identity.take_seat(reviewer), run_id, f"Question differed in version {number}"
        )
        state.flash(f"Queue {queue.id} holds exactly the stale cells.")


def _on_back(reviewer: str, run_id: int) -> None:
    with shown_errors():
        follow_version.roll_back(store(), identity.take_seat(reviewer), run_id)
        state.flash("No score has changed.")


def show_history(run: Run) -> None:
    """List who changed the version that scores follow, newest first."""
    changes = follow_version.followed_versions(store(), run.id)
    if not changes:
        return
    st.html('<div class="rs-section">What was changed</div>')
    draw_table(
        ("When", "Who", "From", "To", "Why"),
        (
            [
                esc(fmt.time_ago(change.ts)),
                esc(change.actor),
                f"version {change.from_number}",
                f"version {change.to_number}",
                esc(change.reason),
            ]
            for change in changes
        ),
        name="Changes of the version that scores follow",
    )

"""What the newest run of this rubric says of its criteria, with the way to its evidence."""

from __future__ import annotations

import streamlit as st

from core.services.checking import after
from core.services.checking.after import RunRow, Told
from pages.author._rubric import work
from pages.ui import format as fmt
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import tag

AGREEMENT = "measure/agreement.py"


def show_beside(name: str, uid: str) -> None:
    """What the data say of the open criterion; nothing where they say nothing."""
    run = _run(name)
    if run is None:
        return
    criterion = next(c for c in work.draft(name)["criteria"] if c["uid"] == uid)
    mine = after.of_criterion(_told(run), criterion["name"])
    if not mine:
        return
    changed = after.asked_otherwise(store(), run, work.draft(name), uid)
    _sentences([(None, one) for one in mine], changed=changed)
    _link(run)


def show_all(name: str) -> None:
    """What the data say of any criterion."""
    run = _run(name)
    if run is None:
        return
    draft = work.draft(name)
    names = {c["name"] for c in draft["criteria"]}
    kept = [one for one in _told(run) if one.criterion in names]
    about = f"{run.name}, {fmt.plural(run.items, 'item')}, version {run.rubric_number}"
    st.html(
        '<div class="rs-section">What the newest run says</div>'
        f'<div class="rs-quiet">{esc(one_line(about, 120))}</div>'
    )
    if kept:
        _sentences([(one.criterion, one) for one in kept], changed=False)
    else:
        st.html('<div class="rs-quiet">Nothing is surely wrong with a criterion.</div>')
    _link(run)


def _run(name: str) -> RunRow | None:
    rubric_id = work.draft(name)["rubric_id"]
    return None if rubric_id is None else after.newest_run(store(), rubric_id)


def _told(run: RunRow) -> tuple[Told, ...]:
    about = (run.id, run.votes, run.failures_open)
    return remembered("rubric_told", about, lambda: after.told(store(), run.id))


def _sentences(told: list[tuple[str | None, Told]], *, changed: bool) -> None:
    lines = ""
    for subject, one in told:
        head = f"<b>{esc(one_line(subject, 60))}</b> " if subject else ""
        weight = tag("serious" if one.serious else "slight", "warn" if one.serious else "neutral")
        lines += f'<div class="rs-row">{weight}<span>{head}{esc(one.sentence)}</span></div>'
    note = (
        '<div class="rs-quiet">The criterion has changed since that run asked it.</div>'
        if changed
        else ""
    )
    st.html(f'<div class="rs-card"><b>From the votes</b>{lines}{note}</div>')


def _link(run: RunRow) -> None:
    st.page_link(
        AGREEMENT,
        label=label(f"Evidence: {run.name}", 60),
        icon=":material/balance:",
        query_params={state.RUN: str(run.id)},
    )

"""What the newest run of this rubric says of its criteria, with the way to its evidence."""

from __future__ import annotations

import streamlit as st

from core.domain.runs import RunRow
from core.services import numbers as fmt
from core.services.checking import after
from core.services.checking.after import Heard, Says, Told
from pages.author._rubric import work
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import tag


def show_beside(name: str, uid: str) -> None:
    """What the data say of the open criterion; nothing where they say nothing."""
    said = _said(name)
    if said is None:
        return
    criterion = next(c for c in work.draft(name)["criteria"] if c["uid"] == uid)
    mine = after.of_criterion(said.heard.told, criterion["name"])
    why = said.heard.unknown.get(criterion["name"], "")
    if not mine and not why:
        return
    changed = after.asked_otherwise(store(), said.run, work.draft(name), uid)
    _sentences([(None, one) for one in mine], changed=changed, unknown=_unknown(why))
    _link(said.run)


def show_all(name: str) -> None:
    """What the data say of any criterion."""
    said = _said(name)
    if said is None:
        return
    run, heard = said.run, said.heard
    names = {c["name"] for c in work.draft(name)["criteria"]}
    kept = [one for one in heard.told if one.criterion in names]
    about = f"{run.name}, {fmt.plural(run.items, 'item')}, version {run.rubric_number}"
    st.html(
        '<div class="rs-section">What the newest run says</div>'
        f'<div class="rs-quiet">{esc(one_line(about, 120))}</div>{_passed(said)}'
    )
    if kept:
        _sentences([(one.criterion, one) for one in kept], changed=False)
    elif heard.answers:
        st.html('<div class="rs-quiet">Nothing is surely wrong with a criterion.</div>')
    unknown = [
        f"{one_line(n, 60)}: {_unknown(why)}" for n, why in heard.unknown.items() if n in names
    ]
    if unknown:
        same = set(heard.unknown.values())
        lines = unknown if heard.answers or len(same) > 1 else [_unknown(same.pop())]
        st.html("".join(f'<div class="rs-quiet">{esc(line)}</div>' for line in lines))
    _link(run)


def _unknown(why: str) -> str:
    return f"Agreement unknown: {why}." if why else ""


def _passed(said: Says) -> str:
    """That a newer run cannot answer, and why this one is asked."""
    if said.passed is None:
        return ""
    words = f"A newer run, {one_line(said.passed.name, 60)}, cannot tell of agreement: {said.why}."
    return f'<div class="rs-quiet">{esc(words)}</div>'


def _said(name: str) -> Says | None:
    rubric_id = work.draft(name)["rubric_id"]
    return None if rubric_id is None else after.newest_answer(store(), rubric_id, _heard)


def _heard(run: RunRow) -> Heard:
    about = (run.id, run.votes, run.failures_open)
    return remembered("rubric_heard", about, lambda: after.heard(store(), run.id))


def _sentences(told: list[tuple[str | None, Told]], *, changed: bool, unknown: str = "") -> None:
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
    if unknown:
        lines += f'<div class="rs-quiet">{esc(unknown)}</div>'
    st.html(f'<div class="rs-card"><b>From the votes</b>{lines}{note}</div>')


def _link(run: RunRow) -> None:
    routes.link(routes.AGREEMENT, label(f"Evidence: {run.name}", 60), {state.RUN: run.id})

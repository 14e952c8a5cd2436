"""The cells of the item: the active one with its options as keys, the others folded to a line."""

from __future__ import annotations

import streamlit as st

from core.domain.review import WHYS, Given
from core.domain.rubric import Criterion
from core.services import reviewing
from core.services.reviewing import BlindCell, RevealedCell
from pages.review._item import desk as desks
from pages.review._item import hands, revealed
from pages.review._item.desk import Desk
from pages.review._item.handed_in import text_of
from pages.ui import format as fmt
from pages.ui import review_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import tag


def show(at: Desk) -> None:
    """All cells and the button that commits them."""
    assert at.item is not None, "an item is open"
    assert at.ticket is not None, "an open item has a ticket"
    votes: dict[str, RevealedCell] = {}
    if at.confirming or at.item.assisted:
        shown = reviewing.reveal(store(), at.ticket)
        votes = {cell.view.criterion.name: cell for cell in shown.cells}
    _stage(at)
    for place, cell in enumerate(at.item.cells):
        if cell.mine:
            _card(at, cell, place, votes.get(cell.criterion.name))
        else:
            _done(cell)
    _commit(at)


def _stage(at: Desk) -> None:
    assert at.item is not None, "an item is open"
    resolving = at.item.part == "resolve"
    if at.confirming:
        words = "Here is what the judges said. Confirm with Enter, or change your verdict."
        if resolving:
            words = "Here is what the reviewers and judges said. Decide, and say why in a note."
    elif at.item.assisted:
        words = "What the judges said is shown on this item. Decide for yourself."
    elif resolving:
        words = "Reviewers disagree here. Give your own verdict first."
    else:
        words = "Give your verdict. What the judges said appears after you commit."
        if not at.item.two_steps:
            words = "Give your verdict. It is final when you commit it."
    st.html(f'<div class="rs-row" role="status"><span class="rs-quiet">{esc(words)}</span></div>')


def _card(at: Desk, cell: BlindCell, place: int, votes: RevealedCell | None) -> None:
    criterion, given = cell.criterion, at.said.get(cell.criterion.name)
    active = criterion.name == at.active
    with st.container(border=True, key=f"rs_cell_{place}{'_active' if active else ''}"):
        _head(criterion, given, active)
        if active:
            _open(at, cell, given)
        else:
            st.button(
                "Open",
                key=state.key(keys.REVIEW_ACT, "open", at.number, place),
                type="tertiary",
                on_click=_activate,
                args=(at, criterion.name),
            )
        if votes is not None and at.item is not None:
            revealed.show(votes, text_of(at.item), active=active)


def _head(criterion: Criterion, given: Given | None, active: bool) -> None:
    said = _said(criterion, given)
    mark = '<span aria-label="active">▸</span>' if active else ""
    st.html(
        f'<div class="rs-row">{mark}<b>{esc(criterion.name)}</b>'
        f'<span class="rs-quiet">{esc(_weight(criterion))}</span>{said}</div>'
        f'<div class="rs-prose">{esc(criterion.requirement)}</div>'
    )


def _weight(criterion: Criterion) -> str:
    kind = "penalty" if criterion.weight < 0 else "weight"
    return f"{kind} {fmt.weight(criterion.weight)}"


def _said(criterion: Criterion, given: Given | None) -> str:
    if given is None or not desks.decided(given):
        return tag("no verdict yet", "warn")
    if given.option is not None:
        return tag(f"✓ {criterion.choices[given.option].label}", "good")
    return tag(f"✓ cannot assess: {WHYS[given.why] if given.why else ''}", "good")


def _open(at: Desk, cell: BlindCell, given: Given | None) -> None:
    if at.mode == "why":
        _whys(at, cell)
    elif at.mode == "flag":
        _flag(at, cell)
    else:
        _options(at, cell, given)
    _note(at, cell.criterion.name, given)
    with st.container(horizontal=True, gap="small"):
        for words, shortcut, what, act in (
            ("Cannot assess", "0", "why", hands.set_mode),
            ("Note", "N", "note", None),
            ("Flag", "F", "flag", hands.set_mode),
        ):
            st.button(
                words,
                key=state.key(keys.REVIEW_ACT, what, at.number, cell.criterion.name),
                type="tertiary",
                shortcut=shortcut,
                on_click=hands.write_note if act is None else act,
                args=(at,) if act is None else (at, what),
            )
        for words, shortcut, by in (("↑", "Up", -1), ("↓", "Down", 1)):
            st.button(
                words,
                key=state.key(keys.REVIEW_ACT, "move", by),
                type="tertiary",
                shortcut=shortcut,
                help="Previous cell" if by < 0 else "Next cell",
                disabled=len(at.mine) < 2,
                on_click=desks.move,
                args=(at, by),
            )


def _options(at: Desk, cell: BlindCell, given: Given | None) -> None:
    criterion = cell.criterion
    chosen = None if given is None else given.option
    for index, option in enumerate(criterion.options):
        value = "no score" if option.na else fmt.score(option.value)
        st.button(
            f"**{label(option.label)}** &nbsp; {label(value)}"
            + (f"  \n{label(option.description)}" if option.description else ""),
            key=state.key(keys.REVIEW_ACT, "option", at.number, criterion.name, index),
            type="primary" if index == chosen else "secondary",
            icon=":material/check:" if index == chosen else None,
            shortcut=str(index + 1) if index < 9 else None,
            width="stretch",
            wrap=True,
            on_click=hands.option,
            args=(at, at.number, criterion.name, index),
        )


def _whys(at: Desk, cell: BlindCell) -> None:
    st.caption("Why can it not be assessed?")
    for number, (why, words) in enumerate(WHYS.items(), start=1):
        st.button(
            words,
            key=state.key(keys.REVIEW_ACT, "why", at.number, cell.criterion.name, why),
            shortcut=str(number),
            width="stretch",
            on_click=hands.why,
            args=(at, at.number, cell.criterion.name, why),
        )


def _flag(at: Desk, cell: BlindCell) -> None:
    st.caption("Say what is wrong in the note (N), then who is to look at it.")
    for number, role in enumerate(("adjudicator", "lead"), start=1):
        st.button(
            f"For an {role}" if role == "adjudicator" else f"For a {role}",
            key=state.key(keys.REVIEW_ACT, "to", at.number, cell.criterion.name, role),
            shortcut=str(number),
            width="stretch",
            on_click=hands.flag,
            args=(at, at.number, role),
        )


def _note(at: Desk, criterion: str, given: Given | None) -> None:
    key = state.key(keys.REVIEW_NOTE, at.number, criterion)
    state.seed(key, given.note if given else "")
    st.text_area(
        "Note",
        key=key,
        height=68,
        max_chars=20_000,
        placeholder="Note (needed when you decide against judges who all agree)",
        label_visibility="collapsed",
        on_change=_keep_note,
        args=(at, key, criterion),
    )


def _keep_note(at: Desk, key: str, criterion: str) -> None:
    text = str(state.get(key) or "")
    hands.guarded(at, lambda desk: desks.note(desk, criterion, text))


def _activate(at: Desk, criterion: str) -> None:
    at.active, at.mode = criterion, "options"


def _done(cell: BlindCell) -> None:
    given = cell.final or cell.first
    with st.container(border=True):
        said = _said(cell.criterion, given) if given else tag("for others", "neutral")
        flagged = tag(f"flagged for {cell.flagged}", "warn") if cell.flagged else ""
        st.html(f'<div class="rs-row"><b>{esc(cell.criterion.name)}</b>{said}{flagged}</div>')


def _commit(at: Desk) -> None:
    words = "Confirm" if at.confirming else "Commit"
    left = len(at.missing)
    st.button(
        f"{words}" + (f" ({fmt.plural(left, 'cell')} without a verdict)" if left else ""),
        key=state.key(keys.REVIEW_ACT, "commit", at.number),
        type="secondary" if left else "primary",
        shortcut="Enter",
        width="stretch",
        on_click=hands.enter,
        args=(at, at.number),
    )

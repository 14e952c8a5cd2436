"""What keys do. Every act is guarded: a refusal is shown and loses nothing.

Keys are shortcuts of buttons that one can click as well. They never fire while typing. `Esc` leaves
a text field, which keeps its text; that, and putting the cursor into the note, needs the browser.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.domain.review import Role, Why
from core.errors import Conflict, InputError, Problem, RubricStudioError
from pages.review._item import desk as desks
from pages.review._item.desk import Desk
from pages.ui import review_keys as keys
from pages.ui import state

_HANDS = """
export default function({ data }) {
  const page = document;
  if (!page.rubricStudioLeavesFields) {
    page.rubricStudioLeavesFields = true;
    page.addEventListener("keydown", (event) => {
      const field = page.activeElement;
      if (event.key === "Escape" && field && /^(TEXTAREA|INPUT)$/.test(field.tagName)) field.blur();
    });
  }
  if (data.note && page.rubricStudioNote !== data.note) {
    page.rubricStudioNote = data.note;
    setTimeout(() => {
      const field = page.querySelector('[class*="st-key-review_note"] textarea');
      if (field) field.focus();
    }, 60);
  }
}
"""


def show(at: Desk) -> None:
    """The part in the browser."""
    component = st.components.v2.component("rubric_studio_hands", js=_HANDS)
    component(
        key=state.key(keys.REVIEW_ACT, "hands"),
        data={"note": f"{at.number}/{at.active}/{at.note}" if at.note else ""},
        height=1,
    )


def guarded(at: Desk, act: Callable[[Desk], object]) -> None:
    """Do it; keep a refusal for the bar to show."""
    state.drop(keys.REVIEW_REFUSED)
    try:
        act(at)
    except InputError as error:
        refuse(error.message, [(p.place, p.message, p.mend) for p in error.problems])
    except Conflict as error:
        refuse(str(error))
        _look_again(at)
    except RubricStudioError as error:
        refuse(str(error))


def refuse(message: str, problems: list[tuple[str, str, str]] | None = None) -> None:
    """Say on the next run why an act was refused."""
    state.put(keys.REVIEW_REFUSED, {"message": message, "problems": problems or []})


def refusal() -> InputError | None:
    """The refusal that waits to be shown, once."""
    told = state.get(keys.REVIEW_REFUSED)
    state.drop(keys.REVIEW_REFUSED)
    if not told:
        return None
    problems = tuple(
        Problem(m, mend, (place,) if place else ()) for place, m, mend in told["problems"]
    )
    return InputError(told["message"], problems)


def _look_again(at: Desk) -> None:
    try:
        desks.look_again(at)
    except Conflict:
        at.ticket, at.item = None, None  # it is somebody else's now; drafts are kept


def current(number: int, criterion: str, at: Desk) -> bool:
    """Whether a key was meant for what is open now: keys can arrive after the screen moved on."""
    return at.item is not None and at.number == number and at.active == criterion


def option(at: Desk, number: int, criterion: str, index: int) -> None:
    """A digit, or a click on an option of the active cell."""
    if current(number, criterion, at):
        guarded(at, lambda desk: desks.choose(desk, criterion, index))


def why(at: Desk, number: int, criterion: str, reason: Why) -> None:
    """A digit after 0."""
    if current(number, criterion, at):
        guarded(at, lambda desk: desks.give_up(desk, criterion, reason))


def enter(at: Desk, number: int) -> None:
    """Commit, or confirm; jumps to what is missing instead."""
    if at.item is None or at.number != number:
        return
    if at.missing:
        at.active = at.missing[0]
        left = len(at.missing)
        have = "cells have" if left > 1 else "cell has"
        refuse(f"{left} {have} no verdict yet. 0 says that one cannot be assessed.")
        return
    guarded(at, desks.commit)


def set_mode(at: Desk, mode: str) -> None:
    """What digits mean from now on; the same key again goes back."""
    at.mode = "options" if at.mode == mode else mode


def toggle_evidence(at: Desk) -> None:
    """Show or hide the numbers of sentences."""
    at.evidence = not at.evidence


def write_note(at: Desk) -> None:
    """Put the cursor into the note of the active cell."""
    at.note += 1


def skip(at: Desk, number: int, reason: str) -> None:
    """Put the item last in my queue."""
    if at.number == number:
        guarded(at, lambda desk: desks.skip(desk, reason))


def flag(at: Desk, number: int, role: Role) -> None:
    """Hand the active cell over."""
    reason = str(state.get(state.key(keys.REVIEW_NOTE, number, at.active)) or "")
    if at.number == number:
        guarded(at, lambda desk: desks.flag(desk, role, reason))


def undo(at: Desk) -> None:
    """Take my last act back."""

    def back(desk: Desk) -> None:
        if not desks.undo(desk):
            refuse("There is nothing of yours to undo in this queue.")

    guarded(at, back)

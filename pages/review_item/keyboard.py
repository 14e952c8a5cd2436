"""The effect of keys. A rejected act shows the reason and loses nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from core.domain.review import ReviewerAnswer, Role, Why
from core.domain.rubric import Criterion
from core.errors import Conflict, InputError, Problem, RubricStudioError
from core.services.review import reviewers
from core.services.review.commit_reveal import NOTE_NEEDED
from core.services.review.other_acts import ActStands, VerdictsCompared
from pages.review_item import acts, opened
from pages.review_item.opened import REVIEW_ACT, REVIEW_NOTE, REVIEW_REFUSED, OpenItem
from pages.ui import state
from pages.ui.browser.cursor import CURSOR
from pages.ui.places.settling import option_keys
from pages.ui.resources import store

# Streamlit handles shortcuts at the document. To keep events from it, stop them at the body, since
# all other nodes have handled them by then.
_HANDS = (
    CURSOR
    + """
export default function({ data }) {
  const page = document;
  if (!page.rubricStudioHands) {
    page.rubricStudioHands = {};
    const note = () => page.querySelector('[class*="st-key-review_note"] textarea');
    const ready = "[data-testid=stApp][data-test-script-state=notRunning]";
    const commit = (left = 100) => {
      const button = page.querySelector(ready) && page.querySelector(".st-key-rs_commit button");
      if (button) button.click();
      else if (left > 0) setTimeout(commit, 50, left - 1);
    };
    const groups = "[role=radiogroup],[role=tablist],[role=slider],[role=listbox],[role=menu]";
    page.addEventListener("keydown", (event) => {
      const at = page.activeElement;
      page.rubricStudioHands.stop?.();
      if (event.key === "Escape" && at && /^(TEXTAREA|INPUT)$/.test(at.tagName)) at.blur();
      // The field sends its text to the server on this key, so commit after that.
      const sent = event.key === "Enter" && (event.ctrlKey || event.metaKey);
      if (sent && at && at === note()) {
        at.blur();
        setTimeout(commit, 120);
      }
    });
    page.body.addEventListener("keydown", (event) => {
      const at = page.activeElement;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = at && (/^(TEXTAREA|INPUT|SELECT)$/.test(at.tagName) || at.isContentEditable);
      if (event.key.toLowerCase() === "n" && !typing && note()) {
        // Focus at once, or the next characters would act as shortcuts.
        event.preventDefault();
        event.stopPropagation();
        note().focus();
        return;
      }
      const open = page.querySelector(".st-key-rs_cell_active");
      // A digit acts on the active cell, which may be out of sight after the reveal.
      if (/^[0-9]$/.test(event.key) && !typing && open) open.scrollIntoView({ block: "nearest" });
      if (!at || at === page.body) return;
      const pressed = event.key === "Enter" && at.closest("button,a,summary,[role=button]");
      const moved = event.key.startsWith("Arrow") && at.closest(groups);
      if (pressed || moved) event.stopPropagation();
    });
    page.addEventListener("pointerup", (event) => {
      const here = event.target.closest && event.target.closest('[data-testid="stMain"]');
      const pointed = /mouse|touch|pen/.test(event.pointerType);
      if (!pointed || !here || !page.querySelector('[class*="st-key-review_act"]')) return;
      // After a mouse click, shortcuts act on the item, not on the clicked element.
      setTimeout(() => {
        const at = page.activeElement;
        const keyed = "button,summary,a,[role=radio],[type=radio],[type=checkbox]";
        if (at && at.matches(keyed)) at.blur();
      }, 100);
    }, true);
  }
  const was = page.rubricStudioHands;
  if (was.item !== data.item || was.cell !== data.cell) {
    const fresh = was.item !== data.item;
    const revealed = !fresh && data.revealed && !was.revealed;
    was.revealed = data.revealed;
    was.item = data.item;
    was.cell = data.cell;
    setTimeout(() => {
      const card = page.querySelector(".st-key-rs_cell_active");
      const whole = page.querySelector('[data-testid="stMain"]');
      if (fresh && whole) whole.scrollTo({ top: 0 });
      // Votes open in place: after a jump the reader would lose the line.
      else if (card && !revealed) card.scrollIntoView({ block: "nearest" });
    }, 80);
  }
  if (data.note && was.note !== data.note)
    was.stop = cursorInto(() => page.querySelector('[class*="st-key-review_note"] textarea'));
  was.note = data.note;
}
"""
)


def cannot_key(criterion: Criterion) -> str:
    """Return the key for "cannot assess": 0, or X if 0 is an option."""
    return "X" if "0" in option_keys(criterion.options) else "0"


def show(review: OpenItem) -> None:
    """Draw the browser's part."""
    component = st.components.v2.component("rubric_studio_hands", js=_HANDS)
    component(
        key=state.key(REVIEW_ACT, "hands"),
        data={
            "item": review.number,
            "cell": f"{review.active}/{review.confirming}",
            "revealed": review.confirming,
            "note": f"{review.number}/{review.active}/{review.note}" if review.note else "",
        },
        height=1,
    )


def perform_guarded(review: OpenItem, action: Callable[[OpenItem], object]) -> None:
    """Perform an act; keep an error for the bar to show."""
    state.drop(REVIEW_REFUSED)
    review.stands, review.told = None, ""
    try:
        action(review)
    except InputError as error:
        places = tuple(problem.place for problem in error.problems)
        review.unexplained = places if error.message == NOTE_NEEDED else ()
        all_of = (
            f" One note is enough for all {len(places)} cells."
            if len(review.unexplained) > 1
            else ""
        )
        keep_refusal(error.message + all_of, [(p.place, p.message, p.mend) for p in error.problems])
        _go_to_note(review, places)
    except Conflict as error:
        keep_refusal(str(error))
        _reload_item(review)
    except RubricStudioError as error:
        keep_refusal(str(error))


def keep_refusal(message: str, problems: list[tuple[str, str, str]] | None = None) -> None:
    """Show on the next run why an act was rejected."""
    state.put(REVIEW_REFUSED, {"message": message, "problems": problems or []})


def pending_refusal() -> InputError | None:
    """Return the pending error once, then ``None``."""
    message = state.get(REVIEW_REFUSED)
    state.drop(REVIEW_REFUSED)
    if not message:
        return None
    problems = tuple(
        Problem(m, advice, (place,) if place else ()) for place, m, advice in message["problems"]
    )
    return InputError(message["message"], problems)


def _go_to_note(review: OpenItem, places: Sequence[str]) -> None:
    """Open the first cell that needs a note and put the cursor in it: type, Esc, Enter."""
    first = next(
        (
            opened.criterion_name(cell)
            for cell in review.cells_to_decide
            if opened.criterion_name(cell) in places
        ),
        None,
    )
    if first is not None:
        review.active, review.mode = first, "options"
        write_note(review)


def _reload_item(review: OpenItem) -> None:
    try:
        opened.reload_item(review)
    except Conflict:
        opened.lay_item(review, None)  # Another reviewer has it now; drafts are kept.


def is_current(number: int, criterion: str, review: OpenItem) -> bool:
    """Return whether a key belongs to what is open; keys can arrive after the screen moved on."""
    return review.item is not None and review.number == number and review.active == criterion


def press_option(review: OpenItem, number: int, criterion: str, index: int) -> None:
    """Handle a digit, or a click on an option of the active cell.

    With "Commit at once" it also commits, if this was the last answer or the only one to confirm.
    """
    if not is_current(number, criterion, review):
        return
    perform_guarded(review, lambda now: acts.choose_option(now, criterion, index))
    last = len(review.cells_to_decide) == 1 if review.confirming else not review.missing
    if last and review.item is not None and reviewers.commits_at_once(store(), review.seat):
        press_enter(review, number)


def cannot_assess(review: OpenItem, number: int, criterion: str, reason: Why) -> None:
    """Handle a digit after 0."""
    if is_current(number, criterion, review):
        perform_guarded(review, lambda now: acts.give_up(now, criterion, reason))


def press_enter(review: OpenItem, number: int) -> None:
    """Commit or confirm; if verdicts are missing, jump to them instead."""
    if review.item is None or review.number != number:
        return
    if not review.cells_to_decide:
        perform_guarded(review, acts.take_next)
        return
    _take_note(review)
    _share_note(review)
    if review.missing:
        review.active, review.mode = review.missing[0], "options"
        missing = len(review.missing)
        have = "cells have" if missing > 1 else "cell has"
        key = next(
            cannot_key(c.criterion)
            for c in review.cells_to_decide
            if opened.criterion_name(c) == review.active
        )
        keep_refusal(f"{missing} {have} no verdict yet. {key} says that one cannot be assessed.")
        return
    perform_guarded(review, acts.commit_verdicts)


def _take_note(review: OpenItem) -> None:
    """Save the text of the note, whether its field reported it before this act or with it."""
    text = state.get(state.key(REVIEW_NOTE, review.number, review.active))
    drafted = review.said.get(review.active)
    if text is not None and str(text) != (drafted.note if drafted else ""):
        perform_guarded(review, lambda now: acts.store_note(now, now.active, str(text)))


def _share_note(review: OpenItem) -> None:
    """Use the note for the other cells that were rejected with this one and have no note."""
    cells, note = review.unexplained, review.said.get(review.active, ReviewerAnswer(None)).note
    review.unexplained = ()
    if review.active not in cells or not note.strip():
        return
    for name in cells:
        if not review.said[name].note.strip():
            state.put(state.key(REVIEW_NOTE, review.number, name), note)
            perform_guarded(review, partial(acts.store_note, criterion=name, text=note))


def set_digit_mode(review: OpenItem, mode: str) -> None:
    """Set what digits mean; the same key again resets it."""
    review.mode = "options" if review.mode == mode else mode


def write_note(review: OpenItem) -> None:
    """Put the cursor in the active cell's note."""
    review.note += 1


def act_on_cell(
    review: OpenItem, number: int, criterion: str, action: Callable[[OpenItem], object]
) -> None:
    """Act on the active cell: flag it, remove the flag, send it back."""
    if is_current(number, criterion, review):
        perform_guarded(review, action)


def flag_by_key(review: OpenItem, number: int, criterion: str, role: Role) -> None:
    """Flag the active cell for a role."""
    act_on_cell(review, number, criterion, lambda now: acts.flag_cell(now, role))


def skip_by_key(review: OpenItem, number: int) -> None:
    """Move the item to the end of my queue."""
    if review.number == number and review.ticket is not None:
        perform_guarded(review, acts.skip_item)


def step_by_key(review: OpenItem, number: int, step: int) -> None:
    """Show the next or previous item."""
    if review.number == number:
        perform_guarded(review, lambda now: acts.step_items(now, step))


def undo_by_key(review: OpenItem) -> None:
    """Undo my last act; pressed again after an act that cannot be undone, undo the act before
    it.
    """
    passed = review.stands

    def back_to_queue(now: OpenItem) -> None:
        try:
            undone = acts.undo_act(now, None if passed is None else passed.step)
        except ActStands as error:
            now.stands = error
            if not isinstance(error, VerdictsCompared):
                keep_refusal(f"{error} Press U again to undo the act before.")
            return
        if not undone:
            before = " before that" if passed else ""
            keep_refusal(f"You have nothing to undo in this queue{before}.")

    perform_guarded(review, back_to_queue)


def flag_met(review: OpenItem, compared: VerdictsCompared, note: str) -> None:
    """Ask a lead about verdicts compared with another reviewer's; this field has the note."""
    perform_guarded(
        review, lambda now: acts.flag_met_verdicts(now, compared, str(state.get(note) or ""))
    )
    review.stands = None if review.told else compared

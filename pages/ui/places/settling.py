"""Settle cells in the grid: the open cell, or all selected cells."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.review import WHYS, ReviewerAnswer
from core.domain.rubric import Criterion, Option
from core.services.guided.own_grades import GRADER
from core.services.labelling import settle_at_sight
from core.text import numbers as fmt
from pages.ui import identity, state
from pages.ui.resources import actor, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import shown_errors

SETTLE = "run_settle"
#: The names of the selected cells, as the grid gave them out.
SELECTED = state.key(SETTLE, "selected")
#: The run, steps and words of the last settlement in this tab.
LAST = state.key(SETTLE, "last")
#: Set by a settlement until the whole page shows what follows from it.
CHANGED = state.key(SETTLE, "changed")
#: The field for the reviewer's name, if it is unknown in this tab, and the one in the open cell.
WHO, WHO_CELL = state.key(SETTLE, "name"), state.key(SETTLE, "cell", "name")
Cells = Sequence[tuple[str, str]]


def may_settle() -> bool:
    """Return whether the user may settle cells with their votes visible."""
    return actor().may("adjudicate")


def ask_name() -> None:
    """Draw the field for the name before the first settlement, unless the name is known."""
    if may_settle():
        identity.ask_name_early(WHO)


def ask_name_in_cell() -> None:
    """Draw the field in the head of the open cell, where a settlement needs a name."""
    if may_settle() and not identity.may_begin_alone():
        identity.ask_name(WHO_CELL, width=145)


def selected_cells() -> list[tuple[str, str]]:
    """Return the selected cells as (item, criterion)."""
    return [tuple(json.loads(name)) for name in state.get(SELECTED) or ()]


def select_cells(names: Sequence[str]) -> None:
    """Callback: select exactly these cells."""
    state.put(SELECTED, list(names))


def settle_bar(run_id: int, criteria: Sequence[Criterion], *, last: bool) -> None:
    """Draw the selected cells with their buttons; without any, the last settlement if `last`.

    An open cell draws the last settlement itself, so that the grid does not move down.
    """
    cells = selected_cells()
    if not cells:
        if last:
            show_last(run_id)
        return
    names = {name for _, name in cells}
    (single,) = names if len(names) == 1 else ("",)
    of_cell = f", {one_line(single, 60)}" if single else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<b>{esc(fmt.plural(len(cells), 'cell') + of_cell)}</b>", width="content")
        settle_form(run_id, cells, next((c for c in criteria if c.name == single), None), "bar")
        st.button(
            "Clear",
            key=state.key(SETTLE, "clear"),
            type="tertiary",
            icon=":material/close:",
            on_click=select_cells,
            args=((),),
        )


def settle_form(
    run_id: int,
    cells: Cells,
    criterion: Criterion | None,
    place: str,
    on_settled: Callable[[], None] | None = None,
) -> None:
    """Draw the buttons that settle the cells: an option, as the panel voted, or "cannot assess".

    `on_settled` is called after they are settled.
    """
    note = state.key(SETTLE, place, "note")
    written = (run_id, tuple(cells), note, on_settled)
    options = criterion.options if criterion else ()
    if len(cells) > 1 or criterion is None:
        _settle_button("As they stand", place, "stand", written, None)
    for number, option in enumerate(options):
        _settle_button(one_line(option.label, 40), place, number, written, ReviewerAnswer(number))
    with st.popover("With a note", icon=":material/edit_note:", type="tertiary"):
        st.text_input(
            "Note",
            key=note,
            max_chars=2_000,
            help="A reason is needed if all judges agree on another option.",
        )
        st.caption("Cannot assess:")
        for reason, text in WHYS.items():
            _settle_button(text, place, reason, written, ReviewerAnswer(None, reason))


def _settle_button(
    words: str,
    place: str,
    kind: object,
    written: tuple[int, tuple[tuple[str, str], ...], str, Callable[[], None] | None],
    answer: ReviewerAnswer | None,
) -> None:
    st.button(
        label(words),
        key=state.key(SETTLE, place, "as", kind),
        on_click=_on_settle,
        args=(*written, answer, words),
    )


def _on_settle(
    run_id: int,
    cells: Cells,
    note: str,
    on_settled: Callable[[], None] | None,
    answer: ReviewerAnswer | None,
    words: str,
) -> None:
    with shown_errors():
        if answer is not None and state.get(note):
            answer = ReviewerAnswer(answer.option, answer.why, str(state.get(note)))
        settle_cells(run_id, cells, answer, words)
        if on_settled is not None:
            on_settled()


def settle_cells(
    run_id: int,
    cells: Cells,
    answer: ReviewerAnswer | None,
    words: str,
    name: str = settle_at_sight.NAME,
) -> None:
    """Settle cells for the known user, or the user named in the field; `show_last` draws it.

    If no one has reviewed yet, a person without a name is the grader.
    """
    written = str(state.get(WHO_CELL) or state.get(WHO) or "").strip()
    reviewer = identity.known_name() or written
    is_alone = not reviewer and identity.may_begin_alone()
    seat = identity.take_seat(GRADER if is_alone else reviewer)
    steps = settle_at_sight.settle(store(), seat, run_id, cells, answer, name=name)
    state.drop(SETTLE)
    text = (
        f"{fmt.plural(len(steps), 'cell')} settled: {words}{f', as {GRADER}' if is_alone else ''}."
    )
    state.put(LAST, (run_id, steps, text, words))
    state.put(CHANGED, True)


def option_keys(options: Sequence[Option]) -> list[str | None]:
    """Return the key of each option: its label if all are single digits, else its position.

    The tenth and later options need Shift, as do options without a score next to digits.
    """
    digits = "0123456789"
    if all(
        option.label in digits and len(option.label) == 1 for option in options if not option.na
    ):
        shifted = iter(range(1, 10))
        return [f"Shift+{next(shifted, 9)}" if option.na else option.label for option in options]
    places = [*digits[1:], *(f"Shift+{n}" for n in digits[1:])]
    return [places[index] if index < len(places) else None for index in range(len(options))]


def settle_by_digit(
    run_id: int,
    cells: Cells,
    criterion: Criterion,
    digit: int,
    on_settled: Callable[[], None] | None,
) -> None:
    """Callback: settle cells of a criterion as the option that has this key."""
    keys = option_keys(criterion.options)
    if may_settle() and str(digit) in keys:
        index = keys.index(str(digit))
        note, words = state.key(SETTLE, "bar", "note"), criterion.options[index].label
        _on_settle(run_id, cells, note, on_settled, ReviewerAnswer(index), words)


def show_last(run_id: int, *, brief: bool = False) -> None:
    """Draw the last settlement, and the button that undoes it; if `brief`, in the button alone."""
    of_run, steps, text, words = state.get(LAST) or (None, (), "", "")
    if of_run != run_id:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not brief:
            st.html(f'<span class="rs-quiet">{esc(text)}</span>', width="content")
        st.button(
            f"Undo {label(one_line(words, 20))}" if brief else "Undo",
            key=state.key(SETTLE, "undo"),
            help=label(text, 300) if brief else None,
            type="tertiary",
            icon=":material/undo:",
            on_click=_undo_steps,
            args=(steps,),
        )


def _undo_steps(steps: Sequence[int]) -> None:
    with shown_errors():
        settle_at_sight.undo(store(), identity.take_seat(identity.known_name()), steps)
        state.drop(LAST)
        state.put(CHANGED, True)

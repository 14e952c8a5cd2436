"""The cells of the item: the active one with its options, keys and note; the others folded."""

from __future__ import annotations

import streamlit as st

from core.domain.review import WHYS, ReviewerAnswer
from core.domain.rubric import Criterion
from core.services.review import reviewers
from core.services.review.commit_reveal import BlindCell
from core.text import numbers as fmt
from pages.review_item import acts, keyboard, opened, revealed
from pages.review_item.opened import REVIEW_ACT, REVIEW_NOTE, OpenItem
from pages.review_item.submission import text_of
from pages.ui import state
from pages.ui.places.settling import option_keys
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, tag

LONGEST = 20_000


def show_note(review: OpenItem, criterion: str, answer: ReviewerAnswer | None) -> None:
    """Draw the note's field, which is saved when it loses focus, and the saved notes."""
    key = state.key(REVIEW_NOTE, review.number, criterion)
    state.seed(key, answer.note if answer else "")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_area(
            f"Note on {label(criterion, 60)}",
            key=key,
            height=68,
            max_chars=LONGEST,
            placeholder="Note: why? Needed when you decide against judges who all agree.",
            label_visibility="collapsed",
            on_change=_store_typed,
            args=(review, key, criterion),
        )
        with st.popover("", icon=":material/bookmark:", help="Saved notes"):
            _saved_notes(review, key, criterion)
    if criterion in review.unexplained:
        _offer_last_notes(review, key, criterion)


def _offer_last_notes(review: OpenItem, key: str, criterion: str) -> None:
    """Draw this person's last notes in the queue; a press takes one and goes on."""
    notes = reviewers.last_notes(store(), review.seat, review.queue_id)
    with st.container(horizontal=True, gap="small"):
        for place, text in enumerate(notes):
            st.button(
                label(one_line(text, 60)),
                key=state.key(REVIEW_ACT, "last note", place),
                icon=":material/history:",
                help="Uses your note as the reason and continues.",
                on_click=_explain_field,
                args=(review, review.number, key, criterion, text),
            )


def _explain_field(review: OpenItem, number: int, key: str, criterion: str, text: str) -> None:
    if keyboard.is_current(number, criterion, review):
        _use_note(review, key, criterion, text)
        keyboard.press_enter(review, number)


def _store_typed(review: OpenItem, key: str, criterion: str) -> None:
    # The field can report together with the act that closes the item; that act already took the
    # note.
    if key == state.key(REVIEW_NOTE, review.number, criterion) and review.ticket is not None:
        text = str(state.get(key) or "")
        keyboard.perform_guarded(review, lambda now: acts.store_note(now, criterion, text))


def _saved_notes(review: OpenItem, key: str, criterion: str) -> None:
    snippets = reviewers.snippets_of(store(), review.seat)
    if not snippets:
        st.caption("You have no saved notes yet. Write a note, then save it here.")
    for place, text in enumerate(snippets):
        with st.container(horizontal=True, gap="small"):
            st.button(
                label(text, 90),
                key=state.key(REVIEW_ACT, "snippet", place),
                type="tertiary",
                on_click=_use_note,
                args=(review, key, criterion, text),
            )
            st.button(
                "",
                key=state.key(REVIEW_ACT, "snippet gone", place),
                icon=":material/close:",
                type="tertiary",
                help="Forget this note",
                on_click=_forget_note,
                args=(review, text),
            )
    st.button(
        "Keep this note",
        key=state.key(REVIEW_ACT, "snippet keep"),
        icon=":material/bookmark_add:",
        on_click=_keep_note,
        args=(review, key),
    )


def _use_note(review: OpenItem, key: str, criterion: str, text: str) -> None:
    """Append a saved note to the field."""
    before = str(state.get(key) or "").rstrip()
    state.put(key, f"{before}\n{text}" if before else text)
    _store_typed(review, key, criterion)


def _keep_note(review: OpenItem, key: str) -> None:
    keyboard.perform_guarded(
        review, lambda now: reviewers.keep(store(), now.seat, str(state.get(key) or ""))
    )


def _forget_note(review: OpenItem, text: str) -> None:
    keyboard.perform_guarded(review, lambda now: reviewers.forget(store(), now.seat, text))


def show(review: OpenItem) -> None:
    """Draw all cells and the button that commits them."""
    assert review.item is not None, "an item is open"
    _stage_line(review)
    for place, cell in enumerate(review.cells):
        if not cell.mine:
            _is_done(cell)
        elif opened.criterion_name(cell) == review.active:
            _active_card(review, cell)
        else:
            _folded_card(review, cell, place)
    _commit_button(review)


def _stage_line(review: OpenItem) -> None:
    assert review.item is not None, "an item is open"
    caption = (
        "Give your verdict. The item's name is hidden; the judges' votes appear after you commit."
    )
    resolving = review.item.part == "resolve"
    if not review.cells_to_decide:
        caption = "You have no open cells on this item."
    elif review.confirming and resolving:
        caption = "These are the verdicts of reviewers and judges. Decide; give a reason in a note."
    elif review.confirming:
        caption = "These are the judges' votes. Confirm with Enter, or change your verdict."
    elif resolving:
        caption = "Reviewers disagree here. Give your own verdict first."
    elif review.item.assisted:
        caption = "The judges' votes are shown on this item. Decide for yourself."
    elif not review.item.two_steps:
        caption = "Give your verdict. It is final when you commit it."
    order = [opened.criterion_name(cell) for cell in review.cells_to_decide]
    if len(order) > 1 and review.active in order:
        caption += f" Cell {order.index(review.active) + 1} of {len(order)}."
    st.html(f'<div class="rs-row" role="status"><span class="rs-quiet">{esc(caption)}</span></div>')


def _active_card(review: OpenItem, cell: BlindCell) -> None:
    criterion, drafted = cell.criterion, review.said.get(opened.criterion_name(cell))
    votes = review.votes.get(criterion.name)
    with st.container(border=True, key="rs_cell_active", gap="small"):
        _card_head(cell, drafted)
        if votes is not None:
            revealed.show_summary(votes)
        if review.mode == "why":
            _reason_buttons(review, cell)
        elif review.mode == "flag":
            _flag_buttons(review, cell)
        else:
            _option_buttons(review, cell, drafted)
        show_note(review, criterion.name, drafted)
        _act_buttons(review, cell)
        if votes is not None and review.item is not None:
            revealed.show_votes(votes, text_of(review.item))


def _folded_card(review: OpenItem, cell: BlindCell, place: int) -> None:
    """Draw one line that opens the cell, with its verdict and, if shown, its votes."""
    criterion = cell.criterion
    drafted = review.said.get(criterion.name)
    is_decided = opened.is_decided(drafted)
    with st.container(border=True, key=f"rs_cell_{place}", gap="small"):
        st.button(
            f"**{label(criterion.name)}** &nbsp; {label(_answer_words(criterion, drafted))}",
            key=state.key(REVIEW_ACT, "open", review.number, place),
            type="tertiary",
            icon=":material/check_circle:" if is_decided else ":material/radio_button_unchecked:",
            width="stretch",
            wrap=True,
            on_click=_activate_cell,
            args=(review, criterion.name),
        )
        votes = review.votes.get(criterion.name)
        if votes is not None:
            revealed.show_summary(votes)


def _card_head(cell: BlindCell, answer: ReviewerAnswer | None) -> None:
    criterion = cell.criterion
    tone: Tone = "good" if opened.is_decided(answer) else "warn"
    flagged = tag(f"flagged for {_role_with_article(cell.flagged)}", "warn") if cell.flagged else ""
    remark_html = f'<div class="rs-quote">{esc(cell.remark)}</div>' if cell.remark else ""
    st.html(
        f'<div class="rs-row"><span class="rs-cell" role="heading" aria-level="2">'
        f'{esc(criterion.name)}</span><span class="rs-quiet">{esc(_weight_words(criterion))}</span>'
        f"{tag(_answer_words(criterion, answer), tone)}{flagged}</div>"
        f'<div class="rs-prose">{esc(criterion.requirement)}</div>{remark_html}'
    )


def _role_with_article(role: str) -> str:
    return f"an {role}" if role == "adjudicator" else f"a {role}"


def _weight_words(criterion: Criterion) -> str:
    kind = "penalty" if criterion.weight < 0 else "weight"
    return f"{kind} {fmt.weight(criterion.weight)}"


def _answer_words(criterion: Criterion, answer: ReviewerAnswer | None) -> str:
    if answer is None or not opened.is_decided(answer):
        return "no verdict yet"
    if answer.option is not None:
        return f"✓ {criterion.choices[answer.option].label}"
    return f"✓ cannot assess: {WHYS[answer.why] if answer.why else ''}"


def _choice_button(
    review: OpenItem, caption: str, what: tuple[object, ...], number: int, act: object, args: object
) -> None:
    """Draw one answer: a wide button that its digit also presses."""
    st.button(
        caption,
        key=state.key(REVIEW_ACT, "option", review.number, review.active, *what),
        shortcut=str(number),
        width="stretch",
        wrap=True,
        on_click=act,  # type: ignore[arg-type]
        args=(review, review.number, review.active, *args),  # type: ignore[misc]
    )


def _option_buttons(review: OpenItem, cell: BlindCell, answer: ReviewerAnswer | None) -> None:
    criterion = cell.criterion
    chosen = None if answer is None else answer.option
    with st.container(gap="xsmall", key="rs_options"):
        keys = option_keys(criterion.options)
        for index, (option, key) in enumerate(zip(criterion.options, keys, strict=True)):
            value = "no score" if option.na else fmt.score(option.value)
            st.button(
                f"**{label(option.label)}** &nbsp; {label(value)}"
                + (f"  \n{label(option.description)}" if option.description else ""),
                key=state.key(REVIEW_ACT, "option", review.number, criterion.name, index),
                type="primary" if index == chosen else "secondary",
                icon=":material/check:" if index == chosen else None,
                shortcut=key,
                width="stretch",
                wrap=True,
                on_click=keyboard.press_option,
                args=(review, review.number, criterion.name, index),
            )


def _reason_buttons(review: OpenItem, cell: BlindCell) -> None:
    key = keyboard.cannot_key(cell.criterion)
    st.caption(f"Why can it not be assessed? ({key} goes back)")
    with st.container(gap="xsmall", key="rs_options"):
        for number, (reason, caption) in enumerate(WHYS.items(), start=1):
            _choice_button(
                review, caption, ("why", reason), number, keyboard.cannot_assess, (reason,)
            )


def _flag_buttons(review: OpenItem, cell: BlindCell) -> None:
    st.caption(
        "First describe the problem in the note (N), then choose who should review the "
        "cell. (F goes back)"
    )
    with st.container(gap="xsmall", key="rs_options"):
        _choice_button(
            review,
            "For an adjudicator",
            ("adjudicator",),
            1,
            keyboard.flag_by_key,
            ("adjudicator",),
        )
        _choice_button(review, "For a lead", ("lead",), 2, keyboard.flag_by_key, ("lead",))
        if cell.flagged:
            _choice_button(
                review,
                "For everybody again",
                ("all",),
                3,
                keyboard.act_on_cell,
                (acts.unflag_cell,),
            )
        if review.item is not None and review.item.part == "resolve":
            caption = "Return to the reviewers: their verdicts no longer count"
            _choice_button(review, caption, ("back",), 4, keyboard.act_on_cell, (acts.send_back,))


def _act_buttons(review: OpenItem, cell: BlindCell) -> None:
    with st.container(horizontal=True, gap="small"):
        cannot_key = keyboard.cannot_key(cell.criterion)
        for caption, shortcut, mode in (
            ("Cannot assess", cannot_key, "why"),
            ("Flag", "F", "flag"),
        ):
            st.button(
                caption,
                key=state.key(REVIEW_ACT, mode),
                type="tertiary",
                shortcut=shortcut,
                on_click=keyboard.set_digit_mode,
                args=(review, mode),
            )
        st.button(
            "Note",
            key=state.key(REVIEW_ACT, "note"),
            type="tertiary",
            shortcut="N",
            on_click=keyboard.write_note,
            args=(review,),
        )
        if len(review.cells_to_decide) < 2:
            return
        for caption, shortcut, step in (("Previous", "Up", -1), ("Next", "Down", 1)):
            st.button(
                caption,
                key=state.key(REVIEW_ACT, "move", step),
                type="tertiary",
                shortcut=shortcut,
                on_click=acts.move_active,
                args=(review, step),
            )


def _activate_cell(review: OpenItem, criterion: str) -> None:
    review.active, review.mode = criterion, "options"


def _is_done(cell: BlindCell) -> None:
    own_verdict = cell.final or cell.first
    with st.container(border=True):
        verdict = (
            tag(_answer_words(cell.criterion, own_verdict), "good")
            if own_verdict
            else tag("for others")
        )
        flagged = (
            tag(f"flagged for {_role_with_article(cell.flagged)}", "warn") if cell.flagged else ""
        )
        st.html(f'<div class="rs-row"><b>{esc(cell.criterion.name)}</b>{verdict}{flagged}</div>')


def _commit_button(review: OpenItem) -> None:
    missing = len(review.missing)
    caption = "Confirm" if review.confirming else "Commit"
    if not review.cells_to_decide:
        caption = "Next item"
    # The button stays above the lower edge, whatever the number of cells.
    st.container(key="rs_commit").button(
        caption + (f" ({fmt.plural(missing, 'cell')} without a verdict)" if missing else ""),
        key=state.key(REVIEW_ACT, "commit", review.number),
        type="secondary" if missing else "primary",
        shortcut="Enter",
        width="stretch",
        on_click=keyboard.press_enter,
        args=(review, review.number),
    )

"""The versions of a rubric: listed, read, compared; and merging two people's saves."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import streamlit as st

from core.domain.base import Kind
from core.domain.library import RubricVersionInfo
from core.errors import InputError
from core.rubric_diff.edits import KINDS, MISSING, FieldEdit, edits_between
from core.rubric_diff.merge import MergePiece, Side, merge_pieces, merged_rubric
from core.rubric_diff.wording import word_changes
from core.services.rubrics import library
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import rubric_from, with_rubric
from core.services.versions.score_changes import VersionRuns, uses_of_versions
from core.text import numbers as fmt
from pages.rubric.files import export_buttons
from pages.rubric.versions.unsaved import back_to_list
from pages.ui import drafts, state
from pages.ui.drafts import RUBRIC_ACT, RUBRIC_CONFLICT, open_rubric
from pages.ui.resources import store
from pages.ui.text import draw_raw, esc, label, marked, one_line
from pages.ui.widgets import Tone, choose_one, draw_row, empty_state, page_header, shown_errors, tag

WORDS: Mapping[Kind, tuple[str, Tone]] = {
    "words": ("wording", "neutral"),
    "score": ("recomputed", "info"),
    "question": ("asked otherwise", "warn"),
    "options": ("other options", "warn"),
    "added": ("+ added", "good"),
    "removed": ("− removed", "bad"),
    "renamed": ("renamed", "neutral"),
}


def show_edits(edits: Sequence[FieldEdit], before: str, after: str) -> None:
    """Draw every edit under its criterion; `before` and `after` head the two columns."""
    if not edits:
        st.html('<p class="rs-quiet">Nothing differs.</p>')
        return
    headings = f'<th scope="col">{esc(before)}</th><th scope="col">{esc(after)}</th>'
    body = "".join(
        _edit_group(criterion, list(group))
        for criterion, group in itertools.groupby(_ordered_edits(edits), lambda e: e.criterion)
    )
    st.html(
        '<div class="rs-scroll"><table class="rs-table rs-diff" aria-label="What differs">'
        f'<thead><tr><th scope="col">What</th>{headings}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def show_legend(edits: Sequence[FieldEdit]) -> None:
    """Explain what the kinds of edits mean for existing votes."""
    kinds = dict.fromkeys(edit.kind for edit in edits)
    lines = "".join(
        f"<li>{tag(*WORDS[kind])} {esc(KINDS[kind])}</li>" for kind in WORDS if kind in kinds
    )
    st.html(f'<ul class="rs-list">{lines}</ul>')


def _ordered_edits(edits: Sequence[FieldEdit]) -> list[FieldEdit]:
    """Return the rubric's own edits first, then those of each criterion in order."""
    places = {name: index for index, name in enumerate(dict.fromkeys(e.criterion for e in edits))}
    return sorted(edits, key=lambda e: -1 if e.criterion is None else places[e.criterion])


def _edit_group(criterion: str | None, edits: Sequence[FieldEdit]) -> str:
    title = "The rubric itself" if criterion is None else criterion
    head = f'<tr><th colspan="3" scope="colgroup" class="rs-group">{esc(title)}</th></tr>'
    return head + "".join(map(_edit_line, edits))


def _edit_line(edit: FieldEdit) -> str:
    removed, added = word_changes(edit.before, edit.after)
    if edit.kind in ("added", "removed") or MISSING in (edit.before, edit.after):
        removed, added = (), ()
    return (
        f"<tr><td>{esc(edit.what)}<br>{tag(*WORDS[edit.kind])}</td>"
        f'<td class="rs-text">{marked(edit.before, removed)}</td>'
        f'<td class="rs-text">{marked(edit.after, added)}</td></tr>'
    )


VERSIONS_PICK = "versions_pick"

RUNS = 5


def version_list(name: str) -> None:
    """Draw the history, newest first, and graded runs; for the panel next to the form."""
    rubric_id = drafts.draft(name)["rubric_id"]
    if rubric_id is None:
        empty_state(
            "No versions yet", ("Every save creates a version; runs refer to versions permanently.")
        )
        return
    history = library.version_history(store(), rubric_id)
    used = uses_of_versions(store(), rubric_id)
    for place, info in enumerate(history):
        with st.container(border=True):
            _version_words(info, used.get(info.id, VersionRuns()))
            _version_acts(name, info, history[place + 1].id if place + 1 < len(history) else None)


def _version_words(info: RubricVersionInfo, runs: VersionRuns) -> None:
    author = f" by {info.author}" if info.author else ""
    details = f"{fmt.time_ago(info.created)}{author} · {fmt.short_hash(info.hash)}"
    lines = [
        f"<b>Version {info.number}</b> {esc(info.note)}",
        f'<span class="rs-quiet">{esc(details)}</span>',
        *(f'<span class="rs-quiet">{esc(line)}</span>' for line in _use_tags(runs)),
    ]
    st.html("<br>".join(lines))


def _use_tags(used: VersionRuns) -> list[str]:
    if not used.asked and not used.follow:
        return ["not used"]
    lines = []
    for caption, runs in (("asked in", used.asked), ("scores follow it in", used.follow)):
        if runs:
            names = ", ".join(f"{run.id} {one_line(run.name, 40)}" for run in runs[:RUNS])
            unlisted = f" and {len(runs) - RUNS} more" if len(runs) > RUNS else ""
            lines.append(f"{caption} {fmt.plural(len(runs), 'run')}: {names}{unlisted}")
    if used.queues:
        lines.append(f"reviewed in {fmt.plural(used.queues, 'queue')}")
    return lines


def _version_acts(name: str, info: RubricVersionInfo, before: int | None) -> None:
    with st.container(horizontal=True):
        for act, caption, parameters in (
            ("version", "Read", {state.VERSION: info.id}),
            ("changes", "What changed", {state.VERSION: info.id, state.AGAINST: before}),
        ):
            if act == "version" or before is not None:
                st.button(
                    caption,
                    key=state.key(RUBRIC_ACT, name, act, info.id),
                    type="tertiary",
                    on_click=_go_to_editor,
                    kwargs=parameters,
                )


def _go_to_editor(**parameters: object) -> None:
    state.set_address(**parameters)


def show_difference(version_id: int, against: int) -> None:
    """Compare two versions of a rubric, criterion by criterion."""
    with shown_errors():
        new = library.version_by_id(store(), version_id)
        history = {info.id: info for info in library.version_history(store(), new.rubric_id)}
        back_to_list()
        page_header(new.rubric.name, "Differences between two versions", own_words=False)
        older, newer = _pick_versions(history, against, version_id)
        older_version, newer_version = (
            library.version_by_id(store(), number) for number in (older, newer)
        )
        edits = edits_between(older_version.rubric, newer_version.rubric)
        with st.container(horizontal=True):
            st.button(
                "Back to the editor",
                key=state.key(RUBRIC_ACT, "editor"),
                icon=":material/edit:",
                on_click=_go_to_editor,
                kwargs={state.RUBRIC: new.rubric_id, state.VERSION: None, state.AGAINST: None},
            )
        show_edits(
            edits.edits, f"Version {older_version.number}", f"Version {newer_version.number}"
        )
        if edits.edits:
            st.html('<div class="rs-section">What that means for votes that are there</div>')
            show_legend(edits.edits)


def _pick_versions(
    history: Mapping[int, RubricVersionInfo], older: int, newer: int
) -> tuple[int, int]:
    def version_caption(version_id: int) -> str:
        info = history[version_id]
        return one_line(f"Version {info.number} {info.note}", 60)

    chosen = []
    with st.container(horizontal=True):
        for side, title, first in (("older", "From", older), ("newer", "To", newer)):
            key = state.key(VERSIONS_PICK, side, older, newer)
            ids = list(history)
            state.seed(key, first if first in history else ids[-1])
            chosen.append(st.selectbox(title, ids, key=key, format_func=version_caption, width=280))
    return chosen[0], chosen[1]


def show_saved_version(version_id: int) -> None:
    """Show one saved version, read-only."""
    version = library.version_by_id(store(), version_id)
    name = str(version.rubric_id)
    back_to_list()
    page_header(version.rubric.name, own_words=False)
    draw_row(
        [
            tag(f"Version {version.number}, read only", "info"),
            f'<span class="rs-quiet">saved {esc(fmt.time_ago(version.created))}</span>',
            f"<span>{esc(version.note)}</span>",
        ]
    )
    with st.container(horizontal=True):
        st.button(
            "Back to the editor",
            key=state.key(RUBRIC_ACT, "editor"),
            type="primary",
            icon=":material/edit:",
            on_click=_on_editor,
            args=(name,),
        )
        st.button(
            "Start from this version",
            key=state.key(RUBRIC_ACT, "from"),
            icon=":material/history:",
            on_click=_on_start,
            args=(name, version_id),
            help="Opens this version's content in the editor, unsaved.",
        )
    export_buttons(version.rubric)
    draw_raw(library.rubric_file_text(version.rubric, "yaml"))


def _on_editor(name: str) -> None:
    state.set_address(**{state.RUBRIC: name, state.VERSION: None})


def _on_start(name: str, version_id: int) -> None:
    with shown_errors():
        drafts.load_work(name)
        rubric = library.version_by_id(store(), version_id).rubric
        drafts.change_draft(name, with_rubric(drafts.draft(name), rubric), redraw=True)
        _on_editor(name)


CONFLICT_TAKE = "conflict_take"

SIDES: dict[Side, str] = {"mine": "Mine", "theirs": "Theirs"}
ACTS = (
    ("merge", "Save the pieces chosen above"),
    ("apart", "Save mine as a separate rubric"),
    ("theirs", "Discard mine and open theirs"),
)


def show_conflict(name: str) -> None:
    """Show how this draft differs from the newest version, and three ways to continue."""
    if not state.get(state.key(RUBRIC_CONFLICT, name)):
        return
    with st.container(border=True):
        can_merge = _compare_versions(name)
        with st.container(horizontal=True):
            for act, caption in ACTS:
                st.button(
                    caption,
                    key=state.key(RUBRIC_ACT, name, "conflict", act),
                    type="primary" if act == "merge" else "secondary",
                    disabled=act == "merge" and not can_merge,
                    on_click=_on_choice,
                    args=(name, act),
                )


def _compare_versions(name: str) -> bool:
    """Draw both versions side by side; return whether they can be merged."""
    draft = drafts.draft(name)
    newest = library.latest_version(store(), int(draft["rubric_id"] or 0))
    state.put(state.key(RUBRIC_CONFLICT, name), newest.number)
    note = f" ({newest.note})" if newest.note else ""
    author = f" by {newest.author}" if newest.author else ""
    st.error(
        label(
            f"Version {newest.number}{note} was saved {fmt.time_ago(newest.created)}{author}, "
            f"while you were changing version {draft['parent']}. Nothing was overwritten."
        ),
        icon=":material/sync_problem:",
    )
    try:
        pieces = _merge_pieces(draft)
    except InputError:
        st.caption("Your draft has problems, listed under Check; fix them to compare.")
        return False
    if not pieces:
        st.caption("Both versions are the same: saving adds nothing.")
        return True
    st.caption(
        "Choose each piece from either version. Pieces that only one of you changed are "
        "already chosen; pieces that both changed are marked."
    )
    for criterion, group in itertools.groupby(pieces, lambda piece: piece.criterion):
        st.html(f'<div class="rs-section">{esc(criterion or "The rubric itself")}</div>')
        for piece in group:
            _show_piece(name, piece)
    return True


def _merge_pieces(draft: RubricDraft) -> tuple[MergePiece, ...]:
    rubric_id = int(draft["rubric_id"] or 0)
    base = library.version_by_number(store(), rubric_id, draft["parent"] or 1).rubric
    return merge_pieces(base, rubric_from(draft), library.latest_version(store(), rubric_id).rubric)


def _show_piece(name: str, piece: MergePiece) -> None:
    key = _take_choice(name, piece)
    state.seed(key, piece.suggested)
    with st.container(horizontal=True, vertical_alignment="center"):
        caption = f'<span class="rs-quiet">{esc(piece.what)}</span>'
        draw_row(
            [caption, tag("both changed it", "warn")] if piece.both else [caption], width="content"
        )
        choose_one(label(piece.what), SIDES, key=key)
    mine, theirs_marked = word_changes(piece.mine, piece.theirs)
    left, right = st.columns(2)
    left.html(f'<div class="rs-card rs-prose">{marked(piece.mine, mine)}</div>')
    right.html(f'<div class="rs-card rs-prose">{marked(piece.theirs, theirs_marked)}</div>')


def _take_choice(name: str, piece: MergePiece) -> str:
    return state.key(CONFLICT_TAKE, name, piece.key)


def _on_choice(name: str, act: str) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        if act == "merge":
            shown = int(state.get(state.key(RUBRIC_CONFLICT, name)))
            draft = library.rebase_on_version(store(), draft, shown)
            newest = library.version_by_number(store(), int(draft["rubric_id"] or 0), shown).rubric
            sides: dict[str, Side] = {
                piece.key: state.get(_take_choice(name, piece), piece.suggested)
                for piece in _merge_pieces(drafts.draft(name))
            }
            merge = merged_rubric(rubric_from(draft), newest, sides)
            drafts.change_draft(name, with_rubric(draft, merge))
            _show_settled(name)
            drafts.save_draft(name)
            return
        _show_settled(name)
        if act == "apart":
            draft_name = library.new_name()
            library.keep(store(), draft_name, library.detached_draft(draft), **drafts.draft_owner())
            drafts.discard_stored_copy(name)
            drafts.forget_draft(name)
            open_rubric(draft_name)
        else:
            drafts.discard_stored_copy(name)
            drafts.forget_draft(name)


def _show_settled(name: str) -> None:
    state.drop(RUBRIC_CONFLICT, name)
    state.drop(CONFLICT_TAKE, name)

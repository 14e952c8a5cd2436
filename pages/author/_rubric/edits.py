"""What differs between two versions, criterion by criterion, with the changed words marked."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import streamlit as st

from core.services.versioning import KINDS, Edit, Kind
from core.services.versioning_edits import MISSING
from core.services.wording import word_changes
from pages.ui.text import esc, marked
from pages.ui.widgets import Tone, tag

WORDS: Mapping[Kind, tuple[str, Tone]] = {
    "words": ("wording", "neutral"),
    "score": ("recomputed", "info"),
    "question": ("asked otherwise", "warn"),
    "options": ("other options", "warn"),
    "added": ("+ added", "good"),
    "removed": ("− removed", "bad"),
    "renamed": ("renamed", "neutral"),
}


def show(edits: Sequence[Edit], before: str, after: str) -> None:
    """Every edit under its criterion; `before` and `after` head the two columns."""
    if not edits:
        st.html('<p class="rs-quiet">Nothing differs.</p>')
        return
    heads = f'<th scope="col">{esc(before)}</th><th scope="col">{esc(after)}</th>'
    body = "".join(
        _group(criterion, list(group))
        for criterion, group in itertools.groupby(_ordered(edits), lambda e: e.criterion)
    )
    st.html(
        '<div class="rs-scroll"><table class="rs-table rs-diff" aria-label="What differs">'
        f'<thead><tr><th scope="col">What</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def legend(edits: Sequence[Edit]) -> None:
    """What the kinds that occur mean for votes that are there."""
    kinds = dict.fromkeys(edit.kind for edit in edits)
    lines = "".join(
        f"<li>{tag(*WORDS[kind])} {esc(KINDS[kind])}</li>" for kind in WORDS if kind in kinds
    )
    st.html(f'<ul class="rs-list">{lines}</ul>')


def _ordered(edits: Sequence[Edit]) -> list[Edit]:
    """The rubric's own edits first, then criterion by criterion in the order they come."""
    places = {name: at for at, name in enumerate(dict.fromkeys(e.criterion for e in edits))}
    return sorted(edits, key=lambda e: -1 if e.criterion is None else places[e.criterion])


def _group(criterion: str | None, edits: Sequence[Edit]) -> str:
    title = "The rubric itself" if criterion is None else criterion
    head = f'<tr><th colspan="3" scope="colgroup" class="rs-group">{esc(title)}</th></tr>'
    return head + "".join(map(_line, edits))


def _line(edit: Edit) -> str:
    gone, fresh = word_changes(edit.before, edit.after)
    if edit.kind in ("added", "removed") or MISSING in (edit.before, edit.after):
        gone, fresh = (), ()
    return (
        f"<tr><td>{esc(edit.what)}<br>{tag(*WORDS[edit.kind])}</td>"
        f'<td class="rs-text">{marked(edit.before, gone)}</td>'
        f'<td class="rs-text">{marked(edit.after, fresh)}</td></tr>'
    )

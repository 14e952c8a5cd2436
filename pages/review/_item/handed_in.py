"""What is judged: prompt, submission and reference, to be read, searched and pointed at."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from core.domain.dataset import Item, Sections
from core.domain.review import Given, Span
from core.services import numbers as fmt
from core.services.reviewing import BlindItem
from core.services.sentences import sentences
from pages.review._item import acts, quotes
from pages.review._item.desk import REVIEW_ACT, REVIEW_FIND, REVIEW_SPANS, Desk
from pages.ui import state
from pages.ui.item_view import context_words
from pages.ui.markdown import formatted
from pages.ui.text import esc, label

REVIEW_LOOK = "review_look"

LOOKS = ("Plain", "Formatted", "Code")
#: Sentences that can be chosen by number; longer texts show the first ones.
MOST = 200


def show(at: Desk, item: BlindItem) -> None:
    """The texts of an item, in the order in which one reads them."""
    _folded("Guidelines", item.guidelines)
    _folded("Prompt", item.prompt, opened=len(item.prompt) < 600)
    for name, text in item.context.items():
        _folded(context_words(name), text, opened=len(text) < 600)
    _submission(at, item)
    _folded("Reference", item.reference, opened=len(item.reference) < 600)


def text_of(item: BlindItem) -> str:
    """The judged text, in which spans of evidence are counted."""
    return Item(id="shown", submission=item.submission).output


def _folded(words: str, text: str, *, opened: bool = False) -> None:
    if text:
        with st.expander(label(words), expanded=opened):
            st.html(
                f'<div class="rs-prose" style="max-height:360px;overflow:auto">{esc(text)}</div>'
            )


def _submission(at: Desk, item: BlindItem) -> None:
    text = text_of(item)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html('<h2 class="rs-cell">Submission</h2>', width="content")
        st.space("stretch")
        look = st.segmented_control(
            "How it is shown",
            LOOKS,
            key=state.key(REVIEW_LOOK),
            default=LOOKS[0],
            required=True,
            label_visibility="collapsed",
        )
        st.button(
            "Evidence",
            key=state.key(REVIEW_ACT, "evidence"),
            shortcut="E",
            type="primary" if at.evidence else "secondary",
            on_click=_toggle,
            args=(at,),
        )
    found = _find(at, text)
    theirs = quotes.quoted(at.votes.get(at.active))
    with st.container(border=True):
        _shown(at, item, text, str(look), found, theirs)
        legend = quotes.legend(text, theirs)
        if legend and not at.evidence and look != "Formatted":
            st.html(legend)
    if at.evidence:
        _sentences(at, text)
    if isinstance(item.submission, Sections) and item.submission.thinking:
        _folded("The model's thinking", item.submission.thinking)


def _toggle(at: Desk) -> None:
    at.evidence = not at.evidence


def _find(at: Desk, text: str) -> list[tuple[int, int]]:
    if len(text) < 400:
        return []
    key = state.key(REVIEW_FIND, at.number)
    wanted = str(
        st.text_input(
            "Find in the text",
            key=key,
            placeholder="Find in the text",
            label_visibility="collapsed",
            icon=":material/search:",
        )
        or ""
    ).strip()
    if not wanted:
        return []
    hits = [m.span() for m in re.finditer(re.escape(wanted), text, re.IGNORECASE)]
    st.caption(fmt.plural(len(hits), "place") + " found." if hits else "Not found.")
    return hits


def _shown(
    at: Desk,
    item: BlindItem,
    text: str,
    look: str,
    found: Sequence[tuple[int, int]],
    theirs: Sequence[quotes.Quoted],
) -> None:
    if not text.strip():
        st.html('<span class="rs-quiet">Empty.</span>')
        return
    height = "max-height:62vh;overflow:auto"
    if at.evidence:
        st.html(f'<div class="rs-prose" style="{height}">{_numbered(at, text)}</div>')
    elif look == "Formatted":
        st.html(f'<div style="{height};overflow-wrap:anywhere">{formatted(text)}</div>')
    elif look == "Code":
        st.html(
            f'<pre style="{height};white-space:pre-wrap;overflow-wrap:anywhere;font-size:.84rem">'
            f"{quotes.layered(text, found, theirs)}</pre>"
        )
    elif isinstance(item.submission, tuple) and not found:
        turns = "".join(
            f'<div class="rs-card"><b>{esc(turn.role)}</b>'
            f'<div class="rs-prose">{quotes.layered(turn.content, (), theirs)}</div></div>'
            for turn in item.submission
        )
        st.html(f'<div style="{height};display:grid;gap:.5rem">{turns}</div>')
    else:
        spans = [*found, *((s.start, s.end) for s in _chosen(at))]
        shown = quotes.layered(text, spans, theirs)
        st.html(f'<div class="rs-prose" style="{height}">{shown}</div>')


def _chosen(at: Desk) -> tuple[Span, ...]:
    return at.said.get(at.active, Given(None)).evidence


def _numbered(at: Desk, text: str) -> str:
    """The text with a number before each sentence; what is chosen is marked."""
    chosen = {(s.start, s.end) for s in _chosen(at)}
    parts, after = list[str](), 0
    for number, (start, end) in enumerate(sentences(text)[:MOST], start=1):
        inside = esc(text[start:end])
        words = f'<mark class="rs-mark">{inside}</mark>' if (start, end) in chosen else inside
        parts.append(f'{esc(text[after:start])}<small class="rs-quiet">[{number}]</small> {words}')
        after = end
    return "".join([*parts, esc(text[after:])])


def _sentences(at: Desk, text: str) -> None:
    """Chips of the sentences, by number, for the cell that is active."""
    spans = sentences(text)[:MOST]
    key = state.key(REVIEW_SPANS, at.number, at.active)
    chosen = {(s.start, s.end) for s in _chosen(at)}
    state.seed(key, [i for i, span in enumerate(spans, start=1) if span in chosen])
    st.pills(
        f"Evidence for {label(at.active, 60)}: sentences",
        range(1, len(spans) + 1),
        selection_mode="multi",
        key=key,
        help="The passages that your verdict rests on.",
        on_change=_rest,
        args=(at, key, at.active, text),
    )


def _rest(at: Desk, key: str, criterion: str, text: str) -> None:
    spans = sentences(text)
    numbers = [int(n) for n in state.get(key) or []]
    acts.rest_on(
        at,
        criterion,
        tuple(Span(*spans[n - 1], text[slice(*spans[n - 1])]) for n in sorted(numbers)),
    )

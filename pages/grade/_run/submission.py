"""What was judged: prompt, context, submission (text, chat, or thinking and output), reference."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from core.domain.dataset import Item, Pair, Sections, output_of
from core.services import numbers as fmt
from core.services.quoting import find_quote
from core.services.viewing import ItemView
from pages.grade._run.filters import ITEM_ACT, ITEM_OPEN
from pages.ui import state
from pages.ui.item_view import context_words
from pages.ui.text import esc, label, prose
from pages.ui.widgets import row, tag

ITEM_MARKS = "item_marks"


#: Longer texts are cut here until somebody asks for the rest.
CUT = 60_000


def show(view: ItemView) -> None:
    """The item's texts; nothing of a closed part is built."""
    item = view.item
    tags = [tag(f"system {item.system}")] if item.system else []
    tags += [tag(f"{item.split} part")] if item.split else []
    tags += [tag(one) for one in item.tags]
    if tags:
        row(tags)
    _folded("Prompt", "chat_bubble", item.prompt)
    for name, text in item.context.items():
        _folded(context_words(name), "article", text)
    _submission(view)
    _folded("Reference", "menu_book", item.reference)
    _folded("About this item", "info", item.description)


def _folded(words: str, icon: str, text: str) -> None:
    if not text:
        return
    key = state.key(ITEM_OPEN, words)
    part = st.expander(label(words), icon=f":material/{icon}:", key=key, on_change="rerun")
    if part.open:
        with part:
            _text(text, words, [])


def _submission(view: ItemView) -> None:
    item = view.item
    quotes = [q for c in view.criteria for v in c.votes if v.vote for q in v.vote.evidence]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.html('<div class="rs-section">Submission</div>')
        st.space("stretch")
        if quotes:
            key = state.key(ITEM_MARKS)
            state.seed(key, True)
            st.toggle("Mark the judges' quotes", key=key, persist_state="session")
    wanted = quotes if quotes and state.get(state.key(ITEM_MARKS)) else []
    # What a pre-check found is always marked: somebody must look at it.
    found = view.trace.checks if view.trace else ()
    wanted = wanted + [one.text for mark in found for one in mark.found]
    with st.container(border=True):
        for number, (who, text) in enumerate(_pieces(item)):
            if who:
                st.html(f'<div class="rs-quiet"><b>{esc(who)}</b></div>')
            _text(text, f"submission {number}", wanted)
    if isinstance(item.submission, Sections) and item.thinking:
        _folded("The model's thinking", "psychology", item.thinking)


def _pieces(item: Item) -> Iterator[tuple[str, str]]:
    """Who said what: one piece for a text, one for every turn or answer of a pair."""
    if isinstance(item.submission, Pair):
        for name, answer in (
            ("Answer A", item.submission.first),
            ("Answer B", item.submission.second),
        ):
            yield name, output_of(answer)
        return
    if isinstance(item.submission, str | Sections):
        yield "", item.output
        return
    for turn in item.submission:
        yield turn.role, turn.content


def _text(text: str, what: str, quotes: list[str]) -> None:
    key = state.key(ITEM_OPEN, "whole", what)
    whole = len(text) <= CUT or state.get(key)
    shown = text if whole else text[:CUT]
    spans = [span for quote in set(quotes) if (span := find_quote(shown, quote))]
    if text.strip():
        prose(shown, spans, height=560)
    else:
        st.html('<span class="rs-quiet">Empty.</span>')
    if not whole:
        st.button(
            f"Show the other {fmt.count(len(text) - CUT)} characters",
            key=state.key(ITEM_ACT, "whole", what),
            type="tertiary",
            on_click=state.put,
            args=(key, True),
        )

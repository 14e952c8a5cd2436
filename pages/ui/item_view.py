"""An item as a person reads it: what was handed in, what it was about, and its labels.

Everything here was written by others and goes through the doors of `text`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from core.domain.dataset import Answer, Item, Pair, Sections
from core.services import numbers as fmt
from pages.ui.text import esc, prose, raw
from pages.ui.widgets import row, tag

#: Longer texts scroll within this many pixels.
TALL = 420
LONG = 1800


def show_item(item: Item) -> None:
    """The whole item: tags, prompt, context, submission, reference, labels, notes."""
    show_tags(item)
    if item.prompt:
        headed("Prompt", item.prompt)
    show_contexts(item.context)
    with st.container(gap="xsmall"):
        st.html('<div class="rs-section">Submission</div>')
        show_submission(item)
    if item.reference:
        headed("Reference", item.reference)
    if item.description:
        headed("Description", item.description)
    show_labels(item)
    _further(item)


def show_tags(item: Item) -> None:
    """System, split and tags as small tags; nothing where there are none."""
    parts = [tag(f"system {item.system}", "info")] if item.system else []
    parts += [tag(item.split)] if item.split else []
    parts += [tag(word) for word in item.tags]
    parts += [tag("rubric of its own", "info")] if item.rubric else []
    if parts:
        row(parts)


def show_submission(item: Item) -> None:
    """The submission as written: chat turns, thinking apart from output, or plain text."""
    handed_in = item.submission
    if isinstance(handed_in, Pair):
        for name, answer in (("Answer A", handed_in.first), ("Answer B", handed_in.second)):
            st.html(f'<div class="rs-section">{name}</div>')
            _show_answer(answer)
    else:
        _show_answer(handed_in, missing=item.meta.get("text_available") is False)


def _show_answer(handed_in: Answer, *, missing: bool = False) -> None:
    if isinstance(handed_in, str):
        _text(handed_in, missing=missing)
    elif isinstance(handed_in, Sections):
        if handed_in.thinking:
            words = fmt.plural(len(handed_in.thinking.split()), "word")
            with st.expander(f"Thinking, {words}", icon=":material/psychology:"):
                _text(handed_in.thinking)
        _text(handed_in.output)
    else:
        turns = "".join(
            f'<div class="rs-card"><b>{esc(turn.role)}</b>'
            f'<div class="rs-prose">{esc(turn.content)}</div></div>'
            for turn in handed_in
        )
        height = TALL if sum(len(turn.content) for turn in handed_in) > LONG else None
        style = f"max-height:{height}px;overflow:auto;" if height else ""
        st.html(f'<div style="{style}display:grid;gap:.5rem">{turns}</div>')


def _text(text: str, *, missing: bool = False) -> None:
    if text.strip():
        prose(text, height=TALL if len(text) > LONG else None)
    elif missing:
        row([tag("The text is not at hand", "warn"), "It is kept for its labels and votes."])
    else:
        row([tag("Empty answer", "warn")])


def headed(words: str, text: str) -> None:
    """A text under a small heading."""
    with st.container(gap="xsmall"):
        st.html(f'<div class="rs-section">{esc(words)}</div>')
        _text(text)


def context_words(name: str) -> str:
    """The heading of a context. One that nobody named needs no name."""
    return "Context" if name == "context" else f"Context: {name}"


def show_contexts(context: Mapping[str, str]) -> None:
    """Every named text under its heading."""
    for name, text in context.items():
        headed(context_words(name), text)


def show_labels(item: Item) -> None:
    """What people said of the item, by criterion, with their reasons."""
    lines = "".join(
        f"<li>{esc(name)}: {tag(label.label)} "
        f'<span class="rs-quiet">{esc(label.reason)}</span></li>'
        for name, label in item.labels.items()
    )
    said = f'<ul class="rs-list">{lines}</ul>' if lines else '<span class="rs-quiet">None.</span>'
    st.html(f'<div class="rs-section">Labels</div>{said}')


def _further(item: Item) -> None:
    if item.rubric is not None:
        with st.expander(
            f"Its own rubric: {fmt.plural(len(item.rubric.criteria), 'criterion', 'criteria')}"
        ):
            lines = "".join(
                f"<li><b>{esc(c.name)}</b> {esc(c.requirement)}</li>" for c in item.rubric.criteria
            )
            st.html(f'<ul class="rs-list">{lines}</ul>')
    notes = {name: value for name, value in item.meta.items() if name != "text_available"}
    if notes:
        with st.expander(fmt.plural(len(notes), "note")):
            raw(json.dumps(notes, indent=2, ensure_ascii=False))

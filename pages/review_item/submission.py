"""What is judged, to be read, searched and pointed at; with what judges quoted, once shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import streamlit as st

from core.domain.dataset import Item, Sections
from core.domain.review import Given, Span
from core.services.review.commit_reveal import BlindItem, RevealedCell
from core.text import numbers as fmt
from core.text.quotes import find_quote, sentences
from pages.review_item import acts
from pages.review_item.opened import REVIEW_ACT, REVIEW_FIND, REVIEW_SPANS, OpenItem
from pages.ui import state
from pages.ui.items import context_words
from pages.ui.text import esc, formatted, label
from pages.ui.widgets import one_of

#: Underlined and lettered, so that it is told from a person's own marks, and not by colour alone.
_STYLE = "background:none;color:inherit;border-bottom:2px dotted currentColor"


class QuotedPassage(NamedTuple):
    """What one judge quoted; `letter` stands at the end of each passage."""

    letter: str
    judge: str
    passages: tuple[str, ...]


def quoted(cell: RevealedCell | None) -> tuple[QuotedPassage, ...]:
    """The quotes of the votes on a cell, by judge; none before its votes are revealed."""
    found: dict[str, dict[str, None]] = {}
    for view in () if cell is None else cell.view.votes:
        if view.vote is not None:
            found.setdefault(view.cell.judge, {}).update(dict.fromkeys(view.vote.evidence))
    with_quotes = [(judge, tuple(told)) for judge, told in found.items() if told]
    return tuple(
        QuotedPassage(_letter(at), judge, passages)
        for at, (judge, passages) in enumerate(with_quotes)
    )


def _letter(at: int) -> str:
    """Letters a to z, then a2 to z2 and so on.

    >>> _letter(0), _letter(25), _letter(26)
    ('a', 'z', 'a2')
    """
    round_, place = divmod(at, 26)
    return chr(ord("a") + place) + (str(round_ + 1) if round_ else "")


def quote_legend(text: str, quotes: Sequence[QuotedPassage]) -> str:
    """Who quoted what is underlined, as HTML; empty where none of the quotes is in the text."""
    there = [q for q in quotes if any(find_quote(text, words) for words in q.passages)]
    names = ", ".join(f"<sup>{q.letter}</sup> {esc(q.judge)}" for q in there)
    return f'<span class="rs-quiet">Underlined: quoted by {names}</span>' if there else ""


def layered(text: str, own: Iterable[tuple[int, int]], quotes: Sequence[QuotedPassage]) -> str:
    """The escaped text with a person's own spans highlighted and the judges' quotes underlined.

    >>> layered("a<b", [(0, 1)], [Quoted("a", "Ann", ("<b",))]).replace(_STYLE, "")
    '<mark class="rs-mark">a</mark><mark class="rs-quoted" style="">&lt;b</mark><sup>a</sup>'
    """
    mine = [(max(0, start), min(len(text), end)) for start, end in own]
    theirs = [
        (*span, quote.letter)
        for quote in quotes
        for words in quote.passages
        if (span := find_quote(text, words)) is not None
    ]
    edges = {0, len(text)}.union(*((s, e) for s, e in mine), *((s, e) for s, e, _ in theirs))
    parts, cuts = list[str](), sorted(edges)
    for start, end in pairwise(cuts):
        inside = esc(text[start:end])
        if any(s <= start < e for s, e in mine):
            inside = f'<mark class="rs-mark">{inside}</mark>'
        if any(s <= start < e for s, e, _ in theirs):
            inside = f'<mark class="rs-quoted" style="{_STYLE}">{inside}</mark>'
        ended = sorted({letter for _, e, letter in theirs if e == end})
        parts.append(inside + (f"<sup>{','.join(ended)}</sup>" if ended else ""))
    return "".join(parts)


REVIEW_LOOK = "review_look"

LOOKS = ("Plain", "Formatted", "Code")
#: Sentences that can be chosen by number; longer texts show the first ones.
MOST = 200


def show(at: OpenItem, item: BlindItem) -> None:
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


def _submission(at: OpenItem, item: BlindItem) -> None:
    text = text_of(item)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html('<h2 class="rs-cell">Submission</h2>', width="content")
        st.space("stretch")
        look = one_of("How it is shown", LOOKS, key=state.key(REVIEW_LOOK), default=LOOKS[0])
        st.button(
            "Evidence",
            key=state.key(REVIEW_ACT, "evidence"),
            shortcut="E",
            type="primary" if at.evidence else "secondary",
            on_click=_toggle,
            args=(at,),
        )
    found = _find(at, text)
    theirs = quoted(at.votes.get(at.active))
    with st.container(border=True):
        _shown(at, item, text, str(look), found, theirs)
        legend = quote_legend(text, theirs)
        if legend and not at.evidence and look != "Formatted":
            st.html(legend)
    if at.evidence:
        _sentences(at, text)
    if isinstance(item.submission, Sections) and item.submission.thinking:
        _folded("The model's thinking", item.submission.thinking)


def _toggle(at: OpenItem) -> None:
    at.evidence = not at.evidence


def _find(at: OpenItem, text: str) -> list[tuple[int, int]]:
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
    at: OpenItem,
    item: BlindItem,
    text: str,
    look: str,
    found: Sequence[tuple[int, int]],
    theirs: Sequence[QuotedPassage],
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
            f"{layered(text, found, theirs)}</pre>"
        )
    elif isinstance(item.submission, tuple) and not found:
        turns = "".join(
            f'<div class="rs-card"><b>{esc(turn.role)}</b>'
            f'<div class="rs-prose">{layered(turn.content, (), theirs)}</div></div>'
            for turn in item.submission
        )
        st.html(f'<div style="{height};display:grid;gap:.5rem">{turns}</div>')
    else:
        spans = [*found, *((s.start, s.end) for s in _chosen(at))]
        shown = layered(text, spans, theirs)
        st.html(f'<div class="rs-prose" style="{height}">{shown}</div>')


def _chosen(at: OpenItem) -> tuple[Span, ...]:
    return at.said.get(at.active, Given(None)).evidence


def _numbered(at: OpenItem, text: str) -> str:
    """The text with a number before each sentence; what is chosen is marked."""
    chosen = {(s.start, s.end) for s in _chosen(at)}
    parts, after = list[str](), 0
    for number, (start, end) in enumerate(sentences(text)[:MOST], start=1):
        inside = esc(text[start:end])
        words = f'<mark class="rs-mark">{inside}</mark>' if (start, end) in chosen else inside
        parts.append(f'{esc(text[after:start])}<small class="rs-quiet">[{number}]</small> {words}')
        after = end
    return "".join([*parts, esc(text[after:])])


def _sentences(at: OpenItem, text: str) -> None:
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


def _rest(at: OpenItem, key: str, criterion: str, text: str) -> None:
    spans = sentences(text)
    numbers = [int(n) for n in state.get(key) or []]
    acts.rest_on(
        at,
        criterion,
        tuple(Span(*spans[n - 1], text[slice(*spans[n - 1])]) for n in sorted(numbers)),
    )

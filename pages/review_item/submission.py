"""The judged text to read, search and mark, with judges' quotes once revealed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import streamlit as st

from core.domain.dataset import Item, Sections
from core.domain.review import ReviewerAnswer, Span
from core.services.review.commit_reveal import BlindItem, RevealedCell
from core.text import numbers as fmt
from core.text.quotes import find_quote, sentence_spans
from pages.review_item import acts
from pages.review_item.opened import REVIEW_ACT, REVIEW_FIND, REVIEW_SPANS, OpenItem
from pages.ui import state
from pages.ui.items import context_words
from pages.ui.text import esc, formatted_html, label
from pages.ui.widgets import choose_one

#: Underlined and lettered, so that colour is not the only difference from a person's own marks.
_STYLE = "background:none;color:inherit;border-bottom:2px dotted currentColor"


def quoted_passages(cell: RevealedCell | None) -> dict[str, tuple[str, ...]]:
    """Return the quotes of the votes on a cell, by judge; empty before its votes are revealed.

    Where a passage ends, a letter in the order of the judges says whose it is.
    """
    by_judge: dict[str, dict[str, None]] = {}
    for view in () if cell is None else cell.view.votes:
        if view.vote is not None:
            by_judge.setdefault(view.cell.judge, {}).update(dict.fromkeys(view.vote.evidence))
    return {judge: tuple(passages) for judge, passages in by_judge.items() if passages}


def _letters_for(at: int) -> str:
    """Return letters a to z, then a2 to z2 and so on.

    >>> _letters_for(0), _letters_for(25), _letters_for(26)
    ('a', 'z', 'a2')
    """
    round_, place = divmod(at, 26)
    return chr(ord("a") + place) + (str(round_ + 1) if round_ else "")


def quote_legend(text: str, quotes: Mapping[str, Sequence[str]]) -> str:
    """Return HTML that names the judges quoted in the text; empty without quotes."""
    names = ", ".join(
        f"<sup>{_letters_for(index)}</sup> {esc(judge)}"
        for index, (judge, passages) in enumerate(quotes.items())
        if any(find_quote(text, passage) for passage in passages)
    )
    return f'<span class="rs-quiet">Underlined: quoted by {names}</span>' if names else ""


def layered_html(
    text: str, own: Iterable[tuple[int, int]], quotes: Mapping[str, Sequence[str]]
) -> str:
    """Return the escaped text with a person's own spans highlighted and judges' quotes underlined.

    >>> layered_html("a<b", [(0, 1)], {"Ann": ("<b",)}).replace(_STYLE, "")
    '<mark class="rs-mark">a</mark><mark class="rs-quoted" style="">&lt;b</mark><sup>a</sup>'
    """
    marked = [(max(0, start), max(0, min(len(text), end))) for start, end in own]
    underlined = [
        (*span, _letters_for(index))
        for index, passages in enumerate(quotes.values())
        for passage in passages
        if (span := find_quote(text, passage)) is not None
    ]
    edges = {0, len(text)}.union(*((s, e) for s, e in marked), *((s, e) for s, e, _ in underlined))
    parts, cuts = list[str](), sorted(edges)
    for start, end in pairwise(cuts):
        inner_html = esc(text[start:end])
        if any(s <= start < e for s, e in marked):
            inner_html = f'<mark class="rs-mark">{inner_html}</mark>'
        if any(s <= start < e for s, e, _ in underlined):
            inner_html = f'<mark class="rs-quoted" style="{_STYLE}">{inner_html}</mark>'
        ended = sorted({letter for _, e, letter in underlined if e == end})
        parts.append(inner_html + (f"<sup>{','.join(ended)}</sup>" if ended else ""))
    return "".join(parts)


REVIEW_LOOK = "review_look"

LOOKS = ("Plain", "Formatted", "Code")
#: The most sentences that can be chosen by number, counted from the start of the text.
MOST = 200


def show(review: OpenItem, item: BlindItem) -> None:
    """Draw the texts of an item in reading order."""
    _folded_text("Guidelines", item.guidelines)
    _folded_text("Prompt", item.prompt, opened=len(item.prompt) < 600)
    for name, text in item.context.items():
        _folded_text(context_words(name), text, opened=len(text) < 600)
    _show_submission(review, item)
    _folded_text("Reference", item.reference, opened=len(item.reference) < 600)


def text_of(item: BlindItem) -> str:
    """Return the judged text, whose offsets the spans of evidence use."""
    return Item(id="shown", submission=item.submission).output


def _folded_text(caption: str, text: str, *, opened: bool = False) -> None:
    if text:
        with st.expander(label(caption), expanded=opened):
            st.html(
                f'<div class="rs-prose" style="max-height:360px;overflow:auto">{esc(text)}</div>'
            )


def _show_submission(review: OpenItem, item: BlindItem) -> None:
    text = text_of(item)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html('<h2 class="rs-cell">Submission</h2>', width="content")
        st.space("stretch")
        look = choose_one("View", LOOKS, key=state.key(REVIEW_LOOK), default=LOOKS[0])
        st.button(
            "Evidence",
            key=state.key(REVIEW_ACT, "evidence"),
            shortcut="E",
            type="primary" if review.evidence else "secondary",
            on_click=_sentence_toggle,
            args=(review,),
        )
    matches = _find_matches(review, text)
    quotes = quoted_passages(review.votes.get(review.active))
    with st.container(border=True):
        _draw_text(review, item, text, str(look), matches, quotes)
        legend = quote_legend(text, quotes)
        if legend and not review.evidence and look != "Formatted":
            st.html(legend)
    if review.evidence:
        _sentence_chips(review, text)
    if isinstance(item.submission, Sections) and item.submission.thinking:
        _folded_text("The model's thinking", item.submission.thinking)


def _sentence_toggle(review: OpenItem) -> None:
    review.evidence = not review.evidence


def _find_matches(review: OpenItem, text: str) -> list[tuple[int, int]]:
    if len(text) < 400:
        return []
    key = state.key(REVIEW_FIND, review.number)
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


def _draw_text(
    review: OpenItem,
    item: BlindItem,
    text: str,
    look: str,
    matches: Sequence[tuple[int, int]],
    quotes: Mapping[str, Sequence[str]],
) -> None:
    if not text.strip():
        st.html('<span class="rs-quiet">Empty.</span>')
        return
    height = "max-height:62vh;overflow:auto"
    if review.evidence:
        st.html(f'<div class="rs-prose" style="{height}">{_numbered_text(review, text)}</div>')
    elif look == "Formatted":
        st.html(f'<div style="{height};overflow-wrap:anywhere">{formatted_html(text)}</div>')
    elif look == "Code":
        st.html(
            f'<pre style="{height};white-space:pre-wrap;overflow-wrap:anywhere;font-size:.84rem">'
            f"{layered_html(text, matches, quotes)}</pre>"
        )
    elif isinstance(item.submission, tuple) and not matches:
        turns = "".join(
            f'<div class="rs-card"><b>{esc(turn.role)}</b>'
            f'<div class="rs-prose">{layered_html(turn.content, (), quotes)}</div></div>'
            for turn in item.submission
        )
        st.html(f'<div style="{height};display:grid;gap:.5rem">{turns}</div>')
    else:
        spans = [*matches, *((s.start, s.end) for s in _chosen_spans(review))]
        shown = layered_html(text, spans, quotes)
        st.html(f'<div class="rs-prose" style="{height}">{shown}</div>')


def _chosen_spans(review: OpenItem) -> tuple[Span, ...]:
    return review.said.get(review.active, ReviewerAnswer(None)).evidence


def _numbered_text(review: OpenItem, text: str) -> str:
    """Return the text with a number before each sentence; chosen sentences are marked."""
    chosen = {(s.start, s.end) for s in _chosen_spans(review)}
    parts, after = list[str](), 0
    for number, (start, end) in enumerate(sentence_spans(text)[:MOST], start=1):
        passage = esc(text[start:end])
        caption = f'<mark class="rs-mark">{passage}</mark>' if (start, end) in chosen else passage
        parts.append(
            f'{esc(text[after:start])}<small class="rs-quiet">[{number}]</small> {caption}'
        )
        after = end
    return "".join([*parts, esc(text[after:])])


def _sentence_chips(review: OpenItem, text: str) -> None:
    """Draw the sentence numbers as chips, for the active cell."""
    spans = sentence_spans(text)[:MOST]
    key = state.key(REVIEW_SPANS, review.number, review.active)
    chosen = {(s.start, s.end) for s in _chosen_spans(review)}
    state.seed(key, [i for i, span in enumerate(spans, start=1) if span in chosen])
    st.pills(
        f"Evidence for {label(review.active, 60)}: sentences",
        range(1, len(spans) + 1),
        selection_mode="multi",
        key=key,
        help="The passages that support your verdict.",
        on_change=_store_sentences,
        args=(review, key, review.active, text),
    )


def _store_sentences(review: OpenItem, key: str, criterion: str, text: str) -> None:
    spans = sentence_spans(text)
    numbers = [int(n) for n in state.get(key) or []]
    acts.store_evidence(
        review,
        criterion,
        tuple(Span(*spans[n - 1], text[slice(*spans[n - 1])]) for n in sorted(numbers)),
    )

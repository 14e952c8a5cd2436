"""One block of the report on the page: words, a table whose numbers lead to items, or a plot."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st

from core import figures as draw
from core.files.paper import Bars, Block, Facts, Forest, Histogram, PaperTable, Sentences, Words
from core.services.numbers import plural, score
from pages.ui import report_keys as keys
from pages.ui import state
from pages.ui.text import esc, one_line
from pages.ui.widgets import table


def show(run_id: int, block: Block, place: str) -> None:
    """The block; `place` tells it from others of the page."""
    if isinstance(block, Sentences):
        _sentences(block)
    elif isinstance(block, Facts):
        rows = [(esc(name), cell(run_id, words)) for name, words in block.rows]
        table(("", ""), rows, name=block.name)
    elif isinstance(block, PaperTable):
        _table(run_id, block)
    else:
        _plot(run_id, block, place)


def _sentences(block: Sentences) -> None:
    if block.listed:
        lines = "".join(f"<li>{esc(line)}</li>" for line in block.lines)
        st.html(f'<ul class="rs-list" style="max-width:78ch">{lines}</ul>')
    else:
        lines = "".join(f"<div>{esc(line)}</div>" for line in block.lines)
        st.html(f'<div style="max-width:78ch;line-height:1.55">{lines}</div>')


def _table(run_id: int, block: PaperTable) -> None:
    st.html(f'<div class="rs-section">{esc(block.name)}</div>')
    rows = ([cell(run_id, words) for words in row] for row in block.rows)
    table(block.heads, rows, name=block.name, numbers=block.numbers)
    if block.note:
        st.html(f'<div class="rs-quiet" style="max-width:90ch">{esc(block.note)}</div>')


def cell(run_id: int, words: Words) -> str:
    """A cell's HTML; where items stand behind it, a link to exactly these.

    >>> cell(3, Words("7", link={"outcome": "pass"}))
    '<a href="run?run=3&amp;outcome=pass" target="_self">7</a>'
    """
    text = esc(words.text)
    if words.link:
        found = _address(words.link)
        page = found.pop("to", "run")
        query = urlencode({state.RUN: run_id, **found})
        text = f'<a href="{esc(page)}?{esc(query)}" target="_self">{text}</a>'
    below = f'<br><span class="rs-quiet rs-wrap">{esc(words.below)}</span>' if words.below else ""
    return text + below


def _address(link: Mapping[str, str]) -> dict[str, str]:
    """The link's parameters; one that is empty says as much as one that is not there."""
    return {name: value for name, value in link.items() if value}


def _plot(run_id: int, block: Histogram | Forest | Bars, place: str) -> None:
    if isinstance(block, Histogram):
        figure = draw.score_histogram(block.bins, block.mean)
        n = sum(n for *_, n in block.bins)
        alt = f"Histogram of {plural(n, 'score')}, mean {score(block.mean)}."
    elif isinstance(block, Forest):
        figure = _forest(block)
        alt = f"{block.name}: a dot per row with its interval."
    else:
        rows = [(n, [(p.label, p.option, p.value, p.items) for p in ps]) for n, ps in block.rows]
        figure = draw.verdict_bars(rows)
        alt = f"{block.name}: a bar per criterion, parted by the verdicts."
    st.html(f'<div class="rs-section">{esc(block.name)}</div>')
    st.plotly_chart(
        figure,
        key=state.key(keys.REPORT_CHART, run_id, place),
        config={"displayModeBar": False},
        alt=one_line(f"{alt} The table below has its numbers."),
    )


def _forest(block: Forest) -> object:
    dots = [draw.Dot(one.name, one.value, one.low, one.high, one.mark) for one in block.rows]
    whole = block.low >= 0 and block.high <= 1
    return draw.forest(dots, block.axis, block.marks, whole=whole)

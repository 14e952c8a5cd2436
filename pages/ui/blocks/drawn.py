"""Draw the blocks of a result on a page: words, figures, tables and plots."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core import figures as draw
from core.blocks.blocks import (
    Bars,
    Block,
    Forest,
    Histogram,
    IntervalCell,
    NamedValues,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.metrics.estimate import Estimate
from core.text.numbers import plural, score
from pages.ui import routes, state
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import LabelledFigure, draw_table, show_figures, tag

#: The key family of charts of blocks (used with `state.key`).
BLOCKS_CHART = "blocks_chart"


def show_sections(sections: Iterable[Section]) -> None:
    """Draw every section below its title; skip sections without blocks."""
    for section in sections:
        if not section.blocks:
            continue
        if section.title:
            st.html(f'<div class="rs-section">{esc(section.title)}</div>')
        for number, block in enumerate(section.blocks):
            show_block(None, block, f"{section.title} {number}", titled=bool(section.title))


def show_block(run_id: int | None, block: Block, place: str, *, titled: bool = False) -> None:
    """Draw a block; `place` distinguishes the block from others on the page.

    Below a title (`titled`) a table or a plot has no title of its own.
    """
    if isinstance(block, Sentences):
        _draw_sentences(run_id, block)
    elif isinstance(block, NamedValues) and block.large:
        show_figures([LabelledFigure(name, *words[:2]) for name, words in block.rows])
    elif isinstance(block, NamedValues):
        rows = [(esc(name), cell_html(run_id, words)) for name, words in block.rows]
        draw_table(("", ""), rows, name=block.name)
    elif isinstance(block, TableBlock):
        _draw_table(run_id, block, titled=titled)
    else:
        _draw_plot(run_id, block, place, titled=titled)


def _draw_sentences(run_id: int | None, block: Sentences) -> None:
    if block.kind == "warning":
        for line in block.lines:
            st.warning(label(line), icon=":material/info:")
    elif block.kind == "quiet":
        st.caption(label(" ".join(block.lines), 2_000))
    elif block.listed:
        links = block.links or ({},) * len(block.lines)
        listed = [
            cell_html(run_id, TextCell(line, link=link))
            for line, link in zip(block.lines, links, strict=True)
        ]
        _draw_list(listed[: block.first])
        if block.first is not None and (more := listed[block.first :]):
            with st.expander(f"{len(more)} more"):
                _draw_list(more)
    else:
        lines = "".join(f"<div>{esc(line)}</div>" for line in block.lines)
        st.html(f'<div style="max-width:78ch;line-height:1.55">{lines}</div>')


def _draw_list(lines: Iterable[str]) -> None:
    """Draw a list of lines in our own HTML."""
    items = "".join(f"<li>{line}</li>" for line in lines)
    st.html(f'<ul class="rs-list rs-leads" style="max-width:78ch">{items}</ul>')


def _draw_table(run_id: int | None, block: TableBlock, *, titled: bool) -> None:
    if not titled:
        st.html(f'<div class="rs-section">{esc(block.name)}</div>')
    rows = [[cell_html(run_id, words) for words in row] for row in block.rows]
    # Bars are left-aligned, so that all bars of a column share one axis.
    bars = {index for row in block.rows for index, words in enumerate(row) if words.reach}
    numbers = [index for index in block.numbers if index not in bars]
    draw_table(block.heads, rows[: block.first], name=block.name, numbers=numbers)
    if block.first is not None and rows[block.first :]:
        with st.expander(f"{len(rows) - block.first} more"):
            name_continued = f"{block.name}, continued"
            draw_table(block.heads, rows[block.first :], name=name_continued, numbers=numbers)
    if block.note:
        st.html(f'<div class="rs-quiet" style="max-width:90ch">{esc(block.note)}</div>')


def cell_html(run_id: int | None, words: TextCell) -> str:
    """Return a cell's HTML; if it has items, as a link to exactly these items.

    >>> cell_html(3, TextCell("7", link={"outcome": "pass"}))
    '<a href="run?run=3&amp;outcome=pass" target="_self">7</a>'
    """
    text = tag(words.text, words.tone) if words.tone else esc(words.text)
    if words.link:
        address = {name: value for name, value in words.link.items() if value}
        page = address.pop("to", "run")
        url = routes.link_address(page, {state.RUN: run_id, **address})
        text = f'<a href="{esc(url)}" target="_self">{text}</a>'
    below = f'<br><span class="rs-quiet rs-wrap">{esc(words.below)}</span>' if words.below else ""
    return (bar_html(words.reach) if words.reach else "") + text + below


def bar_html(reach: IntervalCell) -> str:
    """Return HTML of a value with its interval on an axis from 0 to 1, and its reference line.

    >>> bar_html(IntervalCell("Kappa", 0.5, 0.25, 0.75))[:31]
    '<span class="rs-bar" title="Kap'
    """

    def place_on_axis(value: float) -> float:
        return 100 * min(1.0, max(0.0, value))

    low, high = (reach.value if end is None else end for end in (reach.low, reach.high))
    mark = "" if reach.mark is None else f'<u style="left:{place_on_axis(reach.mark):.1f}%"></u>'
    return (
        f'<span class="rs-bar" title="{esc(reach.name)}">{mark}'
        f'<i style="left:{place_on_axis(low):.1f}%;right:{100 - place_on_axis(high):.1f}%"></i>'
        f'<b style="left:{place_on_axis(reach.value):.1f}%"></b></span>'
    )


def _draw_plot(
    run_id: int | None, block: Histogram | Forest | Bars, place: str, *, titled: bool
) -> None:
    if isinstance(block, Histogram):
        figure = draw.score_histogram(block.bins, block.mean)
        n = sum(n for *_, n in block.bins)
        alt = f"Histogram of {plural(n, 'score')}, mean {score(block.mean)}."
    elif isinstance(block, Forest):
        figure = _draw_forest(block)
        alt = f"{block.name}: a dot per row with its interval."
    else:
        rows = [(n, [(p.label, p.option, p.value, p.items) for p in ps]) for n, ps in block.rows]
        figure = draw.verdict_bars(rows)
        alt = f"{block.name}: a bar per criterion, divided by verdict."
    if not titled:
        st.html(f'<div class="rs-section">{esc(block.name)}</div>')
    st.plotly_chart(
        figure,
        key=state.key(BLOCKS_CHART, run_id, place),
        config={"displayModeBar": False},
        alt=one_line(f"{alt} The table below has its numbers."),
    )


def _draw_forest(block: Forest) -> object:
    dots = [(row.name, Estimate(row.value, row.low, row.high)) for row in block.rows]
    marks = [row.mark for row in block.rows]
    is_share = block.low >= 0 and block.high <= 1
    return draw.forest(dots, block.axis, block.marks, marks, full_scale=is_share)

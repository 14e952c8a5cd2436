"""The report's blocks on the page, words, tables and plots; and the report as files."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core import figures as draw
from core.domain.runs import RunItemFilter
from core.formats.report.paper import (
    Bars,
    Block,
    Facts,
    Forest,
    Histogram,
    PaperTable,
    Sentences,
    Words,
)
from core.services.exports import run_export
from core.services.reports.run_report import RunReport
from core.services.results import browsing
from core.text.numbers import plural, score
from pages.ui import routes, state
from pages.ui.grades import grades_button
from pages.ui.resources import later, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import confidence, interval_choice, table

# The keys of the Report page, beside those of `state` (used with `state.key`).

#: The container that the style sheet knows by its key.
REPORT = "rs_report"

REPORT_FIELD = "report_field"
REPORT_ACT = "report_act"
REPORT_CHART = "report_chart"


def show(run_id: int, block: Block, place: str) -> None:
    """The block; `place` tells it from others of the page."""
    if isinstance(block, Sentences):
        _sentences(block)
    elif isinstance(block, Facts):
        rows = [(esc(name), cell(run_id, words)) for name, words in block.rows]
        table(("", ""), rows, name=block.name)
    elif isinstance(block, PaperTable):
        _table(run_id, block)
        _work(run_id, block, place)
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


#: What a link to a part of the items says of them, and nothing else.
_PARTS = {"system", "tag", "split"}


def _work(run_id: int, block: PaperTable, place: str) -> None:
    """Below a table of parts of the items: step through one of them, or have it reviewed."""
    parts = {
        row[0].text: dict(row[1].link)
        for row in block.rows
        if len(row) > 1 and row[1].link and set(row[1].link) <= _PARTS
    }
    if not parts:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.selectbox(
            "Work through",
            list(parts),
            index=None,
            key=state.key(REPORT_FIELD, "part", run_id, place),
            placeholder=f"{block.heads[0]} …",
            format_func=lambda name: one_line(name, 60),
            width=260,
        )
        if chosen is not None:
            link = parts[chosen]
            where = RunItemFilter(
                system=link.get("system"), tag=link.get("tag"), split=link.get("split")
            )
            ids = browsing.ids(store(), run_id, where, "position", False)
            routes.offer_work(run_id, ids, f"{block.heads[0]}: {one_line(chosen, 80)}")


def cell(run_id: int, words: Words) -> str:
    """A cell's HTML; where items stand behind it, a link to exactly these.

    >>> cell(3, Words("7", link={"outcome": "pass"}))
    '<a href="run?run=3&amp;outcome=pass" target="_self">7</a>'
    """
    text = esc(words.text)
    if words.link:
        found = _address(words.link)
        page = found.pop("to", "run")
        to = routes.href(page, {state.RUN: run_id, **found})
        text = f'<a href="{esc(to)}" target="_self">{text}</a>'
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
        key=state.key(REPORT_CHART, run_id, place),
        config={"displayModeBar": False},
        alt=one_line(f"{alt} The table below has its numbers."),
    )


def _forest(block: Forest) -> object:
    dots = [draw.Dot(one.name, one.value, one.low, one.high, one.mark) for one in block.rows]
    whole = block.low >= 0 and block.high <= 1
    return draw.forest(dots, block.axis, block.marks, whole=whole)


_TYPES = {
    "html": "text/html",
    "md": "text/markdown",
    "zip": "application/zip",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def download_buttons(run_id: int, found: RunReport) -> None:
    """A button per file, which is made when it is pressed; and the way to grades for students."""

    def offer(name: str, data: Callable[[], str | bytes], file: str, icon: str, about: str) -> None:
        st.download_button(
            name,
            data=data,
            file_name=file,
            mime=_TYPES[file.rpartition(".")[2]],
            icon=f":material/{icon}:",
            key=state.key(REPORT_ACT, name),
            help=about,
            on_click="ignore",
        )

    how = confidence()
    with st.container(horizontal=True):
        offer(
            "HTML",
            later(lambda _: run_export.written(found, "html")),
            f"report-run-{run_id}.html",
            "description",
            "One file that opens anywhere, without network, and prints well.",
        )
        offer(
            "Markdown",
            later(lambda _: run_export.written(found, "markdown")),
            f"report-run-{run_id}.md",
            "notes",
            "The same words and tables, for a wiki or a pull request.",
        )
        offer(
            "Excel",
            later(lambda held: run_export.grades_workbook(held, run_id)),
            f"scores-run-{run_id}.xlsx",
            "grid_on",
            "A workbook: every item's grade and whose it is, scores as judged, and verdicts.",
        )
        offer(
            "CSV of everything",
            later(
                lambda held: run_export.zipped(run_export.export(held, run_id, "everything", how))
            ),
            f"run-{run_id}.zip",
            "table",
            "Items, verdicts, votes, failures and calls as tables, and the report as JSON.",
        )
        grades_button(run_id)
        interval_choice()

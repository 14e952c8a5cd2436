"""The test rows: text, expected and judged option side by side, and what each may do."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.services import numbers as fmt
from core.services.workbench_standing import Cell, Standing
from core.services.workbench_types import BenchRow, item_from
from core.services.workbench_views import Said, said
from pages.author._workbench import acts, marks, one_row
from pages.ui import state
from pages.ui import workbench_keys as keys
from pages.ui.resources import store
from pages.ui.text import esc, one_line
from pages.ui.widgets import tag

PAGE = 10
#: Fits three lines of the first column.
SNIPPET = 240
EMPTY = "Nothing to judge in this row yet."
FILTERS: dict[str, tuple[str, Callable[[Cell], bool]]] = {
    "all": ("All", lambda cell: True),
    "differ": ("Differ", lambda cell: cell.agrees is False),
    "stale": ("Stale", lambda cell: cell.state == "stale"),
    "failed": ("Failed", lambda cell: cell.state == "failed"),
    "flips": ("Flip", lambda cell: any(j.answer and j.answer.flips for j in cell.judges)),
}


def show(name: str, now: Standing, criterion: str | None) -> None:
    """A page of the rows that the filter keeps."""
    numbers = {row["uid"]: at for at, row in enumerate(now.bench["rows"], start=1)}
    kept = _filtered(name, now, criterion)
    pages = -(-len(kept) // PAGE)
    for row in _page(name, kept, pages):
        with st.container(border=True, key=f"workbench_row_{row['uid']}"):
            _row(name, now, row, numbers[row["uid"]], criterion)
    if not kept and now.tests:
        st.caption("No row is like that.")
    if pages > 1:
        st.pagination(pages, key=state.key(keys.WORKBENCH_PAGE, name))
    acts.put_back(name)


def _filtered(name: str, now: Standing, criterion: str | None) -> list[BenchRow]:
    if not now.tests:
        return []

    def has(row: BenchRow, test: Callable[[Cell], bool]) -> bool:
        cells = now.cells.get(row["uid"], {})
        return any(test(c) for n, c in cells.items() if criterion in (None, n))

    counts = {
        which: sum(has(row, test) for row in now.tests) for which, (_, test) in FILTERS.items()
    }
    counts["all"] = len(now.tests)
    key = state.key(keys.WORKBENCH_FIND, name)
    state.seed(key, "all")
    shown = [which for which in FILTERS if which == "all" or counts[which]]
    if state.get(key) not in shown:
        state.put(key, "all")
    which = st.segmented_control(
        "Rows shown",
        shown,
        key=key,
        required=True,
        format_func=lambda one: f"{FILTERS[one][0]} {counts[one]}",
        label_visibility="collapsed",
    )
    if which is None or which == "all":
        return now.tests
    return [row for row in now.tests if has(row, FILTERS[which][1])]


def _page(name: str, rows: list[BenchRow], pages: int) -> list[BenchRow]:
    key = state.key(keys.WORKBENCH_PAGE, name)
    at = min(max(1, int(state.get(key, 1) or 1)), max(1, pages))
    if pages > 1:
        state.put(key, at)
    return rows[(at - 1) * PAGE : at * PAGE]


def _row(name: str, now: Standing, row: BenchRow, number: int, criterion: str | None) -> None:
    cells = now.cells.get(row["uid"], {})
    cell = cells.get(criterion) if criterion is not None else None
    if criterion is None:
        text, right = st.columns([5, 8], gap="medium")
    else:
        text, middle, right = st.columns([5, 3, 5], gap="medium")
        with middle:
            marks.expected(name, now, row, criterion)
    with text:
        st.html(_snippet(row, number))
    with right:
        if not cells:
            st.html(_quiet(EMPTY))
        elif cell is not None:
            st.html(_judged(said(store(), cell), cell) or _quiet("Nobody is chosen to judge."))
        elif criterion is None:
            st.html("".join(_line(one) for one in cells.values()))
        acts.show(name, now, row, criterion, bool(cells))
    if state.get(state.key(keys.WORKBENCH_OPEN, name)) == row["uid"]:
        one_row.show(name, now, row, criterion)


def _snippet(row: BenchRow, number: int) -> str:
    item = item_from(row)
    words = one_line(item.output, SNIPPET)
    body = esc(words) if words else '<span class="rs-quiet">(no text yet)</span>'
    prompt = f"to: {one_line(row['prompt'], 70)}" if row["prompt"].strip() else ""
    quiet = " · ".join(part for part in (prompt, one_line(row["source"], 60)) if part)
    below = f'<br><span class="rs-quiet">{esc(quiet)}</span>' if quiet else ""
    return (
        f'<div style="overflow-wrap:anywhere"><span class="rs-quiet rs-num">{number}</span> '
        f"{body}{below}</div>"
    )


def _quiet(words: str) -> str:
    return f'<span class="rs-quiet">{words}</span>'


def _judged(answers: tuple[Said, ...], cell: Cell) -> str:
    head = [_verdict(cell)] if len(answers) > 1 and cell.said else []
    parts = "".join(_one(one, cell, alone=len(answers) == 1) for one in answers)
    return f'<div class="rs-row">{"".join(head)}</div>{parts}' if head else parts


def _verdict(cell: Cell) -> str:
    if cell.state == "stale":
        return tag("stale", "warn")
    return f"<b>{esc(one_line(cell.said, 60))}</b>{marks.agrees(cell)}"


def _one(one: Said, cell: Cell, *, alone: bool) -> str:
    judge = esc(one_line(one.cell.judge, 40))
    answer = one.cell.answer
    chosen = "" if answer is None else f"<b>{esc(one_line(answer.label, 60))}</b>"
    tags = marks.state_tag(one)
    if alone:
        tags = marks.agrees(cell) + tags
    elif answer is not None and cell.expected is not None and one.cell.state == "fresh":
        tags = tag("✓" if answer.option == cell.expected else "✕") + tags
    head = f'<div class="rs-row">{chosen}{tags}<span class="rs-quiet">{judge}</span></div>'
    why = one.vote.reason if one.vote is not None else ""
    if one.cell.failure is not None:
        why = one.cell.failure.message
    place = one.place
    shown = f"shown as {place[0]} of {place[1]} · " if place else ""
    quiet = f'<div class="rs-quiet">{esc(shown + one_line(why, 170))}</div>' if why else ""
    return head + quiet


def _line(cell: Cell) -> str:
    """One criterion of a row where all are shown."""
    expects = one_line(cell.expected_label, 40) if cell.expected_label else fmt.DASH
    now = {
        "stale": tag("stale", "warn"),
        "asking": tag("asking …", "info"),
        "failed": tag("✕ failed", "bad"),
        "never": tag("not asked"),
    }
    judged = f"<b>{esc(one_line(cell.said, 40))}</b>" if cell.said else ""
    flips = any(j.answer is not None and j.answer.flips for j in cell.judges)
    tags = now.get(cell.state, "") + (tag("flips", "warn") if flips else "")
    criterion = esc(one_line(cell.criterion.name, 40))
    return (
        f'<div class="rs-row" style="padding:.1rem 0"><span>{criterion}</span>'
        f'<span class="rs-quiet">expected {esc(expects)}</span>{judged}'
        f"{marks.agrees(cell)}{tags}</div>"
    )

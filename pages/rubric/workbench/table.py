"""The test rows side by side, the buttons of a row, and the rows shown as examples."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.services.datasets import catalog
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import BenchRow, item_from
from core.services.workbench.bench_state import BenchCell, BenchReply, WorkbenchState, judge_answers
from core.services.workbench.rows_in_out import count_other_teachers, teach_with
from core.text import numbers as fmt
from pages.rubric.workbench import asking, opened_row
from pages.rubric.workbench import subject as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import choose_one, shown_errors, tag

EXAMPLE, COPY, REMOVE = "Turn the row into an example", "Duplicate", "Remove"
ICONS = {EXAMPLE: "school", COPY: "content_copy", REMOVE: "delete"}


def row_acts(
    name: str, bench: WorkbenchState, row: BenchRow, criterion: str | None, askable: bool
) -> None:
    """Draw the buttons of a test row."""
    uid = row["uid"]
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Ask",
            key=state.key(keys.WORKBENCH_ACT, name, "row", uid),
            icon=":material/play_arrow:",
            type="tertiary",
            disabled=not askable or bench.active or not bench.judges,
            on_click=asking.on_ask,
            args=(name, "open", uid, criterion),
            help="Asks the open questions of this row; if there are none, asks all its "
            "questions again.",
        )
        opened = state.get(state.key(keys.WORKBENCH_OPEN, name)) == uid
        st.button(
            "Hide" if opened else "Details",
            key=state.key(keys.WORKBENCH_ACT, name, "open", uid),
            icon=":material/unfold_less:" if opened else ":material/unfold_more:",
            type="tertiary",
            on_click=_on_open,
            args=(name, None if opened else uid),
        )
        st.button(
            EXAMPLE,
            key=state.key(keys.WORKBENCH_ACT, name, "example", uid),
            icon=":material/school:",
            type="tertiary",
            disabled=not row["expected"],
            on_click=_on_example,
            args=(name, uid, True),
            help=(
                "Shows this row to models with its expected option; the row is then no longer a "
                "test. First choose the expected option."
            ),
        )
        st.menu_button(
            "More",
            [COPY, REMOVE],
            key=state.key(keys.WORKBENCH_ACT, name, "more", uid),
            type="tertiary",
            format_func=lambda value: f":material/{ICONS[value]}: {value}",
            on_click=_on_more,
            args=(name, uid),
        )


def _on_open(name: str, uid: str | None) -> None:
    state.put(state.key(keys.WORKBENCH_OPEN, name), uid)


def _on_example(name: str, uid: str, example: bool) -> None:
    with shown_errors():
        bench_rows.set_row(store(), name, uid, example=example)


def back_to_tests(name: str, uid: str) -> None:
    """Draw the button that turns an example back into a test."""
    st.button(
        "Return to the tests",
        key=state.key(keys.WORKBENCH_ACT, name, "test", uid),
        icon=":material/undo:",
        type="tertiary",
        on_click=_on_example,
        args=(name, uid, False),
    )


def _on_more(name: str, uid: str) -> None:
    with shown_errors():
        chosen = state.get(state.key(keys.WORKBENCH_ACT, name, "more", uid))
        if chosen == COPY:
            bench_rows.duplicate_row(store(), name, uid)
        elif chosen == REMOVE:
            removed = bench_rows.remove_row(store(), name, uid)
            state.put(state.key(keys.WORKBENCH_GONE, name), removed)


def offer_restore(name: str) -> None:
    """Offer to restore the row removed last."""
    if state.get(state.key(keys.WORKBENCH_GONE, name)) is not None:
        st.button(
            "Restore the removed row",
            key=state.key(keys.WORKBENCH_ACT, name, "back"),
            icon=":material/undo:",
            type="tertiary",
            on_click=_on_put_back,
            args=(name,),
        )


def _on_put_back(name: str) -> None:
    with shown_errors():
        bench_rows.add_rows(store(), name, [state.get(state.key(keys.WORKBENCH_GONE, name))])
        state.drop(keys.WORKBENCH_GONE, name)


PAGE = 10
#: The number of characters that fit into three lines of the first column.
SNIPPET = 240
EMPTY = "Nothing to judge in this row yet."
FILTERS: dict[str, tuple[str, Callable[[BenchCell], bool]]] = {
    "all": ("All", lambda cell: True),
    "differ": ("Differ", lambda cell: cell.agrees is False),
    "stale": ("Stale", lambda cell: cell.state == "stale"),
    "failed": ("Failed", lambda cell: cell.state == "failed"),
    "flips": ("Flip", lambda cell: any(j.flips for j in cell.judges)),
}


def show(name: str, bench: WorkbenchState, criterion: str | None) -> None:
    """Draw a page of the rows that pass the filter."""
    rows = _filtered_rows(name, bench, criterion)
    pages = -(-len(rows) // PAGE)
    for row in _page_of_rows(name, rows, pages):
        with st.container(border=True, key=f"workbench_row_{row['uid']}"):
            show_row(name, bench, row, criterion, acts=True)
            if state.get(state.key(keys.WORKBENCH_OPEN, name)) == row["uid"]:
                opened_row.show_row(name, bench, row, criterion)
    if not rows and bench.tests:
        st.caption("No row passes this filter.")
    if pages > 1:
        st.pagination(pages, key=state.key(keys.WORKBENCH_PAGE, name))
    offer_restore(name)


def _filtered_rows(name: str, bench: WorkbenchState, criterion: str | None) -> list[BenchRow]:
    if not bench.tests:
        return []

    def row_has(row: BenchRow, test: Callable[[BenchCell], bool]) -> bool:
        cells = bench.cells.get(row["uid"], {})
        return any(test(c) for n, c in cells.items() if criterion in (None, n))

    counts = {
        filter_name: sum(row_has(row, test) for row in bench.tests)
        for filter_name, (_, test) in FILTERS.items()
    }
    counts["all"] = len(bench.tests)
    key = state.key(keys.WORKBENCH_FIND, name)
    state.seed(key, "all")
    shown = [filter_name for filter_name in FILTERS if filter_name == "all" or counts[filter_name]]
    if state.get(key) not in shown:
        state.put(key, "all")
    filter_name = choose_one(
        "Rows shown",
        shown,
        key=key,
        format_func=lambda value: f"{FILTERS[value][0]} {counts[value]}",
    )
    if filter_name is None or filter_name == "all":
        return bench.tests
    return [row for row in bench.tests if row_has(row, FILTERS[filter_name][1])]


def _page_of_rows(name: str, rows: list[BenchRow], pages: int) -> list[BenchRow]:
    key = state.key(keys.WORKBENCH_PAGE, name)
    page = min(max(1, int(state.get(key, 1) or 1)), max(1, pages))
    if pages > 1:
        state.put(key, page)
    return rows[(page - 1) * PAGE : page * PAGE]


def show_row(
    name: str, bench: WorkbenchState, row: BenchRow, criterion: str | None, *, acts: bool = False
) -> None:
    """Draw a row: its text, the expectations, the answers; `acts` adds its buttons."""
    cells = bench.cells.get(row["uid"], {})
    if criterion is None:
        text, right = st.columns([5, 8], gap="medium")
    else:
        text, middle, right = st.columns([5, 4, 5], gap="small")
        with middle:
            opened_row.expected_choice(name, bench, row, criterion)
    text.html(_row_snippet(row, bench.bench["rows"].index(row) + 1))
    if not cells:
        right.html(_quiet_caption(EMPTY))
    elif criterion is None:
        right.html("".join(_cell_line(cell) for cell in cells.values()))
    elif criterion in cells:
        right.html(_judged_html(cells[criterion]) or _quiet_caption("No judge is chosen."))
    if acts:
        with right:
            row_acts(name, bench, row, criterion, bool(cells))


def _row_snippet(row: BenchRow, number: int) -> str:
    """Return the start of a row's text, with its number and source, as HTML."""
    item = item_from(row)
    snippet = one_line(item.output, SNIPPET)
    body = esc(snippet) if snippet else '<span class="rs-quiet">(no text yet)</span>'
    prompt = f"to: {one_line(row['prompt'], 70)}" if row["prompt"].strip() else ""
    details = " · ".join(part for part in (prompt, one_line(row["source"], 60)) if part)
    below = f'<br><span class="rs-quiet">{esc(details)}</span>' if details else ""
    return (
        f'<div style="overflow-wrap:anywhere"><span class="rs-quiet rs-num">{number}</span> '
        f"{body}{below}</div>"
    )


def _quiet_caption(caption: str) -> str:
    return f'<span class="rs-quiet">{caption}</span>'


def _judged_html(cell: BenchCell) -> str:
    answers = judge_answers(store(), cell)
    parts = "".join(_reply_html(answer, cell, only_reply=len(answers) == 1) for answer in answers)
    if len(answers) < 2 or not cell.judge_answers:
        return parts
    verdict = f"<b>{esc(one_line(cell.judge_answers, 60))}</b>{opened_row.agreement_tag(cell)}"
    if cell.state == "stale":
        verdict = tag("stale", "warn")
    return f'<div class="rs-row">{verdict}</div>{parts}'


def _reply_html(reply: BenchReply, cell: BenchCell, *, only_reply: bool) -> str:
    judge = esc(one_line(reply.cell.judge, 40))
    answer = reply.cell.answer
    chosen = "" if answer is None else f"<b>{esc(one_line(reply.cell.label, 60))}</b>"
    tags = opened_row.state_tag(reply)
    if only_reply:
        tags = opened_row.agreement_tag(cell) + tags
    elif answer is not None and cell.expected is not None and reply.cell.state == "fresh":
        tags = tag("✓" if answer.option == cell.expected else "✕") + tags
    head = f'<div class="rs-row">{chosen}{tags}<span class="rs-quiet">{judge}</span></div>'
    reason = reply.vote.reason if reply.vote is not None else ""
    if reply.cell.failure is not None:
        reason = reply.cell.failure.message
    place = reply.place
    shown = f" shown as option {place[0]} of {place[1]} · " if place else ""
    quiet = f'<div class="rs-quiet">{esc(shown + one_line(reason, 300))}</div>' if reason else ""
    return head + quiet


def _cell_line(cell: BenchCell) -> str:
    """Return the line of one criterion in a row that shows all."""
    expects = one_line(cell.expected_label, 40) if cell.expected_label else fmt.DASH
    states = {
        "stale": tag("stale", "warn"),
        "asking": tag("asking …", "info"),
        "failed": tag("✕ failed", "bad"),
        "never": tag("not asked"),
    }
    judged = f"<b>{esc(one_line(cell.judge_answers, 40))}</b>" if cell.judge_answers else ""
    flips = any(j.flips for j in cell.judges)
    tags = states.get(cell.state, "") + (tag("flips", "warn") if flips else "")
    criterion = esc(one_line(cell.criterion.name, 40))
    return (
        f'<div class="rs-row" style="padding:.1rem 0"><span>{criterion}</span>'
        f'<span class="rs-quiet">expected {esc(expects)}</span>{judged}'
        f"{opened_row.agreement_tag(cell)}{tags}</div>"
    )


def example_rows(name: str, bench: WorkbenchState) -> None:
    """Draw the examples, each with its labels."""
    if not bench.examples:
        return
    st.html(
        '<div class="rs-section">Examples shown to models '
        f'({len(bench.examples)})</div><span class="rs-quiet">Each is sent with the '
        "criteria for which it has an expected option, and is no longer a test.</span>"
    )
    for row in bench.examples:
        with st.container(border=True, key=f"workbench_example_{row['uid']}"):
            left, right = st.columns([6, 5], vertical_alignment="center")
            with left:
                st.html(_expected_words(row))
            with right, st.container(horizontal=True, vertical_alignment="center"):
                back_to_tests(name, row["uid"])
                _add_to_dataset(name, row)


def _expected_words(row: BenchRow) -> str:
    labels = "".join(
        tag(f"{c}: {one_line(expected_label, 40)}", "info")
        for c, expected_label in row["expected"].items()
    )
    text = esc(one_line(item_from(row).output, 200))
    return f'<div style="overflow-wrap:anywhere">{text}</div><div class="rs-row">{labels}</div>'


def _add_to_dataset(name: str, row: BenchRow) -> None:
    with st.popover("Also in a dataset", icon=":material/dataset:", type="tertiary"):
        datasets = {dataset.id: dataset for dataset in catalog.list_datasets(store())}
        if not datasets:
            st.caption("There is no dataset yet. Save these rows as a dataset, below.")
            return
        key = state.key(keys.WORKBENCH_FIELD, name, row["uid"], "teach")
        chosen = st.selectbox(
            "Dataset",
            list(datasets),
            key=key,
            format_func=lambda choice: one_line(datasets[choice].name, 60),
        )
        labelled, marked = count_other_teachers(store(), chosen)
        caption = (
            "The row is added to the calibration part of a new version; runs on that version "
            "show it to models."
        )
        if labelled and not marked:
            caption += (
                f" None of its {fmt.plural(labelled, 'labelled item')} is marked yet; once an "
                "item is marked, judges learn only from marked items."
            )
        st.caption(label(caption, 400))
        st.button(
            "Add it",
            key=state.key(keys.WORKBENCH_ACT, name, "teach", row["uid"]),
            on_click=_on_teach,
            args=(name, row["uid"], chosen),
        )


def _on_teach(name: str, uid: str, dataset_id: int) -> None:
    with shown_errors():
        version = teach_with(store(), name, uid, dataset_id)
        state.flash(f"Added: version {version.number} of {version.name}.")

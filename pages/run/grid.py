"""The home of a run: items by criteria, filtered, sorted and paged in the data file.

A click on a cell opens it next to the grid; a click on an item opens the item. The address says
which cell is open. Both are one fragment, so that a click redraws nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, islice

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import Run, RunItemRow
from core.services.pairwise import system_answers
from core.services.pairwise.system_answers import SharedTasks, Tasks
from core.services.queueing import queue_cells
from core.services.results import browsing, grid
from core.services.results.grid import GridItem, SystemMeans
from core.text import numbers as fmt
from core.text.names import visible
from pages.run import filters, open_cell, systems
from pages.run.filters import BESIDE, BY, CELL, DOWN, OUTCOME, RUN_FILTER, SORT, ItemSelection
from pages.run.open_cell import RUN_GRID
from pages.run.systems import Systems
from pages.ui import state
from pages.ui.grid import cells as drawn
from pages.ui.grid import run_cells
from pages.ui.grid.cells import HeadCell, ShownCell
from pages.ui.places import settling, work
from pages.ui.resources import remembered, store
from pages.ui.run_status import RUN_ACT
from pages.ui.text import esc, one_line
from pages.ui.widgets import OUTCOMES, draw_pager, empty_state, shown_errors

PAGE = 50
#: Set if redrawing the fragment is not enough to show the result, because the order changed or an
#: item opened.
_WHOLE = state.key(RUN_GRID, "whole")
#: A counter that increases whenever the cursor should go to the open cell.
_FOCUS = state.key(RUN_GRID, "focus")
#: The height of the grid in pixels; more rows scroll.
HEIGHT = 560
#: With so many items the grid shows a settlement before the rest of the page is worked out.
MANY = 2_000


def show(run: Run, rubric: Rubric) -> None:
    """Draw the systems' scores, the filters, and the grid with the open cell next to it."""
    cache_key = browsing.results_state(store(), run)
    means = remembered("means", cache_key, lambda: grid.system_means(store(), run, rubric))
    of = systems.systems_of_run(run, means, cache_key)
    groups = remembered("groups", (run.id,), lambda: browsing.item_groups(store(), run.id))
    now = filters.shown_selection()
    state.drop(settling.CHANGED)
    with st.container(gap="xsmall"):
        systems.show_conclusion(of, rubric)
        ids = remembered("ids", (*cache_key, now), lambda: _selected_ids(run.id, now))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            filters.draw_controls(groups, rubric)
            filters.quick_filters(run)
            systems.draw_controls(of)
            _outcome_filters(run, browsing.outcome_counts(store(), run.id))
        side_by_side = bool(state.address(BESIDE) and of.tasks.tasks)
        tasks = _tasks_in_order(of.tasks, ids) if side_by_side else {}
        only = systems.differing_tasks(run, of, cache_key)
        if only is not None:
            n_tasks = len(tasks)
            tasks = {task: items for task, items in tasks.items() if task in only}
            st.caption(f"{fmt.count(len(tasks))} of {fmt.plural(n_tasks, 'task')} differ.")
        lines = dict(islice(tasks.items(), (now.page - 1) * PAGE, now.page * PAGE))
        rows = _rows_of_page(run, now, ids, lines, side_by_side=side_by_side)
        total = len(tasks) if side_by_side else len(ids)
        if not rows:
            _show_nothing(total)
            return
        if now.filtered or only is not None:
            items = [i for task in tasks.values() for i in task.values()] if side_by_side else ids
            which = (*cache_key, now, side_by_side, of.pair if only is not None else None)
            means = remembered(
                "means", which, lambda: grid.system_means(store(), run, rubric, items)
            )
        st.fragment(_draw_grid_and_cell)(run, rubric, means, of, rows, lines)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _page_numbers(total, now.page)
            _show_item_count(run, now, ids)
            st.space("stretch")
            st.html(drawn.colour_legend(), width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if settling.may_settle():
                text = (
                    "Digit keys settle the cell under the cursor; ≠ goes to the first disagreement."
                    " Ctrl-click, Shift-click or X selects several."
                )
                st.html(f'<span class="rs-quiet rs-keys">{esc(text)}</span>', width="content")
                settling.ask_name()


def _rows_of_page(
    run: Run,
    selection: ItemSelection,
    ids: Sequence[str],
    lines: Tasks,
    *,
    side_by_side: bool,
) -> list[RunItemRow]:
    """Return the items of the page: in the chosen order, or those of these tasks."""
    wanted = ids[(selection.page - 1) * PAGE : selection.page * PAGE]
    if side_by_side:
        wanted = [item for task in lines.values() for item in task.values()]
    return browsing.rows_of_items(store(), run.id, wanted)


def _show_nothing(total: int) -> None:
    text = "This page is past the end." if total else "No item of this run fits the filters."
    key = state.key(RUN_ACT, "all")
    empty_state(
        "Nothing here",
        text,
        lambda: st.button("Show all items", key=key, on_click=filters.clear_filters),
    )


def _tasks_in_order(shared: SharedTasks, ids: Sequence[str]) -> Tasks:
    """Return the tasks of the shown items, in the order of their first item."""
    of_item = {item: task for task, items in shared.tasks.items() for item in items.values()}
    return {of_item[item]: shared.tasks[of_item[item]] for item in ids if item in of_item}


def _show_item_count(run: Run, selection: ItemSelection, ids: list[str]) -> None:
    """Draw how many items are shown, and links to work on them."""
    count_text = f"{fmt.plural(len(ids), 'item')}{' found' if selection.filtered else ''}"
    # Disagreements are counted as cells, as in the page header; an item can have several.
    waiting = 0
    if filters.shows_only_doubt(selection):
        waiting, _ = queue_cells.disagreements_of(store(), run.id)
    more = f", {fmt.plural(waiting, 'disagreement')} to settle" if waiting else ""
    st.html(f'<span class="rs-quiet rs-num">{count_text}{more}</span>', width="content")
    st.button(
        "Step through",
        key=state.key(RUN_ACT, "first"),
        icon=":material/menu_book:",
        type="tertiary",
        help="Opens the first of these items; the arrow keys go on from there.",
        on_click=_open_item,
        args=(ids[0],),
    )
    if selection.filtered and run.votes:
        name = f"{one_line(run.name, 80)}: {count_text}"
        work.link_to_review(run.id, ids, name, criterion=state.address(state.CRITERION))


def _outcome_filters(run: Run, outcomes: Mapping[str, int]) -> None:
    """Draw how many of all items pass and fail, as filters."""
    for outcome, (text, _) in OUTCOMES.items():
        if outcome != "review" and 0 < outcomes.get(outcome, 0) < run.items:
            st.button(
                f"{text}: {fmt.count(outcomes[outcome])}",
                key=state.key(RUN_ACT, "outcome", outcome),
                type="tertiary",
                disabled=state.address(OUTCOME) == outcome,
                on_click=filters.filter_items,
                kwargs={OUTCOME: outcome},
            )


def _selected_ids(run_id: int, selection: ItemSelection) -> list[str]:
    return browsing.item_ids(
        store(), run_id, selection.where, selection.sort, selection.descending, selection.by
    )


def _draw_grid_and_cell(
    run: Run,
    rubric: Rubric,
    means: list[SystemMeans],
    systems: Systems,
    rows: list[RunItemRow],
    lines: Tasks,
) -> None:
    """Draw the grid and, if a cell is open, that cell."""
    with shown_errors():
        changed = state.get(settling.CHANGED)
        if state.get(_WHOLE) or (changed and run.items < MANY):
            state.drop(_WHOLE)
            st.rerun()
        shown_items = grid.grid_items(store(), run, rows)
        _open_first_doubt(shown_items)
        at = addressed_cell(shown_items)
        # The grid keeps its place, and with it the cursor, whatever is above or next to it.
        with st.container(gap="xsmall"):
            if settling.may_settle():
                settling.settle_bar(run.id, rubric.criteria, last=at is None)
        with st.container(horizontal=True, gap="small", key="rs_split"):
            with st.container(gap="xsmall", key="rs_grid_side"):
                _draw_grid(run, rubric, means, systems, shown_items, lines, at)
                between = sum(c.between for item in shown_items for c in item.cells.values())
                if between:
                    words = f"≈ in {fmt.plural(between, 'cell')}: {drawn.SIGNS['≈']}"
                    st.html(f'<span class="rs-quiet">{words}</span>')
            if at is not None:
                with st.container(key="rs_cell_side"):
                    open_cell.show(run, shown_items, *at)
        if changed:
            # The counts above the grid include the settlement; of many items they take a second.
            st.rerun()


def _open_first_doubt(items: Sequence[GridItem]) -> None:
    """Open the first cell on which judges disagree and put the cursor on it, if its filter was
    just pressed.
    """
    pressed = state.get(filters.SEEK)
    state.drop(filters.SEEK)
    if pressed and settling.may_settle() and (cells := filters.doubtful_cells(items)):
        filters.see_cell(*cells[0])
        state.put(filters.FOUND, True)
        state.put(_FOCUS, (state.get(_FOCUS) or 0) + 1)


def addressed_cell(items: Sequence[GridItem]) -> tuple[str, str] | None:
    """Return the item and criterion in the address, if both are on this page."""
    cell = state.addresses(CELL)
    if len(cell) != 2:
        return None
    match = next((item for item in items if item.row.item_id == cell[0]), None)
    return (cell[0], cell[1]) if match is not None and cell[1] in match.cells else None


def _draw_grid(
    run: Run,
    rubric: Rubric,
    means: list[SystemMeans],
    of: Systems,
    items: list[GridItem],
    lines: Tasks,
    at: tuple[str, str] | None,
) -> None:
    groups: list[tuple[str, int, str]] = []
    if lines:
        prompts = system_answers.prompts_of(store(), run, lines)
        headings, cells, groups = _task_rows(
            rubric, of._replace(means=means[1:]), items, lines, prompts
        )
    else:
        headings, cells = _item_rows(rubric, means[0], items)
        groups = _section_headings(rubric, len(headings))
    drawn.show_grid(
        state.key(RUN_GRID, run.id),
        f"{'Tasks' if lines else 'Items'} by criteria",
        headings,
        cells,
        groups=groups,
        lines=() if lines else systems.foot_lines(of, rubric),
        opened="" if at is None else run_cells.opening_name(*at),
        on_open=_on_open,
        on_sort=_on_sort,
        selected=(state.get(settling.SELECTED) or ()) if settling.may_settle() else None,
        on_select=settling.select_cells,
        on_digit=partial(_on_digit, run.id, rubric, items),
        height=HEIGHT,
        focus=state.get(_FOCUS) or 0,
    )


def _item_rows(
    rubric: Rubric, means: SystemMeans, items: list[GridItem]
) -> tuple[list[HeadCell], list[list[ShownCell]]]:
    """Return one item per row: its score, its cells, notes on it, and its text."""
    criteria = [criterion.name for criterion in rubric.criteria]
    extra = max((len([n for n in shown.cells if n not in criteria]) for shown in items), default=0)
    several_systems = any(item.row.system for item in items)
    which = f"means of {fmt.count(means.score.n)}"
    which += " shown" if filters.shown_selection().filtered else ""
    headings = [
        _sorting_head("Item", "item_id", which),
        _sorting_head("Score", "score", fmt.score(means.score.value)),
        *(_sorting_head(name, "", run_cells.share_text(means.criteria[name])) for name in criteria),
        *(HeadCell(f"Own {number + 1}") for number in range(extra)),
        *([_sorting_head("System", "system")] if several_systems else []),
        HeadCell("Notes", wide=90),
        HeadCell("Submission", wide=260),
    ]
    rows = []
    for shown in items:
        item, own = shown.row, [name for name in shown.cells if name not in criteria]
        cells = [
            _item_name(shown),
            run_cells.score_cell(rubric, shown),
            *(run_cells.verdict_cell(shown, name) for name in criteria),
            *(run_cells.verdict_cell(shown, name) for name in own),
            *[ShownCell("")] * (extra - len(own)),
            *([ShownCell(one_line(item.system, 40))] if several_systems else []),
            ShownCell(
                "graded by your labels" if shown.own is not None else run_cells.item_notes(item)
            ),
            ShownCell(one_line(item.preview, 60)),
        ]
        rows.append(cells)
    return headings, rows


def _section_headings(rubric: Rubric, columns: int) -> list[tuple[str, int, str]]:
    """Return the sections of the criteria as headings over columns; empty without sections."""
    if not any(criterion.section for criterion in rubric.criteria):
        return []
    parts = groupby(rubric.criteria, lambda criterion: criterion.section or "")
    spans = [(one_line(section, 60), len(list(criteria)), "") for section, criteria in parts]
    return [*2 * [("", 1, "")], *spans, ("", columns - 2 - len(rubric.criteria), "")]


def _task_rows(
    rubric: Rubric,
    of: Systems,
    grid_items: list[GridItem],
    lines: Tasks,
    prompts: Mapping[str, str],
) -> tuple[list[HeadCell], list[list[ShownCell]], list[tuple[str, int, str]]]:
    """Return one task per row: below the score and each criterion, the systems side by side."""
    items = {item.row.item_id: item for item in grid_items}
    by_name, names = {mean.system: mean for mean in of.means}, of.tasks.systems
    sides, rows = [(rubric, by_name[name]) for name in names], []
    for task, of_systems in lines.items():
        prompt = prompts[task] or task
        prompt_cell = ShownCell(one_line(prompt, 40), tells=one_line(prompt, 300))
        rows.append((prompt_cell, [items.get(of_systems.get(name, "")) for name in names]))
    criteria = [criterion.name for criterion in rubric.criteria]
    return run_cells.side_by_side_table(
        "Task", sides, criteria, rows, partial(systems.gap_words, of)
    )


def _sorting_head(title: str, sort: str, note: str = "") -> HeadCell:
    """Return the heading of a sortable column; `sort` is empty for a criterion's column."""
    now = filters.shown_selection()
    is_sorted = now.sort == sort if sort else now.sort == "criterion" and now.by == title
    direction = "descending" if now.descending else "ascending"
    sort_key = json.dumps([sort or "criterion", "" if sort else title])
    return HeadCell(title, note, sort_key, direction if is_sorted else "")  # type: ignore[arg-type]


def _item_name(item: GridItem) -> ShownCell:
    item_id = item.row.item_id
    opens = run_cells.opening_name(item_id)
    return ShownCell(one_line(item.title, 60), tells=f"Open item {visible(item_id)}", opens=opens)


def _on_open(message: str) -> None:
    parts = json.loads(message)
    if len(parts) == 2:
        filters.see_cell(*parts)
    else:
        _open_item(parts[0])
        state.put(_WHOLE, True)


def _on_digit(
    run_id: int, rubric: Rubric, items: Sequence[GridItem], name: str, digit: int
) -> None:
    """Settle the cell, or all cells selected with it if they are of one criterion."""
    cell = tuple(json.loads(name))
    cells = settling.selected_cells()
    cells = cells if cell in cells else [cell]
    criterion = next((c for c in rubric.criteria if {c.name} == {name for _, name in cells}), None)
    if criterion is not None:
        next_cell = (
            partial(filters.open_next_doubt, items, *cell)
            if addressed_cell(items) == cell
            else None
        )
        settling.settle_by_digit(run_id, cells, criterion, digit, next_cell)


def _on_sort(message: str) -> None:
    sort, by = json.loads(message)
    now = filters.shown_selection()
    same_sort = now.sort == sort and now.by == by
    down = "1" if same_sort and not now.descending else None
    filters.filter_items(**{SORT: sort, BY: by or None, DOWN: down})
    state.put(_WHOLE, True)


def _page_numbers(total: int, page: int) -> None:
    if total <= PAGE:
        return
    count = -(-total // PAGE)
    key = state.key(RUN_FILTER, "page")
    state.put(key, min(page, count))
    draw_pager(count, key, _on_page)


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key), CELL: None})


def _open_item(item_id: str | None) -> None:
    state.set_address(**{state.ITEM: item_id, CELL: None})

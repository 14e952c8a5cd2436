"""Which items of a run are shown, and in which order; all kept in the address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import CellSign, Run, RunItemFilter, RunItemSort
from core.services.results import browsing, flip_check
from core.services.results.grid import GridItem
from core.services.runs import lifecycle
from core.text.numbers import count, plural
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.run_status import RUN_ACT
from pages.ui.text import one_line
from pages.ui.widgets import OUTCOME_WORDS, search_box

ONLY = "only"
OUTCOME = "outcome"
SORT = "sort"
#: URL parameter: the criterion whose verdicts sort the items.
BY = "by"
DOWN = "down"
LEAST = "min"
MOST = "max"
VERDICT = "verdict"
#: URL parameter: the open cell of the grid, as its item and its criterion.
CELL = "cell"
#: URL parameter: show the systems' answers to a task side by side, in one row.
BESIDE = "beside"
DIFFER = "differ"
RUN_FILTER = "run_filter"
#: Whether the user has just pressed the filter of disagreements.
SEEK = "run_seek"
#: Whether the filter led to the open cell.
FOUND = "run_found"
ITEM_OPEN = "item_open"
ITEM_ACT = "item_act"

#: The same signs as in the grid, so that the filters also explain them.
ONLY_WORDS = {
    "doubt": "≠ Judges disagree",
    "abstentions": "○ Abstentions",
    "failures": "✕ Failures",
    "settled": "◆ Settled",
    "review": "⚑ Needs a person",
    "incomplete": "Partly assessed",
    "order": "Answers differ by order",
}
SORTS: dict[RunItemSort, str] = {
    "position": "Dataset order",
    "item_id": "Item id",
    "score": "Score",
    "agreement": "Agreement",
    "failures": "Failures",
    "abstentions": "Abstentions",
    "system": "System",
}
#: Filters of a criterion's verdicts by something other than the option. If a criterion is set and
#: none of these is chosen, the filter selects abstentions.
SIGN_WORDS: dict[CellSign, str] = {
    "split": "in doubt: judges disagree",
    "abstained": "a judge abstained, whatever the verdict",
    "failed": "a judge failed, whatever the verdict",
    "settled": "settled by people",
    "none": "missing",
}
_ALL = (
    *(state.FIND, ONLY, SORT, BY, DOWN, LEAST, MOST, state.SET),
    *(OUTCOME, state.SYSTEM, state.TAG, state.SPLIT),
    *(state.CRITERION, VERDICT, state.PAGE),
)


class ItemSelection(NamedTuple):
    """The items that the address asks for. `page` counts from 1."""

    where: RunItemFilter
    sort: RunItemSort
    by: str
    descending: bool
    page: int
    filtered: bool


def shown_selection() -> ItemSelection:
    """Return the filter, sort and page of the address; invalid values in it are ignored."""
    only = chosen_quick_filters()
    quick = _quick_filter(only)
    outcome = state.address(OUTCOME)
    sort, by = state.address(SORT), state.address(BY) or ""
    criterion, verdict = state.address(state.CRITERION), state.address(VERDICT)
    signs = quick.signs
    if verdict in SIGN_WORDS:
        signs = (*signs, (verdict, criterion))
        criterion = None
    where = replace(
        quick,
        review=True if "review" in (*only, outcome) else None,
        outcome=outcome if outcome in ("pass", "fail") else None,  # type: ignore[arg-type]
        min_score=_number_in_address(LEAST),
        max_score=_number_in_address(MOST),
        search=state.address(state.FIND) or "",
        system=state.address(state.SYSTEM),
        tag=state.address(state.TAG),
        split=state.address(state.SPLIT),
        criterion=criterion,
        option=state.address_id(VERDICT),
        signs=signs,
        item_ids=_ids_in_address(only),
    )
    return ItemSelection(
        where=where,
        sort=sort if sort in get_args(RunItemSort) else "position",  # type: ignore[arg-type]
        by=by,
        descending=state.address(DOWN) == "1",
        page=max(1, state.address_id(state.PAGE) or 1),
        filtered=where != RunItemFilter(),
    )


def _quick_filter(only: list[str]) -> RunItemFilter:
    """Return the items that all of these quick filters keep."""
    signs: dict[str, CellSign] = {"doubt": "split", "settled": "settled"}
    return RunItemFilter(
        has_failures=True if "failures" in only else None,
        has_abstentions=True if "abstentions" in only else None,
        complete=False if "incomplete" in only else None,
        review=True if "review" in only else None,
        signs=tuple((sign, None) for name, sign in signs.items() if name in only),
    )


def shows_only_doubt(selection: ItemSelection) -> bool:
    """Return whether exactly the items on which judges disagree are shown."""
    return selection.where == _quick_filter(["doubt"])


def _ids_in_address(only: list[str]) -> tuple[str, ...] | None:
    """Return the items in the address's set, that differ by order, or both; ``None`` for all."""
    run_id, kept = state.address_id(state.RUN), state.address(state.SET)
    if run_id is None or not (kept or "order" in only):
        return None
    named = browsing.items_of_set(store(), run_id, kept) if kept else None
    if "order" not in only:
        return named
    order_dependent = _order_dependent_items(run_id)
    return (
        order_dependent
        if named is None
        else tuple(item_id for item_id in named if item_id in set(order_dependent))
    )


def _order_dependent_items(run_id: int) -> tuple[str, ...]:
    cache_key = (run_id, lifecycle.run_progress(store(), run_id).row.votes)
    return remembered("items apart", cache_key, lambda: flip_check.items_apart(store(), run_id))


def chosen_quick_filters() -> list[str]:
    """Return the quick filters that are on."""
    requested = (state.address(ONLY) or "").split(",")
    return [name for name in ONLY_WORDS if name in requested]


def _number_in_address(name: str) -> float | None:
    try:
        value = float(state.address(name) or "")
    except ValueError:
        return None
    return value if abs(value) < 1e100 else None


def clear_filters() -> None:
    """Callback: show every item again, in the dataset's order."""
    state.set_address(**dict.fromkeys((*_ALL, CELL)))


def filter_items(**parameters: object) -> None:
    """Show only the items of some property, from the first page on."""
    state.set_address(**{**parameters, state.PAGE: None, CELL: None})


def doubtful_cells(items: Sequence[GridItem]) -> list[tuple[str, str]]:
    """Return the page's cells on which judges disagree and that are not settled."""
    return [
        (item.row.item_id, name)
        for item in items
        for name, cell in item.cells.items()
        if cell.split and not cell.settled
    ]


def see_cell(item_id: str, name: str) -> None:
    """Callback: open a cell."""
    state.drop(FOUND)
    state.drop(ITEM_OPEN)
    state.set_address(**{CELL: [item_id, name]})


def open_next_doubt(items: Sequence[GridItem], *at: str) -> None:
    """Callback: open the page's next cell on which judges disagree, if this was one."""
    cells = doubtful_cells(items)
    if at in cells[:-1]:
        see_cell(*cells[cells.index(at) + 1])


def draw_controls(groups: tuple[list[str], list[str], list[str]], rubric: Rubric) -> None:
    """Draw the search, and behind one button the filters and the order.

    ``groups`` are the systems, tags and splits of the items.
    """
    systems, tags, splits = groups
    search_box(
        _widget_key(state.FIND, state.address(state.FIND) or ""),
        "Search ids and texts",
        width=170,
        name="Search items",
        on_change=_on_text,
        args=(state.FIND,),
    )
    with st.popover("Filter and sort", icon=":material/filter_list:"):
        _sort_choice(rubric, by_system=bool(systems))
        _score_range()
        _verdict_filter(rubric)
        _select_filter(OUTCOME, "Outcome", {str(value): w for value, w in OUTCOME_WORDS.items()})
        for name, words, values in (
            (state.SYSTEM, "System", systems),
            (state.TAG, "Tag", tags),
            (state.SPLIT, "Split", splits),
        ):
            if values:
                _select_filter(name, words, {value: one_line(value, 80) for value in values})


def quick_filters(run: Run) -> None:
    """Draw the quick filters that keep any item, with how many they keep."""
    cache_key = browsing.results_state(store(), run)
    kept = remembered("quick filters", cache_key, lambda: _quick_counts(run))
    chosen = chosen_quick_filters()
    offered = [name for name in ONLY_WORDS if kept.get(name) or name in chosen]

    def filter_words(name: str) -> str:
        number = kept.get(name, 0)
        # Only the first filter names the unit, items, which differs from the cells counted above
        # it.
        counted = plural(number, "item") if name == offered[0] else count(number)
        return f"{ONLY_WORDS[name]}: {counted}"

    st.pills(
        "Show only",
        offered,
        selection_mode="multi",
        format_func=filter_words,
        key=_widget_key(ONLY, chosen),
        label_visibility="collapsed",
        on_change=_on_only_filter,
    )
    if shown_selection().filtered:
        st.button(
            "Clear filters",
            key=state.key(RUN_ACT, "clear"),
            type="tertiary",
            icon=":material/filter_list_off:",
            on_click=clear_filters,
        )


def _quick_counts(run: Run) -> dict[str, int]:
    """Return how many items each quick filter keeps."""
    names = [name for name in ONLY_WORDS if name != "order"]
    filters = [_quick_filter([name]) for name in names]
    kept = dict(zip(names, browsing.item_counts(store(), run.id, filters), strict=True))
    if run.panel.asking.flip != "off":
        kept["order"] = len(_order_dependent_items(run.id))
    return kept


def _sort_choice(rubric: Rubric, *, by_system: bool) -> None:
    """Draw the choices of the order and its direction."""
    now = shown_selection()
    names = [c.name for c in rubric.criteria]
    words = {str(sort): w for sort, w in SORTS.items() if sort != "system" or by_system}
    options: dict[str | tuple[str, str], str] = dict(words.items())
    options |= {(BY, name): one_line(name, 60) for name in names}
    chosen = (BY, now.by) if now.sort == "criterion" else str(now.sort)
    key = state.key(RUN_FILTER, SORT)
    state.put(key, chosen if chosen in options else "position")
    st.selectbox(
        "Sort by",
        list(options),
        key=key,
        format_func=options.__getitem__,
        on_change=_on_sort,
        args=(key,),
    )
    st.toggle("Highest first", key=_widget_key(DOWN, now.descending), on_change=_on_sort_direction)


def _on_sort(key: str) -> None:
    chosen = state.get(key)
    if isinstance(chosen, tuple):
        sort_by(chosen[1])
    else:
        filter_items(**{SORT: None if chosen == "position" else chosen, BY: None})


def sort_by(criterion: str) -> None:
    """Sort by the verdicts of a criterion."""
    filter_items(**{SORT: "criterion", BY: criterion})


def _score_range() -> None:
    st.caption("Score")
    with st.container(horizontal=True):
        for name, words in ((LEAST, "From"), (MOST, "To")):
            st.number_input(
                words,
                value=None,
                step=0.05,
                key=_widget_key(name, _number_in_address(name)),
                width=120,
                on_change=_on_text,
                args=(name,),
            )


def _verdict_filter(rubric: Rubric) -> None:
    names = [c.name for c in rubric.criteria]
    _select_filter(state.CRITERION, "Verdict of", {name: one_line(name, 80) for name in names})
    chosen = state.address(state.CRITERION)
    signs = {str(sign): words for sign, words in SIGN_WORDS.items()}
    if chosen not in names:
        _select_filter(VERDICT, "On any criterion", signs)
        return
    criterion = rubric.criterion(chosen)
    labels = {str(i): one_line(criterion.choices[i].label, 80) for i in criterion.scored}
    _select_filter(VERDICT, "is", {**labels, **signs}, empty="an abstention")


def _select_filter(name: str, words: str, options: dict[str, str], empty: str = "any") -> None:
    value = state.address(name)
    st.selectbox(
        words,
        list(options),
        index=None,
        key=_widget_key(name, value if value in options else None),
        format_func=lambda option: options.get(option, option),
        placeholder=empty,
        on_change=_on_text,
        args=(name,),
    )


def _widget_key(name: str, value: object) -> str:
    """Return the key of a filter's widget, after giving it the value in the address."""
    key = state.key(RUN_FILTER, name)
    state.put(key, value)
    return key


def _on_text(name: str) -> None:
    value = state.get(state.key(RUN_FILTER, name))
    changes = {name: None if value in (None, "", "position") else value}
    if name == state.CRITERION:
        changes[VERDICT] = None
    filter_items(**changes)


def _on_only_filter() -> None:
    only, before = state.get(state.key(RUN_FILTER, ONLY)), chosen_quick_filters()
    state.put(SEEK, "doubt" in only and "doubt" not in before)
    filter_items(**{ONLY: ",".join(only) or None})


def _on_sort_direction() -> None:
    filter_items(**{DOWN: "1" if state.get(state.key(RUN_FILTER, DOWN)) else None})

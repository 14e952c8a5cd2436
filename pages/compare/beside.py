"""Two runs side by side: an item per row, and both runs' votes on the open cell."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import streamlit as st

from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.errors import InputError
from core.services.comparison import paired_runs, side_by_side
from core.services.comparison.paired_runs import VerdictFlip
from core.services.comparison.side_by_side import ItemPairs
from core.services.results import browsing, grid, item_view
from core.services.results.grid import GridItem
from core.text import numbers as fmt
from core.text.names import fold, visible
from pages.compare import selection as keys
from pages.compare import votes
from pages.compare.selection import ComparedRuns
from pages.ui import state
from pages.ui.grid import cells, run_cells
from pages.ui.grid.cells import ShownCell
from pages.ui.places import settling, work
from pages.ui.resources import remembered, shared_value, store
from pages.ui.text import label, one_line
from pages.ui.widgets import draw_pager, empty_state, shown_errors

PAGE, HEIGHT = 50, 560
#: The values that show all pairs, or those that differ. Any other value is the number of a flip.
ALL, DIFFER = "all", "differ"


class RunPair(NamedTuple):
    """Two runs with their rubrics, the pairs of their items, and words on the pairing.

    `cache_key` identifies this content: it differs if any of it differs.
    """

    runs: tuple[Run, Run]
    rubrics: tuple[Rubric, Rubric]
    items: ItemPairs
    pairing: str
    cache_key: tuple[object, ...]

    @property
    def same_ids(self) -> bool:
        """Return whether items are paired by their ids."""
        return all(first == second for first, second in self.items)


def paired_runs_of(chosen: ComparedRuns, pair: tuple[int, int]) -> RunPair:
    """Return both runs and the pairs of their items; raise `InputError` if there are none."""
    runs = item_view.require_run(store(), pair[0]), item_view.require_run(store(), pair[1])
    rubrics = item_view.rubric_of(store(), runs[0]), item_view.rubric_of(store(), runs[1])
    items, pairing = shared_value(
        "items of two runs", pair, lambda: side_by_side.pair_items(store(), *runs)
    )
    return RunPair(runs, rubrics, items, pairing, (*pair, *chosen.content_stamp))


def show(chosen: ComparedRuns, pair: RunPair) -> None:
    """Draw how the items are paired, which of them are shown, and the grid with the open cell."""
    flips = _flip_directions(chosen, pair)
    at = state.address_in(keys.FLIP, [DIFFER, *map(str, range(len(flips)))]) or ALL
    flip = flips[int(at)] if at.isdecimal() else None
    pairs = _shown_pairs(pair, at, flip)
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _flip_filter(flips, at)
            st.caption(label(pair.pairing), width="content")
            st.space("stretch")
            st.caption(fmt.plural(len(pairs), "item"), width="content")
        if not pairs:
            empty_state("No verdict differs", "Both runs give every item the same verdicts.")
            return
        if at != ALL:
            name = "Where two runs differ" if flip is None else direction_words(flip)
            items, second = [there for _, there in pairs], pair.runs[1]
            work.offer_work(second.id, items, name, criterion=flip and flip.criterion)
        page = min(max(1, state.address_id(state.PAGE) or 1), -(-len(pairs) // PAGE))
        st.fragment(_draw_pairs)(pair, pairs[(page - 1) * PAGE : page * PAGE], flip)
        with st.container(horizontal=True, vertical_alignment="center"):
            if len(pairs) > PAGE:
                key = state.key(keys.COMPARE_FIELD, state.PAGE)
                state.put(key, page)
                draw_pager(-(-len(pairs) // PAGE), key, _on_page)
            signs = {**cells.SIGNS, run_cells.APART: "their votes differ"}
            st.caption(label(" · ".join(f"{sign} {meaning}" for sign, meaning in signs.items())))
            st.space("stretch")
            settling.ask_name()
            st.html(cells.colour_legend(), width="content")


def direction_words(flip: VerdictFlip) -> str:
    """Return the direction of a flip in words."""
    return f"{flip.criterion}: {flip.before} → {flip.after}"


def _flip_directions(chosen: ComparedRuns, pair: RunPair) -> tuple[VerdictFlip, ...]:
    """Return the directions in which verdicts flipped; empty if the figures cannot be compared."""
    first, second = (run.id for run in pair.runs)
    try:
        paired = chosen.paired(first, second)
    except InputError:
        return ()
    return shared_value("flips", pair.cache_key, lambda: paired_runs.verdict_flips(paired))


def _shown_pairs(pair: RunPair, at: str, flip: VerdictFlip | None) -> Sequence[tuple[str, str]]:
    if flip is not None:
        return [(item, item) for item in flip.items]
    if at == ALL:
        return pair.items
    places = remembered(
        "pairs that differ",
        pair.cache_key,
        lambda: side_by_side.differing_pairs(store(), pair.runs, pair.items),
    )
    return [pair.items[place] for place in places]


def _flip_filter(flips: Sequence[VerdictFlip], at: str) -> None:
    titles = {ALL: "All items", DIFFER: "Only where the runs differ"}
    titles |= {
        str(number): one_line(direction_words(flip), 90) for number, flip in enumerate(flips)
    }
    key = state.key(keys.COMPARE_FIELD, keys.FLIP)
    state.put(key, at)
    st.selectbox(
        "Show",
        list(titles),
        key=key,
        format_func=titles.__getitem__,
        label_visibility="collapsed",
        width=320,
        on_change=_on_filter,
        args=(key,),
    )


def _on_filter(key: str) -> None:
    at = state.get(key)
    state.set_address(**{keys.FLIP: None if at == ALL else at, state.PAGE: None, keys.CELL: None})


def _on_page(key: str) -> None:
    state.set_address(**{state.PAGE: state.get(key), keys.CELL: None})


def _draw_pairs(pair: RunPair, pairs: Sequence[tuple[str, str]], flip: VerdictFlip | None) -> None:
    """Draw the grid and, if a cell is open, both runs' votes on it."""
    with shown_errors():
        lines = _grid_lines(pair, pairs)
        at = _opened_cell(lines, flip)
        with st.container(gap="xsmall"):
            for run in pair.runs:
                settling.show_last(run.id)
        with st.container(horizontal=True, gap="small", key="rs_split"):
            with st.container(key="rs_grid_side"):
                _draw_grid(pair, lines, at)
            if at is not None:
                with st.container(key="rs_cell_side"):
                    votes.show(pair.runs, *at)


def _grid_lines(pair: RunPair, pairs: Sequence[tuple[str, str]]) -> list[tuple[GridItem, GridItem]]:
    sides = []
    for run, ids in zip(pair.runs, zip(*pairs, strict=True), strict=True):
        items = grid.grid_items(store(), run, browsing.rows_of_items(store(), run.id, ids))
        by_id = {item.row.item_id: item for item in items}
        sides.append([by_id[item_id] for item_id in ids])
    return list(zip(*sides, strict=True))


def _opened_cell(
    lines: Sequence[tuple[GridItem, GridItem]], flip: VerdictFlip | None
) -> tuple[tuple[str, str], str] | None:
    """Return the ids of the open pair and its criterion; ``None`` if no cell is open.

    For a flip the first pair is open by default.
    """
    cell = state.addresses(keys.CELL)
    if not cell and flip is not None:
        cell = (state.address(state.ITEM) or flip.items[0], flip.criterion)
    for first, second in lines:
        ids = first.row.item_id, second.row.item_id
        names = map(fold, (*first.cells, *second.cells))
        if len(cell) == 2 and cell[0] in ids and fold(cell[1]) in names:
            return ids, cell[1]
    return None


def _draw_grid(
    pair: RunPair,
    lines: Sequence[tuple[GridItem, GridItem]],
    at: tuple[tuple[str, str], str] | None,
) -> None:
    sides = []
    for side, run, rubric in zip("AB", pair.runs, pair.rubrics, strict=True):
        cache_key, make = (
            browsing.results_state(store(), run),
            partial(grid.system_means, store(), run, rubric),
        )
        means = remembered("means", cache_key, make)[0]
        sides.append((rubric, means._replace(system=side)))
    criteria = {
        fold(criterion.name): criterion.name
        for of in pair.rubrics[::-1]
        for criterion in of.criteria
    }
    criterion_keys = [fold(criterion.name) for of in pair.rubrics for criterion in of.criteria]
    headings, rows, groups = run_cells.side_by_side_table(
        "Item",
        sides,
        [criteria[name] for name in dict.fromkeys(criterion_keys)],
        [(_pair_name(*line), line) for line in lines],
        by_votes=True,
    )
    cells.show_grid(
        state.key(keys.COMPARE_FIELD, "grid", *(run.id for run in pair.runs)),
        "Items by criteria, both runs",
        headings,
        [[_closed_cell(cell) for cell in cells_] for cells_ in rows],
        groups=groups,
        opened="" if at is None else run_cells.opening_name(at[0][0], at[1]),
        on_open=_on_open,
        height=HEIGHT,
    )


def _pair_name(first: GridItem, second: GridItem) -> ShownCell:
    ids = dict.fromkeys((first.row.item_id, second.row.item_id))
    titles = dict.fromkeys((first.title, second.title))
    return ShownCell(one_line(" / ".join(titles), 60), tells=visible(" beside ".join(ids)))


def _closed_cell(cell: ShownCell) -> ShownCell:
    """Return a score's cell as one that does not open, since it belongs to a single run."""
    return cell._replace(opens="") if cell.opens and len(json.loads(cell.opens)) < 2 else cell


def _on_open(message: str) -> None:
    state.set_address(**{keys.CELL: json.loads(message)})

"""The chosen runs, and the two that are compared, all kept in the address."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from core.domain.runs import Run, RunRow
from core.errors import NotFound
from core.services.results import browsing, item_view
from core.services.runs import lifecycle, sweeps
from pages.ui import state
from pages.ui.resources import shared_value, store
from pages.ui.text import label, one_line
from pages.ui.widgets import choose_one

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from core.services.comparison.paired_runs import PairedRuns


# The keys of the Compare runs page, beside those of `state` (used with `state.key`).

# URL parameters beside those of `state`: the compared figure; the pairs shown side by side (the
# number of a flip, or those that differ).
FIGURE = "figure"
FLIP = "flip"
#: The open cell, as an item of the first run and a criterion; or the value for no open cell.
CELL, CLOSED = "cell", "none"

COMPARE_FIELD = "compare_field"
COMPARE_ACT = "compare_act"


DIFFERENCES, BESIDE = "differences", "beside"
VIEWS = {DIFFERENCES: "Differences", BESIDE: "Side by side"}
LISTED, MOST = 200, 40
#: The number of other runs offered if only one was chosen.
OFFERED = 5


class ComparedRuns(NamedTuple):
    """The runs by id, the two that are compared (`None`: fewer than two), and their row."""

    runs: dict[int, Run | RunRow]
    pair: tuple[int, int] | None
    row: DeltaGenerator

    @property
    def content_stamp(self) -> tuple[object, ...]:
        """Return a value that changes whenever anything shown of the runs would."""
        runs = self.runs.values()
        return tuple((*browsing.results_state(store(), r), r.cached, r.cost) for r in runs)

    def paired(self, first: int, second: int) -> PairedRuns:
        """Return two of the runs, paired once for both the comparison and the costs."""
        from core.services.comparison import paired_runs

        cache_key = (first, second, *self.content_stamp)
        return shared_value(
            "two runs", cache_key, lambda: paired_runs.pair_runs(store(), first, second)
        )


def only_run() -> Run | None:
    """Return the only run in the address; `None` if there are several, or it does not exist."""
    if (
        len(ids := _runs_in_address()) != 1
        or state.address(state.FIRST)
        or state.address(state.SECOND)
    ):
        return None
    with contextlib.suppress(NotFound):
        return item_view.require_run(store(), ids[0])
    return None


def chosen_runs() -> ComparedRuns | None:
    """Return the chosen runs; `None` while fewer than two of them have votes."""
    from core.services.comparison import run_comparison

    newest = lifecycle.newest_with_votes(store(), LISTED)
    by_id: dict[int, Run | RunRow] = {row.id: row for row in newest}
    run_ids = _runs_in_address()
    sides = [state.address_id(name) for name in (state.FIRST, state.SECOND)]
    asked = list(dict.fromkeys([*run_ids, *(run_id for run_id in sides if run_id is not None)]))[
        :MOST
    ]
    for run_id in asked:
        if run_id not in by_id:
            try:
                by_id[run_id] = item_view.require_run(store(), run_id)
            except NotFound:
                state.report_unknown(
                    state.RUNS if run_id in run_ids else _side_of_run(run_id), run_id
                )
    if len(by_id) < 2:
        return None
    picked = [run_id for run_id in asked if run_id in by_id] or run_comparison.latest_pair(
        store(), newest
    )
    runs = {run_id: by_id[run_id] for run_id in picked}
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with row:
        pair = _pair_of_runs(runs)
        if pair is None:
            _run_picker(by_id, picked)
        else:
            with st.popover("Runs", icon=":material/checklist:"):
                _run_picker(by_id, picked)
    if pair is None and len(runs) == 1:
        _draw_other_runs(by_id, by_id[picked[0]])
    return ComparedRuns(runs, pair, row)


def _draw_other_runs(known_runs: dict[int, Run | RunRow], run: Run | RunRow) -> None:
    """Draw runs to compare a single run with: the newest over the same dataset."""
    others = [
        row for row in known_runs.values() if row.dataset_id == run.dataset_id and row.id != run.id
    ]
    if not others:
        return
    st.caption("Compare with another run over the same dataset:")
    for other in sorted(others, key=lambda row: -row.id)[:OFFERED]:
        st.button(
            label(f"{other.id}: {other.name}", 80),
            key=state.key(COMPARE_ACT, "with", other.id),
            icon=":material/compare_arrows:",
            on_click=_show_runs,
            args=(tuple(sorted((run.id, other.id))),),
        )


def _runs_in_address() -> list[int]:
    """Return the runs in the address."""
    ids = list[int]()
    for part in filter(None, (state.address(state.RUNS) or "").split(",")):
        number = state.as_id(part)
        if number is None:
            state.report_unknown(state.RUNS, part)
        else:
            ids.append(number)
    return ids


def _side_of_run(run_id: int) -> str:
    """Return the side of the comparison that the address gives a run."""
    return state.FIRST if state.address(state.FIRST) == str(run_id) else state.SECOND


def _run_picker(known_runs: dict[int, Run | RunRow], chosen_ids: list[int]) -> None:
    # The key includes the picked runs: a browser that folded the list would send its old value.
    key = state.key(COMPARE_FIELD, state.RUNS, *chosen_ids)
    state.put(key, chosen_ids)
    st.multiselect(
        "Runs",
        list(known_runs),
        key=key,
        format_func=lambda run_id: f"{run_id}: {one_line(known_runs[run_id].name, 70)}",
        max_selections=MOST,
        placeholder="Choose two runs or more",
        on_change=_on_runs,
        args=(key,),
    )
    sweep_runs = _sweep_of(chosen_ids)
    if sweep_runs and set(sweep_runs) != set(chosen_ids):
        st.button(
            f"All {len(sweep_runs)} runs of this sweep",
            key=state.key(COMPARE_ACT, "sweep"),
            type="tertiary",
            icon=":material/select_all:",
            on_click=_show_runs,
            args=(sweep_runs,),
        )


def _sweep_of(chosen_ids: list[int]) -> tuple[int, ...]:
    if not chosen_ids:
        return ()
    return sweeps.runs_of_sweep(store(), item_view.require_run(store(), chosen_ids[0]))


def _pair_of_runs(runs: dict[int, Run | RunRow]) -> tuple[int, int] | None:
    if len(runs) < 2:
        return None
    ids = list(runs)
    first = _valid_run(state.FIRST, ids, ids[0])
    second = _valid_run(
        state.SECOND, [i for i in ids if i != first], next(i for i in ids if i != first)
    )
    for words, name, value in (("A", state.FIRST, first), ("B", state.SECOND, second)):
        options = ids if name == state.FIRST else [run_id for run_id in ids if run_id != first]
        key = state.key(COMPARE_FIELD, name)
        state.put(key, value)
        st.selectbox(
            words,
            options,
            key=key,
            format_func=partial(_side_caption, words, runs),
            label_visibility="collapsed",
            width=300,
            on_change=_on_side,
            args=(name, key),
        )
    st.button(
        "Swap",
        key=state.key(COMPARE_ACT, "swap"),
        icon=":material/swap_horiz:",
        on_click=_on_swap,
        args=(first, second),
    )
    return first, second


def _side_caption(side: str, runs: Mapping[int, Run | RunRow], run_id: int) -> str:
    return f"{side}: {run_id}, {one_line(runs[run_id].name, 60)}"


def _valid_run(name: str, ids: list[int], otherwise: int) -> int:
    requested = state.address_id(name)
    return requested if requested is not None and requested in ids else otherwise


def chosen_view(chosen: ComparedRuns) -> str:
    """Draw the two views at the end of the runs' row; return the current view."""
    requested = BESIDE if state.address(FLIP) else DIFFERENCES
    now = state.address_in(state.VIEW, VIEWS) or requested
    key = state.key(COMPARE_FIELD, state.VIEW)
    state.put(key, now)
    with chosen.row:
        st.space("stretch")
        choose_one("View", VIEWS, key=key, on_change=_on_view, args=(key,))
    return now


def _on_view(key: str) -> None:
    _forget_sides()
    state.set_address(**{state.VIEW: state.get(key)})


def show_flip_items(flip: int) -> None:
    """Callback: show the items of a flip side by side."""
    _forget_sides()
    state.set_address(**{state.VIEW: BESIDE, FLIP: flip})


def close_cell() -> None:
    """Callback: close the open cell, including one that a flip opened."""
    state.set_address(**{CELL: CLOSED})


def _forget_sides() -> None:
    state.set_address(**dict.fromkeys((FLIP, state.PAGE, state.ITEM, CELL)))


def _on_runs(key: str) -> None:
    _show_runs(tuple(state.get(key) or ()))


def _show_runs(runs: tuple[int, ...]) -> None:
    _forget_sides()
    state.set_address(
        **{state.RUNS: ",".join(map(str, runs)) or None, state.FIRST: None, state.SECOND: None}
    )


def _on_side(name: str, key: str) -> None:
    _forget_sides()
    state.set_address(**{name: state.get(key)})


def _on_swap(first: int, second: int) -> None:
    _forget_sides()
    state.set_address(**{state.FIRST: second, state.SECOND: first})

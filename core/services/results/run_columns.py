"""A run's votes and verdicts as columns, kept with the run so that no page reads them one by one.

A column has a value for each of its ``rows``: places of items in the run's order. Where a vote or
a verdict names no option, the option is ``NO_OPTION``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.runs import RunRow
from core.domain.votes import OrderCount
from core.store.runs.kept import MANY, Columns
from core.store.store import Store

#: Says how columns are written; another number, and none that was kept before is read.
FORM = 1
NO_OPTION = -2

Numbers = npt.NDArray[Any]


class AnswerColumn(NamedTuple):
    """What a judge answered to a criterion in one replicate."""

    criterion: str
    judge: str
    replicate: int
    rows: Numbers
    options: Numbers


class CellColumn(NamedTuple):
    """The verdicts on a criterion. ``judged`` is the option that the votes gave, ``option`` what
    stands now: people may have settled another one. Numbers are NaN where there is none.
    """

    criterion: str
    rows: Numbers
    option: Numbers
    judged: Numbers
    abstained: Numbers
    value: Numbers
    entropy: Numbers
    margin: Numbers
    votes: Numbers
    abstentions: Numbers


def vote_columns(store: Store, run: RunRow) -> list[AnswerColumn]:
    """All votes of a run, by criterion, judge and replicate."""

    def read() -> Columns:
        place = _places(store, run.id)
        head, arrays = [], dict[str, Numbers]()
        for at, found in enumerate(store.votes.columns(run.id)):
            head.append([found.criterion, found.judge, found.replicate])
            rows = _rows(place, found.items)
            in_order = np.argsort(rows, kind="stable")
            arrays |= _placed(at, rows[in_order], run.items)
            arrays[f"options {at}"] = _small(_options(found.options)[in_order])
        return Columns({"columns": head}, arrays)

    kept = store.kept.made(f"votes of run {run.id}, form {FORM}", run.votes, read, keep=_keep(run))
    return [
        AnswerColumn(
            criterion,
            judge,
            replicate,
            _rows_of(kept, at, run.items),
            kept.arrays[f"options {at}"].astype(np.int64),
        )
        for at, (criterion, judge, replicate) in enumerate(kept.head["columns"])
    ]


_FIELDS = CellColumn._fields[2:]


def cell_columns(store: Store, run: RunRow) -> list[CellColumn]:
    """All verdicts of a run, by criterion."""
    stamp = store.results.derived(run.id)

    def read() -> Columns:
        place = _places(store, run.id)
        head, arrays = [], dict[str, Numbers]()
        for at, (criterion, items, *columns) in enumerate(store.results.cell_columns(run.id)):
            head.append(criterion)
            rows = _rows(place, items)
            in_order = np.argsort(rows, kind="stable")
            arrays |= _placed(at, rows[in_order], run.items)
            for name, values in zip(_FIELDS, columns, strict=True):
                whole = name in ("option", "judged")
                column = _options(values) if whole else np.array(values, np.float64)
                arrays |= _told(f"{name} {at}", column[in_order])
        return Columns({"columns": head}, arrays)

    kept = store.kept.made(f"cells of run {run.id}, form {FORM}", stamp, read, keep=_keep(run))
    return [
        CellColumn(
            criterion,
            _rows_of(kept, at, run.items),
            *(_untold(kept, f"{name} {at}") for name in _FIELDS),
        )
        for at, criterion in enumerate(kept.head["columns"])
    ]


def orders_shown(store: Store, run: RunRow, replicates: int) -> list[OrderCount]:
    """How often each judge was shown which order and chose what, in the run's own replicates."""

    def read() -> Columns:
        found = store.votes.orders_shown(run.id, replicates)
        return Columns({"orders": found}, {})

    about = f"orders shown in run {run.id}, form {FORM}"
    kept = store.kept.made(about, run.votes, read, keep=_keep(run))
    return [
        OrderCount(judge, criterion, option, tuple(order), times)
        for judge, criterion, option, order, times in kept.head["orders"]
    ]


def keep(store: Store, run_id: int) -> None:
    """Have the columns of a run ready before anybody opens a page on it."""
    run = store.runs.get(run_id)
    if _keep(run):
        vote_columns(store, run)
        cell_columns(store, run)
        orders_shown(store, run, run.plan.replicates)


def _keep(run: RunRow) -> bool:
    """Whether it is worth it: of many items, and votes do not come all the time."""
    return run.items >= MANY and not run.active


def _places(store: Store, run_id: int) -> dict[str, int]:
    return {item_id: place for place, item_id in enumerate(store.runs.item_ids(run_id))}


def _rows(place: dict[str, int], items: Sequence[str]) -> Numbers:
    return np.fromiter(map(place.__getitem__, items), np.int64, len(items))


def _options(options: Sequence[int | None]) -> Numbers:
    numbers = np.array(options, np.float64)
    return np.where(np.isnan(numbers), NO_OPTION, numbers).astype(np.int64)


# How a column is written: rows only where it has not one for every item, numbers as the places of
# the distinct ones where these are few, everything in as few bytes as hold it.


def _placed(at: int, rows: Numbers, items: int) -> dict[str, Numbers]:
    return {} if len(rows) == items else {f"rows {at}": rows.astype(np.int32)}


def _rows_of(kept: Columns, at: int, items: int) -> Numbers:
    found = kept.arrays.get(f"rows {at}")
    return np.arange(items) if found is None else found.astype(np.int64)


def _small(numbers: Numbers) -> Numbers:
    kind = np.int8 if len(numbers) and numbers.max() < 127 else np.int32
    return numbers.astype(kind)


def _told(name: str, numbers: Numbers) -> dict[str, Numbers]:
    distinct, place = np.unique(numbers, return_inverse=True)
    if len(distinct) > np.iinfo(np.uint8).max:
        return {name: numbers}
    return {f"{name} of": distinct, name: place.astype(np.uint8)}


def _untold(kept: Columns, name: str) -> Numbers:
    numbers, distinct = kept.arrays[name], kept.arrays.get(f"{name} of")
    return numbers if distinct is None else distinct[numbers]

"""A run's votes and verdicts as columns, stored with the run so that pages need not read each vote.

A column has a value for each of its ``rows``: positions of items in the run's order. Votes and
verdicts without an option have ``NO_OPTION``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.domain.votes import OrderCount
from core.services.datasets import item_columns
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.store.runs.kept import MANY, Columns
from core.store.store import Store

#: The format of columns; stored columns of another format are ignored.
FORM = 2
NO_LABEL, NO_OPTION = -1, -2

Numbers = npt.NDArray[Any]


class AnswerColumn(NamedTuple):
    """A judge's answers to a criterion in a replicate."""

    criterion: str
    judge: str
    replicate: int
    rows: Numbers
    options: Numbers


class CellColumn(NamedTuple):
    """The verdicts on a criterion. ``judged`` is the option by the votes, ``option`` the option in
    force, which people may have settled. Missing numbers are NaN.
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


#: The items of a run in order: their ids, and their positions in the dataset.
RunItems = tuple[tuple[str, ...], Numbers]

#: The key is the hash of the plan, which determines the items.
_LATEST: item_columns.SourceCache[RunItems] = item_columns.SourceCache()


def items_of_run(store: Store, run: RunRow) -> RunItems:
    """Return the items of a run, which never change; callers must not modify the result."""
    return _LATEST.get(run.plan_hash, lambda: _read_items(store, run))


def ids_of_run(store: Store, run: RunRow) -> tuple[str, ...]:
    """Return the ids of a run's items in order."""
    ids, _ = items_of_run(store, run)
    return ids


#: The row of every item by its id; the key is the hash of a plan.
_ROWS: item_columns.SourceCache[dict[str, int]] = item_columns.SourceCache()


def places_of_items(store: Store, run: RunRow) -> dict[str, int]:
    """Return the row of every item of a run by its id; callers must not modify the result."""
    return _ROWS.get(
        run.plan_hash, lambda: {item: row for row, item in enumerate(ids_of_run(store, run))}
    )


def _read_items(store: Store, run: RunRow) -> RunItems:
    columns = item_columns.columns_of_version(store, run.dataset_version_id)

    def read_columns() -> Columns:
        places = columns.rows(store.runs.item_ids(run.id))
        return Columns({}, {"places": places.astype(np.int32)})

    stored = store.kept.cached_columns(
        f"items of run {run.id}", FORM, read_columns, keep=run.items >= MANY
    )
    places = stored.arrays["places"].astype(np.int64)
    if np.array_equal(places, np.arange(len(columns.ids))):
        return columns.ids, places
    return tuple(columns.ids[at] for at in places.tolist()), places


class ScoreColumns(NamedTuple):
    """The results of a run's items: scores, NaN if missing; outcomes as indices into ``OUTCOMES``;
    whether each is complete, and needs a person; and its number of votes.
    """

    score: Numbers
    outcome: Numbers
    complete: Numbers
    review: Numbers
    votes: Numbers

    @property
    def ungraded(self) -> int:
        """Return how many items were judged but have no grade, because too little was assessed."""
        return int((np.isnan(self.score) & (self.votes > 0)).sum())


#: The last entry is for items without an outcome.
OUTCOMES = ("pass", "fail", "review", None)


def score_columns(store: Store, run: RunRow) -> ScoreColumns:
    """Return the scores of a run's items."""
    stamp = store.results.derived(run.id)

    def read_columns() -> Columns:
        scored = store.results.scored(run.id)
        columns = zip(*scored, strict=True) if scored else ((),) * 5
        score, outcome, complete, review, votes = columns
        arrays = {
            **_encode_column("score", np.array(score, np.float64)),
            "outcome": np.array([OUTCOMES.index(name) for name in outcome], np.int8),
            "complete": np.array(complete, np.bool_),
            "review": np.array(review, np.bool_),
            "votes": np.array(votes, np.int32),
        }
        return Columns({}, arrays)

    stored = store.kept.cached_columns(
        f"scores of run {run.id}, form {FORM}", stamp, read_columns, keep=_worth_storing(run)
    )
    return ScoreColumns(
        _omitted_numbers(stored, "score"), *(stored.arrays[n] for n in ScoreColumns._fields[1:])
    )


def vote_columns(store: Store, run: RunRow) -> list[AnswerColumn]:
    """Return all votes of a run, by criterion, judge and replicate."""

    def read_columns() -> Columns:
        place = places_of_items(store, run)
        head, arrays = [], dict[str, Numbers]()
        for index, (*names, ids, options) in enumerate(store.votes.columns(run.id)):
            head.append(names)
            rows = _row_numbers(place, ids)
            in_order = np.argsort(rows, kind="stable")
            arrays |= _numbers_by_place(index, rows[in_order], run.items)
            arrays[f"options {index}"] = _smallest_type(_option_numbers(options)[in_order])
        return Columns({"columns": head}, arrays)

    stored = store.kept.cached_columns(
        f"votes of run {run.id}, form {FORM}", run.votes, read_columns, keep=_worth_storing(run)
    )
    return [
        AnswerColumn(
            criterion,
            judge,
            replicate,
            _column_rows(stored, index, run.items),
            stored.arrays[f"options {index}"].astype(np.int64),
        )
        for index, (criterion, judge, replicate) in enumerate(stored.head["columns"])
    ]


_FIELDS = CellColumn._fields[2:]


def cell_columns(store: Store, run: RunRow) -> list[CellColumn]:
    """Return all verdicts of a run, by criterion."""
    stamp = store.results.derived(run.id)

    def read_columns() -> Columns:
        place = places_of_items(store, run)
        head, arrays = [], dict[str, Numbers]()
        verdicts = store.results.cell_columns(run.id)
        for index, (criterion, (items, *columns)) in enumerate(verdicts.items()):
            head.append(criterion)
            rows = _row_numbers(place, items)
            in_order = np.argsort(rows, kind="stable")
            arrays |= _numbers_by_place(index, rows[in_order], run.items)
            for name, values in zip(_FIELDS, columns, strict=True):
                integral = name in ("option", "judged")
                column = _option_numbers(values) if integral else np.array(values, np.float64)
                arrays |= _encode_column(f"{name} {index}", column[in_order])
        return Columns({"columns": head}, arrays)

    stored = store.kept.cached_columns(
        f"cells of run {run.id}, form {FORM}", stamp, read_columns, keep=_worth_storing(run)
    )
    return [
        CellColumn(
            criterion,
            _column_rows(stored, index, run.items),
            *(_omitted_numbers(stored, f"{name} {index}") for name in _FIELDS),
        )
        for index, criterion in enumerate(stored.head["columns"])
    ]


def label_columns(store: Store, run: RunRow, *, settled: bool = True) -> dict[str, Numbers]:
    """Return the labels of a run's items: by criterion, one option index per item.

    An item has ``NO_LABEL`` without a label, ``NO_OPTION`` if the criterion has no such option.
    With ``settled``, people's settlements override the dataset's labels; ``NO_LABEL`` if people
    could not assess the item.
    """
    labels: dict[str, Numbers] = {}
    for name, rows, option in _label_values(store, run, settled=settled):
        column = labels.setdefault(name, np.full(run.items, NO_LABEL))
        column[rows] = NO_OPTION if option is None else option
    return labels


def _label_values(
    store: Store, run: RunRow, *, settled: bool
) -> Iterator[tuple[str, Any, int | None]]:
    """Yield criteria, rows, and these rows' option; later entries override earlier ones."""
    rubric, version = scored_rubric(store, run), run.dataset_version_id
    columns, (ids, places) = (
        item_columns.columns_of_version(store, version),
        items_of_run(store, run),
    )
    criteria = {criterion.name: criterion for criterion in rubric.criteria}
    # The row of each item of the dataset; -1 for items with their own rubric.
    row_of = np.full(len(columns.ids), -1)
    row_of[places] = np.arange(len(ids))
    with_own_rubric = [
        columns.ids[index] for index in np.flatnonzero(columns.own & (row_of >= 0)).tolist()
    ]
    row_of[columns.own] = -1
    for name, word, holders in columns.labels:
        rows = row_of[holders]
        if name in criteria and (rows >= 0).any():
            yield name, rows[rows >= 0], criteria[name].index_of(word)
    truth = store.settled.truth(version) if settled else {}
    for item_id, labels in truth.items():
        row = int(row_of[columns.place[item_id]])
        for name in labels.keys() & criteria.keys() if row >= 0 else ():
            label = labels[name]
            yield name, row, NO_LABEL if label is None else criteria[name].index_of(label.label)
    if with_own_rubric:
        place = {item_id: row for row, item_id in enumerate(ids)}
        for item in resolved_items(store, version, with_own_rubric, upto=None if settled else 0):
            for criterion in rubric_in_force(item, rubric).criteria:
                if criterion.name in item.labels:
                    yield criterion.name, place[item.id], item.truth(criterion)


def own_rubrics(store: Store, run: RunRow) -> dict[str, Rubric]:
    """Return the rubrics of items with their own; read only if there are any."""
    rubrics = item_columns.columns_of_version(store, run.dataset_version_id).own
    return store.vote_statistics.own_rubrics(run.id) if rubrics.any() else {}


def kinds_of(
    store: Store, run: RunRow
) -> tuple[tuple[tuple[str, tuple[str, ...], str], ...], Numbers]:
    """Return the distinct (system, tags, split), and the index of each run item among them."""
    columns = item_columns.columns_of_version(store, run.dataset_version_id)
    _, places = items_of_run(store, run)
    return columns.kinds, columns.kind[places]


def orders_shown(store: Store, run: RunRow, replicates: int) -> list[OrderCount]:
    """Return how often each judge chose which option under which order of options.

    Flipped replicates are excluded.
    """

    def read_columns() -> Columns:
        orders = store.votes.orders_shown(run.id, replicates)
        return Columns({"orders": orders}, {})

    subject = f"orders shown in run {run.id}, form {FORM}"
    stored = store.kept.cached_columns(subject, run.votes, read_columns, keep=_worth_storing(run))
    return [
        OrderCount(judge, criterion, option, tuple(order), times)
        for judge, criterion, option, order, times in stored.head["orders"]
    ]


def store_columns(store: Store, run_id: int) -> None:
    """Store the columns of a run before a page needs them."""
    run = store.runs.get(run_id)
    if _worth_storing(run):
        vote_columns(store, run)
        cell_columns(store, run)
        score_columns(store, run)
        orders_shown(store, run, run.plan.replicates)


def _worth_storing(run: RunRow) -> bool:
    """Return whether storing is worthwhile: the run has many items, and votes are not arriving."""
    return run.items >= MANY and not run.active


def _row_numbers(place: dict[str, int], items: Sequence[str]) -> Numbers:
    return np.fromiter(map(place.__getitem__, items), np.int64, len(items))


def _option_numbers(options: Sequence[int | None]) -> Numbers:
    numbers = np.array(options, np.float64)
    return np.where(np.isnan(numbers), NO_OPTION, numbers).astype(np.int64)


# The format of a column: rows only if some items are missing, numbers as indices into the distinct
# values if those are few, everything in as few bytes as possible.


def _numbers_by_place(column: int, rows: Numbers, items: int) -> dict[str, Numbers]:
    return {} if len(rows) == items else {f"rows {column}": rows.astype(np.int32)}


def _column_rows(columns: Columns, column: int, items: int) -> Numbers:
    rows = columns.arrays.get(f"rows {column}")
    return np.arange(items) if rows is None else rows.astype(np.int64)


def _smallest_type(numbers: Numbers) -> Numbers:
    kind = np.int8 if len(numbers) and numbers.max() < 127 else np.int32
    return numbers.astype(kind)


def _encode_column(name: str, numbers: Numbers) -> dict[str, Numbers]:
    distinct, place = np.unique(numbers, return_inverse=True)
    if len(distinct) > np.iinfo(np.uint8).max:
        return {name: numbers}
    return {f"{name} of": distinct, name: place.astype(np.uint8)}


def _omitted_numbers(columns: Columns, name: str) -> Numbers:
    numbers, distinct = columns.arrays[name], columns.arrays.get(f"{name} of")
    return numbers if distinct is None else distinct[numbers]

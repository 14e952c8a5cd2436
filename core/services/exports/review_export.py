"""What was said about a run's cells, by whomever, as rows: any time, half-way too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from core.domain.review_records import EventRow
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.source.csv_writer import csv_bytes, csv_text
from core.services.exports.judgement_rows import graded, reviews
from core.services.results.scored_items import effective, resolved_items, scored_rubric, with_truth
from core.store.store import Store

Row = dict[str, Any]


def long_rows(store: Store, run_id: int) -> Iterator[Row]:
    """One row per judgement: every vote and failure of the run, every verdict of a person."""
    return reviews(graded(store, run_id))


def wide_rows(store: Store, run_id: int) -> Iterator[Row]:
    """One row per item: score, outcome, and per criterion the verdict, its rule, and who settled.

    All rows have the same columns; those of criteria that an item does not have are empty.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id), upto=0)
    rubrics = {item.id: effective(item, rubric) for item in items}
    names = list(dict.fromkeys(c.name for each in rubrics.values() for c in each.criteria))
    settled = {(s.item_id, s.criterion): s for s in store.settled.of_run(run_id)}
    columns = [f"{name} {what}" for name in names for what in ("verdict", "rule", "provenance")]
    for item in items:
        row = store.results.item(run_id, item.id)
        found: Row = {"item_id": item.id, "split": item.split or ""}
        found |= {"score": row.score, "outcome": row.outcome or "", **dict.fromkeys(columns, "")}
        for cell in store.results.cells(run_id, item.id):
            criterion = rubrics[item.id].criterion(cell.criterion)
            option = None if cell.option is None else criterion.choices[cell.option].label
            decided = settled.get((item.id, cell.criterion))
            found[f"{cell.criterion} verdict"] = option or "CANNOT_ASSESS"
            found[f"{cell.criterion} rule"] = cell.rule
            if decided is not None:
                found[f"{cell.criterion} provenance"] = f"{decided.provenance} ({decided.state})"
        yield found


def event_rows(store: Store, run_id: int, queue_id: int | None = None) -> Iterator[Row]:
    """The record of a run, or of one of its queues, event by event."""
    return map(asdict, store.events.of_run(run_id, queue_id))


def timeline(store: Store, run_id: int, item_id: str, criterion: str) -> list[EventRow]:
    """What happened to a cell, and to its item as a whole, in its order."""
    return store.events.of_cell(run_id, item_id, criterion)


def labelled_dataset(store: Store, version_id: int) -> str:
    """A dataset version as JSON lines, with the labels that people settled laid over its own."""
    whole = store.datasets.load(version_id)
    truth = store.settled.truth(version_id)
    items = tuple(with_truth(item, truth.get(item.id, {})) for item in whole.items)
    return dump_dataset(whole.model_copy(update={"items": items}))


def as_jsonl(rows: Iterable[Row]) -> str:
    """Rows as JSON lines; exactly what was said."""
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def as_csv(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    r"""Rows as CSV, with these columns or those of the first row.

    Texts that a spreadsheet would run as a formula get an apostrophe in front; JSON lines are
    exact.

    >>> as_csv([{"a": "=1+1", "b": -1}])
    "a,b\n'=1+1,-1\n"
    """
    kept = list(rows)
    heads = tuple(columns or (kept[0] if kept else ()))
    return csv_text(heads, ([row[name] for name in heads] for row in kept))


def csv_file(rows: Iterable[Row]) -> bytes:
    """Rows as a CSV file for spreadsheets."""
    return csv_bytes(as_csv(rows))

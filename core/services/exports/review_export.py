"""What was said about a run's cells, by whomever, as rows: any time, half-way too."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.review import Given
from core.domain.review_records import EventRow, QueuedCell, VerdictRow
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.domain.votes import Cell, FailureRow, VoteRow
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.source.csv_writer import csv_bytes, csv_text
from core.identity import text_hash
from core.services.results.scored_items import effective, resolved_items, scored_rubric, with_truth
from core.store.store import Store
from core.text.quotes import find_quote

LONG = (
    "item_id",
    "submission_id",
    "criterion_id",
    "rubric_version",
    "rater_type",
    "rater_id",
    "vote",
    "vote_value",
    "status",
    "rationale",
    "evidence_quote",
    "evidence_start",
    "evidence_end",
    "first_vote",
    "revealed",
    "ms_active",
    "round",
    "split",
    "stratum",
    "inclusion_prob",
    "created_at",
)
Row = dict[str, Any]


def long_rows(store: Store, run_id: int, *, names: bool = True) -> Iterator[Row]:
    """One row per judgement: every vote and failure of the run, every verdict of a person.

    ``round`` is the replicate of a judge from 1; for people 1, and 2 where they resolved.
    ``status``: valid, abstained, failed; of people also ``unconfirmed``. ``stratum`` and
    ``inclusion_prob`` are those of the newest queue that holds the cell. ``names=False`` gives
    people numbers.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    queued: dict[tuple[str, str], QueuedCell] = {}
    said: dict[str, list[VerdictRow]] = {}
    for queue in sorted(queues, key=lambda q: q.id):
        for cell in store.queues.cells(queue.id):
            queued[cell.item_id, cell.criterion] = cell
        for verdict in store.verdicts.of_queue(queue.id):
            said.setdefault(verdict.item_id, []).append(verdict)
    judges = {judge.name: judge for judge in run.panel.judges}
    called = _Called(names)
    for item in resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id), upto=0):
        maker = _Rows(run, item, effective(item, rubric), queued)
        failed = (f for f in store.votes.failures_of(run_id, item.id) if f.open)
        yield from map(maker.failure, failed)
        for vote in store.votes.for_item(run_id, item.id):
            yield maker.vote(vote, judges[vote.cell.judge])
        times = {e.id: e for e in store.events.of_cell(run_id, item.id)} if item.id in said else {}
        for verdict in said.get(item.id, ()):
            yield maker.verdict(verdict, called(verdict.reviewer), times[verdict.first_event])


class _Called:
    """How people are called: by their names, or by numbers in the order in which they appear."""

    def __init__(self, names: bool) -> None:
        self._names, self._numbers = names, dict[str, int]()

    def __call__(self, name: str) -> str:
        if self._names:
            return name
        return f"person {self._numbers.setdefault(name, len(self._numbers) + 1)}"


class _Rows:
    """Makes the rows of one item."""

    def __init__(
        self, run: Run, item: Item, rubric: Rubric, queued: Mapping[tuple[str, str], QueuedCell]
    ) -> None:
        self._run, self._item, self._queued = run, item, queued
        self._criteria = {criterion.name: criterion for criterion in rubric.criteria}
        self._submission = text_hash(item.text)

    def vote(self, vote: VoteRow, judge: Judge) -> Row:
        """A judge's vote; evidence is where its first quote stands in the output."""
        quote = vote.evidence[0] if vote.evidence else ""
        span = find_quote(self._item.output, quote) or ("", "")
        return self._row(
            vote.cell.criterion,
            rater_type="human" if getattr(judge, "rater_kind", "llm") == "human" else "judge",
            rater_id=judge.name,
            **self._option(vote.cell.criterion, vote.option),
            status="abstained" if vote.abstained else "valid",
            rationale=vote.reason,
            evidence_quote=quote,
            evidence_start=span[0],
            evidence_end=span[1],
            round=vote.cell.replicate + 1,
            created_at=vote.created,
        )

    def failure(self, failure: FailureRow) -> Row:
        """A failure: no vote, and why."""
        cell: Cell = failure.cell
        return self._row(
            cell.criterion,
            rater_type="judge",
            rater_id=cell.judge,
            status="failed",
            rationale=f"{failure.kind}: {failure.message}",
            round=cell.replicate + 1,
            created_at=failure.created,
        )

    def verdict(self, verdict: VerdictRow, name: str, event: EventRow) -> Row:
        """A person's verdict: the confirmed one, with the first one beside it."""
        given = verdict.final or verdict.first
        status = "valid" if given.option is not None else "abstained"
        span = given.evidence[0] if given.evidence else ("", "", "")
        return self._row(
            verdict.criterion,
            rater_type="adjudicator" if verdict.part == "resolve" else "human",
            rater_id=name,
            **self._option(verdict.criterion, given.option),
            status=status if verdict.final else "unconfirmed",
            rationale=_words(given),
            evidence_quote=span[2],
            evidence_start=span[0],
            evidence_end=span[1],
            first_vote=self._option(verdict.criterion, verdict.first.option)["vote"],
            revealed=verdict.revealed or "",
            ms_active="" if event.ms_active is None else event.ms_active,
            round=2 if verdict.part == "resolve" else 1,
            created_at=event.ts,
        )

    def _option(self, name: str, option: int | None) -> Row:
        criterion: Criterion = self._criteria[name]
        if option is None:
            return {"vote": "CANNOT_ASSESS", "vote_value": ""}
        value = criterion.values[option]
        label = criterion.choices[option].label
        return {"vote": label, "vote_value": "" if value is None else value}

    def _row(self, criterion: str, **said: Any) -> Row:
        cell = self._queued.get((self._item.id, criterion))
        return dict.fromkeys(LONG, "") | {
            "item_id": self._item.id,
            "submission_id": self._submission,
            "criterion_id": criterion,
            "rubric_version": self._run.scored_number,
            "split": self._item.split or "",
            "stratum": "" if cell is None else cell.stratum,
            "inclusion_prob": "" if cell is None else cell.chance,
            **said,
        }


def _words(given: Given) -> str:
    return ": ".join(part for part in (given.why, given.note) if part)


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
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def as_csv(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    r"""Rows as CSV, with these columns or those of the first row.

    Texts that a spreadsheet would run as a formula get an apostrophe in front; JSON lines are
    exact.

    >>> as_csv([{"a": "=1+1", "b": -1}])
    "a,b\n'=1+1,-1\n"
    """
    kept = list(rows)
    heads = tuple(columns or (kept[0] if kept else ()))
    return csv_text(heads, ([_plain(row[name]) for name in heads] for row in kept))


def csv_file(rows: Iterable[Row]) -> bytes:
    """Rows as a CSV file for spreadsheets."""
    return csv_bytes(as_csv(rows))


def _plain(value: Any) -> Any:
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return value

"""A run as rows, one per item, verdict or judgement, with the facts of its review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.domain.dataset import Item
from core.domain.review import SettledCell
from core.domain.review_records import EventRow, QueuedCell, VerdictRow
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunItemRow
from core.domain.votes import FailureRow, Verdict, VoteRow
from core.formats.votes.imported import PROBABILITY
from core.services.access.blindness import require_open
from core.services.results.item_view import averaged_in_words, choice_label
from core.services.results.scored_items import resolved_items
from core.services.results.verdicts import RubricOf, rubric_lookup
from core.services.review.adjudication import label_of
from core.store.review.settled import answer_from_data
from core.store.store import Store
from core.text.quotes import find_quote

# The facts that a review adds to exported rows: how cells were selected, and how they were decided.

Row = dict[str, str | int | float | bool | None]


@dataclass(frozen=True)
class Reviews:
    """The queues' cells, newest queue first, people's verdicts by queue, and their events."""

    cells: Mapping[tuple[str, str], QueuedCell]
    verdicts: Mapping[tuple[int, str, str], tuple[VerdictRow, ...]]
    events: Mapping[int, EventRow]

    def drawn(self, item_id: str, criterion: str) -> Row:
        """Return why a cell was queued, and its chance; empty if it was not queued."""
        cell = self.cells.get((item_id, criterion))
        if cell is None:
            return {}
        return {"stratum": cell.stratum, "inclusion_prob": cell.chance}

    @cached_property
    def _earliest(self) -> Mapping[tuple[int | None, str, str | None, str, str], EventRow]:
        """Return each person's first verdict on each cell, withdrawn or not."""
        events = [event for event in self.events.values() if event.action == "verdict"]
        return {
            (event.queue_id, event.item_id, event.criterion, event.part, event.actor): event
            for event in sorted(events, key=lambda event: -event.id)
        }

    def _blind(self, verdict: VerdictRow, criterion: Criterion) -> str:
        """Return a person's verdict before they saw the votes; empty if they had seen them."""
        event = self.events[verdict.first_event]
        first = self._earliest[
            event.queue_id, event.item_id, event.criterion, event.part, event.actor
        ]
        if first.mode == "assisted":
            return ""
        return label_of(criterion, answer_from_data(first.after or {})) or "Cannot assess"

    def decided(self, settled: SettledCell, criterion: Criterion | None) -> Row:
        """Return how a cell was settled: by which verdicts, and when.

        If several people agreed, it has their first verdicts in the order of names, their total
        time, and when the last of them saw the votes.
        """
        event = self.events[settled.event_id]
        row: Row = {
            "created_at": event.ts,
            "round": 2 if settled.provenance == "adjudicated" else 1,
        }
        if event.queue_id is None:
            return row
        place = (event.queue_id, settled.item_id, settled.criterion)
        verdicts = [v for v in self.verdicts.get(place, ()) if _is_settled_by(v, settled)]
        return row | self.given(verdicts, criterion)

    def given(self, verdicts: Sequence[VerdictRow], criterion: Criterion | None) -> Row:
        """Return these people's first verdicts, when they saw the votes, their time, and a
        quote.
        """
        if not verdicts or criterion is None:
            return {}
        times = [self.events[v.first_event].ms_active for v in verdicts]
        known_times = [ms for ms in times if ms is not None]
        revealed = [v.revealed for v in verdicts if v.revealed]
        firsts = [self._blind(v, criterion) for v in verdicts]
        row: Row = {
            "first_vote": ", ".join(filter(None, firsts)),
            "revealed": max(revealed) if revealed else None,
            "ms_active": sum(known_times) if known_times else None,
        }
        spans = (verdicts[0].final or verdicts[0].first).evidence
        if spans:
            start, end, quote = spans[0]
            row |= {"evidence_quote": quote, "evidence_start": start, "evidence_end": end}
        return row


def _is_settled_by(verdict: VerdictRow, settled: SettledCell) -> bool:
    """Return whether the cell was settled by this verdict."""
    part = "resolve" if settled.provenance == "adjudicated" else "review"
    return verdict.part == part and verdict.reviewer in settled.people and verdict.final is not None


def reviews_of(store: Store, run_id: int) -> Reviews:
    """Return people's acts on the cells of a run, read once."""
    cells: dict[tuple[str, str], QueuedCell] = {}
    verdicts: dict[tuple[int, str, str], tuple[VerdictRow, ...]] = {}
    for queue in store.queues.all_of_run(run_id):
        for cell in store.queues.cells(queue.id):
            cells[cell.item_id, cell.criterion] = cell
        for verdict in store.verdicts.of_queue(queue.id):
            place = (queue.id, verdict.item_id, verdict.criterion)
            verdicts[place] = (*verdicts.get(place, ()), verdict)
    return Reviews(cells, verdicts, {e.id: e for e in store.events.of_run(run_id)})


LONG = (
    *("item_id", "submission_id", "criterion_id", "rubric_version", "rater_type", "rater_id"),
    *("vote", "vote_value", "status", "rationale", "evidence_quote", "evidence_start"),
    *("evidence_end", "first_vote", "revealed", "ms_active", "round", "split", "stratum"),
    *("inclusion_prob", "created_at", "replicate", "confidence", "shown_order"),
)


@dataclass(frozen=True)
class Graded:
    """A run with all data that exports need, read once."""

    store: Store
    run: Run
    rubric: Rubric
    rubric_hash: str
    items: tuple[Item, ...]
    rows: tuple[RunItemRow, ...]
    cells: Mapping[tuple[str, str], Verdict]
    settled: tuple[SettledCell, ...]
    reviews: Reviews

    @cached_property
    def rubric_of(self) -> RubricOf:
        """Return the rubric that applies to an item id."""
        return rubric_lookup(self.rubric, self.items)

    @property
    def kinds(self) -> dict[str, str]:
        """Return per judge whether it is an llm, offline or human."""
        return {judge.name: judge.rater_kind for judge in self.run.panel.judges}

    @cached_property
    def certainty_recorded(self) -> tuple[bool, bool]:
        """Return whether votes state a confidence, and whether they state options' chances."""
        return self.store.votes.certainty_recorded(self.run.id)

    @cached_property
    def chances(self) -> tuple[str, ...]:
        """Return the columns of options' chances, ``p_<label>``; empty if no vote has chances."""
        if not self.certainty_recorded[1]:
            return ()
        rubrics = {
            id(rubric): rubric for rubric in (self.rubric_of(item.id) for item in self.items)
        }
        criteria = [c for rubric in rubrics.values() for c in rubric.criteria]
        return tuple(
            dict.fromkeys(PROBABILITY + option.label for c in criteria for option in c.choices)
        )

    @property
    def long(self) -> tuple[str, ...]:
        """Return the columns of ``judgements`` and ``reviews``."""
        return (*LONG, *self.chances)

    def votes(self, item_id: str) -> list[VoteRow]:
        """Return all votes of an item, including those in reversed order."""
        return self.store.votes.for_item(self.run.id, item_id)

    def failures(self, item_id: str) -> list[FailureRow]:
        """Return an item's unresolved failures."""
        failures = self.store.votes.failures_of(self.run.id, item_id)
        return [failure for failure in failures if failure.open]


def load_graded(store: Store, run_id: int) -> Graded:
    """Load a run for export.

    Raises:
        NotFound: unknown run.
        NotAllowed: the person reviews it blind.
    """
    require_open(store, run_id)
    run = store.runs.get(run_id)
    version = store.rubrics.version(run.scored_version_id)
    rows = store.results.items(run_id, limit=run.items)
    return Graded(
        store=store,
        run=run,
        rubric=version.rubric,
        rubric_hash=version.hash,
        items=resolved_items(store, run.dataset_version_id, [row.item_id for row in rows]),
        rows=tuple(rows),
        cells={(item, cell.criterion): cell for item, cell in store.results.verdicts(run_id)},
        settled=tuple(s for s in store.settled.of_run(run_id) if s.state == "active"),
        reviews=reviews_of(store, run_id),
    )


def judgements(data: Graded) -> Iterator[Row]:
    """Yield one row per judgement: votes, failures, then settled verdicts, item by item.

    ``round`` of a vote counts replicates from 1; it is 2 if an adjudicator ended a disagreement.
    """
    by_item: dict[str, list[SettledCell]] = {}
    for settled in data.settled:
        by_item.setdefault(settled.item_id, []).append(settled)
    for item, criteria in _items(data):
        yield from _answer_rows(data, item, criteria)
        for settled in by_item.get(item.id, ()):
            yield _settled_row(data, item, criteria.get(settled.criterion), settled)


def reviews(data: Graded) -> Iterator[Row]:
    """Yield the rows of ``judgements``, but with each person's own verdicts, confirmed or not."""
    by_item: dict[str, list[VerdictRow]] = {}
    for verdicts in data.reviews.verdicts.values():
        for verdict in verdicts:
            by_item.setdefault(verdict.item_id, []).append(verdict)
    for item, criteria in _items(data):
        yield from _answer_rows(data, item, criteria)
        for verdict in by_item.get(item.id, ()):
            yield _verdict_row(data, item, criteria.get(verdict.criterion), verdict)


def _items(data: Graded) -> Iterator[tuple[Item, dict[str, Criterion]]]:
    for item in data.items:
        yield item, {c.name: c for c in data.rubric_of(item.id).criteria}


def _answer_rows(data: Graded, item: Item, criteria: Mapping[str, Criterion]) -> Iterator[Row]:
    for vote in data.votes(item.id):
        yield _vote_row(data, item, criteria[vote.cell.criterion], vote)
    for failure in data.failures(item.id):
        yield _failure_row(data, item, failure)


def _vote_row(data: Graded, item: Item, criterion: Criterion, vote: VoteRow) -> Row:
    flipped = vote.cell.replicate >= data.run.plan.replicates
    status = "abstained" if vote.abstained else "answered"
    quote = vote.evidence[0] if vote.evidence else None
    span = find_quote(item.output, quote) if quote else None
    return _answer_columns(data, item, vote) | {
        "vote": choice_label(criterion, vote.option, vote.abstained),
        "vote_value": None if vote.option is None else criterion.value_of(vote.option),
        "status": f"{status} (reversed order)" if flipped else status,
        "rationale": vote.reason,
        "evidence_quote": quote,
        "evidence_start": span[0] if span else None,
        "evidence_end": span[1] if span else None,
        "confidence": vote.confidence,
        "shown_order": None if vote.order is None else " ".join(map(str, vote.order)),
        **chances_of(criterion, vote),
    }


def chances_of(criterion: Criterion, vote: VoteRow) -> Row:
    """Return the chances of a vote's options, by column."""
    if vote.probabilities is None:
        return {}
    labels = (PROBABILITY + option.label for option in criterion.choices)
    return dict(zip(labels, vote.probabilities, strict=True))


def _failure_row(data: Graded, item: Item, failure: FailureRow) -> Row:
    return _answer_columns(data, item, failure) | {
        "status": f"failed: {failure.kind}",
        "rationale": failure.message,
    }


def _answer_columns(data: Graded, item: Item, answer: VoteRow | FailureRow) -> Row:
    """Return the facts common to votes and failures: judge, time, replicate."""
    cell = answer.cell
    return _base_row(data, item, cell.criterion) | {
        "rater_type": "human" if data.kinds.get(cell.judge) == "human" else "judge",
        "rater_id": cell.judge,
        "created_at": answer.created,
        "round": cell.replicate % data.run.plan.replicates + 1,
        "replicate": cell.replicate,
    }


def _settled_row(
    data: Graded, item: Item, criterion: Criterion | None, settled: SettledCell
) -> Row:
    value = (
        None if criterion is None or settled.option is None else criterion.value_of(settled.option)
    )
    return _base_row(data, item, settled.criterion) | {
        "rater_type": "adjudicator",
        "rater_id": ", ".join(settled.people),
        "vote": settled.label or "Cannot assess",
        "vote_value": value,
        "status": settled.provenance,
        "rationale": settled.note,
        **data.reviews.decided(settled, criterion),
    }


def _verdict_row(data: Graded, item: Item, criterion: Criterion | None, verdict: VerdictRow) -> Row:
    verdict_given = verdict.final or verdict.first
    status = "abstained" if verdict_given.option is None else "answered"
    value = (
        None
        if criterion is None or verdict_given.option is None
        else criterion.value_of(verdict_given.option)
    )
    return _base_row(data, item, verdict.criterion) | {
        "rater_type": "adjudicator" if verdict.part == "resolve" else "human",
        "rater_id": verdict.reviewer,
        "vote": choice_label(criterion, verdict_given.option, abstained=True)
        if criterion
        else None,
        "vote_value": value,
        "status": status if verdict.final else "unconfirmed",
        "rationale": ": ".join(part for part in (verdict_given.why, verdict_given.note) if part),
        "created_at": data.reviews.events[verdict.first_event].ts,
        "round": 2 if verdict.part == "resolve" else 1,
        **data.reviews.given([verdict], criterion),
    }


def _base_row(data: Graded, item: Item, criterion: str) -> Row:
    head: Row = dict.fromkeys(data.long)
    return head | {
        "item_id": item.id,
        "submission_id": item.id,
        "criterion_id": criterion,
        "rubric_version": data.rubric_hash,
        "split": item.split,
        **data.reviews.drawn(item.id, criterion),
    }


def item_rows(data: Graded) -> Iterator[Row]:
    """Yield one row per item: its score, its limits, and every criterion's verdict."""
    names = [c.name for c in data.rubric.criteria]
    for item, row in zip(data.items, data.rows, strict=True):
        line: Row = {
            "item_id": row.item_id,
            "system": row.system,
            "split": row.split,
            "tags": ", ".join(item.tags),
            "score": row.score,
            "raw": row.raw,
            "low": row.low,
            "high": row.high,
            "coverage": row.coverage,
            "assessed_points": row.assessed_points,
            "assessed_of": row.assessed_of,
            "complete": row.complete,
            "outcome": row.outcome,
            "needs_a_person": row.review,
            "agreement": row.agreement,
            "planned": row.planned,
            "votes": row.votes,
            "abstentions": row.abstentions,
            "failures": row.failures,
        }
        criteria = {c.name: c for c in data.rubric_of(item.id).criteria}
        yield line | {f"verdict: {name}": _label(data, item, criteria, name) for name in names}


def _label(data: Graded, item: Item, criteria: Mapping[str, Criterion], name: str) -> str | None:
    cell = data.cells.get((item.id, name))
    if cell is None or name not in criteria:
        return None
    return choice_label(criteria[name], cell.option, cell.abstained)


def verdict_rows(data: Graded) -> Iterator[Row]:
    """Yield one row per (item, criterion): the verdict with the label."""
    for item in data.items:
        for criterion in data.rubric_of(item.id).criteria:
            cell = data.cells.get((item.id, criterion.name))
            truth = item.labels.get(criterion.name)
            line: Row = {
                "item_id": item.id,
                "criterion": criterion.name,
                "weight": criterion.weight,
                "verdict": None
                if cell is None
                else choice_label(criterion, cell.option, cell.abstained),
                "label": truth.label if truth else None,
            }
            fields = Verdict._fields[2:]
            facts = {name: None if cell is None else getattr(cell, name) for name in fields}
            yield line | facts | {"between": averaged_in_words(criterion, cell) or None}

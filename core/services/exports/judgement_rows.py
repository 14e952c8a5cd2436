"""A run as rows, one per item, verdict or judgement, with what reviewing adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.domain.dataset import Item
from core.domain.review import Settled
from core.domain.review_records import EventRow, QueuedCell, VerdictRow
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunItemRow
from core.domain.votes import FailureRow, Verdict, VoteRow
from core.formats.votes.imported import PROBABILITY
from core.services.access.blindness import require_open
from core.services.results.item_view import between, choice_label
from core.services.results.scored_items import resolved_items
from core.services.results.verdicts import RubricOf, rubric_lookup
from core.services.review.adjudication import label_of
from core.store.review.settled import given_from
from core.store.store import Store
from core.text.quotes import find_quote

# What reviewing adds to the rows of an export: how cells were drawn, and how they were decided.

Row = dict[str, str | int | float | bool | None]


@dataclass(frozen=True)
class Reviews:
    """The queues' cells, the newest queue first, people's verdicts by queue, and their events."""

    cells: Mapping[tuple[str, str], QueuedCell]
    verdicts: Mapping[tuple[int, str, str], tuple[VerdictRow, ...]]
    events: Mapping[int, EventRow]

    def drawn(self, item_id: str, criterion: str) -> Row:
        """Why a cell was queued, and the chance it had; nothing for one that was not."""
        cell = self.cells.get((item_id, criterion))
        if cell is None:
            return {}
        return {"stratum": cell.stratum, "inclusion_prob": cell.chance}

    @cached_property
    def _earliest(self) -> Mapping[tuple[int | None, str, str | None, str, str], EventRow]:
        """The first verdict of each person on each cell, taken back or not."""
        given = [one for one in self.events.values() if one.action == "verdict"]
        return {
            (one.queue_id, one.item_id, one.criterion, one.part, one.actor): one
            for one in sorted(given, key=lambda one: -one.id)
        }

    def _blind(self, verdict: VerdictRow, criterion: Criterion) -> str:
        """What somebody said before they saw the votes; empty where they had seen them."""
        of = self.events[verdict.first_event]
        first = self._earliest[of.queue_id, of.item_id, of.criterion, of.part, of.actor]
        if first.mode == "assisted":
            return ""
        return label_of(criterion, given_from(first.after or {})) or "Cannot assess"

    def decided(self, one: Settled, criterion: Criterion | None) -> Row:
        """How a cell came to be settled: by what verdicts, and when.

        Of several people who agreed: their first verdicts in the order of names, the time of all,
        when the last of them saw the votes.
        """
        event = self.events[one.event_id]
        row: Row = {"created_at": event.ts, "round": 2 if one.provenance == "adjudicated" else 1}
        if event.queue_id is None:
            return row
        place = (event.queue_id, one.item_id, one.criterion)
        mine = [v for v in self.verdicts.get(place, ()) if _counts(v, one)]
        return row | self.given(mine, criterion)

    def given(self, verdicts: Sequence[VerdictRow], criterion: Criterion | None) -> Row:
        """What they said first, when they saw the votes, their time, the first one's quote."""
        if not verdicts or criterion is None:
            return {}
        times = [self.events[v.first_event].ms_active for v in verdicts]
        told = [ms for ms in times if ms is not None]
        seen = [v.revealed for v in verdicts if v.revealed]
        firsts = [self._blind(v, criterion) for v in verdicts]
        row: Row = {
            "first_vote": ", ".join(filter(None, firsts)),
            "revealed": max(seen) if seen else None,
            "ms_active": sum(told) if told else None,
        }
        spans = (verdicts[0].final or verdicts[0].first).evidence
        if spans:
            start, end, quote = spans[0]
            row |= {"evidence_quote": quote, "evidence_start": start, "evidence_end": end}
        return row


def _counts(verdict: VerdictRow, one: Settled) -> bool:
    """Whether the cell was settled by this verdict."""
    part = "resolve" if one.provenance == "adjudicated" else "review"
    return verdict.part == part and verdict.reviewer in one.people and verdict.final is not None


def reviews_of(store: Store, run_id: int) -> Reviews:
    """What people did about the cells of a run, read once."""
    cells: dict[tuple[str, str], QueuedCell] = {}
    verdicts: dict[tuple[int, str, str], tuple[VerdictRow, ...]] = {}
    for queue in store.queues.ever(run_id):
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
    """A run with everything that is exported of it, read once."""

    store: Store
    run: Run
    rubric: Rubric
    rubric_hash: str
    items: tuple[Item, ...]
    rows: tuple[RunItemRow, ...]
    cells: Mapping[tuple[str, str], Verdict]
    settled: tuple[Settled, ...]
    reviews: Reviews

    @cached_property
    def rubric_of(self) -> RubricOf:
        """The rubric in force for an item id."""
        return rubric_lookup(self.rubric, self.items)

    @property
    def kinds(self) -> dict[str, str]:
        """Per judge whether it is an llm, offline or human."""
        return {judge.name: judge.rater_kind for judge in self.run.panel.judges}

    @cached_property
    def says_how_sure(self) -> tuple[bool, bool]:
        """Whether votes state a confidence, and whether they say how likely each option was."""
        return self.store.votes.say_how_sure(self.run.id)

    @cached_property
    def chances(self) -> tuple[str, ...]:
        """The columns of options' chances, ``p_<label>``; none where no vote has any."""
        if not self.says_how_sure[1]:
            return ()
        rubrics = {id(one): one for one in (self.rubric_of(item.id) for item in self.items)}
        criteria = [c for rubric in rubrics.values() for c in rubric.criteria]
        return tuple(dict.fromkeys(PROBABILITY + o.label for c in criteria for o in c.choices))

    @property
    def long(self) -> tuple[str, ...]:
        """The columns of ``judgements`` and ``reviews``."""
        return (*LONG, *self.chances)

    def votes(self, item_id: str) -> list[VoteRow]:
        """All votes of an item, those in reversed order among them."""
        return self.store.votes.for_item(self.run.id, item_id)

    def failures(self, item_id: str) -> list[FailureRow]:
        """The failures of an item that nobody has mended."""
        found = self.store.votes.failures_of(self.run.id, item_id)
        return [failure for failure in found if failure.open]


def graded(store: Store, run_id: int) -> Graded:
    """A run, ready to be exported.

    Raises:
        NotFound: there is no such run.
        NotAllowed: whoever acts is to review it blind.
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


def judgements(found: Graded) -> Iterator[Row]:
    """One row per judgement: votes, failures, then what people settled, item by item.

    ``round`` of a vote counts replicates from 1; it is 2 where an adjudicator ended a disagreement.
    """
    by_item: dict[str, list[Settled]] = {}
    for one in found.settled:
        by_item.setdefault(one.item_id, []).append(one)
    for item, criteria in _items(found):
        yield from _asked(found, item, criteria)
        for one in by_item.get(item.id, ()):
            yield _settled(found, item, criteria.get(one.criterion), one)


def reviews(found: Graded) -> Iterator[Row]:
    """The same rows, but of people each one's verdict by itself, confirmed or not."""
    by_item: dict[str, list[VerdictRow]] = {}
    for verdicts in found.reviews.verdicts.values():
        for one in verdicts:
            by_item.setdefault(one.item_id, []).append(one)
    for item, criteria in _items(found):
        yield from _asked(found, item, criteria)
        for one in by_item.get(item.id, ()):
            yield _verdict(found, item, criteria.get(one.criterion), one)


def _items(found: Graded) -> Iterator[tuple[Item, dict[str, Criterion]]]:
    for item in found.items:
        yield item, {c.name: c for c in found.rubric_of(item.id).criteria}


def _asked(found: Graded, item: Item, criteria: Mapping[str, Criterion]) -> Iterator[Row]:
    for vote in found.votes(item.id):
        yield _vote(found, item, criteria[vote.cell.criterion], vote)
    for failure in found.failures(item.id):
        yield _failure(found, item, failure)


def _vote(found: Graded, item: Item, criterion: Criterion, vote: VoteRow) -> Row:
    flipped = vote.cell.replicate >= found.run.plan.replicates
    status = "abstained" if vote.abstained else "answered"
    quote = vote.evidence[0] if vote.evidence else None
    span = find_quote(item.output, quote) if quote else None
    return _answer(found, item, vote) | {
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
    """The chances of a vote's options under their columns."""
    if vote.probabilities is None:
        return {}
    labels = (PROBABILITY + option.label for option in criterion.choices)
    return dict(zip(labels, vote.probabilities, strict=True))


def _failure(found: Graded, item: Item, failure: FailureRow) -> Row:
    return _answer(found, item, failure) | {
        "status": f"failed: {failure.kind}",
        "rationale": failure.message,
    }


def _answer(found: Graded, item: Item, given: VoteRow | FailureRow) -> Row:
    """What a vote and a failure have in common: who was asked, when, which time."""
    cell = given.cell
    return _row(found, item, cell.criterion) | {
        "rater_type": "human" if found.kinds.get(cell.judge) == "human" else "judge",
        "rater_id": cell.judge,
        "created_at": given.created,
        "round": cell.replicate % found.run.plan.replicates + 1,
        "replicate": cell.replicate,
    }


def _settled(found: Graded, item: Item, criterion: Criterion | None, one: Settled) -> Row:
    value = None if criterion is None or one.option is None else criterion.value_of(one.option)
    return _row(found, item, one.criterion) | {
        "rater_type": "adjudicator",
        "rater_id": ", ".join(one.people),
        "vote": one.label or "Cannot assess",
        "vote_value": value,
        "status": one.provenance,
        "rationale": one.note,
        **found.reviews.decided(one, criterion),
    }


def _verdict(found: Graded, item: Item, criterion: Criterion | None, one: VerdictRow) -> Row:
    says = one.final or one.first
    status = "abstained" if says.option is None else "answered"
    value = None if criterion is None or says.option is None else criterion.value_of(says.option)
    return _row(found, item, one.criterion) | {
        "rater_type": "adjudicator" if one.part == "resolve" else "human",
        "rater_id": one.reviewer,
        "vote": choice_label(criterion, says.option, abstained=True) if criterion else None,
        "vote_value": value,
        "status": status if one.final else "unconfirmed",
        "rationale": ": ".join(part for part in (says.why, says.note) if part),
        "created_at": found.reviews.events[one.first_event].ts,
        "round": 2 if one.part == "resolve" else 1,
        **found.reviews.given([one], criterion),
    }


def _row(found: Graded, item: Item, criterion: str) -> Row:
    head: Row = dict.fromkeys(found.long)
    return head | {
        "item_id": item.id,
        "submission_id": item.id,
        "criterion_id": criterion,
        "rubric_version": found.rubric_hash,
        "split": item.split,
        **found.reviews.drawn(item.id, criterion),
    }


def item_rows(found: Graded) -> Iterator[Row]:
    """One row per item: its score, how sure it is, and every criterion's verdict."""
    names = [c.name for c in found.rubric.criteria]
    for item, row in zip(found.items, found.rows, strict=True):
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
        criteria = {c.name: c for c in found.rubric_of(item.id).criteria}
        yield line | {f"verdict: {name}": _label(found, item, criteria, name) for name in names}


def _label(found: Graded, item: Item, criteria: Mapping[str, Criterion], name: str) -> str | None:
    cell = found.cells.get((item.id, name))
    if cell is None or name not in criteria:
        return None
    return choice_label(criteria[name], cell.option, cell.abstained)


def verdict_rows(found: Graded) -> Iterator[Row]:
    """One row per (item, criterion): the verdict beside the label."""
    for item in found.items:
        for criterion in found.rubric_of(item.id).criteria:
            cell = found.cells.get((item.id, criterion.name))
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
            kept = Verdict._fields[2:]
            facts = {name: None if cell is None else getattr(cell, name) for name in kept}
            yield line | facts | {"between": between(criterion, cell) or None}

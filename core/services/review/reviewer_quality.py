"""Feedback on how people review, and whether seeing the votes influences them.

People are not ranked. Every figure says what it is based on, and most say more about the items than
about the person: on hard items a reviewer is slower and differs more often.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median

from core import clock
from core.domain.review import ROLES, Role, Seat
from core.domain.review_records import EventRow, QueueRow, VerdictRow
from core.metrics.estimate import Estimate, difference
from core.services.queueing.queue_cap import AWAY_MS
from core.services.results.browsing import judged_options
from core.services.results.scored_items import (
    labels_of,
    resolved_items,
    rubric_in_force,
    scored_rubric,
)
from core.services.review import claims, second_looks
from core.services.review.reviewers import now_seated
from core.store.store import Store

#: A verdict counts as quick if it took less than this share of the person's median time.
QUICK = 0.25
#: The number of timed verdicts required for a person's usual time.
USUAL = 8
#: The number of timed items required to estimate the remaining time.
FORETOLD = 3


@dataclass(frozen=True)
class ReviewerPace:
    """One person's progress in a queue, in items.

    ``done`` items have this person's final verdict and need no more; ``left`` items are available
    to them now. ``each_seconds`` is their median time per item, ``None`` until three are timed.
    """

    done: int
    left: int
    each_seconds: float | None

    @property
    def total(self) -> int:
        """Return the number of items, done and left."""
        return self.done + self.left

    @property
    def left_minutes(self) -> float | None:
        """Return the estimated minutes for the items left, at this pace."""
        return None if self.each_seconds is None else self.left * self.each_seconds / 60


def reviewer_pace(store: Store, seat: Seat, queue_id: int) -> ReviewerPace:
    """Return this person's progress and speed in a queue. Raises ``NotFound``."""
    return _pace_of(store, now_seated(store, seat), store.queues.get(queue_id))


def _pace_of(store: Store, seat: Seat, queue: QueueRow) -> ReviewerPace:
    decided = store.verdicts.decided(queue.id, seat.name)
    available, to_repeat = store.turns.available(queue.id, seat, decided, at=clock.seconds_now())
    times = store.events.spent(queue.id, seat.name, AWAY_MS).values()
    seconds = median(times) / 1000 if len(times) >= FORETOLD else None
    return ReviewerPace(len(decided) - to_repeat, available, seconds)


def milliseconds_spent(events: Iterable[EventRow]) -> list[int]:
    """Return the recorded milliseconds per verdict, capped in case the person went away."""
    return [
        min(event.ms_active, AWAY_MS)
        for event in events
        if event.action == "verdict" and event.ms_active is not None and event.ms_active > 0
    ]


@dataclass(frozen=True)
class PersonAtWork:
    """A person's progress in a queue, and their last act there (``None``: never).

    ``open_now``: they have an item open.
    """

    name: str
    role: Role
    pace: ReviewerPace
    last: str | None
    open_now: bool


def people_at_work(store: Store, seat: Seat, queue_id: int) -> list[PersonAtWork]:
    """Return the progress of people in a queue. Raises ``NotFound``.

    A lead sees everyone who reviewed an item, has one open or is assigned one, by role and name;
    other people see only themselves.
    """
    seat = now_seated(store, seat)
    queue = store.queues.get(queue_id)
    last = store.events.last_reviewed(queue_id)
    sessions = {lease.reviewer: lease.session for lease in claims.open_leases(store, queue_id)}
    assigned = {name for names in store.queues.assigned(queue_id).values() for name in names}
    roles = {row.name: row.role for row in store.reviewers.list()}
    people = {*last, *sessions, *assigned} if seat.role == "lead" else {seat.name}
    rows = []
    for name in people & {*last, *sessions, *assigned}:
        # A person with assignments may not have signed in yet.
        person = Seat(name, roles.get(name, "reviewer"), sessions.get(name, seat.session))
        person_pace = _pace_of(store, person, queue)
        rows.append(PersonAtWork(name, person.role, person_pace, last.get(name), name in sessions))
    return sorted(rows, key=lambda row: (ROLES.index(row.role), row.name.casefold()))


@dataclass(frozen=True)
class Week:
    """A week, by its Monday: the number of verdicts, their speed, and how many match labels."""

    monday: str
    verdicts: int
    each_seconds: float | None
    gold: Estimate


@dataclass(frozen=True)
class ReviewerQuality:
    """How a person reviews in a queue.

    ``gold``: first verdicts that match the dataset's label. ``same``: second looks that match the
    first. ``shared``: first verdicts that match the settled one, over cells that other people also
    reviewed. ``quick`` verdicts, of ``timed``, took less than a quarter of the person's usual time.
    ``left`` items are assigned to this person, and take ``left_minutes`` at their pace. ``None``
    means unknown.
    """

    name: str
    verdicts: int
    cannot: int
    gold: Estimate
    same: Estimate
    shared: Estimate
    each_seconds: float | None
    timed: int
    quick: int
    left: int
    left_minutes: float | None
    weeks: tuple[Week, ...]


def reviewer_quality(store: Store, seat: Seat, queue_id: int) -> list[ReviewerQuality]:
    """Return how people review in a queue: for a lead everyone, by name; else only this person.

    Raises ``NotFound``.
    """
    seat = now_seated(store, seat)
    queue = store.queues.get(queue_id)
    facts = _Facts(store, queue)
    names = facts.people if seat.role == "lead" else [n for n in facts.people if n == seat.name]
    return [facts.figures_of(name) for name in names]


class _Facts:
    """The facts of a queue, read once."""

    def __init__(self, store: Store, queue: QueueRow) -> None:
        self._queue = queue
        self._verdicts = [v for v in store.verdicts.of_queue(queue.id) if v.part == "review"]
        self._events = {
            e.id: e for e in store.events.of_run(queue.run_id, queue.id) if e.action == "verdict"
        }
        self._pairs = second_looks.repeated_verdicts(store, queue.id)
        self._gold = _dataset_labels(store, queue, {verdict.item_id for verdict in self._verdicts})
        self._settled = {
            (s.item_id, s.criterion): s.option
            for s in store.settled.of_run(queue.run_id)
            if s.state == "active"
        }
        self._assigned = store.queues.assigned(queue.id)
        # Cells are needed only if people have assignments.
        cells = store.queues.cells(queue.id) if self._assigned else []
        self._open = [c for c in cells if c.state != "resolved"]
        assigned = {name for names in self._assigned.values() for name in names}
        self.people = sorted({v.reviewer for v in self._verdicts} | assigned, key=str.casefold)

    def figures_of(self, name: str) -> ReviewerQuality:
        """Return one person's figures."""
        own_verdicts = [v for v in self._verdicts if v.reviewer == name]
        events = [self._events[v.first_event] for v in own_verdicts]
        times = milliseconds_spent(events)
        seconds = median(times) / 1000 if times else None
        open_cells = self._open_cells(name, own_verdicts)
        repeated = [equal for reviewer, equal in self._pairs if reviewer == name]
        enough = seconds is not None and len(times) >= USUAL
        return ReviewerQuality(
            name=name,
            verdicts=len(own_verdicts),
            cannot=sum(v.first.option is None for v in own_verdicts),
            gold=self._agreement_with_labels(own_verdicts),
            same=Estimate.share(sum(repeated), len(repeated)),
            shared=self._agreement_with_settled(own_verdicts),
            each_seconds=seconds,
            timed=len(times),
            quick=sum(t < QUICK * median(times) for t in times) if enough else 0,
            left=len({item for item, _ in open_cells}),
            left_minutes=None if seconds is None else len(open_cells) * seconds / 60,
            weeks=self._weekly_figures(own_verdicts, events),
        )

    def _open_cells(self, name: str, own_verdicts: Sequence[VerdictRow]) -> list[tuple[str, str]]:
        """Return the open cells that are assigned to this person."""
        decided = {(v.item_id, v.criterion) for v in own_verdicts if v.final}
        return [
            (c.item_id, c.criterion)
            for c in self._open
            if name in self._assigned.get(c.item_id, ())
            and c.state in ("needs_review", "needs_others")
            and (c.item_id, c.criterion) not in decided
        ]

    def _agreement_with_labels(self, own_verdicts: Sequence[VerdictRow]) -> Estimate:
        labelled = [(v, self._gold.get((v.item_id, v.criterion))) for v in own_verdicts]
        labelled = [(v, option) for v, option in labelled if option is not None]
        return Estimate.share(
            sum(v.first.option == option for v, option in labelled), len(labelled)
        )

    def _agreement_with_settled(self, own_verdicts: Sequence[VerdictRow]) -> Estimate:
        shared = {
            (v.item_id, v.criterion)
            for v in self._verdicts
            if own_verdicts and v.reviewer != own_verdicts[0].reviewer
        }
        settled = [
            v
            for v in own_verdicts
            if (place := (v.item_id, v.criterion)) in shared and place in self._settled
        ]
        same = sum(v.first.option == self._settled[v.item_id, v.criterion] for v in settled)
        return Estimate.share(same, len(settled))

    def _weekly_figures(
        self, own_verdicts: Sequence[VerdictRow], events: Sequence[EventRow]
    ) -> tuple[Week, ...]:
        parts: dict[str, list[tuple[VerdictRow, EventRow]]] = {}
        for verdict, event in zip(own_verdicts, events, strict=True):
            parts.setdefault(_monday_of(event.ts), []).append((verdict, event))
        weeks = []
        for monday in sorted(parts):
            times = milliseconds_spent(event for _, event in parts[monday])
            seconds = median(times) / 1000 if times else None
            gold = self._agreement_with_labels([verdict for verdict, _ in parts[monday]])
            weeks.append(Week(monday, len(parts[monday]), seconds, gold))
        return tuple(weeks)


def _dataset_labels(
    store: Store, queue: QueueRow, items: Collection[str]
) -> Mapping[tuple[str, str], int]:
    """Return the dataset's own labels of these items, without what people settled."""
    run = store.runs.get(queue.run_id)
    rubric = scored_rubric(store, run)
    return {
        (item.id, name): option
        for item in resolved_items(store, run.dataset_version_id, sorted(items), upto=0)
        for name, option in labels_of(item, rubric_in_force(item, rubric)).items()
    }


def _monday_of(moment: str) -> str:
    """Return the Monday of an ISO timestamp's week.

    >>> _monday_of("2026-03-05T10:00:00.000Z")
    '2026-03-02'
    """
    day = date.fromisoformat(moment[:10])
    return date.fromordinal(day.toordinal() - day.weekday()).isoformat()


@dataclass(frozen=True)
class AnchoringEffect:
    """The influence of seeing the votes.

    ``revealed`` verdicts were given blind and confirmed after seeing the votes. ``toward``: of
    those that differed from the panel's, how many became the panel's. ``away``: of those that
    matched it, how many changed.

    ``blind`` and ``assisted``: how often the first verdict matched the panel's, on items shown
    without the votes and on the random ones shown with them. A verdict given again after seeing the
    votes is not blind. ``difference`` is assisted less blind: since items were drawn, it is the
    effect of showing the votes.
    """

    revealed: int
    toward: Estimate
    away: Estimate
    blind: Estimate
    assisted: Estimate
    difference: Estimate


def anchoring_effect(store: Store, queue_id: int) -> AnchoringEffect:
    """Return the influence of seeing the votes in a queue, from its independent verdicts.

    Cells without a panel verdict are excluded; "cannot assess" counts as different from the
    panel's. Raises ``NotFound``.
    """
    queue = store.queues.get(queue_id)
    verdicts = [v for v in store.verdicts.of_queue(queue_id) if v.part == "review"]
    judged = judged_options(store, queue.run_id, {(v.item_id, v.criterion) for v in verdicts})
    shown = store.queues.assisted(queue_id)
    compared = [
        (verdict, option)
        for verdict in verdicts
        if (option := judged.get((verdict.item_id, verdict.criterion))) is not None
    ]
    changed = [
        (v, first_option)
        for v, first_option in compared
        if v.mode == "until_commit" and v.revealed and v.final
    ]
    differing = [(v, first_option) for v, first_option in changed if v.first.option != first_option]
    same = [(v, first_option) for v, first_option in changed if v.first.option == first_option]
    hidden = [
        (v, first_option)
        for v, first_option in compared
        if v.item_id not in shown and v.mode != "assisted"
    ]
    blind = _agreement_with_panel(hidden)
    assisted = _agreement_with_panel(
        [(v, first_option) for v, first_option in compared if v.item_id in shown]
    )
    return AnchoringEffect(
        revealed=len(changed),
        toward=Estimate.share(
            sum(v.final_option == first_option for v, first_option in differing), len(differing)
        ),
        away=Estimate.share(
            sum(v.final_option != first_option for v, first_option in same), len(same)
        ),
        blind=blind,
        assisted=assisted,
        difference=_agreement_difference(assisted, blind),
    )


def _agreement_with_panel(compared: list[tuple[VerdictRow, int]]) -> Estimate:
    return Estimate.share(sum(v.first.option == option for v, option in compared), len(compared))


def _agreement_difference(assisted: Estimate, blind: Estimate) -> Estimate:
    if not assisted.n:
        return Estimate(None, reason="No verdict was given on an item shown with the votes.")
    if not blind.n:
        return Estimate(None, reason="No verdict was given on an item shown without the votes.")
    return difference(assisted, blind)

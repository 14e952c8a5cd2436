"""How people review, told kindly; and whether seeing the votes pulls them along.

Nobody is ranked. Every figure says what it is of, and most say more about the items than about
the person: who got the hard ones is slower, and differs more often.
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
from core.services.results.scored_items import effective, labels_of, resolved_items, scored_rubric
from core.services.review import claims, second_looks
from core.services.review.reviewers import now_seated
from core.services.review.second_looks import RepeatedVerdict
from core.store.store import Store

#: A verdict in less than this part of the person's own median time is told as quick.
QUICK = 0.25
#: With fewer timed verdicts than this there is no usual time to be quicker than.
USUAL = 8
#: With fewer timed items than this nobody is told how long the rest will take.
FORETOLD = 3


@dataclass(frozen=True)
class Pace:
    """How far one person is in a queue, in items.

    ``done`` have this person's final verdict and want no more of it; ``left`` are there for them
    now. ``each_seconds`` is the median time they spent on one, ``None`` until three are timed.
    """

    done: int
    left: int
    each_seconds: float | None

    @property
    def total(self) -> int:
        """What is done and what is left."""
        return self.done + self.left

    @property
    def left_minutes(self) -> float | None:
        """How long the rest will take at this pace."""
        return None if self.each_seconds is None else self.left * self.each_seconds / 60


def pace(store: Store, seat: Seat, queue_id: int) -> Pace:
    """How far this person is in a queue, and how fast. Raises ``NotFound``."""
    return _pace(store, now_seated(store, seat), store.queues.get(queue_id))


def _pace(store: Store, seat: Seat, queue: QueueRow) -> Pace:
    decided = store.verdicts.decided(queue.id, seat.name)
    left, again = store.turns.available(queue.id, seat, decided, at=clock.at())
    times = store.events.spent(queue.id, seat.name, AWAY_MS).values()
    each = median(times) / 1000 if len(times) >= FORETOLD else None
    return Pace(len(decided) - again, left, each)


def spent(events: Iterable[EventRow]) -> list[int]:
    """Milliseconds spent on each verdict, as far as told; those of people who went away are cut."""
    return [
        min(event.ms_active, AWAY_MS)
        for event in events
        if event.action == "verdict" and event.ms_active is not None and event.ms_active > 0
    ]


@dataclass(frozen=True)
class PersonAtWork:
    """How far somebody is in a queue, and when they last did something there (``None``: never).

    ``open_now``: they have an item open.
    """

    name: str
    role: Role
    pace: Pace
    last: str | None
    open_now: bool


def at_work(store: Store, seat: Seat, queue_id: int) -> list[PersonAtWork]:
    """How far people are in a queue: to a lead everybody who reviewed, has or was given an item of
    it, by role and name; to anybody else oneself alone. Raises ``NotFound``.
    """
    seat = now_seated(store, seat)
    queue = store.queues.get(queue_id)
    last = store.events.last_reviewed(queue_id)
    held = {lease.reviewer: lease.session for lease in claims.open_leases(store, queue_id)}
    given = {name for names in store.queues.assigned(queue_id).values() for name in names}
    roles = {row.name: row.role for row in store.reviewers.list()}
    people = {*last, *held, *given} if seat.role == "lead" else {seat.name}
    found = []
    for name in people & {*last, *held, *given}:
        # A name that was given an item may not have signed in yet.
        person = Seat(name, roles.get(name, "reviewer"), held.get(name, seat.session))
        made = _pace(store, person, queue)
        found.append(PersonAtWork(name, person.role, made, last.get(name), name in held))
    return sorted(found, key=lambda one: (ROLES.index(one.role), one.name.casefold()))


@dataclass(frozen=True)
class Week:
    """A week, by its Monday: how much, how fast, and how often as labelled."""

    monday: str
    verdicts: int
    each_seconds: float | None
    gold: Estimate


@dataclass(frozen=True)
class Quality:
    """How a person reviews in a queue.

    ``gold``: first verdicts that are the dataset's own label. ``same``: second looks that gave what
    the first look did. ``shared``: first verdicts that are what the cell was settled as in the end,
    over cells that others looked at as well. ``quick`` verdicts took less than a quarter of the
    person's usual time, of ``timed``. ``left`` items wait for this person by name; at their pace
    they take ``left_minutes``. ``None`` where nothing is known.
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


def quality(store: Store, seat: Seat, queue_id: int) -> list[Quality]:
    """How people review in a queue: to a lead about everybody, by name; else about oneself alone.

    Raises ``NotFound``.
    """
    seat = now_seated(store, seat)
    queue = store.queues.get(queue_id)
    facts = _Facts(store, queue)
    names = facts.people if seat.role == "lead" else [n for n in facts.people if n == seat.name]
    return [facts.about(name) for name in names]


class _Facts:
    """What is known of a queue, read once."""

    def __init__(self, store: Store, queue: QueueRow) -> None:
        self._queue = queue
        self._verdicts = [v for v in store.verdicts.of_queue(queue.id) if v.part == "review"]
        self._events = {
            e.id: e for e in store.events.of_run(queue.run_id, queue.id) if e.action == "verdict"
        }
        self._pairs = second_looks.pairs(store, queue.id)
        self._gold = _gold(store, queue, {verdict.item_id for verdict in self._verdicts})
        self._settled = {
            (s.item_id, s.criterion): s.option
            for s in store.settled.of_run(queue.run_id)
            if s.state == "active"
        }
        self._assigned = store.queues.assigned(queue.id)
        # Whoever is not given anything is not waited for by name.
        cells = store.queues.cells(queue.id) if self._assigned else []
        self._open = [c for c in cells if c.state != "resolved"]
        assigned = {name for names in self._assigned.values() for name in names}
        self.people = sorted({v.reviewer for v in self._verdicts} | assigned, key=str.casefold)

    def about(self, name: str) -> Quality:
        """One person."""
        mine = [v for v in self._verdicts if v.reviewer == name]
        events = [self._events[v.first_event] for v in mine]
        times = spent(events)
        each = median(times) / 1000 if times else None
        left = self._left(name, mine)
        enough = each is not None and len(times) >= USUAL
        return Quality(
            name=name,
            verdicts=len(mine),
            cannot=sum(v.first.option is None for v in mine),
            gold=self._as_labelled(mine),
            same=_same([p for p in self._pairs if p.reviewer == name]),
            shared=self._as_settled(mine),
            each_seconds=each,
            timed=len(times),
            quick=sum(t < QUICK * median(times) for t in times) if enough else 0,
            left=len({item for item, _ in left}),
            left_minutes=None if each is None else len(left) * each / 60,
            weeks=self._weeks(mine, events),
        )

    def _left(self, name: str, mine: Sequence[VerdictRow]) -> list[tuple[str, str]]:
        """The open cells that wait for this person by name."""
        done = {(v.item_id, v.criterion) for v in mine if v.final}
        return [
            (c.item_id, c.criterion)
            for c in self._open
            if name in self._assigned.get(c.item_id, ())
            and c.state in ("needs_review", "needs_others")
            and (c.item_id, c.criterion) not in done
        ]

    def _as_labelled(self, mine: Sequence[VerdictRow]) -> Estimate:
        known = [(v, self._gold.get((v.item_id, v.criterion))) for v in mine]
        known = [(v, option) for v, option in known if option is not None]
        return Estimate.share(sum(v.first.option == option for v, option in known), len(known))

    def _as_settled(self, mine: Sequence[VerdictRow]) -> Estimate:
        others = {
            (v.item_id, v.criterion)
            for v in self._verdicts
            if mine and v.reviewer != mine[0].reviewer
        }
        known = [
            v
            for v in mine
            if (place := (v.item_id, v.criterion)) in others and place in self._settled
        ]
        same = sum(v.first.option == self._settled[v.item_id, v.criterion] for v in known)
        return Estimate.share(same, len(known))

    def _weeks(self, mine: Sequence[VerdictRow], events: Sequence[EventRow]) -> tuple[Week, ...]:
        parts: dict[str, list[tuple[VerdictRow, EventRow]]] = {}
        for verdict, event in zip(mine, events, strict=True):
            parts.setdefault(_monday(event.ts), []).append((verdict, event))
        found = []
        for monday in sorted(parts):
            times = spent(event for _, event in parts[monday])
            each = median(times) / 1000 if times else None
            gold = self._as_labelled([verdict for verdict, _ in parts[monday]])
            found.append(Week(monday, len(parts[monday]), each, gold))
        return tuple(found)


def _gold(store: Store, queue: QueueRow, items: Collection[str]) -> Mapping[tuple[str, str], int]:
    """The dataset's own labels of these items; what people settled is not among them."""
    run = store.runs.get(queue.run_id)
    rubric = scored_rubric(store, run)
    return {
        (item.id, name): option
        for item in resolved_items(store, run.dataset_version_id, sorted(items), upto=0)
        for name, option in labels_of(item, effective(item, rubric)).items()
    }


def _same(pairs: Sequence[RepeatedVerdict]) -> Estimate:
    return Estimate.share(sum(p.first.option == p.again.option for p in pairs), len(pairs))


def _monday(moment: str) -> str:
    """The Monday of an ISO moment's week.

    >>> _monday("2026-03-05T10:00:00.000Z")
    '2026-03-02'
    """
    day = date.fromisoformat(moment[:10])
    return date.fromordinal(day.toordinal() - day.weekday()).isoformat()


@dataclass(frozen=True)
class Anchoring:
    """What seeing the votes did.

    ``revealed`` verdicts were given blind and confirmed with the votes in sight. ``toward``: of
    those that had differed from the panel's, how many became the panel's. ``away``: of those that
    had been the same, how many became another.

    ``blind`` and ``assisted`` are how often the first verdict was the panel's, on items shown
    without the votes and on the random ones shown with them. Who took a verdict back after seeing
    the votes is not blind. ``difference`` is assisted less blind: as items were drawn, it is what
    showing the votes did.
    """

    revealed: int
    toward: Estimate
    away: Estimate
    blind: Estimate
    assisted: Estimate
    difference: Estimate


def anchoring(store: Store, queue_id: int) -> Anchoring:
    """What seeing the votes did in a queue, from the independent verdicts given there.

    Cells on which the panel has no verdict are left out; "cannot assess" is a verdict that is not
    the panel's. Raises ``NotFound``.
    """
    queue = store.queues.get(queue_id)
    given = [v for v in store.verdicts.of_queue(queue_id) if v.part == "review"]
    judged = judged_options(store, queue.run_id, {(v.item_id, v.criterion) for v in given})
    shown = store.queues.assisted(queue_id)
    known = [
        (verdict, option)
        for verdict in given
        if (option := judged.get((verdict.item_id, verdict.criterion))) is not None
    ]
    changed = [(v, o) for v, o in known if v.mode == "until_commit" and v.revealed and v.final]
    apart = [(v, o) for v, o in changed if v.first.option != o]
    same = [(v, o) for v, o in changed if v.first.option == o]
    hidden = [(v, o) for v, o in known if v.item_id not in shown and v.mode != "assisted"]
    blind = _as_panel(hidden)
    assisted = _as_panel([(v, o) for v, o in known if v.item_id in shown])
    return Anchoring(
        revealed=len(changed),
        toward=Estimate.share(sum(_final(v) == o for v, o in apart), len(apart)),
        away=Estimate.share(sum(_final(v) != o for v, o in same), len(same)),
        blind=blind,
        assisted=assisted,
        difference=_difference(assisted, blind),
    )


def _final(verdict: VerdictRow) -> int | None:
    return None if verdict.final is None else verdict.final.option


def _as_panel(known: list[tuple[VerdictRow, int]]) -> Estimate:
    return Estimate.share(sum(v.first.option == option for v, option in known), len(known))


def _difference(assisted: Estimate, blind: Estimate) -> Estimate:
    if not assisted.n:
        return Estimate(None, reason="No verdict was given on an item shown with the votes.")
    if not blind.n:
        return Estimate(None, reason="No verdict was given on an item shown without the votes.")
    return difference(assisted, blind)

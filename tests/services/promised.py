"""Runs whose queues make a promise about what nobody looked at, with a truth that is known.

Two judges and two criteria, "easy" and "hard". On the first items both judges say MET; on the
others they differ and MET, the better option, loses the tie: agreement 1 and .5, two thresholds.
Which verdicts are wrong is drawn anew for every trial, and never depends on the votes. People are
quick here: what they settle is written as the service writes it, without tickets.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfile

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.review import QueueRule, QueueSettings, Seat, SettledCell
from core.domain.review_records import EventRow
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for, settled_lookup
from core.services.review import queues
from core.services.review.random_audit import UnauditedCells, unaudited_cells
from core.store.review.settled import settled_data
from core.store.store import Store
from tests.services.reviewed import sit

Place = tuple[str, str]

CRITERIA = ("easy", "hard")
NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(
    name="Two questions",
    criteria=tuple(Criterion(name=name, requirement=f"It is {name}.") for name in CRITERIA),
)
MET, UNMET = 0, 1


def base(folder: Path, items: int, split: int = 0) -> Path:
    """The file of such a run, graded; on the last ``split`` items judges differ."""
    path = folder / "base.db"
    store = Store(path)
    rows = tuple(Item(id=f"i{n}", submission=f"Answer {n}.") for n in range(items))
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=rows), now=NOW).id,
        panel=Panel(judges=(Judge(name="ann", model="m"), Judge(name="bob", model="m"))),
    )
    run = store.runs.create(plan, [(item.id, 4) for item in rows], now=NOW)
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run.id)
    assert lease is not None
    outcomes = []
    for n, item in enumerate(rows):
        second = UNMET if n >= items - split else MET
        for judge, option in (("ann", MET), ("bob", second)):
            for name in CRITERIA:
                outcomes.append(
                    AskedOutcome((Vote(Cell(item.id, name, judge), option, False, "So."),))
                )
    derive = derivation_for(plan, RUBRIC, rows, settled_lookup(store, run.id))
    store.votes.record(
        run.id, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive
    )
    store.leases.release(lease, "queued", now=NOW)
    sit(store, "Lea")
    store.close()
    return path


@dataclass
class Trial:
    """One draw of the truth and all that is done with it; ``wrong`` are the cells people change."""

    store: Store
    dice: random.Random
    shares: dict[str, float]
    settled: set[Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Draw which verdicts are wrong."""
        self.run = self.store.runs.get(1)
        self.rows = {(item, v.criterion): v for item, v in self.store.results.verdicts(1)}
        self.cells = sorted(self.rows)
        self.wrong = {c for c in self.cells if self.dice.random() < self.shares[c[1]]}

    def queue(self, audit: float, criteria: tuple[str, ...] | None = None, **rule: object) -> int:
        """A queue with such an audit; without further words no rule but the audit."""
        reasons: dict[str, object] = {"split": False, "flip": False, "stale": False, **rule}
        asked = QueueRule(audit_share=audit, criteria=criteria, **reasons)  # type: ignore[arg-type]
        seat, seed = sit(self.store, "Lea"), self.dice.randrange(2**31)
        made = queues.make_queue(self.store, seat, 1, "Q", asked, QueueSettings(), seed=seed)
        return made.id

    def places(self, queue: int, *, audit: bool | None = None) -> list[Place]:
        """The cells of a queue; of its audit, or of its rule, alone if so asked."""
        return [
            (c.item_id, c.criterion)
            for c in self.store.queues.cells(queue)
            if audit is None or c.audit == audit
        ]

    def settle(self, queue: int | None, some: Collection[Place]) -> None:
        """People settle these cells as they truly are."""
        seat, now = sit(self.store, "Lea"), clock.now()
        with self.store.write():
            for place in some:
                if place not in self.settled:
                    self._settle(queue, place, seat, now)
        self.settled |= set(some)

    def _settle(self, queue: int | None, place: Place, seat: Seat, now: str) -> None:
        voted = self.rows[place].judged
        assert voted is not None
        option = 1 - voted if place in self.wrong else voted
        label = RUBRIC.criteria[0].choices[option].label
        found = SettledCell(*place, option, label, None, "human_single", ("Lea",), "", 0)
        event = EventRow(
            ts=now,
            actor=seat.name,
            role=seat.role,
            session=seat.session,
            run_id=1,
            rubric_version_id=self.run.scored_version_id,
            action="settle",
            queue_id=queue,
            item_id=place[0],
            criterion=place[1],
            after=settled_data(found),
        )
        kept = SettledCell(
            *place, option, label, None, "human_single", ("Lea",), "", self.store.events.add(event)
        )
        self.store.settled.put(1, kept)
        for one in self.store.queues.holding(1, *place):
            self.store.queues.set_state(one, *place, "resolved", raised=True)

    def read(self, queue: int, alpha: float) -> Said:
        """What the queue promises now, beside the truth."""
        found = unaudited_cells(self.store, queue, alpha)
        rule = self.store.queues.get(queue).rule
        left = [
            place
            for place in self.cells
            if place not in self.settled and (rule.criteria is None or place[1] in rule.criteria)
        ]
        promise = found.acceptance
        at = None if promise is None else promise.threshold
        taken = [p for p in left if at is not None and (self.rows[p].agreement or 0.0) >= at]
        return Said(found, self._share(taken), self._share(left))

    def _share(self, cells: list[Place]) -> float | None:
        return sum(c in self.wrong for c in cells) / len(cells) if cells else None


@dataclass(frozen=True)
class Said:
    """A promise beside the truth: the share wrong of the accepted, and of all that is left."""

    found: UnauditedCells
    accepted: float | None
    left: float | None

    def broken(self, alpha: float) -> bool:
        """Whether more of the accepted are wrong than was promised."""
        return self.accepted is not None and self.accepted > alpha + 1e-12

    @property
    def missed(self) -> bool:
        """Whether the interval of what is left misses its share of right ones."""
        mean = self.found.accuracy
        if mean.low is None or mean.high is None or self.left is None:
            return False
        return not mean.low - 1e-12 <= 1 - self.left <= mean.high + 1e-12


Workload = Callable[[Trial, float], list[Said]]


def one_queue(trial: Trial, alpha: float) -> list[Said]:
    """An audit of 30%, decided."""
    queue = trial.queue(0.3)
    trial.settle(queue, trial.places(queue))
    return [trial.read(queue, alpha)]


def then_easy(trial: Trial, alpha: float) -> list[Said]:
    """The same; then a second queue, narrowed to the easy criterion, takes all of it."""
    first = trial.queue(0.3)
    trial.settle(first, trial.places(first))
    second = trial.queue(0.0, ("easy",), everything=True)
    trial.settle(second, trial.places(second))
    return [trial.read(first, alpha)]


def then_hard(trial: Trial, alpha: float) -> list[Said]:
    """The other way round: the hard criterion is settled first, an audit of the rest follows."""
    first = trial.queue(0.0, ("hard",), everything=True)
    some = trial.places(first)
    trial.settle(first, some[: len(some) // 2])
    second = trial.queue(0.3)
    trial.settle(second, trial.places(second))
    trial.settle(first, some)
    return [trial.read(second, alpha)]


def two_audits(trial: Trial, alpha: float) -> list[Said]:
    """Two queues with audits that overlap, the second narrowed; each speaks for itself."""
    first = trial.queue(0.25)
    second = trial.queue(0.4, ("hard",))
    trial.settle(second, trial.places(second))
    trial.settle(first, trial.places(first))
    return [trial.read(first, alpha), trial.read(second, alpha)]


def three_queues(trial: Trial, alpha: float) -> list[Said]:
    """The doubtful with an audit; the easy criterion with one; a third takes half of the rest."""
    first = trial.queue(0.3, split=True)
    trial.settle(first, trial.places(first))
    second = trial.queue(0.3, ("easy",))
    trial.settle(second, trial.places(second))
    third = trial.queue(0.0, everything=True)
    left = [place for place in trial.places(third) if place not in trial.settled]
    trial.settle(third, trial.dice.sample(left, len(left) // 2))
    return [trial.read(first, alpha), trial.read(second, alpha)]


def until_accepted(trial: Trial, alpha: float) -> list[Said]:
    """After the audit a second queue goes where the last verdicts were wrong, a tenth at a time,
    until something is accepted: the promise is read ten times.
    """
    first = trial.queue(0.3)
    trial.settle(first, trial.places(first))
    second = trial.queue(0.0, everything=True)
    left = [place for place in trial.places(second) if place not in trial.settled]
    trial.dice.shuffle(left)
    share, said = max(1, len(left) // 10), trial.read(first, alpha)
    worse = "hard"
    while left and said.accepted is None:
        left.sort(key=lambda place: place[1] != worse)
        now, left = left[:share], left[share:]
        trial.settle(second, now)
        wrong = sum(place in trial.wrong for place in now)
        worse = worse if wrong > alpha * len(now) else CRITERIA[1 - CRITERIA.index(worse)]
        said = trial.read(first, alpha)
    return [said]


def easy_first(trial: Trial, alpha: float) -> list[Said]:
    """A second queue takes the easy criterion a tenth at a time, until something is accepted."""
    first = trial.queue(0.3)
    trial.settle(first, trial.places(first))
    second = trial.queue(0.0, ("easy",), everything=True)
    left = [place for place in trial.places(second) if place not in trial.settled]
    said = trial.read(first, alpha)
    while left and said.accepted is None:
        now, left = left[:15], left[15:]
        trial.settle(second, now)
        said = trial.read(first, alpha)
    return [said]


def fresh_draws(trial: Trial, alpha: float) -> list[Said]:
    """A fresh audit of what is left, up to eight of them, until one accepts something."""
    said = one_queue(trial, alpha)[0]
    for _ in range(7):
        left = sum(place not in trial.settled for place in trial.cells)
        if said.accepted is not None or left < 20:
            break
        queue = trial.queue(min(1.0, 40 / left))
        trial.settle(queue, trial.places(queue))
        said = trial.read(queue, alpha)
    return [said]


WORKLOADS: dict[str, Workload] = {
    "one queue": one_queue,
    "then the easy criterion": then_easy,
    "half of the hard one before the audit": then_hard,
    "two overlapping audits": two_audits,
    "three queues": three_queues,
    "a queue that follows what is wrong": until_accepted,
    "the easy ones until it accepts": easy_first,
    "a fresh audit until it accepts": fresh_draws,
}


@dataclass
class Tally:
    """Of all promises: accepted something, broken, intervals given, intervals that missed."""

    promises: int = 0
    accepted: int = 0
    broken: int = 0
    given: int = 0
    missed: int = 0

    def add(self, said: Said, alpha: float) -> None:
        """Count one."""
        self.promises += 1
        self.accepted += said.accepted is not None
        self.broken += said.broken(alpha)
        self.given += said.found.accuracy.value is not None
        self.missed += said.missed


def tallies(
    path: Path, work: Workload, alpha: float, shares: dict[str, float], trials: int, seed: int = 1
) -> list[Tally]:
    """A tally for each promise that the workload reads."""
    found: list[Tally] = []
    for n in range(trials):
        fresh = path.with_name("trial.db")
        for old in path.parent.glob("trial.db*"):
            old.unlink()
        copyfile(path, fresh)
        store = Store(fresh)
        trial = Trial(store, random.Random(f"{seed}:{n}"), shares)
        for i, said in enumerate(work(trial, alpha)):
            if len(found) <= i:
                found.append(Tally())
            found[i].add(said, alpha)
        store.close()
    return found

"""What came of a queue so far: verdicts mended, what is still to gain, time, doubtful criteria."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from core.domain.review import Why
from core.domain.review_records import EventRow
from core.services.judged import judged_options
from core.services.queueing import progress
from core.services.settling import settled
from core.store.store import Store

#: Longer than this on one cell, and the person was elsewhere.
AWAY_MS = 15 * 60 * 1000


@dataclass(frozen=True)
class Trouble:
    """A criterion that people found hard to apply. Verdicts that gave each reason, of ``of``."""

    criterion: str
    ambiguous: int
    wrong: int
    double: int
    of: int

    @property
    def said(self) -> int:
        """How many verdicts say that the criterion is at fault."""
        return self.ambiguous + self.wrong + self.double


@dataclass(frozen=True)
class Session:
    """What came of a queue.

    Of ``settled`` cells people kept the panel's verdict on ``kept``, changed it on ``mended``, gave
    one where the panel had none on ``given``, and found that nobody can say on ``uncertain``.
    ``flips`` and ``change`` are still expected of ``left`` open cells. ``minutes`` is the time that
    was spent on ``timed`` verdicts; ``each_seconds`` the median of one; ``left_minutes`` what the
    verdicts that are still needed will take at that pace. ``None`` where no time is known.
    """

    settled: int
    kept: int
    mended: int
    given: int
    uncertain: int
    left: int
    flips: float
    change: float
    minutes: float
    timed: int
    each_seconds: float | None
    left_minutes: float | None
    troubles: tuple[Trouble, ...]


def session(store: Store, queue_id: int) -> Session:
    """What came of a queue so far. Raises ``NotFound``."""
    queue = store.queues.get(queue_id)
    known = settled(store, queue.run_id)
    judged = judged_options(store, queue.run_id)
    counts = dict.fromkeys(("kept", "mended", "given", "uncertain"), 0)
    for cell in store.queues.cells(queue_id):
        place = (cell.item_id, cell.criterion)
        decided = known.get(place)
        if decided is not None and decided.state == "active":
            counts[_became(decided.option, judged.get(place))] += 1
    now = progress(store, queue_id)
    times = spent(store.events.of_run(queue.run_id, queue_id))
    each = median(times) / 1000 if times else None
    return Session(
        settled=sum(counts.values()),
        **counts,
        left=now.total - now.resolved,
        flips=now.flips,
        change=now.change,
        minutes=sum(times) / 60_000,
        timed=len(times),
        each_seconds=each,
        left_minutes=None if each is None else _needed(store, queue_id) * each / 60,
        troubles=_troubles(store, queue_id),
    )


def _became(option: int | None, judged: int | None) -> str:
    if option is None:
        return "uncertain"
    if judged is None:
        return "given"
    return "kept" if option == judged else "mended"


def spent(events: Iterable[EventRow]) -> list[int]:
    """Milliseconds spent on each verdict, as far as told; those of people who went away are cut."""
    return [
        min(event.ms_active, AWAY_MS)
        for event in events
        if event.action == "verdict" and event.ms_active is not None and event.ms_active > 0
    ]


def _needed(store: Store, queue_id: int) -> int:
    """How many verdicts the open cells still need."""
    required = {item.item_id: item.required for item in store.queues.items(queue_id)}
    given: dict[tuple[str, str], int] = {}
    for verdict in store.verdicts.of_queue(queue_id):
        if verdict.final is not None and verdict.part == "review":
            place = (verdict.item_id, verdict.criterion)
            given[place] = given.get(place, 0) + 1
    return sum(
        max(1, required[cell.item_id] - given.get((cell.item_id, cell.criterion), 0))
        for cell in store.queues.cells(queue_id)
        if cell.state != "resolved"
    )


def _troubles(store: Store, queue_id: int) -> tuple[Trouble, ...]:
    whys: dict[str, list[Why | None]] = {}
    for verdict in store.verdicts.of_queue(queue_id):
        whys.setdefault(verdict.criterion, []).append((verdict.final or verdict.first).why)
    found = [
        Trouble(
            name,
            said.count("ambiguous_criterion"),
            said.count("criterion_wrong"),
            said.count("split_criterion"),
            len(said),
        )
        for name, said in whys.items()
    ]
    return tuple(sorted((t for t in found if t.said), key=lambda t: (-t.said, t.criterion)))

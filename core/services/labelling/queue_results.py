"""What came of a queue: what people kept and changed, in what time, what they called at fault."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from core.domain.review import Why
from core.services.results.browsing import judged_options
from core.services.review import queues
from core.services.review.reviewer_quality import spent
from core.store.store import Store


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
    ``changed`` are the items on which a verdict was changed.
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
    changed: tuple[str, ...] = ()


def session(store: Store, queue_id: int) -> Session:
    """What came of a queue so far. Raises ``NotFound``."""
    queue = store.queues.get(queue_id)
    decided = store.settled.options(queue.run_id, queue_id)
    judged = judged_options(store, queue.run_id, [(item, name) for item, name, _ in decided])
    counts = dict.fromkeys(("kept", "mended", "given", "uncertain"), 0)
    changed: dict[str, None] = {}
    for item_id, criterion, option in decided:
        became = _became(option, judged.get((item_id, criterion)))
        counts[became] += 1
        if became == "mended":
            changed[item_id] = None
    now = queues.progress(store, queue_id)
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
        left_minutes=None if each is None else store.verdicts.needed(queue_id) * each / 60,
        troubles=_troubles(store, queue_id),
        changed=tuple(changed),
    )


def _became(option: int | None, judged: int | None) -> str:
    if option is None:
        return "uncertain"
    if judged is None:
        return "given"
    return "kept" if option == judged else "mended"


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

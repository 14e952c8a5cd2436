"""Results of a queue: verdicts that people kept and changed, their time, and faulty criteria."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple

from core.domain.review import Why
from core.domain.review_records import QueueRow
from core.services.results.browsing import judged_options
from core.services.results.scored_items import scored_rubric
from core.services.review import queues
from core.services.review.reviewer_quality import milliseconds_spent
from core.store.store import Store


@dataclass(frozen=True)
class CriterionTrouble:
    """A criterion that was hard to apply: how many of ``of`` verdicts gave each reason."""

    criterion: str
    ambiguous: int
    wrong: int
    double: int
    of: int

    @property
    def faulty_criterion_count(self) -> int:
        """Return how many verdicts call the criterion faulty."""
        return self.ambiguous + self.wrong + self.double


#: What people's decision did to the panel's verdict on a cell.
Became = Literal["mended", "kept", "given", "uncertain"]


class DecidedCell(NamedTuple):
    """A settled cell: the panel's label before (``None``: no verdict), and people's (``None``:
    uncertain).
    """

    item_id: str
    criterion: str
    became: Became
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Session:
    """The results of a queue.

    Of ``settled`` cells people kept the panel's verdict on ``kept``, changed it on ``mended``,
    added a missing one on ``given``, and left ``uncertain`` ones open. ``cells`` has the settled
    cells. ``flips`` and ``change`` are expected of the ``left`` open cells. ``minutes`` is the time
    spent on ``timed`` verdicts, ``each_seconds`` their median, ``left_minutes`` the time for the
    remaining verdicts at that pace. Unknown times are ``None``.
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
    troubles: tuple[CriterionTrouble, ...]
    cells: tuple[DecidedCell, ...] = ()

    def of(self, became: Became) -> tuple[DecidedCell, ...]:
        """Return the cells with this result."""
        return tuple(cell for cell in self.cells if cell.became == became)

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the items with a changed verdict."""
        return tuple(dict.fromkeys(cell.item_id for cell in self.of("mended")))


def session(store: Store, queue_id: int) -> Session:
    """Return the results of a queue so far. Raises ``NotFound``."""
    queue = store.queues.get(queue_id)
    cells = _decided_cells(store, queue)
    counts = Counter(cell.became for cell in cells)
    progress = queues.queue_progress(store, queue_id)
    times = milliseconds_spent(store.events.of_run(queue.run_id, queue_id))
    seconds = median(times) / 1000 if times else None
    return Session(
        settled=len(cells),
        kept=counts["kept"],
        mended=counts["mended"],
        given=counts["given"],
        uncertain=counts["uncertain"],
        left=progress.total - progress.resolved,
        flips=progress.flips,
        change=progress.change,
        minutes=sum(times) / 60_000,
        timed=len(times),
        each_seconds=seconds,
        left_minutes=None
        if seconds is None
        else store.verdicts.verdicts_needed(queue_id) * seconds / 60,
        troubles=_criterion_troubles(store, queue_id),
        cells=cells,
    )


def _decided_cells(store: Store, queue: QueueRow) -> tuple[DecidedCell, ...]:
    """Return the settled cells of a queue, by item and criterion."""
    decided = store.settled.options(queue.run_id, queue.id)
    judged = judged_options(store, queue.run_id, [(item, name) for item, name, _ in decided])
    run = store.runs.get(queue.run_id)
    rubric, own_rubrics = scored_rubric(store, run), store.vote_statistics.own_rubrics(run.id)

    def cell(item_id: str, name: str, option: int | None) -> DecidedCell:
        before = judged.get((item_id, name))
        choices = own_rubrics.get(item_id, rubric).criterion(name).choices
        first, last = (None if at is None else choices[at].label for at in (before, option))
        return DecidedCell(item_id, name, _change_of_verdict(option, before), first, last)

    return tuple(cell(*row) for row in decided)


def _change_of_verdict(option: int | None, judged: int | None) -> Became:
    if option is None:
        return "uncertain"
    if judged is None:
        return "given"
    return "kept" if option == judged else "mended"


def _criterion_troubles(store: Store, queue_id: int) -> tuple[CriterionTrouble, ...]:
    whys: dict[str, list[Why | None]] = {}
    for verdict in store.verdicts.of_queue(queue_id):
        whys.setdefault(verdict.criterion, []).append((verdict.final or verdict.first).why)
    troubles = [
        CriterionTrouble(
            name,
            reasons.count("ambiguous_criterion"),
            reasons.count("criterion_wrong"),
            reasons.count("split_criterion"),
            len(reasons),
        )
        for name, reasons in whys.items()
    ]
    return tuple(
        sorted(
            (t for t in troubles if t.faulty_criterion_count),
            key=lambda t: (-t.faulty_criterion_count, t.criterion),
        )
    )

"""Ten more texts of a run to grade, whole and blind: the next ones of a random order of its items.

People do not choose them, so their labels represent all of its texts (``queueing.drawn_texts``).
"""

from __future__ import annotations

from typing import Any

from core.domain.review import QueueRule, Seat
from core.domain.review_records import QueueRow
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.estimate import Estimate
from core.services.access.allowing import allowed
from core.services.guided import learning
from core.services.guided.learning import LearntSoFar
from core.services.guided.own_grades import TEN, in_draw_order
from core.services.queueing import drawn_texts
from core.services.queueing.drawn_texts import DrawnTexts
from core.services.results.run_columns import ids_of_run
from core.services.review import queues
from core.store.store import Store

#: With more texts or labels, learning takes too long for a page.
MOST_TEXTS, MOST_LABELLED = 1_000, 200


#: How many drawn texts are graded, how many come next, and their unfinished queue, if any.
TenMore = tuple[int, int, QueueRow | None]


def progress(store: Store, run_id: int) -> TenMore:
    """Return the progress of grading a run's drawn texts. Raises ``NotFound``."""
    finished = drawn_texts.finished_draw(store, run_id)
    graded = 0 if finished is None else len(finished.items)
    queue = _unfinished_queue(store, run_id)
    items = (
        _next_texts(store, store.runs.get(run_id), finished)
        if queue is None
        else queue.rule.items or ()
    )
    return graded, len(items), queue


@allowed("review")
def take_up(store: Store, seat: Seat, run_id: int) -> QueueRow:
    """Return the queue of the run's next ten texts, created unless one is unfinished.

    Raises:
        InputError: every text has all labels.
        NotAllowed: there is no queue, and this person may not create one.
    """
    queue = _unfinished_queue(store, run_id)
    if queue is not None:
        return queue
    run = store.runs.get(run_id)
    items = _next_texts(store, run, drawn_texts.finished_draw(store, run_id))
    if not items:
        raise InputError("Every text of this run has a label on every criterion.")
    rule = QueueRule.only(everything=True, items=items, drawn=_event_before_draws(store, run_id))
    number = len(drawn_texts.queues_of(store, run_id)) + 1
    name = f"Drawn texts, part {number}"
    return queues.make_queue(store, seat, run_id, name, rule, queues.USUAL, order="dataset")


def current_learning(store: Store, run: Run) -> LearntSoFar | None:
    """Return what the run's judges would learn now; ``None`` if none learns, or it takes too long.

    Labels that people settled in a run count, so a new run learns from them.
    """
    version = store.datasets.version(run.dataset_version_id)
    if not any(judge.learns for judge in run.panel.judges) or version.items > MOST_TEXTS:
        return None
    settled = store.settled.truth(version.id)
    if version.labelled + len(settled) > MOST_LABELLED:
        return None
    return learning.learning(store, version, store.rubrics.version(run.rubric_version_id))


def as_data(progress: TenMore, so_far: LearntSoFar | None) -> dict[str, Any]:
    """Return progress and learning for ``--json``."""
    graded, left, queue = progress
    data: dict[str, Any] = {
        "queue": None if queue is None else queue.id,
        "texts": left,
        "graded": graded,
    }
    if so_far is None:
        return data
    criteria = {
        criterion.criterion: {
            "labels": criterion.labels,
            "kappa": criterion.kappa,
            "ci": Estimate(criterion.kappa, criterion.low, criterion.high).ci,
            "in_words": criterion.words,
        }
        for criterion in so_far.criteria
    }
    return data | {
        "learnt": {"enough": so_far.enough, "in_words": so_far.words, "criteria": criteria}
    }


def _unfinished_queue(store: Store, run_id: int) -> QueueRow | None:
    queues_ = (q for q in drawn_texts.queues_of(store, run_id) if q.archived is None)
    return next((queue for queue in queues_ if drawn_texts.has_unresolved(store, queue)), None)


def _event_before_draws(store: Store, run_id: int) -> int | None:
    """Return the last review event before the first draw, whose frame all draws share; or
    ``None``.
    """
    earlier = drawn_texts.queues_of(store, run_id)
    return earlier[0].rule.drawn if earlier else store.settled.last_event()


def _next_texts(store: Store, run: Run, done: DrawnTexts | None) -> tuple[str, ...]:
    """Return the ten texts after those ``done``, or more until one of them has something to grade.

    Texts that were settled otherwise since the first draw are not skipped: a random sample has its
    share of them.
    """
    if done is None:
        known = drawn_texts.known_items(store, run, _event_before_draws(store, run.id))
    else:
        known = done.known | done.items
    ids = list(ids_of_run(store, run))
    version = store.datasets.version(run.dataset_version_id)
    remaining = [item_id for item_id in in_draw_order(ids, version) if item_id not in known]
    settled = drawn_texts.settled_items(store, run)
    for end in range(TEN, len(remaining) + TEN, TEN):
        if set(remaining[:end]) - settled:
            return tuple(remaining[:end])
    return ()

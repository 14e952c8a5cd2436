"""The cells of a run that people labelled with a known chance, so that they represent the rest.

A fully reviewed queue provides them: all cells that its rule selected are decided, and its random
audit represents the cells it was drawn from. A run whose cells all have labels provides them too,
and so do labels that a person declared to be a random draw (``label_draws``). Other labels were
picked with an unknown chance, and are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from core.domain.library import LabelDraw
from core.domain.review_records import QueueRow
from core.services.datasets import label_draws
from core.services.queueing import drawn_texts
from core.services.queueing.drawn_cells import (
    DrawnCells,
    cells_with_values,
    item_cells,
    labelled_cells,
)
from core.services.review import random_audit
from core.services.review.random_audit import all_voted_before, audit_frame_of
from core.store.store import Store
from core.text.numbers import count, plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.metrics.estimate import Estimate

    Numbers = npt.NDArray[Any]

NOBODY = (
    "No randomly drawn cells of this run have labels. A queue with a random audit, reviewed to "
    "its end, would tell."
)


@dataclass(frozen=True)
class DrawnLabels:
    """Labelled cells from which a whole run may be estimated. If they cannot represent the run,
    ``reason`` says why.

    ``queue`` is the newest queue that drew them. It is ``None`` if all cells have labels, or if the
    draw was only ``declared``.
    """

    read: Callable[[], DrawnCells]
    queue: QueueRow | None = None
    reason: str = ""
    declared: LabelDraw | None = None

    @cached_property
    def cells(self) -> DrawnCells:
        """Return the cells, read on first use, as there can be a million."""
        return self.read()

    @property
    def by_item(self) -> bool:
        """Return whether whole items were drawn, with all of their cells."""
        return self.declared is not None or (
            self.queue is not None and self.queue.rule.drawn is not None
        )

    def of(self, criterion: str) -> DrawnCells:
        """Return the cells of one criterion, or all for an empty string."""
        return self.cells.of(criterion) if criterion else self.cells

    def narrowed(self, criterion: str) -> DrawnLabels:
        """Return the labels of one criterion, or all for an empty string."""
        return replace(self, read=partial(self.of, criterion))


def confirmed_share(labels: DrawnLabels, level: float) -> tuple[Estimate, int, int]:
    """Return how often people confirm the votes' verdicts on all of these cells, with the number
    of drawn labels and the number of cells that a rule or a person picked.
    """
    import numpy as np

    from core.metrics.intervals.clustered_share import clustered_share
    from core.metrics.intervals.sampling import mean_of_selected

    cells = labels.cells
    cells = cells.take(random_audit.has_verdict(cells.table)[cells.cells])
    labelled, certain = cells.option >= 0, cells.stratum == 0
    drawn = labelled & cells.drawn & ~certain
    cells_represented = np.ones(len(cells))
    cells_represented[~certain] = random_audit.represented_cells(
        cells.stratum[~certain], drawn[~certain]
    )
    counted = labelled & (certain | drawn)
    right = (cells.option == cells.voted)[counted].astype(float)
    share = mean_of_selected(right, cells_represented[counted], drawn[counted], level)
    if labels.by_item and share.value is not None:
        # The cells of an item are right or wrong together, so the share is clustered by item.
        share = clustered_share(right, cells.item[counted], cells_represented[counted], level)
    return share, int(drawn.sum()), int((labelled & certain).sum())


def labels_of_queue(store: Store, queue: QueueRow) -> DrawnLabels:
    """Return the cells that a queue's rule covers, with the queue's labels. Raises ``NotFound``.

    A queue of drawn items represents all items, together with those drawn before. Cells that people
    could not assess, and cells without votes and label, are excluded.
    """
    waiting = random_audit.unresolved_cells(store, queue.id)
    if _changed_since(store, queue):
        waiting += audit_frame_of(store, queue).behind
    reason = ""
    if waiting:
        are = "is" if waiting == 1 else "are"
        reason = f"{plural(waiting, 'cell')} of the queue {are} still open."
    if queue.rule.drawn is not None:
        texts = drawn_texts.finished_draw(store, queue.run_id)
        return DrawnLabels(partial(item_cells, store, queue.run_id, None, texts), queue, reason)
    return DrawnLabels(partial(_cells_of, store, queue), queue, reason)


def _changed_since(store: Store, queue: QueueRow) -> bool:
    """Return whether votes may have come after a queue was created, or decisions before it.

    Otherwise all cells existed when the queue drew.
    """
    return not all_voted_before(store, queue) or bool(
        store.settled.active_at(queue.run_id, queue.created)
    )


def _cells_of(store: Store, queue: QueueRow) -> DrawnCells:
    import numpy as np

    from core.services.results.run_columns import NO_LABEL

    framed = audit_frame_of(store, queue)
    table = framed.table
    stratum, drawn = np.zeros(len(table), np.int64), np.zeros(len(table), np.bool_)
    stratum[framed.cells], drawn[framed.cells] = framed.stratum + 1, framed.drawn
    values_by_option = table.by_option(lambda criterion: criterion.values)
    value = values_by_option[table.question, np.maximum(table.decided, -1)]
    # Without a value from people, a comparison is impossible.
    without_value = (table.decided != NO_LABEL) & np.isnan(value)
    counted = table.asked_about(queue.rule) & table.has_verdict & ~without_value
    return cells_with_values(table, table.decided, stratum, drawn, counted)


def labels_of_run(store: Store, run_id: int, criterion: str = "") -> DrawnLabels:
    """Return the labels that represent all cells of a run, or of one criterion.

    They come from a fully reviewed queue that covers all of them, archived or not, joined with
    queues that continued its draw (``_joined_draws``), or from items drawn whole; the most precise
    of several. Otherwise they are all labels if every cell has one, or the dataset's if they are
    declared to be a random draw. Raises ``NotFound``.
    """
    best: DrawnLabels | None = None
    open_yet: DrawnLabels | None = None
    for queue in store.queues.all_of_run(run_id):
        criteria = queue.rule.criteria
        covers = criteria is None or bool(criterion and criterion in criteria)
        if queue.rule.items is not None or not (covers or (best and not criterion)):
            continue
        if not store.queues.drawn(queue.id, "audit"):
            continue
        labels = labels_of_queue(store, queue).narrowed(criterion)
        if labels.reason:
            open_yet = labels
            continue
        joined = None if best is None else _joined_draws(store, best, labels, queue)
        best = joined or (_more_precise(best, labels) if covers else best)
    if best is not None and drawn_texts.finished_draw(store, run_id) is None:
        return best
    labels = _labels_of_all_cells(store, run_id, open_yet, criterion)
    return labels if best is None else _more_precise(best, labels)


def number_drawn(store: Store, run_id: int) -> int:
    """Return how many cells of a run were drawn at random and have a label. Raises ``NotFound``."""
    import numpy as np

    labels = labels_of_run(store, run_id)
    if labels.reason:
        return 0
    return int((~np.isnan(labels.cells.counted) & labels.cells.drawn).sum())


def labels_by_criterion(store: Store, run_id: int, names: Sequence[str]) -> dict[str, DrawnLabels]:
    """Return the labels for all cells (under the empty string), and for each criterion."""
    all_labels = labels_of_run(store, run_id)
    narrow = {
        name for queue in store.queues.all_of_run(run_id) for name in queue.rule.criteria or ()
    }
    return {"": all_labels} | {
        name: labels_of_run(store, run_id, name) if name in narrow else all_labels.narrowed(name)
        for name in names
    }


def _joined_draws(
    store: Store, before: DrawnLabels, continued: DrawnLabels, queue: QueueRow
) -> DrawnLabels | None:
    """Combine two draws if the second's rule and audit cover what the first left.

    All cells that the second rule selects are then known, including those of the first draw. Return
    ``None`` if a cap left out selected cells, something other than votes selected some, some were
    settled in between, or both draws share a seed and so depend on each other. A cell's chance
    depends on the strata of both draws, so the combined strata are their pairs.
    """
    import numpy as np

    from core.services.queueing.draw_chances import strata
    from core.services.queueing.queue_cells import wanted_by_votes

    if before.queue is None or before.queue.seed == queue.seed:
        return None
    first, continued_cells = before.cells, continued.cells
    table = first.table
    selected = wanted_by_votes(store, table, store.runs.get(queue.run_id), queue.rule)
    if selected is None:
        return None
    considered = table.asked_about(queue.rule)[first.cells]
    ruled = selected[first.cells] & considered
    remaining = first.cells[(first.stratum > 0) & ~first.drawn & considered & ~ruled]
    if not np.array_equal(remaining, continued_cells.cells[continued_cells.stratum > 0]):
        return None
    second_stratum, _ = strata(queue.rule.draw, table.drawn_from(first.cells, first.voted))
    strata_of_both = np.stack([first.stratum, np.where(considered, second_stratum, -1)])
    _, number = np.unique(strata_of_both, axis=1, return_inverse=True)
    drawn = first.drawn | np.isin(first.cells, continued_cells.cells[continued_cells.drawn])
    # Number 0 marks cells that the first draw skipped, so strata count from 1.
    stratum = np.where((first.stratum > 0) & ~ruled, number + 1, 0)
    joined = replace(first, stratum=stratum, drawn=drawn & ~ruled)
    return DrawnLabels(lambda: joined, queue)


def _more_precise(before: DrawnLabels | None, labels: DrawnLabels) -> DrawnLabels:
    """Return the more precise of two draws that cannot be combined."""
    return (
        labels
        if before is None or _sampling_error(labels.cells) <= _sampling_error(before.cells)
        else before
    )


def _sampling_error(cells: DrawnCells) -> float:
    """Return a draw's sampling error, apart from the cells' variance (Cochran 1977, 5.3)."""
    import numpy as np

    open_ = cells.stratum > 0
    if not open_.any():
        return 0.0
    _, index = np.unique(cells.stratum[open_], return_inverse=True)
    sizes, labels = np.bincount(index), np.bincount(index, weights=cells.drawn[open_])
    with np.errstate(divide="ignore"):
        return float((sizes * (sizes - labels) / labels).sum())


def _labels_of_all_cells(
    store: Store, run_id: int, queued: DrawnLabels | None, criterion: str
) -> DrawnLabels:
    """Return all cells if each has a label, otherwise the reason why they are not a draw."""
    import numpy as np

    from core.services.results import fair_sample

    labels = DrawnLabels(partial(labelled_cells, store, run_id)).narrowed(criterion)
    cells, labelled = len(labels.cells), int((~np.isnan(labels.cells.value)).sum())
    if labelled == cells and cells:
        return labels
    draw = label_draws.declared_draw(store, store.runs.row(run_id).dataset_version_id)
    texts = drawn_texts.finished_draw(store, run_id)
    if draw is not None or texts is not None:
        unlike = fair_sample.draw_contradiction(store, run_id, draw) if draw is not None else ""
        if unlike and texts is not None:
            draw, unlike = None, ""
        reason = unlike and f"The labels are not a fair sample: {unlike}."
        queue = None if texts is None else texts.queue
        drawn = DrawnLabels(partial(item_cells, store, run_id, draw, texts), queue, reason, draw)
        return drawn.narrowed(criterion)
    if queued is not None and queued.queue is not None:
        open_ = f"{queued.reason[:-1]} (“{queued.queue.name}”)"
        return replace(queued, reason=f"{open_}: what is decided first is not a random draw.")
    if not labelled:
        return replace(labels, reason=NOBODY)
    reason = (
        f"{count(labelled)} of {plural(cells, 'cell')} {'has' if labelled == 1 else 'have'} a "
        "label, and how likely each was to be picked is unknown. Only labels drawn at random "
        "speak of the rest: those of a queue with a random audit, reviewed to its end, or labels "
        "of the dataset that somebody declares to be so (Datasets, Labels)."
    )
    return replace(labels, reason=reason)

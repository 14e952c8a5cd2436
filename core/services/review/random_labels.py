"""The cells of a run that people labelled with a known chance, so that they represent the rest.

A fully reviewed queue provides them: all cells that its rule selected are decided, and its random
audit represents the cells it was drawn from. So does a run whose cells all have labels, and so do
labels that a person declared to be a random draw (``label_draws``). Other labels were picked with
an unknown chance, and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from core.domain.library import LabelDraw
from core.domain.review_records import QueueRow
from core.services.datasets import label_draws
from core.services.review import random_audit
from core.services.review.random_audit import frame, voted_before
from core.store.store import Store
from core.text.numbers import count, plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.metrics.estimate import Estimate
    from core.services.queueing.queue_table import CellTable

    Numbers = npt.NDArray[Any]

NOBODY = (
    "No randomly drawn cells of this run have labels. A queue with a random audit, reviewed to "
    "its end, would tell."
)


@dataclass(frozen=True)
class DrawnCells:
    """Cells with the votes' option and the people's option, as columns.

    ``cells`` are indexes into the table. Missing options are negative. ``said`` and ``value`` are
    the same two as numbers. ``value`` is NaN without a label; votes without a value take the
    people's. ``stratum`` is 0 if cells were decided completely. Cells of any other stratum had the
    same chance to be drawn, and ``drawn`` were. Labels of cells that were not drawn do not count
    (``counted``).
    """

    table: CellTable
    cells: Numbers
    voted: Numbers
    option: Numbers
    said: Numbers
    value: Numbers
    stratum: Numbers
    drawn: Numbers

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, kept: Numbers) -> DrawnCells:
        """Return the selected cells, given as flags or indexes."""
        columns = {field.name: getattr(self, field.name)[kept] for field in fields(self)[1:]}
        return DrawnCells(self.table, **columns)

    def and_more(self, others: DrawnCells) -> DrawnCells:
        """Return these cells and others of the same table."""
        import numpy as np

        columns = {
            field.name: np.concatenate([getattr(self, field.name), getattr(others, field.name)])
            for field in fields(self)[1:]
        }
        return DrawnCells(self.table, **columns)

    def of(self, criterion: str) -> DrawnCells:
        """Return the cells of one criterion."""
        return self.take(self.table.of(criterion)[self.cells])

    @property
    def item(self) -> Numbers:
        """Return the index of each cell's item in the run."""
        return self.table.item[self.cells]

    @property
    def question(self) -> Numbers:
        """Return the index of each cell's question in the table."""
        return self.table.question[self.cells]

    @property
    def weight(self) -> Numbers:
        """Return each cell's weight in a score."""
        return self.table.weight[self.cells]

    @property
    def counted(self) -> Numbers:
        """Return each cell's label as a number if it counts, else NaN.

        In a stratum only drawn labels count, unless all other cells have labels too: then nothing
        is left to chance.
        """
        import numpy as np

        rest = (self.stratum > 0) & ~self.drawn
        if not np.isnan(self.value[rest]).any():
            return self.value
        return np.where(rest, np.nan, self.value)


def _cells(
    table: CellTable, option: Numbers, stratum: Numbers, drawn: Numbers, kept: Numbers
) -> DrawnCells:
    """Return the selected cells, except those without a value from votes and people.

    All columns cover the whole table.
    """
    import numpy as np

    worth = table.by_option(lambda criterion: criterion.values)
    voted, value = (
        worth[table.question, np.maximum(options, -1)] for options in (table.judged, option)
    )
    cells = np.flatnonzero(kept & ~(np.isnan(voted) & np.isnan(value)))
    voted = np.where(np.isnan(voted), value, voted)
    columns = (table.judged, option, voted, value, stratum, drawn)
    return DrawnCells(table, cells, *(column[cells] for column in columns))


@dataclass(frozen=True)
class DrawnLabels:
    """Cells that may represent a run. ``reason`` says why they cannot, or is empty.

    ``queue`` is the queue that drew them. It is ``None`` if all cells have labels, or if the draw
    was ``declared``: then whole items were drawn, with all of their cells.
    """

    read: Callable[[], DrawnCells]
    queue: QueueRow | None = None
    reason: str = ""
    declared: LabelDraw | None = None

    @cached_property
    def cells(self) -> DrawnCells:
        """Return the cells, read on first use, as there can be a million."""
        return self.read()

    def of(self, criterion: str) -> DrawnCells:
        """Return the cells of one criterion; of all for the empty string."""
        return self.cells.of(criterion) if criterion else self.cells

    def narrowed(self, criterion: str) -> DrawnLabels:
        """Return the labels of one criterion; of all for the empty string."""
        return replace(self, read=partial(self.of, criterion))


def confirmed(found: DrawnLabels, level: float) -> tuple[Estimate, int, int]:
    """Return how often people confirm the votes' verdicts on all of these cells, with the number
    of drawn labels and the number of cells that a rule or a person picked.
    """
    import numpy as np

    from core.metrics.intervals.sampling import honest_mean

    cells = found.cells
    cells = cells.take(random_audit.has_verdict(cells.table)[cells.cells])
    labelled, certain = cells.option >= 0, cells.stratum == 0
    drawn = labelled & cells.drawn & ~certain
    stands = np.ones(len(cells))
    stands[~certain] = random_audit.stands_for(cells.stratum[~certain], drawn[~certain])
    counted = labelled & (certain | drawn)
    right = (cells.option == cells.voted)[counted].astype(float)
    means = honest_mean(right, stands[counted], drawn[counted], certain[counted], level)
    return means.weighted, int(drawn.sum()), int((labelled & certain).sum())


def of_queue(store: Store, queue: QueueRow) -> DrawnLabels:
    """Return the cells that a queue's rule covers, with the queue's labels. Raises ``NotFound``.

    Excluded are cells that people could not assess, and cells without votes and label.
    """
    waiting = random_audit.waiting(store, queue.id)
    if _changed_since(store, queue):
        waiting += frame(store, queue).behind
    reason = ""
    if waiting:
        are = "is" if waiting == 1 else "are"
        reason = f"{plural(waiting, 'cell')} of the queue {are} still open."
    return DrawnLabels(partial(_cells_of, store, queue), queue, reason)


def _changed_since(store: Store, queue: QueueRow) -> bool:
    """Return whether votes may have come after a queue was created, or decisions before it.

    Otherwise its draw knew of all cells.
    """
    return not voted_before(store, queue) or bool(
        store.settled.active_at(queue.run_id, queue.created)
    )


def _cells_of(store: Store, queue: QueueRow) -> DrawnCells:
    import numpy as np

    from core.services.results.run_columns import NO_LABEL

    audit_frame = frame(store, queue)
    table, framed = audit_frame.table, audit_frame.cells
    stratum, drawn = np.zeros(len(table), np.int64), np.zeros(len(table), np.bool_)
    stratum[framed.cells], drawn[framed.cells] = framed.stratum + 1, framed.drawn
    worth = table.by_option(lambda criterion: criterion.values)
    value = worth[table.question, np.maximum(table.decided, -1)]
    # Without a value from people there is nothing to compare.
    nothing = (table.decided != NO_LABEL) & np.isnan(value)
    counted = table.asked_about(queue.rule) & table.there & ~nothing
    return _cells(table, table.decided, stratum, drawn, counted)


def of_run(store: Store, run_id: int, criterion: str = "") -> DrawnLabels:
    """Return the labels that represent all cells of a run, or of one criterion.

    These come from a fully reviewed queue that covers all of them, archived or not, joined with
    queues that continued its draw (``_joined``); of several, the most precise. Otherwise they are
    all labels if every cell has one, or the dataset's if they are declared to be a random draw.
    Raises ``NotFound``.
    """
    best: DrawnLabels | None = None
    open_yet: DrawnLabels | None = None
    for queue in store.queues.ever(run_id):
        criteria = queue.rule.criteria
        covers = criteria is None or bool(criterion and criterion in criteria)
        if queue.rule.items is not None or not (covers or (best and not criterion)):
            continue
        if not store.queues.drawn(queue.id, "audit"):
            continue
        labels = of_queue(store, queue).narrowed(criterion)
        if labels.reason:
            open_yet = labels
            continue
        more = None if best is None else _joined(store, best, labels, queue)
        best = more or (_surer(best, labels) if covers else best)
    return best or _all_labelled(store, run_id, open_yet, criterion)


def number_drawn(store: Store, run_id: int) -> int:
    """Return how many cells of a run were drawn at random and have a label; ``NotFound``."""
    import numpy as np

    labels = of_run(store, run_id)
    if labels.reason:
        return 0
    return int((~np.isnan(labels.cells.counted) & labels.cells.drawn).sum())


def by_criterion(store: Store, run_id: int, names: Sequence[str]) -> dict[str, DrawnLabels]:
    """Return the labels for all cells (under the empty string), and for each criterion."""
    whole = of_run(store, run_id)
    narrow = {name for queue in store.queues.ever(run_id) for name in queue.rule.criteria or ()}
    return {"": whole} | {
        name: of_run(store, run_id, name) if name in narrow else whole.narrowed(name)
        for name in names
    }


def _joined(
    store: Store, before: DrawnLabels, continued: DrawnLabels, queue: QueueRow
) -> DrawnLabels | None:
    """Combine two draws if the second's rule and audit cover what the first had left.

    All cells that the second rule selects are then known, including those of the first draw. It is
    ``None`` otherwise: a cap left out selected cells, something else than votes selected some, some
    were settled in between, or both draws share a seed and so depend on each other. A cell's chance
    depends on the strata of both draws, so the combined strata are their pairs.
    """
    import numpy as np

    from core.services.queueing.draw_chances import strata
    from core.services.queueing.queue_cells import wanted_by_votes

    if before.queue is None or before.queue.seed == queue.seed:
        return None
    first, fresh = before.cells, continued.cells
    table = first.table
    wanted = wanted_by_votes(store, table, store.runs.get(queue.run_id), queue.rule)
    if wanted is None:
        return None
    asked = table.asked_about(queue.rule)[first.cells]
    ruled = wanted[first.cells] & asked
    remaining = first.cells[(first.stratum > 0) & ~first.drawn & asked & ~ruled]
    if not np.array_equal(remaining, fresh.cells[fresh.stratum > 0]):
        return None
    again, _ = strata(queue.rule.draw, table.drawn_from(first.cells, first.voted))
    both = np.stack([first.stratum, np.where(asked, again, -1)])
    _, number = np.unique(both, axis=1, return_inverse=True)
    drawn = first.drawn | np.isin(first.cells, fresh.cells[fresh.drawn])
    # If the first draw skipped no cells, 0 is not among the numbers.
    stratum = np.where((first.stratum > 0) & ~ruled, number + 1, 0)
    joined = replace(first, stratum=stratum, drawn=drawn & ~ruled)
    return DrawnLabels(lambda: joined, queue)


def _surer(before: DrawnLabels | None, labels: DrawnLabels) -> DrawnLabels:
    """Return the more precise of two draws that cannot be combined."""
    return labels if before is None or _error(labels.cells) <= _error(before.cells) else before


def _error(cells: DrawnCells) -> float:
    """Return a draw's sampling error, apart from the cells' variance (Cochran 1977, 5.3)."""
    import numpy as np

    open_ = cells.stratum > 0
    if not open_.any():
        return 0.0
    _, of = np.unique(cells.stratum[open_], return_inverse=True)
    sizes, labels = np.bincount(of), np.bincount(of, weights=cells.drawn[open_])
    with np.errstate(divide="ignore"):
        return float((sizes * (sizes - labels) / labels).sum())


def _all_labelled(
    store: Store, run_id: int, queued: DrawnLabels | None, criterion: str
) -> DrawnLabels:
    """Return all cells if each has a label, or the reason why they are not a draw."""
    import numpy as np

    from core.services.results import fair_sample

    labels = DrawnLabels(partial(_labelled_cells, store, run_id)).narrowed(criterion)
    cells, labelled = len(labels.cells), int((~np.isnan(labels.cells.value)).sum())
    if labelled == cells and cells:
        return labels
    draw = label_draws.declared(store, store.runs.row(run_id).dataset_version_id)
    if draw is not None:
        unlike = fair_sample.refuted(store, run_id, draw)
        why = unlike and f"The labels are not a fair sample: {unlike}."
        drawn = DrawnLabels(partial(_declared_cells, store, run_id, draw), None, why, draw)
        return drawn.narrowed(criterion)
    if queued is not None and queued.queue is not None:
        open_ = f"{queued.reason[:-1]} (“{queued.queue.name}”)"
        return replace(queued, reason=f"{open_}: what is decided first is not a random draw.")
    if not labelled:
        return replace(labels, reason=NOBODY)
    why = (
        f"{count(labelled)} of {plural(cells, 'cell')} {'has' if labelled == 1 else 'have'} a "
        "label, and how likely each was to be picked is unknown. Only labels drawn at random "
        "speak of the rest: those of a queue with a random audit, reviewed to its end, or labels "
        "of the dataset that somebody declares to be so (Datasets, Labels)."
    )
    return replace(labels, reason=why)


def _declared_cells(store: Store, run_id: int, draw: LabelDraw) -> DrawnCells:
    """Return the cells with the dataset's labels, as people have settled them since.

    For each criterion, the draw is the items labelled on it. Labels that people added to others, in
    a queue, do not count here, since they were not drawn.
    """
    import numpy as np

    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import NO_LABEL, label_columns

    run = store.runs.get(run_id)
    table = CellTable(store, run)
    draws = label_draws.drawn_items(store, run.dataset_version_id, draw.note)
    groups = {chance: at for at, chance in enumerate(sorted(set(draws.chances.values())), 1)}
    groups |= {1.0: 0} if draw.note else {}
    of_item = np.array([groups[draws.chances[item_id]] for item_id in table.ids], np.int64)
    own = _on_cells(table, label_columns(store, run, settled=False)) != NO_LABEL
    option = np.where(own, _on_cells(table, label_columns(store, run)), NO_LABEL)
    stratum = of_item[table.item]
    worth = table.by_option(lambda asked: asked.values)
    nothing = own & np.isnan(worth[table.question, np.maximum(option, -1)])
    return _cells(table, option, stratum, own & (stratum > 0), table.there & ~nothing)


def _labelled_cells(store: Store, run_id: int) -> DrawnCells:
    """Return the cells with the labels of the dataset and of people."""
    import numpy as np

    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import label_columns

    run = store.runs.get(run_id)
    table = CellTable(store, run)
    option = _on_cells(table, label_columns(store, run))
    nowhere = np.zeros(len(table), np.int64)
    return _cells(table, option, nowhere, nowhere != 0, table.there)


def _on_cells(table: CellTable, labels: Mapping[str, Numbers]) -> Numbers:
    """Map labels of criteria, by item, to cells."""
    import numpy as np

    from core.services.results.run_columns import NO_LABEL

    by_cell = np.full(len(table), NO_LABEL)
    for name, column in labels.items():
        cells, items = table.cells_of(name, np.arange(len(table.ids)))
        by_cell[cells] = column[items]
    return by_cell

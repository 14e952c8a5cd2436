"""Which cells of a run people labelled with a known chance, and so what may speak for the rest.

A queue that was reviewed to its end gives them: cells that its rule wanted are decided whole, and
its random audit stands for those it was drawn from. A run of which every cell has a label gives
them, too, and so do labels that somebody declared to be a random draw (``label_draws``). Other
labels were picked by somebody, nobody knows with what chance, and are refused.
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
    "Nobody labelled cells of this run that were drawn at random. A queue with a random audit, "
    "reviewed to its end, would tell."
)


@dataclass(frozen=True)
class DrawnCells:
    """Cells with the option that the votes gave, and the one that people did, a column for each.

    ``cells`` says which of the table's they are. Options are negative where there is none; ``said``
    and ``value`` are both as numbers, ``value`` NaN where people gave none; where the votes say
    nothing of worth, they say what people do. ``stratum`` is 0 where cells were decided whole;
    others of one number had the same chance to be drawn, and ``drawn`` were. Labels of those that
    were not are nobody's draw, and do not count (``counted``).
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
        """Those of them that are kept, as flags or places."""
        columns = {one.name: getattr(self, one.name)[kept] for one in fields(self)[1:]}
        return DrawnCells(self.table, **columns)

    def and_more(self, others: DrawnCells) -> DrawnCells:
        """These and others of the same table."""
        import numpy as np

        columns = {
            one.name: np.concatenate([getattr(self, one.name), getattr(others, one.name)])
            for one in fields(self)[1:]
        }
        return DrawnCells(self.table, **columns)

    def of(self, criterion: str) -> DrawnCells:
        """Those of one criterion."""
        return self.take(self.table.of(criterion)[self.cells])

    @property
    def item(self) -> Numbers:
        """The place of each cell's item in the run."""
        return self.table.item[self.cells]

    @property
    def question(self) -> Numbers:
        """Which of the table's questions each is of."""
        return self.table.question[self.cells]

    @property
    def weight(self) -> Numbers:
        """What each counts in a score."""
        return self.table.weight[self.cells]

    @property
    def counted(self) -> Numbers:
        """What people say of each, where it counts; NaN where not.

        Of what was drawn from, drawn labels alone do, unless every one of the others has a label,
        too: then nothing is left to chance.
        """
        import numpy as np

        rest = (self.stratum > 0) & ~self.drawn
        if not np.isnan(self.value[rest]).any():
            return self.value
        return np.where(rest, np.nan, self.value)


def _cells(
    table: CellTable, option: Numbers, stratum: Numbers, drawn: Numbers, kept: Numbers
) -> DrawnCells:
    """The cells that are kept, less those of which neither votes nor people say anything of worth.

    All columns are of the whole table.
    """
    import numpy as np

    worth = table.by_option(lambda criterion: criterion.values)
    said, value = (worth[table.question, np.maximum(one, -1)] for one in (table.judged, option))
    cells = np.flatnonzero(kept & ~(np.isnan(said) & np.isnan(value)))
    said = np.where(np.isnan(said), value, said)
    columns = (table.judged, option, said, value, stratum, drawn)
    return DrawnCells(table, cells, *(one[cells] for one in columns))


@dataclass(frozen=True)
class DrawnLabels:
    """The cells that are spoken of. ``reason`` says why nothing can be, and is empty otherwise.

    ``queue`` is the one whose draw it was; ``None`` where all cells have labels, and where the
    draw was declared, as ``declared`` says. Then whole items were drawn, with all of their cells.
    """

    read: Callable[[], DrawnCells]
    queue: QueueRow | None = None
    reason: str = ""
    declared: LabelDraw | None = None

    @cached_property
    def cells(self) -> DrawnCells:
        """The cells; made when somebody asks for them, as there can be a million."""
        return self.read()

    def of(self, criterion: str) -> DrawnCells:
        """Those of one criterion; of all for the empty string."""
        return self.cells.of(criterion) if criterion else self.cells

    def narrowed(self, criterion: str) -> DrawnLabels:
        """Those of one criterion alone; of all for the empty string."""
        return replace(self, read=partial(self.of, criterion))


def confirmed(found: DrawnLabels, level: float) -> tuple[Estimate, int, int]:
    """How often people give the votes' verdict on all of these cells; how many labels were drawn
    for that, and how many are of cells that a rule or somebody picked.
    """
    import numpy as np

    from core.metrics.intervals.sampling import honest_mean

    cells = found.cells
    cells = cells.take(random_audit.has_verdict(cells.table)[cells.cells])
    known, certain = cells.option >= 0, cells.stratum == 0
    drawn = known & cells.drawn & ~certain
    stands = np.ones(len(cells))
    stands[~certain] = random_audit.stands_for(cells.stratum[~certain], drawn[~certain])
    there = known & (certain | drawn)
    right = (cells.option == cells.voted)[there].astype(float)
    made = honest_mean(right, stands[there], drawn[there], certain[there], level)
    return made.weighted, int(drawn.sum()), int((known & certain).sum())


def of_queue(store: Store, queue: QueueRow) -> DrawnLabels:
    """The cells that a queue's rule looked at, with the labels it brought. Raises ``NotFound``.

    Cells that people could not assess are left out, and those that neither votes nor people say
    anything of.
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
    """Whether votes may have come after a queue was made, or decisions were there before it.

    Else nothing that its draw did not know waits for it.
    """
    return not voted_before(store, queue) or bool(
        store.settled.active_at(queue.run_id, queue.created)
    )


def _cells_of(store: Store, queue: QueueRow) -> DrawnCells:
    import numpy as np

    from core.services.results.run_columns import NO_LABEL

    found = frame(store, queue)
    table, framed = found.table, found.cells
    stratum, drawn = np.zeros(len(table), np.int64), np.zeros(len(table), np.bool_)
    stratum[framed.cells], drawn[framed.cells] = framed.stratum + 1, framed.drawn
    worth = table.by_option(lambda criterion: criterion.values)
    value = worth[table.question, np.maximum(table.decided, -1)]
    # Where people say what is of no worth, or that nobody can say, nothing is left to compare.
    nothing = (table.decided != NO_LABEL) & np.isnan(value)
    kept = table.asked_about(queue.rule) & table.there & ~nothing
    return _cells(table, table.decided, stratum, drawn, kept)


def of_run(store: Store, run_id: int, criterion: str = "") -> DrawnLabels:
    """What may speak for all cells of a run, or of one criterion. Raises ``NotFound``.

    A queue that looked at all of them and was reviewed to its end, put away or not, together with
    those that went on from its draw (``_joined``), the surest of several; else all labels, where
    no cell is without; else those of the dataset, where they are declared to be a random draw.
    """
    found: DrawnLabels | None = None
    open_yet: DrawnLabels | None = None
    for queue in store.queues.ever(run_id):
        about = queue.rule.criteria
        covers = about is None or bool(criterion and criterion in about)
        if queue.rule.items is not None or not (covers or (found and not criterion)):
            continue
        if not store.queues.drawn(queue.id, "audit"):
            continue
        one = of_queue(store, queue).narrowed(criterion)
        if one.reason:
            open_yet = one
            continue
        more = None if found is None else _joined(store, found, one, queue)
        found = more or (_surer(found, one) if covers else found)
    return found or _all_labelled(store, run_id, open_yet, criterion)


def number_drawn(store: Store, run_id: int) -> int:
    """How many cells of a run were drawn at random and have a label. Raises ``NotFound``."""
    import numpy as np

    found = of_run(store, run_id)
    if found.reason:
        return 0
    return int((~np.isnan(found.cells.counted) & found.cells.drawn).sum())


def by_criterion(store: Store, run_id: int, names: Sequence[str]) -> dict[str, DrawnLabels]:
    """What may speak for all cells (under the empty string), and for those of each criterion."""
    whole = of_run(store, run_id)
    narrow = {name for queue in store.queues.ever(run_id) for name in queue.rule.criteria or ()}
    return {"": whole} | {
        name: of_run(store, run_id, name) if name in narrow else whole.narrowed(name)
        for name in names
    }


def _joined(
    store: Store, before: DrawnLabels, one: DrawnLabels, queue: QueueRow
) -> DrawnLabels | None:
    """Two draws as one: of what the first had drawn from, the second's rule took what it wanted,
    and its audit drew from all that was left.

    Cells that the rule wants are all known then, those of the first draw among them. ``None``
    where that is not so: a cap left wanted cells out, something but votes chose some, some were
    settled in between, or both draws were made with one seed and know of each other. A cell's
    chance hangs on the strata of both draws, which are the strata of both together.
    """
    import numpy as np

    from core.services.queueing.draw_chances import strata
    from core.services.queueing.queue_cells import wanted_by_votes

    if before.queue is None or before.queue.seed == queue.seed:
        return None
    first, fresh = before.cells, one.cells
    table = first.table
    wanted = wanted_by_votes(store, table, store.runs.get(queue.run_id), queue.rule)
    if wanted is None:
        return None
    asked = table.asked_about(queue.rule)[first.cells]
    ruled = wanted[first.cells] & asked
    left = first.cells[(first.stratum > 0) & ~first.drawn & asked & ~ruled]
    if not np.array_equal(left, fresh.cells[fresh.stratum > 0]):
        return None
    again, _ = strata(queue.rule.draw, table.drawn_from(first.cells, first.voted))
    both = np.stack([first.stratum, np.where(asked, again, -1)])
    _, number = np.unique(both, axis=1, return_inverse=True)
    drawn = first.drawn | np.isin(first.cells, fresh.cells[fresh.drawn])
    # Where the first draw did not look at all, 0 is not among the numbers.
    stratum = np.where((first.stratum > 0) & ~ruled, number + 1, 0)
    joined = replace(first, stratum=stratum, drawn=drawn & ~ruled)
    return DrawnLabels(lambda: joined, queue)


def _surer(before: DrawnLabels | None, one: DrawnLabels) -> DrawnLabels:
    """Of two draws that cannot be taken together the one that leaves less to chance."""
    return one if before is None or _error(one.cells) <= _error(before.cells) else before


def _error(cells: DrawnCells) -> float:
    """What a draw leaves to chance, but for how unlike the cells are (Cochran 1977, 5.3)."""
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
    """Every cell with a label; or why that is no draw."""
    import numpy as np

    from core.services.results import fair_sample

    found = DrawnLabels(partial(_labelled_cells, store, run_id)).narrowed(criterion)
    cells, labelled = len(found.cells), int((~np.isnan(found.cells.value)).sum())
    if labelled == cells and cells:
        return found
    draw = label_draws.declared(store, store.runs.row(run_id).dataset_version_id)
    if draw is not None:
        unlike = fair_sample.refuted(store, run_id, draw)
        why = unlike and f"The labels are no fair sample: {unlike}."
        drawn = DrawnLabels(partial(_declared_cells, store, run_id, draw), None, why, draw)
        return drawn.narrowed(criterion)
    if queued is not None and queued.queue is not None:
        open_ = f"{queued.reason[:-1]} (“{queued.queue.name}”)"
        return replace(queued, reason=f"{open_}: what is decided first is no random draw.")
    if not labelled:
        return replace(found, reason=NOBODY)
    why = (
        f"{count(labelled)} of {plural(cells, 'cell')} {'has' if labelled == 1 else 'have'} a "
        "label, and nobody knows with what chance each was picked. Only labels drawn at random "
        "speak of the rest: those of a queue with a random audit, reviewed to its end, or labels "
        "of the dataset that somebody declares to be so (Datasets, Labels)."
    )
    return replace(found, reason=why)


def _declared_cells(store: Store, run_id: int, draw: LabelDraw) -> DrawnCells:
    """The cells with the labels that the dataset came with, as people have settled them since.

    Of a criterion the items labelled on it are the draw. What people labelled beside them, in a
    queue, counts for nothing here: nobody drew it.
    """
    import numpy as np

    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import NO_LABEL, label_columns

    run = store.runs.get(run_id)
    table = CellTable(store, run)
    found = label_draws.drawn_items(store, run.dataset_version_id, draw.note)
    groups = {chance: at for at, chance in enumerate(sorted(set(found.chances.values())), 1)}
    groups |= {1.0: 0} if draw.note else {}
    of_item = np.array([groups[found.chances[one]] for one in table.ids], np.int64)
    own = _on_cells(table, label_columns(store, run, settled=False)) != NO_LABEL
    option = np.where(own, _on_cells(table, label_columns(store, run)), NO_LABEL)
    stratum = of_item[table.item]
    worth = table.by_option(lambda asked: asked.values)
    nothing = own & np.isnan(worth[table.question, np.maximum(option, -1)])
    return _cells(table, option, stratum, own & (stratum > 0), table.there & ~nothing)


def _labelled_cells(store: Store, run_id: int) -> DrawnCells:
    """The cells with what the dataset and people say of them."""
    import numpy as np

    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import label_columns

    run = store.runs.get(run_id)
    table = CellTable(store, run)
    option = _on_cells(table, label_columns(store, run))
    nowhere = np.zeros(len(table), np.int64)
    return _cells(table, option, nowhere, nowhere != 0, table.there)


def _on_cells(table: CellTable, labels: Mapping[str, Numbers]) -> Numbers:
    """Labels of criteria, item by item, as a label of each cell."""
    import numpy as np

    from core.services.results.run_columns import NO_LABEL

    found = np.full(len(table), NO_LABEL)
    for name, column in labels.items():
        cells, items = table.cells_of(name, np.arange(len(table.ids)))
        found[cells] = column[items]
    return found

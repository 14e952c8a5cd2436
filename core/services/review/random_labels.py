"""Which cells of a run people labelled with a known chance, and so what may speak for the rest.

A queue that was reviewed to its end gives them: cells that its rule wanted are decided whole, and
its random audit stands for those it was drawn from. A run of which every cell has a label gives
them, too. Other labels were picked by somebody, nobody knows with what chance, and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

from core.domain.review_records import QueueRow
from core.domain.rubric import Criterion
from core.domain.runs import CellRow, Run
from core.services.queueing.draw_chances import DrawnFrom, Stratum, stratum_of
from core.services.queueing.queue_cells import asked_about
from core.services.results.scored_items import (
    effective,
    labels_of,
    resolved_items,
    scored_rubric,
)
from core.services.review.adjudication import settled
from core.services.review.random_audit import frame, margins_of
from core.store.store import Store
from core.text.numbers import count, plural

NOBODY = (
    "Nobody labelled cells of this run that were drawn at random. A queue with a random audit, "
    "reviewed to its end, would tell."
)


class DrawnCell(NamedTuple):
    """A cell with the option that the votes gave, and the one that people did (if they did).

    ``said`` and ``value`` are both as numbers; where the votes say nothing of worth, they say what
    people do. ``stratum`` is 0 where cells were decided whole; others of one number had the same
    chance to be drawn, and ``drawn`` were. Labels of those that were not are nobody's draw, and do
    not count (``counted``).
    """

    item_id: str
    criterion: Criterion
    voted: int | None
    option: int | None
    said: float
    value: float | None
    stratum: int
    drawn: bool


def _cell(
    row: CellRow, criterion: Criterion, option: int | None, stratum: int, *, drawn: bool
) -> DrawnCell | None:
    """The cell; ``None`` where neither votes nor people say anything of worth."""
    value = None if option is None else criterion.values[option]
    said = None if row.judged is None else criterion.values[row.judged]
    if said is None and value is None:
        return None
    says = value or 0.0 if said is None else said
    return DrawnCell(row.item_id, criterion, row.judged, option, says, value, stratum, drawn)


@dataclass(frozen=True)
class DrawnLabels:
    """The cells that are spoken of. ``reason`` says why nothing can be, and is empty otherwise.

    ``queue`` is the one whose draw it was; ``None`` where all cells have labels.
    """

    read: Callable[[], Sequence[DrawnCell]]
    queue: QueueRow | None = None
    reason: str = ""

    @cached_property
    def cells(self) -> tuple[DrawnCell, ...]:
        """The cells; made when somebody asks for them, as there can be a million."""
        return tuple(self.read())

    def of(self, criterion: str) -> tuple[DrawnCell, ...]:
        """Those of one criterion; of all for the empty string."""
        if not criterion:
            return self.cells
        return tuple(cell for cell in self.cells if cell.criterion.name == criterion)

    def narrowed(self, criterion: str) -> DrawnLabels:
        """Those of one criterion alone; of all for the empty string."""
        return DrawnLabels(partial(self.of, criterion), self.queue, self.reason)


def counted(cells: Sequence[DrawnCell]) -> list[float | None]:
    """What people say of each, where it counts.

    Of what was drawn from, drawn labels alone do, unless every one of the others has a label, too:
    then nothing is left to chance.
    """
    rest = [cell.value for cell in cells if cell.stratum and not cell.drawn]
    whole = None not in rest
    return [cell.value if whole or cell.drawn or not cell.stratum else None for cell in cells]


def of_queue(store: Store, queue: QueueRow) -> DrawnLabels:
    """The cells that a queue's rule looked at, with the labels it brought. Raises ``NotFound``.

    Cells that people could not assess are left out, and those that neither votes nor people say
    anything of.
    """
    waiting = sum(cell.state != "resolved" for cell in store.queues.cells(queue.id))
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
    finished = store.runs.row(queue.run_id).finished
    voted_before = finished is not None and finished < queue.created
    return not voted_before or bool(store.settled.active_at(queue.run_id, queue.created))


def _cells_of(store: Store, queue: QueueRow) -> list[DrawnCell]:
    drawn_from = frame(store, queue)
    strata = {(c.row.item_id, c.row.criterion): c for c in drawn_from.cells}
    kinds = {one: at for at, one in enumerate(sorted({c.stratum for c in drawn_from.cells}), 1)}
    rubric = scored_rubric(store, store.runs.get(queue.run_id))
    own = store.signs.own_rubrics(queue.run_id)
    known = settled(store, queue.run_id)
    cells = list[DrawnCell]()
    for row in store.results.all_cells(queue.run_id):
        place = (row.item_id, row.criterion)
        if not asked_about(queue.rule, *place):
            continue
        decided = known.get(place)
        active = decided is not None and decided.state == "active"
        asked = own.get(row.item_id, rubric).criterion(row.criterion)
        option = decided.option if decided is not None and active else None
        of = strata.get(place)
        stratum, drawn = (kinds[of.stratum], of.drawn) if of is not None else (0, False)
        cell = _cell(row, asked, option, stratum, drawn=drawn)
        if cell is not None and not (active and cell.value is None):
            cells.append(cell)
    return cells


def of_run(store: Store, run_id: int, criterion: str = "") -> DrawnLabels:
    """What may speak for all cells of a run, or of one criterion. Raises ``NotFound``.

    The newest queue that looked at all of them and was reviewed to its end, put away or not,
    together with those before it that its draw went on from (``_joined``); else all labels, where
    no cell is without.
    """
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    found: DrawnLabels | None = None
    open_yet: DrawnLabels | None = None
    for queue in sorted(queues, key=lambda one: one.id):
        about = queue.rule.criteria
        covers = about is None or bool(criterion and criterion in about)
        if queue.rule.items is not None or not (covers or (found and not criterion)):
            continue
        if not store.queues.has_audit(queue.id):
            continue
        one = of_queue(store, queue)
        one = one.narrowed(criterion)
        if one.reason:
            open_yet = one
            continue
        more = None if found is None else _joined(store, found, one, queue)
        found = more or (one if covers else found)
    return found or _all_labelled(store, run_id, open_yet, criterion)


def by_criterion(store: Store, run_id: int, names: Sequence[str]) -> dict[str, DrawnLabels]:
    """What may speak for all cells (under the empty string), and for those of each criterion."""
    whole = of_run(store, run_id)
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    narrow = {name for queue in queues for name in queue.rule.criteria or ()}
    return {"": whole} | {
        name: of_run(store, run_id, name) if name in narrow else whole.narrowed(name)
        for name in names
    }


Place = tuple[str, str]


def _joined(
    store: Store, before: DrawnLabels, one: DrawnLabels, queue: QueueRow
) -> DrawnLabels | None:
    """Two draws as one: of what the first had drawn from, the second drew from all that was left.

    ``None`` where that is not so: a rule wanted cells, some of them were settled in between, or
    both draws were made with one seed and know of each other. A cell's chance hangs on the strata
    of both draws, which are the strata of both together.
    """
    if before.queue is None or before.queue.seed == queue.seed:
        return None
    asked = {place(c) for c in before.cells if asked_about(queue.rule, *place(c))}
    left = {place(c) for c in before.cells if c.stratum and not c.drawn} & asked
    fresh = {place(cell): cell for cell in one.cells}
    if not queue.rule.only_draws or left != {at for at, c in fresh.items() if c.stratum}:
        return None
    kinds = _kinds(store, queue)
    strata = {
        place(c): (c.stratum, kinds(c) if place(c) in asked else None)
        for c in before.cells
        if c.stratum
    }
    numbers = {kind: at for at, kind in enumerate(dict.fromkeys(strata.values()), 1)}
    cells = []
    for cell in before.cells:
        at = place(cell)
        drawn = cell.drawn or (at in fresh and fresh[at].drawn)
        stratum = numbers[strata[at]] if at in strata else 0
        cells.append(cell._replace(stratum=stratum, drawn=drawn))
    return DrawnLabels(lambda: cells, queue)


def place(cell: DrawnCell) -> Place:
    """Where a cell is: its item and its criterion."""
    return cell.item_id, cell.criterion.name


def _kinds(store: Store, queue: QueueRow) -> Callable[[DrawnCell], Stratum]:
    """Which stratum of a queue's draw a cell is in, or would have been."""
    margins = margins_of(store, queue)

    def kind(cell: DrawnCell) -> Stratum:
        about = DrawnFrom(cell.criterion.name, cell.voted, margins.get(place(cell)))
        return stratum_of(queue.rule.draw, about)

    return kind


def _all_labelled(
    store: Store, run_id: int, queued: DrawnLabels | None, criterion: str
) -> DrawnLabels:
    """Every cell with a label; or why that is no draw."""
    run = store.runs.get(run_id)
    cells, labelled = _counts(store, run, criterion)
    found = DrawnLabels(partial(_labelled_cells, store, run, criterion))
    if labelled == cells and cells:
        return found
    if queued is not None and queued.queue is not None:
        why = (
            f"{queued.reason[:-1]} (“{queued.queue.name}”): what is decided first is no random "
            "draw."
        )
        return replace(queued, reason=why)
    if not labelled:
        return replace(found, reason=NOBODY)
    why = (
        f"{count(labelled)} of {plural(cells, 'cell')} {'has' if labelled == 1 else 'have'} a "
        "label, and nobody knows with what chance each was picked. Only labels drawn at random "
        "speak of the rest: a queue with a random audit, reviewed to its end."
    )
    return replace(found, reason=why)


def _counts(store: Store, run: Run, criterion: str) -> tuple[int, int]:
    """How many cells there are of which votes or people say something of worth, and people."""
    import numpy as np

    from core.services.results.run_columns import (
        cell_columns,
        items_of_run,
        label_columns,
        own_rubrics,
    )

    labels, ids = label_columns(store, run), items_of_run(store, run).ids
    rubric, own = scored_rubric(store, run), own_rubrics(store, run)
    alone = {row: own[one] for row, one in enumerate(ids) if one in own} if own else {}
    asked = {criterion.name: criterion for criterion in rubric.criteria}
    cells = labelled = 0
    for column in cell_columns(store, run):
        name, judged = column.criterion, column.judged
        if criterion not in ("", name):
            continue
        truth = labels[name][column.rows] if name in labels else np.full(len(judged), -1)
        follow = ~np.isin(column.rows, list(alone))
        parts = [(asked[name], follow)] if follow.any() else []
        parts += [
            (alone[int(column.rows[at])].criterion(name), np.array([at]))
            for at in np.flatnonzero(~follow).tolist()
        ]
        for question, rows in parts:
            # The last stands for whatever names no option.
            worth = np.array([value is not None for value in question.values] + [False])
            said, known = (worth[np.maximum(one[rows], -1)] for one in (judged, truth))
            cells, labelled = cells + int((said | known).sum()), labelled + int(known.sum())
    return cells, labelled


def _labelled_cells(store: Store, run: Run, criterion: str) -> list[DrawnCell]:
    """The cells with what the dataset and people say of them."""
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run.id))
    rubrics = {item.id: effective(item, rubric) for item in items}
    truth = {item.id: labels_of(item, rubrics[item.id]) for item in items}
    cells = list[DrawnCell]()
    for row in store.results.all_cells(run.id, criterion or None):
        option = truth[row.item_id].get(row.criterion)
        asked = rubrics[row.item_id].criterion(row.criterion)
        cell = _cell(row, asked, option, 0, drawn=False)
        if cell is not None:
            cells.append(cell)
    return cells

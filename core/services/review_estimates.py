"""What a queue's decisions say of all cells, though the queue holds the hard ones.

How often verdicts are right on all cells beside the hard ones alone, and what criteria and the
whole would score if people had looked at everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from core.domain.rubric import Criterion, Rubric
from core.services.scored import scored_rubric
from core.services.settling import labelled_sample, settled
from core.store.review_rows import QueueRow
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.prediction_powered import Powered
    from core.metrics.selection import Mean


@dataclass(frozen=True)
class Rightness:
    """How often verdicts are what people say, from the cells that a queue had decided.

    ``weighted`` speaks of all cells that the queue's rule looked at; it is undefined with fewer
    than ten audited cells, and while any of the queue is open, because what is decided first was
    not drawn at random. ``hard`` is of the rule's cells alone, ``naive`` of all decided ones
    together. ``missing`` cells are open; ``audited`` and ``queued`` were decided.
    """

    weighted: Mean
    hard: Mean
    naive: Mean
    audited: int
    queued: int
    missing: int


def rightness(store: Store, queue_id: int) -> Rightness:
    """How often verdicts are right on all cells, and on the hard ones. Raises ``NotFound``.

    Cells that people could not assess, or the votes gave nothing on, are in none of the figures.
    """
    from core.metrics.figure import Figure
    from core.metrics.selection import Mean, honest_mean

    found = labelled_sample(store, queue_id)
    made = honest_mean(found.right, found.chances, found.audited, found.queued)
    weighted = made.weighted
    if found.missing:
        why = (
            f"{_cells(found.missing)} of the queue {'is' if found.missing == 1 else 'are'} still "
            "open. What is decided first is not a random draw."
        )
        weighted = Mean(Figure.undefined(why, len(found.right)), None, None)
    return Rightness(
        weighted, made.hard, made.naive, sum(found.audited), sum(found.queued), found.missing
    )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


@dataclass(frozen=True)
class Corrected:
    """The mean value of a criterion's cells (``criterion`` empty: of all, by weight).

    ``said`` is what the votes say of ``cells``, ``labelled`` of which people decided. ``powered``
    is ``None`` where nothing can be said, and ``reason`` says why.
    """

    criterion: str
    cells: int
    labelled: int
    said: float | None
    powered: Powered | None
    reason: str = ""


class _Value(NamedTuple):
    """A cell as a number: what the votes say, what people say (if they did), and its weight."""

    criterion: str
    said: float
    value: float | None
    audit: bool
    weight: float


def corrected(store: Store, queue_id: int) -> list[Corrected]:
    """Mean values over all cells, corrected by what people decided; first of all criteria.

    The first line is the points of all cells as a share of what they could reach: the mean score
    where every item has the same criteria, before gates, penalties and limits at 0. Cells of the
    rule are decided whole, the audit speaks for the rest (two strata; see ``powered_mean``). Cells
    that cannot be assessed are left out.
    """
    queue = store.queues.get(queue_id)
    queued = store.queues.cells(queue_id)
    waiting = sum(cell.state != "resolved" for cell in queued)
    rubric = scored_rubric(store, store.runs.get(queue.run_id))
    values = list(_values(store, queue, rubric))
    lines = [_line("", values, waiting, weighted=True)]
    names = [c.name for c in rubric.criteria if _asked(queue, c.name)]
    if len(names) > 1:
        lines += [_line(n, [v for v in values if v.criterion == n], waiting) for n in names]
    return lines


def _line(name: str, values: list[_Value], waiting: int, *, weighted: bool = False) -> Corrected:
    from core.metrics.prediction_powered import powered_mean

    labelled = sum(v.value is not None for v in values)
    scale = _Scale.of([v.weight if weighted else 1.0 for v in values])
    reason = _why_not(values, scale, waiting)
    said = [scale.up(w * v.said) for w, v in zip(scale.weights, values, strict=True)]
    if reason:
        plain = scale.down(sum(said) / len(said)) if said and scale.total else None
        return Corrected(name, len(values), labelled, plain, None, reason)
    found = powered_mean(
        said,
        [
            scale.up(w * v.value)
            for w, v in zip(scale.weights, values, strict=True)
            if v.value is not None
        ],
        [v.value is not None for v in values],
        [int(v.value is None or v.audit) for v in values],
    )
    made = found._replace(
        mean=scale.mean(found.mean), labels=scale.mean(found.labels), raw=scale.down(found.raw)
    )
    return Corrected(name, len(values), labelled, made.raw, made, made.mean.figure.reason)


class _Scale(NamedTuple):
    """Cells' points (weight times value) moved into [0, 1], and means of those back to scores."""

    weights: list[float]
    low: float
    span: float
    total: float

    @classmethod
    def of(cls, weights: list[float]) -> _Scale:
        """The scale of cells with these weights; ``total`` is what could be reached."""
        low, high = min([0.0, *weights]), max([0.0, *weights])
        return cls(weights, low, high - low or 1.0, sum(w for w in weights if w > 0))

    def up(self, points: float) -> float:
        """Points within [0, 1]."""
        return (points - self.low) / self.span

    def down(self, mean: float) -> float:
        """A mean of those as the share of what could be reached, within [0, 1] as scores are."""
        points = (mean * self.span + self.low) * len(self.weights)
        return min(1.0, max(0.0, points / self.total))

    def mean(self, one: Mean) -> Mean:
        """A mean with its interval, so."""
        figure = one.figure
        if figure.value is None or one.low is None or one.high is None:
            return one
        moved = figure._replace(value=self.down(figure.value))
        return one._replace(figure=moved, low=self.down(one.low), high=self.down(one.high))


def _why_not(values: list[_Value], scale: _Scale, waiting: int) -> str:
    if not values:
        return "No cell has a value."
    if not scale.total:
        return "No criterion rewards anything."
    if waiting:
        return f"{_cells(waiting)} of the queue {'is' if waiting == 1 else 'are'} still open."
    return ""


def _values(store: Store, queue: QueueRow, rubric: Rubric) -> Iterator[_Value]:
    own = store.signs.own_rubrics(queue.run_id)
    known = settled(store, queue.run_id)
    audit = {(c.item_id, c.criterion) for c in store.queues.cells(queue.id) if c.audit}
    for row in store.results.all_cells(queue.run_id):
        if not _asked(queue, row.criterion, row.item_id):
            continue
        place = (row.item_id, row.criterion)
        criterion = own.get(row.item_id, rubric).criterion(row.criterion)
        decided = known.get(place)
        active = decided is not None and decided.state == "active"
        value = _value(criterion, decided.option) if decided is not None and active else None
        said = _value(criterion, row.judged)
        if (active and value is None) or (said is None and value is None):
            continue
        yield _Value(
            row.criterion,
            value if said is None and value is not None else said or 0.0,
            value,
            place in audit,
            criterion.weight,
        )


def _value(criterion: Criterion, option: int | None) -> float | None:
    return None if option is None else criterion.values[option]


def _asked(queue: QueueRow, criterion: str, item_id: str | None = None) -> bool:
    rule = queue.rule
    return (rule.criteria is None or criterion in rule.criteria) and (
        item_id is None or rule.items is None or item_id in rule.items
    )

"""What a queue's decisions say of all cells, corrected for how the reviewed ones were chosen.

How often verdicts are right on all cells beside the hard ones alone, and what criteria and the
whole would score if people had looked at everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.dataset import Label
from core.domain.review_records import QueueRow
from core.domain.runs import RunRow
from core.metrics.estimate import USUAL, Estimate, together
from core.services.datasets import label_draws
from core.services.results.scored_items import scored_rubric
from core.services.review import random_labels
from core.services.review.random_audit import labelled_sample, narrowed
from core.services.review.random_labels import DrawnCells, DrawnLabels, of_queue
from core.store.store import Store
from core.text.numbers import count, percent

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.metrics.intervals.hit_rates import HitRates
    from core.metrics.intervals.sampling import Powered

    Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Rightness:
    """How often verdicts are what people say, from the cells that a queue had decided.

    ``weighted`` speaks of all cells that the queue's rule looked at, and of those that it left out
    because they were settled before; it is undefined with fewer than ten audited cells, and while
    any of the queue is open, because what is decided first was not drawn at random. ``hard`` is of
    the rule's cells alone, ``naive`` of all decided ones together. ``missing`` cells are open;
    ``audited`` and ``queued`` were decided, ``others`` as well: before, or for their known label.
    """

    weighted: Estimate
    hard: Estimate
    naive: Estimate
    audited: int
    queued: int
    missing: int
    others: int = 0


def rightness(store: Store, queue_id: int, level: float = USUAL.level) -> Rightness:
    """How often verdicts are right on all cells, and on the hard ones. Raises ``NotFound``.

    Cells that people could not assess, or the votes gave nothing on, are in none of the figures.
    """
    from core.metrics.intervals.sampling import honest_mean

    found = labelled_sample(store, queue_id)
    made = honest_mean(found.right, found.stands, found.audited, found.queued, level)
    weighted = made.weighted
    if found.missing:
        why = (
            f"{_cells(found.missing)} of the queue {'is' if found.missing == 1 else 'are'} still "
            "open. What is decided first is not a random draw."
        )
        weighted = Estimate.undefined(why, len(found.right))
    drawn, picked = sum(found.audited), sum(found.queued)
    others = len(found.right) - drawn - picked
    return Rightness(weighted, made.hard, made.naive, drawn, picked, found.missing, others)


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


@dataclass(frozen=True)
class Corrected:
    """The mean value of a criterion's cells (``criterion`` empty: of all, by weight).

    ``said`` is what the votes say of ``cells``, ``labelled`` of which people decided. ``powered``
    is ``None`` where nothing can be said, and ``reason`` says why. ``rates``: of a question with
    two answers, worth 0 and 1, how often votes find each, and the share that this makes true.
    """

    criterion: str
    cells: int
    labelled: int
    said: float | None
    powered: Powered | None
    reason: str = ""
    rates: HitRates | None = None


def corrected(store: Store, queue_id: int) -> list[Corrected]:
    """Mean values over all cells, corrected by what people decided; first of all criteria.

    The first line is the points of all cells as a share of what they could reach: the mean score
    where every item has the same criteria, before gates, penalties and limits at 0. Cells of the
    rule are decided whole, the audit speaks for what it was drawn from (two strata; see
    ``powered_mean``), also for those of its cells that were settled besides: nobody drew them. They
    are counted as labelled, and used where all of those cells are. Cells that cannot be assessed
    are left out.
    """
    queue = store.queues.get(queue_id)
    found = of_queue(store, queue)
    rubric = scored_rubric(store, store.runs.get(queue.run_id))
    only = queue.rule.criteria
    names = [c.name for c in rubric.criteria if only is None or c.name in only]
    return [
        mean_of(found.of(name), name, found.reason)
        for name in ["", *(names if len(names) > 1 else [])]
    ]


def mean_of(
    cells: DrawnCells,
    criterion: str,
    reason: str = "",
    level: float = USUAL.level,
    *,
    by_item: bool = False,
) -> Corrected:
    """The corrected mean of these cells: their points by weight, or values of one criterion.

    ``reason`` says why nothing can be said of them, where somebody knows. ``by_item``: items were
    drawn with all of their cells, so that an item counts once.
    """
    import numpy as np

    from core.metrics.intervals.sampling import item_shares, powered_mean

    labelled = int((~np.isnan(cells.value)).sum())
    weights = np.ones(len(cells)) if criterion else cells.weight
    scale, values, strata = _Scale.of(weights), cells.counted, cells.stratum
    told, known = weights * cells.said, weights * values
    reason = _why_not(cells, scale) or reason or (_partly(cells) if by_item else "")
    if by_item:
        told, known, strata, low = item_shares(cells.item, weights, cells.said, values, strata)
        scale = _Scale(len(told), low, 1 - low, len(told))
    said = scale.up(told)
    if reason:
        plain = scale.down(float(said.mean())) if len(said) and scale.total else None
        return Corrected(criterion, len(cells), labelled, plain, None, reason)
    there = ~np.isnan(known)
    found = powered_mean(said, scale.up(known[there]), there, strata, level=level)
    made = found._replace(
        mean=scale.mean(found.mean), labels=scale.mean(found.labels), raw=scale.down(found.raw)
    )
    questions = np.unique(cells.question).tolist()
    asked = {cells.table.questions[question].name for question in questions}
    rates = _rates(cells, values, level) if len(asked) == 1 else None
    return Corrected(criterion, len(cells), labelled, made.raw, made, made.mean.reason, rates)


def _partly(cells: DrawnCells) -> str:
    """Why items that were drawn with all of their cells cannot be counted once each."""
    import numpy as np

    _, item = np.unique(cells.item, return_inverse=True)
    asked, known = np.bincount(item), np.bincount(item, ~np.isnan(cells.value))
    partly = int(((known > 0) & (known < asked)).sum())
    if partly:
        return (
            f"{count(partly)} of the items with labels {'lacks' if partly == 1 else 'lack'} one on "
            "some criterion; of all criteria together only items labelled on each can speak."
        )
    return ""


def _rates(cells: DrawnCells, values: Numbers, level: float) -> HitRates | None:
    """How often votes find either answer; ``None`` where there are others than 0 and 1."""
    import numpy as np

    from core.metrics.intervals.hit_rates import corrected_share

    known = ~np.isnan(values)
    if {*np.unique(values[known]).tolist(), *np.unique(cells.said).tolist()} - {0.0, 1.0}:
        return None
    strata = np.bincount(cells.stratum)
    labelled = np.maximum(np.bincount(cells.stratum[known], minlength=len(strata)), 1)
    chances = (labelled / np.maximum(strata, 1))[cells.stratum]
    return corrected_share(cells.said, values, chances, level)


def of_run(
    store: Store, run_id: int, level: float = USUAL.level
) -> tuple[list[Corrected], DrawnLabels]:
    """The same of a run, from whichever labels may speak for its cells; and those for all of them.

    Of a criterion that a queue of its own drew from, that queue's.
    """
    rubric = scored_rubric(store, store.runs.get(run_id))
    names = [c.name for c in rubric.criteria] if len(rubric.criteria) > 1 else []
    found = random_labels.by_criterion(store, run_id, names)
    lines = [
        mean_of(of.cells, name, of.reason, level, by_item=of.declared is not None)
        for name, of in found.items()
    ]
    return lines, found[""]


def corrected_data(store: Store, run_id: int, level: float = USUAL.level) -> dict[str, Any] | None:
    """The key ``corrected`` of ``metrics --json``; ``None`` where nobody drew labels."""
    queues = store.queues.ever(run_id)
    declared = label_draws.declared(store, store.runs.row(run_id).dataset_version_id)
    if declared is None and not any(store.queues.drawn(queue.id, "audit") for queue in queues):
        return None
    lines, found = of_run(store, run_id, level)
    whole = {
        "queue": found.queue.id if found.queue is not None else None,
        "score": _corrected(lines[0]),
        "criteria": {one.criterion: _corrected(one) for one in lines[1:]},
        **({"declared": label_draws.as_data(found.declared)} if found.declared else {}),
    }
    return {**whole, "undefined": {"corrected": found.reason}} if found.reason else whole


def _corrected(one: Corrected) -> dict[str, Any]:
    data: dict[str, Any] = {"raw": one.said, "cells": one.cells, "labelled": one.labelled}
    if one.powered is None:
        return {**data, "corrected": None, "undefined": {"corrected": one.reason}}
    data["corrected"] = _estimate(one.powered.mean)
    data["labels_alone"] = _estimate(one.powered.labels)
    data["listened"] = one.powered.listened
    if one.rates is not None:
        data["by_hit_rates"] = {
            "share": _estimate(one.rates.share),
            "sensitivity": _estimate(one.rates.found),
            "specificity": _estimate(one.rates.cleared),
        }
    return data


class _Scale(NamedTuple):
    """Cells' points (weight times value) moved into [0, 1], and means of those back to scores."""

    cells: int
    low: float
    span: float
    total: float

    @classmethod
    def of(cls, weights: Numbers) -> _Scale:
        """The scale of cells with these weights; ``total`` is what could be reached."""
        low, high = float(weights.min(initial=0.0)), float(weights.max(initial=0.0))
        return cls(len(weights), low, high - low or 1.0, float(weights[weights > 0].sum()))

    def up(self, points: Numbers) -> Numbers:
        """Points within [0, 1]."""
        return (points - self.low) / self.span

    def down(self, mean: float) -> float:
        """A mean of those as the share of what could be reached, within [0, 1] as scores are."""
        points = (mean * self.span + self.low) * self.cells
        return min(1.0, max(0.0, points / self.total))

    def mean(self, one: Estimate) -> Estimate:
        """A mean with its interval, so."""
        if one.value is None or one.low is None or one.high is None:
            return one
        low, high = self.down(one.low), self.down(one.high)
        return one._replace(value=self.down(one.value), low=low, high=high)


def _why_not(cells: DrawnCells, scale: _Scale) -> str:
    if not len(cells):
        return "No cell has a value."
    return "" if scale.total else "No criterion rewards anything."


# Labels that come from review: they were not drawn at random, and what follows from that.
#
# A review queue picks the doubtful cells. What is right among labelled cells is then not what is
# right among all; only the chance that each cell had of being picked leads from one to the other.


class AuditedQueue(NamedTuple):
    """A queue that holds a random audit, and how often its decisions confirm the verdicts."""

    queue: QueueRow
    found: Rightness


@dataclass(frozen=True)
class ReviewSelection:
    """Of a run's ``labels``, people ``settled`` so many in review; ``queues`` hold an audit. Cells
    were ``picked`` by rules or people unless all queues drew at random.
    """

    labels: int
    settled: int
    queues: tuple[AuditedQueue, ...]
    picked: bool = True


def audited_queues(
    store: Store, run_id: int, level: float = USUAL.level
) -> tuple[AuditedQueue, ...]:
    """The run's queues that have a random audit, the oldest first; put away ones as well."""
    return tuple(
        AuditedQueue(queue, rightness(store, queue.id, level))
        for queue in store.queues.ever(run_id)
        if store.queues.drawn(queue.id, "audit")
    )


def selected(store: Store, run_id: int, level: float = USUAL.level) -> ReviewSelection | None:
    """How far a run's labels come from review; ``None`` where none does. Raises ``NotFound``."""
    run = store.runs.row(run_id)
    ids = store.runs.item_ids(run_id)
    truth = store.settled.truth(run.dataset_version_id, item_ids=ids)
    settled = sum(label is not None for given in truth.values() for label in given.values())
    if not settled:
        return None
    labels = _labels(store, run, truth)
    queues = store.queues.ever(run_id)
    picked = not queues or not all(one.rule.only_draws for one in queues)
    return ReviewSelection(labels, settled, audited_queues(store, run_id, level), picked)


def _labels(store: Store, run: RunRow, truth: Mapping[str, Mapping[str, Label | None]]) -> int:
    """How many labels the items of a run have: the dataset's, and over them what people settled."""
    from core.services.datasets import item_columns
    from core.services.results.run_columns import items_of_run

    columns, places = (
        item_columns.of_version(store, run.dataset_version_id),
        items_of_run(store, run),
    )
    inside = columns.own & False
    inside[places.places] = True
    settled = {columns.place[item_id] for item_id in truth}
    own = {(row, g.criterion) for g in columns.labels for row in g.rows.tolist() if row in settled}
    number = sum(int(inside[given.rows].sum()) for given in columns.labels)
    for item_id, decided in truth.items():
        for name, label in decided.items():
            number += (label is not None) - ((columns.place[item_id], name) in own)
    return number


def in_words(found: ReviewSelection) -> str:
    """What a person must know before reading a figure against the labels."""
    where = "which picked doubtful cells, too" if found.picked else "of cells drawn at random"
    words = (
        f"Of the {count(found.labels)} labelled cells people settled {count(found.settled)} in "
        f"review, {where}: figures against labels speak of labelled cells, not of all."
    )
    known = [one for one in found.queues if one.found.weighted.value is not None]
    if not known and found.queues:
        queue, right = found.queues[-1]
        return f"{words} Queue “{queue.name}” cannot speak of all yet. {right.weighted.reason}"
    if not known:
        return f"{words} A queue with a random audit, reviewed to its end, can speak of all."
    # The newest queue that looked at everything, or else the newest.
    queue, right = max(known, key=lambda one: (not narrowed(one.queue.rule), one.queue.id))
    only = narrowed(queue.rule)
    words += (
        f" Of all cells{f' ({only})' if only else ''} people confirm an estimated "
        f"{right.weighted.words(percent).inline}: the random audit of queue “{queue.name}” stands "
        "for cells that no rule picked"
    )
    others = [one.found.hard for one in found.queues if not narrowed(one.queue.rule)]
    hard = together([right.hard] if only else others)
    if hard.value is not None:
        words += f"; of the {count(hard.n)} doubtful ones {percent(hard.value)}"
    return f"{words}."


def as_data(found: ReviewSelection) -> dict[str, Any]:
    """The same for ``metrics --json``."""
    return {
        "labels": found.labels,
        "settled_in_review": found.settled,
        "queues": [
            {
                "queue": queue.id,
                "name": queue.name,
                "narrowed_to": narrowed(queue.rule) or None,
                "audited": right.audited,
                "queued": right.queued,
                "open": right.missing,
                "right_weighted": _estimate(right.weighted),
                "right_on_hard": _estimate(right.hard),
            }
            for queue, right in found.queues
        ],
    }


def _estimate(mean: Estimate) -> dict[str, Any]:
    if mean.value is None:
        return {"n": mean.n, "value": None, "undefined": {"value": mean.reason}}
    return {"n": mean.n, "value": mean.value, "ci": mean.ci}

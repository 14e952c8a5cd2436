"""Estimates for all cells from a queue's decisions, corrected for how its cells were selected.

They say how often verdicts are right, and what people would have scored, on all cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.dataset import Label
from core.domain.runs import RunRow
from core.metrics.estimate import USUAL, Estimate, pooled_share
from core.services.datasets import label_draws
from core.services.queueing import drawn_texts
from core.services.queueing.drawn_cells import DrawnCells, partly_labelled
from core.services.results.scored_items import scored_rubric
from core.services.review import random_labels
from core.services.review.random_audit import VerdictAccuracy, scope_words, verdict_accuracy
from core.services.review.random_labels import DrawnLabels, labels_of_queue
from core.store.store import Store
from core.text.numbers import count, percent, plural

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.metrics.intervals.hit_rates import HitRates
    from core.metrics.intervals.sampling import Powered

    Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class CorrectedMean:
    """The mean value of a criterion's cells; of all cells, by weight, if ``criterion`` is empty.

    ``said`` is the votes' mean over ``cells``, of which people decided ``labelled``. ``powered`` is
    the corrected mean, or ``None`` for the ``reason`` given. ``rates``, for a question with answers
    worth 0 and 1: how often votes detect each answer, and the resulting share.
    """

    criterion: str
    cells: int
    labelled: int
    said: float | None
    powered: Powered | None
    reason: str = ""
    rates: HitRates | None = None


def corrected_means(store: Store, queue_id: int) -> list[CorrectedMean]:
    """Return mean values over all cells, corrected by people's decisions; the first is the total.

    The total is the points of all cells as a share of the possible points: the mean score if every
    item has the same criteria, before gates, penalties and limits at 0. The rule's cells are all
    decided; the audit represents the cells it was drawn from (two strata; see ``powered_mean``).
    These include cells settled elsewhere, which are used only if all cells that were not drawn have
    a label. Cells that people could not assess are excluded.
    """
    queue = store.queues.get(queue_id)
    drawn = labels_of_queue(store, queue)
    rubric = scored_rubric(store, store.runs.get(queue.run_id))
    criteria = queue.rule.criteria
    names = [c.name for c in rubric.criteria if criteria is None or c.name in criteria]
    return [
        mean_of(drawn.of(name), name, drawn.reason, by_item=drawn.by_item)
        for name in ["", *(names if len(names) > 1 else [])]
    ]


def mean_of(
    cells: DrawnCells,
    criterion: str,
    reason: str = "",
    level: float = USUAL.level,
    *,
    by_item: bool = False,
) -> CorrectedMean:
    """Return the corrected mean of these cells: points by weight, or values of one criterion.

    ``reason`` says why an estimate is impossible, if known. ``by_item``: items were drawn with all
    of their cells, so each item counts once.
    """
    import numpy as np

    from core.metrics.intervals.sampling import item_shares, powered_mean

    labelled = int((~np.isnan(cells.value)).sum())
    weights = np.ones(len(cells)) if criterion else cells.weight
    scale, values, strata = _Scale.of(weights), cells.counted, cells.stratum
    voted, decided = weights * cells.said, weights * values
    reason = _why_missing(cells, scale) or reason or (partly_labelled(cells) if by_item else "")
    if by_item:
        voted, decided, strata, low = item_shares(cells.item, weights, cells.said, values, strata)
        scale = _Scale(len(voted), low, 1 - low, len(voted))
    scaled = scale.as_points(voted)
    if reason:
        plain = scale.as_share(float(scaled.mean())) if len(scaled) and scale.total else None
        return CorrectedMean(criterion, len(cells), labelled, plain, None, reason)
    counts = ~np.isnan(decided)
    shares = powered_mean(scaled, scale.as_points(decided[counts]), counts, strata, level=level)
    mean = shares._replace(
        mean=scale.mean(shares.mean),
        labels=scale.mean(shares.labels),
        raw=scale.as_share(shares.raw),
    )
    questions = np.unique(cells.question).tolist()
    criteria = {cells.table.questions[question].name for question in questions}
    rates = _hit_rates(cells, values, level) if len(criteria) == 1 else None
    return CorrectedMean(criterion, len(cells), labelled, mean.raw, mean, mean.mean.reason, rates)


def _hit_rates(cells: DrawnCells, values: Numbers, level: float) -> HitRates | None:
    """Return how often votes detect either answer; ``None`` for values other than 0 and 1."""
    import numpy as np

    from core.metrics.intervals.hit_rates import corrected_share

    counts = ~np.isnan(values)
    if {*np.unique(values[counts]).tolist(), *np.unique(cells.said).tolist()} - {0.0, 1.0}:
        return None
    strata = np.bincount(cells.stratum)
    labelled = np.maximum(np.bincount(cells.stratum[counts], minlength=len(strata)), 1)
    chances = (labelled / np.maximum(strata, 1))[cells.stratum]
    return corrected_share(cells.said, values, chances, level)


def corrected_means_of_run(
    store: Store, run_id: int, level: float = USUAL.level
) -> tuple[list[CorrectedMean], DrawnLabels]:
    """Return ``corrected_means`` of a run by the labels that represent its cells, and the labels.

    If a queue drew labels for a single criterion, that criterion uses that queue.
    """
    rubric = scored_rubric(store, store.runs.get(run_id))
    names = [c.name for c in rubric.criteria] if len(rubric.criteria) > 1 else []
    labels = random_labels.labels_by_criterion(store, run_id, names)
    lines = [
        mean_of(drawn.cells, name, drawn.reason, level, by_item=drawn.by_item)
        for name, drawn in labels.items()
    ]
    return lines, labels[""]


def corrected_data(store: Store, run_id: int, level: float = USUAL.level) -> dict[str, Any] | None:
    """Return the key ``corrected`` of ``metrics --json``; ``None`` without drawn labels."""
    queues = store.queues.all_of_run(run_id)
    declared = label_draws.declared_draw(store, store.runs.row(run_id).dataset_version_id)
    if declared is None and not any(
        queue.rule.drawn is not None or store.queues.drawn(queue.id, "audit") for queue in queues
    ):
        return None
    lines, labels = corrected_means_of_run(store, run_id, level)
    total = {
        "queue": labels.queue.id if labels.queue is not None else None,
        "score": _corrected_line(lines[0]),
        "criteria": {line.criterion: _corrected_line(line) for line in lines[1:]},
        **({"declared": label_draws.draw_data(labels.declared)} if labels.declared else {}),
    }
    return {**total, "undefined": {"corrected": labels.reason}} if labels.reason else total


def _corrected_line(line: CorrectedMean) -> dict[str, Any]:
    data: dict[str, Any] = {"raw": line.said, "cells": line.cells, "labelled": line.labelled}
    if line.powered is None:
        return {**data, "corrected": None, "undefined": {"corrected": line.reason}}
    data["corrected"] = _estimate_data(line.powered.mean)
    data["labels_alone"] = _estimate_data(line.powered.labels)
    data["listened"] = line.powered.listened
    if line.rates is not None:
        data["by_hit_rates"] = {
            "share": _estimate_data(line.rates.share),
            "sensitivity": _estimate_data(line.rates.found),
            "specificity": _estimate_data(line.rates.cleared),
        }
    return data


class _Scale(NamedTuple):
    """Maps cells' points (weight times value) into [0, 1], and means back to scores."""

    cells: int
    low: float
    span: float
    total: float

    @classmethod
    def of(cls, weights: Numbers) -> _Scale:
        """Return the scale of cells with these weights; ``total`` is the possible points."""
        low, high = float(weights.min(initial=0.0)), float(weights.max(initial=0.0))
        return cls(len(weights), low, high - low or 1.0, float(weights[weights > 0].sum()))

    def as_points(self, points: Numbers) -> Numbers:
        """Return points mapped into [0, 1]."""
        return (points - self.low) / self.span

    def as_share(self, mean: float) -> float:
        """Return a mapped mean as a share of the possible points, limited to [0, 1]."""
        points = (mean * self.span + self.low) * self.cells
        return min(1.0, max(0.0, points / self.total))

    def mean(self, estimate: Estimate) -> Estimate:
        """Return a mapped mean and its interval as a score."""
        if estimate.value is None or estimate.low is None or estimate.high is None:
            return estimate
        low, high = self.as_share(estimate.low), self.as_share(estimate.high)
        return estimate._replace(value=self.as_share(estimate.value), low=low, high=high)


def _why_missing(cells: DrawnCells, scale: _Scale) -> str:
    if not len(cells):
        return "No cell has a value."
    return "" if scale.total else "No criterion rewards anything."


# Labels that come from review were not drawn at random.
#
# A queue picks doubtful cells, so accuracy on its labels says little about all cells. For that, the
# chance of each cell to be picked must be known.


@dataclass(frozen=True)
class ReviewSelection:
    """How many of a run's ``labels`` were ``settled`` in review. ``queues`` have an audit.

    ``picked``: rules or people chose cells; ``False`` if all queues drew at random. ``texts``
    counts items that were drawn whole and are labelled.
    """

    labels: int
    settled: int
    queues: tuple[VerdictAccuracy, ...]
    picked: bool = True
    texts: int = 0


def audited_queues(
    store: Store, run_id: int, level: float = USUAL.level
) -> tuple[VerdictAccuracy, ...]:
    """For each of the run's queues with a random audit, return how often people's decisions confirm
    the verdicts. Archived queues are included; the oldest queue comes first.
    """
    return tuple(
        verdict_accuracy(store, queue.id, level)
        for queue in store.queues.all_of_run(run_id)
        if store.queues.drawn(queue.id, "audit")
    )


def selection_of(store: Store, run_id: int, level: float = USUAL.level) -> ReviewSelection | None:
    """Return how many of a run's labels come from review, or ``None``. Raises ``NotFound``."""
    run = store.runs.row(run_id)
    ids = store.runs.item_ids(run_id)
    truth = store.settled.truth(run.dataset_version_id, item_ids=ids)
    settled = sum(
        label is not None for item_labels in truth.values() for label in item_labels.values()
    )
    if not settled:
        return None
    labels = _label_count(store, run, truth)
    queues = store.queues.all_of_run(run_id)
    picked = not queues or not all(queue.rule.only_draws for queue in queues)
    drawn = drawn_texts.finished_draw(store, run_id)
    texts = 0 if drawn is None else len(drawn.items)
    return ReviewSelection(labels, settled, audited_queues(store, run_id, level), picked, texts)


def _label_count(
    store: Store, run: RunRow, labels_by_item: Mapping[str, Mapping[str, Label | None]]
) -> int:
    """Return the number of labels of a run's items: the dataset's, overridden by settled cells."""
    from core.services.datasets import item_columns
    from core.services.results.run_columns import items_of_run

    columns = item_columns.columns_of_version(store, run.dataset_version_id)
    _, places = items_of_run(store, run)
    in_queue = columns.own & False
    in_queue[places] = True
    settled = {columns.place[item_id] for item_id in labels_by_item}
    own = {
        (row, name) for name, _, rows in columns.labels for row in rows.tolist() if row in settled
    }
    number = sum(int(in_queue[rows].sum()) for *_, rows in columns.labels)
    for item_id, decided in labels_by_item.items():
        for name, label in decided.items():
            number += (label is not None) - ((columns.place[item_id], name) in own)
    return number


def selection_warning(review: ReviewSelection) -> str:
    """Return what to know about the labels before trusting figures against them."""
    if review.texts and not review.picked and not review.queues:
        texts = plural(review.texts, "text")
        settled = count(review.settled)
        return f"People settled {settled} cells of {texts} drawn at random in review."
    source = "which picked doubtful cells, too" if review.picked else "of cells drawn at random"
    text = (
        f"Of the {count(review.labels)} labelled cells people settled {count(review.settled)} "
        f"in review, {source}: figures against labels speak of labelled cells, not of all."
    )
    estimated = [audit for audit in review.queues if audit.weighted.value is not None]
    if review.texts and not estimated:
        texts = plural(review.texts, "text")
        return f"{text} Those of the {texts} drawn at random speak of all."
    if not estimated and review.queues:
        last = review.queues[-1]
        return f"{text} Queue “{last.queue.name}” cannot speak of all yet. {last.weighted.reason}"
    if not estimated:
        return f"{text} A queue with a random audit, reviewed to its end, can speak of all."
    # The newest queue that considered every cell, or else the newest.
    right = max(estimated, key=lambda audit: (not scope_words(audit.queue.rule), audit.queue.id))
    only_words = scope_words(right.queue.rule)
    text += (
        f" Of all cells{f' ({only_words})' if only_words else ''} people confirm an estimated "
        f"{right.weighted.words(percent).inline}: the random audit of queue “{right.queue.name}” "
        "stands for cells that no rule picked"
    )
    estimates = [audit.hard for audit in review.queues if not scope_words(audit.queue.rule)]
    hard = pooled_share([right.hard] if only_words else estimates)
    if hard.value is not None:
        text += f"; of the {count(hard.n)} doubtful ones {percent(hard.value)}"
    return f"{text}."


def selection_data(review: ReviewSelection) -> dict[str, Any]:
    """Return ``selection_warning`` and its numbers for ``metrics --json``."""
    return {
        "labels": review.labels,
        "settled_in_review": review.settled,
        "queues": [
            {
                "queue": right.queue.id,
                "name": right.queue.name,
                "narrowed_to": scope_words(right.queue.rule) or None,
                "audited": right.audited,
                "queued": right.queued,
                "open": right.missing,
                "right_weighted": _estimate_data(right.weighted),
                "right_on_hard": _estimate_data(right.hard),
            }
            for right in review.queues
        ],
    }


def _estimate_data(mean: Estimate) -> dict[str, Any]:
    if mean.value is None:
        return {"n": mean.n, "value": None, "undefined": {"value": mean.reason}}
    return {"n": mean.n, "value": mean.value, "ci": mean.ci}

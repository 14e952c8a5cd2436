"""Compare how often two runs are right on all cells, from labels that were drawn at random.

Accuracy over labelled cells describes those cells only; queues pick doubtful ones, on which runs
differ most. With each cell's chance of being labelled, labels represent all cells. Two runs with
the same verdict are equally right, so labels are needed only where verdicts differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.bootstrap import holm
from core.metrics.intervals.means import LEVEL
from core.metrics.intervals.powered_gaps import powered_gap
from core.metrics.measure import Array
from core.services.comparison.paired_runs import CriterionPair, PairedRuns
from core.services.datasets import label_draws
from core.services.queueing.drawn_cells import DrawnCells
from core.services.review import random_labels
from core.services.review.random_labels import DrawnLabels
from core.store.store import Store
from core.text.names import fold, visible
from core.text.numbers import percent, plural, points, share_points


@dataclass(frozen=True)
class AccuracyGain:
    """How much more often the second run is right, over ``cells`` that both decided.

    ``criterion`` is empty for all together. The runs differ on ``apart`` cells, of which
    ``labelled`` have a label that counts. ``naive`` is the plain difference over labelled cells.
    ``p`` is corrected for the number of criteria, except for all together.
    """

    criterion: str
    cells: int
    apart: int
    labelled: int
    gap: Estimate
    naive: float | None
    p: float | None

    @property
    def better_run(self) -> int:
        """Return 1 or 2 for the run that is significantly more often right; else 0."""
        if self.gap.value is None or self.p is None or self.p >= LEVEL or not self.gap.value:
            return 0
        return 2 if self.gap.value > 0 else 1


@dataclass(frozen=True)
class CorrectedAccuracy:
    """The comparison over all criteria and on each.

    ``run`` and ``queue`` name the draw of the labels, ``declared`` says in words who declared
    it. ``reason`` says why all cells cannot be estimated.
    """

    whole: AccuracyGain | None
    criteria: tuple[AccuracyGain, ...]
    run: int = 0
    queue: str = ""
    reason: str = ""
    declared: str = ""


def compare_accuracy(
    store: Store, paired: PairedRuns, level: float = USUAL.level
) -> CorrectedAccuracy:
    """Return the comparison, from the labels drawn for the run that has more of them."""
    drawn = [(run.id, random_labels.labels_of_run(store, run.id)) for run in paired.runs]
    usable = [(run_id, labels) for run_id, labels in drawn if not labels.reason]
    if not usable:
        return CorrectedAccuracy(
            None, (), reason=_reason_undefined(paired, [labels for _, labels in drawn])
        )
    run_id, best = max(usable, key=lambda pair: int(pair[1].cells.drawn.sum()))
    place = {item: index for index, item in enumerate(paired.match.both)}
    items = np.array([place.get(item, -1) for item in best.cells.table.ids], np.int64)
    tables = [_cell_rows(sides, best.of(sides.name), items) for sides in paired.criteria]
    rows = [
        _accuracy_gain(s.name, columns, level)
        for s, columns in zip(paired.criteria, tables, strict=True)
    ]
    corrected = holm([row.p for row in rows])
    all_cells = np.concatenate(tables)
    return CorrectedAccuracy(
        _accuracy_gain("", all_cells, level, by_item=best.by_item),
        tuple(replace(row, p=p) for row, p in zip(rows, corrected, strict=True)),
        run_id,
        best.queue.name if best.queue is not None else "",
        declared=label_draws.draw_words(best.declared),
    )


def _reason_undefined(paired: PairedRuns, drawn_labels: list[DrawnLabels]) -> str:
    first, second = (labels.reason for labels in drawn_labels)
    if first == second:
        return first
    return f"Run {paired.runs[0].id}: {first} Run {paired.runs[1].id}: {second}"


#: Columns of the cell table: the position of the item; whether the runs differ; how much more often
#: the second run is right (NaN without a label that counts); the stratum.
_ITEM, _APART, _MORE, _STRATUM = range(4)


def _cell_rows(sides: CriterionPair, cells: DrawnCells, items: npt.NDArray[np.int64]) -> Array:
    """Return a row for each cell that both runs decided and that could be drawn.

    ``items`` maps items of the drawn run to their place among the shared ones, or -1.
    """
    at = items[cells.item]
    first, second = sides.verdicts
    decided = (at >= 0) & (first[at] >= 0) & (second[at] >= 0)
    cells, at = cells.take(decided), at[decided]
    place = {fold(label): level for level, label in enumerate(sides.labels)}
    levels = cells.table.by_option(
        lambda c: [place.get(fold(option.label), -1) for option in c.choices]
    )
    truth = levels[cells.question, np.maximum(cells.option, -1)]
    labelled = ~np.isnan(cells.counted) & (cells.option >= 0)
    gain = (second[at] == truth).astype(np.float64) - (first[at] == truth)
    columns = (at, first[at] != second[at], np.where(labelled, gain, np.nan), cells.stratum)
    return np.column_stack(columns).astype(np.float64)


def _item_means(cells: Array) -> Array:
    """Return a row per item with the mean of its cells, NaN if a differing cell is unlabelled."""
    _, first, item = np.unique(cells[:, _ITEM], return_index=True, return_inverse=True)
    number = np.bincount(item)
    differing = np.bincount(item, cells[:, _APART])
    gain = np.bincount(item, np.where(cells[:, _APART] > 0, cells[:, _MORE], 0.0)) / number
    drawn = np.where(differing > 0, gain, 0.0)
    return np.column_stack([cells[first, _ITEM], differing > 0, drawn, cells[first, _STRATUM]])


def _accuracy_gain(name: str, cells: Array, level: float, *, by_item: bool = False) -> AccuracyGain:
    """Compute one comparison. ``by_item``: items were drawn with all cells, and count once."""
    is_apart = cells[:, _APART] > 0
    labelled_cells = np.isfinite(cells[:, _MORE])
    units = _item_means(cells) if by_item else cells
    number, differ = len(np.unique(units[:, _ITEM])), units[:, _APART] > 0
    result = powered_gap(
        np.zeros(len(units)),
        # If both runs give the same verdict, both are right or both are wrong, so their difference
        # is 0.
        np.where(differ, units[:, _MORE], 0.0),
        np.where(differ, units[:, _STRATUM], -1),
        np.full(len(units), number / max(1, len(units))),
        units[:, _ITEM],
        level=level,
    )
    naive = float(cells[labelled_cells, _MORE].mean()) if labelled_cells.any() else None
    labelled = int((is_apart & labelled_cells).sum())
    return AccuracyGain(
        name, len(cells), int(is_apart.sum()), labelled, result.mean, naive, result.p
    )


def accuracy_words(accuracy: CorrectedAccuracy) -> str:
    """Return which run is right more often on all cells, and whether labels alone differ.

    The text is empty without labels.
    """
    text = _gain_sentence(accuracy)
    return f"{text} {accuracy.declared}" if text and accuracy.declared else text


def _gain_sentence(accuracy: CorrectedAccuracy) -> str:
    row = accuracy.whole
    if accuracy.reason == random_labels.NOBODY:
        return ""
    if row is None:
        return f"No result for all cells: {accuracy.reason}"
    if row.gap.value is None:
        return f"No result for all cells: {row.gap.reason}"
    run = {
        0: "neither run is right significantly more often",
        1: "A is right more often",
        2: "B is right more often",
    }
    text = (
        f"Of the {plural(row.cells, 'cell')} that both decide, labelled or not, "
        f"{run[row.better_run]}: "
        f"B minus A {row.gap.words(share_points).inline}. The runs differ on "
        f"{percent(row.apart / row.cells)} of them."
    )
    naive = row.naive or 0.0
    if naive * row.gap.value < 0:
        text += (
            f" Labelled cells alone point the other way ({points(naive, share=True)}): doubtful "
            "ones were picked more often."
        )
    decided = [c for c in accuracy.criteria if c.better_run]
    if len(accuracy.criteria) > 1 and decided:
        names = "; ".join(
            f"{'AB'[c.better_run - 1]} on {visible(c.criterion)} "
            f"({points(c.gap.value, share=True)})"
            for c in decided[:3]
        )
        text += f" By criterion: {names}."
    return text


def accuracy_data(accuracy: CorrectedAccuracy) -> dict[str, Any]:
    """Return the value of ``corrected`` in ``compare --json``."""
    if accuracy.whole is None:
        return {"undefined": {"accuracy": accuracy.reason}}
    return {
        "run": accuracy.run,
        "queue": accuracy.queue or None,
        **({"declared": accuracy.declared} if accuracy.declared else {}),
        "accuracy": _gain_data(accuracy.whole),
        "criteria": {row.criterion: _gain_data(row) for row in accuracy.criteria},
        "in_words": accuracy_words(accuracy),
    }


def _gain_data(row: AccuracyGain) -> dict[str, Any]:
    data: dict[str, Any] = {
        "cells": row.cells,
        "apart": row.apart,
        "labelled_apart": row.labelled,
        "difference": row.gap.value,
        "ci": row.gap.ci,
        "labelled_alone": row.naive,
        "p": row.p,
        "better": {0: None, 1: "a", 2: "b"}[row.better_run],
    }
    return {**data, "undefined": {"difference": row.gap.reason}} if row.gap.reason else data

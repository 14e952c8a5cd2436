"""Which of two runs is right more often on all cells, from labels that were drawn at random.

Accuracy over labelled cells speaks of those; a queue picks doubtful ones, on which runs differ
most. With the chance that each cell had of being labelled, they speak of all. Where both runs give
the same verdict they are equally right whatever the truth is: nobody has to look there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.estimate import USUAL, Estimate
from core.metrics.intervals.bootstrap import holm
from core.metrics.intervals.powered_gaps import powered_gap
from core.metrics.measure import Array
from core.services.comparison.paired_runs import CriterionPair, Paired
from core.services.datasets import label_draws
from core.services.review import random_labels
from core.services.review.random_labels import DrawnCells, DrawnLabels
from core.store.store import Store
from core.text.names import fold, visible
from core.text.numbers import percent, plural, points, share_points

#: A p below this decides, corrected for the number of criteria.
LEVEL = 0.05


@dataclass(frozen=True)
class RightMore:
    """How much more often the second run is right, of all ``cells`` that both decided.

    ``criterion`` is empty for all together. On ``apart`` of the cells the runs differ, of which
    ``labelled`` have a label that counts. ``naive`` is the plain difference over labelled cells.
    ``p`` is corrected for the number of criteria; that of all together stands alone.
    """

    criterion: str
    cells: int
    apart: int
    labelled: int
    gap: Estimate
    naive: float | None
    p: float | None

    @property
    def better(self) -> int:
        """1 or 2: the run that is right more often by more than chance; 0 where neither is."""
        if self.gap.value is None or self.p is None or self.p >= LEVEL or not self.gap.value:
            return 0
        return 2 if self.gap.value > 0 else 1


@dataclass(frozen=True)
class CorrectedAccuracy:
    """All criteria together and each; ``run`` and ``queue`` say whose draw it was, ``declared`` who
    declared it.

    ``reason`` says why nothing can be said of all cells.
    """

    whole: RightMore | None
    criteria: tuple[RightMore, ...]
    run: int = 0
    queue: str = ""
    reason: str = ""
    declared: str = ""


def right_more(store: Store, paired: Paired, level: float = USUAL.level) -> CorrectedAccuracy:
    """The comparison, from the labels drawn for either run, the one with more of them."""
    drawn = [(run.id, random_labels.of_run(store, run.id)) for run in paired.runs]
    able = [(run_id, one) for run_id, one in drawn if not one.reason]
    if not able:
        return CorrectedAccuracy(None, (), reason=_why(paired, [one for _, one in drawn]))
    run_id, found = max(able, key=lambda one: int(one[1].cells.drawn.sum()))
    place = {item: at for at, item in enumerate(paired.match.both)}
    items = np.array([place.get(item, -1) for item in found.cells.table.ids], np.int64)
    each = [_columns(sides, found.of(sides.name), items) for sides in paired.criteria]
    ones = [_more(s.name, one, level) for s, one in zip(paired.criteria, each, strict=True)]
    corrected = holm([one.p for one in ones])
    whole = np.concatenate(each)
    return CorrectedAccuracy(
        _more("", whole, level, by_item=found.declared is not None),
        tuple(replace(one, p=p) for one, p in zip(ones, corrected, strict=True)),
        run_id,
        found.queue.name if found.queue is not None else "",
        declared=label_draws.in_words(found.declared),
    )


def _why(paired: Paired, drawn: list[DrawnLabels]) -> str:
    one, other = (found.reason for found in drawn)
    if one == other:
        return one
    return f"Run {paired.runs[0].id}: {one} Run {paired.runs[1].id}: {other}"


#: Columns of a table of cells: the item's place, whether the runs differ, how much more the second
#: is right (NaN where no label counts), the stratum.
_ITEM, _APART, _MORE, _STRATUM = range(4)


def _columns(sides: CriterionPair, cells: DrawnCells, items: npt.NDArray[np.int64]) -> Array:
    """A row for each cell that both runs decided and that could be drawn; ``items`` has the place
    of each item of the drawn run among those of both, -1 for none.
    """
    at = items[cells.item]
    first, second = sides.verdicts
    both = (at >= 0) & (first[at] >= 0) & (second[at] >= 0)
    cells, at = cells.take(both), at[both]
    place = {fold(label): level for level, label in enumerate(sides.labels)}
    levels = cells.table.by_option(lambda c: [place.get(fold(o.label), -1) for o in c.choices])
    truth = levels[cells.question, np.maximum(cells.option, -1)]
    known = ~np.isnan(cells.counted) & (cells.option >= 0)
    more = (second[at] == truth).astype(np.float64) - (first[at] == truth)
    columns = (at, first[at] != second[at], np.where(known, more, np.nan), cells.stratum)
    return np.column_stack(columns).astype(np.float64)


def _items(cells: Array) -> Array:
    """A row for each item, with the mean of its cells; unknown where one that differs is."""
    _, first, item = np.unique(cells[:, _ITEM], return_index=True, return_inverse=True)
    number = np.bincount(item)
    apart = np.bincount(item, cells[:, _APART])
    more = np.bincount(item, np.where(cells[:, _APART] > 0, cells[:, _MORE], 0.0)) / number
    drawn = np.where(apart > 0, more, 0.0)
    return np.column_stack([cells[first, _ITEM], apart > 0, drawn, cells[first, _STRATUM]])


def _more(name: str, cells: Array, level: float, *, by_item: bool = False) -> RightMore:
    """``by_item``: items were drawn with all of their cells, so that an item counts once."""
    apart = cells[:, _APART] > 0
    known = np.isfinite(cells[:, _MORE])
    units = _items(cells) if by_item else cells
    number, differ = len(np.unique(units[:, _ITEM])), units[:, _APART] > 0
    found = powered_gap(
        np.zeros(len(units)),
        # Where both say the same, both are right or both are wrong.
        np.where(differ, units[:, _MORE], 0.0),
        np.where(differ, units[:, _STRATUM], -1),
        np.full(len(units), number / max(1, len(units))),
        units[:, _ITEM],
        level=level,
    )
    naive = float(cells[known, _MORE].mean()) if known.any() else None
    labelled = int((apart & known).sum())
    return RightMore(name, len(cells), int(apart.sum()), labelled, found.gap, naive, found.p)


def in_words(found: CorrectedAccuracy) -> str:
    """Which run is right more often on all cells, and whether labelled ones alone say otherwise.

    Empty where nobody labelled anything.
    """
    said = _right_more(found)
    return f"{said} {found.declared}" if said and found.declared else said


def _right_more(found: CorrectedAccuracy) -> str:
    one = found.whole
    if found.reason == random_labels.NOBODY:
        return ""
    if one is None:
        return f"Of all cells nothing can be said: {found.reason}"
    if one.gap.value is None:
        return f"Of all cells nothing can be said: {one.gap.reason}"
    who = {
        0: "neither run is surely right more often",
        1: "A is right more often",
        2: "B is right more often",
    }
    said = (
        f"Of the {plural(one.cells, 'cell')} that both decide, labelled or not, {who[one.better]}: "
        f"B minus A {one.gap.words(share_points).inline}. The runs differ on "
        f"{percent(one.apart / one.cells)} of them."
    )
    naive = one.naive or 0.0
    if naive * one.gap.value < 0:
        said += (
            f" Labelled cells alone point the other way ({points(naive, share=True)}): doubtful "
            "ones were picked more often."
        )
    each = [c for c in found.criteria if c.better]
    if len(found.criteria) > 1 and each:
        names = "; ".join(
            f"{'AB'[c.better - 1]} on {visible(c.criterion)} ({points(c.gap.value, share=True)})"
            for c in each[:3]
        )
        said += f" By criterion: {names}."
    return said


def as_data(found: CorrectedAccuracy) -> dict[str, Any]:
    """The key ``corrected`` of ``compare --json``."""
    if found.whole is None:
        return {"undefined": {"accuracy": found.reason}}
    return {
        "run": found.run,
        "queue": found.queue or None,
        **({"declared": found.declared} if found.declared else {}),
        "accuracy": _data(found.whole),
        "criteria": {one.criterion: _data(one) for one in found.criteria},
        "in_words": in_words(found),
    }


def _data(one: RightMore) -> dict[str, Any]:
    data: dict[str, Any] = {
        "cells": one.cells,
        "apart": one.apart,
        "labelled_apart": one.labelled,
        "difference": one.gap.value,
        "ci": one.gap.ci,
        "labelled_alone": one.naive,
        "p": one.p,
        "better": {0: None, 1: "a", 2: "b"}[one.better],
    }
    return {**data, "undefined": {"difference": one.gap.reason}} if one.gap.reason else data

"""One rater against one reference over all criteria: how many cells are right, the mean kappa."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from core.metrics.agreement.kappa import kappa_quadratic, kappa_unweighted
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.bootstrap import basic, percentile
from core.metrics.intervals.clustered_share import clustered_share
from core.metrics.measure import Array
from core.services.agreement.joint_draws import (
    AnswerPairs,
    Figure,
    Picked,
    Resampled,
    answer_pairs,
)
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, sides
from core.services.agreement.ratings import (
    JUDGE_KINDS,
    LABELS,
    PANEL,
    PEOPLE,
    CriterionRatings,
    Rated,
    columns_of,
)

NO_CELLS = "No item has an answer of both."
NO_KAPPA = "No criterion has a kappa: both sides would have to use more than one option."


def accuracy(tables: Sequence[Array], pairs: Sequence[AnswerPairs]) -> Array:
    """The share of right cells over all criteria, for each draw; NaN where there is no cell."""
    hits = sum(np.trace(table, axis1=0, axis2=1) for table in tables)
    return np.asarray(hits / _positive(sum(table.sum(axis=(0, 1)) for table in tables)))


def mean_kappa(tables: Sequence[Array], pairs: Sequence[AnswerPairs]) -> Array:
    """The mean of the criteria's kappas that are defined: quadratic where options have an order."""
    each = [
        (kappa_quadratic if one.ordinal else kappa_unweighted).many(table)
        for one, table in zip(pairs, tables, strict=True)
    ]
    kappas = np.array(each).reshape(len(pairs), -1)
    known = np.isfinite(kappas)
    return np.asarray(np.where(known, kappas, 0).sum(axis=0) / _positive(known.sum(axis=0)))


OVERALL: Mapping[str, Figure] = {"accuracy": accuracy, "mean_kappa": mean_kappa}


def _positive(count: Any) -> Array:
    whole = np.asarray(count, dtype=np.float64)
    return np.where(whole > 0, whole, np.nan)


def overall(
    rated: Rated,
    reference: str | None = None,
    resamples: int = 0,
    seed: int = 0,
    how: Confidence = USUAL,
) -> dict[str, Any]:
    """``overall`` of ``metrics --json``: the panel and the judges against labels and people.

    With ``resamples`` intervals draw items once, for all criteria and all raters.
    """
    against = {"vs_gold": ("gold", LABELS), "vs_human_majority": ("human", PEOPLE)}
    wanted = [(key, at) for key, (name, at) in against.items() if reference in (None, name)]
    columns = columns_of(rated.raters)
    if reference not in (None, "gold", "human"):
        named = [at for rater, at in columns.items() if rater.name == reference]
        wanted = [("vs_reference", at) for at in named[:1]]
    judges = {
        r.name: at for r, at in columns.items() if r.kind in JUDGE_KINDS and r.name != reference
    }
    pairs = {
        (column, key): answer_pairs(rated, at, column)
        for column in (PANEL, *judges.values())
        for key, at in wanted
    }
    made = _overalls([*pairs.values()], resamples, seed, how)
    found = {pair: one.as_data() for pair, one in zip(pairs, made, strict=True)}
    decided = decided_cells(rated.criteria)
    return {
        "panel": {key: {**found[PANEL, key], "decided": decided} for key, _ in wanted},
        "raters": {
            name: {key: found[column, key] for key, _ in wanted} for name, column in judges.items()
        },
    }


def decided_cells(criteria: Iterable[CriterionRatings]) -> int:
    """How many cells have a verdict by the votes that is an option: no abstention, no failure."""
    return sum(int((criterion.panel >= 0).sum()) for criterion in criteria)


@dataclass(frozen=True)
class Overall:
    """All criteria together: ``cells`` with an answer of both, on so many criteria."""

    criteria: int
    cells: int
    accuracy: Estimate
    mean_kappa: Estimate

    def as_data(self) -> dict[str, Any]:
        """``O`` of ``metrics --json``."""
        both = {"accuracy": self.accuracy, "mean_kappa": self.mean_kappa}
        ci = {name: [e.low, e.high] for name, e in both.items() if e.low is not None}
        undefined = {name: e.reason for name, e in both.items() if e.value is None}
        return {
            "criteria": self.criteria,
            "cells": self.cells,
            **{name: one.value for name, one in both.items()},
            **({"ci": ci} if ci else {}),
            **({"undefined": undefined} if undefined else {}),
        }


def of_sheet(
    sheet: Sheet,
    reference: str,
    rater: str,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    how: Confidence = USUAL,
) -> Overall:
    """One rater against one reference over all criteria of a sheet."""
    pairs = list[AnswerPairs]()
    for asked in sheet.criteria:
        true, given = sides(sheet, asked, reference, rater)
        both = np.flatnonzero((true >= 0) & (given >= 0))
        ids = Picked(sheet.items, both)
        ordinal = asked.scale == "ordinal"
        pairs.append(AnswerPairs(asked.name, asked.labels, ordinal, ids, true[both], given[both]))
    return next(_overalls([pairs], resamples, seed, how))


def right_cells(pairs: Sequence[AnswerPairs], level: float) -> Estimate:
    """The share of cells on which both sides say the same; cells of one item go together."""
    hits = np.concatenate([one.reference == one.answers for one in pairs])
    place: dict[str, int] = {}
    rows = [
        one.items.rows
        if isinstance(one.items, Picked)
        else np.array([place.setdefault(item, len(place)) for item in one.items], np.int64)
        for one in pairs
    ]
    return clustered_share(hits, np.concatenate(rows), level=level)


def _overalls(
    sides_: Sequence[Sequence[AnswerPairs]], resamples: int, seed: int, how: Confidence
) -> Iterator[Overall]:
    whole = Resampled.of_pairs(sides_)
    drawn = None
    if resamples and whole.items:
        drawn = whole.values(OVERALL, sides_, resamples, seed, joined=False)
    for at, pairs in enumerate(sides_):
        once, cells = whole.once(pairs), sum(len(one.items) for one in pairs)
        reasons = {"accuracy": NO_CELLS, "mean_kappa": NO_KAPPA if cells else NO_CELLS}
        found = dict[str, Estimate]()
        for name, figure in OVERALL.items():
            value = float(figure(once, pairs)[0])
            if not isfinite(value):
                found[name] = Estimate.undefined(reasons[name], cells)
                continue
            one = Estimate.defined(value, cells)
            if drawn is not None and name == "accuracy" and how.method == "auto":
                one = right_cells(pairs, how.level)
            elif drawn is not None:
                many, level = drawn[name][at], how.level
                turned = how.method == "basic"
                one = one.within(basic(many, value, level) if turned else percentile(many, level))
            found[name] = one
        number = sum(bool(one.items) for one in pairs)
        yield Overall(number, cells, found["accuracy"], found["mean_kappa"])

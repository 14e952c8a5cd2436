"""PAIR of the contract: one rater, or the panel, against one reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.metrics import accuracy as share
from core.metrics import agreement, correlation, distance, rare, scores
from core.metrics.bootstrap import Interval, exact_share, intervals
from core.metrics.figure import Figure
from core.metrics.measure import Array, Measure
from core.metrics.smoothed import smoothed
from core.services.measuring_figures import (
    NO_INTERVAL,
    NO_ORDER,
    UNORDERED,
    Draws,
    rendered,
    score_intervals,
)

NO_LEVEL = "The mean of several ratings is no level of the scale, so there are no counts."

PAIR: dict[str, Measure] = {
    "accuracy": share.accuracy,
    "f1_macro": share.f1_macro,
    "cohen_kappa": agreement.kappa_unweighted,
    "kappa_linear": agreement.kappa_linear,
    "kappa_quadratic": agreement.kappa_quadratic,
    "adjacent_accuracy": share.adjacent_accuracy,
    "spearman": correlation.spearman,
    "kendall_tau_b": correlation.kendall_tau_b,
    "pearson": correlation.pearson,
    "rmse_levels": distance.rmse,
    "mae_levels": distance.mae,
    "bias_levels": distance.bias,
    "emd_levels": distance.emd,
    "ks": distance.ks,
}
MORE: dict[str, Measure] = {
    "majority_share": share.majority_share,
    "precision_macro": share.precision_macro,
    "recall_macro": share.recall_macro,
    "phi": share.phi,
    "false_positive_rate": share.false_positive_rate,
    "false_negative_rate": share.false_negative_rate,
    "jensen_shannon": distance.jensen_shannon,
    "bias_effect_size": distance.bias_effect_size,
    "bias_p": distance.bias_p,
}
#: About one level, the positive one.
RATES = ("false_positive_rate", "false_negative_rate")
LEVEL = ("precision", "recall", "f1")
#: Plain shares of items.
SHARES = frozenset({"accuracy", "adjacent_accuracy", *RATES})
#: Sums over items, which rare options do not sway; all others of two levels are ``smoothed``.
PLAIN = frozenset({"accuracy", "adjacent_accuracy", "majority_share", "mae_levels", "rmse_levels"})
#: Means over levels, and agreement beyond chance: with more levels, rare ones forbid an interval.
MACRO = frozenset({"f1_macro", "precision_macro", "recall_macro"})
BEYOND_CHANCE = frozenset(
    {
        "cohen_kappa",
        "kappa_linear",
        "kappa_quadratic",
        "spearman",
        "kendall_tau_b",
        "pearson",
        "phi",
    }
)
#: What a mean level can be compared by, and its name in ``core.metrics.scores``.
MEAN_LEVEL = {
    "spearman": "spearman",
    "kendall_tau_b": "kendall_tau_b",
    "pearson": "pearson",
    "rmse_levels": "rmse",
    "mae_levels": "mae",
    "bias_levels": "bias",
}


class Pair:
    """The table of one pair: its figures, and the function that resamples them."""

    def __init__(self, table: Array, *, ordered: bool, positive: int) -> None:
        self._table, self._ordered = table, ordered
        self._turned = slice(None, None, -1 if positive else 1)
        self.n = int(table.sum())
        self.figures = {name: self._figure(name, one) for name, one in (PAIR | MORE).items()}
        self.levels = {
            f"{level}.{name}": figure
            for level, figures in enumerate(share.per_level(table))
            for name, figure in zip(LEVEL, figures[:3], strict=True)
        }

    def _figure(self, name: str, measure: Measure) -> Figure:
        if name not in UNORDERED and not self._ordered:
            return Figure.undefined(NO_ORDER, self.n)
        return measure(self._side(name, self._table))

    def _side(self, name: str, tables: Array) -> Array:
        """The tables with the positive level first, for the figures that are about one."""
        return tables[self._turned, self._turned] if name in RATES else tables

    def bundle(self, weights: Array) -> Mapping[str, Array]:
        """Weights of cells, shape (k * k, resamples), to every defined figure."""
        k = len(self._table)
        tables = weights.reshape(k, k, -1)
        values = {
            name: measure.many(self._side(name, tables))
            for name, measure in (PAIR | MORE).items()
            if self.figures[name].value is not None and name not in NO_INTERVAL
        }
        shares = share.level_shares(tables)
        for name, figure in self.levels.items():
            if figure.value is not None:
                level, _, what = name.partition(".")
                values[name] = shares[what][int(level)]
        return values

    def intervals(self, tables: Array | None) -> dict[str, Interval]:
        """The interval of every defined figure; none without resampled tables."""
        if tables is None or not self.n:
            return {}
        cells = tables.reshape(self._table.size, -1)
        found = intervals(self.bundle, cells, self._table.ravel(), n=self.n)
        if len(self._table) == 2:
            even = smoothed(self.bundle, self._table.ravel(), tables.shape[-1])
            found |= {name: one for name, one in even.items() if name not in PLAIN}
        else:
            found = {name: self._withheld(name, one) for name, one in found.items()}
            found |= self._of_levels(tables.shape[-1])
        for name in found:
            figure = self.figures.get(name) or self.levels[name]
            # A share of 0 or 1 is the same in every resample, and yet not certain.
            if _is_share(name) and figure.value in (0.0, 1.0):
                n = self._support(name)
                found[name] = exact_share(figure.value * n, n)
        return found

    def _withheld(self, name: str, interval: Interval) -> Interval:
        """The interval, or none where an option is too rare for it."""
        if name in MACRO:
            return rare.withheld(rare.of_levels(self._table), interval)
        return _beyond_chance(self._table, interval) if name in BEYOND_CHANCE else interval

    def _of_levels(self, resamples: int) -> dict[str, Interval]:
        """Precision, recall and F1 of every level: each is of two levels, it and all others."""
        found = {}
        for level in range(len(self._table)):
            table = _against_rest(self._table, level)

            def bundle(weights: Array) -> Mapping[str, Array]:
                shares = share.level_shares(weights.reshape(2, 2, -1))
                return {name: values[0] for name, values in shares.items()}

            for name, interval in smoothed(bundle, table.ravel(), resamples).items():
                if self.levels[f"{level}.{name}"].value is not None:
                    found[f"{level}.{name}"] = interval
        return found

    def _support(self, name: str) -> int:
        """How many items a share is a share of."""
        if name in RATES:
            turned = self._side(name, self._table)
            return int(turned[1 if name == RATES[0] else 0].sum())
        return self.levels[name].n if name in self.levels else self.n


def kappa_interval(kappa: Measure, table: Array, drawn: Array) -> Interval:
    """The interval of a defined kappa alone, the same as among all figures of its pair.

    ``drawn`` are the resampled tables, shape (k, k, resamples).
    """
    k, times = len(table), table.ravel()

    def bundle(weights: Array) -> Mapping[str, Array]:
        return {"": kappa.many(weights.reshape(k, k, -1))}

    if k == 2:
        return smoothed(bundle, times, drawn.shape[-1])[""]
    cells = drawn.reshape(k * k, -1)
    return _beyond_chance(table, intervals(bundle, cells, times, n=int(times.sum()))[""])


def _beyond_chance(table: Array, interval: Interval) -> Interval:
    """The interval, or none where too few items are off the commonest level of either side."""
    most = max(table.sum(axis=1), table.sum(axis=0), key=lambda side: float(side.max()))
    return rare.withheld(rare.off_commonest(most, float(table.sum())), interval)


def _against_rest(table: Array, level: int) -> Array:
    """The table of one level against all others together; it comes first."""
    hits, row, column = table[level, level], table[level].sum(), table[:, level].sum()
    return np.array([[hits, row - hits], [column - hits, table.sum() - row - column + hits]])


def _is_share(name: str) -> bool:
    return name in SHARES or name.endswith((".precision", ".recall"))


def pair_figures(
    table: Array, tables: Array | None, labels: Sequence[str], *, ordered: bool, positive: int
) -> dict[str, Any]:
    """PAIR for one table of counts and resampled ``tables``, shape (k, k, resamples).

    ``positive`` is the level that false-positive rates are about. What the contract does not name
    stands in ``more``.
    """
    pair = Pair(table, ordered=ordered, positive=positive)
    ci = pair.intervals(tables)
    more = rendered({name: pair.figures[name] for name in MORE}, ci)
    more["per_level"] = {
        label: {
            "support": int(table[level].sum()),
            **rendered(
                {name: pair.levels[f"{level}.{name}"] for name in LEVEL},
                {name: ci[f"{level}.{name}"] for name in LEVEL if f"{level}.{name}" in ci},
            ),
        }
        for level, label in enumerate(labels)
    }
    return {
        "n": pair.n,
        **rendered({name: pair.figures[name] for name in PAIR}, ci),
        "confusion": table.astype(np.int64).tolist(),
        "more": more,
    }


def mean_level_figures(
    pairs: scores.Pairs, draws: Draws | None, *, ordered: bool
) -> dict[str, Any]:
    """PAIR of the contract against a mean level: what needs counts of levels is undefined."""
    times = pairs.times()
    n = int(times.sum())
    why = NO_LEVEL if ordered else NO_ORDER
    found = {name: Figure.undefined(why, n) for name in (*PAIR, "confusion")}
    ci: dict[str, Interval] = {}
    if ordered:
        score = scores.figures(pairs, times)
        found |= {name: score[inner] for name, inner in MEAN_LEVEL.items()}
        inner_ci = score_intervals(pairs, draws)
        ci = {name: inner_ci[inner] for name, inner in MEAN_LEVEL.items() if inner in inner_ci}
    return {"n": n, **rendered(found, ci)}

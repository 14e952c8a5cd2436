"""The figures of pairs, groups and scores as plain data, with intervals where resamples are given.

``Draws`` holds the resamples of one source: which items are drawn is decided once, for all
criteria and raters together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics import accuracy as share
from core.metrics import agreement, correlation, distance, group, reliability, scores
from core.metrics.bootstrap import (
    Bundle,
    Interval,
    by_pattern,
    intervals,
    resample_items,
    resample_patterns,
)
from core.metrics.figure import Figure
from core.metrics.measure import Array, GroupMeasure, Measure
from core.metrics.pairwise import mean_pairwise_cohen
from core.metrics.ratings import Patterns

#: Up to this many weights, items are drawn once for all criteria; beyond, per criterion.
MOST_WEIGHTS = 20_000_000

NO_ORDER = "The levels of a nominal criterion have no order."
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
#: These mean something for unordered levels, too.
UNORDERED = frozenset(
    {
        "accuracy",
        "f1_macro",
        "cohen_kappa",
        "majority_share",
        "precision_macro",
        "recall_macro",
        "phi",
        "jensen_shannon",
        "percent_agreement",
        "krippendorff_alpha_nominal",
        "fleiss_kappa",
        "gwet_ac1",
        "mean_pairwise_cohen.none",
    }
)
#: A p value has no interval.
NO_INTERVAL = frozenset({"bias_p"})
MEAN_LEVEL = {
    "spearman": "spearman",
    "kendall_tau_b": "kendall_tau_b",
    "pearson": "pearson",
    "rmse_levels": "rmse",
    "mae_levels": "mae",
    "bias_levels": "bias",
}
GROUP: dict[str, GroupMeasure] = {
    "percent_agreement": group.item_agreement,
    "krippendorff_alpha_nominal": group.alpha_nominal,
    "krippendorff_alpha_ordinal": group.alpha_ordinal,
    "krippendorff_alpha_interval": group.alpha_interval,
    "fleiss_kappa": group.fleiss_kappa,
    "gwet_ac1": group.gwet_ac1,
    "gwet_ac2_quadratic": group.gwet_ac2,
    **{f"mean_pairwise_cohen.{name}": mean_pairwise_cohen(name) for name in agreement.WEIGHTS},
    "icc_2_1": reliability.icc_2_1,
    "icc_2_k": reliability.icc_2_k,
    "kendall_w": reliability.kendall_w,
}


class Draws:
    """The resamples of ``items`` items; ``None`` of them (``resamples`` 0) gives no interval."""

    def __init__(self, items: int, resamples: int, seed: int) -> None:
        self.resamples = resamples
        self._rng = np.random.default_rng(seed)
        joint = 0 < resamples * items <= MOST_WEIGHTS
        self._weights = resample_items(items, resamples, self._rng) if joint else None

    def of(self, of_item: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> Array:
        """How often each pattern is drawn, shape (resamples, patterns)."""
        if self._weights is None:
            return resample_patterns(times, self.resamples, self._rng)
        return by_pattern(self._weights, of_item, len(times))


def pair_figures(
    table: Array, tables: Array | None, labels: Sequence[str], *, ordered: bool, positive: int
) -> dict[str, Any]:
    """PAIR of the contract for one table of counts, and resampled ``tables`` of its shape.

    ``positive`` is the level that false-positive rates are about.
    """
    k = len(labels)
    turned = slice(None, None, -1 if positive else 1)
    found = {
        name: _pair_figure(name, measure, table, ordered) for name, measure in (PAIR | MORE).items()
    }
    for name in ("false_positive_rate", "false_negative_rate") if k == 2 and ordered else ():
        found[name] = MORE[name](table[turned, turned])

    def bundle(weights: Array) -> Mapping[str, Array]:
        drawn = weights.reshape(-1, k, k)
        both = PAIR | MORE
        sides = {n: drawn[:, turned, turned] if n.startswith("false_") else drawn for n in both}
        return {
            name: both[name].many(sides[name])
            for name, figure in found.items()
            if figure.value is not None and name not in NO_INTERVAL
        }

    n = int(table.sum())
    ci: dict[str, Interval] = {}
    if tables is not None and n:
        ci = intervals(bundle, tables.reshape(len(tables), -1), table.ravel(), n=n)
    more = rendered({name: found[name] for name in MORE}, ci)
    more["per_level"] = {
        label: {
            "precision": f.precision.value,
            "recall": f.recall.value,
            "f1": f.f1.value,
            "support": f.support,
        }
        for label, f in zip(labels, share.per_level(table), strict=True)
    }
    return {
        "n": n,
        **rendered({name: found[name] for name in PAIR}, ci),
        "confusion": table.astype(np.int64).tolist(),
        "more": more,
    }


def _pair_figure(name: str, measure: Measure, table: Array, ordered: bool) -> Figure:
    if name not in UNORDERED and not ordered:
        return Figure.undefined(NO_ORDER, int(table.sum()))
    return measure(table)


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


def score_figures(pairs: scores.Pairs, draws: Draws | None) -> dict[str, Any]:
    """Score-level agreement: the figures of ``core.metrics.scores`` and their intervals."""
    times = pairs.times()
    found = scores.figures(pairs, times)
    return {"n": int(times.sum()), **rendered(found, score_intervals(pairs, draws))}


def score_intervals(pairs: scores.Pairs, draws: Draws | None) -> dict[str, Interval]:
    """The intervals of all figures of pairs of numbers but the p value; none without resamples."""
    times = pairs.times()
    if draws is None or not times.sum():
        return {}
    statistics = scores.statistics(pairs)
    number = len(times)
    # Items without a pair are drawn, too, and then count for nothing.
    without = int((pairs.of_item < 0).sum())
    of_item = np.where(pairs.of_item < 0, number, pairs.of_item)
    all_times = np.append(times, without)[: number + (without > 0)].astype(np.int64)
    drawn = draws.of(of_item, all_times)[:, :number]

    def bundle(weights: Array) -> Mapping[str, Array]:
        return {n: v for n, v in statistics(weights).items() if n not in NO_INTERVAL}

    return intervals(bundle, drawn, times)


def group_figures(
    rows: npt.NDArray[np.int64], found: Patterns, draws: Array | None, k: int, *, ordered: bool
) -> dict[str, Any]:
    """The coefficients of GROUP of the contract.

    ``rows`` are the levels per pattern of the group's raters, shape (patterns, raters).
    """
    times = found.times.astype(np.float64)
    figures: dict[str, Figure] = {}
    defined: dict[str, GroupMeasure] = {}
    for name, measure in GROUP.items():
        if name not in UNORDERED and not ordered:
            figures[name] = Figure.undefined(NO_ORDER)
            continue
        figures[name] = measure(rows, k, times)
        if figures[name].value is not None:
            defined[name] = measure
    ci: dict[str, Interval] = {}
    if draws is not None and defined:
        ci = intervals(
            _group_bundle(defined, rows, k, times),
            draws,
            times,
            n=int(times[(rows >= 0).sum(axis=1) >= 2].sum()),
        )
    return _nested(rendered(figures, ci))


def _group_bundle(
    measures: Mapping[str, GroupMeasure], rows: npt.NDArray[np.int64], k: int, times: Array
) -> Bundle:
    prepared = {name: measure.over(rows, k, times) for name, measure in measures.items()}
    return lambda weights: {name: of(weights) for name, of in prepared.items()}


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    """``mean_pairwise_cohen.none`` and its kin in a mapping of their own."""
    found: dict[str, Any] = {}
    for name, value in flat.items():
        head, dot, tail = name.partition(".")
        if dot:
            found.setdefault(head, {})[tail] = value
        else:
            found[name] = value
    return found


def rendered(figures: Mapping[str, Figure], ci: Mapping[str, Interval]) -> dict[str, Any]:
    """The numbers, ``undefined`` with the reasons of those that are ``None``, and ``ci``.

    An interval that does not exist is ``None`` in ``ci``, and its reason stands in ``undefined``
    as ``ci.NAME``.
    """
    reasons = {name: f.reason for name, f in figures.items() if f.value is None}
    found: dict[str, Any] = {name: f.value for name, f in figures.items()}
    shown = {name: ci[name] for name in figures if name in ci and figures[name].value is not None}
    if shown:
        found["ci"] = {n: None if i.low is None else [i.low, i.high] for n, i in shown.items()}
        reasons |= {f"ci.{n}": i.reason for n, i in shown.items() if i.low is None}
    if reasons:
        found["undefined"] = reasons
    return found

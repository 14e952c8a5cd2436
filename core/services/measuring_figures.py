"""Figures as plain data with reasons and intervals, and the resamples these are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.metrics import scores
from core.metrics.bootstrap import Interval, intervals, resample_items, resample_patterns
from core.metrics.figure import Figure
from core.metrics.measure import Array, tally

#: Up to this many weights, items are drawn once for all criteria; beyond, per criterion.
MOST_WEIGHTS = 20_000_000
#: More weights than this at once (0.8 GB) are refused rather than tried.
TOO_MANY = 100_000_000

NO_ORDER = "The levels of a nominal criterion have no order."
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


class Draws:
    """The resamples of one source: which items are drawn is decided once for everything.

    Only where that many weights would not fit (``MOST_WEIGHTS``) does every criterion draw its
    own patterns; each interval is as exact then, but nothing joins criteria.
    """

    def __init__(self, items: int, resamples: int, seed: int) -> None:
        self.resamples = resamples
        self._rng = np.random.default_rng(seed)
        joint = 0 < resamples * items <= MOST_WEIGHTS
        self._weights = resample_items(items, resamples, self._rng) if joint else None

    def of(self, of_item: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> Array:
        """How often each pattern is drawn, shape (patterns, resamples).

        Raises:
            InputError: that would not fit.
        """
        if len(times) * self.resamples > TOO_MANY:
            raise InputError(
                f"--bootstrap {self.resamples} is too much for items with {len(times):,} different "
                f"patterns of ratings. Use {TOO_MANY // len(times)} or fewer."
            )
        if self._weights is None:
            return resample_patterns(times, self.resamples, self._rng)
        return tally(of_item, len(times), self._weights)


def score_figures(pairs: scores.Pairs, draws: Draws | None) -> dict[str, Any]:
    """Figures of ``core.metrics.scores`` and their intervals."""
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
    drawn = draws.of(of_item, all_times)[:number]

    def bundle(weights: Array) -> Mapping[str, Array]:
        return {n: v for n, v in statistics(weights).items() if n not in NO_INTERVAL}

    return intervals(bundle, drawn, times)


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

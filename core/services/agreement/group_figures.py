"""Agreement within a group of raters, with resampled intervals, and reasons for missing figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.metrics.agreement import kappa, reliability, scores
from core.metrics.agreement.kappa import mean_kappas
from core.metrics.agreement.known_figures import KNOWN, Trait, group_measures
from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import USUAL, Confidence, Estimate, Interval
from core.metrics.intervals import rare_options
from core.metrics.intervals.bootstrap import SMALL, Bundle, intervals
from core.metrics.intervals.draws import resample_items, resample_many
from core.metrics.intervals.means import mean_interval
from core.metrics.measure import Array, GroupMeasure, Ratings, weight_sums

# Figures as plain data with reasons and intervals, and the resamples behind them.

#: Up to this many weights all criteria share their draws of items; above it each draws its own.
MOST_WEIGHTS = 20_000_000
#: More weights than this at once (0.8 GB) are rejected.
TOO_MANY = 100_000_000

NO_ORDER = "The levels of a nominal criterion have no order."


@lru_cache(maxsize=2)
def _item_draws(items: int, resamples: int, seed: int) -> npt.NDArray[np.uint8]:
    """Return how often each item is drawn. Cached, because a report needs the same draws seven
    times.
    """
    # Counts fit into 8 bits, because drawing an item more than 255 times is practically impossible.
    drawn = resample_items(items, resamples, np.random.default_rng(seed))
    return np.minimum(drawn, 255).astype(np.uint8)


class Draws:
    """The resamples of a source: its items are drawn once, for all figures.

    If these weights would not fit (``MOST_WEIGHTS``), every criterion draws its own patterns. Its
    intervals are as exact then, but criteria cannot be combined.
    """

    def __init__(
        self, items: int, resamples: int, seed: int, confidence: Confidence = USUAL
    ) -> None:
        self.resamples, self.confidence = resamples, confidence
        self._rng = np.random.default_rng(seed)
        joint = 0 < resamples * items <= MOST_WEIGHTS
        self._weights = _item_draws(items, resamples, seed).astype(np.float64) if joint else None

    def of(self, of_item: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> Array:
        """Return how often each pattern is drawn, shape (patterns, resamples).

        Raises:
            InputError: the weights would not fit.
        """
        self._refuse_too_many(len(times))
        if self._weights is None:
            return self.counts(times)
        return weight_sums(of_item, len(times), self._weights)

    def counts(self, times: npt.NDArray[np.int64]) -> Array:
        """Return draws of counts for a single figure, shape (counts, resamples)."""
        return resample_many(times, self.resamples, self._rng)

    def _refuse_too_many(self, patterns: int) -> None:
        if patterns * self.resamples > TOO_MANY:
            raise InputError(
                f"--bootstrap {self.resamples} is too much for items with {patterns:,} different "
                f"patterns of ratings. Use {TOO_MANY // patterns} or fewer."
            )

    def sums(self, of_item: npt.NDArray[np.int64], times: npt.NDArray[np.int64]) -> DrawnSums:
        """Return the draws for figures that need sums over any patterns.

        If criteria do not share draws of items, each figure draws the counts it needs.
        """
        self._refuse_too_many(len(times))
        if self._weights is None:
            return DrawnSums(times, None, self)
        return DrawnSums(times, self.of(of_item, times), self)


class DrawnSums:
    """How often patterns are drawn, summed by the groups that a figure needs."""

    def __init__(
        self,
        times: npt.NDArray[np.int64],
        resample_counts: Array | None,
        draws: Draws | None = None,
    ) -> None:
        self._times, self._drawn, self._draws = times, resample_counts, draws

    def tally(self, groups: npt.NDArray[np.int64], number: int) -> Array:
        """Return the draws of patterns summed by group, without patterns of a negative group."""
        if self._drawn is not None or self._draws is None:
            assert self._drawn is not None
            return weight_sums(groups, number, self._drawn)
        # Patterns without a group are drawn as well, then dropped.
        place = np.where(groups < 0, number, groups)
        counts = np.bincount(place, self._times, number + 1).astype(np.int64)
        return self._draws.counts(counts)[:number]


def score_figures(pairs: scores.Pairs, draws: Draws | None) -> dict[str, Any]:
    """Return the figures of ``core.metrics.agreement.scores``, with intervals."""
    times = pairs.times()
    figures = scores.figures(pairs, times)
    return {"n": int(times.sum()), **figures_data(figures, score_intervals(pairs, draws))}


def score_intervals(pairs: scores.Pairs, draws: Draws | None) -> dict[str, Interval]:
    """Return the intervals of all figures of pairs of numbers except p; empty without resamples."""
    times = pairs.times()
    if draws is None or not times.sum():
        return {}
    statistics = scores.statistics(pairs)
    number = len(times)
    # Items without a pair of ratings are drawn too, but do not count.
    without = int((pairs.of_item < 0).sum())
    of_item = np.where(pairs.of_item < 0, number, pairs.of_item)
    all_times = np.append(times, without)[: number + (without > 0)].astype(np.int64)
    drawn = draws.of(of_item, all_times)[:number]

    def bundle(weights: Array) -> Mapping[str, Array]:
        return {n: v for n, v in statistics(weights).items() if "p value" not in KNOWN[n].traits}

    by_figure = intervals(bundle, drawn, times, confidence=draws.confidence)
    if draws.confidence.method == "auto" and 1 < times.sum() < SMALL:
        gaps = np.repeat(pairs.rated - pairs.reference, times.astype(np.int64))
        by_figure["bias"] = mean_interval(gaps, draws.confidence.level)
        by_figure["mae"] = mean_interval(np.abs(gaps), draws.confidence.level, (0.0, np.inf))
    return by_figure


def figures_data(figures: Mapping[str, Estimate], ci: Mapping[str, Interval]) -> dict[str, Any]:
    """Return the numbers, ``undefined`` with a reason for each ``None``, and the intervals ``ci``.

    A missing interval is ``None`` in ``ci``, with its reason as ``ci.NAME`` in ``undefined``.
    """
    reasons = {name: f.reason for name, f in figures.items() if f.value is None}
    data: dict[str, Any] = {name: f.value for name, f in figures.items()}
    shown = {
        n: f.with_interval(ci[n]) for n, f in figures.items() if n in ci and f.value is not None
    }
    if shown:
        data["ci"] = {name: figure.ci for name, figure in shown.items()}
        reasons |= {
            f"ci.{name}": figure.reason for name, figure in shown.items() if figure.ci is None
        }
    if reasons:
        data["undefined"] = reasons
    return data


# GROUP of the contract: agreement among raters of one kind.


def group_figures(
    levels: npt.NDArray[np.int64],
    number: npt.NDArray[np.int64],
    draws: DrawnSums | None,
    k: int,
    *,
    ordered: bool,
    confidence: Confidence = USUAL,
) -> dict[str, Any]:
    """Return the coefficients of a group (``GROUP`` in ``metrics --json``).

    ``levels`` are the group's ratings, shape (patterns, raters). ``number`` counts the items of
    each pattern, ``draws`` those in resamples.
    """
    # Rows that differ only in raters of other groups are merged.
    rows, _, of_pattern = patterns(np.maximum(levels, -1))
    times = weight_sums(of_pattern, len(rows), number[:, None].astype(np.float64))[:, 0]
    figures: dict[str, Estimate] = {}
    for name, measure in group_measures().items():
        if KNOWN[name].ordered and not ordered:
            figures[name] = Estimate.undefined(NO_ORDER)
        else:
            figures[name] = measure(rows, k, times)
    defined = [name for name, figure in figures.items() if figure.value is not None]
    ci: dict[str, Interval] = {}
    if draws is not None and defined:
        ci = group_intervals(
            defined, rows, times, draws.tally(of_pattern, len(rows)), k, confidence
        )
    return _nested_figures(figures_data(figures, ci))


def group_intervals(
    names: Collection[str],
    rows: Ratings,
    times: Array,
    resample_counts: Array,
    k: int,
    confidence: Confidence = USUAL,
) -> dict[str, Interval]:
    """Return the intervals of these figures of a group; no other function makes them.

    Rows are the raters' levels, ``times`` counts the items of each, and ``resample_counts`` those
    in resamples. Alpha and its interval use only items that at least two rated.
    """
    rated_twice = (rows >= 0).sum(axis=1) >= 2
    measures = {name: measure for name, measure in group_measures().items() if name in names}
    alphas = _measures_with("rated twice", measures)
    resampled = {name: measure for name, measure in measures.items() if name not in alphas}
    by_figure = _measure_intervals(
        alphas, rows[rated_twice], times[rated_twice], resample_counts[rated_twice], k, confidence
    )
    return by_figure | _measure_intervals(resampled, rows, times, resample_counts, k, confidence)


def _measures_with(trait: Trait, measures: Mapping[str, GroupMeasure]) -> dict[str, GroupMeasure]:
    return {name: measure for name, measure in measures.items() if trait in KNOWN[name].traits}


def _measure_intervals(
    measures: Mapping[str, GroupMeasure],
    rows: Ratings,
    times: Array,
    resample_counts: Array,
    k: int,
    confidence: Confidence,
) -> dict[str, Interval]:
    if not measures:
        return {}
    n = int(times[(rows >= 0).sum(axis=1) >= 2].sum())
    even: dict[str, Interval] = {}
    if confidence.method == "auto" and k == 2:
        even = _smoothed_intervals(
            measures, rows, times, resample_counts.shape[1], confidence.level
        )
    resampled = {name: measure for name, measure in measures.items() if name not in even}
    if not resampled:
        return even
    by_figure = intervals(
        _group_bundle(resampled, rows, k, times), resample_counts, times, n=n, confidence=confidence
    )
    reason = rare_options.why_no_chance_interval(rare_options.level_counts_of(rows, times, k), n)
    return even | {
        name: rare_options.interval_unless(reason, measure)
        if "chance" in KNOWN[name].traits
        else measure
        for name, measure in by_figure.items()
    }


def _smoothed_intervals(
    measures: Mapping[str, GroupMeasure], rows: Ratings, times: Array, resamples: int, level: float
) -> dict[str, Interval]:
    """Return the smoothed intervals for two levels, if either level is rare."""
    by_figure: dict[str, Interval] = {}
    rated = rows[:, (rows >= 0).any(axis=0)]
    size = reliability.modal_number(rated, times)
    named = set(_measures_with("named", measures))
    kinds: list[tuple[set[str], rare_options.PossibleAnswers]] = []
    if size:
        kinds.append((set(measures) - named, rare_options.unnamed_answers(rated, times, size)))
    if rare_options.can_be_smoothed(2, rated.shape[1]):
        kinds.append((named, rare_options.named_answers(rated, times)))
    for names, possible in kinds:
        if names and rare_options.has_rare_answer(possible.counts_of_complete_answers):
            chosen = {name: measures[name] for name in measures if name in names}
            bundle = _group_bundle(chosen, possible.rows, 2, possible.times)
            by_figure |= rare_options.smoothed_intervals(
                bundle, possible.times, resamples, possible.added, level=level
            )
    return by_figure


def _group_bundle(
    measures: Mapping[str, GroupMeasure], rows: npt.NDArray[np.int64], k: int, times: Array
) -> Bundle:
    kappas = [w for w in kappa.WEIGHTS if f"mean_pairwise_cohen.{w}" in measures]
    prepared = {
        name: measure.as_function_of_weights(rows, k, times)
        for name, measure in measures.items()
        if not name.startswith("mean_pairwise_cohen.")
    }
    pairwise = mean_kappas(rows, k, times, kappas)

    def bundle(weights: Array) -> Mapping[str, Array]:
        values = {name: measure(weights) for name, measure in prepared.items()}
        return values | {f"mean_pairwise_cohen.{w}": v for w, v in pairwise(weights).items()}

    return bundle


def _nested_figures(flat: dict[str, Any]) -> dict[str, Any]:
    """Move ``mean_pairwise_cohen.none`` and the like into a mapping of their own."""
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        head, dot, tail = name.partition(".")
        if dot:
            nested.setdefault(head, {})[tail] = value
        else:
            nested[name] = value
    return nested

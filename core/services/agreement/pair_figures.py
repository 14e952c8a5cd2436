"""Agreement of a rater with a reference: accuracy, kappa, correlation, abstention."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from core.metrics.agreement import accuracy as share
from core.metrics.agreement import correlation_distance, scores
from core.metrics.agreement.kappa import kappa_unweighted, pair_cells, percent_agreement
from core.metrics.agreement.known_figures import KNOWN, pair_measures
from core.metrics.estimate import USUAL, Confidence, Estimate, Interval
from core.metrics.intervals import rare_options
from core.metrics.intervals.bootstrap import SMALL, exact_share, intervals
from core.metrics.intervals.clustered_share import share_interval
from core.metrics.intervals.rare_options import smoothed_intervals
from core.metrics.measure import Array, Measure, ratio_or_nan, weight_sums
from core.services.agreement.group_figures import (
    NO_ORDER,
    DrawnSums,
    Draws,
    figures_data,
    score_intervals,
)
from core.services.agreement.ratings import ABSTAINED, NOT_ASKED, Levels

# ``PAIR`` of ``metrics --json``: a rater, or the panel, against a reference.

NO_LEVEL = "The mean of several ratings is not a level of the scale, so there are no counts."

#: The figures of each option.


class LevelPair:
    """The table of a pair, its figures, and the function that resamples them.

    ``only`` names the figures needed; if empty, there are all, including the figures of levels.
    """

    def __init__(
        self,
        table: Array,
        *,
        ordered: bool,
        positive: int,
        confidence: Confidence = USUAL,
        only: Collection[str] = (),
    ) -> None:
        self._table, self._ordered, self._how = table, ordered, confidence
        self._turned = slice(None, None, -1 if positive else 1)
        self.n = int(table.sum())
        measures = pair_measures("pair", "more")
        self._measures = {n: measure for n, measure in measures.items() if not only or n in only}
        self.figures = {
            name: self._figure_named(name, measure) for name, measure in self._measures.items()
        }
        self.levels = (
            {}
            if only
            else {
                f"{level}.{name}": figure
                for level, figures in enumerate(share.figures_by_level(table))
                for name, figure in zip(share.LEVEL, figures, strict=True)
            }
        )

    def _figure_named(self, name: str, measure: Measure) -> Estimate:
        if KNOWN[name].ordered and not self._ordered:
            return Estimate.undefined(NO_ORDER, self.n)
        if not self.n:
            return measure.figure(self._table, nan)
        return measure(self._side(name, self._table))

    def _side(self, name: str, tables: Array) -> Array:
        """Return the tables with the positive level first, for figures about this level."""
        return tables[self._turned, self._turned] if KNOWN[name].row is not None else tables

    def bundle(self, weights: Array) -> Mapping[str, Array]:
        """Return every defined figure for these weights of cells, shape (k * k, resamples)."""
        k = len(self._table)
        tables = weights.reshape(k, k, -1)
        values = {
            name: measure.many(self._side(name, tables))
            for name, measure in self._measures.items()
            if self.figures[name].value is not None and "p value" not in KNOWN[name].traits
        }
        shares = share.level_shares(tables) if self.levels else {}
        for name, figure in self.levels.items():
            if figure.value is not None:
                level, _, figure_name = name.partition(".")
                values[name] = shares[figure_name][int(level)]
        return values

    def intervals(self, tables: Array | None) -> dict[str, Interval]:
        """Return the interval of every defined figure; empty without resampled tables."""
        if tables is None or not self.n:
            return {}
        cells = tables.reshape(self._table.size, -1)
        by_figure = intervals(
            self.bundle, cells, self._table.ravel(), n=self.n, confidence=self._how
        )
        level, auto = self._how.level, self._how.method == "auto"
        if auto and len(self._table) == 2 and rare_options.has_rare_answer(self._table.ravel()):
            even = smoothed_intervals(
                self.bundle, self._table.ravel(), tables.shape[-1], level=level
            )
            by_figure |= {
                n: interval
                for n, interval in even.items()
                if not {"items", "sum"} & _traits_of_figure(n)
            }
        else:
            by_figure = {
                name: self._interval_unless_rare(name, interval)
                for name, interval in by_figure.items()
            }
            by_figure |= self._level_intervals(tables.shape[-1]) if auto else {}
        if auto and "bias_levels" in by_figure and self.n < SMALL:
            by_figure["bias_levels"] = correlation_distance.bias_interval(self._table, level)
        for name in by_figure:
            value = (self.figures.get(name) or self.levels[name]).value or 0.0
            if auto and "items" in _traits_of_figure(name):
                by_figure[name] = share_interval(value, self.n, self.n, level)
            # A share of 0 or 1 is equal in every resample, yet uncertain.
            elif "share" in _traits_of_figure(name) and value in (0.0, 1.0):
                n = self._denominator(name)
                by_figure[name] = exact_share(value * n, n, level)
        return by_figure

    def estimates(self, tables: Array | None) -> dict[str, Estimate]:
        """Return every figure and those of each level (``LEVEL.NAME``) with its interval."""
        ci = self.intervals(tables)
        figures = {
            name: figure._replace(n=self.n) for name, figure in self.figures.items()
        } | self.levels
        return {name: figure.with_interval(ci.get(name)) for name, figure in figures.items()}

    def _interval_unless_rare(self, name: str, interval: Interval) -> Interval:
        """Return the interval, or an undefined one if an option is too rare."""
        if "macro" in _traits_of_figure(name):
            return rare_options.interval_unless(
                rare_options.why_no_level_interval(self._table), interval
            )
        return (
            _kappa_interval(self._table, interval)
            if "chance" in _traits_of_figure(name)
            else interval
        )

    def _level_intervals(self, resamples: int) -> dict[str, Interval]:
        """Return precision, recall and F1 of every level, each from a table of two levels."""
        by_figure = {}
        for level in range(len(self._table) if self.levels else 0):
            table = _table_against_rest(self._table, level)
            if not rare_options.has_rare_answer(table.ravel()):
                continue

            def bundle(weights: Array) -> Mapping[str, Array]:
                shares = share.level_shares(weights.reshape(2, 2, -1))
                return {name: values[0] for name, values in shares.items()}

            for name, interval in smoothed_intervals(
                bundle, table.ravel(), resamples, level=self._how.level
            ).items():
                if self.levels[f"{level}.{name}"].value is not None:
                    by_figure[f"{level}.{name}"] = interval
        return by_figure

    def _denominator(self, name: str) -> int:
        """Return the denominator of a share, in items."""
        if name in self.levels:
            return self.levels[name].n
        row = KNOWN[name].row
        return self.n if row is None else int(self._side(name, self._table)[row].sum())


def kappa_of(
    name: str, table: Array, resampled_tables: Array, confidence: Confidence = USUAL
) -> Estimate:
    """Return a kappa of a pair by its name, equal to that among all figures of the pair.

    ``resampled_tables`` has the resampled tables, shape (k, k, resamples).
    """
    pair = LevelPair(table, ordered=True, positive=0, confidence=confidence, only=[name])
    return pair.estimates(resampled_tables)[name]


def _kappa_interval(table: Array, interval: Interval) -> Interval:
    """Return the interval, or an undefined one if too few items differ from a side's commonest
    level.
    """
    most = max(table.sum(axis=1), table.sum(axis=0), key=lambda side: float(side.max()))
    return rare_options.interval_unless(
        rare_options.why_no_chance_interval(most, float(table.sum())), interval
    )


def _table_against_rest(table: Array, level: int) -> Array:
    """Return the table of a level, which comes first, against all other levels together."""
    hits, row, column = table[level, level], table[level].sum(), table[:, level].sum()
    return np.array([[hits, row - hits], [column - hits, table.sum() - row - column + hits]])


def _traits_of_figure(name: str) -> set[str]:
    """Return the traits of a figure, or of a level's figure (``LEVEL.NAME``)."""
    return set(KNOWN[name.rpartition(".")[2]].traits)


def pair_figures(
    table: Array,
    tables: Array | None,
    labels: Sequence[str],
    *,
    ordered: bool,
    positive: int,
    confidence: Confidence = USUAL,
) -> dict[str, Any]:
    """Return the figures of a pair (``PAIR`` in ``metrics --json``) for a table of counts and
    resampled ``tables``, shape (k, k, resamples).

    ``positive`` is the level for false-positive rates. Figures outside the contract are in
    ``more``.
    """
    pair = LevelPair(table, ordered=ordered, positive=positive, confidence=confidence)
    ci = pair.intervals(tables)
    extra = figures_data({name: pair.figures[name] for name in pair_measures("more")}, ci)
    extra["per_level"] = {
        label: {
            "support": int(table[level].sum()),
            **figures_data(
                {name: pair.levels[f"{level}.{name}"] for name in share.LEVEL},
                {name: ci[f"{level}.{name}"] for name in share.LEVEL if f"{level}.{name}" in ci},
            ),
        }
        for level, label in enumerate(labels)
    }
    return {
        "n": pair.n,
        **figures_data({name: pair.figures[name] for name in pair_measures("pair")}, ci),
        "confusion": table.astype(np.int64).tolist(),
        "more": extra,
    }


def mean_level_figures(
    pairs: scores.Pairs, draws: Draws | None, *, ordered: bool
) -> dict[str, Any]:
    """Return the figures of a pair (``PAIR`` in ``metrics --json``) against a mean level, without
    those that need counts of levels.
    """
    times = pairs.times()
    n = int(times.sum())
    reason = NO_LEVEL if ordered else NO_ORDER
    figures = {
        name: Estimate.undefined(reason, n) for name in (*pair_measures("pair"), "confusion")
    }
    ci: dict[str, Interval] = {}
    if ordered:
        score = scores.figures(pairs, times)
        named = {
            name: known_figure.mean_level
            for name, known_figure in KNOWN.items()
            if known_figure.mean_level
        }
        figures |= {name: score[score_key] for name, score_key in named.items()}
        inner_ci = score_intervals(pairs, draws)
        ci = {
            name: inner_ci[score_key] for name, score_key in named.items() if score_key in inner_ci
        }
    return {"n": n, **figures_data(figures, ci)}


def abstention_figures(
    reference: Levels,
    rated: Levels,
    times: Array,
    draws: DrawnSums | None,
    confidence: Confidence = USUAL,
) -> dict[str, Any]:
    """Return the coverage of items that the reference rated, and the agreement on abstaining.

    Levels are coded (``CriterionRatings``). ``times``, shape (patterns,), and ``draws``, shape
    (patterns, resamples), count the items of each pattern. Failures lower coverage but do not count
    in the agreement on abstaining.
    """
    answered = np.where((reference >= 0) & (rated != NOT_ASKED), np.where(rated >= 0, 1, 0), -1)
    together = pair_cells(_abstention_levels(reference), _abstention_levels(rated), 2)
    # There are at most fifteen kinds of items, so leaving one out stays cheap.
    kind = (answered + 1) * 5 + together + 1
    reference_state, cells = np.repeat(np.arange(-1, 2), 5), np.tile(np.arange(-1, 4), 3)
    times = weight_sums(kind, 15, times[:, None])[:, 0]

    def counts(weights: Array) -> tuple[Array, Array]:
        return weight_sums(reference_state, 2, weights), weight_sums(cells, 4, weights).reshape(
            2, 2, -1
        )

    def bundle(weights: Array) -> dict[str, Array]:
        answers, agreeing = counts(weights)
        return {
            "coverage": ratio_or_nan(answers[1], answers.sum(axis=0)),
            "agreement": percent_agreement.many(agreeing),
            "kappa": kappa_unweighted.many(agreeing),
        }

    answers, agreeing = (table[..., 0] for table in counts(times[:, None]))
    n = int(answers.sum())
    figures = {
        "coverage": Estimate.defined(answers[1] / n, n)
        if n
        else Estimate.undefined("The reference has no level where the rater was asked."),
        "agreement": percent_agreement(agreeing),
        "kappa": kappa_unweighted(agreeing),
    }
    ci: dict[str, Interval] = {}
    if draws is not None and (n or agreeing.sum()):
        most = max(n, int(agreeing.sum()))
        ci = intervals(bundle, draws.tally(kind, 15), times, n=most, confidence=confidence)
    return {"n": int(agreeing.sum()), **figures_data(figures, ci)}


def _abstention_levels(levels: Levels) -> Levels:
    """Return 0 for an answer, 1 for an abstention, -1 for neither."""
    return np.where(levels >= 0, 0, np.where(levels == ABSTAINED, 1, -1))

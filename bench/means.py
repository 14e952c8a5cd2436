"""Means of scores and differences of two runs with few items, nominal 95 %.

    python -m bench.means [SAMPLES]     # 2000: the standard error of 5 % is .5 points

Scores are drawn from five levels (even, or crowded at the top), from two, and from a right-skewed
continuous distribution; printed is how often their mean has an interval and how often that holds
the true mean. Then two runs that are equally good, compared on the same items: how often the
p of no difference is below .05, by their mean scores, by all cells (one to four of an item, which
is hard or easy), by kappa (two options, one in two and one in ten of them rare) and quadratic kappa
(five levels), and by alpha of three judges each. At last the power: how often a second run is found
to be better that is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from core.metrics.agreement.kappa import kappa_quadratic, kappa_unweighted, pair_cells
from core.metrics.agreement.reliability import alpha_nominal
from core.metrics.intervals.draws import resample_items
from core.metrics.intervals.means import mean_of, paired_difference
from core.metrics.measure import Array, Measure, Statistic, weight_sums

ITEMS = (6, 10, 20, 30, 50)
RESAMPLES = 500
LEVELS = np.linspace(0, 1, 5)
Draw = Callable[[np.random.Generator, int], Array]
Pair = tuple[Statistic, Statistic]

SCORES: dict[str, tuple[Draw, float]] = {
    "five levels alike": (lambda rng, n: rng.choice(LEVELS, n), 0.5),
    "seven in ten at the top": (
        lambda rng, n: rng.choice(LEVELS, n, p=[0.03, 0.05, 0.07, 0.15, 0.7]),
        0.86,
    ),
    "nine in ten at the top": (
        lambda rng, n: rng.choice(LEVELS, n, p=[0.04, 0.02, 0.02, 0.02, 0.9]),
        0.93,
    ),
    "pass and fail, 7 to 3": (lambda rng, n: (rng.random(n) < 0.7) * 1.0, 0.7),
    "right-skewed": (lambda rng, n: rng.gamma(2.0, 0.5, n), 1.0),
}


def mean_score(column: Array) -> Statistic:
    """The mean over items."""
    return lambda weights: column @ weights / weights.sum(axis=0)


def score_pair(rng: np.random.Generator, items: int, better: float = 0.0) -> Pair:
    """Two runs that give the same items scores on five levels, the second one higher by so much."""
    quality = rng.normal(0, 1, items)
    first, second = (
        np.clip(np.round(2 + quality + rng.normal(0, 0.7, items) + more), 0, 4) / 4
        for more in (0.0, better)
    )
    return mean_score(first), mean_score(second)


def cell_pair(rng: np.random.Generator, items: int, better: float = 0.0) -> Pair:
    """Two runs that are right on cells; an item has one to four, and is hard or easy."""
    ease, cells = rng.beta(2, 1, items), rng.integers(1, 5, items)
    sides = [rng.binomial(cells, np.minimum(1, ease + more)) for more in (0.0, better)]

    def share(right: Array) -> Statistic:
        return lambda weights: right @ weights / (cells @ weights)

    return share(sides[0]), share(sides[1])


def kappa_pair(measure: Measure, shares: list[float]) -> Callable[..., Pair]:
    """Two judges beside labels of such shares, each right in three of four."""

    def pair(rng: np.random.Generator, items: int, better: float = 0.0) -> Pair:
        k = len(shares)
        gold = rng.choice(k, items, p=shares)
        sides = [
            np.where(rng.random(items) < 0.75 + more, gold, rng.integers(0, k, items))
            for more in (0.0, better)
        ]

        def of(given: Array) -> Statistic:
            cells = pair_cells(gold, given, k)
            return lambda weights: measure.many(
                weight_sums(cells, k * k, weights).reshape(k, k, -1)
            )

        return of(sides[0]), of(sides[1])

    return pair


def alpha_pair(rng: np.random.Generator, items: int, better: float = 0.0) -> Pair:
    """Alpha of three judges in either run."""
    gold = rng.integers(0, 3, (items, 1))
    sides = [
        np.where(rng.random((items, 3)) < 0.7 + more, gold, rng.integers(0, 3, (items, 3)))
        for more in (0.0, better)
    ]
    one, other = (alpha_nominal.as_function_of_weights(side, 3, np.ones(items)) for side in sides)
    return one, other


#: How two runs are compared, and how much better the second one is where it is better.
PAIRS: dict[str, tuple[Callable[..., Pair], float]] = {
    "mean scores": (score_pair, 0.5),
    "all cells": (cell_pair, 0.15),
    "kappa": (kappa_pair(kappa_unweighted, [0.5, 0.5]), 0.2),
    "kappa, one in ten": (kappa_pair(kappa_unweighted, [0.9, 0.1]), 0.2),
    "quadratic kappa": (kappa_pair(kappa_quadratic, [0.05, 0.05, 0.1, 0.2, 0.6]), 0.2),
    "alpha": (alpha_pair, 0.2),
}


def found_apart(
    of: Callable[..., Pair], items: int, samples: int, rng: np.random.Generator, better: float = 0.0
) -> tuple[float, float]:
    """How often there is a p, and how often, of all samples, it is below .05."""
    given = apart = 0
    for _ in range(samples):
        draws = resample_items(items, RESAMPLES, rng)
        p = paired_difference(*of(rng, items, better), draws, np.ones(items)).p.value
        given += p is not None
        apart += p is not None and p < 0.05
    return given / samples, apart / samples


def means(samples: int) -> None:
    """Intervals of single means."""
    for name, (draw, true) in SCORES.items():
        for items in ITEMS:
            rng, given, held = np.random.default_rng(items), 0, 0
            for _ in range(samples):
                found = mean_of(draw(rng, items), resamples=RESAMPLES)
                if found.low is not None and found.high is not None:
                    given += 1
                    held += found.low <= true <= found.high
            print(
                f"mean, {name}, {items} items: with interval {given / samples:.3f}, held "
                f"{held / given:.3f}",
                flush=True,
            )


def main() -> None:
    """Print a line for each setting and number of items."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("samples", nargs="?", type=int, default=2000)
    samples = parser.parse_args().samples
    means(samples)
    for name, (of, better) in PAIRS.items():
        for items in ITEMS:
            rng = np.random.default_rng(items)
            given, false = found_apart(of, items, samples, rng)
            _, true = found_apart(of, items, samples, rng, better)
            print(
                f"two runs, {name}, {items} items: with p {given:.3f}, equal ones told apart "
                f"{false:.3f}, better ones {true:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

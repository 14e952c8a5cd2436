"""How often intervals of other levels and methods hold the true kappa.

    python -m bench.levels [SAMPLES]

A rater gives the truth in four of five answers, else one of the other two levels: kappa is 0.7.
Prints for each number of items, level and method the share of samples whose interval holds it.
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.agreement.correlation_distance import ks_p
from core.metrics.estimate import Confidence
from core.metrics.intervals.draws import resample_patterns
from core.services.agreement.pair_figures import kappa_of

RIGHT, LEVELS, RESAMPLES = 0.8, 3, 500
TRUE = (RIGHT - 1 / 3) / (1 - 1 / 3)


def held(generator: np.random.Generator, n: int, confidence: Confidence) -> bool:
    """Whether the interval of one sample holds the true kappa."""
    chances = np.full((LEVELS, LEVELS), (1 - RIGHT) / 2 / LEVELS)
    np.fill_diagonal(chances, RIGHT / LEVELS)
    table = generator.multinomial(n, chances.ravel())
    drawn = resample_patterns(table, RESAMPLES, generator).reshape(LEVELS, LEVELS, -1)
    found = kappa_of(
        "cohen_kappa", table.reshape(LEVELS, LEVELS).astype(np.float64), drawn, confidence
    )
    return found.low is not None and found.low <= TRUE <= (found.high or 0.0)


def seen_gap(generator: np.random.Generator, n: int) -> bool:
    """Whether the p of the Kolmogorov-Smirnov gap of two raters who are alike is below .05."""
    truth = generator.integers(0, 5, n)
    sides = [
        np.where(generator.random(n) < RIGHT, truth, generator.integers(0, 5, n)) for _ in range(2)
    ]
    table = np.zeros((5, 5))
    np.add.at(table, tuple(sides), 1)
    return (ks_p(table).value or 1.0) < 0.05


def main() -> None:
    """Print a line for each number of items and method."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    generator = np.random.default_rng(11)
    for n in (50, 200):
        times = sum(seen_gap(generator, n) for _ in range(samples))
        print(f"{n} items, raters alike: ks_p below .05 in {times / samples:.1%}", flush=True)
    for n in (50, 200):
        for method in ("percentile", "bca", "basic"):
            shares = [
                np.mean([held(generator, n, Confidence(level, method)) for _ in range(samples)])
                for level in (0.8, 0.9, 0.99)
            ]
            said = ", ".join(f"{share:.1%}" for share in shares)
            print(f"{n} items, {method}: 80, 90, 99% intervals hold kappa in {said}", flush=True)


if __name__ == "__main__":
    main()

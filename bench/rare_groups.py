"""How often intervals of a group's agreement hold the truth where yes or no is rare, nominal 95 %.

    python -m bench.rare_groups [SIMULATIONS]     # 200; take 1000 for figures to rely on

Raters answer yes or no to items of which a share is truly yes; a rater calls some that are not
yes, and misses some that are, independently of the others. The true value of each figure is that of
the exact table of chances. Prints, for each setting and number of items, how often a figure is
defined, how often it then has an interval, and how often that holds the truth, with how often the
truth lies below and above it. The simulation's own standard error at 95 % is 1.5 points with 200
simulations, 0.7 with 1,000. Settings without a rare answer come last.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product

import numpy as np

from core.metrics.agreement.known_figures import group_measures
from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import Interval
from core.metrics.intervals.draws import resample_patterns
from core.metrics.measure import Array, Ratings
from core.services.agreement.group_figures import group_intervals

#: The share that is truly yes, how often a no is called yes, and how often a yes is missed.
SETTINGS = (
    (0.05, 0.01, 0.1),
    (0.05, 0.04, 0.3),
    (0.05, 0.02, 0.5),
    (0.1, 0.01, 0.1),
    (0.1, 0.04, 0.3),
    (0.3, 0.1, 0.1),
    (0.5, 0.2, 0.2),
)
ITEMS = (10, 20, 30, 50)
FIGURES = (
    "krippendorff_alpha_nominal",
    "fleiss_kappa",
    "gwet_ac1",
    "percent_agreement",
    "mean_pairwise_cohen.none",
)
RESAMPLES = 500


def answers(raters: int) -> Ratings:
    """All answers that so many raters may give."""
    return np.array([*product((0, 1), repeat=raters)], np.int64)


def chances(rows: Ratings, share: float, called: float, missed: float) -> Array:
    """How probable each answer of the raters is."""
    yes, no = (np.where(rows == 1, p, 1 - p).prod(axis=1) for p in (1 - missed, called))
    return np.asarray(share * yes + (1 - share) * no, np.float64)


def true_values(rows: Ratings, chance: Array) -> dict[str, float]:
    """Every figure of a table without end."""
    times = chance * 1e9
    known = group_measures()
    return {
        name: float(known[name].as_function_of_weights(rows, 2, times)(times[:, None])[0])
        for name in FIGURES
    }


def samples(
    rows: Ratings, chance: Array, items: int, simulations: int, rng: np.random.Generator
) -> Iterator[dict[str, Interval]]:
    """The intervals of the figures that are defined, of one sample after the other."""
    known = group_measures()
    for _ in range(simulations):
        drawn = rng.choice(len(rows), items, p=chance)
        seen = patterns(rows[drawn])
        times = seen.times.astype(np.float64)
        defined = [n for n in FIGURES if known[n](seen.rows, 2, times).value is not None]
        resampled = resample_patterns(seen.times, RESAMPLES, rng)
        yield group_intervals(defined, seen.rows, times, resampled, 2)


def main() -> None:
    """Print a line for each setting, number of items and figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("simulations", nargs="?", type=int, default=200)
    parser.add_argument("--raters", type=int, nargs="*", default=(2, 3, 5, 10))
    asked = parser.parse_args()
    for raters in asked.raters:
        rows, rng = answers(raters), np.random.default_rng(raters)
        for setting in SETTINGS:
            chance = chances(rows, *setting)
            truth = true_values(rows, chance)
            for items in ITEMS:
                every = [*samples(rows, chance, items, asked.simulations, rng)]
                for name in FIGURES:
                    ends = [one[name] for one in every if name in one]
                    print(f"{raters} {setting} n={items} {name} {_line(ends, truth[name])}")


def _line(ends: list[Interval], truth: float) -> str:
    known = [(one.low, one.high) for one in ends if one.low is not None and one.high is not None]
    below, above = sum(truth < low for low, _ in known), sum(truth > high for _, high in known)
    given, defined = max(1, len(known)), max(1, len(ends))
    return (
        f"true {truth:.2f}: defined {len(ends)}, with interval {len(known) / defined:.1%}, held "
        f"{1 - (below + above) / given:.1%} ({below / given:.1%} {above / given:.1%}), width "
        f"{sum(high - low for low, high in known) / given:.2f}"
    )


if __name__ == "__main__":
    main()

"""Variance components of made ratings: bias, coverage, and whether the decision study is right.

    python -m bench.variance [samples]

Items, criteria, judges and replicates with planted variances, of which a third of the ratings is
missing at random (one in ten of the items has half of its judges). Prints the mean estimate of
each component beside the true one, how often its interval holds it (components that hang on items:
intervals speak of other items), and the share of differences promised to be there again beside the
squared correlation of scores with what the items truly are.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from core.metrics.measure import Array, Ratings
from core.metrics.variance_components import (
    CRITERION,
    ITEM,
    JUDGE,
    REST,
    StudyDesign,
    Term,
    reliability_of_mean,
    variance_components,
)

PLANTED: dict[Term, float] = {
    (ITEM,): 1.0,
    (CRITERION,): 0.2,
    (JUDGE,): 0.3,
    (ITEM, CRITERION): 0.4,
    (ITEM, JUDGE): 0.3,
    (CRITERION, JUDGE): 0.1,
    (ITEM, CRITERION, JUDGE): 0.3,
    (REST,): 0.5,
}
CRITERIA, REPLICATES, MISSING = 4, 2, 1 / 3


class Made(NamedTuple):
    """Ratings in long form, and what items truly are."""

    values: Array
    facets: dict[str, Ratings]
    true: Array


def made(generator: np.random.Generator, items: int, judges: int) -> Made:
    """Ratings with the planted components."""
    sizes = {ITEM: items, CRITERION: CRITERIA, JUDGE: judges}
    shape = (items, CRITERIA, judges, REPLICATES)
    y = generator.normal(0, PLANTED[REST,] ** 0.5, shape)
    true = np.zeros(items)
    for term, variance in PLANTED.items():
        if term == (REST,):
            continue
        size = [sizes[name] if name in term else 1 for name in (ITEM, CRITERION, JUDGE)]
        effect = generator.normal(0, variance**0.5, (*size, 1))
        y = y + effect
        if JUDGE not in term and ITEM in term:
            true += effect.mean(axis=(1, 2, 3))
    there = generator.random(shape) >= MISSING
    there[generator.random(items) < 0.1, :, : judges // 2] = False
    item, criterion, judge, _ = np.nonzero(there)
    return Made(y[there], {ITEM: item, CRITERION: criterion, JUDGE: judge}, true)


def study(samples: int, items: int, judges: int) -> None:
    """One setting."""
    generator = np.random.default_rng(items + judges)
    found: dict[Term, list[float]] = {term: [] for term in PLANTED}
    held = dict.fromkeys(PLANTED, 0)
    promised, came = list[float](), list[float]()
    for _ in range(samples):
        of = made(generator, items, judges)
        one = variance_components(of.values, of.facets)
        for term, true in PLANTED.items():
            found[term].append(one.raw[term])
            low, high = one.variances[term].low, one.variances[term].high
            held[term] += (low or 0.0) <= true <= (high or 0.0)
        counts = np.bincount(of.facets[ITEM], minlength=items)
        ways = StudyDesign(judges, len(of.values) / items / CRITERIA / judges, 1, items)
        promised.append(reliability_of_mean(one, ways).relative)
        # Scores with the mean of each judge and criterion taken away, which items do not share.
        known = counts > 0
        group = of.facets[CRITERION] * judges + of.facets[JUDGE]
        level = np.bincount(group, of.values) / np.bincount(group)
        scores = np.bincount(of.facets[ITEM], of.values - level[group], minlength=items)
        mean = scores[known] / counts[known]
        came.append(float(np.corrcoef(mean, of.true[known])[0, 1] ** 2))
    said = "; ".join(
        f"{' x '.join(term)} {true}: {np.mean(found[term]):.3f}"
        + (f" held {held[term] / samples:.2f}" if ITEM in term or term == (REST,) else "")
        for term, true in PLANTED.items()
    )
    print(
        f"{items} items, {judges} judges: {said}; there again promised {np.mean(promised):.3f}, "
        f"came {np.mean(came):.3f}",
        flush=True,
    )


def main() -> None:
    """Print a line for each setting."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for items, judges in ((30, 3), (100, 3), (100, 6)):
        study(samples, items, judges)


if __name__ == "__main__":
    main()

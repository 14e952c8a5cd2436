"""Two ways to score the same answers: how often one is wrongly called better, and how often found.

    python -m bench.impression [SAMPLES]

Three judges score answers in two ways. A score is the answer's worth, the judge's severity and
chance; the shares of the variance are .6, .1 and .3, or for the better way .8, .1 and .1. Prints
how often the interval of the gap between both leaves out 0.
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.measure import Array
from core.metrics.variance_components import ITEM, JUDGE
from core.services.comparison.one_impression import side_by_side

JUDGES, EVEN, BETTER = 3, (0.6, 0.1, 0.3), (0.8, 0.1, 0.1)


def scores(
    generator: np.random.Generator, worth: Array, severity: Array, shares: tuple[float, ...]
) -> Array:
    """The scores of all answers by all judges, answer by answer."""
    noise = generator.normal(size=(len(worth), JUDGES))
    of_item, of_judge, rest = np.sqrt(shares)
    return np.asarray((of_item * worth[:, None] + of_judge * severity + rest * noise).ravel())


def main() -> None:
    """Print a line for each number of answers and pair of ways."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    generator = np.random.default_rng(16)
    for name, shares in (("equal", EVEN), ("better", BETTER)):
        for answers in (24, 50, 100, 200):
            said = 0
            facets = {
                ITEM: np.repeat(np.arange(answers), JUDGES),
                JUDGE: np.tile(np.arange(JUDGES), answers),
            }
            for _ in range(samples):
                worth = generator.normal(size=answers)
                # The same judges are as strict either way, so that severity makes no gap.
                severity = generator.normal(size=JUDGES)
                first = scores(generator, worth, severity, shares)
                second = scores(generator, worth, severity, EVEN)
                found = side_by_side(first, second, facets)
                assert not isinstance(found, str)
                gap = found[2]
                said += (gap.low or 0.0) > 0 or (gap.high or 0.0) < 0
            print(
                f"{name}, {answers} answers: one is called better in {said / samples:.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""What a threshold promises that was chosen on the same labels, and what becomes of it.

    python -m bench.thresholds [SAMPLES]

A first judge is right as often as it is sure (uniform from .5 to 1, or not told by it at all: in
three of four), the others in nine of ten cells; four cells an item, or one. Prints for each number
of labelled items the mean accuracy at the chosen threshold on the labels that it was chosen on,
what items tell that it was not chosen on, and what the thresholds chosen so truly come to (on
200,000 cells); and how often the 95 % interval of either holds the latter.
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.bias.effects import BiasEffect
from core.metrics.cascade import (
    ReplayedCells,
    cheapest_threshold,
    held_out_result,
    right_cells,
    share_right,
)

THEN = 0.9


def sample(generator: np.random.Generator, items: int, cells: int, *, tells: bool) -> ReplayedCells:
    """The cells of so many items; ``tells``: the first judge's sureness does."""
    n = items * cells
    sure = generator.uniform(0.5, 1.0, n)
    return ReplayedCells(
        np.zeros(n, np.bool_),
        sure,
        generator.random(n) < (sure if tells else 0.75),
        generator.random(n) < THEN,
        np.repeat(np.arange(items), cells),
        np.ones((n, 2), np.bool_),
    )


def _holds(interval: BiasEffect, true: float) -> bool:
    low, high = interval.low, interval.high
    return low is not None and high is not None and low <= true <= high


def main() -> None:
    """Print a line for each number of items."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    generator = np.random.default_rng(5)
    for tells, size in ((True, 4), (True, 1), (False, 4)):
        whole = sample(generator, 200_000 // size, size, tells=tells)
        for items in (20, 30, 50, 100, 300):
            rows = []
            for at in range(samples):
                cells = sample(generator, items, size, tells=tells)
                threshold = cheapest_threshold(cells)
                seen = share_right(right_cells(cells, threshold), cells.items)
                true = float(right_cells(whole, threshold).mean())
                found = held_out_result(cells, seed=at)
                assert found is not None
                _, right, _ = found
                rows.append(
                    (
                        *(seen.estimate, right.estimate, true),
                        *(_holds(seen, true), _holds(right, true)),
                    )
                )
            means = np.array(rows, np.float64).mean(axis=0)
            print(
                f"{'sure tells' if tells else 'sure tells nothing'}, {items} items of {size}: seen "
                "{:.3f}, held out {:.3f}, true {:.3f}; held {:.1%}, {:.1%}".format(*means),
                flush=True,
            )


if __name__ == "__main__":
    main()

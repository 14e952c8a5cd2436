"""What a threshold promises that was chosen on the same labels, and what becomes of it.

    python -m bench.thresholds [SAMPLES]

A first judge is right as often as it is sure (uniform from .5 to 1), the others in nine of ten
cells; four cells an item. Prints for each number of labelled items the mean accuracy at the chosen
threshold on the labels that it was chosen on, what replaying halves tells, and what the thresholds
chosen so truly come to (on 200,000 cells).
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.cascade import Replayed, cheapest, held_out, right

CELLS, THEN = 4, 0.9


def sample(generator: np.random.Generator, items: int) -> Replayed:
    """The cells of so many items."""
    n = items * CELLS
    sure = generator.uniform(0.5, 1.0, n)
    return Replayed(
        np.zeros(n, np.bool_),
        sure,
        generator.random(n) < sure,
        generator.random(n) < THEN,
        np.repeat(np.arange(items), CELLS),
    )


def main() -> None:
    """Print a line for each number of items."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    generator = np.random.default_rng(5)
    whole = sample(generator, 50_000)
    for items in (25, 50, 100, 300):
        seen, tried, true = [], [], []
        for at in range(samples):
            cells = sample(generator, items)
            threshold = cheapest(cells)
            seen.append(right(cells, threshold).mean())
            found = held_out(cells, seed=at)
            tried.append(found.right if found else np.nan)
            true.append(right(whole, threshold).mean())
        print(
            f"{items} items: seen {np.mean(seen):.3f}, other half {np.mean(tried):.3f}, "
            f"true {np.mean(true):.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

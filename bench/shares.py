"""How often the interval of a share of right cells holds the truth, with few items and many.

Workload: items differ in how easy they are (beta with mean .75 or .9 and a within-item correlation
of .2); 10 to 200 items, one or four criteria each. ``python -m bench.shares --samples 1500``.
"""

from __future__ import annotations

import argparse

import numpy as np

from core.metrics.intervals.clustered_share import clustered_share

ITEMS, CRITERIA, SHARES = (10, 20, 30, 50, 100, 200), (1, 4), (0.75, 0.9)


def held(items: int, criteria: int, share: float, samples: int) -> tuple[float, float, float]:
    """The share of samples whose interval holds the truth, lies above it, lies below it."""
    dice = np.random.default_rng(items * 100 + criteria)
    place = np.repeat(np.arange(items), criteria)
    below = above = 0
    for _ in range(samples):
        ease = dice.beta(4 * share, 4 * (1 - share), items)
        found = clustered_share(dice.random(len(place)) < ease[place], place)
        assert found.low is not None
        assert found.high is not None
        above, below = above + (share < found.low), below + (share > found.high)
    return 1 - (above + below) / samples, above / samples, below / samples


def main() -> None:
    """Print a line for every workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1500)
    samples = parser.parse_args().samples
    print("items criteria share held above below")
    for items in ITEMS:
        for criteria in CRITERIA:
            for share in SHARES:
                found = held(items, criteria, share, samples)
                print(items, criteria, share, *(f"{one:.3f}" for one in found))


if __name__ == "__main__":
    main()

"""How often the interval of an audit holds: a simple random draw from the cells of a run.

All shares of wrong cells, by counting (hypergeometric), so that no chance enters: the worst share
and the mean over those of at most a fifth. ``python -m bench.audits``.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import hypergeom

from core.metrics.intervals.sampling import mean_of_selected

CELLS, DRAWN = (60, 100, 200, 400, 1000), (10, 20, 30, 50)


def held(cells: int, drawn: int) -> tuple[float, float, float]:
    """The chance that the interval holds at the worst share, on average, and its mean width."""
    ends = []
    for wrong in range(drawn + 1):
        right = [0.0] * wrong + [1.0] * (drawn - wrong)
        found = mean_of_selected(right, [cells / drawn] * drawn, [True] * drawn)
        assert found.low is not None
        assert found.high is not None
        ends.append((found.low, found.high))
    low, high = np.array(ends).T
    holds, width = [], []
    for bad in range(cells // 5 + 1):
        chance = hypergeom(cells, bad, drawn).pmf(np.arange(drawn + 1))
        true = 1 - bad / cells
        holds.append(float(chance[(low <= true + 1e-9) & (high >= true - 1e-9)].sum()))
        width.append(float(chance @ (high - low)))
    return min(holds), float(np.mean(holds)), float(np.mean(width))


def main() -> None:
    """Print a line for every size."""
    print("cells drawn worst mean width")
    for cells in CELLS:
        for drawn in DRAWN:
            print(cells, drawn, *(f"{one:.3f}" for one in held(cells, drawn)))


if __name__ == "__main__":
    main()

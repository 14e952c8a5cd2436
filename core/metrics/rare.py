"""Where an interval would promise too much because an option is too rare: the one rule for it.

By simulation (bench/coverage.py): where a level has fewer than five items, intervals of a mean over
levels (macro F1, five levels, 80 % on one) hold the truth 30 to 80 times in 100, and those of
kappa, alpha and correlations fewer than 90 times where only one or two items are off the commonest
level. With five and more they hold about 95. Two levels need no such rule: ``smoothed`` holds.
"""

from __future__ import annotations

import numpy as np

from core.metrics.bootstrap import Interval
from core.metrics.measure import Array, Ratings

#: So many items must have the rarest level, or be off the commonest one.
FEWEST = 5


def of_levels(table: Array) -> str:
    """Why a mean over levels has no interval, or nothing; rows of the table are the reference.

    >>> of_levels(np.array([[9.0, 1.0], [0.0, 4.0]]))
    'Only 4 items have the rarest option; an interval needs 5 of each.'
    """
    rarest = int(table.sum(axis=1).min())
    if rarest >= FEWEST:
        return ""
    if not rarest:
        return f"No item has the rarest option; an interval needs {FEWEST} of each."
    items = "item has" if rarest == 1 else "items have"
    return f"Only {rarest} {items} the rarest option; an interval needs {FEWEST} of each."


def off_commonest(counts: Array, items: float) -> str:
    """Why agreement beyond chance has no interval, or nothing.

    ``counts`` of every level are over ``items``, an item with several ratings counting as one.

    >>> off_commonest(np.array([27.0, 2.0, 1.0]), 30)
    'Only 3 items are off the commonest option; an interval needs 5.'
    """
    off = items * float(1 - counts.max() / counts.sum()) if counts.sum() else 0.0
    # Ratings per item need not be whole.
    if off > FEWEST - 1e-9:
        return ""
    number = f"{off:.3g}"
    if number == "0":
        return f"No item is off the commonest option; an interval needs {FEWEST}."
    are = "item is" if number == "1" else "items are"
    return f"Only {number} {are} off the commonest option; an interval needs {FEWEST}."


def withheld(reason: str, interval: Interval) -> Interval:
    """The interval, or none for that reason."""
    return Interval(None, None, interval.method, reason) if reason else interval


def level_counts_of(rows: Ratings, times: Array, k: int) -> Array:
    """How many ratings each level has, of rows that stand for so many items each."""
    return np.array([float(((rows == level).sum(axis=1) * times).sum()) for level in range(k)])

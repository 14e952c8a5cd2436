"""Splitting labelled answers for cross-validation: balanced by label, duplicates kept together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.identity import seeded

Ints = npt.NDArray[np.int64]
FOLDS = 5


def fold_numbers(labels: Ints, groups: Ints, *, seed: int, repeat: int) -> Ints:
    """The fold (0 .. FOLDS-1) of each item, shape (n,).

    Groups are shuffled, sorted by the label of their first item and dealt round, so every fold has
    its share of every label. A group is never torn apart: a duplicate in another fold would be
    recognised, not judged.
    """
    first = dict[int, int]()
    for index, group in enumerate(groups.tolist()):
        first.setdefault(group, index)
    order = sorted(first)
    generator = seeded("folds", seed, repeat)
    generator.shuffle(order)
    order.sort(key=lambda group: int(labels[first[group]]))
    offset = generator.randrange(FOLDS)
    dealt = {group: (place + offset) % FOLDS for place, group in enumerate(order)}
    return np.array([dealt[group] for group in groups.tolist()], dtype=np.int64)


def repeats_for(n: int) -> int:
    """How often to cross-validate: often where there are few labels and each split is a gamble."""
    if n < 100:
        return 5
    return 3 if n < 300 else 2

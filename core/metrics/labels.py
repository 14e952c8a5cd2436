"""What a distribution of labels says before anybody is judged by it. Counts in, figures out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.metrics.figure import Figure

NONE = "There is no label."


def normalised_entropy(counts: npt.ArrayLike) -> Figure:
    """How evenly labels are spread over the options, in [0, 1].

    Shannon's entropy (1948) over the logarithm of the number of options, used or not: 0 where all
    labels are one and the same, 1 where every option is as frequent. n counts labels. Undefined
    without labels, and for fewer than two options.

    >>> normalised_entropy([5, 5]).value, normalised_entropy([7, 0, 0]).value
    (1.0, 0.0)
    """
    given = np.asarray(counts, dtype=np.float64)
    n = int(given.sum())
    if not n:
        return Figure.undefined(NONE)
    if len(given) < 2:
        return Figure.undefined("There is only one option.", n)
    shares = given[given > 0] / n
    entropy = -float((shares * np.log(shares)).sum()) / float(np.log(len(given)))
    return Figure.defined(min(1.0, max(0.0, entropy)), n)


def majority_baseline(counts: npt.ArrayLike) -> Figure:
    """The accuracy of always giving the commonest label, in [0, 1]. Undefined without labels.

    >>> majority_baseline([2, 6]).value
    0.75
    """
    given = np.asarray(counts, dtype=np.float64)
    n = int(given.sum())
    return Figure.defined(float(given.max()) / n, n) if n else Figure.undefined(NONE)

"""The interval of a share that was counted."""

from __future__ import annotations

from math import sqrt

#: The normal quantile of a two-sided interval at 95 %.
_Z95 = 1.959963984540054


def wilson(successes: int, n: int, z: float = _Z95) -> tuple[float, float]:
    """The Wilson score interval of a share, within [0, 1].

    Args:
        successes: how many of the ``n`` were, in [0, n].
        n: how many were counted, at least 1.
        z: the normal quantile; the default gives 95 %.

    Raises:
        ValueError: the counts make no share.

    Source: Wilson (1927), Probable inference, the law of succession, and statistical inference,
    JASA 22, 209-212.

    >>> [round(bound, 4) for bound in wilson(81, 263)]
    [0.2553, 0.3662]
    """
    if not 0 <= successes <= n or n < 1:
        raise ValueError(f"{successes} of {n} is no share.")
    share, spread = successes / n, z * z / n
    middle = share + spread / 2
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n))
    # Rounding must not leave [0, 1] at its ends.
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def surely_below(high: float, share: float, n: int) -> bool:
    """Whether a figure whose interval ends at ``high`` is below a share counted on ``n`` items.

    The share's own interval is asked, too: of three labels that are alike always saying them is
    right on all three, and beating that is nothing one could see from three.

    >>> surely_below(0.22, 0.57, 223), surely_below(0.71, 1.0, 3)
    (True, False)
    """
    return high < wilson(round(share * n), n)[0]

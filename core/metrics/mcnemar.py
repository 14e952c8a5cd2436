"""Do two raters get different items right? The exact test on the items where only one does."""

from __future__ import annotations

from scipy.special import bdtr

from core.metrics.figure import Figure

NO_DISCORDANT = "Both are right on the same items, so there is nothing to test."


def mcnemar_exact(only_first: int, only_second: int) -> Figure:
    """The two-sided p of McNemar's test by the binomial distribution; n counts discordant items.

    Twice the smaller tail of Binomial(b + c, 1/2), at most 1 (McNemar 1947, with the exact form of
    Mosteller 1952). Undefined where nobody is right alone.

    >>> mcnemar_exact(1, 9).value
    0.021484375
    """
    n = only_first + only_second
    if not n:
        return Figure.undefined(NO_DISCORDANT)
    return Figure.defined(min(1.0, 2 * float(bdtr(min(only_first, only_second), n, 0.5))), n)

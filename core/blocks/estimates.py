"""An estimate as the words of a cell."""

from __future__ import annotations

from collections.abc import Callable

from core.blocks.blocks import Words
from core.metrics.estimate import Estimate
from core.text.numbers import percent, score

Form = Callable[[float | None], str]


def measured(one: Estimate, form: Form = score) -> Words:
    """A figure with its interval below, or why there is none.

    >>> measured(Estimate(0.5, 0.25, 0.75)).flat
    '0.50 (0.25 to 0.75)'
    >>> measured(Estimate.undefined("No item.")).flat
    'undefined (No item.)'
    """
    said = one.words(form)
    return Words(said.value, said.below)


def measured_share(one: Estimate) -> Words:
    """A share in percent, as ``measured``."""
    return measured(one, percent)

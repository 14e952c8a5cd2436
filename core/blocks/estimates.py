"""An estimate as the text of a table cell."""

from __future__ import annotations

from collections.abc import Callable

from core.blocks.blocks import TextCell
from core.metrics.estimate import Estimate
from core.text.numbers import percent, score

Form = Callable[[float | None], str]


def estimate_cell(estimate: Estimate, form: Form = score) -> TextCell:
    """Return a figure with its interval below, or the reason it is undefined.

    >>> estimate_cell(Estimate(0.5, 0.25, 0.75)).flat
    '0.50 (0.25 to 0.75)'
    >>> estimate_cell(Estimate.undefined("No item.")).flat
    'undefined (No item.)'
    """
    text = estimate.words(form)
    return TextCell(text.value, text.below)


def measured_share(estimate: Estimate) -> TextCell:
    """Return a share in percent, formatted like ``estimate_cell``."""
    return estimate_cell(estimate, percent)

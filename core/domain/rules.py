"""The closed sets: scales, aggregation rules per scale, abstention strategies."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Literal

Scale = Literal["binary", "ordinal", "nominal"]
SCALES: tuple[Scale, ...] = ("binary", "ordinal", "nominal")

Abstention = Literal["skip", "zero", "partial", "fail"]
ABSTENTIONS: tuple[Abstention, ...] = ("skip", "zero", "partial", "fail")

#: The rules that fit each scale; the first is the default (DESIGN section 4, Verdict).
RULES: dict[Scale, tuple[str, ...]] = {
    "binary": ("majority", "weighted", "unanimous", "any"),
    "ordinal": ("mean", "median", "weighted_mean", "mode", "min", "max"),
    "nominal": ("mode", "weighted_mode", "unanimous"),
}
#: The rule that is fitted on labelled items of a run, for every scale (``core.domain.fitted``).
#: It cannot be chosen by its name, because without what was fitted it is nothing.
FITTED = "calibrated"


def rules_in_words(scale: Scale) -> str:
    """A sentence naming the rules that fit ``scale``.

    >>> rules_in_words("nominal")
    'Use mode, weighted_mode or unanimous.'
    """
    *head, last = RULES[scale]
    return f"Use {', '.join(head)} or {last}."


def mend_rule(given: str, scale: Scale) -> str:
    """How to mend a rule that cannot be chosen for ``scale``.

    >>> mend_rule("calibrated", "nominal")[:39]
    'It must be fitted on labelled items fir'
    """
    if given == FITTED:
        return (
            "It must be fitted on labelled items first: grade and label some, then fit it on that "
            f"run. Until then: {rules_in_words(scale)[:1].lower()}{rules_in_words(scale)[1:]}"
        )
    close = get_close_matches(given.lower(), RULES[scale], n=1, cutoff=0.7)
    return f"Did you mean {close[0]!r}?" if close else rules_in_words(scale)

"""The closed sets: scales, aggregation rules per scale, abstention strategies."""

from __future__ import annotations

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


def rules_in_words(scale: Scale) -> str:
    """A sentence naming the rules that fit ``scale``.

    >>> rules_in_words("nominal")
    'Use mode, weighted_mode or unanimous.'
    """
    *head, last = RULES[scale]
    return f"Use {', '.join(head)} or {last}."

"""What each aggregation rule does, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.rules import Scale

SCALE_NAMES: Mapping[str, str] = {
    "binary": "Yes/no",
    "ordinal": "Levels",
    "nominal": "Categories",
}

SCALE_WORDS: dict[Scale, str] = {
    "binary": "Met or unmet",
    "ordinal": "Levels in an order",
    "nominal": "Categories without an order",
}

RULE_WORDS: dict[Scale, dict[str, str]] = {
    "binary": {
        "majority": "What most judges say. Heads count, not weights; a tie takes the worse answer.",
        "weighted": "As majority, but every judge counts with its weight.",
        "unanimous": "Met only if no judge says unmet. Strict: one doubt is enough.",
        "any": "Met as soon as one judge says so. Lenient: one yes is enough.",
    },
    "ordinal": {
        "mean": "The average level, moved to the nearest one that exists.",
        "median": "The level in the middle. One judge far off cannot move it.",
        "weighted_mean": "The average, every judge counting with its weight.",
        "mode": "The level that was chosen most often.",
        "min": "The lowest level any judge chose.",
        "max": "The highest level any judge chose.",
    },
    "nominal": {
        "mode": "The category that was chosen most often.",
        "weighted_mode": "As mode, but every judge counts with its weight.",
        "unanimous": "A category only if all agree; otherwise an abstention, where there is one.",
    },
}


def rule_label(rule: str) -> str:
    """A rule's name as a person reads it.

    >>> rule_label("weighted_mean")
    'Weighted mean'
    """
    return rule.replace("_", " ").capitalize()

"""Validate the numbers and names in a provider's answer.

Counts of tokens, money and waiting time must be finite, not negative, and small enough to add up
and store. Other values count as missing and never fail the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

#: Far beyond the longest context of any model; sums of it still fit into 64 bits.
MOST_TOKENS = 100_000_000
#: US dollars per call.
MOST_DOLLARS = 10_000.0
#: One day, in seconds.
LONGEST_WAIT = 86_400.0
LONGEST_NAME = 200
MAX_QUOTES = 3


def valid_count(value: object) -> int | None:
    """Return a count of tokens, or ``None`` if invalid.

    >>> valid_count(9), valid_count(2**63), valid_count(-1), valid_count(True), valid_count("9")
    (9, None, None, None, None)
    """
    is_int = isinstance(value, int) and not isinstance(value, bool)
    return value if is_int and 0 <= value <= MOST_TOKENS else None  # type: ignore[operator,return-value]


def valid_cost(value: object) -> float | None:
    """Return US dollars, or ``None`` if invalid.

    >>> valid_cost(0.25), valid_cost(-100), valid_cost(float("inf")), valid_cost(True)
    (0.25, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST_DOLLARS else None


def valid_wait(value: float | None) -> float | None:
    """Return seconds to wait, at most ``LONGEST_WAIT``, or ``None`` if invalid.

    >>> valid_wait(1.5), valid_wait(1e12), valid_wait(float("nan")), valid_wait(-1.0)
    (1.5, 86400.0, None, None)
    """
    if value is None or not isfinite(value) or value < 0:
        return None
    return min(value, LONGEST_WAIT)


def valid_name(value: str) -> str:
    """Return the name of a model or a finish reason, shortened if too long."""
    return value if len(value) <= LONGEST_NAME else value[: LONGEST_NAME - 1] + "…"


#: The most characters of a quote and of a reason, for servers that enforce limits of texts.
LONGEST_QUOTE, LONGEST_REASON = 240, 600


def with_text_limits(schema: Mapping[str, object]) -> dict[str, object]:
    """Return a judge's reply schema with limits for its quotes and its reason.

    >>> texts = {"evidence": {}, "reason": {}, "option": {}}
    >>> with_text_limits({"properties": texts})["properties"]["reason"]
    {'type': 'string', 'maxLength': 600}
    """
    schemas = schema.get("properties")
    if not isinstance(schemas, dict):
        return dict(schema)
    properties: dict[str, object] = {name: with_text_limits(part) for name, part in schemas.items()}
    if schemas.keys() >= {"evidence", "option"}:
        quote = {"type": "string", "maxLength": LONGEST_QUOTE}
        properties["evidence"] = {"type": "array", "items": quote, "maxItems": MAX_QUOTES}
        properties["reason"] = {"type": "string", "maxLength": LONGEST_REASON}
    return {**schema, "properties": properties}

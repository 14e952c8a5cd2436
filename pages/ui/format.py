"""Numbers in words: pages say them as exports do (`core.services.numbers`)."""

from __future__ import annotations

from core.services.numbers import (
    DASH,
    HIDDEN_BELOW,
    MINUS,
    ago,
    cost,
    count,
    day,
    interval,
    number,
    percent,
    plural,
    score,
    seconds,
    short_hash,
    tokens,
    weight,
)

__all__ = [
    "DASH",
    "HIDDEN_BELOW",
    "MINUS",
    "ago",
    "cost",
    "count",
    "day",
    "interval",
    "number",
    "percent",
    "plural",
    "score",
    "seconds",
    "short_hash",
    "tokens",
    "weight",
]

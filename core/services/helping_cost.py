"""What a model's help will take, before it is begun: calls, tokens, cost. An estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.panel import Judge
from core.judging.authoring import Writing
from core.judging.pricing import price_of

#: Characters per token, the usual rule of thumb for English.
_CHARS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Outlook:
    """Calls and tokens (4 characters each); ``cost`` in US dollars, ``None`` where unknown.

    A reply that cannot be read is asked for once more, so up to twice as much may be spent.
    """

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


def outlook(
    judge: Judge, writings: Sequence[Writing], tokens_out: int, *, times: int = 1
) -> Outlook:
    """The outlook of these requests, each made ``times`` times, with replies of ``tokens_out``."""
    characters = sum(len(segment.text) for one in writings for segment in one.segments)
    tokens_in = times * characters // _CHARS_PER_TOKEN
    calls = times * len(writings)
    price = price_of(judge)
    total = calls * tokens_out
    cost = None if price is None else (tokens_in * price[0] + total * price[1]) / 1e6
    return Outlook(calls, tokens_in, total, cost)

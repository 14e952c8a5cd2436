"""Compute a call's cost from litellm's price list, which is read as a file.

Importing litellm takes seconds. The figures equal litellm's own. Cached tokens, tokens written to a
cache, long prompts and the service tiers that a provider reports have separate prices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.identity import Same
from core.judging.answer_bounds import valid_count

_LIST = "model_prices_and_context_window_backup.json"
#: The suffix of a service tier's prices, by the tier's name in an answer.
_TIERS = {
    "flex": "_flex",
    "balanced": "_balanced",
    "priority": "_priority",
    "fast": "_priority",
    "ultrafast": "_ultrafast",
}
#: The suffix of a price that applies from this many prompt tokens on.
_LONG = re.compile(r"_above_(\d+)(k?)_tokens(_[a-z]+)?\Z")
_IN, _OUT = "input_cost_per_token", "output_cost_per_token"
_READ, _WRITTEN = "cache_read_input_token_cost", "cache_creation_input_token_cost"


@lru_cache(maxsize=1)
def price_list() -> dict[str, dict[str, Any]]:
    """Return the prices of all models by name; empty without a list."""
    spec = find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path(next(iter(folders or ["."]))) / _LIST
    if not path.is_file():
        return {}
    prices: dict[str, dict[str, Any]] = json.loads(path.read_bytes())
    return prices


@lru_cache(maxsize=1024)
def price_entry(provider: str, model: str) -> dict[str, Any] | None:
    """Return the entry of a provider's model, or ``None``.

    >>> price_entry("openai", "gpt-4o-mini")["mode"], price_entry("groq", "nobody")
    ('chat', None)
    """
    prices = price_list()
    for name in (f"{provider}/{model}", model):
        entry = prices.get(name)
        if entry is not None and entry.get("litellm_provider") == provider:
            return entry
    return None


def cost_by_list(
    entry: dict[str, Any], usage: dict[str, Any], served_tier: object = None
) -> float | None:
    """Return US dollars for a call with this ``usage``, or ``None`` if unknown."""
    prompt, reply = (valid_count(usage.get(n)) for n in ("prompt_tokens", "completion_tokens"))
    if prompt is None or reply is None:
        return None
    tier = "" if served_tier is None else _TIERS.get(str(served_tier).lower(), "")
    steps = _price_steps(Same(entry), tier)
    if steps is None:
        return None
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    cached_tokens = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    written = _count(details, "cache_write_tokens") or _count(details, "cache_creation_tokens")
    uncached = max(prompt - cached_tokens - written, 0)
    price, price_out, price_read, price_written = steps
    unit_price = _price_at(prompt, price) or 0.0
    cost = uncached * unit_price
    if cached_tokens:
        cached = _price_at(prompt, price_read)
        cost += cached_tokens * (unit_price if cached is None else cached)
    if written:
        cached = _price_at(prompt, price_written)
        cost += written * (unit_price if cached is None else cached)
    return cost + reply * (_price_at(prompt, price_out) or 0.0)


#: Prices of a token, each with the least prompt length for which it applies.
_Steps = list[tuple[float, float | None]]


def _price_at(prompt: int, steps: _Steps) -> float | None:
    """Return the price of a token at the highest step that the prompt reaches."""
    if len(steps) == 1:
        return steps[0][1]
    return [rate for bound, rate in steps if prompt > bound][-1]


@lru_cache(maxsize=1024)
def _price_steps(same: Same, tier: str) -> tuple[_Steps, ...] | None:
    """Return the prices of tokens in, out, from and to the cache, or ``None`` if unknown."""
    entry: dict[str, Any] = same.thing
    if not all(isinstance(entry.get(name), int | float) for name in (_IN, _OUT)):
        return None
    return tuple(_price_steps_of(entry, name, tier) for name in (_IN, _OUT, _READ, _WRITTEN))


def _price_steps_of(entry: dict[str, Any], name: str, tier: str) -> _Steps:
    rate = entry.get(f"{name}{tier}", entry.get(name))
    steps = [(float("-inf"), rate)]
    for bound, suffix in _price_bounds(entry, name, tier):
        rate = entry.get(f"{name}{suffix}{tier}", entry.get(f"{name}{suffix}", rate))
        steps.append((bound, rate))
    return [(bound, rate if isinstance(rate, int | float) else None) for bound, rate in steps]


def _price_bounds(entry: Iterable[str], name: str, tier: str) -> list[tuple[int, str]]:
    """Return the prompt lengths at which a price changes, with their suffixes, in order."""
    matches = (_LONG.search(key) for key in entry if key.startswith(name))
    return sorted(
        {
            int(at[1]) * (1000 if at[2] else 1): at[0].removesuffix(at[3] or "")
            for at in matches
            if at is not None and (at[3] or "") in ("", tier)
        }.items()
    )


def _count(counts: dict[str, Any], name: str) -> int:
    return valid_count(counts.get(name)) or 0

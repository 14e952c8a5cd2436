"""What a model costs per token, where the judge says so or litellm's price list knows it."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.domain.panel import Judge
from core.judging.providers import provider_of

#: The list that ships with litellm. It is read as a file: importing litellm takes seconds.
_LIST = "model_prices_and_context_window_backup.json"
_PER_MILLION = 1_000_000


def price_of(judge: Judge) -> tuple[float, float] | None:
    """US dollars per million tokens (in, out), or ``None`` where unknown.

    The judge's own prices come first, and both are needed. A model at an address of its own has no
    listed price, whatever its name, unless it is named after the provider (``azure/...``).

    >>> price_of(Judge(name="j", model="m", price_in=0.5, price_out=2))
    (0.5, 2.0)
    """
    if judge.price_in is not None or judge.price_out is not None:
        if judge.price_in is None or judge.price_out is None:
            return None
        return judge.price_in, judge.price_out
    foreign = judge.api_base and not provider_of(judge.model)
    return None if foreign else _listed(judge.model)


def cost_of(
    judge: Judge, tokens_in: int | None, tokens_out: int | None, reported: float | None
) -> float | None:
    """US dollars for one answered request, or ``None`` where unknown.

    ``reported`` is the door's own figure; it knows the price of cached tokens, so it goes before
    the price list, but after the judge's own prices.
    """
    own = judge.price_in is not None or judge.price_out is not None
    if reported is not None and not own:
        return reported
    price = price_of(judge)
    if price is None or tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * price[0] + tokens_out * price[1]) / _PER_MILLION


def _listed(model: str) -> tuple[float, float] | None:
    prices = _price_list()
    entry = prices.get(model) or prices.get(model.removeprefix("openai/")) or {}
    price_in, price_out = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(price_in, int | float) or not isinstance(price_out, int | float):
        return None
    return price_in * _PER_MILLION, price_out * _PER_MILLION


@lru_cache(maxsize=1)
def _price_list() -> dict[str, dict[str, Any]]:
    spec = find_spec("litellm")
    folders = spec.submodule_search_locations if spec is not None else None
    path = Path(next(iter(folders or ["."]))) / _LIST
    if not path.is_file():
        return {}
    prices: dict[str, dict[str, Any]] = json.loads(path.read_bytes())
    return prices

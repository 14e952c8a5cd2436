"""Which door a judge's settings mean, and opening it: the one place that knows all doors."""

from __future__ import annotations

from typing import Literal

from core.domain.panel import Judge
from core.judging.providers.base import Door, provider_of


def door_for(judge: Judge) -> Literal["litellm", "openai"]:
    """Which door the judge's settings mean.

    ``auto`` takes the lean door where an address is given and the model is not named after one of
    litellm's providers.

    >>> door_for(Judge(name="j", model="openai/gpt-4.1-mini"))
    'litellm'
    >>> door_for(Judge(name="j", model="meta-llama/x", api_base="http://localhost:8000/v1"))
    'openai'
    """
    if judge.door != "auto":
        return judge.door
    return "openai" if judge.api_base and not provider_of(judge.model) else "litellm"


def open_door(kind: Literal["litellm", "openai"]) -> Door:
    """A new door. Nothing heavy is imported, and no connection made, before its first call."""
    if kind == "openai":
        from core.judging.providers.openai_provider import OpenAIDoor

        return OpenAIDoor()
    from core.judging.providers.litellm_provider import LiteLLMDoor

    return LiteLLMDoor()

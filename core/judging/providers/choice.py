"""Which provider class a judge's settings mean, and opening it: the one place that knows all."""

from __future__ import annotations

from typing import Literal

from core.domain.panel import Judge
from core.judging.providers.base import ModelProvider, provider_of


def provider_for(judge: Judge) -> Literal["litellm", "openai"]:
    """Which provider class the judge's settings mean.

    ``auto`` takes the lean door where an address is given and the model is not named after one of
    litellm's providers.

    >>> provider_for(Judge(name="j", model="openai/gpt-4.1-mini"))
    'litellm'
    >>> provider_for(Judge(name="j", model="meta-llama/x", api_base="http://localhost:8000/v1"))
    'openai'
    """
    if judge.door != "auto":
        return judge.door
    return "openai" if judge.api_base and not provider_of(judge.model) else "litellm"


def open_provider(kind: Literal["litellm", "openai"]) -> ModelProvider:
    """A new provider. Nothing heavy is imported, and no connection made, before its first call."""
    if kind == "openai":
        from core.judging.providers.openai_provider import OpenAIProvider

        return OpenAIProvider()
    from core.judging.providers.litellm_provider import LiteLLMProvider

    return LiteLLMProvider()

"""Choose and open the provider class for a judge's settings."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from core.domain.panel import Judge
from core.judging.known_providers import PLAIN, provider_of, split_model_name
from core.judging.local import model_file
from core.judging.providers.base import CallError, Completion, ModelProvider, Request
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.providers.plain import PlainProvider, is_plain

#: ``plain`` and ``openai`` are direct clients: for a provider by name, and for a given address.
Way = Literal["litellm", "openai", "plain", "file"]


def provider_for(judge: Judge, environ: Mapping[str, str] | None = None) -> Way:
    """Return the provider class for the judge's settings.

    ``auto`` calls a given address directly, unless the model's name begins with one of litellm's
    providers. It also calls providers with a plain protocol directly. Azure and Anthropic without a
    key go through litellm, which supports other sign-ins; ``environ`` shows whether there is a key.

    >>> provider_for(Judge(name="j", model="openai/gpt-4.1-mini"))
    'plain'
    >>> provider_for(Judge(name="j", model="meta-llama/x", api_base="http://localhost:8000/v1"))
    'openai'
    >>> provider_for(Judge(name="j", model="gemini/x"))
    'litellm'
    """
    if judge.model.startswith("file:"):
        return "file"
    if judge.template == "systemone":
        return "openai"
    if judge.door == "litellm":
        return "litellm"
    plain = split_model_name(judge.model)[0] in PLAIN
    if judge.door == "openai":
        return "plain" if plain and not judge.api_base else "openai"
    if judge.api_base and not provider_of(judge.model):
        return "openai"
    if not is_plain(judge) or (environ is not None and _signs_in(judge, environ)):
        return "litellm"
    return "plain"


def why_no_batches(judge: Judge) -> str:
    """Return why this judge cannot use batches, as a predicate after its name, or "".

    A custom address may still refuse them.

    >>> why_no_batches(Judge(name="j", model="openai/gpt-4.1-mini"))
    ''
    >>> why_no_batches(Judge(name="j", model="hosted_vllm/x"))
    'has no batch interface that is spoken here.'
    """
    client, provider = provider_for(judge), split_model_name(judge.model)[0]
    if client == "file" or judge.template == "systemone":
        return f"{_NONE}."
    spoken = provider in PLAIN and PLAIN[provider].batches
    if client == "openai" or (client == "plain" and spoken):
        return ""
    return _LITELLM if spoken else _NO_BATCHES.get(provider, f"{_NONE}.")


_NONE = "has no batch interface that is spoken here"
_LITELLM = "is asked through litellm, by its door, its settings or its model, and batches are not."
_STORAGE = f"{_NONE}: its provider's needs a storage of your own."
_NO_BATCHES = {
    "bedrock": _STORAGE,
    "gemini": f"{_NONE}: Gemini's is in a protocol of its own.",
    "together_ai": f"{_NONE}: Together's sends files on to another address, and is cheaper for a "
    "few models only.",
    "vertex_ai": _STORAGE,
}


def key_variables(judge: Judge) -> tuple[str, ...]:
    """Return the variables that may hold a direct client's key, if the judge names none."""
    if judge.api_base or provider_for(judge) != "plain":
        return ()
    return PLAIN[split_model_name(judge.model)[0]].keys


def _signs_in(judge: Judge, environ: Mapping[str, str]) -> bool:
    """Return whether a sign-in may exist that only litellm supports."""
    provider = split_model_name(judge.model)[0]
    if provider == "anthropic":
        key = environ.get(judge.key_env or "ANTHROPIC_API_KEY", "")
        return not key or key.startswith("sk-ant-oat")
    if provider != "azure" or judge.key_env or judge.api_base:
        return False
    return not environ.get("AZURE_API_KEY")


class ModelFiles(OpenAIProvider):
    """Starts the servers of model files and calls them."""

    name = "file"

    async def complete(self, request: Request) -> Completion:
        """Send one POST to the file's server. Raises ``CallError``."""
        path = model_file.model_path(request.model)
        assert path is not None, request.model
        try:
            address = await asyncio.to_thread(model_file.server_address, path)
        except model_file.NotStarted as error:
            raise CallError("not_found", str(error), sent=False) from None
        return await super().complete(replace(request, api_base=address, model=path.stem))

    def cost(self, request: Request, data: dict[str, Any]) -> float | None:
        """Return 0: a local model costs nothing."""
        return 0.0


def open_provider(kind: Way, environ: Mapping[str, str] | None = None) -> ModelProvider:
    """Open a provider. Imports and connections wait for its first call.

    ``environ`` may hold providers' addresses, such as ``GROQ_API_BASE``.
    """
    if kind == "plain":
        return PlainProvider(environ or {})
    if kind == "file":
        return ModelFiles()
    if kind == "openai":
        return OpenAIProvider()
    from core.judging.providers.litellm_provider import LiteLLMProvider

    return LiteLLMProvider()

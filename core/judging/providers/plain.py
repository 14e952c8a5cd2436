"""The direct client for providers of the plain OpenAI protocol, by name.

A model such as ``groq/llama-3.3-70b-versatile`` goes to its provider's address with its provider's
key, both read from the same variables as litellm's. Whatever litellm would translate goes through
litellm: a provider's own settings, a thinking level that only some models support, and cache marks
for Claude. See ``is_plain``.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

from core.domain.panel import Judge, is_reachable
from core.judging.allowance import limits_in
from core.judging.answer_bounds import valid_cost
from core.judging.known_providers import PLAIN, Provider, split_model_name
from core.judging.providers.anthropic import (
    completion_of,
    messages_body,
    messages_headers,
    openai_usage,
    read_message,
)
from core.judging.providers.base import CallError, Completion, Request, unset_message
from core.judging.providers.openai_provider import OpenAIProvider, Prepared, chat_body, headers_of
from core.judging.providers.prices import cost_by_list, price_entry

#: Model names on Azure that need another protocol or path.
_NOT_PLAIN = re.compile(r"/|claude|command|mistral|ministral|codestral|audio|realtime|codex|-pro\b")
#: Models on Azure that accept a token limit only under its new name.
_THINKERS = re.compile(r"gpt-?[5-9]|\bo[1-9]\b")


def is_plain(judge: Judge) -> bool:
    """Return whether calls of the judge, by its provider's name, need no litellm.

    >>> is_plain(Judge(name="j", model="groq/llama-3.3-70b-versatile"))
    True
    >>> is_plain(Judge(name="j", model="groq/llama-3.3-70b-versatile", params={"user": "me"}))
    False
    """
    provider, model = split_model_name(judge.model)
    client = PLAIN.get(provider)
    if client is None or not _can_serve(client, judge):
        return False
    if provider == "azure" and (_NOT_PLAIN.search(model) or "/openai" in judge.api_base):
        return False
    if provider == "openrouter" and "claude" in model.lower():
        # Claude caches a prompt's beginning only with a mark, which litellm adds.
        return False
    entry = price_entry(provider, model)
    takes_schema = (entry or {}).get("supports_native_structured_output") is True
    if provider == "anthropic" and (judge.api_base or not takes_schema):
        # A custom address needs the key in another header, and older models need a tool.
        return False
    return client.open if entry is None else _has_token_price(entry, model)


def _has_token_price(entry: dict[str, Any], model: str) -> bool:
    """Return whether the model chats at one price per token, not by the hour or by size."""
    if "off_peak_pricing" in entry or "tiered_pricing" in entry or model.startswith("together-ai-"):
        return False
    prices = (entry.get("input_cost_per_token"), entry.get("output_cost_per_token"))
    chats = entry.get("mode") in ("chat", "completion" if prices == (0, 0) else "chat")
    return chats and None not in prices


def _can_serve(way: Provider, judge: Judge) -> bool:
    if isinstance(judge.thinking, int) or (judge.thinking is not None and not way.thinking):
        return False
    if judge.logprobs and not way.logprobs:
        return False
    return judge.params.keys() <= way.params


class PlainProvider(OpenAIProvider):
    """The direct client for the providers in ``PLAIN``; ``environ`` may set addresses."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__()
        self._environ = environ
        self._proxies: dict[str, str | None] = {}
        self._certificates: ssl.SSLContext | None = None

    def prepared(self, request: Request, params: dict[str, Any]) -> Prepared:
        """Return the POST of a request to the provider in its model's name."""
        provider, model = split_model_name(request.model)
        client = PLAIN[provider]
        base = self._base(request, client)
        if provider == "anthropic":
            return self._prepare_message(request, params, base, model)
        azure = provider == "azure"
        named_key = "api-key" if azure else ""
        headers = headers_of(request, params.pop("extra_headers", None), api_key=named_key)
        limit = client.limit
        if azure:
            limit = "max_completion_tokens" if _THINKERS.search(model) else limit
            named_here = params.pop("api_version", None)
            version = named_here or self._environ.get("AZURE_API_VERSION") or _AZURE_VERSION
            path = f"/openai/deployments/{quote(model)}/chat/completions?api-version={version}"
        else:
            v1 = "/v1" if provider.startswith("ollama") and not base.endswith("/v1") else ""
            path = "" if base.endswith("/chat/completions") else f"{v1}/chat/completions"
        body = chat_body(request, params, model=model, limit=limit)
        if provider == "openrouter":
            # Ask for the cost of the call as the provider computes it, because no price list has
            # these prices.
            body["usage"] = {"include": True}
        return Prepared(f"{base}{path}", headers, body, self._proxy(base))

    def _prepare_message(
        self, request: Request, params: dict[str, Any], base: str, model: str
    ) -> Prepared:
        headers = {**headers_of(request, None, api_key="x-api-key"), **messages_headers(request)}
        most = (price_entry("anthropic", model) or {}).get("max_output_tokens") or _LONGEST_REPLY
        body = messages_body(request, params, model=model, most=most)
        url = base if base.endswith("/v1/messages") else f"{base}/v1/messages"
        return Prepared(url, headers, body, self._proxy(base))

    def read(
        self, request: Request, status: int, headers: Mapping[str, str], body: str
    ) -> Completion:
        """Return the completion in the answer of the request's provider. Raises ``CallError``."""
        if split_model_name(request.model)[0] != "anthropic":
            return super().read(request, status, headers, body)
        data = read_message(status, headers, body, request)
        usage = openai_usage(data.get("usage"))
        cost = self._message_cost(request, data, usage)
        return completion_of(data, usage, cost, limits_in(headers))

    def _message_cost(
        self, request: Request, data: dict[str, Any], counts: dict[str, Any]
    ) -> float | None:
        entry = price_entry("anthropic", str(data.get("model") or ""))
        entry = entry or price_entry("anthropic", split_model_name(request.model)[1])
        usage = data.get("usage")
        if entry is None or not isinstance(usage, dict):
            return None
        cost = cost_by_list(entry, counts)
        # The location and the speed of an answer change the price of some models.
        dearer = entry.get("provider_specific_entry") or {}
        for option in (usage.get("inference_geo"), usage.get("speed")):
            if cost is not None and option in dearer:
                cost *= dearer[option]
        return cost

    def _base(self, request: Request, way: Provider) -> str:
        addresses = (self._environ.get(name) for name in way.addresses)
        base = request.api_base or next(filter(None, addresses), way.base)
        if not base:
            raise CallError("missing_key", unset_message(way.addresses[0]), sent=False)
        if not is_reachable(base):
            given_by = "".join(f" or {name}" for name in way.addresses)
            message = f"The address is not a web address. Check api_base{given_by}."
            raise CallError("not_found", message, sent=False)
        return base.rstrip("/")

    def _proxy(self, base: str) -> str | None:
        """Return the environment's proxy for an address, chosen as litellm does."""
        if base not in self._proxies:
            parts, proxies = urlsplit(base), getproxies()
            direct = not proxies or proxy_bypass(parts.netloc)
            proxy = None if direct else proxies.get(parts.scheme)
            if proxy and "://" not in proxy:
                proxy = f"http://{proxy}"
            if proxy and not is_reachable(proxy):
                message = (
                    f"The proxy in {parts.scheme}_proxy is not http://host:port. Correct it there."
                )
                raise CallError("not_found", message, sent=False)
            self._proxies[base] = proxy
        return self._proxies[base]

    def trusted(self, url: str) -> ssl.SSLContext | bool:
        """Return this machine's certificates, if any, and those that litellm trusts."""
        if not url.startswith("https:"):
            return True
        if self._certificates is None:
            import certifi

            self._certificates = ssl.create_default_context()
            self._certificates.load_verify_locations(certifi.where())
        return self._certificates

    def cost(self, request: Request, data: dict[str, Any]) -> float | None:
        """Return US dollars by the provider's own figure, or else by the price list."""
        provider, model = split_model_name(request.model)
        usage = data.get("usage")
        if not isinstance(usage, dict):
            return None
        if provider == "openrouter":
            return valid_cost(usage.get("cost"))
        if provider.startswith("ollama"):
            return 0.0
        entry = price_entry(provider, str(data.get("model") or "")) or price_entry(provider, model)
        tier = data.get("service_tier") or usage.get("service_tier")
        return None if entry is None else cost_by_list(entry, usage, tier)


#: The default token limit for unlisted Anthropic models.
_LONGEST_REPLY = 4096
#: litellm's default API version.
_AZURE_VERSION = "2025-02-01-preview"

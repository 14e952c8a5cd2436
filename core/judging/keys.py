"""Variables of keys, and what a judge's calls would send from this machine.

This module never reads a variable's value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from core.domain.panel import Judge
from core.domain.secrets import variable_names
from core.judging.known_providers import KNOWN, provider_of, split_model_name
from core.judging.providers.base import RESERVED_PARAMS
from core.judging.providers.choice import key_variables, provider_for

#: Model prefixes that imply a litellm provider even without a slash.
_BARE = (("claude", "anthropic"), ("gemini", "gemini"), ("mistral", "mistral"))


def key_names(judge: Judge) -> tuple[str, ...]:
    """Return the variables that may hold a judge's key; empty if no key is needed.

    A custom address gets a key only if its variable is named.

    >>> key_names(Judge(name="j", model="gemini/x"))
    ('GEMINI_API_KEY', 'GOOGLE_API_KEY')
    >>> key_names(Judge(name="j", model="x", api_base="http://localhost:8000/v1"))
    ()
    """
    if judge.key_env:
        return (judge.key_env,)
    if judge.offline or judge.api_base or provider_for(judge) in ("openai", "file"):
        return ()
    provider = _provider_in_name(judge.model) or "openai"
    entry = None if provider in _OWN_SERVERS else KNOWN.get(provider)
    if entry is None:
        return ()
    return tuple(dict.fromkeys((entry.keys[0], *key_variables(judge), *entry.sign_ins)))


# The values that a judge's calls would send from this machine, and their destinations. A panel or a
# data file may come from anyone, so the user has to allow anything unusual
# (`services/access/permits`).


class Sending(NamedTuple):
    """A secret of this machine, and where a judge's calls would send it.

    ``what`` is a variable, or a sign-in that litellm picks up itself. ``where`` is an address or a
    provider. ``at`` is the judge's field that causes it.
    """

    what: str
    where: str
    at: str = "key_env"

    @property
    def is_variable(self) -> bool:
        """Return whether ``what`` is a variable rather than a sign-in."""
        return " " not in self.what

    @property
    def host(self) -> str:
        """Return the host of an address, as DNS resolves it, or ``where``."""
        try:
            host = urlsplit(self.where).hostname or self.where
            return host if host.isascii() else host.encode("idna").decode()
        except ValueError:
            return self.where


#: Amazon credentials, used by all of its providers.
_AMAZON = ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "BEARER_TOKEN_BEDROCK")
_OF_AMAZON = frozenset({"bedrock", "sagemaker", "sagemaker_chat"})
#: Self-hosted servers. Keys may be sent to this machine, and nothing but keys is sent to these
#: servers.
_SERVERS = """
    docker_model_runner hosted_vllm litellm_proxy llamafile lm_studio ollama ollama_chat openai_like
    vllm xinference
"""
_OWN_SERVERS = frozenset(_SERVERS.split())
#: Settings that affect how a model writes, but neither the address nor the sign-in.
_WRITING = """
    allowed_openai_params api_version drop_params enable_thinking extra_headers frequency_penalty
    guided_choice guided_json include_reasoning keep_alive logit_bias logprobs max_completion_tokens
    min_p mirostat mirostat_eta mirostat_tau modalities num_ctx num_predict parallel_tool_calls
    prediction presence_penalty prompt_cache_key random_seed reasoning reasoning_effort
    repeat_penalty repetition_penalty response_mime_type safe_prompt safety_settings seed
    service_tier speed stop store temperature thinking top_k top_logprobs top_p typical_p user
    verbosity web_search_options
"""
_OF_WRITING = frozenset(_WRITING.split())
#: Settings that become part of a host name or path, and the values that cannot change either of the
#: two.
_OF_PLACES = frozenset(
    {"aws_region_name", "organization", "region_name", "vertex_location", "vertex_project"}
)
_PLACE_NAME = re.compile(r"[a-z0-9-]{1,60}")


def secret_destinations(judge: Judge, environ: Mapping[str, str]) -> list[Sending]:
    """Return the secrets that a judge's calls would send, and where, apart from the usual cases.

    The usual cases are a provider's own variable sent to its own address or to the address in
    ``environ``, and the variable of a self-hosted server sent to this machine.

    >>> secret_destinations(Judge(name="j", model="gpt-4o", key_env="OPENAI_API_KEY"), {})
    []
    >>> away = Judge(name="j", model="m", api_base="https://a.example/v1", key_env="OPENAI_API_KEY")
    >>> secret_destinations(away, {})
    [Sending(what='OPENAI_API_KEY', where='https://a.example/v1', at='key_env')]
    """
    return [] if judge.kind != "llm" else list(dict.fromkeys(_secrets_sent(judge, environ)))


def _secrets_sent(judge: Judge, environ: Mapping[str, str]) -> Iterator[Sending]:
    values = [(name, "params") for name in variable_names(judge.params)]
    values += [(judge.key_env, "key_env")] if judge.key_env else []
    provider = _provider_called(judge)
    if not judge.api_base:
        usual_names = _usual_variables(provider)
        where = provider or "openai"
        yield from (Sending(name, where, at) for name, at in values if name not in usual_names)
    for address in filter(None, (judge.api_base, *judge.replicas)):
        usual_names = _variables_allowed_at(address, environ)
        where = address.rstrip("/")
        yield from (Sending(name, where, at) for name, at in values if name not in usual_names)
    if provider_for(judge) == "litellm":
        sign_in = f"the sign-in of {provider or 'openai'}"
        yield from (Sending(sign_in, where, at) for where, at in _redirecting_settings_of(judge))


def redirecting_settings(judge: Judge) -> list[tuple[str, str]]:
    """Return the settings, with their fields, that may redirect litellm's own sign-in.

    >>> redirecting_settings(Judge(name="j", model="bedrock/m", params={"aws_sts_endpoint": "https://x"}))
    [('aws_sts_endpoint=https://x', 'params')]
    """
    if judge.kind != "llm" or provider_for(judge) != "litellm":
        return []
    places = [(judge.model, "model")] if "://" in judge.model else []
    return places + [
        (f"{name}={value}"[:200], "params")
        for name, value in judge.params.items()
        # Reserved settings are never sent: the call is refused.
        if name not in _OF_WRITING | RESERVED_PARAMS
        and not (name in _OF_PLACES and _PLACE_NAME.fullmatch(str(value)))
        and not (isinstance(value, dict) and value.keys() == {"env"})
    ]


def _redirecting_settings_of(judge: Judge) -> Iterator[tuple[str, str]]:
    provider = provider_of(judge.model)
    if provider and provider not in _OWN_SERVERS:
        yield from (
            (base.rstrip("/"), "api_base") for base in (judge.api_base, *judge.replicas) if base
        )
    yield from redirecting_settings(judge)


def _provider_in_name(model: str) -> str:
    """Return the provider in a model's name; empty for OpenAI."""
    bare = model.removeprefix("openai/").casefold()
    return provider_of(model) or next((p for start, p in _BARE if bare.startswith(start)), "")


def _provider_called(judge: Judge) -> str:
    """Return the provider called for a judge without an address; empty for OpenAI."""
    provider_client = provider_for(judge)
    if provider_client == "litellm":
        return _provider_in_name(judge.model)
    provider = split_model_name(judge.model)[0] if provider_client == "plain" else ""
    return "" if provider == "openai" else provider


def _usual_variables(provider: str) -> frozenset[str]:
    """Return the variables of a provider's own keys."""
    usual = KNOWN.get(provider or "openai")
    names = {*usual.keys, *usual.sign_ins} if usual else set[str]()
    return frozenset(names | {f"AWS_{suffix}" for suffix in _AMAZON if provider in _OF_AMAZON})


def _variables_allowed_at(address: str, environ: Mapping[str, str]) -> frozenset[str]:
    """Return the variables that may be sent to an address without permission."""
    names = set[str]()
    for provider, usual in KNOWN.items():
        bases = [_origin(usual.base)] if usual.base.startswith("https:") else []
        bases += [environ[name] for name in usual.addresses if environ.get(name)]
        # Addresses are compared as text, because another URL parser may see a different host.
        if any(f"{address}/".startswith(f"{base.rstrip('/')}/") for base in bases):
            names |= _usual_variables("" if provider == "openai" else provider)
    if _is_this_machine(address):
        names |= {f"{name.upper()}_API_KEY" for name in _OWN_SERVERS}
    return frozenset(names)


def _origin(base: str) -> str:
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}"


def _is_this_machine(address: str) -> bool:
    """Return whether an address is on this machine."""
    try:
        host = urlsplit(address).hostname or ""
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

"""Any provider, through litellm. Only this module imports it, on first use.

litellm's own retries, cache, callbacks and console output are off, so each call is one visible
request on the wire. Its exception classes differ between versions and confuse a refused connection
with a server error, so errors are classified by status and message.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import aiohttp

from core.judging.allowance import limits_in
from core.judging.known_providers import provider_of
from core.judging.local.own_address import is_private_address
from core.judging.providers.anthropic import with_cache_marks
from core.judging.providers.base import (
    CallError,
    Completion,
    Request,
    response_format,
    sent_params,
    split_thinking,
    thinking_level,
    token_counts,
)
from core.judging.providers.bounded import (
    TOO_LARGE,
    CallTraffic,
    TooLarge,
    UnreadableBody,
    watch_transports,
    watched,
)
from core.judging.providers.connections import Silent, check_alive, wait_while_alive
from core.judging.providers.failures import (
    brief_message,
    chain,
    connection_error,
    error_from_status,
    invalid_request_error,
    never_sent,
)
from core.judging.providers.logprobs import logprobs_parameters, number_tokens

# Cache marks for providers that cache a shared prompt only on request: Claude, wherever it is
# served. Other providers find shared beginnings themselves and get plain text.

_SERVES_CLAUDE = frozenset({"", "anthropic", "bedrock", "openrouter", "vertex_ai"})


def gets_cache_marks(model: str, supported: Callable[[str], bool]) -> bool:
    """Return whether requests to ``model`` (as litellm names it) get cache marks.

    ``supported`` is called for models on Bedrock only: older ones there refuse a marked request,
    while other providers ignore marks that they cannot use.

    >>> gets_cache_marks("anthropic/claude-x", lambda model: False)
    True
    >>> gets_cache_marks("openai/claude-like", lambda model: True)
    False
    """
    provider = provider_of(model)
    if "claude" not in model.lower() or model.startswith("openai/"):
        return False
    if provider == "bedrock":
        return supported(model)
    return provider in _SERVES_CLAUDE


#: What litellm puts before a provider's message.
_PREFIX = re.compile(r"\A(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout|LLM)(?::| -) ?)+")

#: Messages about a request that did not arrive, or an answer that did not come back.
_LOST = re.compile(
    r"connection (error|reset|refused|aborted)|connection attempts failed|cannot connect"
    r"|disconnected|\[errno|name resolution|getaddrinfo",
    re.IGNORECASE,
)

#: Loggers of litellm and of its HTTP libraries.
_LOGGERS = ("LiteLLM", "openai", "anthropic", "httpx", "httpcore", "aiohttp", "botocore", "urllib3")

#: Python's warning about a call that litellm dropped.
_DROPPED = r"coroutine '\w+\.a(sync_)?completion\w*' was never awaited"

#: A week, in seconds. litellm would treat ``None`` as ten minutes.
_NO_LIMIT = 604_800.0

#: Open providers. litellm has one set of clients per process; the last provider to close ends them.
_in_use: set[int] = set()


class LiteLLMProvider:
    """Calls through ``litellm.acompletion``. Use it on one long-lived event loop."""

    name = "litellm"

    def __init__(self) -> None:
        self._litellm: Any = None
        #: Whether requests to a model get cache marks, cached because the lookup is slow.
        self._marked: dict[str, bool] = {}

    async def complete(self, request: Request) -> Completion:
        """Send one request, without retries. Raises ``CallError``."""
        params = sent_params(request)
        if self._litellm is None:
            # Imported in a thread, because the import takes seconds and would block the loop.
            self._litellm = await asyncio.to_thread(load_litellm)
        _in_use.add(id(self))
        watch = CallTraffic()
        entered = watched.set(watch)
        try:
            response = await self._response_in_time(request, params, watch)
        except Silent as error:
            raise CallError("timeout", str(error)) from None
        except TimeoutError:
            raise CallError("timeout", f"No answer within {request.timeout:g} seconds.") from None
        except Exception as error:
            if watch.fault is not None:
                raise _broken_request_error(watch.fault, request) from None
            if 300 <= watch.status < 400:
                raise error_from_status(watch.status, "") from None
            if not hasattr(error, "status_code"):
                raise
            failure = call_error(error, request)
            failure.sent = not _was_never_sent(error)
            raise failure from None
        finally:
            watched.reset(entered)
        return _completion(response, request, watch.headers)

    async def _response_in_time(
        self, request: Request, params: dict[str, Any], watch: CallTraffic
    ) -> Any:
        """Return litellm's response within the request's limit, or while its server responds."""
        if not _is_patient(request):
            # litellm's own timeout restarts with every piece of an answer.
            async with asyncio.timeout(request.timeout):
                return await self._litellm.acompletion(**self._arguments(request, params))
        request = replace(request, timeout=_NO_LIMIT)
        answer = self._litellm.acompletion(**self._arguments(request, params))
        return await wait_while_alive(answer, partial(_check_alive, watch))

    async def close(self) -> None:
        """Close litellm's clients, unless another provider still uses them."""
        if id(self) not in _in_use:
            return
        _in_use.discard(id(self))
        if not _in_use:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _arguments(self, request: Request, params: dict[str, Any]) -> dict[str, object]:
        model, messages = _litellm_model(request), request.messages
        if model not in self._marked:
            supported = self._litellm.utils.supports_prompt_caching
            self._marked[model] = gets_cache_marks(model, supported)
        if self._marked[model]:
            messages = with_cache_marks(messages, request.shared_ends)
        arguments: dict[str, object] = {
            "model": model,
            "messages": messages,
            "timeout": request.timeout,
            # Only this setting is used: with num_retries as well, some versions retry after all.
            "max_retries": 0,
            # litellm rewrites schemas for some providers, and this one is shared.
            "response_format": deepcopy(response_format(request)),
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "api_base": request.api_base or None,
            "api_key": request.key,
            **_thinking_arguments(request),
            **logprobs_parameters(request.logprobs),
            **params,
        }
        if request.api_base and not request.key:
            # Otherwise litellm would send a key from the environment to that address.
            arguments["api_key"] = "none"
        return {name: value for name, value in arguments.items() if value is not None}


def _is_patient(request: Request) -> bool:
    # A judge may have several addresses, and some may be remote.
    return request.patient and (not request.api_base or is_private_address(request.api_base))


async def _check_alive(watch: CallTraffic) -> None:
    if watch.url:  # otherwise litellm has not sent it yet
        async with aiohttp.ClientSession() as session:
            await check_alive(session, watch.url)


def load_litellm() -> Any:
    """Return the module, imported on first use with local prices and no output."""
    # Without the first, the import reads variables from any file named .env. Without the second, it
    # downloads a price list. Without the third, errors end in an advertisement of a thousand
    # characters.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_DISABLE_BUG_REPORT_LINK", "true")
    with warnings.catch_warnings():
        # litellm builds its models on first use, and pydantic warns about them.
        warnings.simplefilter("ignore")
        import httpx
        import litellm
        from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

        litellm.ModelResponse()
    # litellm starts a call in a thread, and drops it there if it is cancelled meanwhile. Nothing
    # was sent then, and this code cannot reach the dropped coroutine.
    warnings.filterwarnings("ignore", _DROPPED, RuntimeWarning)
    for name in _LOGGERS:
        # At DEBUG they log headers and replies, including the key.
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))
    watch_transports(LiteLLMAiohttpTransport, httpx.AsyncHTTPTransport)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.cache = None
    litellm.num_retries = None
    litellm.callbacks, litellm.success_callback, litellm.failure_callback = [], [], []
    return litellm


def _litellm_model(request: Request) -> str:
    if request.model.startswith("openai/") or provider_of(request.model) or not request.api_base:
        return request.model
    return f"openai/{request.model}"


def _thinking_arguments(request: Request) -> dict[str, object]:
    if isinstance(request.thinking, int):
        return {"thinking": {"type": "enabled", "budget_tokens": request.thinking}}
    return {"reasoning_effort": thinking_level(request)}


def call_error(error: Any, request: Request) -> CallError:
    """Return the error for an exception of litellm (with its ``status_code``)."""
    message = _PREFIX.sub("", str(error))
    name, status = type(error).__name__, int(error.status_code or 500)
    if name == "Timeout":
        return CallError("timeout", f"No answer within {request.timeout:g} seconds.", status=status)
    if status >= 500 and _LOST.search(message):
        return CallError(
            "connection", f"The connection failed: {brief_message(message, request.hidden)}"
        )
    if name == "APIConnectionError":
        # litellm also uses this name for internal errors.
        return CallError(
            "internal", f"The call could not be made: {brief_message(message, request.hidden)}"
        )
    if status >= 500 and "missing credentials" in message.lower():
        # litellm found no key and sent no request, but it reports a server error.
        status = 401
    error_headers = dict(getattr(error, "litellm_response_headers", None) or {})
    headers = {str(header).lower(): str(value) for header, value in error_headers.items()}
    body = json.dumps({"error": {"message": message, "code": _error_code(error)}})
    return error_from_status(status, body, headers=headers, hidden=request.hidden)


#: litellm's messages about a request that it did not send.
_UNSENT_WORDS = re.compile(r"missing credentials|llm provider not provided|api_key client option")


def _was_never_sent(error: BaseException) -> bool:
    """Return whether no request went out, because litellm refused it or could not connect."""
    if _UNSENT_WORDS.search(str(error).lower()):
        return True
    unsupported = any(type(cause).__name__ == "UnsupportedParamsError" for cause in chain(error))
    return unsupported or never_sent(error)


def _broken_request_error(fault: BaseException, request: Request) -> CallError:
    """Return the error for a request that broke on the wire."""
    if isinstance(fault, TooLarge):
        return CallError("too_large", TOO_LARGE)
    if isinstance(fault, UnreadableBody):
        return CallError("server", str(fault))
    if any(isinstance(link, TimeoutError) for link in chain(fault)) and not never_sent(fault):
        return CallError("timeout", f"No answer within {request.timeout:g} seconds.")
    if cause := next((link for link in chain(fault) if isinstance(link, ValueError)), None):
        return invalid_request_error(cause, request.hidden)
    return connection_error(fault, request.hidden)


def _error_code(error: Any) -> str:
    body = getattr(error, "body", None)
    return str(body.get("code") or "") if isinstance(body, dict) else ""


def _completion(response: Any, request: Request, headers: Mapping[str, str]) -> Completion:
    choice = response.choices[0] if response.choices else None
    message = choice.message if choice is not None else None
    text = getattr(message, "content", None)
    thinking = str(getattr(message, "reasoning_content", None) or "")
    if isinstance(text, str) and not thinking:
        thinking, text = split_thinking(text)
    fields = getattr(message, "provider_specific_fields", None) or {}
    usage = getattr(response, "usage", None)
    logprobs = getattr(choice, "logprobs", None)
    foreign = request.api_base and not provider_of(request.model)
    return Completion(
        text=text,
        thinking=thinking,
        model=str(response.model or ""),
        finish=str(getattr(choice, "finish_reason", None) or ""),
        # litellm applies a known model's price even if another server serves that name.
        cost=None if foreign else response.hidden_params.get("response_cost"),
        told=limits_in(headers),
        refusal=str(fields.get("refusal") or getattr(message, "refusal", None) or ""),
        **token_counts(usage.model_dump() if usage is not None else None),
        number_tokens=number_tokens(logprobs.model_dump() if logprobs else None, text),
    )

"""The direct client for any endpoint of the OpenAI chat protocol, with aiohttp.

It uses a tenth of litellm's CPU per call, measured with every vote stored. A thinking level is sent
as ``reasoning_effort`` ("off" as ``none``). The protocol has no field for a budget in tokens, so a
number is refused. For a server with such a field, set it in the judge's ``params``.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from core.judging.allowance import Told, limits_in
from core.judging.local.own_address import is_private_address
from core.judging.providers.base import (
    CallError,
    Completion,
    Hidden,
    Request,
    as_json,
    json_of,
    response_format,
    sent_params,
    split_thinking,
    thinking_level,
    token_counts,
)
from core.judging.providers.bounded import ACCEPTED, TOO_LARGE, TooLarge, UnreadableBody
from core.judging.providers.failures import (
    connection_error,
    error_from_status,
    invalid_request_error,
    unexpected_answer_error,
)
from core.judging.providers.logprobs import logprobs_parameters, number_tokens

if TYPE_CHECKING:
    import ssl

    import aiohttp

DEFAULT_BASE = "https://api.openai.com/v1"
TWICE = "The address gave an answer again that it had given to another question."


class Prepared(NamedTuple):
    """A prepared POST; ``proxy`` is a proxy's address or ``None``."""

    url: str
    headers: dict[str, str]
    body: dict[str, object]
    proxy: str | None = None


class OpenAIProvider:
    """Calls over one shared session, which opens on first use."""

    name = "openai"
    #: Called when a request's body is written, if its sender set it.
    when_sent = ContextVar[Callable[[], object]]("when_sent", default=lambda: None)

    def __init__(self) -> None:
        # Imported here, because aiohttp is slow to load for code that only names this class.
        from core.judging.providers.connections import ClientSession

        self._wire = ClientSession(self.trusted)

    async def complete(self, request: Request) -> Completion:
        """Send one POST, without retries. Raises ``CallError``."""
        return self.read(request, *await self._post(request))

    def read(
        self, request: Request, status: int, headers: Mapping[str, str], body: str
    ) -> Completion:
        """Return the completion in an answer of this status. Raises ``CallError``."""
        if status != 200:
            raise error_from_status(status, body, headers=headers, hidden=request.hidden)
        if request.format == "systemone":
            return _typed_answers(body, request)
        data = _parse_body(body, headers, request)
        return _completion_of(data, self.cost(request, data), limits_in(headers))

    async def close(self) -> None:
        """Close the session; a later call opens a new one."""
        await self._wire.close()

    def prepared(self, request: Request, params: dict[str, Any]) -> Prepared:
        """Return the POST of a request with these ``params``. Raises ``CallError``."""
        headers = headers_of(request, params.pop("extra_headers", None))
        if request.format == "systemone":
            question = json_of(request.messages[-1]["content"])
            body = {"model": request.model.removeprefix("openai/"), **question, **params}
            base = request.api_base.rstrip("/").removesuffix("/systemone")
            return Prepared(f"{base}/systemone", headers, body)
        return Prepared(_request_url(request), headers, chat_body(request, params))

    def cost(self, request: Request, data: dict[str, Any]) -> float | None:
        """Return US dollars for an answered request; unknown at custom addresses."""
        return None

    def trusted(self, url: str) -> ssl.SSLContext | bool:
        """Return the trusted certificates; ``True`` for this machine's."""
        return True

    async def _post(self, request: Request) -> tuple[int, Mapping[str, str], str]:
        url, headers, body, proxy = self.prepared(request, sent_params(request))
        with TranslatedErrors(request.timeout, request.hidden):
            status, answer_headers, answer = await self._wire.post(
                *(url, headers, _Body(as_json(body), self.when_sent.get()), proxy),
                limit=None if request.patient and is_private_address(url) else request.timeout,
            )
        texts = [message["content"] for message in request.messages]
        if status == 200 and self._wire.repeats(url, answer, texts):
            raise CallError("server", TWICE, status=status, exists=True)
        return status, answer_headers, answer

    def session(self) -> aiohttp.ClientSession:
        """Return the session, opened on first use."""
        return self._wire.session()


class _Body(io.BytesIO):
    """A body that reports when it is read for writing to its connection."""

    def __init__(self, body: bytes, when_read: Callable[[], object]) -> None:
        super().__init__(body)
        self._when_read = when_read

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        self._when_read()
        return super().read(size)


class TranslatedErrors:
    """Converts connection errors within the block to ``CallError``."""

    __slots__ = ("_hidden", "_timeout")

    def __init__(self, timeout: float, hidden: Hidden) -> None:
        self._timeout, self._hidden = timeout, hidden

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and (failure := self._call_error(error)) is not None:
            raise failure from None

    def _call_error(self, error: BaseException) -> CallError | None:
        import aiohttp

        from core.judging.providers.connections import Silent

        if isinstance(error, Silent):
            return CallError("timeout", str(error))
        if isinstance(error, TimeoutError):
            return CallError("timeout", f"No answer within {self._timeout:g} seconds.")
        if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
            message = "The address is not a web address. Check api_base."
            return CallError("not_found", message, sent=False)
        if isinstance(error, ValueError):
            return invalid_request_error(error, self._hidden)
        if isinstance(error, TooLarge):
            return CallError("too_large", TOO_LARGE)
        if isinstance(error, UnreadableBody):
            return CallError("server", str(error))
        if isinstance(error, aiohttp.ClientError | OSError):
            return connection_error(error, self._hidden)
        return None


def _request_url(request: Request) -> str:
    base = (request.api_base or DEFAULT_BASE).rstrip("/")
    return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


def headers_of(request: Request, extra: object, *, api_key: str = "") -> dict[str, str]:
    """Return the headers of the POST; the judge's own headers override ours.

    ``api_key`` names the header of the key if it is not the usual one.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    headers["Accept-Encoding"] = ACCEPTED
    if request.key:
        name, value = (api_key, request.key) if api_key else (_AUTH, f"Bearer {request.key}")
        headers[name] = value
    for name, value in extra.items() if isinstance(extra, dict) else ():
        headers = {
            kept_name: content
            for kept_name, content in headers.items()
            if kept_name.lower() != name.lower()
        }
        headers[name] = str(value)
    return headers


_AUTH = "Authorization"

#: Settings that only litellm's providers understand.
_OF_PROVIDERS = ("aws_", "vertex_", "azure_", "api_version")


def chat_body(
    request: Request, params: Mapping[str, Any], *, model: str = "", limit: str = ""
) -> dict[str, object]:
    """Return the body of the POST with ``params``. Raises ``CallError``.

    ``model`` and ``limit`` are the provider's own names for the model and for ``max_tokens``.
    """
    if isinstance(request.thinking, int):
        raise CallError(
            "bad_request",
            "A thinking budget in tokens has no field in the OpenAI protocol. Use off, low, medium "
            "or high, or put the server's own field into the judge's params.",
            sent=False,
        )
    if foreign := [name for name in params if name.startswith(_OF_PROVIDERS)]:
        message = (
            f"{foreign[0]} means something to litellm only. Take it out, or set door: litellm."
        )
        raise CallError("bad_request", message, sent=False)
    # OpenAI's reasoning models refuse the old name; other servers know only the old name.
    limit = limit or ("max_tokens" if request.api_base else "max_completion_tokens")
    body: dict[str, object] = {
        "model": model or request.model.removeprefix("openai/"),
        "messages": request.messages,
        "response_format": response_format(request),
        "temperature": request.temperature,
        limit: request.max_tokens,
        "reasoning_effort": thinking_level(request),
        **logprobs_parameters(request.logprobs),
    }
    extra = dict(params)
    further = extra.pop("extra_body", None)
    body |= extra | (further if isinstance(further, dict) else {})
    return {name: value for name, value in body.items() if value is not None}


def _parse_body(body: str, headers: Mapping[str, str], request: Request) -> dict[str, Any]:
    try:
        data = json_of(body)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict) and data.get("error") and not data.get("choices"):
        raise _error_in_200(data["error"], body, headers, request.hidden)
    if not isinstance(data, dict) or not isinstance(data.get("choices"), list):
        advice = " Check the address (it usually ends in /v1)."
        raise unexpected_answer_error("a chat completion", body, request.hidden, advice)
    return data


def _typed_answers(body: str, request: Request) -> Completion:
    """Return the answers of ``/v1/systemone`` as JSON by question name."""
    try:
        data = json_of(body)
    except (ValueError, RecursionError):
        data = None
    answers = data.get("answers") if isinstance(data, dict) else None
    if not isinstance(answers, dict):
        advice = " Check the address: a decision model's server has /v1/systemone."
        raise unexpected_answer_error("answers to typed questions", body, request.hidden, advice)
    usage = data["usage"] if isinstance(data.get("usage"), dict) else {}
    return Completion(
        text=as_json(answers).decode(),
        tokens_in=usage.get("input_tokens"),
        tokens_out=usage.get("output_tokens"),
        model=str(data.get("model") or ""),
    )


def _completion_of(data: dict[str, Any], cost: float | None, limits: Told | None) -> Completion:
    choices = data["choices"]
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    text, thinking, refusal = _message_texts(message if isinstance(message, dict) else {})
    return Completion(
        text=text,
        thinking=thinking,
        refusal=refusal,
        number_tokens=number_tokens(choice.get("logprobs"), text),
        **token_counts(data.get("usage")),
        cost=cost,
        told=limits,
        model=str(data.get("model") or ""),
        finish=str(choice.get("finish_reason") or ""),
    )


def _error_in_200(
    error: object, body: str, headers: Mapping[str, str], hidden: Hidden
) -> CallError:
    # Some gateways return status 200 with the upstream status in the error's code.
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 300 <= code < 600 else 500
    return error_from_status(status, body, headers=headers, hidden=hidden)


def _message_texts(message: dict[str, Any]) -> tuple[str | None, str, str]:
    """Return a message's text (``None`` if missing), thinking and refusal."""
    text = message.get("content")
    if isinstance(text, list):
        parts = [part.get("text") for part in text if isinstance(part, dict)]
        text = "".join(part for part in parts if isinstance(part, str))
    thinking = str(message.get("reasoning_content") or message.get("reasoning") or "")
    if isinstance(text, str) and not thinking:
        thinking, text = split_thinking(text)
    refusal = str(message.get("refusal") or "")
    return text if isinstance(text, str) else None, thinking, refusal

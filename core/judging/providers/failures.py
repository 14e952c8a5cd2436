"""Translate refused and lost requests into failure kinds and plain messages."""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime

from core.domain.votes import FailureKind
from core.judging.answer_bounds import valid_wait
from core.judging.providers.base import CallError, Hidden, redact

#: Names of aiohttp's and httpx's errors that mean no connection was made.
_UNREACHED = {
    "ConnectError",
    "ConnectTimeout",
    "ClientConnectorError",
    "ClientConnectorDNSError",
    "ClientConnectorCertificateError",
    "ClientConnectorSSLError",
    # A proxy that refuses the connection never forwarded the request.
    "ClientProxyConnectionError",
    "ClientHttpProxyError",
    "ProxyError",
}


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error, its cause, the cause of that and so on."""
    visited = set[int]()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def never_sent(error: BaseException) -> bool:
    """Return whether no request went out, because no connection was made."""
    return any(type(cause).__name__ in _UNREACHED for cause in chain(error))


def connection_words(error: BaseException) -> str:
    """Return what went wrong with a connection, or "" if unknown.

    >>> connection_words(ConnectionRefusedError(111, "Connection refused"))
    'nobody answers at this address and port (connection refused).'
    """
    causes = list(chain(error))
    if type(error).__name__ == "ClientHttpProxyError":
        return f"the proxy refused to connect ({getattr(error, 'status', '')})."
    # aiohttp stores the operating system's error outside of the exception chain.
    causes += [
        os_error for cause in causes if (os_error := getattr(cause, "os_error", None)) is not None
    ]
    causes += [
        os_error
        for cause in causes
        if (os_error := getattr(cause, "certificate_error", None)) is not None
    ]
    text = next((text for cause in causes if (text := _cause_text(cause))), "")
    by_proxy = text and type(error).__name__ == "ClientProxyConnectionError"
    return f"the proxy in the environment was not reached: {text}" if by_proxy else text


def _cause_text(cause: BaseException) -> str:
    # For errors in certificates and host names, the cause says more than aiohttp's error.
    if verify_message := getattr(cause, "verify_message", ""):
        return f"the server's certificate is not trusted ({verify_message})."
    if isinstance(cause, ssl.SSLError) and (reason := getattr(cause, "reason", "")):
        verify_message = reason.replace("_", " ").lower()
        return (
            f"no secure connection came about ({verify_message}). Check https:// against http://."
        )
    if isinstance(cause, socket.gaierror):
        return "no computer of this name is known (DNS). Check the address and the network."
    if isinstance(cause, ConnectionRefusedError):
        return "nobody answers at this address and port (connection refused)."
    if isinstance(cause, ConnectionResetError):
        return "the server cut the connection before it had answered."
    return ""


# Refused requests: a provider's status and message as a failure kind.

MAX_DETAIL, MAX_CODE = 300, 60

#: Words in 4xx answers, most specific first: codes and sentences of known providers.
_WORDS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (
        "context_length",
        re.compile(
            r"context.?(length|window|size)|context (the )?overflows|maximum (context|model length)"
            r"|prompt is too long|input is too long|`inputs` must have less than \d+ tokens"
            r"|`inputs` tokens \+ `max_new_tokens` must be"
            r"|too many (input )?tokens|reduce the length|exceeds? the max\w* (number of )?tokens"
            r"|request too large",
            re.IGNORECASE,
        ),
    ),
    (
        "content_filter",
        re.compile(
            r"content.?filter|content.?policy|responsible.?ai|content management policy"
            r"|flagged as potentially",
            re.IGNORECASE,
        ),
    ),
    (
        "auth",
        re.compile(
            r"incorrect api key|invalid.{0,3}api.?key|api key not (valid|found)|missing credentials"
            r"|missing .{0,40}api key|authentication.?error|no api.?key",
            re.IGNORECASE,
        ),
    ),
    (
        "not_found",
        re.compile(
            r"model.?not.?found|no such model|model .{0,100} does not exist|unknown model"
            r"|llm provider not provided",
            re.IGNORECASE,
        ),
    ),
)
_FORMAT = re.compile(
    r"response.?format|json.?schema|json.?object|structured.?output|guided.?json|response.?schema"
    r"|output.?(?:format|config)|schema.{0,80}(?:support|permit|allow)"
    r"|max(?:items|length)|grammar|(?:minimum|maximum)\b.{0,80}(?:support|permit|allow)",
    re.IGNORECASE,
)
_BY_STATUS: dict[int, FailureKind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    404: "not_found",
    405: "not_found",
    408: "timeout",
    413: "context_length",
    429: "rate_limit",
    # The server will never support this request. An example is llama.cpp with a model that makes no
    # decisions.
    501: "not_found",
}
_SAYS: dict[str, str] = {
    "rate_limit": "The provider is refusing requests for now",
    "timeout": "The provider gave up waiting",
    "server": "The provider had an error of its own",
    "auth": "The provider refused the key",
    "not_found": "The provider knows no such model or address",
    "bad_request": "The provider refused the request",
    "context_length": "The prompt is longer than the model takes",
    "content_filter": "The provider's content filter refused the prompt",
}
_REDIRECTED = (
    "The address sends requests on to another one ({}). That is not followed, because the key "
    "would go with them. Give the address that answers itself."
)
MEND: dict[str, str] = {
    "auth": " Check the key, its rights and the account's credit.",
    "not_found": " Check the model's name and the address (it usually ends in /v1).",
    "context_length": " Shorten the item or use a model with a larger context.",
}
#: Matches a traceback up to its error message, or one location if the line breaks were lost.
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\):[ \t]*(?:\n[ \t][^\n]*)*"
    r"|File \"[^\"]*\", line \d+, in \S+"
)


def error_from_status(
    status: int, body: str, *, headers: Mapping[str, str] | None = None, hidden: Hidden = ()
) -> CallError:
    """Return the error for an HTTP status and a body (JSON, HTML or text).

    ``headers`` must have the key ``retry-after`` in lower case.
    """
    if 300 <= status < 400:
        return CallError("not_found", _REDIRECTED.format(status), status=status)
    message, code = _message_and_code(body)
    kind = kind_of(status, message, code)
    about_format = kind == "bad_request" and _FORMAT.search(message) is not None
    code = redact(" ".join(code.split()), hidden)[:MAX_CODE]
    number = f"{status} {code}" if code and not code.isdigit() else str(status)
    detail = brief_message(message, hidden)
    return CallError(
        kind,
        f"{_SAYS[kind]} ({number}): {detail}{MEND.get(kind, '')}",
        retry_after=retry_after(headers or {}),
        status=status,
        about_format=about_format,
    )


def connection_error(error: BaseException, hidden: Hidden) -> CallError:
    """Return the error for a connection that failed or broke."""
    detail = connection_words(error) or brief_message(str(error) or type(error).__name__, hidden)
    return CallError("connection", f"The connection failed: {detail}", sent=not never_sent(error))


def invalid_request_error(error: ValueError, hidden: Hidden) -> CallError:
    """Return the error for a request with an invalid address or key."""
    detail = brief_message(str(error), hidden)
    message = f"The request cannot be made: {detail} Check api_base and the key."
    return CallError("not_found", message, sent=False)


def kind_of(status: int, message: str, code: str = "") -> FailureKind:
    """Return the failure kind of a refused request.

    >>> kind_of(429, "slow down"), kind_of(429, "", "insufficient_quota"), kind_of(529, "busy")
    ('rate_limit', 'auth', 'server')
    """
    text = f"{code} {message}"
    if status >= 500 and status not in _BY_STATUS:
        # Some servers report a prompt that is too long as an internal error.
        return "context_length" if _WORDS[0][1].search(text) else "server"
    if status == 429:
        # Waiting does not restore credit. Some providers call a plain rate limit a "quota", so only
        # the error code decides.
        return "auth" if code == "insufficient_quota" else "rate_limit"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 300 <= status < 400:
        return "not_found"
    return next((kind for kind, pattern in _WORDS if pattern.search(text)), "bad_request")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (a number or an HTTP date), or ``None``.

    A date is compared with the answer's own ``Date``, if there is one, so the two clocks need not
    agree.

    >>> retry_after({"retry-after": "1.5"})
    1.5
    """
    if (exact := _seconds_in(headers.get("retry-after-ms", ""))) is not None:
        return valid_wait(exact / 1000)
    header = headers.get("retry-after", "")
    if (seconds := _seconds_in(header)) is not None:
        return valid_wait(seconds)
    until = _timestamp(header)
    if until is None:
        return None
    now = _timestamp(headers.get("date", ""))
    return valid_wait(max(0.0, until - (time.time() if now is None else now)))


def unexpected_answer_error(than: str, body: str, hidden: Hidden, advice: str = "") -> CallError:
    """Return the error for an unexpected answer with status 200.

    A web page comes from a server in front of the provider, which may be down.
    """
    message = f"The address answered, but not with {than}: {brief_message(body, hidden)}{advice}"
    return CallError("server", message, status=200, exists=not body.lstrip().startswith("<"))


def brief_message(message: str, hidden: Hidden) -> str:
    """Return one redacted line of at most ``MAX_DETAIL`` characters that ends in a full stop."""
    # Some libraries include whole tracebacks in their messages.
    message = _TRACEBACK.sub(" ", message)
    text = redact(" ".join(message.split()), hidden) or "no reason given"
    if re.match(r"(?i)<!doctype html|<html", text):
        text = "it answered with a web page"
    if len(text) > MAX_DETAIL:
        text = text[: MAX_DETAIL - 3] + "..."
    return text if text[-1] in ".!?" else f"{text}."


def _message_and_code(body: str) -> tuple[str, str]:
    """Return the message and code in a body: OpenAI's shape, FastAPI's, or text."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body, ""
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return str(error), ""
    message = error.get("message") or error.get("detail") or json.dumps(error)
    code = error.get("code") or error.get("type") or ""
    return str(message), str(code)


def _seconds_in(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", text) else None


def _timestamp(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None

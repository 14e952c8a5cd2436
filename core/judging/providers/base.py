"""The interface of providers: a request in, a completion or ``CallError`` out.

A provider sends exactly one request per call. It never retries, never waits for a rate limit, and
never reveals the key. ``core.judging.asking.llm_judge`` and ``core.judging.providers.failures`` do
the rest.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any, Literal, Protocol, TypedDict
from urllib.parse import quote

from pydantic_core import from_json, to_json

from core.domain.panel import Thinking
from core.domain.secrets import HOW, has_removed_secret, masked_text, with_variables_filled
from core.domain.votes import FailureKind
from core.identity import Same
from core.judging.allowance import Told
from core.judging.answer_bounds import valid_cost, valid_count, valid_name, with_text_limits
from core.judging.providers.logprobs import NumberToken
from core.records import record

# Redact secrets from stored and shown texts: the key, and values of variables in ``params``.
#
# A provider may repeat a request in another encoding, so secrets are also redacted as base64, as
# hexadecimal, and escaped for URLs and JSON.

#: Secrets to redact, longest first.
Hidden = tuple[str, ...]

#: Shorter values are not treated as keys: they are placeholders such as "none", or common words.
_SHORTEST_KEY = 6


def hidden_values(values: Iterable[str | None]) -> Hidden:
    """Return the secrets to redact: each value, also without its first word.

    >>> hidden_values(["Bearer topsecret", None, "none"])
    ('Bearer topsecret', 'topsecret')
    """
    secrets = [value.strip() for value in values if value]
    # A header's value is "Bearer KEY"; a server may repeat only the key.
    secrets += [value.split()[-1] for value in secrets if " " in value]
    long = {value for value in secrets if len(value) >= _SHORTEST_KEY}
    return tuple(sorted(long, key=lambda value: (-len(value), value)))


_hidden_values = lru_cache(maxsize=256)(hidden_values)


def redact(text: str, hidden: Hidden) -> str:
    """Return ``text`` without secrets, logins and strings that look like keys.

    >>> redact("Incorrect API key: sk-abcdef123, sent to http://me:pw@host/v1", ())
    'Incorrect API key: [key], sent to http://[login]@host/v1'
    """
    return masked_text(redact_secrets(text, hidden))


def redact_secrets(text: str, hidden: Hidden) -> str:
    """Return ``text`` without the secrets, in any encoding.

    >>> redact_secrets("I was sent topsecret, dG9wc2VjcmV0 and top%73ecret.", ("topsecret",))
    'I was sent [key], [key] and top%73ecret.'
    """
    return _secret_pattern(hidden).sub("[key]", text) if hidden else text


def has_secret(text: str, hidden: Hidden) -> bool:
    """Return whether ``text`` contains a secret."""
    return (
        bool(hidden)
        and _precheck_pattern(hidden).search(text) is not None
        and redact_secrets(text, hidden) != text
    )


@lru_cache(maxsize=256)
def _secret_pattern(hidden: Hidden) -> re.Pattern[str]:
    return re.compile("|".join(form for value in hidden for form in _secret_forms(value)))


@lru_cache(maxsize=256)
def _precheck_pattern(hidden: Hidden) -> re.Pattern[str]:
    """Return a quick pre-check for ``_secret_pattern``: its forms without their surroundings."""
    forms = [form for value in hidden for form in _secret_forms(value)]
    return re.compile("|".join(form.removeprefix(_EDGE).removesuffix(_END) for form in forms))


def _secret_forms(value: str) -> list[str]:
    data = value.encode("utf-8", "surrogatepass")
    plain = {value, quote(value, safe=""), quote(value), json.dumps(value)[1:-1]}
    plain |= {data.hex(), data.hex().upper(), "".join(f"%{byte:02X}" for byte in data)}
    plain |= {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in plain}
    forms = [re.escape(form) for form in sorted(plain, key=lambda form: (-len(form), form))]
    return forms + [_base64_pattern(data, before) for before in range(3)]


def _base64_pattern(data: bytes, before: int) -> str:
    """Return the pattern of ``data`` in base64 after this many bytes (modulo 3).

    The characters at its ends also encode neighbouring bytes, so any may match.
    """
    spelt = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
    first = (0, 2, 3)[before]
    last = len(spelt) if (before + len(data)) % 3 == 0 else len(spelt) - 1
    core = re.sub(r"[+\-]", "[+-]", re.sub(r"[/_]", "[/_]", spelt[first:last]))
    return f"{_EDGE if first else ''}{core}{_END}"


#: Characters that may stand next to a base64 value and encode part of it, too.
_EDGE = "[A-Za-z0-9+/_-]"
_END = f"(?:{_EDGE}{{0,1}}={{0,2}})?"


#: How to request the reply's format: by JSON schema, with or without limits of its texts, as any
#: JSON object, as plain text, or as probabilities of answers to typed questions.
ReplyFormat = Literal["bounded", "schema", "object", "words", "systemone"]

WITH_SCHEMA: tuple[ReplyFormat, ...] = ("bounded", "schema")

#: The next format to try if an endpoint does not support one.
_SIMPLER: dict[ReplyFormat, ReplyFormat] = {
    "bounded": "schema",
    "schema": "object",
    "object": "words",
}
#: Words in a refusal that concern a part of the schema instead of schemas in general.
_PART = re.compile(r"max.?(items|length)|keyword|feature|grammar|repetition", re.IGNORECASE)


def simpler_format(format_: ReplyFormat, refusal: str) -> ReplyFormat | None:
    """Return the format to try after a refusal, or ``None``.

    >>> simpler_format("bounded", "maxItems is not permitted")
    'schema'
    >>> simpler_format("bounded", "no response_format")
    'object'
    """
    if format_ == "bounded" and not _PART.search(refusal):
        return "object"
    return _SIMPLER.get(format_)


#: Keys of ``Judge.params`` that are refused: they are set elsewhere, or would turn a call into
#: something other than one visible request. (``extra_headers`` may be set; we set ``headers``.)
_RESERVED = """
    api_base api_key base_url cache caching callbacks default_headers fallbacks headers max_retries
    messages metadata mock_response model n num_retries response_format retry_policy stream timeout
"""
RESERVED_PARAMS = frozenset(_RESERVED.split())


@record(frozen=True, slots=True)
class Request:
    """A chat request. ``params`` go into the body unchanged; ``None`` is left out.

    ``known`` holds the values of variables in ``params``, which are filled in only when the request
    is sent. ``thinking`` is a level or a budget in tokens. ``timeout`` is in seconds for the whole
    call; a ``patient`` call has no limit while its server responds to anything. ``shared_ends`` are
    the ends of pieces shared with other calls, as (index of the message, characters into it); a
    provider may be told to cache up to them. ``logprobs`` asks for the probability of each token
    and of its alternatives.
    """

    model: str
    messages: list[dict[str, str]]
    schema: dict[str, object]
    format: ReplyFormat = "schema"
    temperature: float | None = None
    max_tokens: int | None = None
    timeout: float = 60.0
    patient: bool = False
    thinking: Thinking | int | None = None
    params: dict[str, object] = field(default_factory=dict)
    api_base: str = ""
    key: str | None = field(default=None, repr=False)
    shared_ends: tuple[tuple[int, int], ...] = ()
    known: Mapping[str, str] = field(default_factory=dict, repr=False)
    logprobs: bool = False

    @property
    def hidden(self) -> Hidden:
        """Return the secrets to redact from the response."""
        return _hidden_values((self.key, *self.known.values()))


@record(frozen=True, slots=True)
class Completion:
    """A completion. ``None`` is unknown.

    ``cost`` is in US dollars: first the provider's own figure, and once counted, the amount paid.
    ``number_tokens`` are the tokens of ``text`` that may hold an answer, with their probabilities;
    empty if the tokens do not match the text. ``told`` are the provider's remaining limits.
    """

    text: str | None
    thinking: str = ""
    model: str = ""
    finish: str = ""
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    tokens_thinking: int | None = None
    cost: float | None = None
    refusal: str = ""
    number_tokens: list[NumberToken] | None = None
    told: Told | None = None

    def __post_init__(self) -> None:
        """Validate the provider's values; those out of bounds become unknown."""
        for name, bounded in _BOUNDED:
            value = getattr(self, name)
            if (bounded_value := bounded(value)) is not value:
                object.__setattr__(self, name, bounded_value)


_BOUNDED: tuple[tuple[str, Callable[[Any], object]], ...] = (
    *(("tokens_in", valid_count), ("tokens_cached", valid_count), ("tokens_out", valid_count)),
    *(("tokens_thinking", valid_count), ("cost", valid_cost)),
    *(("model", valid_name), ("finish", valid_name)),
)


class CallError(Exception):
    """A call without a completion; ``str(error)`` is a sentence without the key.

    ``retry_after`` is in seconds, ``status`` the HTTP status, or ``None``. ``about_format``: the
    endpoint does not support its ``response_format``. ``sent``: a request went out; otherwise it
    does not count as a call and costs nothing. ``there``: the provider answered, but not with a
    completion.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        retry_after: float | None = None,
        status: int | None = None,
        about_format: bool = False,
        sent: bool = True,
        exists: bool = False,
    ) -> None:
        self.kind, self.message, self.retry_after = kind, message, retry_after
        self.there = exists
        self.status, self.about_format, self.sent = status, about_format, sent
        super().__init__(message)

    def with_message(self, message: str) -> CallError:
        """Return the same failure with another message."""
        return CallError(
            self.kind, message, retry_after=self.retry_after, status=self.status, sent=self.sent
        )


class ModelProvider(Protocol):
    """A way to reach models; serves any number of calls at once on one event loop."""

    name: str

    async def complete(self, request: Request) -> Completion:
        """Send a request. If the call fails, raises only ``CallError``."""
        ...

    async def close(self) -> None:
        """Close connections. A closed provider reopens on use."""
        ...


def response_format(request: Request) -> dict[str, object] | None:
    """Return the ``response_format`` of a request's body, or ``None``."""
    if request.format in ("words", "systemone"):
        return None
    if request.format == "object":
        return {"type": "json_object"}
    return _json_schema(Same(request.schema), request.format == "bounded")


@lru_cache(maxsize=256)
def _json_schema(same: Same, bounded: bool) -> dict[str, object]:
    limited = with_text_limits(same.thing) if bounded else same.thing
    schema = {"name": "judgement", "strict": True, "schema": limited}
    return {"type": "json_schema", "json_schema": schema}


def sent_params(request: Request) -> dict[str, Any]:
    """Return a request's parameters with the values of their variables.

    Raises ``CallError`` for reserved parameters and missing values.
    """
    if not request.params:
        return {}
    if refused := sorted(RESERVED_PARAMS & request.params.keys()):
        message = f"The judge's params may not hold {', '.join(refused)}. Remove them."
        raise CallError("bad_request", message, sent=False)
    if has_removed_secret(request.params):
        message = f"A value was removed from the judge's params: it could be a secret. {HOW}"
        raise CallError("missing_key", message, sent=False)
    try:
        filled_in: dict[str, Any] = with_variables_filled(request.params, request.known)
    except KeyError as error:
        raise CallError("missing_key", unset_message(str(error.args[0])), sent=False) from None
    return filled_in


def unset_message(variable: str) -> str:
    """Return the message for a variable without a value."""
    return f"The environment variable {variable} is not set. Put its value into it and start again."


def thinking_level(request: Request) -> str | None:
    """Return the thinking level as the protocol names it, or ``None``."""
    return "none" if request.thinking == "off" else str(request.thinking or "") or None


def split_thinking(text: str) -> tuple[str, str]:
    """Split a local model's reply into its thinking and the answer.

    >>> split_thinking("<think>Hm.</think>{}")
    ('Hm.', '{}')
    """
    head, tag, answer = text.partition("</think>")
    opened = head.lstrip()
    if not tag or not opened.startswith("<think>"):
        return "", text
    return opened.removeprefix("<think>").strip(), answer


def json_of(body: str) -> Any:
    """Parse JSON like ``json.loads``, with the same exceptions.

    pydantic's parser takes a quarter of the time but refuses more, such as lone surrogates.

    >>> json_of('{"a": ["b", 1.5]}')
    {'a': ['b', 1.5]}
    """
    try:
        return from_json(body)
    except (ValueError, TypeError):
        return json.loads(body)


def as_json(body: Mapping[str, object]) -> bytes:
    """Return a body as JSON bytes.

    pydantic's serialiser takes a quarter of the time but refuses more, such as lone surrogates.

    >>> as_json({"a": ["b", 1.5]})
    b'{"a":["b",1.5]}'
    """
    try:
        return to_json(body)
    except ValueError:
        return json.dumps(body).encode()


class Tokens(TypedDict):
    """The token counts of a ``Completion``."""

    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    tokens_thinking: int | None


def token_counts(usage: object) -> Tokens:
    """Return the counts in a ``usage`` object of the OpenAI protocol; missing counts are ``None``.

    >>> token_counts({"prompt_tokens": 9, "completion_tokens": 4})["tokens_in"]
    9
    """
    counts = usage if isinstance(usage, dict) else {}
    # No prompt is empty, so a count of 0 means unknown.
    counted = bool(_count(counts, "prompt_tokens"))
    return {
        "tokens_in": _count(counts, "prompt_tokens") or None,
        "tokens_cached": _count(counts.get("prompt_tokens_details"), "cached_tokens"),
        "tokens_out": _count(counts, "completion_tokens") if counted else None,
        "tokens_thinking": _count(counts.get("completion_tokens_details"), "reasoning_tokens"),
    }


def _count(counts: object, name: str) -> int | None:
    return valid_count(counts.get(name)) if isinstance(counts, dict) else None

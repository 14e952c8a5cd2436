"""Token probabilities from ``logprobs`` of the OpenAI protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, TypedDict

#: The protocol's maximum of alternatives per token; a judge's params may ask for fewer.
MOST_ALTERNATIVES = 20


#: Tokens that can be an answer: a number, or a decision of one word.
_TELLS = re.compile(rb"\d|\A\W*(?:yes|no|safe|unsafe|[A-Z])\W*\Z", re.IGNORECASE)


class NumberToken(TypedDict):
    """A token ``at`` a character; ``top`` are log-probabilities, also of alternatives."""

    at: int
    text: str
    top: dict[str, float]


def logprobs_parameters(wanted: bool) -> dict[str, object]:
    """Return the part of a request's body that asks for log-probabilities."""
    return {"logprobs": True, "top_logprobs": MOST_ALTERNATIVES} if wanted else {}


def number_tokens(logprobs: object, text: str | None) -> list[NumberToken] | None:
    """Return the first token of ``text``, and those that may be an answer; ``None`` if not sent.

    Tokens may cover more than the text (thinking before it, an end mark after it); if they do not
    contain the text, the list is empty. A character may be split over tokens, so they are joined as
    bytes.

    >>> said = [{"token": "a", "logprob": 0.0}, {"token": "2", "logprob": -0.5}]
    >>> number_tokens({"content": said}, "a2")
    [{'at': 0, 'text': 'a', 'top': {'a': 0.0}}, {'at': 1, 'text': '2', 'top': {'2': -0.5}}]
    """
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    tokens = [token if isinstance(token, dict) else {} for token in content]
    pieces = [_token_bytes(token) for token in tokens]
    answer, reply = (text or "").encode("utf-8", "replace"), b"".join(pieces)
    start = reply.rfind(answer)
    return list(_number_tokens_at(tokens, pieces, reply, start, len(answer))) if start >= 0 else []


def _number_tokens_at(
    tokens: list[dict[str, Any]], pieces: list[bytes], reply: bytes, start: int, length: int
) -> Iterator[NumberToken]:
    at, begun = 0, False
    for token, piece in zip(tokens, pieces, strict=True):
        start_of_token, at = at, at + len(piece)
        chance = _probability_of(token)
        if at <= start or start_of_token >= start + length or chance is None:
            continue
        first, begun = not begun and bool(piece.strip()), begun or bool(piece.strip())
        if not first and not _TELLS.search(piece):
            continue
        alternatives = token.get("top_logprobs")
        chances = (
            [_probability_of(alternative) for alternative in alternatives]
            if isinstance(alternatives, list)
            else []
        )
        # The first token may begin before the text, at a position below 0.
        before = reply[min(start, start_of_token) : max(start, start_of_token)].decode(
            "utf-8", "ignore"
        )
        yield {
            "at": len(before) if start_of_token >= start else -len(before),
            "text": chance[0],
            "top": dict(
                [chance, *(alternative for alternative in chances if alternative is not None)]
            ),
        }


def _token_bytes(token: dict[str, Any]) -> bytes:
    numbers = token.get("bytes")
    if isinstance(numbers, list) and all(isinstance(n, int) and 0 <= n < 256 for n in numbers):
        return bytes(numbers)
    text = token.get("token")
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _probability_of(token: object) -> tuple[str, float] | None:
    text = token.get("token") if isinstance(token, dict) else None
    logprob = token.get("logprob") if isinstance(token, dict) else None
    valid = isinstance(text, str) and isinstance(logprob, int | float) and isfinite(logprob)
    return (str(text), float(logprob or 0.0)) if valid else None

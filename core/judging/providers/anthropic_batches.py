"""Anthropic's message batches: requests are part of the batch, without files.

Anthropic stores no name of ours for a batch, so each request carries one. If the answer to creating
a batch was lost, the batch is recognised by its results once it has ended.
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import aclosing
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from core.domain.votes import BatchRow
from core.judging.providers.anthropic import BETA
from core.judging.providers.base import CallError, Request, sent_params
from core.judging.providers.batches import (
    CANCELLED,
    EXPIRED,
    LONG,
    BatchInterface,
    BatchState,
    count,
    id_of,
    line_without_answer,
)
from core.judging.providers.openai_provider import OpenAIProvider

#: The prefix of names of unsent requests, which exist only in this process.
_HERE = "here:"
#: The largest difference, in seconds, between a provider's clock and ours.
_CLOCKS = 3600.0
_UNKNOWN = (
    "Anthropic is processing a batch with as many requests, which may be this one. That is known "
    "when it has ended, and nothing is paid for until then."
)
#: The HTTP status of each kind of error for a single request.
_STATUS = {
    "invalid_request": 400,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class MessageBatches(BatchInterface):
    """Anthropic's batch interface. A "file" is a set of waiting requests or results."""

    _batches, _cursor = "", "after_id"

    def __init__(self, provider: OpenAIProvider, like: Request) -> None:
        super().__init__(provider, like)
        self._headers["anthropic-beta"] = BETA
        self._waiting: dict[str, bytes] = {}
        #: Pairs of a batch's token here and an id at Anthropic, where the id is known to belong to
        #: another batch.
        self._others = set[tuple[str, str]]()

    def _address(self, url: str) -> tuple[str, dict[str, str]]:
        return f"{url}/batches", {}

    def line(self, key: str, request: Request) -> bytes:
        """Return a request and its key as a line to store locally."""
        body = self._provider.prepared(request, sent_params(request)).body
        return f"{key} {json.dumps(body)}\n".encode()

    async def upload(self, name: str, data: bytes) -> str:
        """Store requests locally; return their name."""
        self._waiting[_HERE + name] = data
        return _HERE + name

    async def files(self, name: str) -> list[str]:
        """Return an empty list, since stored requests are not at the provider."""
        return []

    async def make(self, file: str, token: str) -> BatchState:
        """Send stored requests. Raises ``CallError`` if another process stored them."""
        from aiohttp import payload

        if file not in self._waiting:
            message = "These requests are no longer here, and are written anew."
            raise CallError("bad_request", message, sent=False)
        mark = _id_suffix(token).encode()
        rows = (line.partition(b" ") for line in self._waiting[file].splitlines())
        template = b'{"custom_id": "%b%b", "params": %b}'
        body = (
            b'{"requests": ['
            + b", ".join(template % (key, mark, body_text) for key, _, body_text in rows)
            + b"]}"
        )
        content = payload.BytesIOPayload(io.BytesIO(body), content_type="application/json")
        look = self._batch_state(await self._tell("POST", "", data=content, seconds=LONG))
        del self._waiting[file]
        return look

    async def find(self, row: BatchRow, known_ids: Collection[str]) -> list[BatchState]:
        """Return the batch made of a row's requests, recognised by the mark in its results.

        ``known_ids`` are batches of other rows. Raises ``CallError`` while that is unknown.
        """
        unsure, since = False, _timestamp(row.created, 0.0) - _CLOCKS
        until = (row.looked or since) + LONG + _CLOCKS
        async for data in self._listed():
            if (created := _timestamp(data.get("created_at"), since)) < since:
                break
            look = self._batch_state(data)
            pair, may_be = (
                (row.token, look.id),
                _request_count(data) == row.lines and created <= until,
            )
            if not may_be or look.id in known_ids or pair in self._others:
                continue
            if not look.ended:
                unsure = True
            elif look.answers and await self._has_mark(look.answers, _id_suffix(row.token)):
                return [look]
            else:
                self._others.add(pair)
        if unsure:
            raise CallError("server", _UNKNOWN)
        return []

    async def remove(self, file: str) -> None:
        """Delete stored requests, or an ended batch at the provider."""
        if file.startswith(_HERE):
            self._waiting.pop(file, None)
        else:
            await self._tell("DELETE", f"/{file}")

    async def lines(self, file: str) -> AsyncIterator[tuple[str, str]]:
        """Yield a batch's answers in OpenAI's format, each with its request id."""
        async for name, line in self._answers(file):
            key = name.rpartition("-")[0]
            yield key, _openai_line(key, json.loads(line).get("result"))

    def _batch_state(self, data: Mapping[str, Any]) -> BatchState:
        counts, status = data.get("request_counts"), str(data.get("processing_status") or "")
        counts = counts if isinstance(counts, dict) else {}
        if status == "ended":
            status = "cancelled" if data.get("cancel_initiated_at") else "completed"
        failed = sum(count(counts, name) for name in ("errored", "expired", "canceled"))
        answers = id_of(data) if data.get("results_url") else ""
        return BatchState(id_of(data), status, count(counts, "succeeded"), failed, answers)

    async def _answers(self, batch: str) -> AsyncGenerator[tuple[str, str], None]:
        batch_data = await self._tell("GET", f"/{batch}")
        address = str(batch_data.get("results_url"))
        # Send the key to this provider only, whatever address the answer gives.
        same_server = urlsplit(address)[:2] == urlsplit(self._base)[:2]
        path = address if same_server else f"/{batch}/results"
        async with self._sent("GET", path, seconds=LONG) as response:
            async for line in self._read(response):
                yield line

    async def _has_mark(self, batch: str, mark: str) -> bool:
        """Return whether the requests of a batch have this mark."""
        async with aclosing(self._answers(batch)) as answers:
            async for name, _ in answers:
                if name.endswith(mark):
                    return True
        return False


def _id_suffix(token: str) -> str:
    """Return the suffix of a batch's request ids; with a key, ids have 57 of 64 characters."""
    return f"-{token[-16:]}"


def _request_count(data: Mapping[str, Any]) -> int:
    counts = data.get("request_counts")
    return sum(count(counts, name) for name in counts) if isinstance(counts, dict) else 0


def _timestamp(text: object, otherwise: float) -> float:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        return otherwise


def _openai_line(key: str, result: object) -> str:
    """Return a result in OpenAI's format, so that all answers are stored alike."""
    answer = result if isinstance(result, dict) else {}
    kind = answer.get("type")
    if kind in ("expired", "canceled"):
        return line_without_answer(key, EXPIRED if kind == "expired" else CANCELLED, "")
    status, body = 200, answer.get("message")
    if kind != "succeeded":
        body = answer.get("error") or {"error": {"message": "The request has no result."}}
        error = body.get("error", body) if isinstance(body, dict) else {}
        status = _STATUS.get(str(error.get("type")) if isinstance(error, dict) else "", 500)
    return json.dumps({"custom_id": key, "response": {"status_code": status, "body": body}})

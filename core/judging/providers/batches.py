"""The batch interface of the OpenAI protocol: files of requests and answers.

A file is uploaded to ``/files`` and becomes a batch at ``/batches``, which finishes within its
window, at half the price. The answers are lines of two more files, by our id of each request.
Requests without an answer at the end of the window, or after a cancellation, get a line with the
reason. ``batch_doors`` has the differences of other providers.
"""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from core.domain.votes import BatchRow
from core.judging.providers.base import CallError, Completion, Request, redact_secrets, sent_params
from core.judging.providers.bounded import MOST_BYTES, whole_answer
from core.judging.providers.failures import brief_message, error_from_status
from core.judging.providers.openai_provider import OpenAIProvider, TranslatedErrors

if TYPE_CHECKING:
    import aiohttp

#: The price of a batched request relative to a direct one, at all providers whose batches are
#: supported here.
SHARE_OF_PRICE = 0.5
#: Our limits for a file, in lines and bytes. Providers accept 50,000 requests and 200 MB; the file
#: is built in memory.
MOST_LINES, MOST_OF_FILE = 50_000, 40_000_000
#: The time within which a batch finishes.
WINDOW = "24h"
#: The provider's states of a batch that has ended.
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
#: Other providers' words for OpenAI's states.
_WORDS = {
    "success": "completed",
    "timeout_exceeded": "expired",
    "cancellation_requested": "cancelling",
}
#: The batch was refused because too many are waiting; it may be accepted later.
TOO_MUCH = "token_limit_exceeded"
#: The provider's reasons for a line without an answer.
EXPIRED, CANCELLED = "batch_expired", "batch_cancelled"

_PIECE = 64 * 1024
#: Timeouts in seconds: for a short exchange, for a whole file, and for a stalled transfer.
_SHORT, LONG, _STILL = 60.0, 3600.0, 300.0
#: The ``metadata`` key that holds our name of a batch.
MARK = "rubric_studio"
#: The most pages, of a hundred batches each, to search for our batch.
MOST_PAGES = 50


class BatchState(NamedTuple):
    """The state of a batch at its provider.

    ``answers`` and ``errors`` are ids of files, or empty. ``code`` and ``message`` say why the
    whole batch was refused.
    """

    id: str
    status: str
    done: int = 0
    failed: int = 0
    answers: str = ""
    errors: str = ""
    code: str = ""
    message: str = ""

    @property
    def ended(self) -> bool:
        """Return whether the batch has ended."""
        return self.status in ENDED


class BatchInterface:
    """A provider's batch interface; all methods raise ``CallError``. ``like`` is any request of the
    run, from which it takes address and key.

    It uses the connections of ``provider``, which also reads the answers.
    """

    #: The path of batches, their endpoint, and the purpose of a file of requests.
    _batches, _endpoint, _type = "/batches", "/v1/chat/completions", "application/jsonl"
    #: The parameter for the next page of a list.
    _cursor = "after"

    def __init__(self, provider: OpenAIProvider, like: Request) -> None:
        prepared = provider.prepared(like, sent_params(like))
        self._provider, self._hidden, self._proxy = provider, like.hidden, prepared.proxy
        self._base, self._query = self._address(prepared.url)
        dropped = ("content-type", "accept-encoding")
        self._headers = {k: v for k, v in prepared.headers.items() if k.lower() not in dropped}
        self._headers["Accept-Encoding"] = "identity"

    def _address(self, url: str) -> tuple[str, dict[str, str]]:
        """Return the address of files and batches, and the query, from a chat address."""
        return url.partition("/chat/completions")[0], {}

    def line(self, key: str, request: Request) -> bytes:
        """Return a request as a line of a file."""
        body = self._provider.prepared(request, sent_params(request)).body
        line = {"custom_id": key, "method": "POST", "url": self._endpoint, "body": body}
        return json.dumps(line).encode() + b"\n"

    def read(self, request: Request, line: str) -> Completion:
        """Return the completion in an answer line. Raises ``CallError``."""
        data = json.loads(line)
        response = data.get("response")
        if isinstance(response, dict) and (status := _status_of(response.get("status_code"))):
            body = response.get("body")
            text = body if isinstance(body, str) else json.dumps(body)
            return self._provider.read(request, status, {}, text)
        raise _unanswered_error(*_line_error(data), request)

    async def upload(self, name: str, data: bytes) -> str:
        """Upload a file of requests; return its id."""
        import aiohttp

        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field("file", io.BytesIO(data), filename=name, content_type=self._type)
        return id_of(await self._tell("POST", "/files", data=form, seconds=LONG))

    async def make(self, file: str, token: str) -> BatchState:
        """Start a batch. Only this call costs money; ``find`` finds the batch by both names."""
        body = {
            "input_file_id": file,
            "endpoint": self._endpoint,
            "completion_window": WINDOW,
            "metadata": {MARK: token},
        }
        return self._batch_state(await self._tell("POST", self._batches, json=body))

    async def find(self, row: BatchRow, known_ids: Collection[str]) -> list[BatchState]:
        """Return the batches made of a file, oldest first, possibly none yet.

        ``known_ids`` are batches of other rows. Raises ``CallError`` while that is unknown.
        """
        states = list[BatchState]()
        async for data in self._listed():
            metadata = data.get("metadata")
            is_ours = isinstance(metadata, dict) and metadata.get(MARK) == row.token
            of_file = row.file == data.get("input_file_id") or [row.file] == data.get("input_files")
            if (is_ours or of_file) and str(data.get("id")) not in known_ids:
                states.append(self._batch_state(data))
        return states[::-1]

    async def _listed(self) -> AsyncIterator[dict[str, Any]]:
        """Yield the provider's batches, newest first."""
        async for row in self._rows(self._batches, limit="100"):
            yield row

    async def _rows(self, path: str, **params: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the rows of a list, page by page."""
        after = dict[str, str]()
        for _ in range(MOST_PAGES):
            page = await self._tell("GET", path, params={**params, **after})
            rows = rows_of(page)
            for row in rows:
                yield row
            if not page.get("has_more") or not rows:
                return
            after = {self._cursor: str(rows[-1].get("id") or "")}

    async def look(self, batch: str) -> BatchState:
        """Return the state of a batch."""
        return self._batch_state(await self._tell("GET", f"{self._batches}/{batch}"))

    async def cancel(self, batch: str) -> BatchState:
        """Request the cancellation of a batch; answers up to then stay available."""
        return self._batch_state(await self._tell("POST", f"{self._batches}/{batch}/cancel"))

    async def files(self, name: str) -> list[str]:
        """Return the ids of the files with this name. Raises ``CallError``."""
        rows = self._rows("/files", purpose="batch")
        return [str(row.get("id") or "") async for row in rows if row.get("filename") == name]

    async def remove(self, file: str) -> None:
        """Delete a file at the provider."""
        await self._tell("DELETE", f"/files/{file}")

    async def lines(self, file: str) -> AsyncIterator[tuple[str, str]]:
        """Yield the lines of an answer file, redacted, with their request ids."""
        async with self._sent("GET", f"/files/{file}/content", seconds=LONG) as response:
            async for answer in self._read(response):
                yield answer

    async def _read(self, response: aiohttp.ClientResponse) -> AsyncIterator[tuple[str, str]]:
        """Yield readable lines; a line without an end is skipped."""
        if response.status != 200:
            status, headers, body = await whole_answer(response)
            raise error_from_status(status, body, headers=headers, hidden=self._hidden)
        partial, endless = b"", False
        async for piece in response.content.iter_chunked(_PIECE):
            *lines, partial = (partial + piece).split(b"\n")
            for line in lines:
                if not endless and (answer := self._parse_line(line)):
                    yield answer
                endless = False
            if len(partial) > MOST_BYTES:
                partial, endless = b"", True
        if not endless and (answer := self._parse_line(partial)):
            yield answer

    def _batch_state(self, data: Mapping[str, Any]) -> BatchState:
        status, counts = str(data.get("status") or "").lower(), data.get("request_counts")
        errors = data.get("errors")
        if not isinstance(counts, dict):
            counts = {
                "completed": data.get("succeeded_requests"),
                "failed": data.get("failed_requests"),
            }
        listed = errors.get("data") if isinstance(errors, dict) else errors
        first = (listed[0] if listed else None) if isinstance(listed, list) else listed
        first = first if isinstance(first, dict) else {"message": first}
        return BatchState(
            id_of(data),
            _WORDS.get(status, status),
            count(counts, "completed"),
            count(counts, "failed"),
            str(data.get("output_file_id") or data.get("output_file") or ""),
            str(data.get("error_file_id") or data.get("error_file") or ""),
            str(first.get("code") or ""),
            str(first.get("message") or ""),
        )

    def _parse_line(self, line: bytes) -> tuple[str, str] | None:
        text = redact_secrets(line.decode("utf-8", "replace").strip(), self._hidden)
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return None
        return (str(data.get("custom_id") or ""), text) if isinstance(data, dict) else None

    async def _tell(
        self, method: str, path: str, *, seconds: float = _SHORT, **content: Any
    ) -> dict[str, Any]:
        async with self._sent(method, path, seconds=seconds, **content) as response:
            status, headers, body = await whole_answer(response)
        if status == 204:
            return {}
        if status not in (200, 201):
            raise error_from_status(status, body, headers=headers, hidden=self._hidden)
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            message = brief_message(body, self._hidden)
            raise CallError("server", f"The address answered, but not as batches do: {message}")
        return data

    @asynccontextmanager
    async def _sent(
        self,
        method: str,
        path: str,
        *,
        seconds: float,
        params: Mapping[str, str] | None = None,
        **content: Any,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp

        url = path if path.startswith("http") else f"{self._base}{path}"
        with TranslatedErrors(seconds, self._hidden):
            async with self._provider.session().request(
                method,
                url,
                params={**self._query, **(params or {})},
                headers=self._headers,
                proxy=self._proxy,
                ssl=self._provider.trusted(url),
                timeout=aiohttp.ClientTimeout(total=seconds, sock_read=min(seconds, _STILL)),
                allow_redirects=False,
                **content,
            ) as response:
                yield response


def line_without_answer(key: str, code: str, message: str) -> str:
    """Return a line that says why a request has no answer, in a provider's format."""
    return json.dumps(
        {"custom_id": key, "response": None, "error": {"code": code, "message": message}}
    )


def was_cancelled(line: str) -> bool:
    """Return whether a line only says that its batch was cancelled before an answer."""
    return CANCELLED in line and _line_error(json.loads(line))[0] == CANCELLED


def rows_of(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows in a page of a list."""
    rows = page.get("data")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def count(counts: Mapping[str, Any], name: str) -> int:
    """Return a provider's count as an int, or 0 if invalid."""
    value = counts.get(name)
    return value if isinstance(value, int) else 0


def id_of(data: Mapping[str, Any]) -> str:
    """Return the provider's id of an object. Raises ``CallError`` without one."""
    if not isinstance(data.get("id"), str) or not data["id"]:
        raise CallError("server", "The address answered, but not as a batch interface does.")
    return str(data["id"])


def _status_of(text: object) -> int:
    try:
        return int(text)  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError, ArithmeticError):
        return 0


def _line_error(data: Mapping[str, Any]) -> tuple[str, str]:
    """Return the code and the message of a line's error."""
    error = data.get("error")
    details = error if isinstance(error, dict) else {"message": error}
    return str(details.get("code") or ""), str(details.get("message") or "")


def _unanswered_error(code: str, message: str, request: Request) -> CallError:
    if code in (EXPIRED, CANCELLED):
        default_message = "The provider did not answer this question before its batch ended."
        reason = brief_message(message, request.hidden) if message else default_message
        return CallError("expired", reason, sent=False)
    text = json.dumps({"error": {"message": message or code, "code": code}})
    return error_from_status(400 if code else 500, text, hidden=request.hidden)

"""A provider on loopback that answers chat requests as a test tells it to, and counts them.

    with Provider() as provider:
        provider.say(status(429, headers={"Retry-After": "1"}), ok(2))
        ...                        # two requests: the first is refused, the second answered
        assert provider.count == 2

Scripted answers are used up in order; after them, or without any, ``provider.rule`` answers (by
default: option 1). It runs in a thread of its own, so tests may use any event loop.
``provider.batches`` and ``provider.message_batches`` are batch interfaces; the same rule answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.provider_batches import ProviderBatches
from tests.provider_message_batches import ProviderMessageBatches

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 50,
    "total_tokens": 1050,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 20},
}


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    ``stall`` seconds pass first; ``reset`` drops the connection; ``trickle`` sends a space every so
    many seconds, and never ends; ``flood`` sends 64 KB of them every so many seconds.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    stall: float = 0.0
    reset: bool = False
    trickle: float = 0.0
    flood: float | None = None


@dataclass(frozen=True)
class Recorded:
    """One request as it came over the wire. Header names are in lower case."""

    body: dict[str, Any]
    headers: dict[str, str]
    path: str


def said(
    content: str | None,
    *,
    finish: str = "stop",
    usage: object = USAGE,
    logprobs: object = None,
    **message: object,
) -> Answer:
    """A completion with this content; further keys go into the message."""
    completion = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-model-v1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish,
                "logprobs": logprobs,
            }
        ],
        "usage": usage,
    }
    return Answer(body=json.dumps(completion).encode())


def ok(option: object = 1, *, reason: str = "It fits.", **message: object) -> Answer:
    """A well-formed reply that chooses the shown ``option``."""
    reply = {"evidence": ["a quote"], "reason": reason, "option": option}
    return said(json.dumps(reply), **message)  # type: ignore[arg-type]


def message(*content: dict[str, Any], end: str = "end_turn", **more: Any) -> Answer:
    """An answer in Anthropic's protocol, with 100 new tokens, 50 kept from now on and 600 kept."""
    usage = {
        "input_tokens": 100,
        "cache_creation_input_tokens": 50,
        "cache_read_input_tokens": 600,
        "output_tokens": 40,
    }
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "stop_reason": end,
        "stop_sequence": None,
        "usage": usage,
    }
    return Answer(body=json.dumps({**body, **more}).encode())


def token(text: str, **chances: float) -> dict[str, Any]:
    """A token of ``logprobs.content``, with its chance and those of others in its place.

    Names begin with an underscore, so that numbers can be names: ``token("2", _1=0.2, _2=0.8)``.
    """
    top = [entry(name.removeprefix("_"), chance) for name, chance in chances.items()]
    own = next((one for one in top if one["token"] == text), entry(text, 1.0))
    return {**own, "top_logprobs": top}


def entry(text: str, chance: float) -> dict[str, Any]:
    """One token and the logarithm of its chance; one that is hardly possible is -9999."""
    logprob = math.log(chance) if chance else -9999.0
    return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


def sure(option: int, *, reason: str = "It fits 2.", **chances: float) -> Answer:
    """A well-formed reply with ``logprobs``: ``sure(2, _1=0.2, _2=0.7)``."""
    head = json.dumps({"evidence": ["a \u201cquote\u201d"], "reason": reason}, ensure_ascii=False)
    # Tokens as models have them: pieces of words, single figures, marks with a space.
    pieces = re.findall(r"\s?[A-Za-z]+|\d|\s?[^\sA-Za-z0-9]+|\s", head[:-1] + ', "option":')
    tokens = [token(piece) for piece in [*pieces, " "]]
    tokens += [token(str(option), **chances), token("}")]
    text = "".join(one["token"] for one in tokens)
    return said(text, logprobs={"content": tokens})


def status(
    code: int,
    message: str = "scripted error",
    *,
    error_code: str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """An error in the OpenAI shape."""
    error = {"message": message, "type": "scripted", "param": None, "code": error_code}
    return Answer(code, json.dumps({"error": error}).encode(), headers or {})


def plain(body: object, code: int = 200) -> Answer:
    """Any JSON at all."""
    return Answer(code, json.dumps(body).encode())


def html(code: int = 200) -> Answer:
    """A web page, as a gateway or a captive portal sends it."""
    page = b"<!DOCTYPE html><html><body><h1>Gateway</h1></body></html>"
    return Answer(code, page, content_type="text/html")


def malformed() -> Answer:
    return said("I choose the second option.")


def truncated() -> Answer:
    return said('{"evidence": ["a quote"], "reas', finish="length")


def null() -> Answer:
    return said(None)


def refusal(words: str = "I cannot help with that.") -> Answer:
    return said(None, refusal=words)


def filtered() -> Answer:
    return said("", finish="content_filter")


def stall(seconds: float = 30.0) -> Answer:
    return Answer(body=b"{}", stall=seconds)


def trickle(every: float = 0.05) -> Answer:
    return Answer(trickle=every)


def flood(code: int = 200) -> Answer:
    """A body that never ends, as fast as it is read."""
    return Answer(code, flood=0.0)


def packed(body: bytes, encoding: str = "gzip", code: int = 200) -> Answer:
    """A body that is packed already."""
    return Answer(code, body, {"Content-Encoding": encoding})


def reset() -> Answer:
    return Answer(reset=True)


async def end_listening(server: asyncio.Server) -> None:
    """Close the server after whoever was just let in has a place.

    asyncio makes that place a turn later, and by then a closed server knows nobody: the connection
    would stay open until some later test finds it.
    """
    for listening in server.sockets:
        asyncio.get_running_loop().remove_reader(listening)
    await asyncio.sleep(0)
    server.close()


class Provider:
    """The server. ``url`` is its API base; ``requests`` is what came over the wire."""

    def __init__(self) -> None:
        self.rule: Callable[[dict[str, Any]], Answer] = lambda body: ok()
        self.requests: list[Recorded] = []
        self.in_flight = self.peak_in_flight = self.poured = 0
        #: How often it was asked whether it is there; ``mute``: it does not say.
        self.beats, self.mute = 0, False
        self._script: deque[Answer] = deque()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None
        self._stopping = asyncio.Event()
        self.url = ""
        #: What it knows of files and batches.
        self.batches = ProviderBatches(lambda body: self.rule(body))
        self.message_batches = ProviderMessageBatches(lambda body: self.rule(body))

    @property
    def count(self) -> int:
        """Requests seen so far."""
        return len(self.requests)

    def say(self, *answers: Answer) -> None:
        """Add answers to the script."""
        self._script.extend(answers)

    def hang_up(self) -> None:
        """From now on nobody answers at this address."""

        self._loop.call_soon_threadsafe(self._loop.create_task, self._close_the_door())

    def __enter__(self) -> Provider:
        self._thread.start()
        self._in_loop(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._in_loop(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _in_loop(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * 1024**2)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/systemone", self._chat)
        app.router.add_post("/v1/messages", self._chat)
        app.router.add_post("/v1/openai/deployments/{name}/chat/completions", self._chat)
        self.batches.add_routes(app.router)
        self.message_batches.add_routes(app.router)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def _close_the_door(self) -> None:
        if self._runner is not None:
            for site in self._runner.sites:
                await end_listening(site._server)  # type: ignore[attr-defined]

    async def _stop(self) -> None:
        self._stopping.set()
        await self._close_the_door()
        if self._runner is not None:
            await self._runner.cleanup()
        # A connection that came in this moment, or that still has something to write, is not closed
        # by that; its socket would be found unclosed in the middle of some later test.
        for _ in range(3):
            rest = asyncio.all_tasks() - {asyncio.current_task()}
            if rest:
                await asyncio.wait(rest, timeout=1)
            for transport in list(self._loop._transports.values()):  # type: ignore[attr-defined]
                # One that is gone stays in this list for as long as anything holds it.
                if transport.get_protocol() is not None:
                    transport.abort()
            await asyncio.sleep(0.01)

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(Recorded(body, headers, request.path))
        answer = self._script.popleft() if self._script else self.rule(body)
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            return await self._give(answer, request)
        finally:
            self.in_flight -= 1

    async def _models(self, request: web.Request) -> web.Response:
        self.beats += 1
        if self.mute:
            await self._stopping.wait()
        return web.json_response({"object": "list", "data": [{"id": "scripted-model-v1"}]})

    async def _give(self, answer: Answer, request: web.Request) -> web.StreamResponse:
        if answer.stall:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), answer.stall)
        if answer.trickle:
            return await self._pour(b" ", answer.trickle, request)
        if answer.flood is not None:
            return await self._pour(b" " * 65536, answer.flood, request, answer.status)
        if answer.reset and request.transport is not None:
            request.transport.abort()
        return web.Response(
            status=answer.status,
            body=answer.body,
            headers=answer.headers,
            content_type=answer.content_type,
        )

    async def _pour(
        self, piece: bytes, every: float, request: web.Request, code: int = 200
    ) -> web.StreamResponse:
        response = web.StreamResponse(status=code, headers={"Content-Type": "application/json"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            while not self._stopping.is_set():
                await response.write(piece)
                self.poured += len(piece)
                await asyncio.sleep(every)
        return response

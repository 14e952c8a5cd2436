"""A POST put together here and sent over aiohttp's connections, beside its own session's."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.votes import Segment
from core.judging.prompts.layouts import messages, pieces, shared_ends
from core.judging.prompts.reply_parsing import reply_schema
from core.judging.providers import straight
from core.judging.providers.base import CallError, Request, sent_params
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.providers.plain import PlainProvider
from tests.judging.wire import opened
from tests.provider import end_listening, said

BODY = said("hello").body
LONG = f"content-length: {len(BODY)}\r\n".encode()
CHUNKS = b"%x;ext=1\r\n%s\r\n%x\r\n%s\r\n0\r\nx-trailer: 1\r\n\r\n" % (
    9, BODY[:9], len(BODY) - 9, BODY[9:],
)  # fmt: skip
#: Answers as servers may write them, and whether the connection can be used again.
ANSWERS = {
    "with its length": (b"HTTP/1.1 200 OK\r\n" + LONG + b"\r\n" + BODY, True),
    "in chunks": (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + CHUNKS, True),
    "after an early hint": (
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\n" + LONG + b"\r\n" + BODY,
        True,
    ),
    "said to be the last": (
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n" + LONG + b"\r\n" + BODY, False,
    ),
    "until the end": (b"HTTP/1.1 200 OK\r\n\r\n" + BODY, False),
    "by HTTP/1.0": (b"HTTP/1.0 200 OK\r\n" + LONG + b"\r\n" + BODY, False),
}  # fmt: skip
SEGMENTS = (
    Segment("system", "Sé\u2028"),
    Segment("user", 'a "quote"'),
    Segment("user", "b\ud800😀"),
)


#: What a server does with one connection.
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Raw:
    """A server that keeps the bytes that it gets, and gives the bytes that it was told."""

    def __init__(self, answer: bytes, last: bool) -> None:
        self.answer, self.last = answer, last
        self.got, self.connections = list[bytes](), 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            (length,) = (
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            self.got.append(head + await reader.readexactly(length))
            writer.write(self.answer)
            await writer.drain()
            if self.last:
                break


@asynccontextmanager
async def listening(serve: Serve, **more: Any) -> AsyncIterator[str]:
    """The address of a server that has closed each of its connections when this ends."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    before = asyncio.all_tasks()
    async with await asyncio.start_server(served, "127.0.0.1", 0, **more) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        await end_listening(server)
    if left := asyncio.all_tasks() - before:
        await asyncio.wait(left, timeout=5)


@asynccontextmanager
async def raw(answer: bytes, last: bool = False) -> AsyncIterator[Raw]:
    server = Raw(answer, last)
    async with listening(server.serve) as server.url:
        yield server


def asked(url: str, **more: Any) -> Request:
    fields: dict[str, Any] = {
        "model": "openai/scripted", "messages": messages(SEGMENTS), "pieces": pieces(SEGMENTS),
        "schema": reply_schema(3), "api_base": url, "key": "sk-of-a-test-0123", "timeout": 5.0,
        "params": {"seed": 5, "extra_headers": {"X-Team": "ours"}}, "temperature": 0.5,
    }  # fmt: skip
    return Request(**{**fields, **more})


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_read_however_they_are_written_and_connections_used_again(
    name: str, runner: asyncio.Runner
) -> None:
    answer, again = ANSWERS[name]

    async def go() -> tuple[list[str | None], int]:
        async with raw(answer, not again) as server, opened("openai") as door:
            texts = [(await door.complete(asked(server.url))).text for _ in range(3)]
            return texts, server.connections

    assert runner.run(go()) == (["hello"] * 3, 1 if again else 3)


def test_the_bytes_sent_are_those_of_aiohttps_own_session(
    runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sent() -> list[bytes]:
        async with raw(ANSWERS["with its length"][0]) as server, opened("openai") as door:
            for more in ({}, {"format": "object"}, {"format": "words", "max_tokens": 9}, {}):
                await door.complete(asked(server.url, **more))
            return [one.replace(server.url[16:-3].encode(), b":port") for one in server.got]

    ours = runner.run(sent())
    # Of another version than those known everything is left to the session.
    monkeypatch.setattr(straight, "_KNOWN", ("1.",))
    assert runner.run(sent()) == ours
    assert b"X-Team: ours" in ours[0]
    assert ours[0] == ours[3]


def test_a_server_that_speaks_no_http_is_a_lost_connection(runner: asyncio.Runner) -> None:
    async def go() -> str:
        async with raw(b"SSH-2.0-OpenSSH_9.6\r\n", True) as server, opened("openai") as door:
            with pytest.raises(CallError) as refused:
                await door.complete(asked(server.url))
            return refused.value.kind

    assert runner.run(go()) == "connection"


_ROLES = st.sampled_from(("system", "user", "assistant"))


@pytest.mark.parametrize("model", ["openai/scripted", "anthropic/claude-haiku-4-5"])
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(_ROLES, st.text(max_size=9), st.booleans()), max_size=6))
def test_a_body_from_its_frame_is_the_body_that_json_would_write(
    model: str, said: list[tuple[str, str, bool]]
) -> None:
    segments = [Segment(*one) for one in said]
    request = asked(
        "http://x/v1", model=model, messages=messages(segments), pieces=pieces(segments),
        shared_ends=shared_ends(segments),
    )  # fmt: skip
    door = PlainProvider({}) if model.startswith("anthropic") else OpenAIProvider()
    prepared = door.prepared(request, sent_params(request))
    frame = straight.BodyFrame.of(prepared.body)
    assert frame is not None
    assert frame.around(prepared.said(request)) == json.dumps(prepared.body).encode()


def test_a_setting_that_says_something_itself_is_sent_as_it_is(runner: asyncio.Runner) -> None:
    own = {"system": "Ours.", "messages": [{"role": "user", "content": "Other."}]}

    async def go() -> list[Any]:
        async with raw(ANSWERS["with its length"][0]) as server, opened("openai") as door:
            for _ in range(2):
                await door.complete(asked(server.url, params={"extra_body": own}))
            return [json.loads(one.partition(b"\r\n\r\n")[2]) for one in server.got]

    for body in runner.run(go()):
        assert body["system"] == "Ours."
        assert body["messages"] == own["messages"]


def test_a_setting_that_looks_like_the_messages_place_makes_no_frame() -> None:
    body = {"messages": [], "metadata_of_ours": {"messages": []}}
    assert straight.BodyFrame.of(body) is None


def test_a_connection_with_unsent_bytes_is_not_used_again(runner: asyncio.Runner) -> None:
    # A server that refuses by the head alone leaves the rest of a long body unsent.
    refusal = b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}"

    async def go() -> int:
        connections = list[asyncio.StreamWriter]()
        over = asyncio.Event()

        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connections.append(writer)
            await reader.readuntil(b"\r\n\r\n")
            writer.write(refusal)
            await over.wait()

        text = "x" * 30_000_000
        segments = (Segment("user", text),)
        async with listening(refuse, limit=2**16) as url:
            async with opened("openai") as door:
                for _ in range(2):
                    more = {"messages": messages(segments), "pieces": pieces(segments)}
                    with pytest.raises(CallError, match="413"):
                        await door.complete(asked(url, **more))
            over.set()
        return len(connections)

    assert runner.run(go()) == 2


def test_a_connection_on_which_a_server_said_more_is_not_used_again(
    runner: asyncio.Runner,
) -> None:
    # Proxies say so before they close a connection that was idle; it answers no later request.
    late = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"

    async def go() -> tuple[list[str | None], int]:
        answer = ANSWERS["with its length"][0] + late
        async with raw(answer) as server, opened("openai") as door:
            texts = [(await door.complete(asked(server.url))).text for _ in range(3)]
            return texts, server.connections

    assert runner.run(go()) == (["hello"] * 3, 3)


def test_a_connection_that_nobody_uses_is_closed_after_a_while(
    runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(straight, "_KEPT_OPEN", 0.02)

    async def go() -> bytes:
        end = asyncio.get_running_loop().create_future()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(ANSWERS["with its length"][0])
            while more := await reader.read(1000):
                assert b"hello" not in more
            end.set_result(more)

        async with listening(answer) as url, opened("openai") as door:
            assert (await door.complete(asked(url))).text == "hello"
            said: bytes = await asyncio.wait_for(end, 5)
            return said

    assert runner.run(go()) == b""


def test_what_takes_too_long_is_cut_off_and_what_others_cancel_is_not_taken_for_it(
    runner: asyncio.Runner,
) -> None:
    async def go() -> list[type[BaseException] | str]:
        patience = straight.Patience(0.02)

        async def wait(seconds: float) -> str:
            with straight.Spell(patience):
                await asyncio.sleep(seconds)
            return "in time"

        tasks = [asyncio.create_task(wait(seconds)) for seconds in (9, 0, 9, 9)]
        await asyncio.sleep(0)
        tasks[2].cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        # Its timer went with the last of them; the next one has one again.
        ended += await asyncio.gather(wait(9), return_exceptions=True)
        assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]
        return [one if isinstance(one, str) else type(one) for one in ended]

    late, cancelled = TimeoutError, asyncio.CancelledError
    assert runner.run(go()) == [late, "in time", cancelled, late, late]

"""Answers as servers write them, and which connections are used again."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from core.domain.votes import Segment
from core.judging.prompts.layouts import chat_messages
from core.judging.prompts.reply_parsing import reply_schema
from core.judging.providers.base import CallError, Request
from core.judging.providers.connections import Answers
from core.judging.providers.openai_provider import TWICE
from tests.judging.wire import opened
from tests.provider import end_listening, said

BODY = said("hello").body
LONG = f"content-length: {len(BODY)}\r\n".encode()
CHUNKS = b"%x;ext=1\r\n%s\r\n%x\r\n%s\r\n0\r\nx-trailer: 1\r\n\r\n" % (
    40, BODY[:40], len(BODY) - 40, BODY[40:],
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
SEGMENTS = (Segment("system", "S"), Segment("user", "b\ud800😀"))


#: What a server does with one connection.
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Raw:
    """A server that keeps the bytes that it gets, and gives the bytes that it was told."""

    def __init__(self, answer: bytes, last: bool) -> None:
        self.answer, self.last = answer, last
        self.got, self.connections = list[bytes](), 0
        self.url, self.refused = "", b""

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
            if self.refused and length > 2**20:
                writer.write(self.refused)
                return
            self.got.append(head + await reader.readexactly(length))
            writer.write(self.answer.replace(b"chatcmpl-1", b"chatcmpl-%d" % len(self.got)))
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
        "model": "openai/scripted", "messages": chat_messages(SEGMENTS),
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
            texts = [(await door.complete(asked(server.url))).text for _ in range(4)]
            return texts, server.connections

    # The second answer shows that each has an id of its own.
    assert runner.run(go()) == (["hello"] * 4, 2 if again else 4)


def test_a_server_that_speaks_no_http_is_a_lost_connection(runner: asyncio.Runner) -> None:
    async def go() -> str:
        async with raw(b"SSH-2.0-OpenSSH_9.6\r\n", True) as server, opened("openai") as door:
            with pytest.raises(CallError) as refused:
                await door.complete(asked(server.url))
            return refused.value.kind

    assert runner.run(go()) == "connection"


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


def test_a_connection_with_unsent_bytes_is_not_used_again(runner: asyncio.Runner) -> None:
    # A server that refuses by the head alone leaves the rest of a long body unsent.
    refusal = b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\n{}"

    async def go() -> int:
        server = Raw(ANSWERS["with its length"][0], False)
        over = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if server.connections < 2:
                server.refused = refusal
                await server.serve(reader, writer)
            else:
                server.connections += 1
                await reader.readuntil(b"\r\n\r\n")
                writer.write(refusal)
            await over.wait()

        large = chat_messages((Segment("user", "x" * 30_000_000),))
        async with listening(serve, limit=2**16) as url:
            async with opened("openai") as door:
                for _ in range(2):
                    await door.complete(asked(url))
                for _ in range(2):
                    with pytest.raises(CallError, match="413"):
                        await door.complete(asked(url, messages=large))
            over.set()
        return server.connections

    # Two were answered, of which the second is used again; what is unsent on it ends that.
    assert runner.run(go()) == 3


def test_a_connection_on_which_a_server_said_more_is_not_used_again(
    runner: asyncio.Runner,
) -> None:
    # Proxies say so before they close a connection that was idle; it answers no later request.
    late = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n"

    async def go() -> tuple[list[str | None], int]:
        answer = ANSWERS["with its length"][0] + late
        async with raw(answer) as server, opened("openai") as door:
            texts = [(await door.complete(asked(server.url))).text for _ in range(4)]
            return texts, server.connections

    assert runner.run(go()) == (["hello"] * 4, 4)


class Twice:
    """A gateway that writes each answer twice, the second time so many seconds later.

    Answers have an id each, all the same, or none (``-``).
    """

    def __init__(self, later: float, name: str) -> None:
        self.later, self.name, self.connections = later, name, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        second: asyncio.Future[None] | None = None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                (length,) = re.findall(rb"content-length: (\d+)", head.lower())
                body = json.loads(await reader.readexactly(int(length)))
                question = body["messages"][-1]["content"]
                await asyncio.sleep(0.02)
                told = {**json.loads(said(question).body), "id": self.name or question}
                if self.name == "-":
                    del told["id"]
                data = json.dumps(told).encode()
                answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(data), data)
                writer.write(answer)
                await writer.drain()
                second = asyncio.ensure_future(self._again(writer, answer))
        if second is not None:
            await second

    async def _again(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        await asyncio.sleep(self.later)
        writer.write(answer)


async def answered(gateway: Twice, questions: int, at_once: int) -> tuple[list[str], list[str]]:
    """The questions that got another's answer, and what calls failed with that were tried again."""
    wrong, failures, todo = list[str](), list[str](), iter(range(questions))
    async with listening(gateway.serve) as url, opened("openai") as door:

        async def work() -> None:
            for number in todo:
                question = chat_messages((Segment("user", f"Question {number}?"),))
                while True:
                    try:
                        text = (await door.complete(asked(url, messages=question))).text
                    except CallError as error:
                        failures.append(error.message)
                        continue
                    wrong.extend([f"{number}: {text}"] * (text != question[0]["content"]))
                    break

        await asyncio.gather(*(work() for _ in range(at_once)))
    return wrong, failures


@pytest.mark.parametrize("later", [0.0, 0.005, 0.05])
def test_the_second_answer_of_a_gateway_is_not_taken_for_another_questions(
    later: float, runner: asyncio.Runner
) -> None:
    # By aiohttp alone 37 (at once) to 568 (5 ms later) of 600 questions got another's answer.
    gateway = Twice(later, "")
    wrong, failures = runner.run(answered(gateway, 60, 4))
    assert wrong == []
    assert set(failures) <= {TWICE}
    # Four at a time need four; who once said too much gets a new one for each question.
    assert gateway.connections > 20


def test_where_ids_tell_nothing_each_question_has_a_connection_of_its_own(
    runner: asyncio.Runner,
) -> None:
    for name in ("chatcmpl-1", "-"):
        gateway = Twice(0.005, name)
        assert runner.run(answered(gateway, 60, 4)) == ([], [])
        assert gateway.connections > 50


def test_ids_that_are_the_same_for_different_answers_accuse_nobody() -> None:
    answers = Answers()
    told = [answers.repeats(f'{{"id": "1", "text": "{text}"}}', [text * 2]) for text in "aabab"]
    assert (told, answers.is_reusable) == ([False] * 5, False)


def test_an_answer_that_a_gateway_keeps_is_given_to_the_same_question_again() -> None:
    answers = Answers()
    told = [
        answers.repeats(f'{{"id": "{name}"}}', [question])
        for name, question in ("aA", "bB", "aA", "aC")
    ]
    assert told == [False, False, False, True]

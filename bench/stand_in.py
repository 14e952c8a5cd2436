"""A provider on loopback, in a process of its own, so that its work is not counted as the client's.

It speaks the OpenAI chat protocol, and Anthropic's at its path, and answers by the request alone:
one of the numbers that the reply's schema allows, drawn from the bytes of the request, with a quote
and a reason of usual length; in the form of autorubric where that is what the schema asks for. It
ends when the process that started it does. Nothing runs when this file is run by itself.

    with stand_in(delay=0.2) as url:     # http://127.0.0.1:<port>/v1
        ...
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count

from aiohttp import web

_ID = b"chatcmpl-1"
_MAXIMUM = re.compile(rb'maximum(?:"| value):\s*(\d+)')
_REASON = (
    "The second sentence names the cause directly and the quoted words show it, so the "
    "requirement is met as it is written and nothing in the text speaks against it."
)


@contextmanager
def stand_in(delay: float = 0.0) -> Iterator[str]:
    """The address of a new provider that answers after ``delay`` seconds."""
    command = [sys.executable, "-c", "import sys; from bench.stand_in import serve; serve()"]
    with subprocess.Popen(
        [*command, str(delay)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.stdin.close()


def serve() -> None:
    """Serves until standard input ends; prints the port first, which may be given."""
    delay, *port = sys.argv[1:]
    asyncio.run(_serve(float(delay), int(*port)))


async def _serve(delay: float, port: int) -> None:
    numbers = count(10**20)

    async def chat(request: web.Request) -> web.Response:
        body = await request.read()
        if delay:
            await asyncio.sleep(delay)
        found = _MAXIMUM.search(body)
        form = "ours" if found else next((one for one in _FORMS if one.encode() in body), "ours")
        options = int(found.group(1)) if found else 2
        make = _message if request.path.endswith("/messages") else _completion
        answer = make(zlib.crc32(body) % options + 1, form)
        # Providers give each answer an id of its own.
        named = answer.replace(_ID, b"chatcmpl-%d" % next(numbers), 1)
        return web.Response(body=named, content_type="application/json")

    app = web.Application(client_max_size=64 * 1024**2)
    for path in _PATHS:
        app.router.add_post(path, chat)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)
    await runner.cleanup()


_PATHS = (
    "/v1/chat/completions",
    "/openai/deployments/{model}/chat/completions",
    "/v1/messages",
)

#: What autorubric's schemas ask for, by the field that names the choice.
_FORMS: dict[str, Callable[[int], dict[str, object]]] = {
    "criterion_status": lambda n: {"criterion_status": "MET" if n == 1 else "UNMET"},
    "selected_option": lambda n: {"selected_option": n},
}


def _reply(option: int, form: str) -> str:
    if form in _FORMS:
        return json.dumps({**_FORMS[form](option), "explanation": _REASON})
    reply = {"evidence": ["names the cause directly"], "reason": _REASON, "option": option}
    return json.dumps(reply)


@cache
def _completion(option: int, form: str) -> bytes:
    message = {"role": "assistant", "content": _reply(option, form)}
    usage = {"prompt_tokens": 1900, "completion_tokens": 60, "total_tokens": 1960}
    completion = {
        "id": _ID.decode(),
        "object": "chat.completion",
        "created": 1,
        "model": "stand-in",
        # litellm's Groq looks for it.
        "service_tier": "default",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }
    return json.dumps(completion).encode()


@cache
def _message(option: int, form: str) -> bytes:
    message = {
        "id": _ID.decode(),
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": _reply(option, form)}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1900, "output_tokens": 60},
    }
    return json.dumps(message).encode()

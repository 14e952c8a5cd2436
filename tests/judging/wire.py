"""What the tests of doors over the wire share: a key, a request, and a way to send it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from core.judging.prompts.reply_parsing import reply_schema
from core.judging.providers.base import CallError, Completion, Request
from core.judging.providers.choice import open_provider
from tests.provider import Provider

DOORS = ("openai", "litellm")
#: Through "plain" the same model is reached under a provider's name.
WAYS = (*DOORS, "plain")
KEY = "sk-TOP-SECRET-0123456789"


@asynccontextmanager
async def opened(kind: Any) -> AsyncIterator[Any]:
    door = open_provider(kind)
    try:
        yield door
    finally:
        await door.close()


def request(provider: Provider, **changes: Any) -> Request:
    given: dict[str, Any] = {
        "model": "openai/scripted",
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
        "schema": reply_schema(3),
        "api_base": provider.url,
        "key": KEY,
        "timeout": 10.0,
    }
    return Request(**{**given, **changes})


def complete(runner: asyncio.Runner, kind: str, given: Request) -> Completion | CallError:
    if kind == "plain":
        given = replace(given, model=given.model.replace("openai/", "hosted_vllm/"))

    async def go() -> Completion | CallError:
        async with opened(kind) as door:
            try:
                completion: Completion = await door.complete(given)
            except CallError as error:
                return error
            return completion

    return runner.run(go())

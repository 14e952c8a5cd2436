"""A call is out from the moment its body is written: a kill before that cost nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from core.domain.panel import Judge
from core.judging.asking.llm_judge import LLMJudge
from core.judging.providers.choice import open_provider
from core.judging.rate_limits import ProviderGate
from tests.judging.asked import CAPITAL, question
from tests.provider import Provider, stall


async def counted(base: str) -> int:
    """How many calls were out half a second after a question was asked there."""
    judge = Judge(name="j", model="x", api_base=base, tries=1)
    calls = list[int]()
    provider = open_provider("openai")
    asking = LLMJudge(judge, provider, None, ProviderGate(), on_call=calls.append)
    task = asyncio.create_task(asking.ask(question(CAPITAL)))
    await asyncio.sleep(0.5)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await provider.close()
    return sum(calls)


async def _silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    writer.close()


async def _never_shakes_hands() -> int:
    server = await asyncio.start_server(_silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        return await counted(f"https://127.0.0.1:{port}/v1")


def test_while_it_connects_no_call_is_out() -> None:
    # The other side accepts the connection, and never answers the TLS handshake.
    assert asyncio.run(_never_shakes_hands()) == 0


def test_while_the_answer_is_waited_for_one_call_is_out(provider: Provider) -> None:
    provider.rule = lambda body: stall(60)
    assert asyncio.run(counted(provider.url)) == 1
    assert provider.count == 1

"""A storm of refusals, and a known limit, over real HTTP with the real clock, in small."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Cell, Vote
from core.judging.asking.engine import grade
from core.judging.asking.llm_judge import LLMJudge
from core.judging.protocol import Question
from core.judging.providers.base import CallError, Completion, ModelProvider, Request
from core.judging.providers.choice import open_provider
from core.judging.rate_limits import ProviderGate
from tests.judging.wire import DOORS, KEY
from tests.provider import Answer, Provider, ok, status

CRITERION = Criterion(name="c", requirement="Names the capital.", weight=1)
RUBRIC = Rubric(criteria=(CRITERION,))
WAIT = 0.2


class Watched:
    """A door that notes when requests leave and when it is told to wait, on one clock."""

    def __init__(self, door: ModelProvider) -> None:
        self._door, self.name = door, door.name
        self.left: list[float] = []
        self.told: list[tuple[float, float]] = []

    async def complete(self, request: Request) -> Completion:
        self.left.append(time.monotonic())
        try:
            return await self._door.complete(request)
        except CallError as error:
            if error.retry_after is not None:
                self.told.append((time.monotonic(), error.retry_after))
            raise

    async def close(self) -> None:
        await self._door.close()

    def while_told_to_wait(self) -> list[float]:
        """Requests that left within a wait, to 2 ms."""
        return [
            left
            for left in self.left
            if any(told < left < told + wait - 0.002 for told, wait in self.told)
        ]


def questions(n: int) -> Iterator[Question]:
    for i in range(n):
        item = Item(id=f"i{i}", submission=f"It is Canberra, for the {i}th time.")
        yield Question(Cell(item.id, "c", "j"), item, RUBRIC, CRITERION, (1, 0, 2), 7)


def asked(
    runner: asyncio.Runner, kind: Any, provider: Provider, n: int, **settings: Any
) -> tuple[list[AskedOutcome], Watched]:
    spec = Judge(**{"name": "j", "model": "openai/x", "api_base": provider.url, **settings})

    async def go() -> tuple[list[AskedOutcome], Watched]:
        door = Watched(open_provider(kind))
        judge = LLMJudge(spec, door, KEY, ProviderGate())
        try:
            # litellm's first call takes long; the storm is to be one of calls.
            await judge.ask(next(questions(1)))
            door.left.clear()
            provider.requests.clear()
            stream = grade({"j": questions(n)}, {"j": judge}, stop=asyncio.Event())
            return [outcome async for outcome in stream], door
        finally:
            await judge.close()
            await door.close()

    return runner.run(go())


@pytest.mark.parametrize("header", ["Retry-After", "retry-after-ms"])
@pytest.mark.parametrize("kind", DOORS)
def test_a_storm_loses_no_cell_and_nothing_is_sent_while_told_to_wait(
    kind: str, header: str, provider: Provider, runner: asyncio.Runner
) -> None:
    # Three requests in ten are refused until 30 were; each refusal asks for 0.2 s of silence.
    refusals = 0
    value = f"{WAIT:g}" if header == "Retry-After" else f"{1000 * WAIT:.0f}"

    def rule(body: dict[str, Any]) -> Answer:
        nonlocal refusals
        if refusals < 30 and len(provider.requests) * 3 % 10 < 3 and len(provider.requests) > 1:
            refusals += 1
            return status(429, headers={header: value})
        return ok()

    provider.rule = rule
    outcomes, door = asked(runner, kind, provider, 200, concurrency=16)
    assert refusals == 30
    assert len(door.told) == 30
    assert len(outcomes) == 200
    assert all(isinstance(result, Vote) for o in outcomes for result in o.results)
    assert door.while_told_to_wait() == []
    calls = [o.call for o in outcomes if o.call is not None]
    # what was counted is what left and what arrived
    assert sum(call.tries for call in calls) == len(door.left) == provider.count == 230


def test_a_known_limit_is_kept_to_and_nothing_is_refused(
    provider: Provider, runner: asyncio.Runner
) -> None:
    # 1,200 a minute are 20 a second. The provider refuses the 23rd within a second: two more than
    # the limit, because requests may be held up and bunch on the way.
    arrivals: list[float] = []

    def rule(body: dict[str, Any]) -> Answer:
        now = time.monotonic()
        arrivals.append(now)
        late = sum(now - 1 < arrival for arrival in arrivals)
        return status(429) if late > 22 else ok()

    provider.rule = rule
    outcomes, door = asked(runner, "openai", provider, 40, concurrency=32, requests_per_minute=1200)
    assert len(outcomes) == provider.count == 40
    assert all(isinstance(result, Vote) for o in outcomes for result in o.results)
    # 39 intervals of 60 / (0.97 * 1200) s; somebody woken late may be followed 0.02 s too soon
    assert door.left[-1] - door.left[0] >= 39 * 60 / (0.97 * 1200) - 0.021

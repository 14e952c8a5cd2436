"""A provider that is down is left alone: few tries are burnt, and none of the queue's."""

import asyncio
from itertools import pairwise

import pytest

from core.domain.panel import Judge
from core.domain.votes import Vote, VoteFailure
from core.judging.asking.llm_judge import LLMJudge
from core.judging.providers.base import CallError, Completion, Request
from core.judging.rate_limits import ProviderGate
from tests.judging.scripted import QUESTION, says
from tests.judging.world import World, gate_in


class Down:
    """A door to a provider that is down from ``start`` to ``end``; a call takes 0.1 s."""

    name = "down"

    def __init__(self, world: World, start: float, end: float) -> None:
        self.world, self.start, self.end = world, start, end
        self.calls: list[float] = []

    async def complete(self, request: Request) -> Completion:
        self.calls.append(self.world.time)
        down = self.start <= self.world.time < self.end
        await self.world.sleep(0.1)
        if down:
            raise CallError("server", "The provider had an error of its own (503): down.")
        return says()

    async def close(self) -> None:
        pass


def asked(
    world: World, door: Down, gate: ProviderGate, questions: int, workers: int = 32, tries: int = 5
) -> list[Vote | VoteFailure]:
    spec = Judge(name="j", model="x", tries=tries)
    judge = LLMJudge(spec, door, None, gate, sleep=world.sleep, clock=world.now)
    left, results = iter(range(questions)), list[Vote | VoteFailure]()

    async def worker() -> None:
        for _ in left:
            results.extend((await judge.ask(QUESTION)).results)

    world.run(*[worker] * workers)
    return results


def test_an_outage_of_ten_minutes_loses_no_cell_and_is_tried_a_few_times() -> None:
    world = World()
    door = Down(world, 1.0, 601.0)
    results = asked(world, door, gate_in(world), 3000)
    assert sum(isinstance(result, Vote) for result in results) == 3000
    during = [time for time in door.calls if 1.0 <= time < 601.0]
    # 32 calls in flight when it went down, then one after each pause of 1, 2, 4 ... 60 s: 6 trials
    # in the first 63 s, and one a minute from then on. Without a breaker: thousands.
    assert len(during) <= 32 + 6 + 10
    assert world.time < 601 + 60 + 20  # the last pause ends within a minute


def test_only_one_call_at_a_time_tries_whether_the_provider_is_back() -> None:
    world = World()
    door = Down(world, 0.0, 120.0)
    asked(world, door, gate_in(world), 100)
    trials = [time for time in door.calls if 0.2 < time < 120.0]
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(trials))


def test_a_provider_that_never_comes_back_is_given_up_with_its_reason() -> None:
    world = World()
    door = Down(world, 0.0, 1e9)
    gate = gate_in(world, max_wait=300)
    results = asked(world, door, gate, 1000)
    assert len(results) == 1000
    assert len(door.calls) < 100
    assert world.time < 300 + 120
    for result in results:
        assert isinstance(result, VoteFailure)
        assert result.kind == "server"
        assert "(503): down." in result.message
        assert (
            "requests in a row, so it is left alone and tried only now and then" in result.message
        )

    door.end, world.time = world.time, world.time + 61  # it came back, and somebody retries
    again = asked(world, door, gate, 100)
    assert all(isinstance(result, Vote) for result in again)


def test_failures_between_answers_do_not_break_it() -> None:
    world = World()
    gate = gate_in(world)

    async def caller() -> None:
        for n in range(200):
            started = await gate.enter()
            await world.sleep(0.1)
            if n % 20 == 19:
                gate.passed()
            else:
                gate.breaker.failed(started, "server", "x")  # 19 in a row at most

    world.run(caller)
    assert world.time == pytest.approx(20.0)  # 200 calls of 0.1 s and not a pause


def test_a_trial_that_is_cut_off_lets_another_try() -> None:
    world = World()
    gate = gate_in(world)
    for _ in range(20):
        gate.breaker.failed(0.0, "connection", "lost")
    entered: list[float] = []

    async def crowd() -> None:
        first = asyncio.ensure_future(gate.enter())
        second = asyncio.ensure_future(gate.enter())
        while not first.done():
            await world.sleep(0.1)
        gate.breaker.release_trial(first.result())
        entered.append(await second)

    world.run(crowd)
    assert entered[0] == pytest.approx(1.0, abs=0.2)


def test_that_a_provider_is_down_is_said_once_while_it_lasts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World()
    asked(world, Down(world, 1.0, 601.0), gate_in(world), 1000)
    (record,) = caplog.records
    # The gate's bound is 900 seconds unless told: 15 minutes.
    assert "(503): down.). It is tried now and then for up to 15 minutes" in record.getMessage()

"""A local server gets as many questions at once as it answers better than fewer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Call, Cell, Vote
from core.judging.asking.engine import grade
from core.judging.protocol import Question
from tests.judging.world import World

CRITERION = Criterion(name="cites", requirement="Cites a source")
RUBRIC = Rubric(criteria=(CRITERION,))


@dataclass
class Server:
    """Answers as many questions at once as it has slots, in the time of a world of its own."""

    world: World
    slots: int
    seconds: float
    spec: Judge
    out: list[int] = field(default_factory=list)
    here: int = 0

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.slots)

    async def ask(self, question: Question) -> AskedOutcome:
        self.here += 1
        self.out.append(self.here)
        began = self.world.now()
        async with self._free:
            await self.world.sleep(self.seconds)
        self.here -= 1
        call = Call((), {}, "{}", seconds=self.world.now() - began)
        return AskedOutcome((Vote(question.cell, 0, False),), call)

    async def close(self) -> None:
        pass


def graded(slots: int, seconds: float, address: str = "http://127.0.0.1:1/v1") -> Server:
    """Ask 120 questions of a server at this address."""
    world = World()
    server = Server(world, slots, seconds, Judge(name="j", model="m", api_base=address))

    async def work() -> None:
        answers = [o async for o in grade({"j": questions()}, {"j": server}, stop=asyncio.Event())]
        assert len(answers) == 120

    world.run(work)
    return server


def questions() -> Iterator[Question]:
    for i in range(120):
        item = Item(id=f"i{i}", submission="It does.")
        yield Question(Cell(item.id, "cites", "j"), item, RUBRIC, CRITERION, (0, 1, 2), 1)


def test_a_slow_server_with_one_slot_never_has_many_in_its_queue() -> None:
    server = graded(slots=1, seconds=40.0)
    assert server.out[0] == 1
    assert max(server.out) == 2
    # And nothing is lost by it: it is never idle.
    assert server.world.now() == pytest.approx(120 * 40.0)


@pytest.mark.parametrize("seconds", [0.2, 40.0])
def test_a_server_that_answers_many_at_once_gets_all_that_the_judge_may_have(
    seconds: float,
) -> None:
    server = graded(slots=64, seconds=seconds)
    assert server.out[0] == 1
    assert max(server.out) == server.spec.concurrency == 16
    # Asked in full from the start it would take 8 rounds.
    assert server.world.now() < 18 * seconds


def test_a_quick_server_with_one_slot_has_some_seconds_of_work_ahead_and_no_more() -> None:
    server = graded(slots=1, seconds=2.0)
    # Three take more than five seconds; five are measured, and ten are tried and not kept.
    assert max(server.out) == 10


def test_a_provider_elsewhere_is_asked_in_full_at_once() -> None:
    server = graded(slots=64, seconds=40.0, address="https://api.example.com/v1")
    assert max(server.out[:16]) == 16

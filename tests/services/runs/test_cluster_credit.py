"""A worker of a cluster asks only so far ahead of what the owner has on its disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Cell, Vote
from core.judging.asking.engine import grade
from core.judging.protocol import Question
from core.services.runs.cluster.credit import Acknowledging, Counts, Credit
from core.services.runs.cluster.orders import WorkOrder
from core.services.runs.cluster.remote import SharedJudge, forget_run, run_state

ONE = Criterion(name="c", requirement="Is it so?")
RUBRIC = Rubric(name="r", criteria=(ONE,))


def outcome_of(item: str, judge: str = "ada") -> AskedOutcome:
    return AskedOutcome((Vote(Cell(item, "c", judge), 0, False),))


class Fake:
    """Answers after a turn of the loop."""

    spec = Judge(name="ada", model="ada", concurrency=10)

    def __init__(self) -> None:
        self.asked = 0

    async def ask(self, question: Question) -> AskedOutcome:
        self.asked += 1
        await asyncio.sleep(0)
        return outcome_of(question.cell.item)

    async def close(self) -> None: ...


async def turns(until: Callable[[], bool], most: int = 20_000) -> None:
    """So many turns of the loop at most, until something is so."""
    for _ in range(most):
        if until():
            return
        await asyncio.sleep(0)


def test_a_worker_whose_owner_records_nothing_more_asks_twice_its_calls_at_once_and_waits() -> None:
    async def chunk() -> list[int]:
        judge, recorded, came = Fake(), [0], list[AskedOutcome]()
        seen, stop = list[int](), asyncio.Event()

        async def look() -> int:
            return recorded[0]

        shared = SharedJudge(judge, Credit(judge.spec.concurrency, look))
        questions = [
            Question(Cell(f"i{n}", "c", "ada"), Item(id=f"i{n}", submission="x"), RUBRIC, ONE,
                     (0, 1, 2), seed=1)
            for n in range(64)
        ]  # fmt: skip

        async def ask() -> None:
            async for one in grade({"ada": iter(questions)}, {"ada": shared}, stop=stop):
                came.append(one)

        asking = asyncio.create_task(ask())
        for more in (0, 5, 3):
            recorded[0] += more
            target = recorded[0] + 20
            await turns(lambda target=target: len(came) >= target)  # type: ignore[misc]
            await asyncio.sleep(0.05)  # several looks
            seen.append(judge.asked)
        stop.set()
        await asking
        return seen

    # Ten calls at once: 20 may be out or unrecorded; what is recorded makes room for as many more.
    assert asyncio.run(chunk()) == [20, 25, 28]


def test_a_call_that_was_stopped_makes_no_room_for_another_while_all_are_being_stopped() -> None:
    async def stopped() -> int:
        async def never(question: object) -> AskedOutcome:
            await asyncio.Event().wait()
            raise AssertionError

        async def look() -> int:
            return 0

        judge = Fake()
        judge.ask = never  # type: ignore[method-assign,assignment]
        credit = Credit(10, look)
        shared = SharedJudge(judge, credit)
        out = [asyncio.create_task(shared.ask(None)) for _ in range(10)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        for task in out:
            task.cancel()
        await asyncio.gather(*out, return_exceptions=True)
        return credit.available

    # 20 may be out or unrecorded, and ten of them went out.
    assert asyncio.run(stopped()) == 10


def test_workers_are_told_what_was_recorded_of_each_however_often_that_fails_at_first() -> None:
    async def owner() -> list[Counts]:
        told, fail = list[Counts](), [True]

        async def tell(counts: Counts) -> None:
            if fail.pop() if fail else False:
                raise OSError("no scheduler")
            told.append({worker: dict(of) for worker, of in counts.items()})

        side = Acknowledging(tell)
        first, second, twice = (outcome_of(item) for item in "abc")
        side.note_sender("w1", first)
        side.note_sender("w2", second)
        side.recorded([first, outcome_of("of nobody"), second])
        side.done("w2", twice.results[0].cell.judge)
        await turns(lambda: bool(told))
        await asyncio.sleep(0.25)
        await side.close()
        return told

    # An outcome that came twice is nobody's debt, either.
    assert asyncio.run(owner()) == [{"w1": {"ada": 1}, "w2": {"ada": 2}}]


def test_after_a_run_was_put_down_the_scheduler_is_not_asked_for_what_it_has_no_more() -> None:
    # It would wait for it, and write a traceback after a second.
    class Scheduler:
        asked = 0

        async def variable_get(self, *, name: str, timeout: int) -> dict[str, Counts]:
            self.asked += 1
            return {"value": {}}

    class Worker:
        scheduler = Scheduler()

    async def looks() -> list[int]:
        state = await run_state(WorkOrder("a run", "a topic", (Fake.spec,), keeps=False), Worker())
        seen = list[int]()
        for _ in range(2):
            await state.looked("ada")
            seen.append(Worker.scheduler.asked)
            await forget_run("a run")
        return seen

    assert asyncio.run(looks()) == [1, 1]

"""The engine asks every question once, in bounded numbers, and says what came."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Call, Cell, Vote, VoteFailure
from core.judging.asking.engine import grade
from core.judging.protocol import Question
from core.judging.turns import QuestionTurns

CRITERION = Criterion(name="cites", requirement="Cites a source")
RUBRIC = Rubric(criteria=(CRITERION,))


@dataclass
class CountingJudge:
    """Answers MET after a pause; counts calls and how many were in flight at once."""

    spec: Judge
    pause: float = 0.0
    cost: float | None = None
    fails_with: VoteFailure | None = None
    fails_on: set[str] | None = None
    slow: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    in_flight: int = 0
    peak: int = 0
    answered: int = 0

    async def ask(self, question: Question) -> AskedOutcome:
        self.asked.append(question.cell.item)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        try:
            await asyncio.sleep(0.05 if question.cell.item in self.slow else self.pause)
        finally:
            self.in_flight -= 1
        self.answered += 1
        here = self.fails_on is None or question.cell.item in self.fails_on
        if self.fails_with is not None and here:
            return AskedOutcome((VoteFailure(question.cell, self.fails_with.kind, "no key"),))
        return AskedOutcome((Vote(question.cell, 0, False),), Call((), {}, cost=self.cost))

    async def close(self) -> None:
        pass


def judge(name: str = "ada", concurrency: int = 4, **behaviour: object) -> CountingJudge:
    spec = Judge(name=name, model="openai/x", concurrency=concurrency)
    return CountingJudge(spec, **behaviour)  # type: ignore[arg-type]


def questions(name: str, n: int) -> Iterator[Question]:
    for i in range(n):
        cell = Cell(f"i{i}", "cites", name)
        yield Question(cell, Item(id=f"i{i}", submission="x"), RUBRIC, CRITERION, (0, 1, 2), 7)


async def collect(*judges: CountingJudge, n: int = 20, **options: object) -> list[AskedOutcome]:
    stop = options.pop("stop", None) or asyncio.Event()
    stream = grade(
        {j.spec.name: questions(j.spec.name, n) for j in judges},
        {j.spec.name: j for j in judges},
        stop=stop,  # type: ignore[arg-type]
        **options,  # type: ignore[arg-type]
    )
    return [outcome async for outcome in stream]


def test_every_question_is_asked_once_and_answered_once() -> None:
    ada, bea = judge("ada"), judge("bea")
    outcomes = asyncio.run(collect(ada, bea))
    cells = [o.results[0].cell for o in outcomes]
    assert len(cells) == len(set(cells)) == 40
    assert sorted(ada.asked) == sorted(f"i{i}" for i in range(20))


def test_calls_in_flight_stay_within_each_judges_bound() -> None:
    ada, bea = judge("ada", 3, pause=0.002), judge("bea", 7, pause=0.002)
    asyncio.run(collect(ada, bea))
    assert (ada.peak, bea.peak) == (3, 7)


def test_a_slow_judge_does_not_hold_up_a_fast_one() -> None:
    slow, fast = judge("slow", 1, pause=0.02), judge("fast", 1)
    outcomes = asyncio.run(collect(slow, fast, n=5))
    first_five = [o.results[0].cell.judge for o in outcomes[:5]]
    assert first_five == ["fast"] * 5


def test_a_fatal_failure_stops_that_judge_and_fails_the_rest_with_the_same_kind() -> None:
    ada = judge("ada", 1, fails_with=VoteFailure(Cell("", "", ""), "auth", ""))
    bea = judge("bea")
    outcomes = asyncio.run(collect(ada, bea))
    failures = [o.results[0] for o in outcomes if isinstance(o.results[0], VoteFailure)]
    assert len(ada.asked) == 2  # one alone may be a slip of a gateway
    assert [f.kind for f in failures] == ["auth"] * 20
    assert sum(isinstance(o.results[0], Vote) for o in outcomes) == 20


def test_stop_cancels_the_calls_in_flight() -> None:
    async def story() -> tuple[list[AskedOutcome], CountingJudge]:
        ada, stop = judge("ada", 4, pause=30), asyncio.Event()
        asyncio.get_running_loop().call_later(0.02, stop.set)
        return await collect(ada, stop=stop), ada

    outcomes, ada = asyncio.run(story())
    assert outcomes == []
    assert ada.in_flight == 0


def test_nothing_that_was_answered_is_lost_to_a_stop_while_the_consumer_is_slow() -> None:
    async def story() -> tuple[list[AskedOutcome], CountingJudge]:
        ada, stop = judge("ada", 8), asyncio.Event()
        asked = {"ada": questions("ada", 2000)}
        outcomes = []
        async for outcome in grade(asked, {"ada": ada}, stop=stop):
            if not outcomes:
                await asyncio.sleep(0.1)  # long enough for judges to fill the queue
                stop.set()
                await asyncio.sleep(0.1)
            outcomes.append(outcome)
        return outcomes, ada

    outcomes, ada = asyncio.run(story())
    assert len(outcomes) == ada.answered < 2000


def test_no_call_starts_until_the_consumer_is_ready_again() -> None:
    async def story() -> tuple[int, int]:
        ada, ready = judge("ada", 4), asyncio.Event()
        collecting = asyncio.create_task(collect(ada, ready=ready))
        await asyncio.sleep(0.05)
        held = len(ada.asked)
        ready.set()
        return held, len(await collecting)

    assert asyncio.run(story()) == (0, 20)


def test_a_budget_is_overshot_by_at_most_one_call() -> None:
    # 20 calls at $1 under $5.50: after five calls $5 are spent, the sixth is still admitted
    # (5 < 5.5) and takes it to $6, which is less than one call's cost over the budget.
    ada, budget = judge("ada", 8, cost=1.0, pause=0.001), QuestionTurns(5.5)
    outcomes = asyncio.run(collect(ada, turns=budget))
    assert len(outcomes) == 6
    assert budget.spent == pytest.approx(6.0)
    assert budget.exhausted


def test_a_cheap_judge_says_nothing_about_what_a_dear_one_costs() -> None:
    # Judged by the cheap one's cent, eight calls of $1 would have gone out at once.
    cheap, dear = judge("ada", 1, cost=0.01), judge("bea", 8, cost=1.0, pause=0.001)
    budget = QuestionTurns(1.5)
    asyncio.run(collect(cheap, dear, turns=budget))
    assert budget.exhausted
    assert budget.spent < 1.5 + 1.0


def test_a_failed_call_and_a_kept_answer_say_nothing_about_the_price() -> None:
    async def story() -> list[bool]:
        ada, turns, room = judge("ada").spec, QuestionTurns(10.0), []
        for call in (Call((), {}), Call((), {}, "{}", cost=0.0, cached=True)):
            assert await turns.acquire(ada)
            turns.report(ada, AskedOutcome((), call))
        for cost in (None, 4.0, 4.0):
            assert await turns.acquire(ada)
            waiting = asyncio.ensure_future(turns.acquire(ada))
            await asyncio.sleep(0)
            room.append(waiting.done())
            answer = cost and AskedOutcome((), Call((), {}, "{}", cost=cost))
            turns.report(ada, answer or None)
            assert await waiting
            turns.report(ada, None)
        return room

    # No price known: one by one. Then $4 a call: two fit below $10 after $4, but not after $8.
    assert asyncio.run(story()) == [False, False, True]


def test_calls_of_unknown_price_do_not_spend_the_budget() -> None:
    ada, budget = judge("ada", 8, cost=None), QuestionTurns(0.01)
    assert len(asyncio.run(collect(ada, turns=budget))) == 20
    assert not budget.exhausted


def test_a_crash_inside_a_judge_is_not_swallowed() -> None:
    class Broken(CountingJudge):
        async def ask(self, question: Question) -> AskedOutcome:
            raise RuntimeError("a bug")

    broken = Broken(Judge(name="ada", model="openai/x"))
    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(collect(broken))


def test_one_fatal_failure_of_a_judge_that_has_answered_takes_its_own_cell_alone() -> None:
    # A gateway's slip on i5; ten in a row from i12 on are a key that was taken away.
    lost = {"i5", *(f"i{n}" for n in range(12, 40))}
    failure = VoteFailure(Cell("", "", ""), "not_found", "No model.")
    ada = judge("ada", 1, fails_with=failure, fails_on=lost)
    outcomes = asyncio.run(collect(ada, n=40))
    assert {f"i{n}" for n in range(22)} == set(ada.asked)
    failed = {o.results[0].cell.item for o in outcomes if isinstance(o.results[0], VoteFailure)}
    assert failed == lost


def test_early_refusals_wait_for_what_is_out_before_a_judge_is_given_up() -> None:
    # Four are asked at once; the first three are refused before the fourth has answered.
    failure = VoteFailure(Cell("", "", ""), "auth", "No key.")
    ada = judge("ada", 4, fails_with=failure, fails_on={"i0", "i1", "i2"}, slow={"i3"})
    outcomes = asyncio.run(collect(ada))
    failed = {o.results[0].cell.item for o in outcomes if isinstance(o.results[0], VoteFailure)}
    assert failed == {"i0", "i1", "i2"}

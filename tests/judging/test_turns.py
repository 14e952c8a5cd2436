"""One way to ask whether a call may go out now, and one to report what became of it."""

import asyncio

import pytest

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Call, Cell, Vote, VoteFailure
from core.judging.allowance import RemainingLimit
from core.judging.providers.base import CallError
from core.judging.turns import Address, CallTurns, QuestionTurns
from tests.judging.scripted import says
from tests.judging.world import World, gate_in

DOWN = CallError("server", "It is down.", status=503)
TWO = Judge(name="j", model="m", api_base="http://a", replicas=("http://b",))
CELL = Cell("i", "c", "j")


def test_a_call_goes_to_the_freest_address_and_on_to_the_next_after_a_failure() -> None:
    world = World()
    turns = CallTurns(TWO, [gate_in(world), gate_in(world)], world.sleep, world.now)

    async def call() -> None:
        failed: set[Address] = set()
        first, other = await turns.acquire(400, failed), await turns.acquire(400, set())
        assert (first.at.url, other.at.url) == ("http://a", "http://b")
        turns.report(other, says())
        assert turns.report(first, DOWN) is None  # the call goes on at the other address
        second = await turns.acquire(400, failed)
        assert second.at.url == "http://b"
        failure = turns.report(second, DOWN)
        assert failure is not None  # it failed at both: a try of the call
        assert (failure.kind, failure.message, failure.status) == ("server", "It is down.", 503)
        for _ in range(4):  # three failures in a row at each of the two, and they are left alone
            turns.report(await turns.acquire(400, failed), DOWN)

    world.run(call)
    assert turns.address_states() == {
        "http://a": {"answered": 0, "lost": 3, "down": True},
        "http://b": {"answered": 1, "lost": 3, "down": True},
    }


def test_limits_refusals_and_what_a_provider_tells_hold_back_the_next_call() -> None:
    world, times = World(), list[float]()
    spec = Judge(name="j", model="m", requests_per_minute=60)
    turns = CallTurns(spec, [gate_in(world, max_refusals=1)], world.sleep, world.now)

    async def calls() -> None:
        outcomes = [
            says(told=(RemainingLimit(10, 0, 50.0), None)),
            CallError("rate_limit", "Slow down.", retry_after=30.0),
            None,
        ]
        for outcome in outcomes:
            turn = await turns.acquire(400, set())
            times.append(turn.started)
            assert turns.report(turn, outcome, refusals=1) is None
        turn = await turns.acquire(400, set())
        given_up = turns.report(turn, CallError("rate_limit", "Slow down."), refusals=2)
        assert given_up is not None
        assert given_up.message == "Given up after 2 refusals. Slow down."

    world.run(calls)
    # One of 10 is back after 5 s; then the 30 s that the refusal asked for.
    assert times == pytest.approx([0.0, 5.0, 35.0], abs=0.021)
    turns.close()
    world.run(lambda: turns.acquire(400, set()))  # type: ignore[arg-type]


def test_a_budget_and_a_key_that_fails_end_the_questions_of_a_judge() -> None:
    ada, bea = Judge(name="ada", model="m"), Judge(name="bea", model="m")
    offline = Judge(name="rule", kind="function")

    async def story() -> None:
        turns = QuestionTurns(limit=2.0, spent=0.5)
        assert await turns.acquire(ada)
        assert not turns.acquire_now(ada)  # its first answer shows what one costs
        turns.report(ada, AskedOutcome((Vote(CELL, 0, False),), Call((), {}, "{}", cost=1.0)))
        # $1.50 are spent and a call costs $1: one is still admitted, and then nothing is left.
        assert await turns.acquire(ada)
        turns.report(ada, AskedOutcome((Vote(CELL, 0, False),), Call((), {}, "{}", cost=1.0)))
        assert not await turns.acquire(ada)
        assert turns.exhausted
        assert await turns.acquire(offline)  # what costs nothing goes on

    asyncio.run(story())

    turns = QuestionTurns()
    wrong = AskedOutcome((VoteFailure(CELL, "auth", "No such key."),))
    assert all(turns.acquire_now(bea) for _ in range(3))
    turns.report(bea, wrong)
    turns.report(bea, wrong)
    assert turns.stopping_failure(bea) is None  # the third may still be answered
    assert not turns.acquire_now(bea)
    turns.report(bea, wrong)
    assert turns.stopping_failure(bea) == ("auth", "No such key.")
    assert turns.stopping_failure(ada) is None

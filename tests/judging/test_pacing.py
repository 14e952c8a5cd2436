"""Known limits are kept to: no minute holds more than a provider said it takes."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from core.judging.pace import PaceTimes
from core.judging.rate_limits import Pacer, ProviderGate
from tests.judging.world import World, gate_in


def starts(world: World, callers: int, calls: int, requests: int | None, tokens: int | None = None,
           each: int = 1000) -> list[float]:  # fmt: skip
    """When each of ``calls`` calls of 1 s and ``each`` tokens started."""
    gate = gate_in(world)
    gate.pacer.limit("judge", requests, tokens)
    left, times = iter(range(calls)), list[float]()

    async def caller() -> None:
        for _ in left:
            guess = gate.pacer.guess(4000)
            times.append(await gate.enter(guess))
            await world.sleep(1.0)
            gate.passed()
            gate.pacer.correct(4000, guess, each)

    world.run(*[caller] * callers)
    return sorted(times)


def busiest(times: list[float], span: float = 60.0) -> int:
    """The most starts within any ``span`` seconds."""
    return max(sum(start <= time < start + span for time in times) for start in times)


@pytest.mark.parametrize("limit", [1, 3, 60, 600])
def test_no_minute_holds_more_calls_than_the_limit(limit: int) -> None:
    calls = 3 * limit
    times = starts(World(), 32, calls, limit)
    assert busiest(times) <= limit
    # At 97% of the limit the last of n calls starts (n - 1) * 60 / (0.97 * limit) s after the
    # first; callers who are woken late may catch up 0.02 s.
    assert times[-1] == pytest.approx((calls - 1) * 60 / (0.97 * limit), abs=0.021)


def test_tokens_are_guessed_first_and_put_right_by_what_calls_took() -> None:
    # 3,000 tokens a call, three times the guess at first; 60,000 a minute are 20 calls a minute.
    times = starts(World(), 8, 100, None, 60_000, each=3000)
    assert busiest(times) <= 20
    # 0.97 * 20 calls a minute: 99 intervals of 60 / 19.4 s. What the first guess missed is waited
    # for after the first answer.
    assert times[-1] == pytest.approx(99 * 60 / 19.4, rel=0.01)


def test_the_smallest_limit_of_those_who_share_a_provider_counts_while_it_is_there() -> None:
    pacer = Pacer()
    pacer.limit("ann", 60, None)
    pacer.limit("bob", 6, None)
    pacer.limit("cid", None, None)
    slow, quick = 60 / (0.97 * 6), 60 / (0.97 * 60)
    assert pacer.claim(0.0, 0.0) == 0.0
    assert pacer.claim(0.0, 0.0) == pytest.approx(slow, abs=0.021)  # and nothing was taken
    assert pacer.claim(slow, 0.0) == 0.0
    assert pacer.claim(slow, 0.0) == pytest.approx(slow, abs=0.021)
    pacer.drop("bob")
    assert pacer.claim(3 * slow, 0.0) == 0.0
    assert pacer.claim(3 * slow, 0.0) == pytest.approx(quick, abs=0.021)
    pacer.drop("ann")
    assert not pacer.on


@pytest.mark.parametrize("shared", [True, False])
def test_processes_of_a_machine_keep_to_a_limit_together(shared: bool, tmp_path: Path) -> None:
    # Three gates as three processes have them, each with 8 callers; 60 requests a minute in all.
    world, times = World(), list[float]()
    gates = [
        ProviderGate(
            sleep=world.sleep,
            clock=world.now,
            times=PaceTimes(tmp_path if shared else None, "http://a"),
        )
        for _ in range(3)
    ]
    left = iter(range(120))

    def caller(gate: ProviderGate) -> Callable[[], Awaitable[None]]:
        async def calls() -> None:
            for _ in left:
                times.append(await gate.enter(10.0))
                await world.sleep(1.0)
                gate.passed()
                gate.pacer.correct(40, 10.0, 12)

        return calls

    for gate in gates:
        gate.pacer.limit("judge", 60, 1_000_000)
    world.run(*(caller(gate) for gate in gates for _ in range(8)))
    in_a_minute = busiest(sorted(times))
    assert in_a_minute <= 60 if shared else in_a_minute > 100
    if shared:
        # Nothing is left unused: 119 intervals at 97% of the limit.
        assert max(times) == pytest.approx(119 * 60 / (0.97 * 60), rel=0.01)
    assert len(list(tmp_path.iterdir())) == shared


def test_times_of_before_the_machine_was_started_are_forgotten(tmp_path: Path) -> None:
    before = Pacer(PaceTimes(tmp_path, "a"))
    before.limit("judge", 60, None)
    assert before.claim(1_000_000.0, 0.0) == 0.0
    after = Pacer(PaceTimes(tmp_path, "a"))
    after.limit("judge", 60, None)
    assert after.claim(20.0, 0.0) == 0.0


def test_where_no_file_can_be_made_a_process_keeps_to_the_limit_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    pacer = Pacer(PaceTimes(tmp_path / "file" / "pace", "a"))
    pacer.limit("judge", 60, None)
    assert pacer.claim(0.0, 0.0) == 0.0
    assert pacer.claim(0.0, 0.0) > 0.9


def test_who_names_no_limit_leaves_no_file(tmp_path: Path) -> None:
    gate = ProviderGate(times=PaceTimes(tmp_path / "pace", "a"))
    asyncio.run(gate.enter())
    assert not (tmp_path / "pace").exists()


def test_a_refusal_under_a_limit_stops_the_paced_callers_too() -> None:
    world = World()
    gate = gate_in(world)
    gate.pacer.limit("judge", 600, None)
    times: list[float] = []

    async def first() -> None:
        started = await gate.enter()
        await world.sleep(0.25)
        gate.refused(started, 30.0)

    async def later() -> None:
        await world.sleep(0.01)
        times.append(await gate.enter())

    world.run(first, *[later] * 6)
    pace = 60 / (0.97 * 600)
    assert times[:2] == pytest.approx([pace, 2 * pace], abs=0.021)  # before the refusal at 0.25 s
    assert times[2:] == pytest.approx([30.25 + n * pace for n in range(4)], abs=0.021)


def test_callers_who_give_up_leave_no_gap() -> None:
    world = World()
    gate = gate_in(world)
    gate.pacer.limit("judge", 1, None)
    entered: list[float] = []

    async def patient() -> None:
        entered.append(await gate.enter())

    async def crowd() -> None:
        waiting = [asyncio.ensure_future(gate.enter()) for _ in range(50)]
        await asyncio.sleep(0)
        for one in waiting[1:]:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await patient()

    world.run(crowd)
    assert entered == pytest.approx([60 / 0.97], abs=0.021)  # not 50 minutes later

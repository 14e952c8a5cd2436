"""The gate on a clock of its own: nobody is lost in a storm, and few requests are refused."""

from itertools import count
from random import Random

import pytest

from core.judging.providers.base import CallError
from tests.judging.world import World, gate_in


def test_an_open_gate_costs_no_time() -> None:
    world = World()
    gate = gate_in(world)
    times: list[float] = []

    async def caller() -> None:
        times.append(await gate.enter())

    world.run(*[caller] * 5)
    assert times == [0.0] * 5


def test_a_single_refusal_holds_everybody_back_until_the_time_asked_for() -> None:
    world = World()
    gate = gate_in(world)
    gate.refused(0.0, 5.0)
    times: list[float] = []

    async def caller() -> None:
        times.append(await gate.enter())

    world.run(*[caller] * 3)
    assert times == [5.0, 5.0, 5.0]


def test_a_storm_of_refusals_also_spaces_those_who_come_after_it() -> None:
    world = World()
    gate = gate_in(world)
    for _ in range(8):
        gate.refused(-1.0, 5.0)
    times: list[float] = []

    async def caller() -> None:
        times.append(await gate.enter())

    world.run(*[caller] * 3)
    assert times == pytest.approx([5.0, 5.1, 5.2])  # the spacing after a first refusal


def test_calls_under_way_when_the_gate_closed_do_not_count_as_new_refusals() -> None:
    world = World()
    gate = gate_in(world)
    world.time = 1.0
    gate.refused(0.5, 5.0)
    for _ in range(10):
        gate.refused(0.5, 5.0)  # a storm, but one: the gate closes once, until 1 + 5
    times: list[float] = []

    async def caller() -> None:
        times.append(await gate.enter())

    world.run(*[caller] * 2)
    assert times == pytest.approx([6.0, 6.1])


def test_a_straggler_that_names_a_later_time_holds_back_those_who_wait_already() -> None:
    world = World()
    gate = gate_in(world)
    world.time = 1.0
    gate.refused(1.0, 5.0)
    times: list[float] = []

    async def waiter() -> None:
        times.append(await gate.enter())

    async def straggler() -> None:
        await world.sleep(2.0)
        gate.refused(0.5, 9.0)

    world.run(waiter, straggler)
    assert times == [12.0]  # 3 + 9, not 1 + 5


def test_without_a_named_time_the_pause_doubles_with_jitter() -> None:
    world = World()
    gate = gate_in(world)
    for longest in (1, 2, 4, 8, 16, 32, 60, 60):
        before = world.time
        gate.refused(before, None)
        entered: list[float] = []

        async def caller(entered: list[float] = entered) -> None:
            entered.append(await gate.enter())

        world.run(caller)
        assert longest / 2 <= entered[0] - before <= longest


def test_a_wait_of_hours_is_refused_instead_of_slept() -> None:
    world = World()
    gate = gate_in(world, max_wait=900)
    gate.refused(0.0, 86_400)
    gate.refused(0.0, 86_400)

    async def caller() -> None:
        with pytest.raises(CallError, match="86400 seconds"):
            await gate.enter()

    world.run(caller)
    assert world.time == 0.0


def test_one_answer_alone_holds_nobody_back_for_longer_than_a_minute() -> None:
    world = World()
    gate = gate_in(world, max_wait=900)
    world.time = 1.0
    gate.refused(0.5, 61.0)
    gate.refused(0.5, 86_400)  # under way as the gate closed: of the same moment
    entered: list[float] = []

    async def caller() -> None:
        entered.append(await gate.enter())

    world.run(caller)
    assert 1.5 <= entered[0] <= 2.0  # the pause after a first refusal without a time
    gate.refused(entered[0], 61.0)  # whoever asks again is told so again: it is believed
    world.run(caller)
    assert entered[1] == pytest.approx(entered[0] + 61)


def test_a_call_is_given_up_after_many_refusals_or_when_nobody_is_answered_for_long() -> None:
    world = World()
    gate = gate_in(world, max_refusals=3, max_wait=100)
    world.time = 5000.0  # a gate that stood idle is not a silent provider
    gate.refused(world.time, 1.0)
    assert not gate.should_give_up(3)
    assert gate.should_give_up(4)
    world.time += 101
    assert gate.should_give_up(1)
    gate.refused(world.time, 1.0)
    assert gate.should_give_up(1)  # a further refusal does not start the silence anew
    gate.passed()
    assert not gate.should_give_up(1)


def test_answers_bring_callers_together_again() -> None:
    world = World()
    gate = gate_in(world)
    for _ in range(8):
        gate.refused(-1.0, 1.0)
    for _ in range(200):  # 200 answers over 200 s narrow the spacing to nothing
        world.time += 1
        gate.passed()
    times: list[float] = []

    async def caller() -> None:
        times.append(await gate.enter())

    world.run(*[caller] * 3)
    assert times == [200.0] * 3


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("limit", [20, 100, 300])
def test_a_storm_loses_nothing_and_few_requests_are_refused(limit: int, named: bool) -> None:
    # 64 callers, 20 seconds' worth of calls of 100 ms; the provider takes ``limit`` per second and
    # refuses the rest, naming the start of the next second or no time at all.
    world = World()
    gate = gate_in(world)
    left, answered, refused = iter(range(20 * limit)), 0, 0
    taken: dict[int, int] = {}

    async def caller() -> None:
        nonlocal answered, refused
        for _ in left:
            refusals = 0
            while True:
                started = await gate.enter()
                second = int(world.time)
                taken[second] = taken.get(second, 0) + 1
                allowed = taken[second] <= limit
                await world.sleep(0.1)
                if allowed:
                    gate.passed()
                    answered += 1
                    break
                refused += 1
                refusals += 1
                gate.refused(started, max(0.01, second + 1 - world.time) if named else None)
                assert not gate.should_give_up(refusals)

    world.run(*[caller] * 64)
    assert answered == 20 * limit
    # Goals of performance.md (fault 1): refused per good call at most 0.2 where the limit is
    # unknown, beside the first burst of 64, which nobody could know of; 1.3 times the ideal time
    # where the provider names the time to wait. Where it does not, our pauses cost up to a half.
    assert refused <= 64 + 0.2 * answered
    assert world.time < (1.3 if named else 1.7) * 20


@pytest.mark.parametrize("callers", [2, 8, 16])
def test_a_few_calls_per_minute_find_their_pace_too(callers: int) -> None:
    # 30 calls of 2 s at 3 per minute, and no word on how long to wait. Judged only by the refusals
    # since the gate closed last, few callers never made a storm: 8.5 refusals per good call for 8.
    world = World()
    gate = gate_in(world)
    left, answered, refused = iter(range(30)), 0, 0
    taken: dict[int, int] = {}

    async def caller() -> None:
        nonlocal answered, refused
        for _ in left:
            while True:
                started = await gate.enter()
                minute = int(world.time // 60)
                taken[minute] = taken.get(minute, 0) + 1
                allowed = taken[minute] <= 3
                await world.sleep(2.0)
                if allowed:
                    gate.passed()
                    answered += 1
                    break
                refused += 1
                gate.refused(started, None)

    world.run(*[caller] * callers)
    assert answered == 30
    assert refused < 5 * answered
    assert world.time < 1.1 * 600  # ten minutes hold 30 calls


@pytest.mark.parametrize("callers", [4, 64])
def test_a_minute_of_refusals_at_random_is_over_when_it_is_over(callers: int) -> None:
    # Three in ten refused with a second's pause, whatever the pace, for a minute; then none. 2,000
    # calls of 100 ms take 50 s for 4 callers and 3 s for 64. To space callers farther and farther
    # because of refusals that do not depend on the pace made this take an hour.
    world = World()
    gate, chance = gate_in(world), Random(1)
    left, answered = iter(range(2000)), 0

    async def caller() -> None:
        nonlocal answered
        for _ in left:
            while True:
                started = await gate.enter()
                refused = world.time < 60 and chance.random() < 0.3
                await world.sleep(0.1)
                if not refused:
                    gate.passed()
                    answered += 1
                    break
                gate.refused(started, 1.0)

    world.run(*[caller] * callers)
    assert answered == 2000
    assert world.time < 60 + (50 if callers == 4 else 15)


def test_a_provider_that_refuses_now_and_then_is_not_paced() -> None:
    # 32 callers, 2,000 calls of 100 ms, every 20th request refused with a second's pause. A gate
    # that only pauses lets up to 32 calls through each time it opens, so that some 110 refusals in
    # bunches of one or two cost about a second each; pacing made this take many times as long.
    world = World()
    gate = gate_in(world)
    left, sent = iter(range(2000)), count(1)

    async def caller() -> None:
        for _ in left:
            while True:
                started = await gate.enter()
                refused = next(sent) % 20 == 0
                await world.sleep(0.1)
                if not refused:
                    gate.passed()
                    break
                gate.refused(started, 1.0)

    world.run(*[caller] * 32)
    assert world.time < 120

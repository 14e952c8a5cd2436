"""What a provider tells of its limits is kept to, before it has to refuse anybody."""

import asyncio

import pytest

from core.domain.votes import Vote
from core.judging.allowance import Allowance, RemainingLimit, limits_in, seconds_of
from core.judging.asking.answer_cache import as_answer, as_completion
from core.judging.providers.base import Completion
from tests.judging.scripted import ask, says
from tests.judging.wire import WAYS, complete, request
from tests.judging.world import World, gate_in
from tests.provider import Provider, ok

HEADERS = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-tokens": "149984",
    "x-ratelimit-reset-tokens": "6m0s",
}


class Bucket:
    """A provider on a clock of its own: ``size`` requests, of which ``back`` return a second."""

    name = "bucket"

    def __init__(self, world: World, size: int, back: float) -> None:
        self._world, self._size, self._back = world, size, back
        self._left, self._at = float(size), 0.0
        self.taken, self.refused = 0, 0

    def take(self) -> RemainingLimit | None:
        now = self._world.now()
        self._left = min(self._size, self._left + (now - self._at) * self._back)
        self._at = now
        if self._left < 1:
            self.refused += 1
            return None
        self._left -= 1
        self.taken += 1
        return RemainingLimit(
            self._size, int(self._left), (self._size - int(self._left)) / self._back
        )


def asked(told: bool) -> tuple[Bucket, float]:
    """300 calls of 1 s by 32 callers to a bucket of 60 that fills at 5 a second."""
    world = World()
    bucket, gate = Bucket(world, 60, 5.0), gate_in(world)
    allowed, left = gate.pacer.allowed("m"), iter(range(300))

    async def caller() -> None:
        for _ in left:
            while True:
                started = await gate.enter(10.0, allowed)
                allowed.out += 1
                said = bucket.take()
                await world.sleep(1.0)
                allowed.out -= 1
                if said is not None:
                    gate.passed()
                    if told:
                        allowed.update(world.now(), (said, None))
                    break
                gate.refused(started, 1.0)

    world.run(*[caller] * 32)
    return bucket, world.time


def test_who_is_told_what_is_left_is_not_refused_and_not_slower() -> None:
    # 60 at once and 5 a second: 300 calls take at least (300 - 60) / 5 = 48 s.
    blind, told = asked(told=False), asked(told=True)
    assert blind[0].refused > 0
    assert (told[0].taken, told[0].refused) == (300, 0)
    assert 48 <= told[1] <= 60


def test_an_allowance_never_waits_longer_than_until_all_is_back() -> None:
    one = Allowance()
    assert one.wait(0.0, 10.0) == 0.0  # nothing was said yet
    one.update(0.0, (RemainingLimit(10, 0, 20.0), None))
    assert one.wait(0.0, 10.0) == pytest.approx(2.0)  # 10 in 20 s: one is back after 2 s
    one.out = 100
    assert one.wait(0.0, 10.0) == 20.0
    assert one.wait(20.0, 10.0) == 0.0
    one.update(20.0, (None, RemainingLimit(1000, 500, 5.0)))  # 100 tokens a second
    one.out = 0
    assert one.wait(20.0, 700.0) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6m0s", 360.0), ("2m59.56s", 179.56), ("12ms", 0.012), ("1h", 3600.0), ("7", 7.0),
     ("0s", 0.0), ("", None), ("2026-11-23T05:00:00Z", None), ("-1s", None)],
)  # fmt: skip
def test_the_spans_that_providers_write_are_read(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == (None if seconds is None else pytest.approx(seconds))


def test_headers_that_say_less_or_nonsense_say_nothing() -> None:
    assert limits_in({}) is None
    assert limits_in({**HEADERS, "x-ratelimit-limit-requests": "many"}) == (
        None,
        RemainingLimit(150_000, 149_984, 360.0),
    )
    lacking = {name: text for name, text in HEADERS.items() if "reset" not in name}
    assert limits_in(lacking) is None


@pytest.mark.parametrize("kind", WAYS)
def test_every_door_brings_what_the_provider_told(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    answer = ok(1)
    answer.headers.update(HEADERS)
    provider.say(answer)
    completion = complete(runner, kind, request(provider))
    assert isinstance(completion, Completion)
    assert completion.told == (RemainingLimit(60, 59, 1.0), RemainingLimit(150_000, 149_984, 360.0))
    # A kept answer tells of another day.
    kept = as_completion(as_answer("key", "m", completion))
    assert kept.told is None


def test_a_judge_waits_for_what_its_provider_said_is_left() -> None:
    # None of 60 left and all back in 3 s: one is back after 3 / 60 s. The first answer names no
    # option that is there, so it is asked again.
    result, _, door, pauses = ask(says(9, told=(RemainingLimit(60, 0, 3.0), None)), says(1))
    assert isinstance(result, Vote)
    assert (len(door.requests), pauses) == (2, [pytest.approx(0.05)])


def test_the_names_of_mistral_and_anthropic_are_read_too() -> None:
    # As their answers had them: github.com/mistralai/client-ts, issue 169; a recorded answer of
    # Anthropic's of 21 August 2025.
    mistral = {
        "x-ratelimit-limit-tokens-minute": "5000000",
        "x-ratelimit-remaining-tokens-minute": "4999911",
        "x-ratelimit-limit-req-minute": "720",
        "x-ratelimit-remaining-req-minute": "717",
    }
    # All of it is back within a minute, at the latest.
    assert limits_in(mistral) == (
        RemainingLimit(720, 717, 60.0),
        RemainingLimit(5_000_000, 4_999_911, 60.0),
    )
    tokens = RemainingLimit(5_000_000, 4_999_911, 60.0)
    assert limits_in({**mistral, "x-ratelimit-limit-req-minute": "0"}) == (None, tokens)
    anthropic = {
        "date": "Thu, 21 Aug 2025 12:40:30 GMT",
        "anthropic-ratelimit-requests-limit": "1000",
        "anthropic-ratelimit-requests-remaining": "999",
        "anthropic-ratelimit-requests-reset": "2025-08-21T12:40:59Z",
        "anthropic-ratelimit-tokens-limit": "96000",
        "anthropic-ratelimit-tokens-remaining": "90000",
        "anthropic-ratelimit-tokens-reset": "2025-08-21T12:40:29Z",
    }
    assert limits_in(anthropic) == (
        RemainingLimit(1000, 999, 29.0),
        RemainingLimit(96_000, 90_000, 0.0),
    )
    assert limits_in({**anthropic, "anthropic-ratelimit-tokens-reset": "soon"}) == (
        RemainingLimit(1000, 999, 29.0),
        None,
    )


def test_no_room_for_a_day_is_asked_about_after_a_minute() -> None:
    world = World()
    gate = gate_in(world)
    allowed = gate.pacer.allowed("m")
    allowed.update(world.now(), (RemainingLimit(1, 0, 86_400.0), None))
    entered: list[float] = []

    async def caller() -> None:
        entered.append(await gate.enter(10.0, allowed))

    world.run(caller)
    assert entered == [60.0]

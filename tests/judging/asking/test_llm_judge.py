"""The LLM judge behind a scripted door: votes, pauses, tries, patience, accounts."""

import asyncio
import logging
from collections import deque
from typing import Any

import pytest

from core.domain.panel import Judge
from core.domain.votes import Vote, VoteFailure
from core.identity import seeded_random
from core.judging.asking.llm_judge import LLMJudge
from core.judging.asking.retry import backoff
from core.judging.prompts.assembly import build_prompt
from core.judging.providers.base import CallError, Completion, Request
from core.judging.rate_limits import ProviderGate
from tests.judging.scripted import KEY, QUESTION, ScriptedProvider, ask, says


def test_the_shown_number_becomes_the_authors_option() -> None:
    result, call, _, _ = ask(says(1, thinking="hm", model="m-1", finish="stop"))
    assert result == Vote(
        QUESTION.cell,
        1,  # order[0]
        False,
        reason="It does.",
        evidence=("Canberra",),
        order=(1, 0, 2),
    )
    assert call is not None
    assert (call.prompt, call.thinking) == (build_prompt(QUESTION).segments, "hm")
    assert (call.model, call.finish, call.tries) == ("m-1", "stop", 1)


def test_the_abstention_is_a_vote_that_abstains() -> None:
    result, *_ = ask(says(3))
    assert isinstance(result, Vote)
    assert (result.option, result.abstained) == (2, True)


def test_pauses_grow_with_full_jitter_and_are_the_same_in_every_run() -> None:
    errors = [CallError("server", "x") for _ in range(4)]
    _, _, _, pauses = ask(*errors, says())
    rng = seeded_random("backoff", 7, "i", "c", "j", 0)
    # The n-th pause is uniform on 0 to 2^(n-1) seconds.
    assert pauses == [rng.uniform(0, longest) for longest in (1.0, 2.0, 4.0, 8.0)]


def test_a_server_that_names_a_time_is_not_asked_before_it() -> None:
    _, _, _, pauses = ask(CallError("server", "x", retry_after=30.0), says())
    assert pauses == [30.0]
    assert backoff(1, 10_000.0, seeded_random(1)) == 60.0


@pytest.mark.parametrize("tries", [1, 2, 5])
@pytest.mark.parametrize("kind", ["server", "timeout", "connection"])
def test_what_may_pass_is_tried_as_often_as_the_judge_allows(kind: Any, tries: int) -> None:
    result, call, door, pauses = ask(*[CallError(kind, "Why.")] * 9, tries=tries)
    assert result == VoteFailure(QUESTION.cell, kind, "Why.", (1, 0, 2))
    assert call is not None
    assert (len(door.requests), call.tries, len(pauses)) == (tries, tries, tries - 1)


@pytest.mark.parametrize(
    "kind",
    ["auth", "not_found", "bad_request", "context_length", "content_filter", "refusal"],
)
def test_what_cannot_pass_is_not_tried_again(kind: Any) -> None:
    result, _, door, pauses = ask(CallError(kind, "Why."), says())
    assert isinstance(result, VoteFailure)
    assert (result.kind, len(door.requests), pauses) == (kind, 1, [])


def test_refusals_for_now_do_not_count_as_tries() -> None:
    storm = [CallError("rate_limit", "x", retry_after=2.0)] * 20
    result, call, _, pauses = ask(*storm, CallError("server", "x"), says(), tries=2)
    assert isinstance(result, Vote)
    assert call is not None
    assert call.tries == 22
    assert all(pause >= 2.0 for pause in pauses[:20])


def test_a_refusal_after_the_bound_says_how_often_it_was_refused() -> None:
    result, call, _, _ = ask(*[CallError("rate_limit", "Slow.", retry_after=0.0)] * 99)
    assert isinstance(result, VoteFailure)
    assert (result.kind, result.message) == ("rate_limit", "Given up after 61 refusals. Slow.")
    assert call is not None
    assert call.tries == 61


def test_a_wait_of_a_day_is_not_waited_for() -> None:
    # Said by one answer it may be a slip; said again when asked a second later, it is meant.
    day = CallError("rate_limit", "x", retry_after=86_400.0)
    result, _, _, pauses = ask(day, day, says())
    assert isinstance(result, VoteFailure)
    assert result.kind == "rate_limit"
    assert len(pauses) == 1
    assert pauses[0] <= 1.0
    assert isinstance(ask(day, says())[0], Vote)


def test_a_missing_key_is_named_by_its_variable_before_any_request() -> None:
    result, call, door, _ = ask(says(), key=None, key_env="MY_KEY")
    assert isinstance(result, VoteFailure)
    assert result.kind == "missing_key"
    assert "MY_KEY" in result.message
    assert (call, door.requests) == (None, [])


def test_a_line_break_after_the_key_is_taken_off() -> None:
    *_, door, _ = ask(says(), key=f"{KEY}\n", key_env="MY_KEY")
    assert door.requests[0].key == KEY


def test_a_bug_is_a_failure_with_its_name_and_a_line_in_the_log_without_the_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        result, call, _, _ = ask(ZeroDivisionError(f"with {KEY}"))
    assert isinstance(result, VoteFailure)
    assert result.kind == "internal"
    assert "ZeroDivisionError: with [key]" in result.message
    assert "Traceback" in caplog.text
    assert KEY not in caplog.text
    assert call is not None
    assert call.tries == 1


def test_cancelling_is_not_turned_into_a_failure() -> None:
    class Stuck(ScriptedProvider):
        async def complete(self, request: Request) -> Completion:
            await asyncio.Event().wait()
            raise AssertionError

    async def go() -> None:
        judge = LLMJudge(Judge(name="j", model="x"), Stuck(deque()), None, ProviderGate())
        asking = asyncio.create_task(judge.ask(QUESTION))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(go())


def test_what_was_sent_is_kept_without_the_key() -> None:
    _, call, door, _ = ask(
        says(),
        api_base="http://host/v1",
        key_env="MY_KEY",
        temperature=0.2,
        params={"seed": 5},
    )
    assert call is not None
    assert call.params == {
        "door": "scripted",
        "prompt": "asking/3",
        "mode": "criterion",
        "model": "openai/x",
        "api_base": "http://host/v1",
        "temperature": 0.2,
        "timeout": 60.0,
        "params": {"seed": 5},
        "format": "bounded",
    }
    assert KEY not in repr(call)
    assert door.requests[0].key == KEY


def test_an_answer_ends_a_row_of_refusals() -> None:
    refused = CallError("rate_limit", "Slow.")
    door, pauses = ScriptedProvider(deque([refused, says(), refused, says()])), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    gate = ProviderGate(sleep=sleep, clock=lambda: sum(pauses))
    judge = LLMJudge(Judge(name="j", model="x"), door, None, gate)

    async def go() -> None:
        await judge.ask(QUESTION)
        await judge.ask(QUESTION)

    asyncio.run(go())
    # Unnamed pauses are 0.5 to 1 s after a first refusal in a row and 1 to 2 s after a second.
    assert max(pauses) <= 1.0


def test_closing_a_judge_leaves_the_shared_door_open() -> None:
    assert not ask(says())[2].closed

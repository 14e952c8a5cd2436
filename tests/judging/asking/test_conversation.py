"""The whole rubric in one call, and two steps: votes, failures, repairs and accounts."""

import asyncio
import json
from collections import deque
from dataclasses import replace
from typing import Any

import pytest

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Segment, Vote, VoteFailure
from core.judging.asking.engine import grade
from core.judging.asking.llm_judge import LLMJudge
from core.judging.prompts.assembly import (
    assessment_repair,
    build_prompt,
    follow_up_messages,
    repair_message,
)
from core.judging.protocol import Question
from core.judging.providers.base import CallError, Completion
from core.judging.rate_limits import ProviderGate
from tests.judging.asked import ASPIRIN, CAPITAL, CASES, DEPTH, question, whole
from tests.judging.scripted import ScriptedProvider, says

#: Shown 1, 2, 3 of c1 are choices 1, 0, 2; of c2 they are 2, 0, 1, 3.
THREE = whole(CAPITAL, DEPTH, ASPIRIN, orders="102 2013 012")
STEPS = replace(question(CAPITAL, order="102"), mode="two_step")


def put(
    asked: Question, *script: Completion | Exception, **settings: Any
) -> tuple[AskedOutcome, ScriptedProvider]:
    door, ticks = ScriptedProvider(deque(script)), iter(range(0, 1000, 2))

    async def sleep(seconds: float) -> None:
        del seconds

    async def go() -> AskedOutcome:
        spec = Judge(**{"name": "judge", "model": "openai/x", **settings})
        gate = ProviderGate(sleep=sleep)
        clock = lambda: float(next(ticks))  # noqa: E731
        return await LLMJudge(spec, door, None, gate, sleep=sleep, clock=clock).ask(asked)

    return asyncio.run(go()), door


def entries(*options: object, **more: Any) -> Completion:
    reply = {
        f"c{number}": {"evidence": [f"q{number}"], "reason": f"r{number}", "option": option}
        for number, option in enumerate(options, start=1)
        if option is not None
    }
    return Completion(json.dumps(reply), tokens_in=1000, tokens_out=200, **more)


def test_one_call_gives_a_vote_per_criterion_each_by_its_own_shown_order() -> None:
    outcome, door = put(THREE, entries(1, 1, 3))
    assert outcome.results == tuple(
        Vote(ask.cell, option, abstained, f"r{n}", (f"q{n}",), ask.order)
        for n, (ask, option, abstained) in enumerate(
            zip(THREE.asks, (1, 2, 2), (False, False, True), strict=True), start=1
        )
    )
    assert len(door.requests) == 1
    call = outcome.call
    assert call is not None
    assert (call.prompt, call.tries, call.tokens_in) == (build_prompt(THREE).segments, 1, 1000)
    assert call.params["mode"] == "rubric"


def test_an_entry_that_cannot_be_read_fails_only_its_own_criterion_and_is_not_asked_again() -> None:
    outcome, door = put(THREE, entries(1, None, 4))
    first, second, third = outcome.results
    assert isinstance(first, Vote)
    assert isinstance(second, VoteFailure)
    assert isinstance(third, VoteFailure)
    assert (second.cell.criterion, second.kind) == ("depth", "malformed")
    assert (third.cell.criterion, third.kind, third.order) == ("aspirin", "out_of_range", (0, 1, 2))
    assert len(door.requests) == 1


def test_a_reply_of_which_nothing_can_be_read_is_repaired_once() -> None:
    outcome, door = put(THREE, Completion("All are met."), entries(1, 1, 1))
    assert all(isinstance(result, Vote) for result in outcome.results)
    assert [r.detail for r in outcome.results if isinstance(r, Vote)] == [{"repaired": True}] * 3
    problem = "The reply held no JSON object with the criteria's ids as its keys."
    assert outcome.call is not None
    assert outcome.call.prompt == (*build_prompt(THREE).segments, repair_message(problem, THREE))
    assert 'the keys "c1", "c2", "c3"' in door.requests[1].messages[-1]["content"]


def test_a_reply_that_stays_unreadable_fails_every_criterion() -> None:
    outcome, door = put(THREE, Completion("No."), Completion('{"c1"', finish="length"), entries(1))
    assert len(door.requests) == 2
    assert [r.cell for r in outcome.results] == [ask.cell for ask in THREE.asks]
    for result in outcome.results:
        assert isinstance(result, VoteFailure)
        assert result.kind == "malformed"
        assert "max_tokens" in result.message
        assert result.message.endswith("A second request did not help.")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Completion(None, refusal="No."), "refusal"),
        (Completion("", finish="content_filter"), "content_filter"),
        (CallError("auth", "Bad key."), "auth"),
        (ZeroDivisionError("a bug"), "internal"),
    ],
)
def test_a_call_that_fails_fails_every_criterion_alike(
    answer: Completion | Exception, kind: str
) -> None:
    outcome, _ = put(THREE, answer)
    assert [r.cell for r in outcome.results] == [ask.cell for ask in THREE.asks]
    assert {r.kind for r in outcome.results if isinstance(r, VoteFailure)} == {kind}


def test_a_judge_that_is_not_asked_any_more_fails_every_criterion_of_what_is_left() -> None:
    other = replace(THREE, cell=THREE.cell._replace(item="i2"))
    door = ScriptedProvider(deque([CallError("auth", "Bad key.")]))
    judge = LLMJudge(Judge(name="judge", model="x", concurrency=1), door, None, ProviderGate())

    async def go() -> list[AskedOutcome]:
        questions = {"judge": iter((THREE, other))}
        return [o async for o in grade(questions, {"judge": judge}, stop=asyncio.Event())]

    for outcome, asked in zip(asyncio.run(go()), (THREE, other), strict=True):
        assert [(r.cell, r.order) for r in outcome.results] == [
            (ask.cell, ask.order) for ask in asked.asks
        ]
        assert {r.kind for r in outcome.results if isinstance(r, VoteFailure)} == {"auth"}
    assert len(door.requests) == 1


def test_only_the_criteria_that_are_still_open_are_asked() -> None:
    left = replace(THREE, cell=THREE.asks[1].cell, criterion=DEPTH, order=(2, 0, 1, 3), more=())
    outcome, door = put(left, entries(4))
    assert [r.cell.criterion for r in outcome.results] == ["depth"]
    text = door.requests[0].messages[-1]["content"]
    assert "CRITERION c1\nHow fully" in text
    assert "aspirin" not in text.lower()


def test_several_criteria_without_the_mode_for_it_are_a_bug_and_no_vote() -> None:
    outcome, door = put(replace(THREE, mode="criterion"), entries(1, 1, 1))
    assert {r.kind for r in outcome.results if isinstance(r, VoteFailure)} == {"internal"}
    assert (len(outcome.results), door.requests) == (3, [])


ASSESSED = Completion("It names Canberra.", tokens_in=900, tokens_out=80, cost=0.01, thinking="a")


def test_two_steps_are_one_conversation_and_one_call() -> None:
    outcome, door = put(STEPS, ASSESSED, says(2, cost=0.02, thinking="b", tokens_cached=850))
    (vote,) = outcome.results
    # Shown 2 is choice 0; the assessment is the reason, the evidence is the second reply's.
    assert vote == Vote(STEPS.cell, 0, False, "It names Canberra.", ("Canberra",), (1, 0, 2))
    first, second = door.requests
    assert (first.format, second.format) == ("words", "schema")
    assert [m["role"] for m in second.messages] == ["system", "user", "assistant", "user"]
    assert second.messages[:2] == first.messages
    assert second.messages[2]["content"] == "It names Canberra."
    call = outcome.call
    assert call is not None
    assert call.prompt == (
        *build_prompt(STEPS).segments,
        *follow_up_messages(STEPS, "It names Canberra."),
    )
    assert (call.tries, call.tokens_in, call.tokens_out) == (2, 1900, 180)
    assert (call.tokens_cached, call.thinking) == (850, "a\n\nb")
    assert call.cost == pytest.approx(0.03)
    assert call.seconds == 4.0  # the clock ticks 2 s in each request
    assert json.loads(call.reply)["option"] == 2
    assert (call.params["mode"], call.params["format"]) == ("two_step", "schema")


def test_a_long_assessment_is_kept_beside_the_reason_that_sums_it_up() -> None:
    words = "It names Canberra. " * 40
    outcome, _ = put(STEPS, Completion(words), says(2))
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    assert (vote.reason, vote.detail) == ("It does.", {"assessment": words.strip()})


@pytest.mark.parametrize(
    ("poor", "words"),
    [
        (Completion("  "), "The reply was empty."),
        (Completion(" ", finish="length"), "max_tokens"),
    ],
)
def test_an_assessment_that_is_none_is_asked_for_once_more(poor: Completion, words: str) -> None:
    outcome, door = put(STEPS, poor, ASSESSED, says(2))
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    assert vote.detail == {"repaired": True}
    assert words in door.requests[1].messages[-1]["content"]
    assert len(door.requests) == 3
    outcome, door = put(STEPS, poor, poor, says(2))
    (failure,) = outcome.results
    assert isinstance(failure, VoteFailure)
    assert failure.kind == "empty"
    assert failure.message.startswith("There was no assessment.")
    assert len(door.requests) == 2
    assert outcome.call is not None
    assert outcome.call.prompt[-1].text.startswith(assessment_repair("").text[:30])


def test_of_an_assessment_that_never_ends_the_option_is_asked_for_all_the_same() -> None:
    endless = Completion("It names Canberra. It names", finish="length")
    outcome, door = put(STEPS, endless, endless, says(2))
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    assert (vote.option, vote.reason) == (0, "It names Canberra. It names")
    assert "max_tokens" in door.requests[1].messages[-1]["content"]
    assert len(door.requests) == 3


def test_the_choice_has_one_repair_too_but_only_one_is_made_in_all() -> None:
    outcome, door = put(STEPS, ASSESSED, says(9), says(1))
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    assert (vote.option, vote.detail) == (1, {"repaired": True})
    sent = door.requests[2].messages
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert "was not from 1 to 3" in sent[-1]["content"]
    outcome, door = put(STEPS, Completion(""), ASSESSED, says(9), says(1))
    (failure,) = outcome.results
    assert isinstance(failure, VoteFailure)
    assert (failure.kind, len(door.requests)) == ("out_of_range", 3)


def test_each_step_has_the_judges_tries() -> None:
    down = CallError("server", "Down.")
    outcome, _ = put(STEPS, down, ASSESSED, down, says(1), tries=2)
    assert isinstance(outcome.results[0], Vote)
    assert outcome.call is not None
    assert outcome.call.tries == 4
    outcome, _ = put(STEPS, ASSESSED, down, down, says(1), tries=2)
    (failure,) = outcome.results
    assert isinstance(failure, VoteFailure)
    assert failure.kind == "server"
    assert outcome.call is not None
    # What was said and paid for before the failure is kept.
    assert (outcome.call.tokens_in, outcome.call.prompt[-2]) == (
        900,
        Segment("assistant", "It names Canberra."),
    )


def test_a_refusal_to_assess_is_a_refusal() -> None:
    outcome, door = put(STEPS, Completion(None, refusal="No."), says(1))
    (failure,) = outcome.results
    assert isinstance(failure, VoteFailure)
    assert (failure.kind, len(door.requests)) == ("refusal", 1)


def test_the_plain_words_of_the_first_step_do_not_unlearn_the_format_of_the_second() -> None:
    unknown = CallError("bad_request", "response_format", about_format=True)
    outcome, door = put(STEPS, ASSESSED, unknown, says(1))
    assert isinstance(outcome.results[0], Vote)
    assert [r.format for r in door.requests] == ["words", "schema", "object"]


def test_a_call_keeps_how_it_was_asked_and_which_examples_it_showed() -> None:
    outcome, _ = put(CASES["examples-criterion-first"], says(1))
    assert outcome.call is not None
    asked = {name: outcome.call.params.get(name) for name in ("mode", "layout", "examples")}
    assert asked == {"mode": "criterion", "layout": "criterion_first", "examples": ["e1", "e2"]}

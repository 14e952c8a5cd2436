"""Replies that cannot be read, and endpoints that do not know a reply format."""

import asyncio
from collections import deque

import pytest

from core.domain.panel import Judge
from core.domain.votes import Vote, VoteFailure
from core.judging.asking.llm_judge import LLMJudge
from core.judging.prompts.assembly import build_prompt, repair_message
from core.judging.prompts.reply_parsing import option_schema
from core.judging.providers.base import CallError, Completion, Request, response_format
from core.judging.rate_limits import ProviderGate
from tests.judging.asking.test_judge_wire import ask as ask_wire
from tests.judging.scripted import QUESTION, ScriptedProvider, ask, says
from tests.provider import Provider, status


def test_a_repair_quotes_the_problem_and_is_billed() -> None:
    broken = says(9, cost=0.01, tokens_cached=500)
    result, call, door, _ = ask(broken, says(2, cost=0.02, tokens_cached=900))
    assert isinstance(result, Vote)
    assert (result.option, result.detail) == (0, {"repaired": True})
    problem = "The reply's option was not from 1 to 3."
    assert call is not None
    assert call.prompt == (*build_prompt(QUESTION).segments, repair_message(problem, QUESTION))
    assert problem in door.requests[1].messages[-1]["content"]
    assert (call.tries, call.tokens_in, call.tokens_cached, call.tokens_out) == (2, 2000, 1400, 200)
    assert call.cost == pytest.approx(0.03)


def test_after_a_reply_that_was_cut_off_only_the_option_is_asked_for() -> None:
    cut = Completion('{"evidence": ["a", "a", "a"', finish="length")
    result, _, door, _ = ask(cut, Completion('{"option": 2}'))
    assert isinstance(result, Vote)
    assert (result.option, result.reason, result.detail) == (0, "", {"repaired": True})
    assert door.requests[1].schema == option_schema([3], allows_several=False)
    assert "too long" in door.requests[1].messages[-1]["content"]


def test_a_local_server_gets_limits_of_texts_and_without_them_the_plain_schema() -> None:
    refused = CallError("bad_request", "json_schema: maxItems is not supported", about_format=True)
    local = {"api_base": "http://127.0.0.1:8080/v1"}
    _, _, door, _ = ask(refused, says(), tries=1, **local)
    assert [request.format for request in door.requests] == ["bounded", "schema"]
    sent = [str(response_format(request)) for request in door.requests]
    assert [("maxItems" in text, "maxLength" in text) for text in sent] == [
        (True, True),
        (False, False),
    ]


def test_a_prompt_beyond_the_context_is_sent_once(
    runner: asyncio.Runner, provider: Provider
) -> None:
    words = "the request exceeds the available context size, try increasing it"
    provider.say(*[status(500, words)] * 3)
    result, _, pauses = ask_wire(runner, "openai", provider)
    assert isinstance(result, VoteFailure)
    assert (result.kind, provider.count, pauses) == ("context_length", 1, [])


def test_a_reply_that_stays_unreadable_is_kept_and_is_no_vote() -> None:
    result, call, _, _ = ask(Completion("I think 1."), Completion("Surely 1."), says())
    assert isinstance(result, VoteFailure)
    assert result.kind == "malformed"
    assert result.message.endswith("A second request did not help.")
    assert call is not None
    assert (call.reply, call.tries, call.tokens_in) == ("Surely 1.", 2, None)


def test_a_judge_with_one_try_is_not_asked_to_repair() -> None:
    result, _, door, _ = ask(Completion("I think 1."), says(), tries=1)
    assert isinstance(result, VoteFailure)
    assert (result.kind, len(door.requests)) == ("malformed", 1)


def test_a_reply_cut_off_says_that_max_tokens_is_the_cause() -> None:
    result, *_ = ask(Completion('{"evi', finish="length"), Completion('{"evi', finish="length"))
    assert isinstance(result, VoteFailure)
    assert result.kind == "malformed"
    assert "max_tokens" in result.message


def test_thinking_that_ate_all_tokens_is_empty_and_says_so() -> None:
    result, *_ = ask(Completion("", finish="length"), Completion(None, finish="length"))
    assert isinstance(result, VoteFailure)
    assert (result.kind, "max_tokens" in result.message) == ("empty", True)


def test_a_refusal_in_words_is_kept_as_the_reply() -> None:
    result, call, door, _ = ask(Completion(None, refusal="I will not."), says())
    assert isinstance(result, VoteFailure)
    assert (result.kind, result.message) == ("refusal", "The model refused: I will not.")
    assert call is not None
    assert (call.reply, len(door.requests)) == ("I will not.", 1)


def test_a_format_found_out_by_one_call_is_used_by_the_next() -> None:
    door = ScriptedProvider(
        deque([CallError("bad_request", "response_format", about_format=True), says(), says()])
    )
    judge = LLMJudge(Judge(name="j", model="x", tries=1), door, None, ProviderGate())

    async def go() -> None:
        await judge.ask(QUESTION)
        await judge.ask(QUESTION)

    asyncio.run(go())
    assert [request.format for request in door.requests] == ["schema", "object", "object"]


def test_calls_in_flight_together_make_the_format_simpler_only_once() -> None:
    class Picky(ScriptedProvider):
        async def complete(self, request: Request) -> Completion:
            self.requests.append(request)
            await asyncio.sleep(0)
            if request.format == "schema":
                raise CallError("bad_request", "response_format", about_format=True)
            return says()

    door = Picky(deque())
    judge = LLMJudge(Judge(name="j", model="x"), door, None, ProviderGate())

    async def go() -> None:
        await asyncio.gather(*(judge.ask(QUESTION) for _ in range(5)))

    asyncio.run(go())
    assert [r.format for r in door.requests] == ["schema"] * 5 + ["object"] * 5


def test_a_late_refusal_of_the_first_format_does_not_bring_a_later_one_back() -> None:
    refused = CallError("bad_request", "response_format", about_format=True)
    go_on = asyncio.Event()

    class Slow(ScriptedProvider):
        async def complete(self, request: Request) -> Completion:
            self.requests.append(request)
            if len(self.requests) == 1:
                await go_on.wait()
            if request.format == "words":
                return says()
            raise refused

    door = Slow(deque())
    judge = LLMJudge(Judge(name="j", model="x"), door, None, ProviderGate())

    async def go() -> None:
        first = asyncio.create_task(judge.ask(QUESTION))
        await asyncio.sleep(0)
        await judge.ask(QUESTION)
        go_on.set()
        await first

    asyncio.run(go())
    formats = [request.format for request in door.requests]
    assert formats == ["schema", "schema", "object", "words", "words"]

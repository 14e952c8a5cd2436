"""Both doors against one scripted provider: the same faults, votes, tokens and requests.

The litellm door imports litellm (seconds), so this is the slowest module of its folder.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import Call, Cell, Vote, VoteFailure
from core.judging.doors import (
    CallError,
    Completion,
    Request,
    door_for,
    open_door,
    split_thinking,
    tokens,
)
from core.judging.gate import ProviderGate
from core.judging.llm import LLMJudge
from core.judging.openai_door import chat_body
from core.judging.prompts import reply_schema
from core.judging.protocol import Question
from tests import provider as answers
from tests.provider import Answer, Provider, ok, said, status

DOORS = ("openai", "litellm")
KEY = "sk-TOP-SECRET-0123456789"
CRITERION = Criterion(name="c", requirement="Names the capital.", weight=1)
RUBRIC = Rubric(criteria=(CRITERION,))


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    """One loop for the module: litellm's clients belong to the loop they were made on."""
    with asyncio.Runner() as runner:
        yield runner


@asynccontextmanager
async def opened(kind: Any) -> AsyncIterator[Any]:
    door = open_door(kind)
    try:
        yield door
    finally:
        await door.close()


def request(provider: Provider, **changes: Any) -> Request:
    given: dict[str, Any] = {
        "model": "openai/scripted",
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
        "schema": reply_schema(3),
        "api_base": provider.url,
        "key": KEY,
        "timeout": 10.0,
    }
    return Request(**{**given, **changes})


def complete(runner: asyncio.Runner, kind: str, given: Request) -> Completion | CallError:
    async def go() -> Completion | CallError:
        async with opened(kind) as door:
            try:
                completion: Completion = await door.complete(given)
            except CallError as error:
                return error
            return completion

    return runner.run(go())


@pytest.mark.parametrize("kind", DOORS)
def test_a_completion_carries_what_the_provider_said(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(said("hello", reasoning_content="hm"))
    assert complete(runner, kind, request(provider)) == Completion(
        text="hello",
        thinking="hm",
        model="scripted-model-v1",
        finish="stop",
        tokens_in=1000,
        tokens_cached=600,
        tokens_out=50,
        tokens_thinking=20,
    )


@pytest.mark.parametrize("kind", DOORS)
def test_both_doors_send_the_same_body(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    given = request(
        provider, temperature=0.5, max_tokens=99, thinking="low", params={"seed": 5, "top_k": 3}
    )
    complete(runner, kind, given)
    schema = {"name": "judgement", "strict": True, "schema": reply_schema(3)}
    assert provider.requests[0].body == {
        "model": "scripted",
        "messages": given.messages,
        "temperature": 0.5,
        "max_tokens": 99,
        "reasoning_effort": "low",
        "seed": 5,
        "top_k": 3,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("kind", DOORS)
def test_thinking_off_is_said_and_thinking_left_open_is_not(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    complete(runner, kind, request(provider, thinking="off", format="object"))
    complete(runner, kind, request(provider, thinking=None, format="words"))
    off, unsaid = (sent.body for sent in provider.requests)
    assert (off["reasoning_effort"], off["response_format"]) == ("none", {"type": "json_object"})
    assert "reasoning_effort" not in unsaid
    assert "response_format" not in unsaid


@pytest.mark.parametrize("kind", DOORS)
def test_a_key_in_the_environment_is_never_sent_to_a_given_address(
    kind: str, provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    complete(runner, kind, request(provider, key=None))
    assert KEY not in str(provider.requests[0].headers)


@pytest.mark.parametrize("kind", DOORS)
def test_a_model_named_after_nobody_is_reached_at_its_address(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    complete(runner, kind, request(provider, model="meta-llama/x"))
    assert provider.requests[0].body["model"] == "meta-llama/x"


LONG = "This model's maximum context length is 10 tokens, you sent 20."
ERRORS: dict[str, tuple[Answer, str, int | None]] = {
    "429": (status(429), "rate_limit", 429),
    "no quota": (status(429, "You exceeded ...", error_code="insufficient_quota"), "auth", 429),
    "401": (status(401, f"Incorrect API key provided: {KEY}"), "auth", 401),
    "402": (status(402), "auth", 402),
    "403": (status(403), "auth", 403),
    "404": (status(404, "The model `x` does not exist"), "not_found", 404),
    "408": (status(408), "timeout", 408),
    "too long": (status(400, LONG, error_code="context_length_exceeded"), "context_length", 400),
    "413": (status(413), "context_length", 413),
    "400": (status(400, "temperature must be 1"), "bad_request", 400),
    "422": (status(422), "bad_request", 422),
    "filter": (status(400, "No.", error_code="content_filter"), "content_filter", 400),
    "500": (status(500), "server", 500),
    "503": (status(503), "server", 503),
    "529": (status(529), "server", 529),
    "502 web page": (answers.html(502), "server", 502),
    "200 web page": (answers.html(), "server", None),
    "200 with an error": (answers.plain({"error": {"message": "x", "code": 502}}), "server", 502),
    "200 without choices": (answers.plain({}), "server", None),
    "200 with a list": (answers.plain([1]), "server", None),
    "reset": (answers.reset(), "connection", None),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.parametrize("kind", DOORS)
def test_a_fault_has_the_same_kind_through_both_doors_in_one_request(
    kind: str, name: str, provider: Provider, runner: asyncio.Runner
) -> None:
    answer, wanted, code = ERRORS[name]
    provider.say(answer)
    error = complete(runner, kind, request(provider))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == (wanted, 1)
    if code is not None:
        assert error.status == code
    assert KEY not in str(error)
    assert "litellm" not in str(error).lower()
    assert not error.about_format


@pytest.mark.parametrize("kind", DOORS)
def test_the_wait_that_a_provider_asks_for_is_read(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(status(429, headers={"Retry-After": "7"}))
    error = complete(runner, kind, request(provider))
    assert isinstance(error, CallError)
    assert error.retry_after == 7.0


@pytest.mark.parametrize("kind", DOORS)
def test_an_unknown_reply_format_is_told_from_other_bad_requests(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(status(400, "This response_format type is unavailable now"))
    error = complete(runner, kind, request(provider))
    assert isinstance(error, CallError)
    assert (error.kind, error.about_format) == ("bad_request", True)


@pytest.mark.parametrize("kind", DOORS)
def test_a_stalled_answer_is_a_timeout(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.stall())
    error = complete(runner, kind, request(provider, timeout=0.2))
    assert isinstance(error, CallError)
    assert (error.kind, error.message) == ("timeout", "No answer within 0.2 seconds.")


@pytest.mark.parametrize("kind", DOORS)
def test_an_answer_that_trickles_in_does_not_outlast_the_timeout(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.trickle())
    error = complete(runner, kind, request(provider, timeout=0.3))
    assert isinstance(error, CallError)
    assert error.kind == "timeout"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"choices": [None]}, None),
        ({"choices": [{"message": None, "finish_reason": None}]}, None),
        ({"choices": [{"message": {"content": 5}}], "usage": [1]}, None),
        ({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, 5]}}]}, "a"),
    ],
)
def test_odd_shapes_are_read_as_far_as_they_go(
    body: object, text: str | None, provider: Provider, runner: asyncio.Runner
) -> None:
    # Through the lean door only: litellm makes what it likes of them before we see it.
    provider.say(answers.plain(body))
    completion = complete(runner, "openai", request(provider))
    assert isinstance(completion, Completion)
    assert completion.text == text


@pytest.mark.parametrize("kind", DOORS)
def test_a_known_name_at_somebody_elses_address_has_no_price(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    completion = complete(runner, kind, request(provider, model="openai/gpt-4o-mini"))
    assert isinstance(completion, Completion)
    assert completion.cost is None


@pytest.mark.parametrize("kind", DOORS)
def test_nobody_at_the_address_is_a_connection_failure(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: a connection is refused
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        error = complete(runner, kind, request(provider, api_base=url))
    assert isinstance(error, CallError)
    assert error.kind == "connection"


@pytest.mark.parametrize("kind", DOORS)
def test_what_a_model_did_not_say_is_passed_on_as_it_is(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.null(), answers.refusal("I will not."), said("x", usage=None))
    null, refused, unmetered = (complete(runner, kind, request(provider)) for _ in range(3))
    assert isinstance(null, Completion)
    assert isinstance(refused, Completion)
    assert isinstance(unmetered, Completion)
    assert (null.text, null.refusal) == (None, "")
    assert (refused.text, refused.refusal) == (None, "I will not.")
    assert (unmetered.tokens_in, unmetered.tokens_out) == (None, None)


@pytest.mark.parametrize("kind", DOORS)
def test_thinking_that_a_local_model_writes_into_its_reply_is_taken_out(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(said('<think>{"option": 1}?</think>{"option": 2}'))
    completion = complete(runner, kind, request(provider))
    assert isinstance(completion, Completion)
    assert (completion.thinking, completion.text) == ('{"option": 1}?', '{"option": 2}')


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize("name", ["stream", "n", "api_key", "extra_headers", "num_retries"])
def test_params_that_would_change_the_nature_of_a_call_are_refused_unsent(
    kind: str, name: str, provider: Provider, runner: asyncio.Runner
) -> None:
    error = complete(runner, kind, request(provider, params={name: 1}))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("bad_request", 0)


@pytest.mark.parametrize("kind", DOORS)
def test_a_thinking_budget_is_refused_where_the_protocol_has_no_field_for_it(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    error = complete(runner, kind, request(provider, thinking=2048))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("bad_request", 0)


@pytest.mark.parametrize("kind", DOORS)
def test_a_closed_door_opens_again(kind: str, provider: Provider, runner: asyncio.Runner) -> None:
    async def go() -> None:
        async with opened(kind) as door:
            await door.complete(request(provider))
            await door.close()
            await door.complete(request(provider))

    runner.run(go())
    assert provider.count == 2


@pytest.mark.parametrize("kind", DOORS)
def test_cancelled_calls_leave_the_door_usable(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(*[answers.stall()] * 5)

    async def go() -> Completion:
        async with opened(kind) as door:
            calls = [asyncio.create_task(door.complete(request(provider))) for _ in range(5)]
            while provider.count < 5:
                await asyncio.sleep(0.005)
            for call in calls:
                call.cancel()
            gone = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(one, asyncio.CancelledError) for one in gone)
            completion: Completion = await door.complete(request(provider))
            return completion

    assert runner.run(go()).tokens_in == 1000


# -- the whole judge, over the wire ---------------------------------------------------------------


def ask(
    runner: asyncio.Runner, kind: Any, provider: Provider, **changes: Any
) -> tuple[Vote | VoteFailure, Call, list[float]]:
    """What a judge of 3 tries says about one question, its call, and the pauses it made."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    given = {"name": "j", "model": "openai/scripted", "api_base": provider.url, "tries": 3}
    spec = Judge(**{**given, "door": kind, **changes})
    item = Item(id="i", submission="It is Canberra.")
    question = Question(Cell("i", "c", "j"), item, RUBRIC, CRITERION, (1, 0, 2), 7)

    async def go() -> Any:
        async with opened(kind) as door:
            gate = ProviderGate(max_refusals=4, sleep=_passing(pauses), clock=_clock(pauses))
            return await LLMJudge(spec, door, KEY, gate, sleep=sleep).ask(question)

    outcome = runner.run(go())
    (result,) = outcome.results
    return result, outcome.call, pauses


def _passing(pauses: list[float]) -> Callable[[float], Awaitable[None]]:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    return sleep


def _clock(pauses: list[float]) -> Callable[[], float]:
    return lambda: sum(pauses)


WIRE: dict[str, tuple[list[Answer], str, int, int | None]] = {
    # name: script, kind ("" for a vote), requests, tokens billed in
    "at once": ([ok(1)], "", 1, 1000),
    "after errors": ([status(500), answers.reset(), ok(1)], "", 3, 1000),
    "errors only": ([status(503)] * 4, "server", 3, None),
    "web pages only": ([answers.html(502)] * 4, "server", 3, None),
    "repaired": ([answers.malformed(), ok(1)], "", 2, 2000),
    "twice malformed": ([answers.malformed()] * 3, "malformed", 2, 2000),
    "twice truncated": ([answers.truncated()] * 3, "malformed", 2, 2000),
    "twice out of range": ([ok(4), ok(0)], "out_of_range", 2, 2000),
    "twice null": ([answers.null()] * 3, "empty", 2, 2000),
    "twice without choices": ([answers.plain({"choices": []})] * 3, "empty", 2, None),
    "refusal": ([answers.refusal()], "refusal", 1, 1000),
    "filtered": ([answers.filtered()], "content_filter", 1, 1000),
    "too long": ([status(400, LONG)], "context_length", 1, None),
    "bad request": ([status(400, "No.")], "bad_request", 1, None),
    "bad key": ([status(401)], "auth", 1, None),
    "no model": ([status(404)], "not_found", 1, None),
    "storm": ([status(429, headers={"Retry-After": "2"})] * 4 + [ok(1)], "", 5, 1000),
    "endless storm": ([status(429)] * 9, "rate_limit", 5, None),
    "no schema": ([status(400, "response_format is unknown")] * 2 + [ok(1)], "", 3, 1000),
}


@pytest.mark.parametrize("name", WIRE)
@pytest.mark.parametrize("kind", DOORS)
def test_a_judge_behaves_the_same_through_both_doors(
    kind: str,
    name: str,
    provider: Provider,
    runner: asyncio.Runner,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script, wanted, requests, billed = WIRE[name]
    provider.say(*script)
    with caplog.at_level(logging.DEBUG, logger="core"):
        result, call, _ = ask(runner, kind, provider)
    assert (result.kind if isinstance(result, VoteFailure) else "") == wanted
    assert (provider.count, call.tries) == (requests, requests)  # counted = on the wire
    assert call.tokens_in == billed
    assert result.order == (1, 0, 2)
    if isinstance(result, Vote):
        assert (result.option, result.reason) == (1, "It fits.")  # shown 1 is choice order[0] = 1
    assert KEY not in repr((result, call)) + caplog.text
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize("kind", DOORS)
def test_a_refused_format_is_made_simpler_step_by_step(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(*[status(400, "response_format is unknown")] * 2)
    _, call, pauses = ask(runner, kind, provider)
    formats = [(r.body.get("response_format") or {}).get("type") for r in provider.requests]
    assert formats == ["json_schema", "json_object", None]
    assert (call.params["format"], pauses) == ("words", [])


def test_a_redirect_is_not_followed_with_the_key(
    provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(Answer(307, headers={"Location": f"{provider.url}/chat/completions"}))
    error = complete(runner, "openai", request(provider))
    assert isinstance(error, CallError)
    assert (error.kind, error.status, provider.count) == ("not_found", 307, 1)


def test_openai_itself_gets_the_new_name_of_the_limit_and_other_servers_the_old() -> None:
    own = chat_body(Request("gpt-x", [], {}, max_tokens=9))
    other = chat_body(Request("x", [], {}, max_tokens=9, api_base="http://localhost/v1"))
    assert (own["max_completion_tokens"], "max_tokens" in own) == (9, False)
    assert (other["max_tokens"], "max_completion_tokens" in other) == (9, False)


def test_auto_takes_the_lean_door_where_an_address_speaks_the_open_protocol() -> None:
    def door(model: str, api_base: str = "", **more: Any) -> str:
        return door_for(Judge(name="j", model=model, api_base=api_base, **more))

    local = "http://localhost:8000/v1"
    assert door("openai/gpt-4.1-mini") == "litellm"
    assert door("gpt-4.1-mini", door="openai") == "openai"
    assert door("openai/x", local) == "openai"
    assert door("x", local) == "openai"
    assert door("meta-llama/x", local) == "openai"
    assert door("ollama/x", local) == "litellm"
    assert door("x", local, door="litellm") == "litellm"


def test_every_provider_we_name_is_one_that_litellm_knows() -> None:
    from core.judging.litellm_door import load_litellm
    from core.judging.providers import PROVIDERS

    known = {str(getattr(p, "value", p)) for p in load_litellm().provider_list}
    assert known >= PROVIDERS


def test_a_request_never_shows_its_key() -> None:
    assert KEY not in repr(Request("m", [], {}, key=KEY))


def test_text_without_a_closed_thought_is_left_alone() -> None:
    assert split_thinking("a </think> b") == ("", "a </think> b")
    assert split_thinking("<think>a") == ("", "<think>a")


def test_counts_that_are_missing_or_odd_are_unknown() -> None:
    nothing = dict.fromkeys(("tokens_in", "tokens_cached", "tokens_out", "tokens_thinking"))
    assert tokens(None) == nothing
    assert tokens({"prompt_tokens": "9"}) == nothing
    assert tokens({"prompt_tokens": 0, "completion_tokens": 0}) == nothing

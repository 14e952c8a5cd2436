"""Both doors against one scripted provider: the same bodies out, the same completions in."""

import asyncio

import pytest

from core.judging.prompts.reply_parsing import reply_schema
from core.judging.providers.base import CallError, Completion
from tests import provider as answers
from tests.judging.wire import KEY, WAYS, complete, opened, request
from tests.provider import Provider, said


@pytest.mark.parametrize("kind", WAYS)
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


@pytest.mark.parametrize("kind", WAYS)
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


@pytest.mark.parametrize("kind", WAYS)
def test_thinking_off_is_said_and_thinking_left_open_is_not(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    complete(runner, kind, request(provider, thinking="off", format="object"))
    complete(runner, kind, request(provider, thinking=None, format="words"))
    off, unsaid = (sent.body for sent in provider.requests)
    assert (off["reasoning_effort"], off["response_format"]) == ("none", {"type": "json_object"})
    assert "reasoning_effort" not in unsaid
    assert "response_format" not in unsaid


@pytest.mark.parametrize("kind", WAYS)
def test_a_key_in_the_environment_is_never_sent_to_a_given_address(
    kind: str, provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    complete(runner, kind, request(provider, key=None))
    assert KEY not in str(provider.requests[0].headers)


@pytest.mark.parametrize("kind", WAYS)
def test_a_model_named_after_nobody_is_reached_at_its_address(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    complete(runner, kind, request(provider, model="meta-llama/x"))
    assert provider.requests[0].body["model"] == "meta-llama/x"


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


@pytest.mark.parametrize("kind", WAYS)
def test_a_known_name_at_somebody_elses_address_has_no_price(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    completion = complete(runner, kind, request(provider, model="openai/gpt-4o-mini"))
    assert isinstance(completion, Completion)
    assert completion.cost is None


@pytest.mark.parametrize("kind", WAYS)
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


@pytest.mark.parametrize("kind", WAYS)
def test_thinking_that_a_local_model_writes_into_its_reply_is_taken_out(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(said('<think>{"option": 1}?</think>{"option": 2}'))
    completion = complete(runner, kind, request(provider))
    assert isinstance(completion, Completion)
    assert (completion.thinking, completion.text) == ('{"option": 1}?', '{"option": 2}')


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("name", ["stream", "n", "api_key", "headers", "num_retries"])
def test_params_that_would_change_the_nature_of_a_call_are_refused_unsent(
    kind: str, name: str, provider: Provider, runner: asyncio.Runner
) -> None:
    error = complete(runner, kind, request(provider, params={name: 1}))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("bad_request", 0)


@pytest.mark.parametrize("kind", WAYS)
def test_a_thinking_budget_is_refused_where_the_protocol_has_no_field_for_it(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    error = complete(runner, kind, request(provider, thinking=2048))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("bad_request", 0)


@pytest.mark.parametrize("kind", WAYS)
def test_a_closed_door_opens_again(kind: str, provider: Provider, runner: asyncio.Runner) -> None:
    async def go() -> None:
        async with opened(kind) as door:
            await door.complete(request(provider))
            await door.close()
            await door.complete(request(provider))

    runner.run(go())
    assert provider.count == 2


@pytest.mark.parametrize("kind", WAYS)
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

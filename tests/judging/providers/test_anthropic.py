"""Anthropic's messages protocol through the lean door: what litellm sends, and what comes of it."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from core.domain.panel import Judge
from core.judging.prompts.reply_parsing import reply_schema, rubric_schema
from core.judging.providers.anthropic import with_bounds_described
from core.judging.providers.base import CallError, Completion, Request
from core.judging.providers.choice import key_variables, provider_for
from core.judging.providers.plain import PlainProvider
from tests import provider as answers
from tests.judging.wire import KEY, complete
from tests.provider import Provider

TEXT = {"type": "text", "text": '{"option": 1}'}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
SAID = [{"role": "system", "content": "System."}, {"role": "user", "content": "Shared. Own."}]
STEPS = [*SAID, {"role": "assistant", "content": "I think."}, {"role": "user", "content": "So?"}]
CASES: dict[str, dict[str, Any]] = {
    "as a judge asks": {},
    "a bare name": {"model": "claude-haiku-4-5"},
    "longer replies": {"model": "anthropic/claude-sonnet-4-6"},
    "a whole rubric": {"schema": rubric_schema([2, 3])},
    "in words": {"format": "words"},
    "settings": {"temperature": 0.0, "max_tokens": 500, "params": {"top_p": 0.9, "top_k": 5}},
    "a conversation": {"messages": STEPS},
    "nothing shared": {"shared_ends": ()},
}


def asked(**changes: Any) -> Request:
    given = {
        "model": "anthropic/claude-sonnet-4-5",
        "messages": SAID,
        "schema": reply_schema(3),
        "shared_ends": ((0, 7), (1, 7)),
        "key": KEY,
        "timeout": 10.0,
    }
    return Request(**{**given, **changes})


def through_lean_door(
    runner: asyncio.Runner, provider: Provider, given: Request
) -> Completion | CallError:
    async def go() -> Completion | CallError:
        door = PlainProvider({"ANTHROPIC_API_BASE": provider.url.removesuffix("/v1")})
        try:
            return await door.complete(given)
        except CallError as error:
            return error
        finally:
            await door.close()

    return runner.run(go())


@pytest.mark.parametrize("case", CASES)
def test_anthropic_gets_the_same_request_and_costs_the_same_through_both_doors(
    case: str, provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_BASE", provider.url.removesuffix("/v1"))
    given = asked(**CASES[case])
    provider.say(*[answers.message(THOUGHT, TEXT)] * 2)
    lean = through_lean_door(runner, provider, given)
    heavy = complete(runner, "litellm", given)
    first, second = provider.requests
    assert (first.path, first.body) == (second.path, second.body)
    for name in ("x-api-key", "anthropic-version", "anthropic-beta"):
        assert first.headers.get(name) == second.headers.get(name)
    assert first.headers["x-api-key"] == KEY
    assert "authorization" not in first.headers
    assert isinstance(lean, Completion)
    assert isinstance(heavy, Completion)
    # litellm guesses the tokens of thinking from its text.
    assert replace(lean, cost=None) == replace(heavy, cost=None, tokens_thinking=None)
    # $3 new, $3.75 kept from now on, $0.30 kept before, $15 out, a million tokens each.
    assert lean.cost == pytest.approx(heavy.cost)
    assert lean.cost == pytest.approx((100 * 3 + 50 * 3.75 + 600 * 0.3 + 40 * 15) / 1e6)


@pytest.mark.parametrize(
    ("end", "finish"),
    [("max_tokens", "length"), ("refusal", "content_filter"), ("stop_sequence", "stop")],
)
def test_why_a_reply_ended_is_said_in_our_words(
    end: str, finish: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.message(TEXT, end=end))
    completion = through_lean_door(runner, provider, asked())
    assert isinstance(completion, Completion)
    assert completion.finish == finish


@pytest.mark.parametrize(
    ("status", "kind", "retry"),
    [(401, "auth", None), (404, "not_found", None), (429, "rate_limit", 7.0), (529, "server", 7.0)],
)
def test_its_errors_are_ours(
    status: int, kind: str, retry: float | None, provider: Provider, runner: asyncio.Runner
) -> None:
    error = {"type": "error", "error": {"type": "some_error", "message": "No."}}
    headers = {"Retry-After": "7"} if retry else {}
    provider.say(answers.Answer(status, json.dumps(error).encode(), headers))
    found = through_lean_door(runner, provider, asked())
    assert isinstance(found, CallError)
    assert (found.kind, found.retry_after) == (kind, retry)
    assert "No." in found.message


def test_a_schema_that_is_not_known_is_asked_for_more_simply(
    provider: Provider, runner: asyncio.Runner
) -> None:
    words = "output_format: structured outputs are not supported by this model"
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}}
    provider.say(answers.Answer(400, json.dumps(error).encode()))
    found = through_lean_door(runner, provider, asked())
    assert isinstance(found, CallError)
    assert found.about_format


def test_what_is_no_message_is_said(provider: Provider, runner: asyncio.Runner) -> None:
    provider.say(answers.ok())
    found = through_lean_door(runner, provider, asked())
    assert isinstance(found, CallError)
    assert "not with a message" in found.message


def test_what_is_served_elsewhere_costs_what_its_list_says(
    provider: Provider, runner: asyncio.Runner
) -> None:
    # Sonnet 4.6 in the US: 1.1 times, by the list.
    usage = {"input_tokens": 100, "output_tokens": 10, "inference_geo": "us"}
    provider.say(answers.message(TEXT, usage=usage, model="claude-sonnet-4-6"))
    completion = through_lean_door(runner, provider, asked())
    assert isinstance(completion, Completion)
    assert completion.cost == pytest.approx(1.1 * (100 * 3 + 10 * 15) / 1e6)


def test_bounds_in_a_schema_are_said_in_words_as_litellm_does() -> None:
    from core.judging.providers.litellm_provider import load_litellm

    load_litellm()
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig

    hard: dict[str, Any] = {
        "type": "object",
        "description": "All of it.",
        "properties": {
            "many": {"type": "array", "minItems": 2, "maxItems": 4, "items": {"minLength": 1}},
            "either": {"anyOf": [{"type": "integer", "maximum": 3}, {"enum": ["a"]}]},
        },
        "additionalProperties": False,
    }
    for schema in (hard, reply_schema(3), rubric_schema([2, 5])):
        assert with_bounds_described(schema) == AnthropicConfig.filter_anthropic_output_schema(
            schema
        )


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({}, "plain"),
        ({"model": "claude-haiku-4-5"}, "plain"),
        ({"params": {"top_k": 5}}, "plain"),
        ({"thinking": "low"}, "litellm"),
        ({"thinking": 2000}, "litellm"),
        ({"logprobs": True}, "litellm"),
        ({"params": {"metadata2": 1}}, "litellm"),
        ({"model": "anthropic/claude-nobody-9"}, "litellm"),
        ({"api_base": "http://gateway/anthropic"}, "litellm"),
        ({"door": "litellm"}, "litellm"),
    ],
)
def test_it_is_asked_straight_where_litellm_translates_nothing_else(
    settings: dict[str, Any], way: str
) -> None:
    given = {"name": "j", "model": "anthropic/claude-sonnet-4-5", **settings}
    judge = Judge.model_validate(given)
    assert provider_for(judge, {"ANTHROPIC_API_KEY": KEY}) == way
    # Without a key, or with a token of another kind, litellm has ways of its own.
    for key in ({}, {"ANTHROPIC_API_KEY": "sk-ant-oat01-x"}):
        assert provider_for(judge, key) == "litellm"
    assert key_variables(judge) == (("ANTHROPIC_API_KEY",) if way == "plain" else ())

"""Providers reached without litellm: the same request out and the same cost in as through it."""

import asyncio
import json
import random
import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.domain.panel import Judge
from core.judging.keys import key_names
from core.judging.known_providers import KNOWN, PLAIN, PROVIDERS, split_model_name
from core.judging.providers.base import CallError, Completion, Request
from core.judging.providers.choice import key_variables
from core.judging.providers.plain import PlainProvider, is_plain
from core.judging.providers.prices import cost_by_list, price_entry, price_list
from core.services.judges.registry import KNOWN_KEYS
from tests import provider as answers
from tests.judging.wire import KEY, complete, request
from tests.provider import Provider

#: Each with the variable that moves its address; Mistral's has none.
ROUTES = [
    ("openai/gpt-4o-mini", "OPENAI_BASE_URL"),
    ("gpt-4.1-nano", "OPENAI_BASE_URL"),
    ("azure/gpt-4o-mini", "AZURE_API_BASE"),
    ("azure/our-own-name", "AZURE_API_BASE"),
    ("azure/gpt-5-mini", "AZURE_API_BASE"),
    ("openrouter/qwen/qwen3-8b", "OPENROUTER_API_BASE"),
    ("mistral/mistral-small-latest", ""),
    ("groq/openai/gpt-oss-20b", "GROQ_API_BASE"),
    ("together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo", "TOGETHER_AI_API_BASE"),
    ("deepseek/deepseek-chat", "DEEPSEEK_API_BASE"),
    ("hosted_vllm/qwen/x", "HOSTED_VLLM_API_BASE"),
]


def through_lean_door(
    runner: asyncio.Runner, given: Request, environ: Mapping[str, str]
) -> Completion | CallError:
    async def go() -> Completion | CallError:
        door = PlainProvider(environ)
        try:
            return await door.complete(given)
        except CallError as error:
            return error
        finally:
            await door.close()

    return runner.run(go())


def charged(**more: object) -> answers.Answer:
    """An answer as these providers give it: with its tier of service, and OpenRouter's cost."""
    answer = answers.said("hello", usage={**answers.USAGE, "cost": 0.0123})
    return replace(answer, body=json.dumps({**json.loads(answer.body), **more}).encode())


@pytest.mark.parametrize(("model", "variable"), ROUTES)
def test_a_provider_gets_the_same_request_and_costs_the_same_through_both_doors(
    model: str,
    variable: str,
    provider: Provider,
    runner: asyncio.Runner,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environ = {"AZURE_API_VERSION": "2024-10-21", **({variable: provider.url} if variable else {})}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    address = "" if variable else provider.url
    given = request(provider, model=model, api_base=address, temperature=0.0, params={"top_p": 1})
    if "gpt-5" in model:
        given = replace(given, temperature=None, params={})
    provider.say(*[charged(service_tier="default")] * 2)

    lean = through_lean_door(runner, given, environ)
    heavy = complete(runner, "litellm", given)

    assert isinstance(lean, Completion)
    assert isinstance(heavy, Completion)
    first, second = provider.requests
    assert (first.path, first.body) == (second.path, second.body)
    where = "api-key" if model.startswith("azure/") else "authorization"
    assert KEY in first.headers[where]
    assert first.headers[where] == second.headers[where]
    assert lean.cost == (pytest.approx(heavy.cost, rel=1e-12) if heavy.cost is not None else None)
    assert replace(lean, cost=None) == replace(heavy, cost=None)


def test_listed_prices_give_the_cost_that_litellm_reports() -> None:
    # Every listed model of these providers, with prompts on both sides of the bounds (200,000 and
    # 272,000 tokens), parts of them kept or newly kept, and the tiers that an answer may name.
    from core.judging.providers.litellm_provider import load_litellm

    litellm, dice, seen = load_litellm(), random.Random(1), 0
    for name, entry in price_list().items():
        provider = str(entry.get("litellm_provider"))
        model = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
        if provider.startswith("ollama") or not is_plain(
            Judge.model_construct(name="j", model=model)
        ):
            continue
        prompt, reply = dice.choice([500, 250_000, 300_000]), dice.randint(1, 900)
        details: dict[str, Any] = {"cached_tokens": dice.choice([0, prompt // 3])}
        if dice.random() < 0.3:
            details["cache_write_tokens"] = 10
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": reply,
            "total_tokens": prompt + reply,
            "prompt_tokens_details": details,
            "completion_tokens_details": {"reasoning_tokens": reply // 2},
        }
        tier = dice.choice(["default", "flex", "priority"])
        answer = litellm.ModelResponse(
            model="nobody", usage=litellm.Usage(**usage), service_tier=tier
        )
        theirs = litellm.completion_cost(answer, model=model)
        found = price_entry(*split_model_name(model))
        assert found is not None
        assert cost_by_list(found, usage, tier) == pytest.approx(theirs, rel=1e-9), (model, usage)
        seen += 1
    assert seen > 200


def test_the_models_name_in_the_answer_is_priced_before_the_one_that_was_asked(
    provider: Provider, runner: asyncio.Runner
) -> None:
    # A deployment on Azure may go by any name. gpt-4o-mini there: $0.165 and $0.66 a million
    # tokens, $0.0825 for kept ones, by the list; 400 x .165 + 600 x .075 + 50 x .66 follow it.
    provider.say(charged(model="gpt-4o-mini"))
    given = request(provider, model="azure/our-own-name")
    completion = through_lean_door(runner, given, {})
    entry = price_entry("azure", "gpt-4o-mini")
    assert isinstance(completion, Completion)
    assert entry is not None
    kept, new, out = (
        entry[name]
        for name in (
            "cache_read_input_token_cost",
            "input_cost_per_token",
            "output_cost_per_token",
        )
    )
    assert completion.cost == pytest.approx(400 * new + 600 * kept + 50 * out)


def test_ollama_is_asked_by_its_open_protocol_and_costs_nothing(
    provider: Provider, runner: asyncio.Runner
) -> None:
    base = provider.url.removesuffix("/v1")
    for given in (base, f"{base}/", provider.url):
        asked = request(provider, model="ollama/llama3.1", api_base=given, max_tokens=9)
        completion = through_lean_door(runner, asked, {})
        assert isinstance(completion, Completion)
        assert completion.cost == 0.0
    assert {sent.path for sent in provider.requests} == {"/v1/chat/completions"}
    assert provider.requests[0].body["model"] == "llama3.1"
    assert provider.requests[0].body["max_tokens"] == 9


def test_an_address_that_nobody_named_is_asked_for_by_its_variable(runner: asyncio.Runner) -> None:
    error = through_lean_door(runner, Request("azure/x", [], {}, key=KEY), {})
    assert isinstance(error, CallError)
    assert (error.kind, error.sent) == ("missing_key", False)
    assert "AZURE_API_BASE" in error.message


def test_the_judges_own_headers_and_version_reach_azure(
    provider: Provider, runner: asyncio.Runner
) -> None:
    params = {"api_version": "2025-01-01", "extra_headers": {"Api-Key": "another"}}
    through_lean_door(runner, request(provider, model="azure/x", params=params), {})
    (sent,) = provider.requests
    assert (sent.headers["api-key"], "authorization" in sent.headers) == ("another", False)
    assert "api_version" not in sent.body


def test_the_proxy_of_the_environment_is_used_as_litellms_door_uses_it(
    provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", provider.url.removesuffix("/v1"))
    environ = {"HOSTED_VLLM_API_BASE": "http://nobody.invalid/v1"}
    given = request(provider, model="hosted_vllm/x", api_base="")
    assert isinstance(through_lean_door(runner, given, environ), Completion)
    monkeypatch.setenv("no_proxy", "nobody.invalid")
    error = through_lean_door(runner, given, environ)
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("connection", 1)


@pytest.mark.parametrize("address", ["http://nobody.invalid/v1", "https://nobody.invalid/v1"])
@pytest.mark.parametrize("with_scheme", ["", "http://me:pw@"])
def test_a_proxy_that_is_not_there_was_sent_nothing(
    address: str, with_scheme: str, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: a connection is refused
        for name in ("http_proxy", "https_proxy"):
            monkeypatch.setenv(name, f"{with_scheme}127.0.0.1:{unused.getsockname()[1]}")
        environ = {"HOSTED_VLLM_API_BASE": address}
        error = through_lean_door(runner, Request("hosted_vllm/x", [], {}, key=KEY), environ)
    assert isinstance(error, CallError)
    assert (error.kind, error.sent) == ("connection", False)
    assert "the proxy in the environment was not reached" in error.message
    assert "pw" not in error.message


def test_what_a_proxy_refuses_to_connect_was_not_sent(
    provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The scripted provider knows no CONNECT: it answers 404.
    monkeypatch.setenv("https_proxy", provider.url.removesuffix("/v1"))
    environ = {"HOSTED_VLLM_API_BASE": "https://nobody.invalid/v1"}
    error = through_lean_door(runner, Request("hosted_vllm/x", [], {}, key=KEY), environ)
    assert isinstance(error, CallError)
    assert (error.kind, error.sent) == ("connection", False)
    assert "the proxy refused to connect (404)" in error.message


@pytest.mark.parametrize(
    "proxy", ["http://", "socks5://127.0.0.1:1", "http://[::1", f"http://{'a' * 64}.org"]
)
def test_a_proxy_that_is_no_address_is_named(
    proxy: str, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    environ = {"HOSTED_VLLM_API_BASE": "http://nobody.invalid/v1"}
    error = through_lean_door(runner, Request("hosted_vllm/x", [], {}, key=KEY), environ)
    assert isinstance(error, CallError)
    assert (error.kind, error.sent) == ("not_found", False)
    assert "http_proxy" in error.message


def test_an_address_in_a_variable_that_is_none_is_named(runner: asyncio.Runner) -> None:
    environ = {"HOSTED_VLLM_API_BASE": "http://[::1/v1"}
    error = through_lean_door(runner, Request("hosted_vllm/x", [], {}, key=KEY), environ)
    assert isinstance(error, CallError)
    assert (error.kind, error.sent) == ("not_found", False)
    assert "HOSTED_VLLM_API_BASE" in error.message


def test_keys_are_looked_for_where_litellm_looks_and_never_for_an_address_of_ones_own() -> None:
    def keys(model: str, **more: Any) -> tuple[str, ...]:
        return key_variables(Judge(name="j", model=model, **more))

    assert keys("gpt-4o-mini") == ("OPENAI_API_KEY",)
    assert keys("groq/llama-3.3-70b-versatile") == ("GROQ_API_KEY",)
    assert keys("groq/llama-3.3-70b-versatile", api_base="http://localhost/v1") == ()
    assert keys("gemini/x") == ()
    assert all(way.keys for way in PLAIN.values())


def test_the_name_of_every_plain_provider_is_known_as_one() -> None:
    # Else a model that is named after it is taken for one of OpenAI's with a slash in its name.
    assert set(PLAIN) - {"openai"} <= PROVIDERS


def test_one_entry_names_a_provider_its_key_and_the_page_that_offers_it() -> None:
    # Ollama and vLLM need no key, so none is asked for; two providers have one key.
    servers = {"hosted_vllm", "ollama", "ollama_chat"}
    for name, known in KNOWN.items():
        judge = Judge(name="j", model=f"{name}/x" if name != "openai" else "x", door="litellm")
        assert key_names(judge)[:1] == (() if name in servers else known.keys[:1])
        assert ((known.title, known.keys[0]) in KNOWN_KEYS) == bool(known.title)
    assert KNOWN_KEYS[:3] == (
        ("OpenAI", "OPENAI_API_KEY"),
        ("Anthropic", "ANTHROPIC_API_KEY"),
        ("Google Gemini", "GEMINI_API_KEY"),
    )

"""Which door a judge's settings mean, and the small readings that the doors share."""

from typing import Any

import pytest

from core.domain.panel import Judge
from core.judging.providers.base import Request, split_thinking, token_counts
from core.judging.providers.choice import provider_for
from core.judging.providers.litellm_provider import call_error
from core.judging.providers.openai_provider import chat_body
from tests.judging.wire import KEY


def test_openai_itself_gets_the_new_name_of_the_limit_and_other_servers_the_old() -> None:
    own = chat_body(Request("gpt-x", [], {}, max_tokens=9), {})
    other = chat_body(Request("x", [], {}, max_tokens=9, api_base="http://localhost/v1"), {})
    assert (own["max_completion_tokens"], "max_tokens" in own) == (9, False)
    assert (other["max_tokens"], "max_completion_tokens" in other) == (9, False)


def test_auto_takes_the_lean_door_where_an_address_speaks_the_open_protocol() -> None:
    def door(model: str, api_base: str = "", **more: Any) -> str:
        return provider_for(Judge(name="j", model=model, api_base=api_base, **more))

    local = "http://localhost:8000/v1"
    assert door("openai/x", local) == "openai"
    assert door("x", local) == "openai"
    assert door("meta-llama/x", local) == "openai"
    assert door("gemini/x", local) == "litellm"
    assert door("x", local, door="litellm") == "litellm"


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({"model": "openai/gpt-4.1-mini"}, "plain"),
        ({"model": "gpt-4o-mini"}, "plain"),
        ({"model": "gpt-4.1-mini", "door": "openai"}, "plain"),
        ({"model": "groq/llama-3.3-70b-versatile"}, "plain"),
        ({"model": "mistral/mistral-small-latest"}, "plain"),
        ({"model": "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo"}, "plain"),
        ({"model": "openrouter/qwen/qwen3-8b", "thinking": "low"}, "plain"),
        ({"model": "azure/our-own-name"}, "plain"),
        ({"model": "claude-sonnet-4-5"}, "plain"),
        ({"model": "hosted_vllm/qwen/x", "api_base": "http://localhost:8000/v1"}, "plain"),
        ({"model": "ollama/llama3.1", "api_base": "http://localhost:11434"}, "plain"),
        # The judge's own choice, a name that nobody listed, a model that is served elsewhere.
        ({"model": "gpt-4o-mini", "door": "litellm"}, "litellm"),
        ({"model": "openai/gpt-99"}, "litellm"),
        ({"model": "openai/gpt-5-pro"}, "litellm"),
        ({"model": "anthropic/claude-nobody-9"}, "litellm"),
        ({"model": "azure/eu/gpt-4o-2024-11-20"}, "litellm"),
        # Settings that litellm translates, marks for Claude, and a price that goes by the hour.
        ({"model": "gpt-4o-mini", "thinking": 2048}, "litellm"),
        ({"model": "groq/llama-3.3-70b-versatile", "thinking": "low"}, "litellm"),
        ({"model": "groq/llama-3.3-70b-versatile", "logprobs": True}, "litellm"),
        ({"model": "mistral/mistral-small-latest", "params": {"seed": 1}}, "litellm"),
        ({"model": "ollama/llama3.1", "params": {"num_ctx": 8192}}, "litellm"),
        ({"model": "openrouter/anthropic/claude-sonnet-4.5"}, "litellm"),
        ({"model": "deepseek/deepseek-v4-pro"}, "litellm"),
    ],
)
def test_providers_whose_protocol_is_plain_are_reached_without_litellm(
    settings: dict[str, Any], way: str
) -> None:
    assert provider_for(Judge(name="j", **settings)) == way


def test_azure_without_a_key_is_left_to_litellm_which_can_sign_in() -> None:
    judge = Judge(name="j", model="azure/our-own-name")
    assert provider_for(judge, {}) == "litellm"
    assert provider_for(judge, {"AZURE_API_KEY": "k"}) == "plain"


def test_every_provider_we_name_is_one_that_litellm_knows() -> None:
    from core.judging.known_providers import PROVIDERS
    from core.judging.providers.litellm_provider import load_litellm

    known = {str(getattr(p, "value", p)) for p in load_litellm().provider_list}
    assert known >= PROVIDERS


def test_a_request_never_shows_its_key() -> None:
    assert KEY not in repr(Request("m", [], {}, key=KEY))


def test_text_without_a_closed_thought_is_left_alone() -> None:
    assert split_thinking("a </think> b") == ("", "a </think> b")
    assert split_thinking("<think>a") == ("", "<think>a")


def test_counts_that_are_missing_or_odd_are_unknown() -> None:
    nothing = dict.fromkeys(("tokens_in", "tokens_cached", "tokens_out", "tokens_thinking"))
    assert token_counts(None) == nothing
    assert token_counts({"prompt_tokens": "9"}) == nothing
    assert token_counts({"prompt_tokens": 0, "completion_tokens": 0}) == nothing


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("litellm.APIConnectionError: 'NoneType' object has no attribute 'get'", "internal"),
        ("litellm.APIConnectionError: All connection attempts failed", "connection"),
        ("litellm.APIConnectionError: Cannot connect to host localhost:1", "connection"),
    ],
)
def test_litellms_name_for_everything_is_read_by_its_words(words: str, kind: str) -> None:
    class APIConnectionError(Exception):
        status_code = 500

    error = call_error(APIConnectionError(words), Request("m", [], {}))
    assert error.kind == kind
    assert "litellm" not in error.message

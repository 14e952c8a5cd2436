"""Marks for providers that keep what is shared only where they are told to."""

from types import SimpleNamespace
from typing import Any

import pytest

from core.judging.prompts.assembly import build_prompt, follow_up_messages
from core.judging.prompts.layouts import chat_messages, shared_ends
from core.judging.providers.anthropic import MOST_MARKS, with_cache_marks
from core.judging.providers.base import Request
from core.judging.providers.litellm_provider import LiteLLMProvider, gets_cache_marks
from tests.judging.asked import CASES


@pytest.mark.parametrize("name", CASES)
def test_the_marked_places_are_where_shared_pieces_end_and_never_too_many(name: str) -> None:
    segments = build_prompt(CASES[name]).segments
    sent, ends = chat_messages(segments), shared_ends(segments)
    assert 1 <= len(ends) <= MOST_MARKS
    assert len(ends) == sum(segment.shared for segment in segments)
    for (index, end), segment in zip(ends, (s for s in segments if s.shared), strict=True):
        assert sent[index]["content"][:end].endswith(segment.text)


def test_a_two_step_conversation_is_marked_up_to_the_message_that_is_sent_again() -> None:
    case = CASES["two-step"]
    first = build_prompt(case).segments
    ends = shared_ends((*first, *follow_up_messages(case, "Hm.")))
    assert ends == shared_ends(first)
    index, end = ends[-1]
    assert (index, end) == (1, len(chat_messages(first)[1]["content"]))


@pytest.mark.parametrize("name", CASES)
def test_parts_put_together_are_the_text_that_others_are_sent(name: str) -> None:
    segments = build_prompt(CASES[name]).segments
    plain, parts = (
        chat_messages(segments),
        with_cache_marks(chat_messages(segments), shared_ends(segments)),
    )
    for one, other in zip(plain, parts, strict=True):
        texts = [part["text"] for part in _parts(other)]
        assert "".join(texts) == one["content"]
        assert all(texts)
    marks = [part for m in parts for part in _parts(m) if "cache_control" in part]
    assert [part["cache_control"] for part in marks] == [{"type": "ephemeral"}] * len(marks)
    assert len(marks) == len(shared_ends(segments))


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def test_of_too_many_places_the_last_are_marked() -> None:
    sent = with_cache_marks([{"role": "user", "content": "abcdef"}], [(0, n) for n in range(1, 6)])
    assert [part["text"] for part in sent[0]["content"]] == ["ab", "c", "d", "e", "f"]
    assert "cache_control" not in sent[0]["content"][-1]


def test_a_message_without_a_shared_piece_stays_plain_text() -> None:
    assert with_cache_marks([{"role": "assistant", "content": "x"}], []) == [
        {"role": "assistant", "content": "x"}
    ]


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("anthropic/claude-sonnet-4-5", True),
        ("claude-sonnet-4-5", True),
        ("vertex_ai/claude-sonnet-4-5", True),
        ("openrouter/anthropic/claude-sonnet-4.5", True),
        ("bedrock/us.anthropic.claude-new", True),
        ("bedrock/anthropic.claude-old", False),
        ("bedrock/amazon.nova-pro", False),
        ("openai/gpt-4.1", False),
        ("openai/claude-at-a-gateway", False),
        ("litellm_proxy/claude-x", False),
        ("gemini/gemini-2.5-pro", False),
    ],
)
def test_only_claude_is_sent_marks_and_only_where_they_are_taken(model: str, wanted: bool) -> None:
    assert gets_cache_marks(model, lambda name: name.endswith("new")) is wanted


@pytest.mark.parametrize("model", ["anthropic/claude-sonnet-4-5", "openai/gpt-4.1"])
def test_the_litellm_door_marks_requests_to_claude_and_no_others(model: str) -> None:
    def unknown(name: str) -> bool:
        raise AssertionError

    door: Any = LiteLLMProvider()
    door._litellm = SimpleNamespace(utils=SimpleNamespace(supports_prompt_caching=unknown))
    segments = build_prompt(CASES["two-step"]).segments
    request = Request(model, chat_messages(segments), {}, shared_ends=shared_ends(segments))
    for _ in range(2):
        sent = door._arguments(request, {})["messages"]
        wanted = with_cache_marks(request.messages, request.shared_ends)
        assert sent == (wanted if "claude" in model else request.messages)

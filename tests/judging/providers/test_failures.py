"""Status, words and headers of refused requests, and what never gets into a message."""

import traceback
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.votes import FailureKind
from core.judging.providers.base import hidden_values, redact
from core.judging.providers.failures import (
    MAX_DETAIL,
    brief_message,
    error_from_status,
    kind_of,
    retry_after,
)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        # Sentences as the providers write them.
        (400, "This model's maximum context length is 8192 tokens.", "context_length"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "context_length"),
        (400, "The input token count exceeds the maximum number of tokens", "context_length"),
        (400, "Please reduce the length of the messages.", "context_length"),
        # llama.cpp, three ages of it; llama-cpp-python; vLLM; TGI; LM Studio; Ollama.
        (
            400,
            "request (4390 tokens) exceeds the available context size (4096 tokens), try "
            "increasing it",
            "context_length",
        ),
        (
            500,
            "the request exceeds the available context size. try increasing the context size or "
            "enable context shift",
            "context_length",
        ),
        (500, "Context size has been exceeded.", "context_length"),
        (500, "Requested tokens (2285) exceed context window of 2048", "context_length"),
        (
            400,
            "The decoder prompt (length 16476) is longer than the maximum model length of 16384. "
            "Make sure that `max_model_len` is no smaller than the number of text tokens.",
            "context_length",
        ),
        (
            422,
            "Input validation error: `inputs` must have less than 1024 tokens. Given: 1168",
            "context_length",
        ),
        (
            422,
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: "
            "1244 `inputs` tokens and 1000 `max_new_tokens`",
            "context_length",
        ),
        (
            400,
            "Trying to keep the first 15857 tokens when context the overflows.",
            "context_length",
        ),
        (
            400,
            "The number of tokens to keep from the initial prompt is greater than the context "
            "length. Try to load the model with a larger context length.",
            "context_length",
        ),
        (500, "input exceeds context length", "context_length"),
        (400, "API key not valid. Please pass a valid API key.", "auth"),
        (400, "Incorrect API key provided", "auth"),
        (400, "The response was filtered: Azure's content management policy", "content_filter"),
        (400, "LLM Provider NOT provided. Pass in the LLM provider", "not_found"),
        (400, "temperature: must be below 1", "bad_request"),
        (409, "conflict", "bad_request"),
        (301, "moved", "not_found"),
        (504, "", "server"),
    ],
)
def test_words_decide_where_the_status_does_not(status: int, words: str, kind: str) -> None:
    assert kind_of(status, words) == kind


def test_a_spent_quota_is_no_rate_limit_but_only_its_code_says_so() -> None:
    assert kind_of(429, "You exceeded your current quota", "insufficient_quota") == "auth"
    assert kind_of(429, "You exceeded your current quota") == "rate_limit"


@pytest.mark.parametrize(
    "body",
    [
        '{"error": {"message": "So it is", "type": "t", "code": null}}',
        '{"error": "So it is"}',
        '{"detail": "So it is"}',
        '{"message": "So it is"}',
        "So it is",
        '"So it is"',
    ],
)
def test_the_words_are_found_in_every_shape_of_error(body: str) -> None:
    assert "So it is." in error_from_status(500, body).message


def test_a_message_says_what_and_how_to_mend_it() -> None:
    error = error_from_status(
        404, '{"error": {"message": "No model x", "code": "model_not_found"}}'
    )
    assert error.message == (
        "The provider knows no such model or address (404 model_not_found): No model x. "
        "Check the model's name and the address (it usually ends in /v1)."
    )


def test_a_web_page_is_named_and_not_quoted() -> None:
    assert brief_message("<!DOCTYPE html><html>...", ()) == "it answered with a web page."


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after-ms": "1500", "retry-after": "20"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        # 90 seconds after the answer's own date, whatever our clock says.
        (
            {
                "retry-after": "Sat, 21 Nov 2026 08:01:30 GMT",
                "date": "Sat, 21 Nov 2026 08:00:00 GMT",
            },
            90.0,
        ),
        ({"retry-after": "Sat, 21 Nov 2020 08:00:00 GMT"}, 0.0),
    ],
)
def test_the_wait_asked_for_is_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


def test_keys_and_logins_never_get_into_a_message() -> None:
    text = "key topsecretkey, sk-abcdefgh123, Bearer eyJhb.x, https://me:pw@host/v1, gsk_abcdef12"
    assert redact(text, ("topsecretkey",)) == (
        "key [key], [key], Bearer [key], https://[login]@host/v1, [key]"
    )
    assert "topsecretkey" not in str(
        error_from_status(400, "bad topsecretkey", hidden=("topsecretkey",))
    )


def test_ordinary_words_are_not_taken_for_keys() -> None:
    text = "task-specific risk-averse key-value hf-internal max_tokens none"
    assert redact(text, hidden_values(["none"])) == text


@given(status=st.integers(300, 599), body=st.text(), key=st.none() | st.text(max_size=100))
def test_any_answer_becomes_one_short_sentence_of_a_known_kind(
    status: int, body: str, key: str | None
) -> None:
    error = error_from_status(status, body, hidden=hidden_values([key]))
    assert error.kind in get_args(FailureKind)
    assert len(error.message) < MAX_DETAIL + 200
    assert "\n" not in error.message


@given(headers=st.dictionaries(st.sampled_from(["retry-after", "date"]), st.text()))
def test_no_header_makes_it_raise_or_wait_a_negative_time(headers: dict[str, str]) -> None:
    seconds = retry_after(headers)
    assert seconds is None or seconds >= 0


def test_an_endpoint_that_refuses_the_schemas_bounds_is_known_to_mean_the_format() -> None:
    # In the words of one provider's strict mode; the judge then asks for plain JSON.
    words = "For 'integer' type, properties maximum, minimum are not supported"
    assert error_from_status(400, words).about_format


def test_a_message_never_holds_a_traceback() -> None:
    try:
        raise ValueError("no such part")
    except ValueError:
        words = f"GroqException - {traceback.format_exc()}"
    assert brief_message(words, ()) == "GroqException - ValueError: no such part."
    assert brief_message(f"{words}\nHint: try again", ()).endswith("no such part Hint: try again.")

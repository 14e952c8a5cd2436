"""Both doors against one scripted provider: one request, and the same kind for the same fault."""

import asyncio
import socket

import pytest

from core.judging.providers.base import CallError
from tests import provider as answers
from tests.judging.wire import KEY, WAYS, complete, request
from tests.provider import Answer, Provider, status

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
@pytest.mark.parametrize("kind", WAYS)
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


@pytest.mark.parametrize("kind", WAYS)
def test_the_wait_that_a_provider_asks_for_is_read(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(status(429, headers={"Retry-After": "7"}))
    error = complete(runner, kind, request(provider))
    assert isinstance(error, CallError)
    assert error.retry_after == 7.0


@pytest.mark.parametrize("kind", WAYS)
def test_an_unknown_reply_format_is_told_from_other_bad_requests(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(status(400, "This response_format type is unavailable now"))
    error = complete(runner, kind, request(provider))
    assert isinstance(error, CallError)
    assert (error.kind, error.about_format) == ("bad_request", True)


@pytest.mark.parametrize("kind", WAYS)
def test_a_stalled_answer_is_a_timeout(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.stall())
    error = complete(runner, kind, request(provider, timeout=0.2))
    assert isinstance(error, CallError)
    assert (error.kind, error.message) == ("timeout", "No answer within 0.2 seconds.")


@pytest.mark.parametrize("kind", WAYS)
def test_an_answer_that_trickles_in_does_not_outlast_the_timeout(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.trickle())
    error = complete(runner, kind, request(provider, timeout=0.3))
    assert isinstance(error, CallError)
    assert error.kind == "timeout"


@pytest.mark.parametrize("kind", WAYS)
def test_nobody_at_the_address_is_a_connection_failure(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: a connection is refused
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        error = complete(runner, kind, request(provider, api_base=url))
    assert isinstance(error, CallError)
    assert error.kind == "connection"


def test_a_redirect_is_not_followed_with_the_key(
    provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(Answer(307, headers={"Location": f"{provider.url}/chat/completions"}))
    error = complete(runner, "openai", request(provider))
    assert isinstance(error, CallError)
    assert (error.kind, error.status, provider.count) == ("not_found", 307, 1)

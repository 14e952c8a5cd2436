"""Replies made to harm: too large, packed, sent on elsewhere. Both doors, over the wire."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import ssl
import tracemalloc
import zlib
from functools import cache

import pytest

from core.judging.providers.base import CallError, Completion
from core.judging.providers.bounded import MOST_BYTES, MOST_OF_REFUSAL
from tests import provider as answers
from tests.judging.wire import KEY, WAYS, complete, request
from tests.provider import Answer, Provider, said


@cache
def bomb() -> bytes:
    """64 MB that pack to 64 KB. (The report: 300 MB so packed took 1.4 GB.)"""
    return gzip.compress(said(" " * 64 * 1024**2).body)


#: Made when they are sent: every process that collects these tests would make them.
TOO_LARGE = {
    "plain": lambda: said(" " * MOST_BYTES),
    "bomb": lambda: answers.packed(bomb()),
    "deflated bomb": lambda: answers.packed(
        zlib.compress(said(" " * 16 * 1024**2).body), "deflate"
    ),
    "endless": answers.flood,
}


@pytest.mark.parametrize("name", TOO_LARGE)
@pytest.mark.parametrize("kind", WAYS)
def test_a_reply_above_the_bound_is_a_failure_of_its_own_kind(
    kind: str, name: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(TOO_LARGE[name]())
    error = complete(runner, kind, request(provider, timeout=30.0))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("too_large", 1)
    assert "4 MB" in error.message
    # What two sockets hold at most, beside what was read.
    assert provider.poured < MOST_BYTES + 32 * 1024**2


@pytest.mark.parametrize("kind", WAYS)
def test_unpacking_a_bomb_takes_no_more_memory_than_the_bound(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    complete(runner, kind, request(provider))  # what is loaded on first use is no part of it
    provider.say(answers.packed(bomb()))
    tracemalloc.start()
    try:
        complete(runner, kind, request(provider, timeout=30.0))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The bound, once more while its pieces are put together, and what a call takes anyway.
    assert peak < 4 * MOST_BYTES


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("code", [400, 500])
def test_of_a_refusal_only_the_beginning_is_read(
    kind: str, code: int, provider: Provider, runner: asyncio.Runner
) -> None:
    words = b"temperature must be 1" + b" " * (MOST_OF_REFUSAL * 4)
    provider.say(Answer(code, words), answers.flood(code))
    kinds = []
    for _ in range(2):
        error = complete(runner, kind, request(provider, timeout=30.0))
        assert isinstance(error, CallError)
        kinds.append((error.kind, error.status))
    assert kinds == [("server" if code == 500 else "bad_request", code)] * 2


@pytest.mark.parametrize("kind", WAYS)
def test_a_packed_reply_within_the_bound_is_read(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    body = answers.ok(2).body
    bare = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    for encoding, data in (
        ("gzip", gzip.compress(body)),
        ("gzip", gzip.compress(body[:50]) + gzip.compress(body[50:])),
        ("deflate", zlib.compress(body)),
        ("deflate", bare.compress(body) + bare.flush()),
        ("identity", body),
    ):
        provider.say(answers.packed(data, encoding))
        completion = complete(runner, kind, request(provider))
        assert isinstance(completion, Completion), encoding
        assert json.loads(completion.text or "")["option"] == 2


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize(
    "answer",
    [
        answers.packed(b"abc", "br"),
        answers.packed(b"no gzip at all"),
        answers.packed(b"x", "gzip, gzip"),
        # Cut short: in the middle, and where all is said but the sum that proves it.
        answers.packed(gzip.compress(answers.ok(2).body)[:60]),
        answers.packed(gzip.compress(answers.ok(2).body)[:-8]),
        answers.packed(zlib.compress(answers.ok(2).body)[:-4], "deflate"),
    ],
)
def test_a_reply_that_cannot_be_unpacked_is_the_servers_fault(
    kind: str, answer: Answer, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answer)
    error = complete(runner, kind, request(provider))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("server", 1)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("model", ["openai/scripted", "groq/scripted", "mistral/scripted"])
def test_no_redirect_is_followed_and_the_key_goes_nowhere_else(
    kind: str, model: str, code: int, provider: Provider, runner: asyncio.Runner
) -> None:
    with Provider() as other:
        provider.say(Answer(code, headers={"Location": f"{other.url}/chat/completions"}))
        error = complete(runner, kind, request(provider, model=model))
        assert isinstance(error, CallError)
        assert (error.kind, error.status) == ("not_found", code)
        assert (provider.count, other.count) == (1, 0)
    assert "sends requests on" in error.message


@pytest.mark.parametrize("kind", WAYS)
def test_faults_of_the_way_there_are_told_apart(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound but not listening: a connection is refused
        addresses = {
            "refused": f"http://127.0.0.1:{unused.getsockname()[1]}/v1",
            "DNS": "http://no-such-host.invalid/v1",
            "secure": provider.url.replace("http://", "https://"),
        }
        for word, address in addresses.items():
            error = complete(runner, kind, request(provider, api_base=address))
            assert isinstance(error, CallError)
            assert (error.kind, error.sent) == ("connection", False), word
            assert word in error.message
            assert "Traceback" not in error.message


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize(
    "address",
    [
        "http://me:pw@host.invalid/v1",
        f"http://{'a' * 64}.org/v1",
        "http://h:99999/v1",
    ],
)
def test_an_address_that_cannot_be_asked_is_a_sentence_and_nothing_was_sent(
    kind: str, address: str, provider: Provider, runner: asyncio.Runner
) -> None:
    # A judge is not written with one; a variable, or a file of an older version, may hold it.
    error = complete(runner, kind, request(provider, api_base=address))
    assert isinstance(error, CallError)
    assert (error.kind, error.sent) == ("not_found", False)
    assert "api_base" in error.message


def test_a_certificate_that_nobody_trusts_is_told_from_a_refusal() -> None:
    from core.judging.providers.failures import connection_error

    untrusted = ssl.SSLCertVerificationError(1, "x")
    untrusted.verify_message = "self-signed certificate"
    error = connection_error(untrusted, ())
    assert "certificate is not trusted (self-signed certificate)" in error.message


@pytest.mark.parametrize("kind", WAYS)
def test_a_cut_connection_is_not_tried_again_unseen(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(answers.reset())
    error = complete(runner, kind, request(provider, model="groq/scripted"))
    assert isinstance(error, CallError)
    assert (error.kind, provider.count) == ("connection", 1)
    assert KEY not in error.message

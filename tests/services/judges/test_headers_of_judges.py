"""Headers and addresses of a judge are checked when it is written, before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.panel import Judge
from core.errors import InputError


def judge(**given: Any) -> Judge:
    return build_model(Judge, {"name": "a", "model": "m", **given}, "judge")


@pytest.mark.parametrize(
    "name",
    [
        "Transfer-Encoding",  # beside our Content-Length: one request is read as two
        "content-length",
        "Content-Type",
        "Host",
        "Connection",
        "Upgrade",
        "Expect",
        "TE",
        "Trailer",
    ],
)
def test_a_header_that_frames_the_request_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"sets {name}, which belongs to the connection"):
        judge(params={"extra_headers": {name: "chunked"}})


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"X Title": "a"}, "not a name of a header"),
        ({"X-Title:": "a"}, "not a name of a header"),
        ({"": "a"}, "not a name of a header"),
        ({"X-Title": "a\r\nHost: other"}, "a value that no header can have"),
        ({"X-Title": "na\u00efve"}, "a value that no header can have"),
        ({"X-Title": ""}, "a value that no header can have"),
        ({"X-Title": ["a"]}, "a value that no header can have"),
        ("X-Title: a", "are no headers"),
    ],
)
def test_what_is_no_header_is_refused(headers: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        judge(params={"extra_headers": headers})


def test_a_plain_header_is_taken() -> None:
    assert judge(params={"extra_headers": {"X-Title": "Essays 2026", "X-Try": 1}})


@pytest.mark.parametrize(
    "address", [f"http://{'a' * 64}.org/v1", "http://a..b/v1", "http:///v1", "http://h:99999/v1"]
)
def test_an_address_that_no_network_can_look_up_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="no network can look up"):
        judge(api_base=address)


@pytest.mark.parametrize(
    "address",
    ["http://localhost:8000/v1", "https://[::1]:8000/v1", "https://b\u00fccher.example/v1"],
)
def test_an_address_that_can_be_looked_up_is_taken(address: str) -> None:
    assert judge(api_base=address)

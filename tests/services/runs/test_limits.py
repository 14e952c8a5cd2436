"""A server takes in only so many pages and files at once, and says so in a sentence."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.services.access.open_pages import OpenPages
from core.services.runs import limits, server
from core.services.runs.limits import Limits

MB = 1_000_000


async def _app(scope: Any, receive: Any, send: Any) -> None:
    cookies = [(b"set-cookie", b"_streamlit_user=x; HttpOnly"), (b"set-cookie", b"a=b; Secure")]
    await send({"type": "http.response.start", "status": 200, "headers": cookies})
    await send({"type": "http.response.body", "body": b"in"})


def ask(app: Any, kind: str = "http", **scope: Any) -> list[dict[str, Any]]:
    said = list[dict[str, Any]]()

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    headers = [
        (k.replace("_", "-").encode(), v.encode()) for k, v in scope.pop("headers", {}).items()
    ]
    whole = {"type": kind, "method": "GET", "path": "/", "headers": headers, **scope}
    asyncio.run(app(whole, None, send))
    return said


def limited(open_pages: int = 0, here: int = 0, everywhere: int = 0) -> Limits:
    pages = OpenPages(3)
    for _ in range(open_pages):
        assert pages.enter(("", ""), 0.0) == ""
    return Limits(_app, pages, lambda session: (here, everywhere))


def test_a_page_too_many_is_refused_and_those_that_are_open_go_on() -> None:
    page = {"accept": "text/html,*/*"}
    assert ask(limited(open_pages=2), headers=page)[0]["status"] == 200
    started, body = ask(limited(open_pages=3), headers=page)
    assert started["status"] == 503
    assert b"limit of open pages (3)" in body["body"]
    assert ask(limited(open_pages=3), "websocket")[0] == {"type": "websocket.close", "code": 1013}
    # What an open page fetches is no page.
    assert ask(limited(open_pages=3), path="/media/x.csv")[0]["status"] == 200


def test_where_nobody_need_sign_in_another_machine_has_half_of_the_places() -> None:
    # 40 places: 20 for an address of elsewhere, and all for this machine.
    pages = OpenPages(40)
    elsewhere = [pages.enter(("", "192.0.2.7"), 0.0) for _ in range(40)]
    assert elsewhere.count("") == 20
    assert "from one address is reached (20)" in elsewhere[-1]
    assert [pages.enter(("", "127.0.0.1"), 0.0) for _ in range(20)] == [""] * 20
    assert "(40)" in pages.why_not(("", "127.0.0.1"))
    pages.leave(("", "192.0.2.7"))
    assert pages.why_not(("", "127.0.0.1")) == ""


@pytest.mark.parametrize(
    ("here", "everywhere", "length", "status", "words"),
    [
        (0, 0, "50000000", 200, ""),
        (150 * MB, 150 * MB, "50000000", 200, ""),
        (151 * MB, 151 * MB, "50000000", 413, "files on this page hold 151 MB"),
        (0, 960 * MB, "50000000", 413, "All open pages hold 960 MB of files"),
        (0, 0, "", 411, "does not say how large it is"),
    ],
)
def test_files_have_a_limit_on_one_page_and_in_all(
    here: int, everywhere: int, length: str, status: int, words: str
) -> None:
    assert (limits.ON_ONE_PAGE, limits.IN_ALL) == (200 * MB, 1000 * MB)
    started, body = ask(
        limited(here=here, everywhere=everywhere),
        method="PUT",
        path="/studio/_stcore/upload_file/session/file",
        headers={"content_length": length} if length else {},
    )
    assert started["status"] == status
    assert words in body["body"].decode()


@pytest.mark.parametrize("secure", [True, False])
def test_behind_tls_every_cookie_is_for_tls_only(secure: bool) -> None:
    guard = server.Guard(_app, server.Hosts("127.0.0.1"), {}, secure=secure)
    started, _ = ask(guard, headers={"host": "127.0.0.1"})
    cookies = [said for name, said in started["headers"] if name == b"set-cookie"]
    first = b"_streamlit_user=x; HttpOnly" + (b"; Secure" if secure else b"")
    assert cookies == [first, b"a=b; Secure"]

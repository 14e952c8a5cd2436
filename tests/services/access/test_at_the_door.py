"""Who has not signed in takes a small share of a server, for a short while; sockets are real."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.browser.serving import APP, serving
from tests.services.access.at_the_door import (
    PAGE,
    Provider,
    asked,
    cookie,
    link,
    page,
    pages,
    providing,
    secrets_for,
)

CONFIG = """
[access]
login = "required"
admins = ["alice@example.org"]
allowed_domains = ["example.org"]
max_sessions = 40
"""
ALICE = "alice@example.org"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing() as made:
        yield made


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("door")
    (folder / "studio.toml").write_text(CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUBRIC_STUDIO_CONFIG", str(folder / "studio.toml"))
        secrets = secrets_for(provider.url)
        with serving(APP, folder / "studio.db", "none", folder, secrets) as server:
            yield int(server.url.rpartition(":")[2])


@pytest.fixture
def port(door: int) -> int:
    """Where the server listens; no page is open there."""
    end = time.monotonic() + 30
    while "\nrubric_studio_sessions 0\n" not in asked(door, "/metrics")[1]:
        assert time.monotonic() < end
        time.sleep(0.02)
    return door


def test_forty_sockets_of_one_client_who_has_not_signed_in_lock_nobody_out(port: int) -> None:
    # max_sessions = 40: a tenth of it, 4, for all who have not signed in; 2 of them for an address.
    with ExitStack() as stay:
        opened, refused = pages(stay, port, 40)
        assert len(opened) == 2
        assert {one.response.status_code for one in refused} == {403}
        # Said in a sentence, with a way to sign in that takes no place.
        status, said, headers = asked(port, "/", PAGE)
        assert (status, headers["Retry-After"], headers["Refresh"]) == (503, "60", "60")
        assert "without having signed in as may: 4 in all, 2 from one address" in said
        assert '<a href="/auth/login?provider=' in said
        # Who signed in finds room, also by the same address, and so does who comes from elsewhere.
        assert asked(port, "/", {**PAGE, **cookie(ALICE)})[0] == 200
        with page(port, cookie(ALICE)), page(port, at="127.0.0.2"):
            pass


def test_a_hundred_and_fifty_begun_sign_ins_ask_the_provider_once(
    port: int, provider: Provider
) -> None:
    here = {"Host": f"localhost:{port}"}
    statuses = [asked(port, link(), here)[0] for _ in range(150)]
    # 60 a minute from one address; the minute may turn meanwhile.
    assert statuses[:60] == [302] * 60
    assert 150 - statuses.count(429) <= 120
    assert statuses.count(302) + statuses.count(429) == 150
    assert provider.asked["/.well-known/openid-configuration"] == 1
    status, said, headers = asked(port, link(), here)
    if status == 429:
        assert "Try again in a minute" in said
        assert headers["Retry-After"] == "60"
    # Others go on, and so does what came from the provider.
    assert asked(port, link(), here, at="127.0.0.3")[0] == 302
    assert asked(port, "/oauth2callback?state=x&code=y", here)[0] == 302


def test_what_a_proxy_says_counts_only_where_it_is_trusted(port: int) -> None:
    def from_(number: int) -> dict[str, str]:
        return {"X-Forwarded-For": f"203.0.113.{number}"}

    # The proxy of this machine is 127.0.0.1 (FORWARDED_ALLOW_IPS).
    with ExitStack() as stay:
        for number in (1, 1, 2):
            stay.enter_context(page(port, from_(number)))
        opened, _ = pages(stay, port, 1, headers=from_(1))
        assert opened == []
        opened, _ = pages(stay, port, 1, headers=from_(2))
        assert len(opened) == 1
        # Four are all that there are, for whichever address.
        assert pages(stay, port, 1, headers=from_(3))[0] == []
    # Whoever is no proxy is one address, whatever they say.
    with ExitStack() as stay:
        for number in (1, 2):
            stay.enter_context(page(port, from_(number), at="127.0.0.4"))
        opened, _ = pages(stay, port, 1, headers=from_(3), at="127.0.0.4")
        assert opened == []


def test_one_person_takes_only_a_part_and_others_find_room(port: int) -> None:
    # A fifth of 40 is 8, and ten are for everybody.
    with ExitStack() as stay:
        opened, refused = pages(stay, port, 12, headers=cookie("bob@example.org"))
        assert (len(opened), len(refused)) == (10, 2)
        _, said, _ = asked(port, "/", {**PAGE, **cookie("bob@example.org")})
        assert "limit of open pages per person (10)" in said
        assert "Log in" not in said
        with page(port, cookie(ALICE)):
            pass


@pytest.mark.parametrize(
    "brought",
    [
        cookie("eve@elsewhere.example"),
        cookie(ALICE, 1.0),
        cookie("\u0430lice@example.org"),
        {"Cookie": cookie(ALICE)["Cookie"][:-3] + "xxx"},
    ],
)
def test_who_is_no_member_or_whose_sign_in_is_over_counts_as_not_signed_in(
    port: int, brought: dict[str, str]
) -> None:
    with ExitStack() as stay:
        opened, _ = pages(stay, port, 4, headers=brought, at="127.0.0.5")
        assert len(opened) == 2

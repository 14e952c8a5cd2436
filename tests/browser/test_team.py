"""A server for a team, against a real provider of logins: one state of the browser per person."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.domain.access import Actor
from core.services.access import members
from core.store.store import Store
from pages.ui.text import JOINER
from tests.browser.driving import settle, turn, watch
from tests.browser.seats import Wardrobe
from tests.browser.serving import APP, Server, answering, free_port, serving
from tests.browser.test_headers import AXE, barriers
from tests.browser.test_keyboard_alone import by_tab
from tests.services.access.at_the_door import cookie, link, secrets_for
from tests.services.access.made import member

CONFIG = """
[access]
login = "required"
allowed_domains = ["example.org"]
admins = ["alice@example.org"]

[[provider]]
name = "listed"
address = "http://127.0.0.1:9/v1"
key_env = "LISTED_KEY"

[[workspace]]
name = "science"
title = "Science"
data = "{db}"

[[workspace]]
name = "arts"
title = "Arts"
data = "arts.db"
new_members = "none"
"""
#: Gives a browser in which nobody is signed in, another with each call.
Lend = Callable[[], Any]
ROLES = {"rita": "reviewer", "ada": "adjudicator", "otto": "author", "lea": "lead"}
#: What each may find in the navigation of what is not for everybody (docs/access.md).
FOUND = {
    "vera": set[str](),
    "rita": {"Review"},
    "ada": {"Review"},
    "otto": {"Grade"},
    "lea": {"Review", "Grade"},
    "alice": {"Review", "Grade", "Members"},
}
WATCHED = {"Review", "Grade", "Members"}


def person(name: str, **claims: object) -> str:
    """What the provider is to know of somebody, as JSON."""
    email = name if "@" in name else f"{name}@example.org"
    return json.dumps({"sub": name, "email": email, "email_verified": True, **claims})


@contextmanager
def logins(people: list[str]) -> Iterator[str]:
    """A provider of logins that knows these people, in a process of its own; its address."""
    port = free_port()
    known = [word for one in people for word in ("--user-claims", one)]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *known]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        answering(f"http://localhost:{port}/.well-known/openid-configuration", process)
        yield f"http://localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="module")
def team(app_db: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server, with a provider beside it that knows everybody."""
    folder = tmp_path_factory.mktemp("team")
    (folder / "studio.toml").write_text(CONFIG.format(db=app_db), encoding="utf-8")
    people = [
        *map(person, FOUND),
        person("uwe", email_verified="false"),
        person("eve@elsewhere.example"),
    ]
    with pytest.MonkeyPatch.context() as patch, logins(people) as provider:
        patch.setenv("RUBRIC_STUDIO_CONFIG", str(folder / "studio.toml"))
        patch.setenv("LISTED_KEY", "planted-key-of-the-server")
        store = Store(app_db)
        for name, role in ROLES.items():
            members.put(store, f"{name}@example.org", role)  # type: ignore[arg-type]
        members.put(Store(folder / "arts.db"), "lea@example.org", "author")

        with serving(APP, app_db, "none", folder, secrets_for(provider)) as server:
            yield server


@pytest.fixture
def lend(team: Server, wardrobe: Wardrobe) -> Iterator[Lend]:
    """Lends one browser after the other in which nobody is signed in."""
    with ExitStack() as lent:
        yield lambda: lent.enter_context(wardrobe.lent(team.url))


def opened(context: Any, url: str) -> Any:
    page = context.new_page()
    watch(page)
    page.goto(url)
    page.get_by_test_id("stMain").get_by_role("heading", level=1).wait_for()
    settle(page)
    return page


def signed_in(context: Any, url: str, name: str, address: str = "") -> Any:
    """A page of a browser in which this person signed in, opened there.

    The provider is answered without drawing its pages: `logged_in` goes the way that people see.
    """
    asked = context.request.get(f"{url}{link()}")
    led = context.request.post(asked.url, form={"sub": name})
    assert led.url.startswith(f"{url}/"), led.url
    return opened(context, f"{url}{address}")


def logged_in(context: Any, url: str, name: str, address: str) -> Any:
    """A page of a browser in which this person signed in by hand; it is where that led."""
    page = opened(context, f"{url}{address}")
    page.get_by_role("button", name="Log in").click()
    page.locator("input[name=sub]").fill(name)
    page.locator("button[type=submit]").first.click()
    page.wait_for_url(lambda now: now.startswith(f"{url}{address}"))
    page.get_by_test_id("stMain").get_by_role("heading", level=1).wait_for()
    settle(page)
    return page


def text(page: Any) -> str:
    return str(page.evaluate("document.body.innerText")).replace(JOINER, "")


def links(page: Any) -> set[str]:
    found = page.get_by_test_id("stSidebarNav").get_by_role("link").all_inner_texts()
    return {words.strip().splitlines()[-1] for words in found}


def test_who_is_not_signed_in_sees_nothing_at_any_address_but_in_its_fonts(
    team: Server, lend: Lend
) -> None:
    page, refused = lend().new_page(), list[str]()
    page.on("response", lambda said: refused.append(said.url) if said.status == 403 else None)
    watch(page)
    for address in ("run?run=1", "", "judges", "runs", "agreement?run=1", "docs", "members"):
        turn(page, f"{team.url}/{address}")
        said = text(page)
        assert "Sign in to continue" in said, address
        assert "science" not in said.lower(), address
        assert links(page) == set(), address
    assert [url for url in refused if "/static/" in url] == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("uwe", "does not say that uwe@example.org is verified"),
        ("eve@elsewhere.example", "eve@elsewhere.example is not a member here"),
    ],
)
def test_who_is_unverified_or_a_stranger_stays_outside(
    team: Server, app_db: Path, lend: Lend, name: str, why: str
) -> None:
    page = signed_in(lend(), team.url, name)
    assert why in text(page)
    assert links(page) == set()
    assert name not in [row.email for row in Store(app_db).members.list()]


@pytest.mark.parametrize("name", FOUND)
def test_everybody_finds_what_their_role_is_for_and_no_variable_of_the_server(
    team: Server, lend: Lend, name: str
) -> None:
    page = signed_in(lend(), team.url, name)
    assert links(page) & WATCHED >= FOUND[name]
    assert not (WATCHED - FOUND[name] - {"Arena"}) & links(page)
    turn(page, f"{team.url}/judges")
    page.get_by_role("heading", name="Judges").wait_for()
    # Attack B1: which variables there are, and their values, is nobody's affair but an admin's.
    if name != "alice":
        assert "_KEY" not in text(page)
    assert "planted-key" not in page.content()


def test_members_is_for_everybody_and_for_the_keyboard_alone(team: Server, lend: Lend) -> None:
    page = signed_in(lend(), team.url, "alice", "/members")
    page.evaluate(AXE)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        settle(page)
        assert barriers(page) == []
    assert by_tab(page) == ([], [], [])


def test_a_member_who_is_switched_off_is_out_with_the_next_click(
    team: Server, app_db: Path, lend: Lend
) -> None:
    page = signed_in(lend(), team.url, "otto")
    store = Store(app_db).acting(member("admin", "alice@example.org"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUBRIC_STUDIO_CONFIG", str(team.log.with_name("studio.toml")))
        members.put(store, "otto@example.org", "author", disabled=True)
        page.get_by_test_id("stSidebarNav").get_by_role("link", name="Data", exact=True).click()
        page.get_by_text("was switched off here").wait_for()
        members.put(store, "otto@example.org", "author")


def test_logging_out_ends_every_window_and_a_copied_cookie(team: Server, lend: Lend) -> None:
    page = signed_in(lend(), team.url, "lea")
    other = opened(page.context, f"{team.url}/datasets")
    copied = lend()
    copied.add_cookies(page.context.cookies())
    thief = opened(copied, f"{team.url}/datasets")
    assert "Sign in" not in text(thief)
    page.wait_for_timeout(1100)  # sign-ins are told apart by whole seconds
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/oauth2/end_session**")
    for window in (other, thief):
        window.get_by_test_id("stSidebarNav").get_by_role("link", name="Rubrics").click()
        window.get_by_text("You signed out").wait_for()


def test_a_file_of_a_page_is_for_whoever_has_that_page_open_and_is_signed_in(
    team: Server, app_db: Path, lend: Lend
) -> None:
    page = signed_in(lend(), team.url, "vera", "/datasets?dataset=1")
    page.get_by_role("radio", name="About").click()
    settle(page)
    with page.expect_download() as caught:
        page.get_by_test_id("stDownloadButton").first.click()
    assert caught.value.path().read_text().startswith("{")
    # That one is gone with the next run of any page; this one stays while its page is open.
    turn(page, f"{team.url}/rubrics?rubric=1")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download YAML").click()
    file = caught.value.url
    assert "/media/" in file
    assert page.context.request.get(file).status == 200
    other = signed_in(lend(), team.url, "otto", "/runs")
    assert other.context.request.get(file).status == 403
    nobody = lend()
    for one in (file, f"{team.url}/media/0123456789abcdef.csv"):
        assert nobody.request.get(one).status == 403
        assert nobody.request.get(one, headers={"Cookie": "_streamlit_user=forged"}).status == 403
    left = other.context.request.put(f"{team.url}/_stcore/upload_file/someone/file", data=b"x")
    assert left.status == 403
    # Whoever has the page open leaves a file on it.
    turn(other, f"{team.url}/start")
    with other.expect_response("**/_stcore/upload_file/**") as put:
        files = [{"name": "texts.csv", "mimeType": "text/csv", "buffer": b"id,text\n1,One\n"}]
        other.locator("input[type=file]").first.set_input_files(files)
    assert put.value.status == 204
    # A sign-in that is over opens neither, nor does one that was ended.
    young, old = time.time() - 60, time.time() - 13 * 3600
    for name, issued, may in (
        ("vera", young, (True, False)),
        ("otto", young, (False, True)),
        ("vera", old, (False, False)),
        ("otto", old, (False, False)),
    ):
        brought = cookie(f"{name}@example.org", issued)
        said = (
            nobody.request.get(file, headers=brought).text(),
            nobody.request.put(put.value.url, headers=brought, data=b"x").text(),
        )
        assert tuple("for somebody else" not in words for words in said) == may, (name, issued)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUBRIC_STUDIO_CONFIG", str(team.log.with_name("studio.toml")))
        members.sign_out(Store(app_db).acting(Actor("vera@example.org", "viewer")))
    ended = cookie("vera@example.org", young)
    assert nobody.request.get(file, headers=ended).status == 403


def test_a_link_leads_into_its_workspace_and_another_begins_at_its_start(
    team: Server, lend: Lend
) -> None:
    # The sign-in leads away and back to the first address: the tab goes on to where it wanted.
    page = logged_in(lend(), team.url, "lea", "/datasets?w=arts")
    page.wait_for_url("**/datasets?w=arts")
    page.get_by_role("heading", name="Datasets").wait_for()
    settle(page)
    assert "Answers" not in text(page)
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Rubrics").click()
    page.wait_for_url("**/rubrics?w=arts")
    settle(page)
    # An address that only names the workspace is no step of its own.
    page.go_back()
    page.wait_for_url("**/datasets?w=arts")
    settle(page)
    box = page.get_by_role("combobox", name="Workspace")
    # A list that opens closes when what it stands in is scrolled.
    box.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box.click()
    # The page is loaded anew: no field of the one keeps in the browser what was typed there.
    with page.expect_event("load"):
        page.get_by_role("option", name="Science").click()
    page.wait_for_url(f"{team.url}/?w=science")
    settle(page)
    page.goto(f"{team.url}/datasets?w=science")
    page.get_by_role("heading", name="Datasets").wait_for()
    settle(page)
    page.reload()
    page.wait_for_url("**/datasets?w=science")
    settle(page)
    assert page.get_by_role("combobox", name="Workspace").input_value() == "Science"


def test_who_is_in_one_workspace_finds_no_way_into_the_other(team: Server, lend: Lend) -> None:
    page = signed_in(lend(), team.url, "vera", "/runs?w=arts")
    page.get_by_text("You have no access to a workspace with that name").wait_for()
    assert "Arts" not in text(page)
    page.get_by_role("link", name="Go to Science").click()
    page.wait_for_url(f"{team.url}/?w=science")
    settle(page)
    assert page.get_by_role("combobox", name="Workspace").count() == 0

"""The table of roles (core/domain/access.py) against what every screen offers each of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

import app
from core import clock
from core.domain.access import MAY, TEAM_ROLES, TeamRole, Verb
from core.domain.runs import Run
from core.services.access import members
from core.services.runs import server
from core.store.store import Store
from pages.ui import resources, routes, state
from pages.ui.routes import Screen
from pages.ui.state import Owner
from tests.browser.serving import free_port
from tests.pages.conftest import open_page, shown
from tests.pages.members.conftest import as_member
from tests.services import reviewed
from tests.services.access.made import CONFIG, member, team

#: The buttons that begin something, and which verb the service behind them asks for. "Save" is the
#: rubric editor's; drafts are everybody's.
BUTTONS: dict[str, Verb] = {
    "Grade my texts": "write",
    "Review my tool's results": "write",
    "Compare two prompts": "write",
    "Save": "write",
    "Import": "write",
    "Grade now": "write",
    "Plan a run": "write",
    "Plan a sweep": "write",
    "Plan a contest": "write",
    "Cancel": "write",
    "New judge": "set judges",
    "Nearest neighbours": "set judges",
    "Text classifier": "set judges",
    "Add": "administer",
}
#: The links that lead to where something begins.
LINKS: dict[str, set[Verb]] = {
    "Plan a run": {"write"},
    "Plan a sweep": {"write"},
    "Import votes": {"write"},
    "Grade with this rubric": {"write"},
    "Grade these texts": {"write"},
    "Spot check": {"write"},
    "Review": {"review", "organise"},
    "Choose which cells": {"organise"},
    "Settle 1 disagreement": {"organise"},
}
#: What any member may press: reading, and drafts of one's own.
READING = {
    *("Log out", "All rubrics", "Undo", "Redo", "Discard", "Export", "Dismiss", "Open"),
    *("About, guidelines and scoring", "Right", "Short", "Decision", "Length penalty", "Gate"),
    *("Pre-check", "Previous", "Next", "Step through", "Grades for Canvas / Moodle"),
    "Add results to your own file",
    *("Yes or no", "3 levels", "4 levels", "5 levels", "Bands 1-10", "Categories"),
    *("From the library", "Add criteria", "New rubric", "Samples", "Draft with a model"),
    # What is opened by its name, and a rubric that is brought in, which is a draft at first.
    *("Answers", "Untitled dataset", "Import"),
}


def addresses(run: Run) -> list[tuple[Screen, dict[str, str]]]:
    """Every screen of the navigation, with something on it."""
    with_run = {state.RUN: str(run.id)}
    own = {
        routes.RUN: with_run,
        routes.AGREEMENT: with_run,
        routes.REPORT: with_run,
        routes.RECORD: with_run,
        routes.RUBRICS: {state.RUBRIC: str(run.rubric_id)},
        routes.DATASETS: {state.DATASET: str(run.dataset_id)},
        routes.REVIEW_ITEM: {state.QUEUE: "1"},
    }
    found = [(one, own.get(one, {})) for one in routes.SCREENS]
    return [*found, (routes.RUBRICS, {}), (routes.DATASETS, {})]


def barred(page: AppTest) -> tuple[dict[str, bool], dict[str, bool]]:
    """Which buttons and which links of a page there are, and whether each can be pressed."""
    buttons = {one.label: one.disabled for one in page.button}
    links = [one.proto for one in page.get("page_link")]
    return buttons, {one.label: one.disabled for one in links}


@pytest.mark.parametrize("role", TEAM_ROLES)
def test_every_screen_offers_a_role_what_the_table_allows_and_nothing_else(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch, role: TeamRole
) -> None:
    as_member(monkeypatch, store, role)
    mine = {verb for verb, roles in MAY.items() if role in roles}
    seen, wrong = set[str](), list[str]()
    for screen, address in addresses(run):
        page = open_page(screen, **address)
        buttons, links = barred(page)
        place = f"{screen.url} {address}"
        for words, verb in BUTTONS.items():
            # A rubric that is brought in is a draft at first.
            if words in buttons and (screen, words) != (routes.RUBRICS, "Import"):
                seen.add(words)
                if buttons[words] == (verb in mine):
                    wrong.append(f"{place}: button {words!r}")
        for words, verbs in LINKS.items():
            # Beside a run "Review" is what came of it, for all to read.
            asked = set[Verb]({"read"}) if words == "Review" and state.RUN in address else verbs
            if words in links and links[words] == bool(mine & asked):
                wrong.append(f"{place}: link {words!r}")
        if not mine & set(screen.verbs):
            assert "only a" in shown(page), place
            assert set(buttons) == {"Log out"}, place
        if role == "viewer" and screen != routes.LIBRARY:
            beyond = {words for words, off in buttons.items() if not off} - READING
            # Buttons of what came out, such as "✓ Passes: 2".
            wrong += [f"{place}: {words!r}" for words in beyond if words[0] not in "✓✕"]
    assert wrong == [], wrong
    if role == "admin":
        assert seen == set(BUTTONS)


def test_who_may_make_no_queue_is_offered_none(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team(tmp_path, monkeypatch)
    run = reviewed.graded(store, 8)
    as_member(monkeypatch, store, "viewer")
    app = open_page(routes.RECORD, run=str(run.id))
    assert [one.disabled for one in app.button if one.label == "Start reviewing"] == [True]
    links = {one.proto.label: one.proto.disabled for one in app.main.get("page_link")}
    assert links["Settle 12 disagreements"]
    assert links["Choose which cells"]


KINDS = {"picture.png": MediaFileKind.MEDIA, "votes.csv": MediaFileKind.DOWNLOADABLE}
STRANGERS = ("gone@example.org", "eve@elsewhere.net", "")


def fetched(port: int, path: str, email: str, hours_ago: float = 0) -> int:
    """The status that a person gets who signed in so long ago, by a cookie as Streamlit's."""
    issued = int(clock.seconds_now() - hours_ago * 3600)
    said = json.dumps({"email": email, "email_verified": True, "iat": issued})
    cookie = create_signed_value(get_cookie_secret(), AUTH_COOKIE_NAME, said).decode()
    headers = {"Cookie": f"{AUTH_COOKIE_NAME}={cookie}"} if email else {}
    asked = HTTPConnection("127.0.0.1", port, timeout=30)
    asked.request("GET", path, headers=headers)
    status = asked.getresponse().status
    asked.close()
    return status


@contextmanager
def served(guarded: Any) -> Iterator[int]:
    """The port at which this answers meanwhile."""
    port = free_port()
    serving = uvicorn.Server(uvicorn.Config(guarded, port=port, log_level="error"))

    async def serve() -> None:
        await serving.serve()
        # What it still closes as it ends would be found unclosed in some later test.
        for transport in list(asyncio.get_running_loop()._transports.values()):  # type: ignore[attr-defined]
            transport.abort()
        await asyncio.sleep(0.01)

    thread = Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    while not serving.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        serving.should_exit = True
        thread.join()


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> MemoryMediaFileStorage:
    """Where Streamlit keeps the files of pages; the app knows whose they are."""
    files = MemoryMediaFileStorage("/media")
    manager = SimpleNamespace(media_file_mgr=SimpleNamespace(_storage=files))
    monkeypatch.setattr("streamlit.runtime.get_instance", lambda: manager)
    app.watch_files()
    return files


def put_for(
    owner: Owner, files: MemoryMediaFileStorage, name: str, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The address of a file that was put on a page of this owner."""
    monkeypatch.setattr(state, "file_owner", lambda: owner)
    made = files.load_and_get_id(owner[0].encode(), "text/plain", KINDS[name], name)
    return files.get_url(made)


@contextmanager
def guarded() -> Iterator[int]:
    """The port of a server that has every file, behind the app's guard."""

    async def everything(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse("the file")(scope, receive, send)

    guard = server.Guard(everything, server.Hosts("127.0.0.1"), {}, member=app.may_fetch)
    with served(guard) as port:
        yield port


@pytest.mark.parametrize("name", KINDS)
def test_a_picture_or_download_of_a_page_is_for_whoever_it_was_put_there_for_in_every_role(
    store: Store,
    run: Run,
    files: MemoryMediaFileStorage,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    links = dict[str, str]()
    for role in TEAM_ROLES:
        as_member(monkeypatch, store, role)
        links[role] = put_for((f"{role}@example.org", ""), files, name, monkeypatch)
    as_member(monkeypatch, store, "author")
    members.put(store, "gone@example.org", "lead", disabled=True)
    with guarded() as port:
        for whose, link in links.items():
            for other in TEAM_ROLES:
                status = fetched(port, link, f"{other}@example.org")
                assert status == (200 if other == whose else 403), (whose, other)
            assert [fetched(port, link, email) for email in STRANGERS] == [403] * 3
            members.put(store, f"{whose}@example.org", "viewer", disabled=True)
            assert fetched(port, link, f"{whose}@example.org") == 403


@pytest.mark.parametrize("name", KINDS)
def test_a_picture_or_download_of_a_page_ends_with_the_sign_in(
    store: Store,
    run: Run,
    files: MemoryMediaFileStorage,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    as_member(monkeypatch, store, "lead")
    email = "lead@example.org"
    link = put_for((email, ""), files, name, monkeypatch)
    with guarded() as port:
        # session_hours = 12.
        assert [fetched(port, link, email, hours) for hours in (0, 11.9, 12.1)] == [200, 200, 403]
        members.sign_out(store.acting(member("lead")))
        assert [fetched(port, link, email, hours) for hours in (0.1, 11.9)] == [403, 403]


@pytest.mark.parametrize("name", KINDS)
def test_a_picture_or_download_of_a_workspace_is_for_its_members(
    tmp_path: Path,
    files: MemoryMediaFileStorage,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    two = [f'[[workspace]]\nname = "{one}"\ndata = "{one}.db"\n' for one in ("law", "physics")]
    team(tmp_path, monkeypatch, "\n".join((CONFIG, *two)))
    law, physics = (Store(tmp_path / f"{one}.db") for one in ("law", "physics"))
    email = "lea@example.org"
    for store in (law, physics):
        members.put(store, email, "lead")
    link = put_for((email, "law"), files, name, monkeypatch)
    with guarded() as port:
        assert fetched(port, link, email) == 200
        # She is taken out of the workspace that the file is of, and stays in the other.
        members.put(law, email, "lead", disabled=True)
        assert fetched(port, link, email) == 403
        members.put(law, email, "lead")
        members.put(physics, email, "lead", disabled=True)
        assert fetched(port, link, email) == 200


def test_nobody_sees_anything_but_the_sign_in_page_on_any_screen(
    store: Store, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "claims", lambda: None)
    for screen, address in addresses(run):
        page = open_page(screen, **address)
        assert [one.label for one in page.button] in ([], ["Log in"]), screen.url
        assert len(page.get("page_link")) + len(page.get("download_button")) == 0
        said = shown(page)
        assert "sign in" in said.lower(), screen.url
        assert not [one for one in ("Answers", "secret-", "bob") if one in said], screen.url

"""A server of the app with a data file of the module, and a page of a real Chromium.

Fixtures for every browser test: `app_url` (the server's address) and `page` (a fresh page;
exceptions, console errors and requests to elsewhere fail the test). Every module has a data file of
its own; modules share a server. A module whose runs must be worked off says in `RUNNER` where the
Runner is. One whose tests read page after page says `ONE_PAGE = True`, and all have `one_page`.

Where no Chromium is installed these tests are skipped, unless RUBRIC_STUDIO_BROWSER_TESTS is
"required" (as in CI): then they fail.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.settings import RunnerPlace
from tests.browser.driving import watch
from tests.browser.seats import Wardrobe, seats
from tests.browser.serving import SHARED_APP, Server, serving
from tests.provider import Provider

#: The first of these that is installed. The headless one takes two thirds of the processor's time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Pages of one browser share a process, and with it the scripts that are compiled there.
    "--process-per-site",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder drives a browser."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


def missing() -> str:
    """What keeps these tests from running, or the empty string."""
    if find_spec("playwright") is None:
        return "playwright is not installed"
    return "" if CHROMIUM else "no Chromium is installed"


@pytest.fixture(scope="session", autouse=True)
def _can_run() -> None:
    """Skip, or fail where the tests must run, before any server starts."""
    lack = missing()
    if lack and os.environ.get("RUBRIC_STUDIO_BROWSER_TESTS") == "required":
        pytest.fail(f"The browser tests must run here, but {lack}.", pytrace=False)
    if lack:
        pytest.skip(f"{lack}; the browser tests cannot run here")


@pytest.fixture(scope="module")
def app_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data file of this module's server; seed it before asking for `app_url`."""
    return tmp_path_factory.mktemp("browser") / "studio.db"


@pytest.fixture(scope="package")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of all modules in a row."""
    folder = tmp_path_factory.mktemp("server")
    with serving(SHARED_APP, folder / "studio.db", "none", folder) as server:
        yield server


@pytest.fixture(scope="module")
def app_url(shared_server: Server, app_db: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a running app, without a slash at its end."""
    runner: RunnerPlace = getattr(request.module, "RUNNER", "none")
    with shared_server.using(app_db, runner) as url:
        yield url


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """One Chromium for all modules in a row: while it is there, Playwright's event loop runs.

    Were it kept for the session, no other test of this process could run a loop of its own.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield launched
        launched.close()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[Any]:
    """What a module seeds may run a loop: where it drives no browser, Playwright's is hidden."""
    running = asyncio._get_running_loop()
    drives = {"wardrobe", "one_page"} & {*fixturedef.argnames}
    if running is None or fixturedef.scope != "module" or drives:
        return (yield)
    asyncio._set_running_loop(None)
    try:
        return (yield)
    finally:
        asyncio._set_running_loop(running)


@pytest.fixture(scope="package")
def wardrobe(browser: Any) -> Wardrobe:
    """What pages are opened in, one for each person."""
    return Wardrobe(browser)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    """A stand-in for a model provider; its rule is whatever a test gives it."""
    with Provider() as serving:
        yield serving


@pytest.fixture
def context(wardrobe: Wardrobe, app_url: str) -> Iterator[Any]:
    """What the pages of a test share. Streamlit's sessions are per page."""
    with wardrobe.lent(app_url) as lent:
        yield lent


@pytest.fixture
def page(request: pytest.FixtureRequest, app_url: str) -> Iterator[Any]:
    """A fresh page, or `one_page`. Errors on its console and requests to other hosts are errors."""
    if getattr(request.module, "ONE_PAGE", False):
        yield request.getfixturevalue("one_page")
    else:
        with watched(request.getfixturevalue("context"), app_url) as fresh:
            yield fresh


@pytest.fixture(scope="module")
def one_page(wardrobe: Wardrobe, app_url: str) -> Iterator[Any]:
    """A page that is kept for all tests of a module, which go on with `turn`; watched as `page`.

    Loading the app's scripts costs three times what drawing another screen does.
    """
    with wardrobe.lent(app_url) as lent, watched(lent, app_url) as kept:
        yield kept


@contextmanager
def watched(context: Any, app_url: str) -> Iterator[Any]:
    """A fresh page; an error on its console and a request to another host are errors."""
    fresh = context.new_page()
    errors, foreign = list[str](), list[str]()
    fresh.on("pageerror", lambda error: errors.append(str(error)))
    fresh.on("console", lambda said: errors.append(said.text) if _is_error(said) else None)
    fresh.on("request", lambda asked: foreign.append(asked.url) if _is_foreign(asked) else None)
    watch(fresh)
    yield fresh
    fresh.close()
    assert errors == []
    assert [url for url in foreign if not url.startswith(app_url)] == []


@pytest.fixture
def someone(wardrobe: Wardrobe, app_url: str) -> Iterator[Callable[..., Any]]:
    """Sit somebody down at a browser of their own."""
    with seats(wardrobe, app_url) as sit:
        yield sit


def _is_error(said: Any) -> bool:
    # A deep page load probes two addresses below the page that do not exist; that is Streamlit's.
    return said.type == "error" and "/_stcore/" not in said.location.get("url", "")


def _is_foreign(asked: Any) -> bool:
    return str(asked.url).startswith("http")

"""A server on a free port with a data file of its own, and a page of a real Chromium.

Fixtures for every browser test: `app_url` (the server's address, one per module) and `page` (a
fresh page; exceptions, console errors and requests to elsewhere fail the test). A module whose
runs must be worked off defines a fixture `app_runner` that returns "process".

Where no Chromium is installed these tests are skipped, unless RUBRIC_STUDIO_BROWSER_TESTS is
"required" (as in CI): then they fail.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.settings import RunnerPlace
from tests.browser.driving import PATIENCE, watch
from tests.browser.seats import seats
from tests.places import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder drives a browser; those of a module share its server."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


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


@pytest.fixture(scope="module")
def app_runner() -> RunnerPlace:
    """Where this module's server works off runs; a module may define its own."""
    return "none"


@pytest.fixture(scope="module")
def app_url(
    app_db: Path, app_runner: RunnerPlace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a running app, without a slash at its end."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("log") / "server.log"
    settings = {"RUBRIC_STUDIO_DB": str(app_db), "RUBRIC_STUDIO_RUNNER": app_runner}
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, **settings, "PYTHONPATH": str(ROOT)},
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(url, server, log)
            yield url
            said = log.read_text(errors="replace")
            assert "Traceback" not in said, said[-4000:]
        finally:
            server.terminate()
            server.wait(timeout=30)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for a module: while it is there, Playwright's event loop runs in this thread.

    Were it kept for the session, no other test of this process could run a loop of its own.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    """What the pages of a module share: the cache of scripts. Streamlit's sessions are per page."""
    opened = browser.new_context(viewport={"width": 1360, "height": 900})
    opened.set_default_timeout(1000 * PATIENCE)
    yield opened
    opened.close()


@pytest.fixture
def page(context: Any, app_url: str) -> Iterator[Any]:
    """A fresh page. Errors on its console and requests to other hosts fail the test."""
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
def someone(browser: Any, app_url: str) -> Iterator[Callable[[str], Any]]:
    """Sit somebody down at a browser of their own."""
    with seats(browser, app_url) as sit:
        yield sit


def _is_error(said: Any) -> bool:
    # A deep page load probes two addresses below the page that do not exist; that is Streamlit's.
    return said.type == "error" and "/_stcore/" not in said.location.get("url", "")


def _is_foreign(asked: Any) -> bool:
    return str(asked.url).startswith("http")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"The app did not start:\n{log.read_text(errors='replace')[-2000:]}")

"""A server on a free port with a data file of its own, and a page of a real Chromium.

Fixtures for every browser test: `app_url` (the server's address, one per module) and `page` (a
fresh page; its console errors and requests to elsewhere fail the test). `settle(page)` waits until
a rerun is over.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
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
#: How long the server may take to answer, in seconds.
PATIENCE = 60.0
#: How long the browser takes to send an act, in milliseconds.
SHORT = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder drives a browser, and is skipped where there is none."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium is installed here"))


@pytest.fixture(scope="module")
def app_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data file of this module's server; seed it before asking for `app_url`."""
    return tmp_path_factory.mktemp("browser") / "studio.db"


@pytest.fixture(scope="module")
def app_url(app_db: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running app, without a slash at its end."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("log") / "server.log"
    settings = {"RUBRIC_STUDIO_DB": str(app_db), "RUBRIC_STUDIO_RUNNER": "none"}
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
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One Chromium for the whole session."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Any, app_url: str) -> Iterator[Any]:
    """A fresh page. Errors on its console and requests to other hosts fail the test."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    fresh = context.new_page()
    errors, foreign = list[str](), list[str]()
    fresh.on("pageerror", lambda error: errors.append(str(error)))
    fresh.on("console", lambda said: errors.append(said.text) if _is_error(said) else None)
    fresh.on("request", lambda asked: foreign.append(asked.url) if _is_foreign(asked) else None)
    yield fresh
    context.close()
    assert errors == []
    assert [url for url in foreign if not url.startswith(app_url)] == []


def settle(page: Any, *, pause: int = 0) -> None:
    """Wait until the script has finished, lazy widgets are there, and nothing is stale.

    `pause` (milliseconds) comes first: right after an act the browser has not sent it yet, and the
    page still looks settled.
    """
    page.wait_for_timeout(pause)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stSkeleton]')"
        " && !document.querySelector('[data-stale=true]')"
    )


def press(page: Any, words: str, *, role: str = "button") -> None:
    """Click what has exactly these words, and wait for what it does."""
    page.get_by_role(role, name=words, exact=True).click()
    settle(page, pause=SHORT)


def write(page: Any, name: str, words: str) -> None:
    """Put words into the field of that name, leave it, and wait for what follows."""
    field = page.get_by_role("textbox", name=name, exact=True)
    field.fill(words)
    field.blur()
    settle(page, pause=SHORT)


def visit(page: Any, url: str) -> None:
    """Open an address and wait until the page is there."""
    page.goto(url)
    page.wait_for_selector("h1")
    settle(page)


def _is_error(said: Any) -> bool:
    # A deep page load probes two addresses below the page that do not exist; that is Streamlit's.
    return said.type == "error" and "404" not in said.text


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

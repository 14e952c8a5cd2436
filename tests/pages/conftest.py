"""The app as Streamlit runs it, on a data file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.testing.v1.element_tree import Block, ElementTree, Node
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.util import calc_hash

from core.services import open_store
from core.settings import load_settings
from core.store.store import Store
from pages.ui import state
from pages.ui.routes import Screen
from tests.new_store import new_store
from tests.places import ROOT

FRAME = ROOT / "pages" / "frame.py"


class NoServer:
    """The server around a script under `AppTest`, which sets what a script asks of it.

    It sets these on a `MagicMock`, whose making and asking took a sixth of the time of a run.
    """

    def get_client(self, session_id: str) -> None:
        """Nobody is connected: whoever asks is at this machine, as with the mock."""


def drawn(tree: ElementTree) -> Iterator[Node]:
    """All that a run drew, walked through once: a test asks for it kind by kind."""
    if "drawn" not in vars(tree):
        vars(tree)["drawn"] = [*Block.__iter__(tree)]
    return iter(vars(tree)["drawn"])


def ended(
    runner: LocalScriptRunner,
    timeout: float,
    too_late: Callable[..., None] = local_script_runner.require_widgets_deltas,
) -> None:
    """Wait for the script to end; `AppTest` looks a thousand times a second whether it has."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    if not runner.script_stopped():
        too_late(runner, 0)


@contextmanager
def done_once() -> Iterator[None]:
    """What Streamlit does once per process, and `AppTest` for every test or for every run.

    It reads what every installed package says of itself, of which none brings components (which
    took four fifths of the time of these tests), and compiles the scripts.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", list)
        patch.setattr(local_script_runner, "ScriptCache", lru_cache(maxsize=1)(ScriptCache))
        patch.setattr(app_test, "MagicMock", lambda spec: NoServer())
        patch.setattr(local_script_runner, "require_widgets_deltas", ended)
        patch.setattr(ElementTree, "__iter__", drawn)
        yield


@pytest.fixture(scope="session", autouse=True)
def _done_once() -> Iterator[None]:
    with done_once():
        yield


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test has a data file of its own, and no cached store of another one."""
    monkeypatch.setenv("RUBRIC_STUDIO_DB", str(new_store(tmp_path / "studio.db").path))
    monkeypatch.setenv("RUBRIC_STUDIO_RUNNER", "none")
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def store(_own_data: None) -> Iterator[Store]:
    """The store of the data file that the app under test uses."""
    opened = open_store(load_settings())
    yield opened
    opened.close()


def open_page(page: Screen, *, browser: str = "", **address: str | list[str]) -> AppTest:
    """The app with that page and address parameters in a tab of a browser, after its first run."""
    app = AppTest.from_file(str(FRAME), default_timeout=30)
    app.session_state[state.BROWSER] = browser or "this one"
    for name, value in address.items():
        app.query_params[name] = value
    visit(app, page)
    assert not app.exception, [one.message for one in app.exception]
    return app


def visit(app: AppTest, page: Screen) -> AppTest:
    """The app on that page, after a run.

    `AppTest.switch_page` (Streamlit 1.67) knows a page of an address of its own only after a first
    run, which would draw Start before every page.
    """
    app._page_hash = calc_hash(page.url)
    return app.run()


def shown(app: AppTest) -> str:
    """Every text that our own HTML, captions, errors, titles with their help and the like show.

    A style sheet shows nothing: its words are not among them.
    """
    kinds = ("html", "caption", "error", "warning", "success", "info", "title", "toast", "code")
    parts = [str(e.proto) if k == "html" else str(e.value) for k in kinds for e in app.get(k)]
    parts += [e.proto.help for e in app.title]
    return "\n".join(part for part in parts if not part.startswith('body: "<style>'))

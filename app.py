"""The entry: `streamlit run app.py` (with the repository's root on PYTHONPATH, or installed).

The frame is a script of its own, so that Streamlit's legacy `pages/` mode never starts and the
server, not the first browser, decides how long the Runner lives.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from functools import lru_cache
from http.cookies import SimpleCookie
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import streamlit as st
import streamlit.logger
from starlette.middleware import Middleware
from streamlit import runtime
from streamlit.auth_util import get_cookie_with_chunks
from streamlit.errors import StreamlitSecretNotFoundError
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.user_info import generate_login_redirect_url
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

import pages
from core.domain.access import MAX_SESSIONS
from core.errors import RubricStudioError
from core.services import open_store
from core.services.access import login_provider, members
from core.services.access.open_pages import OpenPages
from core.services.reports.worked_example import ensure_example
from core.services.runs import limits, monitoring, server, server_log
from core.services.runs.keeping.keeper import runner_beside
from core.settings import Settings, load_settings
from pages.ui import state
from pages.ui.state import Owner

if TYPE_CHECKING:
    from core.store.store import Store


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """What begins and ends with the server."""
    settings = load_settings()
    for one in settings.each():
        if not _opened(one).read_only:
            ensure_example(_opened(one))
    watch_files()
    take_turns()
    if settings.access is not None:
        login_provider.keep()
    warming = Thread(target=warm, name="warming", daemon=True)
    with runner_beside(settings):
        warming.start()
        yield {"warming": warming}


def warm() -> tuple[str, ...]:
    """Import what pages of figures stand on, while the first visitor's browser loads the app.

    Pandas, NumPy and SciPy are two of the four seconds that a start would take with them.
    """
    import pandas as pd
    import plotly.graph_objects as go

    from core.services.agreement import load_ratings, rater_pairs, rating_sheet

    # Plotly imports its figures when they are first asked for.
    ours = (load_ratings, rater_pairs, rating_sheet, rating_sheet)
    loaded = (pd.__name__, go.Figure.__module__, *(module.__name__ for module in ours))
    # What is imported by now stays: the collector need not look at it again on every rerun.
    gc.collect()
    gc.freeze()
    return loaded


#: On whose pages a file was put, by its id; as long as Streamlit has it.
OWNERS: dict[str, set[Owner]] = {}


def watch_files() -> None:
    """From now on it is known whose the files of pages are: Streamlit gives them to anybody."""
    storage = runtime.get_instance().media_file_mgr._storage
    load, delete = storage.load_and_get_id, storage.delete_file

    def loaded(*given: Any, **named: Any) -> str:
        file_id = load(*given, **named)
        OWNERS.setdefault(file_id, set()).add(state.owner())
        return file_id

    def deleted(file_id: str) -> None:
        OWNERS.pop(file_id, None)
        delete(file_id)

    # Setting them by name: the storage has no public way to be told of.
    vars(storage).update(load_and_get_id=loaded, delete_file=deleted)


def take_turns() -> None:
    """From now on two runs of one page never write at once what the page holds, and none is cut off
    while it takes over what a person did.

    A run that is to stop goes on to its next widget beside the run that follows it. Streamlit gives
    each a lock of its own; the one that ended then walked over what the other was writing, and its
    thread died of it. And it stops a run in the middle of a callback: what was typed counted as
    heard, and was nowhere.
    """
    made, heard = SafeSessionState.__init__, SafeSessionState.on_script_will_rerun

    def make(
        self: SafeSessionState, state: SessionState, yield_callback: Callable[[], None]
    ) -> None:
        made(self, state, yield_callback)
        # Of all that a page holds this takes an attribute, and lives as long as the page.
        lock = vars(state.query_params).setdefault("lock", self._lock)
        object.__setattr__(self, "_lock", lock)

    def hear(self: SafeSessionState, *args: Any, **more: Any) -> None:
        # A runner takes no orders while it does not execute a page.
        look: Any = self._yield_callback
        runner = look.__self__
        runner._execing = False
        try:
            heard(self, *args, **more)
        finally:
            runner._execing = True

    SafeSessionState.__init__ = make  # type: ignore[method-assign]
    SafeSessionState.on_script_will_rerun = hear  # type: ignore[method-assign]


def may_fetch(cookies: str, path: str) -> bool:
    """Whether a file of a page is that of whoever sends these cookies, who still is a member.

    Of pictures and downloads: they were put on a page of theirs. Of uploads: the page that they are
    left on is theirs. Alone on a machine everything is.
    """
    if load_settings().access is None:
        return True
    said = _claims(cookies)
    email = members.address_in(said)
    if "/media/" in path:
        file_id = path.rpartition("/")[2].partition(".")[0]
        places = {one.workspace for one in OWNERS.get(file_id, ()) if one.email == email}
        return any(_is_member(said, place) for place in places)
    session = runtime.get_instance()._session_mgr.get_session_info(path.split("/")[-2])
    mine = session is not None and str(session.session._user_info.get("email") or "") == (
        (said or {}).get("email")
    )
    return mine and _is_member(said, "")


def who_is(cookies: str) -> str | None:
    """The member who brings these cookies; ``None``: nobody's; empty where nobody need sign in."""
    if load_settings().access is None:
        return ""
    if (said := _claims(cookies)) is None:
        return None
    try:
        return members.address_in(said) if _is_member(said, "") else None
    except RubricStudioError:
        # No data file can be asked now; the sign-in itself is one of this server.
        return members.address_in(said)


def sign_in() -> str:
    """Where a sign-in begins that needs no open page; empty: no login is set up."""
    try:
        return generate_login_redirect_url("default") if "auth" in st.secrets else ""
    except StreamlitSecretNotFoundError:
        return ""


def _is_member(claims: Mapping[str, Any] | None, workspace: str) -> bool:
    """Whether this is a member of a workspace, of any where none is named."""
    for one in load_settings().each():
        if not workspace or (one.workspace is not None and one.workspace.name == workspace):
            assert one.access is not None
            if members.actor(_opened(one), one.access, claims, join=False).role is not None:
                return True
    return False


def _claims(cookies: str) -> Mapping[str, Any] | None:
    """What the provider of the login said of whoever sends these cookies."""
    jar = {name: one.value for name, one in SimpleCookie(cookies).items()}
    # Streamlit has no public way to read its own cookie before a page runs.
    payload = get_cookie_with_chunks(
        lambda name: decode_signed_value(get_cookie_secret(), name, jar.get(name, "").encode()),
        AUTH_COOKIE_NAME,
    )
    found: Mapping[str, Any] | None = json.loads(payload) if payload else None
    return found


def sessions() -> int:
    """How many browsers are connected."""
    # Streamlit's own manager of sessions is not public; it counts those without a browser, too.
    return runtime.get_instance()._session_mgr.num_active_sessions() if runtime.exists() else 0


def uploaded(session: str) -> tuple[int, int]:
    """How many bytes of files the page of a session holds, and all pages together."""
    # Of the kind that holds files in memory, which is the one that Streamlit starts with.
    kept = vars(runtime.get_instance()._uploaded_file_mgr)["file_storage"]
    sums = {name: sum(len(one.data) for one in held.values()) for name, held in kept.items()}
    return sums.get(session, 0), sum(sums.values())


def by_https() -> bool:
    """Whether browsers reach this server by https, as its login is set up."""
    try:
        return str(st.secrets["auth"]["redirect_uri"]).startswith("https://")
    except (StreamlitSecretNotFoundError, KeyError):
        return False  # no login is set up


def log_as(settings: Settings) -> None:
    """Log as the settings say: Streamlit gives every logger of its own a handler of its own."""
    handler = server_log.begin(settings.log)
    if handler is None:
        return

    def ours(logger: logging.Logger) -> None:
        logger.handlers[:] = [handler]

    streamlit.logger.setup_formatter = ours
    for logger in list(streamlit.logger._loggers.values()):
        ours(logger)


@lru_cache(maxsize=64)
def _opened(settings: Settings) -> Store:
    return open_store(settings)


FRAME = Path(pages.__file__).parent / "frame.py"
# Streamlit puts the script's folder before `sys.path` for each rerun and takes it away afterwards,
# unless it is there. Taking it away while another thread imports makes that import miss a folder.
if str(FRAME.parent) not in sys.path:
    sys.path.append(str(FRAME.parent))
_settings = load_settings()
log_as(_settings)
INDEX = Path(st.__file__).parent / "static" / "index.html"
guard = Middleware(
    server.Guard,
    hosts=server.Hosts(st.get_option("server.address") or "", _settings.hosts),
    headers=server.headers(INDEX.read_bytes()),
    member=may_fetch,
    secure=by_https(),
    base=st.get_option("server.baseUrlPath") or "",
)
monitor = Middleware(
    monitoring.Monitor,
    stores=lambda: {
        one.workspace.name if one.workspace else "": _opened(one) for one in load_settings().each()
    },
    token=_settings.metrics_token,
    base=st.get_option("server.baseUrlPath") or "",
    sessions=sessions,
)
limited = Middleware(
    limits.Limits,
    pages=OpenPages(_settings.access.max_sessions if _settings.access else MAX_SESSIONS),
    uploaded=uploaded,
    who=who_is,
    sign_in=sign_in,
)
app = st.App(FRAME, lifespan=lifespan, middleware=[guard, monitor, limited])

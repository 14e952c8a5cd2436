"""The entry: `streamlit run app.py` (with the repository's root on PYTHONPATH, or installed).

The frame is a separate script, so that Streamlit's legacy `pages/` mode never starts and the
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
    """Start the runner and everything else that lives as long as the server."""
    settings = load_settings()
    for workspace in settings.each():
        if not _opened(workspace).read_only:
            ensure_example(_opened(workspace))
    watch_files()
    take_turns()
    if settings.access is not None:
        login_provider.share_metadata()
    warming = Thread(target=warm, name="warming", daemon=True)
    with runner_beside(settings):
        warming.start()
        yield {"warming": warming}


def warm() -> tuple[str, ...]:
    """Import the heavy libraries of pages with figures while the first browser loads the app.

    Pandas, NumPy and SciPy would add two seconds to the two that the server takes to start.
    """
    import pandas as pd
    import plotly.graph_objects as go

    from core.services.agreement import load_ratings, rater_pairs, rating_sheet

    # Naming go.Figure makes Plotly import it now instead of at the first chart.
    ours = (load_ratings, rater_pairs, rating_sheet, rating_sheet)
    loaded = (pd.__name__, go.Figure.__module__, *(module.__name__ for module in ours))
    # These modules are never freed, so the garbage collector need not scan them on every rerun.
    gc.collect()
    gc.freeze()
    return loaded


#: The users on whose pages a file is shown, by the file's id, while Streamlit has the file.
OWNERS: dict[str, set[Owner]] = {}


def watch_files() -> None:
    """Record in ``OWNERS`` for whom Streamlit stores each file, since it serves files to anyone."""
    storage = runtime.get_instance().media_file_mgr._storage
    load, delete = storage.load_and_get_id, storage.delete_file

    def loaded(*given: Any, **named: Any) -> str:
        file_id = load(*given, **named)
        OWNERS.setdefault(file_id, set()).add(state.file_owner())
        return file_id

    def deleted(file_id: str) -> None:
        OWNERS.pop(file_id, None)
        delete(file_id)

    # Replaced on the instance, since the storage has no public hook for new files.
    vars(storage).update(load_and_get_id=loaded, delete_file=deleted)


def take_turns() -> None:
    """Make two script runs of one page take turns, and never stop a run within a callback.

    A run that is told to stop continues until its next widget, while the next run has begun.
    Streamlit gives each run its own lock, so both could write the page's state at once, which ended
    the older run's thread with an error. Streamlit may also stop a run in the middle of a callback:
    the value that a person had typed then counted as handled, and was lost.
    """
    original_init = SafeSessionState.__init__
    original_rerun = SafeSessionState.on_script_will_rerun

    def init_with_shared_lock(
        self: SafeSessionState, state: SessionState, yield_callback: Callable[[], None]
    ) -> None:
        original_init(self, state, yield_callback)
        # The page's query_params live as long as the page, and accept another attribute.
        lock = vars(state.query_params).setdefault("lock", self._lock)
        object.__setattr__(self, "_lock", lock)

    def hold_init_lock(self: SafeSessionState, *args: Any, **more: Any) -> None:
        # A script runner obeys requests to stop only while it is marked as executing a page.
        callback: Any = self._yield_callback
        runner = callback.__self__
        runner._execing = False
        try:
            original_rerun(self, *args, **more)
        finally:
            runner._execing = True

    SafeSessionState.__init__ = init_with_shared_lock  # type: ignore[method-assign]
    SafeSessionState.on_script_will_rerun = hold_init_lock  # type: ignore[method-assign]


def may_fetch(cookies: str, path: str) -> bool:
    """Return whether the sender of these cookies may fetch or upload the file at ``path``.

    Pictures and downloads must have been shown to the member who signed in, in a workspace to which
    the member still belongs. Uploads must go to a page that the member has open. Without sign-in
    everything is allowed.
    """
    if load_settings().access is None:
        return True
    claims = _claims(cookies)
    email = members.address_in(claims)
    if "/media/" in path:
        file_id = path.rpartition("/")[2].partition(".")[0]
        workspaces = {workspace for owner, workspace in OWNERS.get(file_id, ()) if owner == email}
        return any(_is_member(claims, workspace) for workspace in workspaces)
    session = runtime.get_instance()._session_mgr.get_session_info(path.split("/")[-2])
    is_own_page = session is not None and str(session.session._user_info.get("email") or "") == (
        (claims or {}).get("email")
    )
    return is_own_page and _is_member(claims, "")


def member_of(cookies: str) -> str | None:
    """Return the address of the member who sends these cookies.

    It is ``None`` if the cookies are not a member's, and empty if this server needs no sign-in.
    """
    if load_settings().access is None:
        return ""
    if (claims := _claims(cookies)) is None:
        return None
    try:
        return members.address_in(claims) if _is_member(claims, "") else None
    except RubricStudioError:
        # The data file cannot be read now. The sign-in is genuine, since this server signed it.
        return members.address_in(claims)


def sign_in() -> str:
    """Return the address where signing in begins without an open page; empty without a login."""
    try:
        return generate_login_redirect_url("default") if "auth" in st.secrets else ""
    except StreamlitSecretNotFoundError:
        return ""


def _is_member(claims: Mapping[str, Any] | None, workspace: str) -> bool:
    """Return whether these claims belong to a member of the workspace, or of any if it is empty."""
    for settings in load_settings().each():
        if not workspace or (
            settings.workspace is not None and settings.workspace.name == workspace
        ):
            assert settings.access is not None
            actor = members.actor(_opened(settings), settings.access, claims, join=False)
            if actor.role is not None:
                return True
    return False


def _claims(cookies: str) -> Mapping[str, Any] | None:
    """Return the login provider's statements about the sender of these cookies."""
    jar = {name: morsel.value for name, morsel in SimpleCookie(cookies).items()}
    # Streamlit has no public way to read its own cookie before a page runs.
    payload = get_cookie_with_chunks(
        lambda name: decode_signed_value(get_cookie_secret(), name, jar.get(name, "").encode()),
        AUTH_COOKIE_NAME,
    )
    claims: Mapping[str, Any] | None = json.loads(payload) if payload else None
    return claims


def sessions() -> int:
    """Return how many browsers are connected."""
    # Streamlit has no public way to count sessions. Those whose browser has left are not counted.
    return runtime.get_instance()._session_mgr.num_active_sessions() if runtime.exists() else 0


def uploaded(session: str) -> tuple[int, int]:
    """Return the bytes of files uploaded to a session's page, and to all pages together."""
    # The attribute of Streamlit's in-memory file storage, which is its default.
    files = vars(runtime.get_instance()._uploaded_file_mgr)["file_storage"]
    sizes = {name: sum(len(file.data) for file in held.values()) for name, held in files.items()}
    return sizes.get(session, 0), sum(sizes.values())


def by_https() -> bool:
    """Return whether browsers reach this server by https, judging by its login's settings."""
    try:
        return str(st.secrets["auth"]["redirect_uri"]).startswith("https://")
    except (StreamlitSecretNotFoundError, KeyError):
        return False  # No login is configured.


def log_as(settings: Settings) -> None:
    """Send the log to where the settings say, including that of Streamlit, whose loggers have
    handlers.
    """
    handler = server_log.begin_log(settings.json_log)
    if handler is None:
        return

    def use_handler(logger: logging.Logger) -> None:
        logger.handlers[:] = [handler]

    streamlit.logger.setup_formatter = use_handler
    for logger in list(streamlit.logger._loggers.values()):
        use_handler(logger)


@lru_cache(maxsize=64)
def _opened(settings: Settings) -> Store:
    return open_store(settings)


FRAME = Path(pages.__file__).parent / "frame.py"
# Unless the script's folder is on `sys.path`, Streamlit adds it for each rerun and removes it
# afterwards. If it does so while another thread imports a module, that import may fail.
if str(FRAME.parent) not in sys.path:
    sys.path.append(str(FRAME.parent))
_settings = load_settings()
log_as(_settings)
INDEX = Path(st.__file__).parent / "static" / "index.html"
guard = Middleware(
    server.Guard,
    hosts=server.Hosts(st.get_option("server.address") or "", _settings.hosts),
    headers=server.response_headers(INDEX.read_bytes()),
    member=may_fetch,
    secure=by_https(),
    base=st.get_option("server.baseUrlPath") or "",
)
monitor = Middleware(
    monitoring.Monitor,
    stores=lambda: {
        settings.workspace.name if settings.workspace else "": _opened(settings)
        for settings in load_settings().each()
    },
    token=_settings.metrics_token,
    base=st.get_option("server.baseUrlPath") or "",
    sessions=sessions,
)
limited = Middleware(
    limits.Limits,
    pages=OpenPages(_settings.access.max_sessions if _settings.access else MAX_SESSIONS),
    uploaded=uploaded,
    who=member_of,
    sign_in=sign_in,
)
app = st.App(FRAME, lifespan=lifespan, middleware=[guard, monitor, limited])

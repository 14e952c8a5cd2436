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
from collections.abc import AsyncIterator
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
from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

import pages
from core.services import open_store
from core.services.access import members
from core.services.reports.worked_example import ensure_example
from core.services.runs import monitoring, server, server_log
from core.services.runs.server import runner_beside
from core.settings import Settings, load_settings

if TYPE_CHECKING:
    from core.store.store import Store


@contextlib.asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[dict[str, Any]]:
    """What begins and ends with the server."""
    settings = load_settings()
    ensure_example(_opened(settings))
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


def signed_in(cookies: str) -> bool:
    """Whether a Cookie header is that of a member; alone on a machine everybody is."""
    access = load_settings().access
    if access is None:
        return True
    jar = {name: one.value for name, one in SimpleCookie(cookies).items()}
    # Streamlit has no public way to read its own cookie before a page runs.
    payload = get_cookie_with_chunks(
        lambda name: decode_signed_value(get_cookie_secret(), name, jar.get(name, "").encode()),
        AUTH_COOKIE_NAME,
    )
    claims = json.loads(payload) if payload else None
    return members.actor(_opened(load_settings()), access, claims).role is not None


def sessions() -> int:
    """How many browsers are connected."""
    # Streamlit's own manager of sessions is not public; it counts those without a browser, too.
    return runtime.get_instance()._session_mgr.num_active_sessions() if runtime.exists() else 0


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


@lru_cache(maxsize=2)
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
    member=signed_in,
)
monitor = Middleware(
    monitoring.Monitor,
    store=lambda: _opened(load_settings()),
    token=_settings.metrics_token,
    base=st.get_option("server.baseUrlPath") or "",
    sessions=sessions,
)
app = st.App(FRAME, lifespan=lifespan, middleware=[guard, monitor])

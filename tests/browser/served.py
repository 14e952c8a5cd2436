"""`app.py` for a server that several modules of tests use, each with a data file of its own.

A server takes seconds of work to start. The pages read the name of the data file from the
environment on every rerun, so one server can go over to another file, and to another place for the
Runner: `GET /tests/use?<path>&<place>`.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from urllib.parse import unquote

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse

from app import FRAME, guard, lifespan, limited, monitor
from core.services import open_store
from core.services.reports.worked_example import ensure_example
from core.services.runs.keeping.keeper import runner_beside
from core.services.runs.server import AsgiApp, Message, Receive, Send
from core.settings import load_settings


class Use:
    """The middleware that goes over to another data file, as a server that starts with it."""

    def __init__(self, app: AsgiApp) -> None:
        self._inner = app
        self._beside = ExitStack()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != "/tests/use":
            await self._inner(scope, receive, send)
            return
        path, _, place = scope["query_string"].decode().partition("&")
        self._beside.close()
        os.environ.update(RUBRIC_STUDIO_DB=unquote(path), RUBRIC_STUDIO_RUNNER=place)
        settings = load_settings()
        ensure_example(open_store(settings))
        self._beside.enter_context(runner_beside(settings))
        await PlainTextResponse("")(scope, receive, send)


app = st.App(FRAME, lifespan=lifespan, middleware=[Middleware(Use), guard, monitor, limited])

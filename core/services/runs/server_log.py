"""Logs of a server as JSON lines (``RUBRIC_STUDIO_LOG=json``): no secret in them, no judged text.

A line holds ``at`` (UTC), ``level``, ``logger``, ``says``, and where they are known ``run`` and
``request``. Of an error stand there its kind and where in the code it was raised, never its words:
those may quote what somebody wrote. Values of variables whose names tell of a secret are taken out.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime

from core.domain.secrets import masked
from core.settings import LogSettings

#: The request that is being answered.
request_id: ContextVar[str] = ContextVar("request_id", default="")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST, _FRAMES = 6, 12


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__()
        found = {
            said.strip()
            for name, said in environ.items()
            if _SECRET_NAME.search(name) and len(said.strip()) >= _SHORTEST
        }
        self._hidden = sorted(found, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        # `plain` is said in place of a message that repeats what others wrote.
        says = getattr(record, "plain", None) or record.getMessage()
        told: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "says": self._clean(str(says)),
        }
        for name in ("run", "method", "path", "status", "ms"):
            if (value := getattr(record, name, None)) is not None:
                told[name] = self._clean(value) if isinstance(value, str) else value
        if request := getattr(record, "request", None) or request_id.get():
            told["request"] = request
        if record.exc_info and record.exc_info[1] is not None:
            told |= _of_error(record.exc_info[1])
        return json.dumps(told, ensure_ascii=False)

    def _clean(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, "[key]")
        return masked(text)


def _of_error(error: BaseException) -> dict[str, object]:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    where = [f"{_short(one.filename)}:{one.lineno} {one.name}" for one in frames]
    return {"error": type(error).__name__, "where": where}


def _short(path: str) -> str:
    """A path from the last `core`, `pages` or `site-packages` on."""
    return re.sub(r"^.*?/(?=(?:core|pages|rubric_studio)/)|^.*/site-packages/", "", path)


def begin(settings: LogSettings) -> logging.Handler | None:
    """From now on everything this process logs is JSON lines, if the settings say so."""
    if not settings.json:
        return None
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(os.environ))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    # The server's own lines of requests hold what follows a `?`, e.g. the code of a sign-in.
    logging.getLogger("uvicorn.access").disabled = True
    sys.excepthook = lambda kind, error, trace: logging.getLogger("core").critical(
        "The program ended with a defect.", exc_info=(kind, error, trace)
    )
    return handler

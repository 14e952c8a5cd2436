"""Server logs as JSON lines (``RUBRIC_STUDIO_LOG=json``), without secrets or judged texts.

A line holds ``at`` (UTC), ``level``, ``logger``, ``says`` and, if known, ``run`` and ``request``.
For an error it has the type and the place in the code, but no message, which may quote people's
texts. Values of variables whose names suggest a secret are redacted.
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

from core.domain.secrets import masked_text
from core.settings import LogLevel

#: The id of the current request.
request_id: ContextVar[str] = ContextVar("request_id", default="")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_SHORTEST, _FRAMES = 6, 12


class JsonLines(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        super().__init__()
        secrets = {
            value.strip()
            for name, value in environ.items()
            if _SECRET_NAME.search(name) and len(value.strip()) >= _SHORTEST
        }
        self._hidden = sorted(secrets, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        # `plain` replaces a message that repeats user input.
        message = getattr(record, "plain", None) or record.getMessage()
        fields: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "says": self._cleaned(str(message)),
        }
        for name in ("run", "method", "path", "status", "ms"):
            if (value := getattr(record, name, None)) is not None:
                fields[name] = self._cleaned(value) if isinstance(value, str) else value
        if request := getattr(record, "request", None) or request_id.get():
            fields["request"] = request
        if record.exc_info and record.exc_info[1] is not None:
            fields |= _error_fields(record.exc_info[1])
        return json.dumps(fields, ensure_ascii=False)

    def _cleaned(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, "[key]")
        return masked_text(text)


def _error_fields(error: BaseException) -> dict[str, object]:
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    frame_lines = [f"{_short_path(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "where": frame_lines}


def _short_path(path: str) -> str:
    """Shorten a path to what follows the last `core`, `pages` or `site-packages`."""
    return re.sub(r"^.*?/(?=(?:core|pages|rubric_studio)/)|^.*/site-packages/", "", path)


def begin_log(level: LogLevel | None) -> logging.Handler | None:
    """Log JSON lines from this level on; return the handler, or ``None`` without a level."""
    if level is None:
        return None
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(os.environ))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # The server's own lines of requests include query strings, e.g. the code of a sign-in.
    logging.getLogger("uvicorn.access").disabled = True
    sys.excepthook = lambda kind, error, trace: logging.getLogger("core").critical(
        "The program ended with a defect.", exc_info=(kind, error, trace)
    )
    return handler

"""Results to stdout, everything else to stderr; mendable trouble ends with status 2."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from core.errors import InputError, RubricStudioError

DONE, NOT_ALL, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def result(value: Any) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))


def say(text: str) -> None:
    """A message for a person, on stderr."""
    click.echo(text, err=True)


def note(text: str) -> None:
    """A remark on what was read, on stderr."""
    say(f"note: {text}")


@contextmanager
def plain_errors(as_json: bool = False) -> Iterator[None]:
    """Turns our errors into one message and status 2; Ctrl-C and its like into status 130."""
    try:
        with _ended_like_ctrl_c():
            yield
    except RubricStudioError as error:
        if as_json:
            detail = error.to_dict() if isinstance(error, InputError) else {"error": str(error)}
            result(detail)
        say(f"rubric-studio: {error}")
        sys.exit(WRONG_INPUT)
    except KeyboardInterrupt:
        say("\nInterrupted. What was finished is kept.")
        sys.exit(INTERRUPTED)


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP interrupt, unless somebody (`nohup`) has them ignored."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    taken = [
        one
        for one in (getattr(signal, name) for name in names)
        if threading.current_thread() is threading.main_thread()
        and signal.getsignal(one) is signal.SIG_DFL
    ]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for one in taken:
        signal.signal(one, interrupt)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


def table(rows: list[list[str]], heads: list[str]) -> str:
    """Columns padded with spaces; numbers are the caller's text."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [heads, *rows]
    ]
    return "\n".join(lines)


class ProgressBar:
    """One line on stderr that is redrawn on a terminal and written rarely elsewhere."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._last = ""
        self._looks = 0

    def show(self, text: str) -> None:
        """Shows ``text`` in place of what was shown before."""
        self._looks += 1
        if self._terminal:
            click.echo("\r" + text.ljust(len(self._last)), err=True, nl=False)
        elif self._looks % 20 == 1:
            click.echo(text, err=True)
        self._last = text

    def end(self) -> None:
        """Ends the line."""
        if self._terminal and self._last:
            click.echo("", err=True)

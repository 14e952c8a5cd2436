"""What this machine's user has allowed: programs to run, and secrets to send to an address.

A panel, or a run in a data file, may come from a stranger and name any variable and any address.
Permits say which variable may go to which address. They are kept in the user's own folder, which
neither a panel nor a data file can change. The usual pairs need no permit (`core.judging.keys`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from core import clock
from core.domain.panel import Judge
from core.errors import InputError, Problem
from core.judging.keys import Sending, secret_destinations
from core.part_files import part_file
from core.settings import allowed_file, load_settings
from core.text.names import visible

Kind = Literal["programs", "secrets"]
MEND = (
    "If you trust it with that, say so once: --trust with `grade`, `contest`, `resume`, `retry` or "
    "`cancel` (Python: trust=True), or allow it on the Judges page."
)


def permits_of_kind(kind: Kind) -> dict[str, Any]:
    """Return everything of one kind that is allowed on this machine.

    Raises:
        InputError: the file cannot be read.
    """
    allowed = _read_permits(allowed_file()).get(kind)
    return allowed if isinstance(allowed, dict) else {}


def add_permits(kind: Kind, new_permits: Mapping[str, Any]) -> None:
    """Add permits. Raises ``InputError`` if the file cannot be written."""
    if new_permits:
        file = allowed_file()
        _write_permits(
            file, {**_read_permits(file), kind: {**permits_of_kind(kind), **new_permits}}
        )


def secrets_not_allowed(judges: Iterable[Judge]) -> list[tuple[Judge, Sending]]:
    """Return the secrets that these judges would send and that are not allowed here."""
    sent = [
        (judge, sending)
        for judge in judges
        for sending in secret_destinations(judge, os.environ)
        # A variable that is not set would send nothing; it is reported as missing elsewhere.
        if not sending.is_variable or os.environ.get(sending.what)
    ]
    allowed = permits_of_kind("secrets") if sent else {}
    return [(judge, sending) for judge, sending in sent if _sending_text(sending) not in allowed]


def allow_sendings(judges: Iterable[Judge], apart_from: Iterable[Judge] = ()) -> None:
    """Allow the secrets that these judges send, except those that the other judges also send."""
    texts = {
        _sending_text(sending)
        for judge in judges
        for sending in secret_destinations(judge, os.environ)
    }
    texts -= {
        _sending_text(sending)
        for judge in apart_from
        for sending in secret_destinations(judge, os.environ)
    }
    texts -= permits_of_kind("secrets").keys() if texts else set()
    add_permits("secrets", {text: {"allowed": clock.now()} for text in sorted(texts)})


REFUSED = "This would send secrets of this machine to an address that is not allowed."


def unlisted_problems(judges: Iterable[Judge]) -> tuple[Problem, ...]:
    """Return a problem for each secret that is not allowed; none on a team's server, whose list
    counts.
    """
    if load_settings().access is not None:
        return ()
    return tuple(
        Problem(f"would send {_sending_words(sending)}.", MEND, (visible(judge.name), sending.at))
        for judge, sending in secrets_not_allowed(judges)
    )


def _sending_words(sending: Sending) -> str:
    where = visible(sending.where)
    host = visible(sending.host)
    return f"{sending.what} to {host}" + (f" ({where})" if where != host else "")


def _sending_text(sending: Sending) -> str:
    return f"{sending.what} -> {sending.where}"


def _read_permits(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read: {error}. Fix or remove it.", (), str(file)) from None
    return content if isinstance(content, dict) else {}


def _write_permits(file: Path, allowed: Mapping[str, Any]) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with part_file(file, 0o600) as part:
            part.write_text(json.dumps(allowed, indent=2) + "\n", "utf-8")
            part.replace(file)
    except OSError as error:
        message = f"cannot be written, so that nothing can be allowed: {error.strerror}."
        raise InputError(message, (), str(file)) from None

"""The clock and the dice. Below services, time and randomness are arguments."""

from __future__ import annotations

import os
import secrets
import socket
import time
from datetime import UTC, datetime


def now() -> str:
    """The time in UTC as ISO text with milliseconds.

    >>> len(now()), now()[-1]
    (24, 'Z')
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def at() -> float:
    """Seconds since 1970, for leases that several processes compare."""
    return time.time()


def draw_seed() -> int:
    """A seed nobody chose."""
    return secrets.randbelow(2**31)


def owner_begins(pid: int) -> str:
    """How the names of a process of this machine begin."""
    return f"{socket.gethostname()}:{pid}:"


def owner_name() -> str:
    """A name for this process that no other process has: host, process id, and a few dice."""
    return f"{owner_begins(os.getpid())}{secrets.token_hex(4)}"


def is_gone(owner: str) -> bool:
    """Whether ``owner`` was a process of this machine that no longer runs.

    ``False`` where that cannot be known (another machine): then only the lease's end tells.
    """
    host, _, rest = owner.partition(":")
    pid = rest.partition(":")[0]
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False

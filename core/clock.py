"""The clock and random seeds. Below services, time and randomness are arguments."""

from __future__ import annotations

import os
import secrets
import socket
import time
from datetime import UTC, datetime


def now() -> str:
    """Return the time in UTC as ISO text with milliseconds.

    >>> len(now()), now()[-1]
    (24, 'Z')
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_now() -> float:
    """Return the seconds since 1970, for leases that several processes compare."""
    return time.time()


def draw_seed() -> int:
    """Return a random seed."""
    return secrets.randbelow(2**31)


def owner_prefix(pid: int) -> str:
    """Return the prefix of owner names of a process on this machine."""
    return f"{socket.gethostname()}:{pid}:"


def owner_name() -> str:
    """Return a unique name of this process: host, process id, and random characters."""
    return f"{owner_prefix(os.getpid())}{secrets.token_hex(4)}"


def is_gone(owner: str) -> bool:
    """Return whether ``owner`` was a process of this machine that no longer runs.

    ``False`` if that is unknown (another machine); then only the lease's expiry decides.
    """
    host, _, details = owner.partition(":")
    pid = details.partition(":")[0]
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False

"""SIGTERM and SIGHUP end a program as Ctrl-C does: what was answered is recorded first.

A signal that is ignored when the program starts (`nohup`) stays ignored.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: SIGHUP is unknown on some systems.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def ending(end: Callable[[], object]) -> Iterator[None]:
    """On the running loop these signals call ``end``, once; off the main thread nothing changes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop, ended = asyncio.get_running_loop(), False

    def once() -> None:
        nonlocal ended
        if not ended:
            ended = True
            end()

    before = {one: signal.getsignal(one) for one in ENDING}
    taken = [one for one in ENDING if before[one] is not signal.SIG_IGN]
    for one in taken:
        loop.add_signal_handler(one, once)
    try:
        yield
    finally:
        for one in taken:
            loop.remove_signal_handler(one)
            signal.signal(one, before[one])


def hang_up_ends() -> None:
    """A server ends as on SIGTERM when its terminal goes away."""
    sighup = getattr(signal, "SIGHUP", None)
    if sighup is None or threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(sighup) is signal.SIG_DFL:
        signal.signal(sighup, lambda *_: signal.raise_signal(signal.SIGTERM))

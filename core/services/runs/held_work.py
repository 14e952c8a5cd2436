"""What is shared by all work that is held for a while: runs, and tasks of a model's help.

Whoever holds something renews that with beats, which also tell when somebody else took it, or
wants it stopped. All that one worker does with the store is done in one thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from core.errors import NotNow
from core.services.runs.ready_run import Providers
from core.store.store import Store

ResultT = TypeVar("ResultT")


@asynccontextmanager
async def store_thread(store: Store, providers: Providers | None = None) -> AsyncIterator[Executor]:
    """A thread for the store alone; at the end its connection is closed, and ``providers``."""
    io = ThreadPoolExecutor(1, thread_name_prefix="store")
    try:
        yield io
    finally:
        if providers is not None:
            await providers.close()
        await in_thread(io, store.close)
        io.shutdown()


def in_thread(io: Executor, call: Callable[..., ResultT], *arguments: object) -> Awaitable[ResultT]:
    """Runs a store call off the loop."""
    return asyncio.get_running_loop().run_in_executor(io, call, *arguments)


@asynccontextmanager
async def beating(beat: Callable[[], Awaitable[bool]], every: float) -> AsyncIterator[None]:
    """Inside, ``beat`` is called every so many seconds until it says ``False``.

    One that comes while the file cannot be written is left out: whoever records says so, and
    nobody else can take the work meanwhile.
    """

    async def beats() -> None:
        going = True
        while going:
            await asyncio.sleep(every)
            with suppress(NotNow):
                going = await beat()

    task = asyncio.create_task(beats())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

"""The answers kept in the data file, as judges use them while a run is worked off.

Look-ups go through a thread of their own, many at a time, so that neither the loop nor the writer
waits for them. New answers are no business of this: they are recorded with the votes made of them.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from core.judging.caching import CachedCompletion, as_kept
from core.store.store import Store


class KeptAnswers:
    """A ``ResponseCache`` over the store. Use it on one event loop, and close it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kept-answers")
        self._wanted: list[tuple[str, asyncio.Future[CachedCompletion | None]]] = []
        self._reading: asyncio.Task[None] | None = None

    async def get(self, key: str) -> CachedCompletion | None:
        """The answer kept under ``key``, or ``None``."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[CachedCompletion | None] = loop.create_future()
        self._wanted.append((key, found))
        if self._reading is None or self._reading.done():
            self._reading = loop.create_task(self._read())
        return await found

    async def close(self) -> None:
        """Give back the thread and its connection."""
        if self._reading is not None:
            await self._reading
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._reader, self._store.close)
        self._reader.shutdown()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        while self._wanted:
            wanted, self._wanted = self._wanted, []
            keys = [key for key, _ in wanted]
            try:
                kept = await loop.run_in_executor(self._reader, self._store.responses.get, keys)
            except Exception as error:
                for _, found in wanted:
                    if not found.done():
                        found.set_exception(error)
                continue
            for key, found in wanted:
                if not found.done():
                    found.set_result(as_kept(kept[key]) if key in kept else None)

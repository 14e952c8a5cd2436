"""The answers kept in the data file, as judges use them while a run is worked off.

Look-ups go through a thread of their own, many at a time, so that neither the loop nor the writer
waits for them. New answers are collected and written together with the votes made of them.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

from core.judging.caching import Kept
from core.judging.doors import Completion
from core.store.responses import Response
from core.store.store import Store

_DEFAULTS = {field.name: field.default for field in fields(Completion)}


class KeptAnswers:
    """A ``ResponseCache`` over the store. Use it on one event loop, and close it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="kept-answers")
        self._wanted: list[tuple[str, asyncio.Future[Kept | None]]] = []
        self._reading: asyncio.Task[None] | None = None
        self._new: list[Response] = []

    async def get(self, key: str) -> Kept | None:
        """The answer kept under ``key``, or ``None``."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Kept | None] = loop.create_future()
        self._wanted.append((key, found))
        if self._reading is None or self._reading.done():
            self._reading = loop.create_task(self._read())
        return await found

    def put(self, key: str, model: str, kept: Kept) -> None:
        """Keep an answer; it is written by whoever takes it."""
        self._new.append(Response(key, model, _as_data(kept.completion), kept.cost))

    def take(self) -> list[Response]:
        """The answers that are not written yet; they are the caller's now."""
        new, self._new = self._new, []
        return new

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
                    found.set_result(_as_kept(kept.get(key)))


def _as_data(completion: Completion) -> dict[str, Any]:
    given = {name: getattr(completion, name) for name in _DEFAULTS}
    return {name: value for name, value in given.items() if value != _DEFAULTS[name]}


def _as_kept(response: Response | None) -> Kept | None:
    if response is None:
        return None
    return Kept(Completion(**{"text": None, **response.completion}), response.cost)

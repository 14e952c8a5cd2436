"""Connections on which nobody is given the answer to another's question.

HTTP/1.1 does not say which request an answer is for: it is for the one that was sent last on its
connection. Where a gateway answers twice, the second answer is taken for that of the next request,
and so on, one off each time. So a connection on which anything waits is not used again, and only
they are asked over a used one who give each answer an id of its own: by that a second one is known,
and from then on each request has a connection of its own there, too.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakSet

import aiohttp

#: So many answers of a place are remembered.
_REMEMBERED = 4096
_ID = re.compile(r'"id":\s*"([^"]{1,200})"')

TWICE = "The address gave an answer again that it had given to another question."


#: What a request says after which nothing follows on its connection.
LAST = {"Connection": "close"}


class Answers:
    """The answers of one place, by the ids that it gives them.

    >>> answers = Answers()
    >>> [answers.repeats(f'{{"id": "{name}"}}', [name]) for name in "abb"], answers.known_again
    ([False, False, False], True)
    >>> answers.repeats('{"id": "a"}', ["c"]), answers.known_again
    (True, False)
    """

    def __init__(self) -> None:
        self.doubted = False
        self._known: dict[str, tuple[int, int]] = {}

    @property
    def known_again(self) -> bool:
        """Whether an answer would be known again, and none was: a used connection will do."""
        return len(self._known) > 1 and not self.doubted

    def repeats(self, answer: str, asked: Sequence[str]) -> bool:
        """Whether this answer to what was asked had been given to another question before."""
        match = _ID.search(answer)
        seen = (hash(answer), hash(tuple(asked)))
        before = self._known.setdefault(match[1], seen) if match else (0, 0)
        if before == seen:
            if len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
            return False
        if before[0] == seen[0]:
            # The only answer so far tells nothing: all may have the same id.
            self.doubted = self.doubted or len(self._known) > 1
            return len(self._known) > 1
        # No id, or one for different answers.
        self.doubted = True
        self._known.clear()
        return False


class CarefulConnector(aiohttp.TCPConnector):
    """aiohttp's connections; used ones where nothing waits and ``places`` have known answers."""

    def __init__(self, places: Mapping[str, Answers]) -> None:
        # The judges' own concurrency is the limit, not the connection pool's.
        super().__init__(limit=0)
        self.places, self.used = places, WeakSet[Any]()

    async def connect(self, req: aiohttp.ClientRequest, *given: Any, **more: Any) -> Any:
        """A connection that is ready to be written to."""
        answers = self.places[req.url.authority]
        while True:
            connection: Any = await super().connect(req, *given, **more)
            if connection.protocol not in self.used:
                self.used.add(connection.protocol)
                return connection
            if await _is_quiet(connection) and answers.known_again:
                return connection
            connection.close()


async def _is_quiet(connection: Any) -> bool:
    """Whether neither side has anything left to say on it."""
    try:
        # What has come to this computer by now is read in the loop's next two turns.
        for _ in range(2):
            await asyncio.sleep(0)
    except BaseException:
        connection.close()
        raise
    if connection.closed or connection.protocol.should_close:
        return False
    # A request that was answered before it was read to its end would stand before the next one.
    sent: bool = connection.transport.get_write_buffer_size() == 0
    return sent

"""Connections on which nobody is given the answer to another's question.

HTTP/1.1 does not say which request an answer is for: it is for the one that was sent last on its
connection. Where a gateway answers twice, the second answer is taken for that of the next request,
and so on, one off each time. So a connection on which anything waits is not used again, answers
are known again by their ids, and who once said more than was asked has a new connection for each
request from then on.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import aiohttp

#: So many answers of a place are remembered.
_REMEMBERED = 4096
_ID = re.compile(r'"id":\s*"([^"]{1,200})"')

TWICE = "The address gave an answer again that it had given to another question."


class Answers:
    """The answers of one place, by the ids that it gives them.

    >>> answers = Answers()
    >>> [answers.repeats(f'{{"id": "{name}"}}', [name]) for name in "abb"]
    [False, False, False]
    >>> answers.repeats('{"id": "a"}', ["c"])
    True
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int]] = {}
        self._telling = True

    def repeats(self, answer: str, asked: Sequence[str]) -> bool:
        """Whether this answer to what was asked had been given to another question before."""
        found = _ID.search(answer) if self._telling else None
        if found is None:
            return False
        seen = (hash(answer), hash(tuple(asked)))
        before = self._known.setdefault(found[1], seen)
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        # Different answers by one id: it tells nothing here, and neither does the only one seen.
        self._telling = before[0] == seen[0]
        return self._telling and before[1] != seen[1] and len(self._known) > 1


class CarefulConnector(aiohttp.TCPConnector):
    """aiohttp's connections, used again where nothing waits; at ``doubted`` places never."""

    def __init__(self, doubted: set[str]) -> None:
        # The judges' own concurrency is the limit, not the connection pool's.
        super().__init__(limit=0)
        self.doubted, self.used = doubted, WeakSet[Any]()

    async def connect(self, req: aiohttp.ClientRequest, *given: Any, **more: Any) -> Any:
        """A connection that is ready to be written to."""
        place = req.url.authority
        while True:
            connection: Any = await super().connect(req, *given, **more)
            if connection.protocol not in self.used:
                self.used.add(connection.protocol)
                return connection
            try:
                # What has come to this computer by now is read in the loop's next two turns.
                for _ in range(2):
                    await asyncio.sleep(0)
            except BaseException:
                connection.close()
                raise
            if not connection.closed and connection.protocol.should_close:
                self.doubted.add(place)
            if place not in self.doubted and _all_is_sent(connection):
                return connection
            connection.close()


def _all_is_sent(connection: Any) -> bool:
    """Whether nothing is left of a request that was answered before it was read to its end."""
    return not connection.closed and connection.transport.get_write_buffer_size() == 0

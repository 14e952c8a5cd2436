"""Connections that never return the answer to another request.

HTTP/1.1 does not say which request an answer is for: it is for the last request on its connection.
If a gateway answers twice, the second answer is taken for that of the next request, and so on. So a
connection with unread data is not used again. A connection is reused only for addresses that give
each answer its own id. A repeated id reveals a second answer, and from then on each request to that
address gets its own connection.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import IO, TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

import aiohttp
from yarl import URL

from core.judging.providers.bounded import whole_answer

if TYPE_CHECKING:
    import ssl

#: The number of remembered answers per address.
_REMEMBERED = 4096
_ID = re.compile(r'"id":\s*"([^"]{1,200})"')

#: The header that closes a connection after a request.
LAST = {"Connection": "close"}


class Answers:
    """The answers of an address, by their ids.

    >>> answers = Answers()
    >>> [answers.repeats(f'{{"id": "{name}"}}', [name]) for name in "abb"], answers.is_reusable
    ([False, False, False], True)
    >>> answers.repeats('{"id": "a"}', ["c"]), answers.is_reusable
    (True, False)
    """

    def __init__(self) -> None:
        self.doubted = False
        self._known: dict[str, tuple[int, int]] = {}

    @property
    def is_reusable(self) -> bool:
        """Return whether repeats would be noticed and none was, so that reuse is safe."""
        return len(self._known) > 1 and not self.doubted

    def repeats(self, answer: str, asked: Sequence[str]) -> bool:
        """Return whether this answer was already given to another request."""
        match = _ID.search(answer)
        entry = (hash(answer), hash(tuple(asked)))
        before = self._known.setdefault(match[1], entry) if match else (0, 0)
        if before == entry:
            if len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
            return False
        if before[0] == entry[0]:
            # A single answer proves nothing, because a server may give all answers the same id.
            self.doubted = self.doubted or len(self._known) > 1
            return len(self._known) > 1
        # The answer has no id, or different answers have the same id.
        self.doubted = True
        self._known.clear()
        return False


class CarefulConnector(aiohttp.TCPConnector):
    """aiohttp's connections, reused only if idle and if an address has recognisable answers."""

    def __init__(self, answers: Mapping[str, Answers]) -> None:
        # The judges' concurrency is the limit, not the connection pool's.
        super().__init__(limit=0)
        self.answers, self.used = answers, WeakSet[Any]()

    async def connect(self, req: aiohttp.ClientRequest, *args: Any, **kwargs: Any) -> Any:
        """Return a connection that is ready for a request."""
        answers = self.answers[req.url.authority]
        while True:
            connection: Any = await super().connect(req, *args, **kwargs)
            if connection.protocol not in self.used:
                self.used.add(connection.protocol)
                return connection
            if await _has_no_data(connection) and answers.is_reusable:
                return connection
            connection.close()


async def _has_no_data(connection: Any) -> bool:
    """Return whether no data is left on the connection in either direction."""
    loop = asyncio.get_running_loop()
    turn_passed: asyncio.Future[None] = loop.create_future()
    # Data that has already arrived at the connection is read within the next two iterations of the
    # event loop.
    loop.call_soon(_wake_waiter, turn_passed)
    try:
        await turn_passed
    except BaseException:
        connection.close()
        raise
    if connection.closed or connection.protocol.should_close:
        return False
    # If a request was answered before it was sent completely, its rest would run into the next
    # request.
    sent: bool = connection.transport.get_write_buffer_size() == 0
    return sent


def _wake_waiter(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)


class ClientSession:
    """The requests of a client over one session, which opens on first use.

    ``trusted`` returns the certificates to trust at an address.
    """

    def __init__(self, trusted: Callable[[str], ssl.SSLContext | bool]) -> None:
        self._trusted = trusted
        self._session: aiohttp.ClientSession | None = None
        self._answers = defaultdict[str, Answers](Answers)

    def session(self) -> aiohttp.ClientSession:
        """Return the session, opened on first use."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=CarefulConnector(self._answers),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            )
        return self._session

    async def close(self) -> None:
        """Close the session; a later request opens a new one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def repeats(self, url: str, answer: str, asked: Sequence[str]) -> bool:
        """Return whether this address already gave the answer to another request."""
        return self._answers[URL(url).authority].repeats(answer, asked)

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: IO[bytes],
        proxy: str | None,
        *,
        limit: float | None,
    ) -> tuple[int, Mapping[str, str], str]:
        """Return the status, headers and text of the answer to a POST.

        Waits ``limit`` seconds, or without it as long as the server responds to anything.
        """
        doubted = self._answers[URL(url).authority].doubted

        async def sent() -> tuple[int, Mapping[str, str], str]:
            async with self.session().post(
                URL(url),
                data=body,
                headers={**headers, **LAST} if doubted else headers,
                proxy=proxy,
                ssl=self._trusted(url),
                timeout=_timeout_of(limit),
                # A redirect would carry the key to an unknown address.
                allow_redirects=False,
            ) as response:
                return await whole_answer(response)

        if limit is not None:
            return await sent()
        options = {"headers": {**headers, **LAST}, "proxy": proxy, "ssl": self._trusted(url)}
        return await wait_while_alive(sent(), partial(check_alive, self.session(), url, **options))


@lru_cache(maxsize=64)
def _timeout_of(seconds: float | None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=seconds)


# Calls to slow local servers wait as long as the servers respond to anything.

ResultT = TypeVar("ResultT")

#: Seconds between checks that a server which owes an answer still responds.
BEAT = 20.0
#: Timeout of a check in seconds. A single-threaded server cannot answer the check until it has
#: finished its current answer.
ANSWERS_WITHIN = 30.0
#: Seconds for which a server may answer nothing at all.
SILENCE = 600.0


class Silent(TimeoutError):
    """A server answered nothing for too long."""


async def check_alive(session: aiohttp.ClientSession, url: str, **options: Any) -> None:
    """Request the list of models from a chat address; any answer shows that the server is up."""
    address = url.removesuffix("/chat/completions") + "/models"
    within = _timeout_of(ANSWERS_WITHIN)
    async with session.get(address, timeout=within, allow_redirects=False, **options):
        pass


async def wait_while_alive(
    answer: Coroutine[Any, Any, ResultT], check: Callable[[], Awaitable[object]]
) -> ResultT:
    """Return the ``answer``, however long it takes, while ``check`` succeeds now and then.

    Raises ``Silent`` and cancels the answer after ``SILENCE`` seconds without a response.
    """
    checks: list[asyncio.Task[None]] = []
    loop, given_up = asyncio.get_running_loop(), asyncio.timeout(None)

    def start_check() -> None:
        checks.append(loop.create_task(_cancel_when_silent(given_up, check)))

    # Most answers arrive before the first check; for these the check costs a timer but no task.
    timer = loop.call_later(BEAT, start_check)
    try:
        async with given_up:
            return await answer
    except TimeoutError:
        if not given_up.expired():
            raise
        await asyncio.gather(*checks)
        raise Silent(f"The server was silent for {SILENCE:g} seconds.") from None
    finally:
        timer.cancel()
        for task in checks:
            task.cancel()
        if checks:
            await asyncio.gather(*checks, return_exceptions=True)


async def _cancel_when_silent(
    answer: asyncio.Timeout, check: Callable[[], Awaitable[object]]
) -> None:
    """Cancel the ``answer`` after ``SILENCE`` seconds without a response, or on an error."""
    now, last_answer = asyncio.get_running_loop().time, time.monotonic() - BEAT
    try:
        while time.monotonic() - last_answer <= SILENCE:
            with suppress(aiohttp.ClientError, OSError):
                await check()
                last_answer = time.monotonic()
            await asyncio.sleep(BEAT)
    except Exception:
        answer.reschedule(now())
        raise
    answer.reschedule(now())

"""Where checks are worked out: a few processes, kept warm, ended when a check takes too long."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from core.domain.checks import CriterionChecks
from core.judging.checks.answers import CheckError, Seen
from core.judging.checks.child import READY, as_line, of_line
from core.settings import own_environment, own_python

#: Seconds that the checks of a criterion may take for one item; that a process may take to begin.
PATIENCE, STARTING = 5.0, 60.0
#: Seconds for which somebody waits who tries checks out.
IN_ALL = 15.0
#: Processes at once; what one is told at once, in questions and in characters of text.
SEATS, AT_ONCE, MOST_CHARACTERS = 4, 64, 1_000_000
_MEND = "Simplify it, or shorten the text, and retry."
#: The longest line of an answer.
_LONGEST = 1 << 20


#: An option's label, or ``None`` to abstain, and why.
Answered = tuple[str | None, str]


class CheckEnded(CheckError):
    """A check that took too long, or took its process with it."""


@dataclass
class CheckAsk:
    """The checks of a criterion for what is seen of an item; ``answer``: an option and why.

    A check that cannot be worked out is a ``CheckError`` there.
    """

    criterion: str
    item: str
    seen: Seen
    answer: asyncio.Future[Answered]


class CheckDesk:
    """The processes, started when they are needed. Use it on one loop, and close it."""

    def __init__(self) -> None:
        self._seats = asyncio.Semaphore(SEATS)
        self._all, self._waiting = set[_Child](), list[_Child]()

    async def work_out(self, checks: Mapping[str, str], asks: Sequence[CheckAsk]) -> None:
        """Answers every one; ``checks`` are those of the criteria, as JSON.

        Whoever comes with several judges comes once for each, so that one whose checks take for
        ever leaves processes to the others.
        """
        for some in _portions(asks):
            left = list(some)
            while left:
                async with self._seats:
                    await self._some(checks, left)

    async def _some(self, checks: Mapping[str, str], left: list[CheckAsk]) -> None:
        """Answers what is left, up to and with one that takes its process with it."""
        child, went_wrong = None, None
        try:
            child = await self._free()
            await child.work_out(checks, left)
            self._waiting.append(child)
        except CheckEnded as error:
            went_wrong = error
        finally:
            if child is not None and child not in self._waiting:
                await self._end(child)
        if went_wrong is not None:
            _tell(left.pop(0), went_wrong)

    async def _free(self) -> _Child:
        """A process that can be asked. Raises ``CheckEnded``."""
        while self._waiting:
            if (child := self._waiting.pop()).lives:
                return child
            await self._end(child)
        child = await _begun()
        self._all.add(child)
        try:
            if await child.line(STARTING) == READY:
                return child
        except BaseException as error:
            await self._end(child)
            if not isinstance(error, CheckEnded):
                raise
        raise CheckEnded("found no process to run in: it did not start.")

    async def _end(self, child: _Child) -> None:
        """Ends a process. Where that is broken off, `close` waits for it."""
        await child.end()
        self._all.discard(child)

    @property
    def idle(self) -> list[int]:
        """The ids of processes that wait to be asked."""
        return [child.id for child in self._waiting if child.lives]

    async def close(self) -> None:
        """Ends all processes."""
        self._waiting.clear()
        while self._all:
            await self._all.pop().end()


def told(checks: Mapping[str, CriterionChecks]) -> dict[str, str]:
    """Checks as a process is told them, by criterion."""
    return {
        name: json.dumps(criterion_checks.model_dump(by_alias=True, exclude_defaults=True))
        for name, criterion_checks in checks.items()
    }


def at_once(checks: Mapping[str, str], seen: Seen) -> dict[str, Answered | CheckError]:
    """What every criterion's checks say of one item, for who waits for it.

    What was asked last is remembered, for a page asks the same again and again.
    """
    results = _at_once(tuple(checks.items()), tuple(seen.items()))
    return dict(zip(checks, results, strict=True))


@lru_cache(maxsize=4)
def _at_once(
    checks: tuple[tuple[str, str], ...], seen: tuple[tuple[str, str], ...]
) -> tuple[Answered | CheckError, ...]:
    async def work_out() -> list[Answered | BaseException]:
        loop, desk = asyncio.get_running_loop(), CheckDesk()
        asks = [CheckAsk(name, "", dict(seen), loop.create_future()) for name, _ in checks]
        try:
            async with asyncio.timeout(IN_ALL):
                await desk.work_out(dict(checks), asks)
        except TimeoutError:
            for ask in asks:
                _tell(ask, CheckEnded("was not come to, because others took too long."))
        finally:
            await desk.close()
        return await asyncio.gather(*(ask.answer for ask in asks), return_exceptions=True)

    return tuple(asyncio.run(work_out()))  # type: ignore[arg-type]  # nothing else is set there


def _portions(asks: Sequence[CheckAsk]) -> Iterator[list[CheckAsk]]:
    portion, size = list[CheckAsk](), 0
    for ask in asks:
        more = sum(map(len, ask.seen.values()))
        if portion and (len(portion) == AT_ONCE or size + more > MOST_CHARACTERS):
            yield portion
            portion, size = [], 0
        portion.append(ask)
        size += more
    if portion:
        yield portion


def _tell(ask: CheckAsk, result: Answered | CheckError) -> None:
    """Answers, unless whoever asked is gone."""
    if ask.answer.done():
        return
    if isinstance(result, CheckError):
        ask.answer.set_exception(result)
    else:
        ask.answer.set_result(result)


async def _begun() -> _Child:
    try:
        process = await asyncio.create_subprocess_exec(
            *own_python("core.judging.checks.child"),
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, limit=_LONGEST, env=own_environment(),
        )  # fmt: skip
    except OSError as error:
        raise CheckEnded(f"found no process to run in: {error.strerror}.") from None
    return _Child(process)


class _Child:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout
        self.id = process.pid

    @property
    def lives(self) -> bool:
        """Whether it has not ended meanwhile."""
        return self._process.returncode is None

    async def work_out(self, checks: Mapping[str, str], left: list[CheckAsk]) -> None:
        """Answers what is left, one after the other, and takes it away.

        Raises ``CheckEnded``: the first of what is left then is what took too long.
        """
        message = {
            "checks": {ask.criterion: checks[ask.criterion] for ask in left},
            "items": {ask.item: dict(ask.seen) for ask in left},
            "asks": [(ask.criterion, ask.item) for ask in left],
        }
        self._in.write(as_line(message))
        while left:
            label, why, failed = of_line(await self.line(PATIENCE))
            _tell(left.pop(0), CheckError(why) if failed else (label, why))

    async def line(self, seconds: float) -> bytes:
        """The next line that it says. Raises ``CheckEnded``."""
        try:
            async with asyncio.timeout(seconds):
                line = await self._out.readline()
        except TimeoutError:
            raise CheckEnded(f"took more than {seconds:g} s and was ended. {_MEND}") from None
        if not line:
            raise CheckEnded(f"brought its process to an end. {_MEND}")
        return line

    async def end(self) -> None:
        """Ends it at once, whatever it does."""
        self._in.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

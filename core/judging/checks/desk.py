"""Run checks in a pool of warm processes, and kill those that take too long."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from core.domain.checks import CriterionChecks
from core.judging.checks.answers import CheckError, ItemTexts
from core.judging.checks.child import READY, json_line, value_of_line
from core.settings import own_environment, own_python

#: Timeouts in seconds: for a criterion's checks of an item, and for the start of a process.
PATIENCE, STARTING = 5.0, 60.0
#: Total timeout in seconds when a user tries out checks.
IN_ALL = 15.0
#: Processes at most, questions per message, and characters of text per message.
SEATS, AT_ONCE, MOST_CHARACTERS = 4, 64, 1_000_000
_MEND = "Simplify it, or shorten the text, and retry."
#: The maximum length of an answer line, in bytes.
_LONGEST = 1 << 20


#: An option's label, or ``None`` to abstain, and the reason.
Answered = tuple[str | None, str]


class CheckEnded(CheckError):
    """A check that took too long or crashed its process."""


@dataclass
class CheckAsk:
    """A criterion's checks of an item; ``answer`` becomes an option and a reason.

    If a check cannot be computed, ``answer`` becomes a ``CheckError``.
    """

    criterion: str
    item: str
    texts: ItemTexts
    answer: asyncio.Future[Answered]


class CheckDesk:
    """A pool of processes, started on demand. Use it on one event loop, and close it."""

    def __init__(self) -> None:
        self._seats = asyncio.Semaphore(SEATS)
        self._all, self._waiting = set[_Child](), list[_Child]()

    async def answer_asks(self, checks: Mapping[str, str], asks: Sequence[CheckAsk]) -> None:
        """Answer all asks; ``checks`` maps criteria to their checks as JSON.

        A caller with several judges calls this once per judge, so that endless checks of one judge
        leave processes to the others.
        """
        for portion in _ask_portions(asks):
            remaining = list(portion)
            while remaining:
                async with self._seats:
                    await self._answer_portion(checks, remaining)

    async def _answer_portion(self, checks: Mapping[str, str], remaining: list[CheckAsk]) -> None:
        """Answer asks in order, removing each, until all are answered or one ends its process."""
        child, went_wrong = None, None
        try:
            child = await self._free_child()
            await child.answer_asks(checks, remaining)
            self._waiting.append(child)
        except CheckEnded as error:
            went_wrong = error
        finally:
            if child is not None and child not in self._waiting:
                await self._end(child)
        if went_wrong is not None:
            _set_result(remaining.pop(0), went_wrong)

    async def _free_child(self) -> _Child:
        """Return a free process. Raises ``CheckEnded``."""
        while self._waiting:
            if (child := self._waiting.pop()).is_running:
                return child
            await self._end(child)
        child = await _start_child()
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
        """Kill a process; if this is interrupted, `close` waits for it."""
        await child.end()
        self._all.discard(child)

    @property
    def idle(self) -> list[int]:
        """Return the ids of idle processes."""
        return [child.id for child in self._waiting if child.is_running]

    async def close(self) -> None:
        """Kill all processes."""
        self._waiting.clear()
        while self._all:
            await self._all.pop().end()


def checks_as_json(checks: Mapping[str, CriterionChecks]) -> dict[str, str]:
    """Return each criterion's checks as JSON, to send to a process."""
    return {
        name: json.dumps(criterion_checks.model_dump(by_alias=True, exclude_defaults=True))
        for name, criterion_checks in checks.items()
    }


def check_item_now(checks: Mapping[str, str], texts: ItemTexts) -> dict[str, Answered | CheckError]:
    """Return every criterion's result for an item, for an interactive user.

    The last results are cached, since a page repeats the same request on each rerun.
    """
    results = _check_now(tuple(checks.items()), tuple(texts.items()))
    return dict(zip(checks, results, strict=True))


@lru_cache(maxsize=4)
def _check_now(
    checks: tuple[tuple[str, str], ...], texts: tuple[tuple[str, str], ...]
) -> tuple[Answered | CheckError, ...]:
    async def answer_asks() -> list[Answered | BaseException]:
        loop, desk = asyncio.get_running_loop(), CheckDesk()
        asks = [CheckAsk(name, "", dict(texts), loop.create_future()) for name, _ in checks]
        try:
            async with asyncio.timeout(IN_ALL):
                await desk.answer_asks(dict(checks), asks)
        except TimeoutError:
            for ask in asks:
                _set_result(ask, CheckEnded("was not checked, because others took too long."))
        finally:
            await desk.close()
        return await asyncio.gather(*(ask.answer for ask in asks), return_exceptions=True)

    return tuple(asyncio.run(answer_asks()))  # type: ignore[arg-type]  # nothing else is set there


def _ask_portions(asks: Sequence[CheckAsk]) -> Iterator[list[CheckAsk]]:
    portion, size = list[CheckAsk](), 0
    for ask in asks:
        more = sum(map(len, ask.texts.values()))
        if portion and (len(portion) == AT_ONCE or size + more > MOST_CHARACTERS):
            yield portion
            portion, size = [], 0
        portion.append(ask)
        size += more
    if portion:
        yield portion


def _set_result(ask: CheckAsk, result: Answered | CheckError) -> None:
    """Set the result of an ask, unless its caller has left."""
    if ask.answer.done():
        return
    if isinstance(result, CheckError):
        ask.answer.set_exception(result)
    else:
        ask.answer.set_result(result)


async def _start_child() -> _Child:
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
    def is_running(self) -> bool:
        """Return whether the process is still running."""
        return self._process.returncode is None

    async def answer_asks(self, checks: Mapping[str, str], remaining: list[CheckAsk]) -> None:
        """Answer asks in order, removing each from ``remaining``.

        Raises ``CheckEnded``: the first remaining ask is then the one that took too long.
        """
        message = {
            "checks": {ask.criterion: checks[ask.criterion] for ask in remaining},
            "items": {ask.item: dict(ask.texts) for ask in remaining},
            "asks": [(ask.criterion, ask.item) for ask in remaining],
        }
        self._in.write(json_line(message))
        while remaining:
            label, reason, failed = value_of_line(await self.line(PATIENCE))
            _set_result(remaining.pop(0), CheckError(reason) if failed else (label, reason))

    async def line(self, seconds: float) -> bytes:
        """Return the next line of output. Raises ``CheckEnded``."""
        try:
            async with asyncio.timeout(seconds):
                line = await self._out.readline()
        except TimeoutError:
            raise CheckEnded(f"took more than {seconds:g} s and was ended. {_MEND}") from None
        if not line:
            raise CheckEnded(f"brought its process to an end. {_MEND}")
        return line

    async def end(self) -> None:
        """Kill the process."""
        self._in.close()
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

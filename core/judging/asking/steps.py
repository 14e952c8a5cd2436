"""Whose code runs at this moment: an awaitable that tells before and after each of its steps.

A task of an event loop runs in steps, from one wait to the next. One that never comes to its next
wait stops the whole loop, and nobody there can be asked any more which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

ResultT = TypeVar("ResultT")


class Stepwise(Generic[ResultT]):
    """Awaits ``work``; ``begins`` is called before each of its steps, ``ends`` after it."""

    def __init__(
        self,
        work: Coroutine[Any, Any, ResultT],
        begins: Callable[[], object],
        ends: Callable[[], object],
    ) -> None:
        self._work, self._begins, self._ends = work, begins, ends

    def __await__(self) -> Generator[Any, Any, ResultT]:
        """The steps of ``work``, with whatever is sent or thrown into them."""
        step: Callable[[Any], Any] = self._work.send
        given: Any = None
        while True:
            self._begins()
            try:
                waited = step(given)
            except StopIteration as ended:
                result: ResultT = ended.value
                return result
            finally:
                self._ends()
            try:
                step, given = self._work.send, (yield waited)
            except BaseException as thrown:
                step, given = self._work.throw, thrown

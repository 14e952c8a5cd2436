"""Whose code runs at this moment: an awaitable that tells before and after each of its steps.

A task of an event loop runs in steps, from one wait to the next. One that never comes to its next
wait stops the whole loop, and nobody there can be asked any more which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


@coroutine
def stepwise(
    work: Coroutine[Any, Any, ResultT], begins: Callable[[], object], ends: Callable[[], object]
) -> Generator[Any, Any, ResultT]:
    """Awaits ``work``; ``begins`` is called before each of its steps, ``ends`` after it."""
    step: Callable[[Any], Any] = work.send
    given: Any = None
    while True:
        begins()
        try:
            waited = step(given)
        except StopIteration as ended:
            result: ResultT = ended.value
            return result
        finally:
            ends()
        try:
            step, given = work.send, (yield waited)
        except BaseException as thrown:
            step, given = work.throw, thrown

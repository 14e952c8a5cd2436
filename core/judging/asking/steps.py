"""Report which task runs, before and after each step of its awaitable.

A task of an event loop runs in steps, from one await to the next. A step that never ends blocks the
whole loop, which then cannot report which task is to blame.
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
    """Await ``work``, calling ``begins`` before and ``ends`` after each step."""
    step: Callable[[Any], Any] = work.send
    sent: Any = None
    while True:
        begins()
        try:
            waited = step(sent)
        except StopIteration as ended:
            result: ResultT = ended.value
            return result
        finally:
            ends()
        try:
            step, sent = work.send, (yield waited)
        except BaseException as thrown:
            step, sent = work.throw, thrown

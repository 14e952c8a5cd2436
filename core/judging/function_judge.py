"""A Python function as a judge: it gets item and criterion, and names an option."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.domain.dataset import Label
from core.domain.panel import Judge
from core.domain.rubric import MET, UNMET, Criterion
from core.domain.votes import AskedOutcome, FailureKind, Vote, VoteFailure
from core.judging.protocol import Question

#: ``function(item)`` or ``function(item, criterion)``, plain or ``async``: see ``FunctionJudge``.
JudgeFunction = Callable[..., Any]
#: At most this many characters of a function's result or message are shown.
_SHOWN = 300


class FunctionJudge:
    """A judge whose vote is the result of a function: an option's label, or ``None`` to abstain.

    For a binary criterion ``True`` and ``False`` are MET and UNMET; a number is the option of that
    name. NumPy values count as Python's. ``(answer, reason)`` adds a reason. An exception, or an
    answer that is not an option, is a failure. A plain function runs in its own threads, up to the
    judge's concurrency, so that a waiting function blocks nothing else.
    """

    def __init__(self, spec: Judge, function: JudgeFunction) -> None:
        self.spec = spec
        self._function = function
        self._waits = is_async(function)
        self._takes_criterion = _takes_criterion(function)
        self._threads = ThreadPoolExecutor(spec.concurrency, thread_name_prefix=spec.name[:20])

    async def ask(self, question: Question) -> AskedOutcome:
        """Return a vote on the question's cell, or a failure, without a call, cost or order."""
        arguments = (
            (question.item, question.criterion) if self._takes_criterion else (question.item,)
        )
        try:
            if self._waits:
                return _outcome_of(question, await self._function(*arguments))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return _exception_outcome(
                question, error
            )  # The function itself raised this; the run was not cancelled.
        except (Exception, SystemExit) as error:
            return _exception_outcome(question, error)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._call_function, question, arguments)

    def _call_function(self, question: Question, arguments: tuple[Any, ...]) -> AskedOutcome:
        """Return the result of a plain function, or its exception as a failure.

        Futures refuse some exceptions, and awaiting a future with such an exception would never
        end.
        """
        try:
            return _outcome_of(question, self._function(*arguments))
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            return _exception_outcome(question, error)

    async def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_async(function: JudgeFunction) -> bool:
    """Return whether a call of the function returns an awaitable."""
    called = getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _takes_criterion(function: JudgeFunction) -> bool:
    """Return whether the function accepts an item and a criterion.

    Functions with unreadable signatures count as accepting both.
    """
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def _outcome_of(question: Question, answer: Any) -> AskedOutcome:
    reason = ""
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, reason = answer[0], str(answer[1] or "")
    criterion = question.criterion
    if type(answer).__module__ == "numpy" and callable(getattr(answer, "item", None)):
        answer = answer.item()
    if answer is None:
        return _vote_outcome(question, criterion.na_index, True, reason)
    if isinstance(answer, bool) and criterion.scale == "binary":
        answer = MET if answer else UNMET
    if isinstance(answer, Label):
        answer = answer.label
    if isinstance(answer, int | float) and criterion.index_of(f"{answer:g}") is not None:
        answer = f"{answer:g}"
    if not isinstance(answer, str):
        kind = type(answer).__name__
        return _failure_outcome(
            question, "malformed", f"It returned {kind}, not an option's label."
        )
    option = criterion.index_of(answer)
    if option is None:
        return _failure_outcome(
            question, "out_of_range", _unknown_option_message(answer, criterion)
        )
    return _vote_outcome(question, option, criterion.choices[option].na, reason)


def _exception_outcome(question: Question, error: BaseException) -> AskedOutcome:
    try:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
    except Exception:  # the error's own ``__str__`` may fail, too
        reason = type(error).__name__
    return _failure_outcome(question, "code", f"Its code failed: {reason[:_SHOWN]}")


def _unknown_option_message(answer: str, criterion: Criterion) -> str:
    options = ", ".join(option.label for option in criterion.choices)
    shown = json.dumps(answer[:_SHOWN], ensure_ascii=False)
    return f"It returned {shown}, which is none of the options: {options}."


def _vote_outcome(
    question: Question, option: int | None, abstained: bool, reason: str
) -> AskedOutcome:
    return AskedOutcome((Vote(question.cell, option, abstained, reason),))


def _failure_outcome(question: Question, kind: FailureKind, message: str) -> AskedOutcome:
    return AskedOutcome((VoteFailure(question.cell, kind, message),))

"""The judge of rules. It makes no calls and costs nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, FailureKind, Vote, VoteFailure
from core.judging.checks.answers import CheckError, names_in_checks, texts_for_checks
from core.judging.checks.desk import CheckAsk, CheckDesk, CheckEnded, checks_as_json
from core.judging.protocol import Question

_NOBODY = "It has no check for this criterion."


class CheckJudge:
    """A judge that applies checks; it abstains if a criterion has no checks or none of them holds.

    A check that fails or takes too long, and an unknown option, are failures. All questions that
    arrive while the ``desk`` is busy are sent to it together.
    """

    def __init__(self, spec: Judge, desk: CheckDesk) -> None:
        self.spec, self._desk = spec, desk
        self._places = names_in_checks(spec.checks.values())
        self._checks = checks_as_json(spec.checks)
        self._waiting = list[CheckAsk]()
        self._working: asyncio.Task[None] | None = None

    async def ask(self, question: Question) -> AskedOutcome:
        """Return a vote on the question's cell, or a failure, without a call, cost or order."""
        criterion, item = question.criterion, question.item
        label, reason = None, _NOBODY
        if criterion.name in self._checks:
            try:
                label, reason = await self._answer_by_checks(question)
            except CheckEnded as error:
                message = f"The check of judge {self.spec.name!r} for item {item.id!r} {error}"
                return _failure(question, "code", message)
            except CheckError as error:
                return _failure(question, "code", str(error))
        if label is None:
            return AskedOutcome((Vote(question.cell, criterion.na_index, True, reason),))
        option = criterion.index_of(label)
        if option is None:
            options = ", ".join(choice.label for choice in criterion.choices)
            message = f"It says {label!r}, which is none of the options: {options}."
            return _failure(question, "out_of_range", message)
        abstained = criterion.choices[option].na
        return AskedOutcome((Vote(question.cell, option, abstained, reason),))

    async def close(self) -> None:
        """Cancel the checks that are still running."""
        if self._working is not None:
            self._working.cancel()
            with suppress(asyncio.CancelledError):
                await self._working

    async def _answer_by_checks(self, question: Question) -> tuple[str | None, str]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[str | None, str]] = loop.create_future()
        texts = texts_for_checks(self._places, question.item)
        self._waiting.append(CheckAsk(question.criterion.name, question.item.id, texts, future))
        if self._working is None or self._working.done():
            self._working = loop.create_task(self._answer_waiting_asks())
        return await future

    async def _answer_waiting_asks(self) -> None:
        while self._waiting:
            asks, self._waiting = self._waiting, []
            try:
                await self._desk.answer_asks(self._checks, asks)
            except Exception as error:
                for ask in asks:
                    if not ask.answer.done():
                        ask.answer.set_exception(error)


def _failure(question: Question, kind: FailureKind, message: str) -> AskedOutcome:
    return AskedOutcome((VoteFailure(question.cell, kind, message),))

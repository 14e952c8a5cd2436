"""One question put to a model: the messages it takes, and every reply read strictly.

A reply that cannot be read gets one repair. In the two-step mode the model first assesses in words;
its words are sent back to it as its own, and it then chooses.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from core.domain.panel import Judge
from core.domain.votes import FailureKind, Segment, Vote, VoteFailure
from core.judging.calling import Caller
from core.judging.doors import CallError, Completion
from core.judging.fences import sendable
from core.judging.parsing import Reply, Unreadable, read_replies, read_reply
from core.judging.prompts import build, follow_up, repair, repair_assessment, summarise
from core.judging.protocol import Ask, Question
from core.judging.schemas import Schema, ids_of
from core.judging.tally import CallAccount

#: An assessment up to so many characters is the vote's reason; of a longer one it is the summary.
LONGEST_REASON = 600

#: How providers say that they, not the model, ended the reply.
_FILTERED = frozenset({"content_filter", "refusal", "safety"})
_MENDED_BY_ASKING_AGAIN: frozenset[FailureKind] = frozenset({"malformed", "out_of_range", "empty"})
_CUT_OFF = "The reply was cut off at the limit of tokens (max_tokens)."

Results = tuple[Vote | VoteFailure, ...]


class Conversation:
    """A question on its way. ``rng`` gives the generator that pauses are drawn from."""

    def __init__(
        self,
        question: Question,
        spec: Judge,
        caller: Caller,
        tally: CallAccount,
        rng: Callable[[], Random],
    ) -> None:
        self._question, self._spec, self._caller = question, spec, caller
        self._tally, self._rng = tally, rng
        self._detail = dict[str, object]()

    async def results(self) -> Results:
        """A vote or a failure for every ask. Raises ``CallError`` where all fail alike."""
        prompt, assessment = build(self._question), ""
        segments = prompt.segments
        if self._question.mode == "two_step":
            assessment = await self._assess(segments)
            segments = (*segments, *follow_up(self._question, assessment))
            self._tally.next_step()
        read = await self._say(segments, prompt.schema)
        if problem := self._worth_repairing(read):
            self._detail["repaired"] = True
            segments = (*segments, repair(problem, self._question))
            read = await self._say(segments, prompt.schema)
        if self._question.summarise and any(isinstance(one, Reply) for one in read):
            await self._summarise(segments)
        asks = self._question.asks
        return tuple(self._result(*pair, assessment) for pair in zip(asks, read, strict=True))

    async def _assess(self, segments: tuple[Segment, ...]) -> str:
        text, trouble = _assessment(await self._complete(segments, None))
        if trouble and self._tally.spent < self._spec.tries:
            self._detail["repaired"] = True
            segments = (*segments, repair_assessment(trouble.message))
            text, trouble = _assessment(await self._complete(segments, None))
        if trouble:
            raise CallError(trouble.kind, f"There was no assessment. {trouble.message}")
        return text

    async def _summarise(self, segments: tuple[Segment, ...]) -> None:
        """Adds a summary of the reasons; the answer stands without one, and says why."""
        said = self._tally.last
        self._tally.next_step()
        try:
            more = summarise(sendable((said and said.text) or ""))
            text, trouble = _assessment(await self._complete((*segments, *more), None))
            self._detail["summary"] = text
            if trouble:
                self._detail["summary_failed"] = trouble.message
        except CallError as error:
            self._detail["summary_failed"] = error.message

    async def _say(self, segments: tuple[Segment, ...], schema: Schema) -> list[Reply | Unreadable]:
        completion = await self._complete(segments, schema)
        question = self._question
        if question.mode == "rubric":
            counts = [len(ask.order) for ask in question.asks]
            ids = ids_of(len(counts))
            read = read_replies(completion.text, dict(zip(ids, counts, strict=True)))
        else:
            read = [read_reply(completion.text, len(question.order))]
        if completion.finish != "length":
            return read
        return [one if isinstance(one, Reply) else Unreadable(one.kind, _CUT_OFF) for one in read]

    async def _complete(self, segments: tuple[Segment, ...], schema: Schema | None) -> Completion:
        completion = await self._caller.complete(segments, schema, self._tally, self._rng)
        if completion.refusal:
            raise CallError("refusal", f"The model refused: {completion.refusal[:300]}")
        if completion.finish in _FILTERED:
            raise CallError("content_filter", "The provider's content filter stopped the reply.")
        return completion

    def _worth_repairing(self, read: list[Reply | Unreadable]) -> str:
        """What to say was wrong, where nothing could be read and there may be another try."""
        problems = [one.message for one in read if isinstance(one, Unreadable)]
        again = "repaired" not in self._detail and self._tally.spent < self._spec.tries
        # What could be read is not asked again: it would be paid for twice.
        return problems[0] if again and len(problems) == len(read) else ""

    def _result(self, ask: Ask, read: Reply | Unreadable, assessment: str) -> Vote | VoteFailure:
        if isinstance(read, Unreadable):
            again = " A second request did not help." if "repaired" in self._detail else ""
            return VoteFailure(ask.cell, read.kind, read.message + again, ask.order)
        option, detail, reason = ask.order[read.shown - 1], dict(self._detail), read.reason
        if assessment and len(assessment) <= LONGEST_REASON:
            reason = assessment
        elif assessment:
            detail["assessment"] = assessment
        return Vote(
            ask.cell,
            option,
            ask.criterion.choices[option].na,
            reason=reason,
            evidence=read.evidence,
            order=ask.order,
            detail=detail,
        )


def _assessment(completion: Completion) -> tuple[str, Unreadable | None]:
    # What a model says can hold what cannot be sent back to it.
    text = sendable(completion.text or "").strip()
    if completion.finish == "length":
        return text, Unreadable("malformed" if text else "empty", _CUT_OFF)
    return text, None if text else Unreadable("empty", "The reply was empty.")

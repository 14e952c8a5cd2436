"""The LLM judge: a question in, an outcome out, whatever happens to the call.

An unreadable reply gets one repair. In the two-step mode the model first writes an assessment, then
gets that assessment back as its own message and chooses an option.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, FailureKind, KeptAnswer, Segment, Vote, VoteFailure
from core.identity import seeded_random
from core.judging.asking.answer_cache import ResponseCache
from core.judging.asking.call_costs import CallAccount
from core.judging.asking.deciding import decide, with_probabilities
from core.judging.asking.retry import Caller, Gates, Unanswered
from core.judging.prompts.assembly import (
    assessment_repair,
    build_prompt,
    follow_up_messages,
    is_brief,
    repair_message,
    summary_messages,
    truncated_repair,
)
from core.judging.prompts.option_chances import OptionProbabilities, option_spreads
from core.judging.prompts.parts import sendable_text
from core.judging.prompts.reply_parsing import (
    Reply,
    Schema,
    Unreadable,
    ids_of,
    read_replies,
    read_reply,
)
from core.judging.prompts.wording import DECIDING_VERSION, PROMPT_VERSION
from core.judging.protocol import Ask, Question
from core.judging.providers.base import CallError, Completion, ModelProvider, redact
from core.judging.rate_limits import Clock, Sleep

#: An assessment up to this length is the vote's reason; a longer one is summarised.
LONGEST_REASON = 600
#: The token limit of a brief assessment, if the judge does not think.
BRIEF_ASSESSMENT = 200

#: Finish reasons of providers' own filters.
_FILTERED = frozenset({"content_filter", "refusal", "safety"})
_CUT_OFF = "The reply was cut off at the limit of tokens (max_tokens, or the model's context)."

Results = tuple[Vote | VoteFailure, ...]


class Conversation:
    """A question in progress. ``rng`` returns the random generator for pauses."""

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
        self._detail: dict[str, object] = {}
        self._spreads: list[OptionProbabilities | str] = []

    async def results(self) -> Results:
        """Return a vote or a failure for every ask. Raises ``CallError`` if all fail alike."""
        if self._spec.decides:
            return await decide(self._question, self._spec, self._tally, self._complete_decision)
        prompt, assessment = build_prompt(self._question), ""
        segments = prompt.segments
        if self._question.mode == "two_step":
            assessment = await self._ask_assessment(segments)
            segments = (*segments, *follow_up_messages(self._question, assessment))
            self._tally.next_step()
        replies = await self._read_completion(segments, prompt.schema)
        if problem := self._problem_to_repair(replies):
            self._detail["repaired"] = True
            more, schema = repair_message(problem, self._question), prompt.schema
            if problem == _CUT_OFF:
                more, schema = truncated_repair(self._question)
            segments = (*segments, more)
            replies = await self._read_completion(segments, schema)
        if self._question.summarise and any(isinstance(result, Reply) for result in replies):
            await self._add_summary(segments)
        asks = self._question.asks
        results = [
            self._result_of_ask(*pair, assessment) for pair in zip(asks, replies, strict=True)
        ]
        if not self._spec.logprobs:
            return tuple(results)
        return tuple(
            _with_probabilities(*pair) for pair in zip(results, self._spreads, strict=True)
        )

    async def _complete_decision(
        self, segments: tuple[Segment, ...], most: int | None
    ) -> Completion:
        return await self._complete(segments, None, most)

    async def _ask_assessment(self, segments: tuple[Segment, ...]) -> str:
        brief = is_brief(self._question)
        text, trouble = _read_assessment(
            await self._complete(segments, None, BRIEF_ASSESSMENT if brief else None)
        )
        if brief and text:
            return text  # Small models often do not stop, so a truncated text is accepted.
        if trouble and self._tally.spent < self._spec.tries:
            self._detail["repaired"] = True
            segments = (*segments, assessment_repair(trouble.message))
            text, trouble = _read_assessment(await self._complete(segments, None))
        if trouble and not text:
            raise CallError(trouble.kind, f"There was no assessment. {trouble.message}")
        return text  # A truncated assessment is enough to choose an option.

    async def _add_summary(self, segments: tuple[Segment, ...]) -> None:
        """Add a summary of the reasons, or why it failed; the answer remains either way."""
        answer = self._tally.last
        self._tally.next_step()
        try:
            request = summary_messages(sendable_text((answer and answer.text) or ""))
            text, trouble = _read_assessment(await self._complete((*segments, *request), None))
            self._detail["summary"] = text
            if trouble:
                self._detail["summary_failed"] = trouble.message
        except CallError as error:
            self._detail["summary_failed"] = error.message

    async def _read_completion(
        self, segments: tuple[Segment, ...], schema: Schema
    ) -> list[Reply | Unreadable]:
        completion = await self._complete(segments, schema)
        question = self._question
        if question.mode == "rubric":
            asks = question.asks
            ids = ids_of(len(asks))
            counts = {id_: len(ask.order) for id_, ask in zip(ids, asks, strict=True)}
            replies = read_replies(completion.text, counts)
        else:
            counts = {"": len(question.order)}
            replies = [read_reply(completion.text, len(question.order))]
        if self._spec.logprobs:
            text = completion.text or ""
            self._spreads = option_spreads(text, completion.number_tokens, replies, counts)
        if completion.finish != "length":
            return replies
        return [
            result if isinstance(result, Reply) else Unreadable(result.kind, _CUT_OFF)
            for result in replies
        ]

    async def _complete(
        self, segments: tuple[Segment, ...], schema: Schema | None, most: int | None = None
    ) -> Completion:
        completion = await self._caller.complete(segments, schema, self._tally, self._rng, most)
        if completion.refusal:
            raise CallError("refusal", f"The model refused: {completion.refusal[:300]}")
        if completion.finish in _FILTERED:
            raise CallError("content_filter", "The provider's content filter stopped the reply.")
        return completion

    def _problem_to_repair(self, replies: list[Reply | Unreadable]) -> str:
        """Return the first problem, if nothing was readable and a try is left; else ""."""
        problems = [result.message for result in replies if isinstance(result, Unreadable)]
        may_repair = "repaired" not in self._detail and self._tally.spent < self._spec.tries
        # Asking again would pay twice for the parts that are readable.
        return problems[0] if may_repair and len(problems) == len(replies) else ""

    def _result_of_ask(
        self, ask: Ask, reply: Reply | Unreadable, assessment: str
    ) -> Vote | VoteFailure:
        if isinstance(reply, Unreadable):
            retry_note = " A second request did not help." if "repaired" in self._detail else ""
            return VoteFailure(ask.cell, reply.kind, reply.message + retry_note, ask.order)
        option, detail, reason = ask.order[reply.shown - 1], dict(self._detail), reply.reason
        if assessment and len(assessment) <= LONGEST_REASON:
            reason = assessment
        elif assessment:
            detail["assessment"] = assessment
        return Vote(
            ask.cell,
            option,
            ask.criterion.choices[option].na,
            reason=reason,
            evidence=reply.evidence,
            order=ask.order,
            detail=detail,
        )


def _with_probabilities(
    result: Vote | VoteFailure, spread: OptionProbabilities | str
) -> Vote | VoteFailure:
    """Return the result with its options' probabilities, in the rubric's order."""
    if isinstance(result, VoteFailure) or result.order is None or result.option is None:
        return result
    return with_probabilities(result, spread, result.order, len(result.order))


def _read_assessment(completion: Completion) -> tuple[str, Unreadable | None]:
    # A model's text may contain characters that cannot be sent back.
    text = sendable_text(completion.text or "").strip()
    if completion.finish == "length":
        return text, Unreadable("malformed" if text else "empty", _CUT_OFF)
    return text, None if text else Unreadable("empty", "The reply was empty.")


logger = logging.getLogger(__name__)


class LLMJudge:
    """A judge behind a provider. ``ask`` returns failed calls as failures instead of raising.

    ``key`` is the value of the variable ``spec.key_env``, ``None`` if it is unset. ``known`` holds
    the values of variables in ``spec.params``. Provider and gate may be shared with other judges;
    the code that opened the provider closes it. With a ``cache``, answers may come from it, and an
    outcome carries the answers that gave a vote. ``on_call`` gets 1 when a call goes out, and -1 if
    the call turns out not to have been sent. ``caller`` replaces the default one.
    """

    def __init__(
        self,
        spec: Judge,
        provider: ModelProvider,
        key: str | None,
        gate: Gates,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        cache: ResponseCache | None = None,
        on_call: Callable[[int], None] = lambda more: None,
        known_replies: Mapping[str, str] | None = None,
        caller: Caller | None = None,
    ) -> None:
        self.spec = spec
        self._caller = caller or Caller(
            spec, provider, key, gate, sleep, clock, cache, on_call, known_replies
        )
        version = DECIDING_VERSION if spec.decides else PROMPT_VERSION
        self._params = self._caller.settings(version, timeout=spec.timeout)
        self._alike: dict[tuple[str, ...], dict[str, object]] = {}

    async def ask(self, question: Question) -> AskedOutcome:
        """Return a vote or a failure for every ask, with the record of the call."""
        tally = CallAccount(self.spec, question.cell, share=self._caller.share)
        answers: tuple[KeptAnswer, ...] = ()
        try:
            results = self._missing_key_failures(question)
            if results is None:
                rng = _Pauses(question)
                conversation = Conversation(question, self.spec, self._caller, tally, rng)
                results = await conversation.results()
            if all(isinstance(result, Vote) for result in results):
                answers = self._caller.answers(tally)
        except CallError as error:
            results = _failures(question, error.kind, error.message)
        except Unanswered:
            raise
        except Exception as error:
            # A bug in our code or a library. It must neither end the run nor go unnoticed. Its
            # traceback may quote the request.
            plain = f"A question ended with a defect ({type(error).__name__})."
            trace = redact(traceback.format_exc(), self._caller.hidden)
            logger.error("%s", trace, extra={"plain": plain})
            trace = redact(f"{type(error).__name__}: {error}", self._caller.hidden)
            results = _failures(question, "internal", f"Something went wrong in the call: {trace}")
        return AskedOutcome(results, tally.call(self._settings_of(question)), answers)

    def address_states(self) -> dict[str, dict[str, Any]]:
        """Return the state of each of the judge's addresses, if it has several."""
        return self._caller.turns.address_states()

    async def close(self) -> None:
        """Release the judge's rate limits. The provider may be shared, so it stays open."""
        self._caller.turns.close()

    def _settings_of(self, question: Question) -> dict[str, object]:
        """Return the stored settings of a question, shared by many."""
        if question.examples:
            return {**self._params, **_question_settings(question)}
        same_prompt = (question.mode, question.layout, question.style)
        if same_prompt not in self._alike:
            self._alike[same_prompt] = {**self._params, **_question_settings(question)}
        return self._alike[same_prompt]

    def _missing_key_failures(self, question: Question) -> Results | None:
        """Return failures for a question if the judge's key is missing, else ``None``."""
        if not self.spec.key_env or self._caller.key:
            return None
        return _failures(
            question,
            "missing_key",
            f"The environment variable {self.spec.key_env} is not set. Put the key into it and "
            "start again.",
        )


class _Pauses:
    """The random generator for a question's pauses, created on first use.

    Few questions pause, and seeding a generator costs as much as parsing a reply.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self._made: Random | None = None

    def __call__(self) -> Random:
        if self._made is None:
            self._made = seeded_random("backoff", self._question.seed, *self._question.cell)
        return self._made


def _failures(question: Question, kind: FailureKind, message: str) -> Results:
    return tuple(VoteFailure(ask.cell, kind, message, ask.order) for ask in question.asks)


def _question_settings(question: Question) -> dict[str, object]:
    """Return how a question was asked, without defaults."""
    settings: dict[str, object] = {"mode": question.mode}
    if question.style == "brief":
        settings["style"] = "brief"
    if question.layout != "item_first":
        settings["layout"] = question.layout
    if question.examples:
        settings["examples"] = list(dict.fromkeys(e.item.id for e in question.examples))
    return settings

"""The LLM judge: one question, one prompt, one reply read strictly, one repair where it was not."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from functools import cache, partial

from core.domain.panel import Judge
from core.domain.votes import FailureKind, Outcome, Vote, VoteFailure
from core.identity import seeded
from core.judging.calling import Caller
from core.judging.doors import CallError, Completion, Door
from core.judging.faults import redact
from core.judging.gate import Clock, ProviderGate, Sleep
from core.judging.parsing import Reply, read_reply
from core.judging.prompts import PROMPT_VERSION, build, repair
from core.judging.protocol import Question
from core.judging.tally import Tally

logger = logging.getLogger(__name__)

#: How providers say that they, not the model, ended the reply.
_FILTERED = frozenset({"content_filter", "refusal", "safety"})
_MENDED_BY_ASKING_AGAIN: frozenset[FailureKind] = frozenset({"malformed", "out_of_range", "empty"})


class LLMJudge:
    """A judge behind a door. ``ask`` never raises for trouble with the call; cancelling works.

    ``key`` is the value of the variable ``spec.key_env``, ``None`` where it is unset. The door and
    the gate may be shared with other judges; whoever made the door closes it.
    """

    def __init__(
        self,
        spec: Judge,
        door: Door,
        key: str | None,
        gate: ProviderGate,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
    ) -> None:
        self.spec = spec
        # A variable read from a file often ends in a line break, which no header may hold.
        self._key = (key or "").strip() or None
        self._caller = Caller(spec, door, self._key, gate, sleep, clock)
        self._params = _shown_params(spec, door.name, self._key)

    async def ask(self, question: Question) -> Outcome:
        """A vote or a failure for the question's cell, and what was sent and came back."""
        tally = Tally(self.spec)
        try:
            result = await self._result(question, tally)
        except CallError as error:
            result = _failure(question, error.kind, error.message)
        except Exception as error:
            # A bug, ours or a library's. It must neither end the run nor pass unseen, and its
            # traceback may quote what was sent.
            logger.error("%s", redact(traceback.format_exc(), self._key))
            words = redact(f"{type(error).__name__}: {error}", self._key)
            result = _failure(question, "internal", f"Something went wrong in the call: {words}")
        return Outcome((result,), tally.call(self._params))

    async def close(self) -> None:
        """Nothing to give back: the door may be shared."""

    async def _result(self, question: Question, tally: Tally) -> Vote | VoteFailure:
        if self.spec.key_env and not self._key:
            return _failure(
                question,
                "missing_key",
                f"The environment variable {self.spec.key_env} is not set. Put the key into it and "
                "start again.",
            )
        prompt, count = build(question), len(question.order)
        # Few questions ever pause, and seeding a generator costs as much as reading a reply.
        rng = cache(partial(seeded, "backoff", question.seed, *question.cell))
        segments, detail = prompt.segments, dict[str, object]()
        while True:
            completion = await self._caller.complete(segments, prompt.schema, tally, rng)
            read = _read(completion, count)
            if isinstance(read, Reply):
                return _vote(question, read, detail)
            kind, problem = read
            mendable = kind in _MENDED_BY_ASKING_AGAIN and tally.spent < self.spec.tries
            if detail or not mendable:
                again = " A second request did not help." if detail else ""
                return _failure(question, kind, problem + again)
            segments, detail = (*segments, repair(problem, count)), {"repaired": True}


def _read(completion: Completion, count: int) -> Reply | tuple[FailureKind, str]:
    if completion.refusal:
        return "refusal", f"The model refused: {completion.refusal[:300]}"
    if completion.finish in _FILTERED:
        return "content_filter", "The provider's content filter stopped the reply."
    read = read_reply(completion.text, count)
    if isinstance(read, Reply):
        return read
    if completion.finish == "length":
        return read.kind, "The reply was cut off at the limit of tokens (max_tokens)."
    return read.kind, read.message


def _vote(question: Question, reply: Reply, detail: dict[str, object]) -> Vote:
    option = question.order[reply.shown - 1]
    return Vote(
        question.cell,
        option,
        question.criterion.choices[option].na,
        reason=reply.reason,
        evidence=reply.evidence,
        order=question.order,
        detail=detail,
    )


def _failure(question: Question, kind: FailureKind, message: str) -> VoteFailure:
    return VoteFailure(question.cell, kind, message, question.order)


def _shown_params(spec: Judge, door: str, key: str | None) -> dict[str, object]:
    """What is kept of the settings of every call: never the key, nor a login in the address."""
    sent = {
        "door": door,
        "prompt": PROMPT_VERSION,
        "model": spec.model,
        "api_base": spec.api_base or None,
        "temperature": spec.temperature,
        "max_tokens": spec.max_tokens,
        "timeout": spec.timeout,
        "thinking": spec.thinking,
        "params": spec.params or None,
    }
    given = {name: value for name, value in sent.items() if value is not None}
    text = json.dumps(given, default=str)
    shown: dict[str, object] = json.loads(redact(text, key))
    return shown

"""The LLM judge: a question in, an outcome out, whatever happens to the call in between."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from functools import cache as once
from functools import partial

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, FailureKind, KeptAnswer, Vote, VoteFailure
from core.identity import seeded
from core.judging.caching import ResponseCache
from core.judging.calling import Caller
from core.judging.conversation import Conversation, Results
from core.judging.doors import CallError, Door
from core.judging.gate import Clock, ProviderGate, Sleep
from core.judging.hiding import Hidden, hidden_values, redact
from core.judging.protocol import Question
from core.judging.tally import CallAccount
from core.judging.wording import PROMPT_VERSION

logger = logging.getLogger(__name__)


class LLMJudge:
    """A judge behind a door. ``ask`` never raises for trouble with the call; cancelling works.

    ``key`` is the value of the variable ``spec.key_env``, ``None`` where it is unset, and ``known``
    holds the values of those that ``spec.params`` name. The door and the gate may be shared with
    other judges; whoever made the door closes it. Answers are taken from ``cache``, and with one an
    outcome brings those that gave a vote. ``on_call`` is told of each call when it goes out (1),
    and again if it turns out that it could not (-1).
    """

    def __init__(
        self,
        spec: Judge,
        door: Door,
        key: str | None,
        gate: ProviderGate,
        sleep: Sleep = asyncio.sleep,
        clock: Clock = time.monotonic,
        cache: ResponseCache | None = None,
        on_call: Callable[[int], None] = lambda more: None,
        known: Mapping[str, str] | None = None,
    ) -> None:
        self.spec = spec
        # A variable read from a file often ends in a line break, which no header may hold.
        self._key = (key or "").strip() or None
        self._hidden = hidden_values([self._key, *(known or {}).values()])
        self._caller = Caller(spec, door, self._key, gate, sleep, clock, cache, on_call, known)
        self._params = _shown_params(spec, door.name, self._hidden)

    async def ask(self, question: Question) -> AskedOutcome:
        """A vote or a failure for every ask of the question, and what was sent and came back."""
        tally = CallAccount(self.spec, question.cell)
        answers: tuple[KeptAnswer, ...] = ()
        try:
            results = await self._results(question, tally)
            if all(isinstance(result, Vote) for result in results):
                answers = self._caller.answers(tally)
        except CallError as error:
            results = _failures(question, error.kind, error.message)
        except Exception as error:
            # A bug, ours or a library's. It must neither end the run nor pass unseen, and its
            # traceback may quote what was sent.
            logger.error("%s", redact(traceback.format_exc(), self._hidden))
            words = redact(f"{type(error).__name__}: {error}", self._hidden)
            results = _failures(question, "internal", f"Something went wrong in the call: {words}")
        return AskedOutcome(results, tally.call({**self._params, **_asked(question)}), answers)

    async def close(self) -> None:
        """Its limits bind nobody any more. The door may be shared, so it stays open."""
        self._caller.close()

    async def _results(self, question: Question, tally: CallAccount) -> Results:
        if self.spec.key_env and not self._key:
            return _failures(
                question,
                "missing_key",
                f"The environment variable {self.spec.key_env} is not set. Put the key into it and "
                "start again.",
            )
        # Few questions ever pause, and seeding a generator costs as much as reading a reply.
        rng = once(partial(seeded, "backoff", question.seed, *question.cell))
        return await Conversation(question, self.spec, self._caller, tally, rng).results()


def _failures(question: Question, kind: FailureKind, message: str) -> Results:
    return tuple(VoteFailure(ask.cell, kind, message, ask.order) for ask in question.asks)


def _asked(question: Question) -> dict[str, object]:
    """What is kept of how a question was asked; the usual is left out."""
    given: dict[str, object] = {"mode": question.mode}
    if question.layout != "item_first":
        given["layout"] = question.layout
    if question.examples:
        given["examples"] = list(dict.fromkeys(e.item.id for e in question.examples))
    return given


def _shown_params(spec: Judge, door: str, hidden: Hidden) -> dict[str, object]:
    """What is kept of the settings of every call: never the key, nor what a variable holds."""
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
    shown: dict[str, object] = json.loads(redact(text, hidden))
    return shown

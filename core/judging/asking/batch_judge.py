"""An LLM judge whose answers come in batches: what it says of a question is read when they came.

A question is asked again and again, from its beginning, with the answers there are: each of its
requests is either answered, or found to be the next one to send. So nothing is kept of a question
that waits for days but the answers themselves, and a process that is killed has nothing to lose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Segment
from core.identity import text_hash
from core.judging.asking.answer_cache import ResponseCache, request_key
from core.judging.asking.call_costs import CallAccount
from core.judging.asking.llm_judge import LLMJudge
from core.judging.asking.retry import Caller, Unanswered, about_logprobs, without_key
from core.judging.prompts.reply_parsing import Schema
from core.judging.protocol import Question
from core.judging.providers.base import SIMPLER, CallError, Completion, Request
from core.judging.providers.batch_doors import batch_door
from core.judging.providers.batches import SHARE_OF_PRICE, BatchDoor
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.rate_limits import ProviderGate


class BatchCaller(Caller):
    """Finds answers among those that batches brought; ``Unanswered`` is raised where there is none.

    An answer of an earlier run serves as well. A request that could not be answered is not tried
    again here: whoever retries the failure does that.
    """

    share = SHARE_OF_PRICE

    def __init__(
        self,
        spec: Judge,
        provider: OpenAIProvider,
        key: str | None,
        cache: ResponseCache | None,
        known: Mapping[str, str],
    ) -> None:
        gate = ProviderGate()
        super().__init__(spec, provider, key, gate, _never, cache=cache, known=known)
        #: Lines of answers by the id of their request.
        self.lines: dict[str, str] = {}
        self._lean = provider
        self._door: BatchDoor | None = None

    @property
    def door(self) -> BatchDoor:
        """The provider's batch interface. Raises ``CallError`` where the settings forbid it."""
        if self._door is None:
            self._door = batch_door(self._lean, self.request((), None))
        return self._door

    def restart(self) -> None:
        """What one question found out of reply formats is no part of the next one's requests."""
        self._format = "schema"

    async def complete(
        self,
        segments: tuple[Segment, ...],
        schema: Schema | None,
        tally: CallAccount,
        rng: Callable[[], Random],
    ) -> Completion:
        """The completion that is there. Raises ``CallError`` where it says why there is none."""
        tally.sent = segments
        tried = False
        while True:
            request = self.request(segments, schema)
            known_as = request_key(request, tally.cell)
            key = _custom_id(known_as, request)
            line = self.lines.get(key)
            if line is None:
                cached = None
                if self._cache is not None and not tried:
                    cached = await self._cache.get(known_as)
                if cached is None:
                    raise Unanswered(key, request)
                tally.reuse(cached)
                return cached.completion
            try:
                completion = without_key(self.door.read(request, line), request.hidden)
            except CallError as error:
                if error.sent:
                    tried = _counted(tally, request, tried)
                if error.about_format and request.format in SIMPLER:
                    self._format = SIMPLER[request.format]
                    continue
                raise (about_logprobs(error) if request.logprobs else error) from None
            _counted(tally, request, tried)
            tally.spent += 1
            tally.add(completion, known_as)
            return completion


class BatchJudge(LLMJudge):
    """Asks as an ``LLMJudge`` does, with the answers of batches. ``ask`` raises ``Unanswered``."""

    def __init__(
        self,
        spec: Judge,
        provider: OpenAIProvider,
        key: str | None,
        cache: ResponseCache | None = None,
        known: Mapping[str, str] | None = None,
    ) -> None:
        self.caller = BatchCaller(spec, provider, key, cache, known or {})
        super().__init__(spec, provider, key, ProviderGate(), caller=self.caller)
        self._params = {**self._params, "batch": True}

    async def ask(self, question: Question) -> AskedOutcome:
        """A vote or a failure for every ask, once all answers it takes are there."""
        self.caller.restart()
        return await super().ask(question)


def _counted(tally: CallAccount, request: Request, tried: bool) -> bool:
    """Counts a request that was worked off; ``tried``: it was sent before, in another format."""
    tally.requests += 1
    tally.asked += not tried
    tally.format = request.format
    return True


def _custom_id(known_as: str, request: Request) -> str:
    # An endpoint that does not know a reply format is sent the same in a simpler one.
    return text_hash(f"{known_as} {request.format}").removeprefix("sha256:")[:40]


async def _never(seconds: float) -> None:
    raise AssertionError("a batch never pauses in the middle of a question")

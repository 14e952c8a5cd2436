"""An LLM judge whose answers come in batches.

A question is replayed from its beginning with the available answers: each of its requests is either
answered or the next one to send. So a question that waits for days needs no state but its answers,
and a killed process loses nothing.
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
from core.judging.asking.retry import Caller, Unanswered, with_logprobs_hint, without_key
from core.judging.prompts.reply_parsing import Schema
from core.judging.protocol import Question
from core.judging.providers.base import CallError, Completion, Request, simpler_format
from core.judging.providers.batch_doors import batch_interface_for
from core.judging.providers.batches import SHARE_OF_PRICE, BatchInterface
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.rate_limits import ProviderGate


class BatchCaller(Caller):
    """A caller that returns answers received in batches; raises ``Unanswered`` if an answer is
    missing.

    A cached answer counts as well. This class does not retry a failed request; a retry of the
    vote's failure does.
    """

    share = SHARE_OF_PRICE

    def __init__(
        self,
        spec: Judge,
        provider: OpenAIProvider,
        key: str | None,
        cache: ResponseCache | None,
        known_replies: Mapping[str, str],
    ) -> None:
        gate = ProviderGate()
        super().__init__(
            spec, provider, key, gate, _never_sleep, cache=cache, known_replies=known_replies
        )
        #: Answer lines by request id.
        self.lines: dict[str, str] = {}
        self._lean = provider
        self._door: BatchInterface | None = None

    @property
    def batch_interface(self) -> BatchInterface:
        """Return the provider's batch interface. Raises ``CallError`` if unsupported."""
        if self._door is None:
            self._door = batch_interface_for(self._lean, self.request((), None))
        return self._door

    def restart(self) -> None:
        """Forget the reply formats tried for the last question."""
        self._format = self.first_format

    async def complete(
        self,
        segments: tuple[Segment, ...],
        schema: Schema | None,
        tally: CallAccount,
        rng: Callable[[], Random],
        most: int | None = None,
    ) -> Completion:
        """Return the available completion. Raises ``CallError`` for a failed one."""
        tally.sent = segments
        tried = False
        while True:
            request = self.request(segments, schema, most)
            known_as = request_key(request, tally.cell)
            # If an endpoint does not support the reply format, the same request is sent in a
            # simpler format.
            name = text_hash(f"{known_as} {request.format}")
            key = name.removeprefix("sha256:")[:40]
            line = self.lines.get(key)
            if line is None:
                cached = None
                if self._cache is not None and not tried:
                    cached = await self._cache.get(known_as)
                if cached is None:
                    raise Unanswered(key, request)
                tally.reuse(cached)
                return cached
            try:
                completion = without_key(self.batch_interface.read(request, line), request.hidden)
            except CallError as error:
                if error.sent:
                    tried = _count_request(tally, request, tried)
                plainer = (
                    simpler_format(request.format, error.message) if error.about_format else None
                )
                if plainer is not None:
                    self._format = plainer
                    continue
                raise (with_logprobs_hint(error) if request.logprobs else error) from None
            _count_request(tally, request, tried)
            tally.spent += 1
            tally.add(completion, known_as)
            return completion


class BatchJudge(LLMJudge):
    """An ``LLMJudge`` that reads batch answers; may raise ``Unanswered``."""

    def __init__(
        self,
        spec: Judge,
        provider: OpenAIProvider,
        key: str | None,
        cache: ResponseCache | None = None,
        known_replies: Mapping[str, str] | None = None,
    ) -> None:
        self.caller = BatchCaller(spec, provider, key, cache, known_replies or {})
        super().__init__(spec, provider, key, ProviderGate(), caller=self.caller)
        self._params = {**self._params, "batch": True}

    async def ask(self, question: Question) -> AskedOutcome:
        """Return a vote or a failure for every ask, or raise ``Unanswered``."""
        self.caller.restart()
        return await super().ask(question)


def _count_request(tally: CallAccount, request: Request, is_retry: bool) -> bool:
    """Count a processed request; ``is_retry``: it was sent before in another format."""
    tally.requests += 1
    tally.asked += not is_retry
    tally.format = request.format
    return True


async def _never_sleep(seconds: float) -> None:
    raise AssertionError("a batch never pauses in the middle of a question")

"""One completion from a judge's model, with the retries that it needs.

A refusal for now (429) closes the provider's gate and does not count as a try. A timeout, a lost
connection and a server error are retried after a jittered pause, up to the judge's ``tries``; a
timeout of a local server is not, as it still works on the question that was given up. An
endpoint without a reply format gets a simpler one, which is remembered. A cached answer needs no
call and no gate.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from core.domain.panel import Judge
from core.domain.votes import KeptAnswer, Segment
from core.judging.asking.answer_cache import ResponseCache, as_answer, request_key
from core.judging.asking.call_costs import CallAccount
from core.judging.local.own_address import is_local, is_patient
from core.judging.prompts.layouts import messages, shared_ends
from core.judging.prompts.reply_parsing import Schema
from core.judging.providers.base import (
    CallError,
    Completion,
    Hidden,
    ModelProvider,
    ReplyFormat,
    Request,
    hidden_values,
    hide,
    redact,
    shows,
    simpler,
)
from core.judging.providers.failures import MEND
from core.judging.rate_limits import Clock, ProviderGate, Sleep
from core.judging.turns import RETRIED, Address, CallTurns, Turn

#: The n-th pause is drawn from 0 to FIRST * 2^(n-1) seconds ("full jitter"), at most LONGEST.
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 60.0


#: A judge's gate or, with several addresses, their gates in the same order.
Gates = ProviderGate | tuple[ProviderGate, ...]


#: One object for all, so that what is kept by it is found.
_NO_SCHEMA: Schema = {}


class Unanswered(Exception):
    """A request without an answer yet, which will be found under ``key``."""

    def __init__(self, key: str, request: Request) -> None:
        self.key, self.request = key, request
        super().__init__(key)


class Caller:
    """Calls one judge's model through a provider, with a gate per address."""

    #: The share of the usual price that is paid.
    share = 1.0

    def __init__(
        self,
        spec: Judge,
        provider: ModelProvider,
        key: str | None,
        gates: Gates,
        sleep: Sleep,
        clock: Clock = time.monotonic,
        cache: ResponseCache | None = None,
        on_call: Callable[[int], None] = lambda more: None,
        known: Mapping[str, str] | None = None,
    ) -> None:
        self._on_call, self._known = on_call, known or {}
        # A variable read from a file often ends in a line break, which no header may hold.
        self.key = (key or "").strip() or None
        #: Secrets to redact from everything that is stored or shown.
        self.hidden = hidden_values([self.key, *self._known.values()])
        self._spec, self._provider = spec, provider
        self._sleep, self._clock, self._cache = sleep, clock, cache
        self._local, self._patient = is_local(spec), is_patient(spec)
        self._chances = spec.logprobs or (spec.decides and self._local)
        # Local models run away most, and their servers know limits of lists and texts.
        self.first_format: ReplyFormat = "bounded" if self._local else "schema"
        self._format: ReplyFormat = self.first_format
        some = gates if isinstance(gates, tuple) else (gates,)
        self.turns = CallTurns(spec, some, sleep, clock)

    async def complete(
        self,
        segments: tuple[Segment, ...],
        schema: Schema | None,
        tally: CallAccount,
        rng: Callable[[], Random],
        most: int | None = None,
    ) -> Completion:
        """Return a completion after any retries. Raises the last ``CallError``.

        Without a ``schema`` the reply is in plain words, with at most ``most`` tokens; a deciding
        judge has that limit only if chances come, which are enough. ``rng`` gives the generator
        that pauses are drawn from, always the same one.
        """
        tally.sent = segments
        request = self.request(segments, schema, most)
        key = ""
        if self._cache is not None:
            key = request_key(request, tally.cell)
            if answer := await self._cache.get(key):
                tally.reuse(answer)
                return answer
        length, before = sum([len(segment.text) for segment in segments]), tally.requests
        failed: set[Address] = set()
        while True:
            turn = await self.turns.acquire(length, failed)
            outcome: Completion | CallError | None = None
            try:
                outcome = await self._send(turn, request, tally, tally.requests == before)
            except CallError as error:
                outcome = error
                tally.refusals += error.kind == "rate_limit"
            finally:
                failure = self.turns.report(turn, outcome, tally.refusals)
            if isinstance(outcome, Completion):
                tally.spent += 1
                tally.add(outcome, key)
                return outcome
            if failure is not None and not self._adapts(request, outcome):
                tally.spent += 1
                # A local server still works on what it was asked.
                again = failure.kind in RETRIED - ({"timeout"} if self._local else set())
                if not again or tally.spent >= self._spec.tries:
                    raise failure
                await self._sleep(backoff(tally.spent, failure.retry_after, rng()))
            request = self.request(segments, schema, most)

    def _adapts(self, request: Request, refusal: CallError) -> bool:
        """Leave out what the endpoint does not support; return whether there was any."""
        plainer = simpler(request.format, refusal.message) if refusal.about_format else None
        if plainer is not None:
            # Calls in flight learn it together; the format is simplified once.
            if self._format == request.format:
                self._format = plainer
            return True
        if request.logprobs and not self._spec.logprobs and of_logprobs(refusal):
            # They were wanted, but not by the judge's settings.
            self._chances = False
            return True
        return False

    def settings(self, prompt: str, **more: object) -> dict[str, object]:
        """Return the settings of every call, without the key and variables' values."""
        spec = self._spec
        sent = {
            "door": self._provider.name,
            "prompt": prompt,
            "model": spec.model,
            "api_base": spec.api_base or None,
            "temperature": spec.temperature,
            "max_tokens": spec.max_tokens,
            **more,
            "thinking": spec.thinking,
            "logprobs": spec.logprobs or None,
            "params": spec.params or None,
        }
        given = {name: value for name, value in sent.items() if value is not None}
        shown: dict[str, object] = json.loads(redact(json.dumps(given, default=str), self.hidden))
        return shown

    def answers(self, tally: CallAccount) -> tuple[KeptAnswer, ...]:
        """Return a question's new readable answers; none without a cache."""
        if self._cache is None:
            return ()
        return tuple(as_answer(key, self._spec.model, answer) for key, answer in tally.fresh)

    def request(
        self, segments: tuple[Segment, ...], schema: Schema | None, most: int | None = None
    ) -> Request:
        """Return a request for a reply of this form, with the judge's settings."""
        spec = self._spec
        typed = spec.template == "systemone"
        # Only for a chosen option: an assessment's tokens tell nothing.
        chances = self._chances and (schema is not None or (spec.decides and not typed))
        short = most if chances or not spec.decides else None
        short = short if spec.thinking in (None, "off") else None
        return Request(
            model=spec.model,
            messages=messages(segments),
            shared_ends=shared_ends(segments),
            schema=schema or _NO_SCHEMA,
            format=self._format if schema else "systemone" if typed else "words",
            temperature=spec.temperature,
            max_tokens=min(spec.max_tokens or short, short) if short else spec.max_tokens,
            timeout=spec.timeout,
            patient=self._patient,
            thinking=spec.thinking,
            params=spec.params,
            api_base=spec.api_base,
            key=self.key,
            known=self._known,
            logprobs=chances,
        )

    async def _send(
        self, turn: Turn, request: Request, tally: CallAccount, first: bool
    ) -> Completion:
        """Send a request; a call's ``first`` counts as in flight.

        It is out from the moment its body is written, where the provider says when; else from the
        start. A kill before that moment cost nothing.
        """
        counted = False

        def sent() -> None:
            nonlocal counted
            if not counted:
                counted = True
                self._count(tally, 1, first)

        if (when_sent := getattr(self._provider, "when_sent", None)) is None:
            sent()
        else:
            when_sent.set(sent)
        tally.format = request.format
        if self.turns.several:
            # The answer is the same at every address, and cached under the first one.
            tally.address, request = turn.at.url, replace(request, api_base=turn.at.url)
        began = self._clock()
        try:
            completion = await self._provider.complete(request)
            return without_key(completion, self.hidden)
        except CallError as error:
            if error.sent:
                sent()
            elif counted:
                self._count(tally, -1, first)
            if request.logprobs:
                raise about_logprobs(error) from None
            raise
        finally:
            tally.seconds = self._clock() - began

    def _count(self, tally: CallAccount, more: int, first: bool) -> None:
        tally.requests += more
        if first:
            tally.asked += more
            self._on_call(more)


def of_logprobs(error: CallError) -> bool:
    """Return whether a refusal is about log-probabilities."""
    concerned = "logprob" in error.message.lower() and error.kind in ("auth", "bad_request")
    return concerned and not error.about_format


def about_logprobs(error: CallError) -> CallError:
    """Return the error; one about log-probabilities says what to change."""
    if not of_logprobs(error):
        return error
    message = error.message.removesuffix(MEND["auth"])
    message += " Switch off log-probabilities for this judge, or set top_logprobs in its params."
    return CallError("bad_request", message, status=error.status, sent=error.sent)


def without_key(completion: Completion, hidden: Hidden) -> Completion:
    """Redact the key from a completion."""
    texts = (completion.text or "", completion.thinking, completion.refusal, completion.model)
    if not hidden or not any(shows(text, hidden) for text in texts if text):
        return completion
    text, thinking, refusal, model = (hide(text, hidden) for text in texts)
    return replace(
        completion,
        text=None if completion.text is None else text,
        thinking=thinking,
        refusal=refusal,
        model=model,
        # A key split over tokens could not be found.
        number_tokens=None if completion.number_tokens is None else [],
    )


def backoff(failures: int, retry_after: float | None, rng: Random) -> float:
    """Return seconds to pause after this many failures, or longer on request.

    >>> 0 <= backoff(3, None, Random(1)) <= 4
    True
    """
    longest = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** (failures - 1))
    return max(rng.uniform(0, longest), min(retry_after or 0.0, LONGEST_BACKOFF))

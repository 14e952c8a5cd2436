"""One completion from a judge's model, with the retries that it needs.

A rate-limited request (429) closes the provider's gate and does not count as a try. A timeout, a
lost connection and a server error are retried after a jittered pause, up to the judge's ``tries``.
A timeout of a local server is not retried, because that server still works on the abandoned
question. If an endpoint does not support the reply format, a simpler one is used and remembered. A
cached answer needs no call and no gate.
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
from core.judging.prompts.layouts import chat_messages, shared_ends
from core.judging.prompts.reply_parsing import Schema
from core.judging.providers.base import (
    CallError,
    Completion,
    Hidden,
    ModelProvider,
    ReplyFormat,
    Request,
    has_secret,
    hidden_values,
    redact,
    redact_secrets,
    simpler_format,
)
from core.judging.providers.failures import MEND
from core.judging.rate_limits import Clock, ProviderGate, Sleep
from core.judging.turns import RETRIED, Address, CallTurns, Turn

#: The n-th pause is drawn from 0 to FIRST * 2^(n-1) seconds ("full jitter"), at most LONGEST.
FIRST_BACKOFF, LONGEST_BACKOFF = 1.0, 60.0


#: A judge's gate or, with several addresses, their gates in the same order.
Gates = ProviderGate | tuple[ProviderGate, ...]


#: A single object, because caches use its identity as a key.
_NO_SCHEMA: Schema = {}


class Unanswered(Exception):
    """A request without an answer yet; the answer will be under ``key``."""

    def __init__(self, key: str, request: Request) -> None:
        self.key, self.request = key, request
        super().__init__(key)


class Caller:
    """Calls one judge's model through a provider, with a gate per address."""

    #: The fraction of the list price that is paid.
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
        known_replies: Mapping[str, str] | None = None,
    ) -> None:
        self._on_call, self._known = on_call, known_replies or {}
        # A variable read from a file often ends with a line break, which is invalid in a header.
        self.key = (key or "").strip() or None
        #: Secrets to redact from everything that is stored or shown.
        self.hidden = hidden_values([self.key, *self._known.values()])
        self._spec, self._provider = spec, provider
        self._sleep, self._clock, self._cache = sleep, clock, cache
        self._local, self._patient = is_local(spec), is_patient(spec)
        self._chances = spec.logprobs or (spec.decides and self._local)
        # Local models are the most likely to produce endless replies, and their servers support
        # limits for lists and texts.
        self.first_format: ReplyFormat = "bounded" if self._local else "schema"
        self._format: ReplyFormat = self.first_format
        all_gates = gates if isinstance(gates, tuple) else (gates,)
        self.turns = CallTurns(spec, all_gates, sleep, clock)

    async def complete(
        self,
        segments: tuple[Segment, ...],
        schema: Schema | None,
        tally: CallAccount,
        rng: Callable[[], Random],
        most: int | None = None,
    ) -> Completion:
        """Return a completion after any retries. Raises the last ``CallError``.

        Without a ``schema`` the reply is plain text of at most ``most`` tokens. For a judge that
        only decides, this limit applies only if probabilities are requested, since they suffice.
        ``rng`` returns the same generator each time; pauses are drawn from it.
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
            if failure is not None and not self._adapt_to_refusal(request, outcome):
                tally.spent += 1
                # A local server still works on the abandoned request.
                may_retry = failure.kind in RETRIED - ({"timeout"} if self._local else set())
                if not may_retry or tally.spent >= self._spec.tries:
                    raise failure
                await self._sleep(backoff(tally.spent, failure.retry_after, rng()))
            request = self.request(segments, schema, most)

    def _adapt_to_refusal(self, request: Request, refusal: CallError) -> bool:
        """Drop what the endpoint does not support; return whether anything was dropped."""
        plainer = simpler_format(request.format, refusal.message) if refusal.about_format else None
        if plainer is not None:
            # Several calls in flight may be refused; simplify the format only once.
            if self._format == request.format:
                self._format = plainer
            return True
        if request.logprobs and not self._spec.logprobs and is_about_logprobs(refusal):
            # The judge's settings did not ask for probabilities, so continue without them.
            self._chances = False
            return True
        return False

    def settings(self, prompt: str, **more: object) -> dict[str, object]:
        """Return the settings of every call, without the key and the values of variables."""
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
        settings = {name: value for name, value in sent.items() if value is not None}
        shown: dict[str, object] = json.loads(
            redact(json.dumps(settings, default=str), self.hidden)
        )
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
        # Chances are asked for only when an option is chosen: in an assessment's text the tokens
        # say nothing about an option.
        chances = self._chances and (schema is not None or (spec.decides and not typed))
        short = most if chances or not spec.decides else None
        short = short if spec.thinking in (None, "off") else None
        return Request(
            model=spec.model,
            messages=chat_messages(segments),
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
        """Send a request; a call's ``first`` request counts as in flight.

        It counts as sent once its body is written, if the provider reports that; otherwise from the
        start. A process killed before that moment has caused no cost.
        """
        counted = False

        def mark_sent() -> None:
            nonlocal counted
            if not counted:
                counted = True
                self._count_request(tally, 1, first)

        if (when_sent := getattr(self._provider, "when_sent", None)) is None:
            mark_sent()
        else:
            when_sent.set(mark_sent)
        tally.format = request.format
        if self.turns.several:
            # All addresses serve the same model, so the answer is cached under the first one.
            tally.address, request = turn.at.url, replace(request, api_base=turn.at.url)
        began = self._clock()
        try:
            completion = await self._provider.complete(request)
            return without_key(completion, self.hidden)
        except CallError as error:
            if error.sent:
                mark_sent()
            elif counted:
                self._count_request(tally, -1, first)
            if request.logprobs:
                raise with_logprobs_hint(error) from None
            raise
        finally:
            tally.seconds = self._clock() - began

    def _count_request(self, tally: CallAccount, change: int, first: bool) -> None:
        tally.requests += change
        if first:
            tally.asked += change
            self._on_call(change)


def is_about_logprobs(error: CallError) -> bool:
    """Return whether a refusal is about log-probabilities."""
    concerned = "logprob" in error.message.lower() and error.kind in ("auth", "bad_request")
    return concerned and not error.about_format


def with_logprobs_hint(error: CallError) -> CallError:
    """Return the error; if log-probabilities caused it, the message says what to change."""
    if not is_about_logprobs(error):
        return error
    message = error.message.removesuffix(MEND["auth"])
    message += " Switch off log-probabilities for this judge, or set top_logprobs in its params."
    return CallError("bad_request", message, status=error.status, sent=error.sent)


def without_key(completion: Completion, hidden: Hidden) -> Completion:
    """Redact the key from a completion."""
    texts = (completion.text or "", completion.thinking, completion.refusal, completion.model)
    if not hidden or not any(has_secret(text, hidden) for text in texts if text):
        return completion
    text, thinking, refusal, model = (redact_secrets(text, hidden) for text in texts)
    return replace(
        completion,
        text=None if completion.text is None else text,
        thinking=thinking,
        refusal=refusal,
        model=model,
        # Redaction would miss a key that is split over several tokens.
        number_tokens=None if completion.number_tokens is None else [],
    )


def backoff(failures: int, retry_after: float | None, rng: Random) -> float:
    """Return the seconds to pause after this many failures.

    At least ``retry_after``, of which at most ``LONGEST_BACKOFF`` counts.

    >>> 0 <= backoff(3, None, Random(1)) <= 4
    True
    """
    longest = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** (failures - 1))
    return max(rng.uniform(0, longest), min(retry_after or 0.0, LONGEST_BACKOFF))

"""The account of one question: requests made, tokens billed, and the call that is kept of it."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.panel import Judge
from core.domain.votes import Call, Segment
from core.judging.doors import Completion
from core.judging.pricing import cost_of


@dataclass(slots=True)
class Tally:
    """Sums over the requests of one question.

    ``requests`` counts what went over the wire. ``spent`` counts what goes against the judge's
    ``tries``: all but refusals for now (429) and requests that only found out a reply format.
    ``seconds`` is the time of the last request, ``before`` that of steps that are done.
    """

    spec: Judge
    requests: int = 0
    spent: int = 0
    refusals: int = 0
    seconds: float = 0.0
    before: float = 0.0
    thoughts: tuple[str, ...] = ()
    sent: tuple[Segment, ...] = ()
    format: str = ""
    last: Completion | None = None
    tokens_in: int | None = None
    tokens_cached: int | None = None
    tokens_out: int | None = None
    tokens_thinking: int | None = None
    cost: float | None = None

    def add(self, completion: Completion) -> None:
        """Count an answered request: whether or not it can be read, it is billed."""
        unpriced = self.last is not None and self.cost is None
        cost = cost_of(self.spec, completion.tokens_in, completion.tokens_out, completion.cost)
        self.cost = None if unpriced or cost is None else (self.cost or 0.0) + cost
        self.last = completion
        self.tokens_in = _plus(self.tokens_in, completion.tokens_in)
        self.tokens_cached = _plus(self.tokens_cached, completion.tokens_cached)
        self.tokens_out = _plus(self.tokens_out, completion.tokens_out)
        self.tokens_thinking = _plus(self.tokens_thinking, completion.tokens_thinking)

    def next_step(self) -> None:
        """What was answered last is used, and another request goes on from it.

        Its time and thinking are kept beside those of the next step, which has tries of its own.
        """
        self.before, self.seconds, self.spent = self.before + self.seconds, 0.0, 0
        if self.last is not None:
            self.thoughts = (*self.thoughts, self.last.thinking)

    def call(self, params: dict[str, object]) -> Call | None:
        """What is kept of the question's requests; ``None`` where none was made."""
        if not self.requests:
            return None
        last = self.last or Completion(None)
        return Call(
            prompt=self.sent,
            params={**params, "format": self.format},
            reply=last.text or last.refusal,
            thinking="\n\n".join(filter(None, (*self.thoughts, last.thinking))),
            model=last.model,
            finish=last.finish,
            tokens_in=self.tokens_in,
            tokens_cached=self.tokens_cached,
            tokens_out=self.tokens_out,
            tokens_thinking=self.tokens_thinking,
            cost=self.cost,
            seconds=self.before + self.seconds,
            tries=self.requests,
        )


def _plus(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more

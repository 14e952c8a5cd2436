"""The price of a model, and the requests, tokens and dollars of a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import attrgetter

from core.domain.panel import Judge
from core.domain.votes import Call, Cell, Segment
from core.identity import Same
from core.judging.known_providers import provider_of
from core.judging.providers.base import Completion
from core.judging.providers.prices import price_entry, price_list

_PER_MILLION = 1_000_000


def price_of(judge: Judge) -> tuple[float, float] | None:
    """Return US dollars per million tokens (in, out), or ``None`` if unknown.

    The judge's own prices take precedence; if only one of them is set, the price is unknown. A
    model at a custom address has no listed price, whatever its name, unless the name begins with
    its provider (``azure/...``).

    >>> price_of(Judge(name="j", model="m", price_in=0.5, price_out=2))
    (0.5, 2.0)
    """
    if judge.price_in is not None or judge.price_out is not None:
        if judge.price_in is None or judge.price_out is None:
            return None
        return judge.price_in, judge.price_out
    foreign = judge.api_base and not provider_of(judge.model)
    return None if foreign else _listed_price(judge.model)


def cost_of(
    judge: Judge, tokens_in: int | None, tokens_out: int | None, reported: float | None
) -> float | None:
    """Return US dollars for an answered request, or ``None`` if unknown.

    The judge's own prices take precedence, then ``reported``, the provider's own figure, which
    includes the price of cached tokens, then the price list.
    """
    has_prices = judge.price_in is not None or judge.price_out is not None
    if reported is not None and not has_prices:
        return reported
    price = price_of(judge)
    if price is None or tokens_in is None or tokens_out is None:
        return None
    return (tokens_in * price[0] + tokens_out * price[1]) / _PER_MILLION


def _listed_price(model: str) -> tuple[float, float] | None:
    prices = price_list()
    entry = prices.get(model) or prices.get(model.removeprefix("openai/"))
    # Some providers' models are listed without the provider's name.
    entry = entry or price_entry(provider_of(model), model.partition("/")[2]) or {}
    price_in, price_out = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if not isinstance(price_in, int | float) or not isinstance(price_out, int | float):
        return None
    return price_in * _PER_MILLION, price_out * _PER_MILLION


@dataclass(slots=True)
class CallAccount:
    """Sums over the requests of a question.

    ``requests`` counts requests on the wire. ``asked`` counts their purposes: a retry does not
    count again, but a repair or another step does. ``spent`` counts against the judge's ``tries``:
    all requests except rate-limited ones (429) and trials of a reply format. ``seconds`` is the
    time of the last request, ``before`` that of finished steps. ``answered`` came over the wire,
    ``reused`` from the cache. ``share`` is the fraction of the list price that was paid.
    """

    spec: Judge
    cell: Cell
    requests: int = 0
    asked: int = 0
    spent: int = 0
    refusals: int = 0
    seconds: float = 0.0
    before: float = 0.0
    thoughts: tuple[str, ...] = ()
    sent: tuple[Segment, ...] = ()
    format: str = ""
    share: float = 1.0
    address: str = ""
    last: Completion | None = None
    answered: list[Completion] = field(default_factory=list)
    reused: list[Completion] = field(default_factory=list)
    _used: list[tuple[str, Completion]] = field(default_factory=list)
    _newest: tuple[str, Completion] | None = None

    def add(self, completion: Completion, key: str = "") -> None:
        """Count an answered request, which is billed even if unreadable.

        ``key`` is its cache key.
        """
        cost = cost_of(self.spec, completion.tokens_in, completion.tokens_out, completion.cost)
        cost = None if cost is None else cost * self.share
        self.last = completion if cost == completion.cost else replace(completion, cost=cost)
        self.answered.append(self.last)
        self._newest = (key, self.last)

    def reuse(self, completion: Completion) -> None:
        """Count a cached answer, which needed no call."""
        self.last, self._newest = completion, None
        self.reused.append(completion)

    @property
    def fresh(self) -> list[tuple[str, Completion]]:
        """Return new answers to cache: the last answer of each step."""
        return self._used if self._newest is None else [*self._used, self._newest]

    def next_step(self) -> None:
        """Store the last answer and start the next step.

        Each step has its own time, thinking and tries.
        """
        self.before, self.seconds, self.spent = self.before + self.seconds, 0.0, 0
        if self.last is not None:
            self.thoughts = (*self.thoughts, self.last.thinking)
        self._used, self._newest = self.fresh, None

    def _thinking_text(self, last: Completion) -> str:
        """Return the thinking of all steps."""
        if not self.thoughts:
            return last.thinking
        return "\n\n".join(filter(None, (*self.thoughts, last.thinking)))

    def call(self, params: dict[str, object]) -> Call | None:
        """Return the record of the question's requests, or ``None`` if there were none.

        All calls with the same settings share ``params``, which never changes.
        """
        if not self.requests and not self.reused:
            return None
        last = self.last or Completion(None)
        tokens_in, tokens_cached, tokens_out, tokens_thinking = _token_sums(
            self.answered if self.requests else self.reused
        )
        return Call(
            prompt=self.sent,
            params=_call_settings(Same(params), self.format if self.requests else "", self.address),
            reply=last.text or last.refusal,
            thinking=self._thinking_text(last),
            model=last.model,
            finish=last.finish,
            tokens_in=tokens_in,
            tokens_cached=tokens_cached,
            tokens_out=tokens_out,
            tokens_thinking=tokens_thinking,
            cost=_cost_sum(self.answered) if self.requests else 0.0,
            seconds=self.before + self.seconds,
            tries=self.requests,
            cached=not self.requests,
            first_cost=_cost_sum(self.reused),
            asked=self.asked,
            kept=len(self.reused),
        )


@lru_cache(maxsize=256)
def _call_settings(same: Same, format_: str, address: str) -> dict[str, object]:
    """Return these settings with the reply's format and the address that answered."""
    added = {"format": format_, "api_base": address}
    return {**same.thing, **{name: value for name, value in added.items() if value}}


def _token_sums(answers: Sequence[Completion]) -> tuple[int | None, ...]:
    """Return tokens sent, cached, received and thought, over all answers."""
    if not answers:
        return (None, None, None, None)
    counts = [_COUNTS(answer) for answer in answers]
    return counts[0] if len(counts) == 1 else tuple(map(_sum_or_unknown, zip(*counts, strict=True)))


_COUNTS = attrgetter("tokens_in", "tokens_cached", "tokens_out", "tokens_thinking")


def _sum_or_unknown(counts: Iterable[int | None]) -> int | None:
    counted = [count for count in counts if count is not None]
    return sum(counted) if counted else None


def _cost_sum(answers: Sequence[Completion]) -> float | None:
    """Return the cost of all answers; ``None`` if any is unknown or there are no answers."""
    if len(answers) == 1:
        return answers[0].cost
    costs = [answer.cost for answer in answers if answer.cost is not None]
    return sum(costs) if costs and len(costs) == len(answers) else None

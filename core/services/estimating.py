"""What a run will take, before it is started: calls, tokens, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from core.domain.panel import Judge
from core.judging.pricing import price_of
from core.judging.prompts import build
from core.services.planning import Planned, RunRequest, plan_run, questions
from core.store.store import Store

#: Prompts built to learn their mean length; drawn evenly over the run.
_SAMPLE = 48
#: Characters per token, the usual rule of thumb for English. An estimate, and called one.
_CHARS_PER_TOKEN = 4
#: Tokens of an answer with evidence, reason and option.
_TOKENS_OUT = 150


@dataclass(frozen=True)
class JudgeEstimate:
    """One judge's share. ``cost`` is ``None`` where its price is unknown; offline judges cost 0."""

    name: str
    votes: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


@dataclass(frozen=True)
class Estimate:
    """What a run will take. Tokens are estimated (4 characters each), not counted."""

    items: int
    calibration: int
    votes: int
    judges: tuple[JudgeEstimate, ...]

    @property
    def calls(self) -> int:
        """Calls to models."""
        return sum(j.calls for j in self.judges)

    @property
    def tokens_in(self) -> int:
        """Tokens of all prompts."""
        return sum(j.tokens_in for j in self.judges)

    @property
    def tokens_out(self) -> int:
        """Tokens of all answers."""
        return sum(j.tokens_out for j in self.judges)

    @property
    def cost(self) -> float | None:
        """US dollars, or ``None`` when a judge's price is unknown."""
        costs = [j.cost for j in self.judges]
        return None if None in costs else sum(c for c in costs if c is not None)


def estimate(store: Store, request: RunRequest) -> Estimate:
    """The estimate for a request; raises ``InputError`` where no run can be made of it."""
    planned = plan_run(store, request)
    cells = sum(n for _, n in planned.cells)
    per_judge = cells // len(request.panel.judges)
    return Estimate(
        items=len(planned.items),
        calibration=len(planned.calibration),
        votes=cells,
        judges=tuple(_judge(judge, planned, per_judge) for judge in request.panel.judges),
    )


def _judge(judge: Judge, planned: Planned, votes: int) -> JudgeEstimate:
    if judge.offline:
        return JudgeEstimate(judge.name, votes, 0, 0, 0, 0.0)
    mean = _mean_prompt_tokens(judge, planned)
    tokens_in, tokens_out = round(mean * votes), _TOKENS_OUT * votes
    price = price_of(judge)
    cost = None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1e6
    return JudgeEstimate(judge.name, votes, votes, tokens_in, tokens_out, cost)


def _mean_prompt_tokens(judge: Judge, planned: Planned) -> float:
    step = max(1, len(planned.items) // 12)
    sample: Sequence[int] = [
        sum(len(segment.text) for segment in build(question).segments)
        for question in islice(
            questions(judge, planned.items[::step], planned.rubric, planned.plan, set()), _SAMPLE
        )
    ]
    return sum(sample) / len(sample) / _CHARS_PER_TOKEN

"""Estimate the calls, tokens and cost of a run before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from core.domain.dataset import Item
from core.domain.library import ItemFilter
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import RunPlan
from core.domain.votes import Segment
from core.judging.asking.call_costs import price_of
from core.judging.local.own_address import is_local
from core.judging.prompts.assembly import build_prompt
from core.judging.prompts.deciding import decision_prompt
from core.judging.protocol import Question
from core.judging.providers.batches import SHARE_OF_PRICE
from core.services.datasets.twins import RepeatedTexts
from core.services.judges.connection import last_result
from core.services.results.scored_items import rubric_in_force
from core.services.results.verdicts import answers_of, answers_per_cell, calls_of
from core.services.runs.batches.lanes import BATCH, is_batched
from core.services.runs.planning import Planned, RunRequest, outline_run
from core.services.runs.questions import QuestionBuilder, is_first_order
from core.store.store import Store
from core.text import numbers as fmt

#: The number of prompts that are built to measure their mean length, spread evenly over the run.
_SAMPLE = 48
#: The number of example items that are read to estimate the length of examples.
_EXAMPLES = 400
#: Characters per token: the usual rule of thumb for English. Screens call the result an estimate.
_CHARS_PER_TOKEN = 4
#: Tokens of an answer with evidence, reason and option; of an answer with only the option; of a
#: decision in one word.
_TOKENS_OUT, _TOKENS_BRIEF, _TOKENS_DECIDED = 150, 12, 5
#: Tokens of an answer that assesses a text.
_TOKENS_ASSESSED = 150


@dataclass(frozen=True)
class JudgeEstimate:
    """One judge's part of the estimate. ``cost`` is ``None`` if its price is unknown; offline
    judges cost 0.

    ``seconds`` is the time of its calls at its concurrency, by its last connection test, and at
    least what its limits per minute require; ``None`` if it was never tested, 0 for offline judges.
    ``direct`` is the cost of direct calls, set for a judge that runs in batches, which take up to a
    day.
    """

    name: str
    votes: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    seconds: float | None = None
    direct: float | None = None


@dataclass(frozen=True)
class CostEstimate:
    """The calls, tokens and cost of a run. Tokens are estimated (4 characters each), not counted.

    ``at_most``: stages or early stops may need fewer calls. ``twins``: duplicates between items
    that judges learn from and items that are graded; empty if no judge learns. ``batch``: models
    run in batches. ``brief_suits``: a local model gets full prompts; brief ones suit it better.
    """

    items: int
    calibration: int
    votes: int
    judges: tuple[JudgeEstimate, ...]
    at_most: bool = False
    twins: RepeatedTexts = field(default_factory=RepeatedTexts)
    batch: bool = False
    brief_suits: bool = False

    @property
    def calls(self) -> int:
        """Return the number of calls to models."""
        return sum(j.calls for j in self.judges)

    @property
    def tokens_in(self) -> int:
        """Return the number of tokens of all prompts."""
        return sum(j.tokens_in for j in self.judges)

    @property
    def tokens_out(self) -> int:
        """Return the number of tokens of all answers."""
        return sum(j.tokens_out for j in self.judges)

    @property
    def cost(self) -> float | None:
        """Return the cost in US dollars, or ``None`` if a judge's price is unknown."""
        costs = [j.cost for j in self.judges]
        return None if None in costs else sum(c for c in costs if c is not None)

    @property
    def direct(self) -> float | None:
        """Return the cost in US dollars without batches; ``None`` if unknown."""
        costs = [j.cost if j.direct is None else j.direct for j in self.judges]
        return None if None in costs else sum(c for c in costs if c is not None)

    @property
    def seconds(self) -> float | None:
        """Return the slowest judge's time (judges work in parallel); ``None`` if unknown."""
        times = [j.seconds for j in self.judges]
        return None if None in times else max((t for t in times if t is not None), default=0.0)

    @property
    def words(self) -> str:
        """Return one line, e.g. "8 answers, 8 calls, about $0.01, about 2k tokens"."""
        most = "at most " if self.at_most else ""
        answers = f"{most}{fmt.plural(self.votes, 'answer')}"
        if not self.calls:
            return f"{answers}, no calls, no cost"
        cost = "cost unknown" if self.cost is None else f"{most}about {fmt.cost(self.cost)}"
        parts = [answers, f"{most}{fmt.plural(self.calls, 'call')}", cost]
        if self.seconds is not None:
            parts.append(f"about {fmt.seconds(self.seconds)}")
        tokens = fmt.tokens(self.tokens_in + self.tokens_out)
        return ", ".join([*parts, f"about {tokens}"])


BRIEF_SUITS = "A small model on your own machine does better with the brief wording."


def brief_suits(panel: Panel) -> bool:
    """Return whether a local model of the panel gets full prompts; brief ones suit it better."""
    callers = (judge for judge in panel.judges if is_local(judge) and not judge.decides)
    return panel.asking.style == "full" and any(callers)


def teaching_items(store: Store, dataset_version: int) -> tuple[int, int]:
    """Return how many items offline judges could learn from, including items that people
    settled, and how many of them are in the calibration split.
    """
    marked = store.datasets.count(dataset_version, ItemFilter(labelled=True, split="calibration"))
    truth = store.settled.truth(dataset_version)
    settled = [item_id for item_id, labels in truth.items() if any(labels.values())]
    newly_labelled = sum(not item.labels for item in store.datasets.items(dataset_version, settled))
    return store.datasets.version(dataset_version).labelled + newly_labelled, marked


def estimate_request(store: Store, request: RunRequest) -> CostEstimate:
    """Return the estimate for a request; raises ``InputError`` if the request is invalid."""
    planned = outline_run(store, request)
    step = _sample_step(len(planned.graded))
    sample = planned.pool.read([candidate.id for candidate in planned.graded[::step]])
    shown = bool(planned.plan.panel.asking.few_shot)
    return _estimate_sized(
        store,
        _Sized(
            plan=planned.plan,
            rubric=planned.rubric,
            items=len(planned.graded),
            cells=planned.pool.asked(planned.graded),
            leads=0,
            sample=sample,
            # A few of many examples are enough to estimate their length.
            calibration=planned.calibration(_EXAMPLES) if shown else (),
            learned_from=len(planned.taught),
            twins=planned.twins,
        ),
    )


def estimate_planned(store: Store, planned: Planned) -> CostEstimate:
    """Return the estimate of a plan, which need not be stored yet."""
    items = planned.items
    return _estimate_sized(
        store,
        _Sized(
            plan=planned.plan,
            rubric=planned.rubric,
            items=len(items),
            cells=sum(len(rubric_in_force(item, planned.rubric).criteria) for item in items),
            leads=sum(map(is_first_order, items)),
            sample=items[:: _sample_step(len(items))],
            calibration=planned.calibration,
            learned_from=len(planned.calibration),
            twins=planned.twins,
        ),
    )


@dataclass(frozen=True)
class _Sized:
    """The basis of an estimate: counts, and some of the items.

    ``cells`` are pairs of item and criterion; ``leads`` items show a comparison's first order.
    """

    plan: RunPlan
    rubric: Rubric
    items: int
    cells: int
    leads: int
    sample: Sequence[Item]
    calibration: Sequence[Item]
    learned_from: int
    twins: RepeatedTexts


def _sample_step(items: int) -> int:
    return max(1, items // 12)


def _estimate_sized(store: Store, sized: _Sized) -> CostEstimate:
    panel = sized.plan.panel
    return CostEstimate(
        items=sized.items,
        calibration=sized.learned_from,
        votes=sized.cells * answers_per_cell(panel, sized.plan.replicates),
        judges=tuple(_judge_estimate(store, judge, sized) for judge in panel.judges),
        at_most=panel.cascade is not None or panel.early_stop,
        twins=sized.twins,
        batch=bool(sized.plan.details.get(BATCH)),
        brief_suits=brief_suits(panel),
    )


def _judge_estimate(store: Store, judge: Judge, sized: _Sized) -> JudgeEstimate:
    panel, replicates = sized.plan.panel, sized.plan.replicates
    answers = answers_of(judge, panel, replicates)
    votes = sized.cells * answers
    if judge.offline:
        return JudgeEstimate(judge.name, votes, 0, 0, 0, 0.0, 0.0)
    calls = calls_of(judge, panel, replicates, items=sized.items, cells=sized.cells)
    summaries = _summary_calls(judge, sized)
    calls += summaries
    tokens_in = round(_mean_prompt_tokens(judge, sized) * calls)
    answer = _TOKENS_BRIEF if panel.asking.style == "brief" else _TOKENS_OUT
    answer = _TOKENS_DECIDED if judge.decides else answer
    assessed = _TOKENS_ASSESSED * (judge.mode_in(panel.asking) == "two_step")
    tokens_out = votes * (answer + assessed) + _TOKENS_OUT * summaries
    price = price_of(judge)
    cost = None if price is None else (tokens_in * price[0] + tokens_out * price[1]) / 1e6
    if is_batched(judge, sized.plan.details):
        half = None if cost is None else cost * SHARE_OF_PRICE
        return JudgeEstimate(judge.name, votes, calls, tokens_in, tokens_out, half, direct=cost)
    tested = last_result(store, judge.name)
    seconds = None
    if tested is not None and tested.ok and tested.seconds is not None:
        seconds = max(
            tested.seconds * calls / judge.concurrency,
            _paced_minutes(calls, judge.requests_per_minute),
            _paced_minutes(tokens_in + tokens_out, judge.tokens_per_minute),
        )
    return JudgeEstimate(judge.name, votes, calls, tokens_in, tokens_out, cost, seconds)


def _summary_calls(judge: Judge, sized: _Sized) -> int:
    """Return the extra calls of a contest that summarise reasons, one per answered question."""
    if not sized.plan.details.get("contest", {}).get("summaries"):
        return 0
    panel = sized.plan.panel
    cells = sized.cells * sized.leads // sized.items
    questions = sized.leads if panel.asking.mode == "rubric" else cells
    return questions * answers_of(judge, panel, sized.plan.replicates)


def _paced_minutes(amount: int, per_minute: int | None) -> float:
    return 60 * amount / per_minute if per_minute else 0.0


def _prompt_segments(judge: Judge, question: Question) -> Sequence[Segment]:
    if not judge.decides:
        return build_prompt(question).segments
    request = decision_prompt(question, judge.template)
    return () if isinstance(request, str) else request.segments


def _mean_prompt_tokens(judge: Judge, sized: _Sized) -> float:
    asker = QuestionBuilder(sized.rubric, sized.plan, sized.sample, sized.calibration)
    sample: Sequence[int] = [
        sum(len(segment.text) for segment in _prompt_segments(judge, question))
        for question in islice(asker.questions(judge, set()), _SAMPLE)
    ]
    return sum(sample) / len(sample) / _CHARS_PER_TOKEN

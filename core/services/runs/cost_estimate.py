"""What a run will take, before it is started: calls, tokens, cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from core.domain.dataset import Item
from core.domain.library import ItemFilter
from core.domain.panel import Judge
from core.domain.rubric import Rubric
from core.domain.runs import RunPlan
from core.judging.asking.call_costs import price_of
from core.judging.prompts.assembly import build
from core.judging.providers.batches import SHARE_OF_PRICE
from core.services.datasets.twins import Twins
from core.services.judges.connection import last_result
from core.services.results.scored_items import effective
from core.services.results.verdicts import answers_of, answers_per_cell, calls_of
from core.services.runs.batches.lanes import BATCH, is_batched
from core.services.runs.planning import Planned, RunRequest, outline
from core.services.runs.questions import Asker, leads
from core.store.store import Store
from core.text import numbers as fmt

#: Prompts built to learn their mean length; drawn evenly over the run.
_SAMPLE = 48
#: So many of the items that examples are drawn from are read to learn how long they are.
_EXAMPLES = 400
#: Characters per token, the usual rule of thumb for English. An estimate, and called one.
_CHARS_PER_TOKEN = 4
#: Tokens of an answer with evidence, reason and option.
_TOKENS_OUT = 150


@dataclass(frozen=True)
class JudgeEstimate:
    """One judge's share. ``cost`` is ``None`` where its price is unknown; offline judges cost 0.

    ``seconds`` is the time its calls take at its concurrency, from how long its last connection
    test took, and no less than its limits per minute allow; ``None`` where it was never tested.
    Offline judges take none worth saying. ``direct`` is what it would cost asked directly, where it
    is asked in batches, which takes up to a day.
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
class Learning:
    """What offline judges could learn from in a dataset version: labelled items, and those of them
    that the dataset marks as its calibration part.
    """

    labelled: int
    marked: int


@dataclass(frozen=True)
class CostEstimate:
    """What a run will take. Tokens are estimated (4 characters each), not counted.

    ``at_most``: stages or early stops may spare a part of it. ``twins``: of items that judges
    learn from, or that are graded; none where nobody learns. ``batch``: models are asked in
    batches.
    """

    items: int
    calibration: int
    votes: int
    judges: tuple[JudgeEstimate, ...]
    at_most: bool = False
    twins: Twins = field(default_factory=Twins)
    batch: bool = False

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

    @property
    def direct(self) -> float | None:
        """What it would cost in US dollars without batches; ``None`` where unknown."""
        costs = [j.cost if j.direct is None else j.direct for j in self.judges]
        return None if None in costs else sum(c for c in costs if c is not None)

    @property
    def seconds(self) -> float | None:
        """The time of the slowest judge (judges work side by side); ``None`` where unknown."""
        times = [j.seconds for j in self.judges]
        return None if None in times else max((t for t in times if t is not None), default=0.0)

    @property
    def words(self) -> str:
        """What it takes in one line, e.g. "8 answers, 8 calls, about $0.01, about 2k tokens"."""
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


def learning(store: Store, dataset_version: int) -> Learning:
    """How many items offline judges could learn from."""
    marked = store.datasets.count(dataset_version, ItemFilter(labelled=True, split="calibration"))
    return Learning(store.datasets.version(dataset_version).labelled, marked)


def estimate(store: Store, request: RunRequest) -> CostEstimate:
    """The estimate for a request; raises ``InputError`` where no run can be made of it."""
    found = outline(store, request)
    step = _step(len(found.graded))
    sample = found.pool.read([one.id for one in found.graded[::step]])
    shown = bool(found.plan.panel.asking.few_shot)
    return _estimate(
        store,
        _Sized(
            plan=found.plan,
            rubric=found.rubric,
            items=len(found.graded),
            cells=found.pool.asked(found.graded),
            leads=0,
            sample=sample,
            # Of many, some tell how long examples are.
            calibration=found.calibration(_EXAMPLES) if shown else (),
            learned_from=len(found.taught.items),
            twins=found.taught.twins,
        ),
    )


def estimate_planned(store: Store, planned: Planned) -> CostEstimate:
    """The estimate of a plan; nothing of it needs to be stored yet."""
    items = planned.items
    return _estimate(
        store,
        _Sized(
            plan=planned.plan,
            rubric=planned.rubric,
            items=len(items),
            cells=sum(len(effective(item, planned.rubric).criteria) for item in items),
            leads=sum(map(leads, items)),
            sample=items[:: _step(len(items))],
            calibration=planned.calibration,
            learned_from=len(planned.calibration),
            twins=planned.twins,
        ),
    )


@dataclass(frozen=True)
class _Sized:
    """What an estimate rests on: numbers, and some of the items.

    ``cells`` are pairs of item and criterion; ``leads`` items are the first order of a comparison.
    """

    plan: RunPlan
    rubric: Rubric
    items: int
    cells: int
    leads: int
    sample: Sequence[Item]
    calibration: Sequence[Item]
    learned_from: int
    twins: Twins


def _step(items: int) -> int:
    return max(1, items // 12)


def _estimate(store: Store, sized: _Sized) -> CostEstimate:
    panel = sized.plan.panel
    return CostEstimate(
        items=sized.items,
        calibration=sized.learned_from,
        votes=sized.cells * answers_per_cell(panel, sized.plan.replicates),
        judges=tuple(_judge(store, judge, sized) for judge in panel.judges),
        at_most=panel.cascade is not None or panel.early_stop,
        twins=sized.twins,
        batch=bool(sized.plan.details.get(BATCH)),
    )


def _judge(store: Store, judge: Judge, sized: _Sized) -> JudgeEstimate:
    panel, replicates = sized.plan.panel, sized.plan.replicates
    answers = answers_of(judge, panel, replicates)
    votes = sized.cells * answers
    if judge.offline:
        return JudgeEstimate(judge.name, votes, 0, 0, 0, 0.0, 0.0)
    calls = calls_of(judge, panel, replicates, items=sized.items, cells=sized.cells)
    summaries = _summaries(judge, sized)
    calls += summaries
    steps = 2 if panel.asking.mode == "two_step" else 1
    tokens_in = round(_mean_prompt_tokens(judge, sized) * calls)
    tokens_out = _TOKENS_OUT * (votes * steps + summaries)
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
            _paced(calls, judge.requests_per_minute),
            _paced(tokens_in + tokens_out, judge.tokens_per_minute),
        )
    return JudgeEstimate(judge.name, votes, calls, tokens_in, tokens_out, cost, seconds)


def _summaries(judge: Judge, sized: _Sized) -> int:
    """The further calls of a contest that sum up reasons: one for each answered question."""
    if not sized.plan.details.get("contest", {}).get("summaries"):
        return 0
    panel = sized.plan.panel
    cells = sized.cells * sized.leads // sized.items
    questions = sized.leads if panel.asking.mode == "rubric" else cells
    return questions * answers_of(judge, panel, sized.plan.replicates)


def _paced(amount: int, per_minute: int | None) -> float:
    return 60 * amount / per_minute if per_minute else 0.0


def _mean_prompt_tokens(judge: Judge, sized: _Sized) -> float:
    asker = Asker(sized.rubric, sized.plan, sized.sample, sized.calibration)
    sample: Sequence[int] = [
        sum(len(segment.text) for segment in build(question).segments)
        for question in islice(asker.questions(judge, set()), _SAMPLE)
    ]
    return sum(sample) / len(sample) / _CHARS_PER_TOKEN

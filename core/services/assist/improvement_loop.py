"""The loop: propose, grade, compare on items no proposal has seen, keep or stop.

The labelled items are parted. Proposals learn from the cases of one part; accuracy and kappa
before and after are measured on the other, on the same items, with the interval of their
difference. Only wording is changed by itself; what came of it is offered as pieces to accept in
the editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core import clock
from core.domain.dataset import Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import HelpTask, RunPlan
from core.errors import InputError, Problem
from core.identity import seeded
from core.judging.writing.replies import WORDING, ProposedChange, changed
from core.judging.writing.writer import Failed
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost
from core.services.assist.proposals import (
    ImproveRequest,
    ProposalPiece,
    cases_of,
    merged,
    offline_findings,
    pieces_of,
    propose,
)
from core.services.assist.proposals import estimate as improving_outlook
from core.services.assist.task_context import TaskContext, graded
from core.services.comparison.differences import Delta, deltas
from core.services.comparison.paired_runs import pair_runs
from core.services.datasets.twins import apart_texts, grouped, whole_groups
from core.services.results.scored_items import resolved_items
from core.services.runs.cost_estimate import estimate_planned
from core.services.runs.planning import Planned, RunRequest
from core.services.spot.trials import HELP
from core.store.store import Store

KIND = "loop"
ROUNDS = 4
#: With fewer items on either side a difference says nothing.
LEAST = 5


@dataclass(frozen=True)
class LoopRequest:
    """What to improve, with whom it is graded, and on which labelled items.

    ``held_share`` of the labelled items are held out, unless the dataset marks its splits:
    ``calibration`` teaches, ``evaluation`` measures. ``budget`` is for everything together.
    """

    judge: Judge
    panel: Panel
    rubric: Rubric
    subject: str
    targets: tuple[str, ...]
    dataset_version: int
    findings: Mapping[str, Sequence[str]]
    rounds: int = ROUNDS
    held_share: float = 0.5
    seed: int = 0
    budget: float | None = None


def parted(items: Sequence[Item], request: LoopRequest) -> tuple[list[str], list[str]]:
    """The ids of the items that teach and of those that measure; only labelled ones.

    Items of the same text are on the same side.
    """
    names = set(request.targets)
    labelled = [item for item in items if names & item.labels.keys()]
    teach, measure = ([i for i in labelled if i.split == split] for split in _SPLITS)
    learn = [item.id for group in apart_texts(teach, teach, measure)[0] for item in group]
    if min(len(learn), len(measure)) >= LEAST:
        return learn, [item.id for item in measure]
    rng = seeded("held out", request.seed)
    held = whole_groups(grouped(labelled), round(len(labelled) * request.held_share), rng)
    measuring = {item.id for item in held}
    return sorted(i.id for i in labelled if i.id not in measuring), sorted(measuring)


_SPLITS = ("calibration", "evaluation")


@allowed("write")
def begin(store: Store, request: LoopRequest) -> int:
    """Start the loop; returns the task's id. ``InputError`` where there is too little to go by."""
    items = resolved_items(store, request.dataset_version, None)
    learn, held = parted(items, request)
    if min(len(learn), len(held)) < LEAST:
        found = len(learn) + len(held)
        raise InputError(
            "This dataset has too few labelled items.",
            (
                Problem(
                    f"has {found} items with labels for these criteria.",
                    f"At least {2 * LEAST} are needed: half to learn from, half to measure on.",
                    ("dataset",),
                ),
            ),
        )
    wanted = help_tasks.request_data(request, "held_share") | {"learn": learn, "held": held}
    # Per round: a call for each criterion, two runs and what was decided; two runs before.
    planned = 2 + request.rounds * (len(request.targets) + 3)
    return help_tasks.begin(store, KIND, request.subject, wanted, planned, request.budget)


def estimate(store: Store, request: LoopRequest) -> TaskCost:
    """What it takes at most, if every round is made: proposals and runs together."""
    items = resolved_items(store, request.dataset_version, None)
    learn, held = parted(items, request)
    plan = RunPlan("", 0, request.dataset_version, request.panel, seed=request.seed)
    chosen = {*learn, *held}
    mine = tuple(item for item in items if item.id in chosen)
    if not mine or not request.targets:
        return TaskCost(0, 0, 0, 0.0)
    run = estimate_planned(store, Planned(plan, asked_part(request.rubric, request), mine, ()))
    asked = ImproveRequest(
        request.judge, request.rubric, request.subject, request.targets, request.findings
    )
    words, times = improving_outlook(asked), request.rounds
    cost = None
    if run.cost is not None and words.cost is not None:
        cost = (times + 1) * run.cost + times * words.cost
    return TaskCost(
        (times + 1) * run.calls + times * words.calls,
        (times + 1) * run.tokens_in + times * words.tokens_in,
        (times + 1) * run.tokens_out + times * words.tokens_out,
        cost,
    )


def asked_part(rubric: Rubric, request: LoopRequest) -> Rubric:
    """What of a rubric the loop's runs ask: only the criteria that are to be improved."""
    criteria = tuple(c for c in rubric.criteria if c.name in request.targets)
    return Rubric(name=rubric.name, guidelines=rubric.guidelines, criteria=criteria)


def request_of(task: HelpTask) -> LoopRequest:
    """What a task was asked for."""
    return help_tasks.request_from(LoopRequest, task)


RESAMPLES = 1000


@dataclass(frozen=True)
class CriterionGain:
    """One criterion's figures in both runs."""

    name: str
    accuracy: Delta
    kappa: Delta


@dataclass(frozen=True)
class LoopGain:
    """``accuracy`` is over all cells that have a label and an answer of both runs."""

    items: int
    accuracy: Delta
    criteria: tuple[CriterionGain, ...]

    @property
    def helps(self) -> bool:
        """Whether more cells are right than before; how sure that is, the interval says."""
        found = self.accuracy.difference.value
        return found is not None and found > 0


def gain_between(store: Store, first: int, second: int) -> LoopGain:
    """What the second run's wording gained over the first's. Resamples are of items, and fixed."""
    paired = pair_runs(store, first, second)
    found = deltas(paired, RESAMPLES, 0)
    criteria = tuple(CriterionGain(one.name, one.accuracy, one.kappa) for one in found.criteria)
    return LoopGain(len(paired.match.both), found.accuracy, criteria)


@dataclass(frozen=True)
class LoopRound:
    """One round. ``learn`` and ``held`` are its runs; ``gain`` compares it with the best before.

    Round 0 is the rubric as it was. ``kept``: it is the best so far.
    """

    number: int
    learn: int | None
    held: int | None
    changes: tuple[ProposalPiece, ...]
    gain: LoopGain | None
    kept: bool


def runs_of(store: Store, task: HelpTask) -> dict[str, int]:
    """The runs of a task by step, e.g. ``{"0/held": 12}``."""
    return {
        step.name: int(step.value)
        for step in help_tasks.steps(store, task.id)
        if step.failure is None and step.name.endswith(("/learn", "/held"))
    }


def runs_cost(store: Store, task: HelpTask) -> float:
    """What the task's runs cost so far, in US dollars."""
    return sum(store.runs.row(run_id).cost for run_id in runs_of(store, task).values())


def rounds(store: Store, task: HelpTask) -> list[LoopRound]:
    """Every round so far, the rubric as it was first."""
    request, runs = request_of(task), runs_of(store, task)
    kept = {s.name: s.value for s in help_tasks.steps(store, task.id) if s.failure is None}
    found, best, best_at = list[LoopRound](), request.rubric, 0
    if "0/held" in runs:
        found.append(LoopRound(0, runs.get("0/learn"), runs["0/held"], (), None, True))
    for number in range(1, request.rounds + 1):
        noted = kept.get(f"changes/{number}")
        if noted is None:
            break
        changes = [ProposedChange(**one) for one in noted]
        gain = gain_between(store, runs[f"{best_at}/held"], runs[f"{number}/held"])
        learn, held = runs.get(f"{number}/learn"), runs[f"{number}/held"]
        shown = tuple(pieces_of(best, changes))
        found.append(LoopRound(number, learn, held, shown, gain, gain.helps))
        if gain.helps:
            best, best_at = changed(best, changes), number
    return found


def pieces(store: Store, task: HelpTask) -> list[ProposalPiece]:
    """The differences between the rubric as it was and the best round's, to be accepted."""
    request = request_of(task)
    last: dict[str, ProposalPiece] = {}
    for one in rounds(store, task):
        for piece in one.changes if one.kept else ():
            first = last.get(piece.key)
            before = piece.before if first is None else first.before
            last[piece.key] = ProposalPiece(**{**_plain(piece), "before": before})
    known = {criterion.name for criterion in request.rubric.criteria} | {""}
    return [piece for piece in last.values() if piece.criterion in known]


def _plain(piece: ProposalPiece) -> dict[str, Any]:
    return {name: getattr(piece, name) for name in ProposalPiece.__slots__}


async def work(context: TaskContext) -> dict[str, Any]:
    """Round after round, until nothing is proposed, it helps no more, or the rounds are over."""
    request = request_of(context.task)
    best, best_at = request.rubric, 0
    await _graded(context, request, best, 0, "learn")
    await _graded(context, request, best, 0, "held")
    for number in range(1, request.rounds + 1):
        changes = await _proposed(context, request, best, best_at, number)
        if not changes:
            return _ended(best_at, "Nothing more was proposed.")
        rubric = changed(best, changes)
        held = await _graded(context, request, rubric, number, "held")
        gain = await context.io(gain_between, context.store, _run(context, best_at, "held"), held)
        await context.note(f"changes/{number}", [asdict(change) for change in changes])
        if not gain.helps:
            return _ended(best_at, f"Round {number} did not help on the items held out.")
        await _graded(context, request, rubric, number, "learn")
        best, best_at = rubric, number
    return _ended(best_at, "All rounds are over.")


def _ended(best: int, why: str) -> dict[str, Any]:
    return {"best": best, "why": why}


async def _proposed(
    context: TaskContext, request: LoopRequest, rubric: Rubric, best_at: int, number: int
) -> tuple[ProposedChange, ...]:
    """The changes of wording proposed in a round; a request that failed ends the loop."""
    learnt = _run(context, best_at, "learn")
    cases = await context.io(_cases, context.store, learnt, request)
    findings = merged(offline_findings(rubric), request.findings if number == 1 else {})
    asked = ImproveRequest(
        judge=request.judge,
        rubric=rubric,
        subject=request.subject,
        targets=request.targets,
        findings=findings,
        cases=tuple(cases),
        seed=request.seed,
    )
    wanted = [
        name
        for name in request.targets
        if findings.get(name) or any(case.criterion == name for case in cases)
    ]
    found = await context.all(
        propose(context, asked, name, f"{number}/revise/{name}") for name in wanted
    )
    changes = list[ProposedChange]()
    for one in found:
        if isinstance(one, Failed):
            raise InputError(f"A request failed: {one.message}")
        changes += [change for change in one.changes if change.part in WORDING]
    guidelines = [change for change in changes if change.part == "guidelines"]
    return tuple(change for change in changes if change not in guidelines[1:])


def _cases(store: Store, run_id: int, request: LoopRequest) -> list[Any]:
    return cases_of(store, run_id, request.targets, seed=request.seed)


def _run(context: TaskContext, number: int, part: str) -> int:
    return int(context.noted(f"{number}/{part}"))


async def _graded(
    context: TaskContext, request: LoopRequest, rubric: Rubric, number: int, part: str
) -> int:
    make = await context.io(_request, context, request, rubric, number, part)
    row = await graded(context, f"{number}/{part}", make)
    return row.id


def _request(
    context: TaskContext, request: LoopRequest, rubric: Rubric, number: int, part: str
) -> RunRequest:
    """The run of one part in one round; what was spent so far leaves so much of the budget."""
    store, task = context.store, context.store.helps.get(context.task.id)
    left = None
    if task.budget is not None:
        left = max(0.0, task.budget - task.cost - runs_cost(store, task))
    return RunRequest(
        rubric_version=store.rubrics.kept(asked_part(rubric, request), now=clock.now()).id,
        dataset_version=request.dataset_version,
        panel=request.panel,
        name=f"Improve {rubric.name}: round {number}, {part}"[:200],
        seed=request.seed,
        budget=left,
        items=tuple(task.request[part]),
        kind="spot",
        details={HELP: {"task": task.id, "round": number, "part": part}},
    )

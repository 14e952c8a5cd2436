"""The loop: propose, grade, compare on items no proposal has seen, then continue or stop.

The labelled items are split. Proposals learn from the cases of one part. Accuracy and kappa before
and after are measured on the other part, on the same items, with the interval of their difference.
Only wording changes automatically; the result is offered as pieces to accept in the editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from core import clock
from core.domain.dataset import Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import HelpTask, RunPlan
from core.errors import InputError, Problem
from core.identity import seeded_random
from core.judging.writing.replies import WORDING, ProposedChange, apply_changes
from core.judging.writing.writer import WritingFailure
from core.services.access.allowing import allowed
from core.services.assist import help_tasks
from core.services.assist.help_tasks import TaskCost
from core.services.assist.proposals import (
    ImproveRequest,
    ProposalPiece,
    cases_of,
    merge_findings,
    offline_findings,
    pieces_of,
    propose_changes,
)
from core.services.assist.proposals import estimate as improving_outlook
from core.services.assist.task_context import TaskContext, graded_run
from core.services.comparison.differences import Deltas, run_deltas
from core.services.comparison.paired_runs import pair_runs
from core.services.datasets.twins import group_texts_apart, twin_groups_of, whole_groups
from core.services.results.scored_items import resolved_items
from core.services.runs.cost_estimate import estimate_planned
from core.services.runs.planning import Planned, RunRequest
from core.services.spot.trials import HELP
from core.store.store import Store

KIND = "loop"
ROUNDS = 4
#: With fewer items on either side, a difference means nothing.
LEAST = 5


@dataclass(frozen=True)
class LoopRequest:
    """The settings of a loop: what to improve, which panel grades, and on which labelled items.

    ``held_share`` of the labelled items are held out, unless the dataset has splits:
    ``calibration`` teaches, ``evaluation`` measures. ``budget`` covers everything.
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


def split_ids(items: Sequence[Item], request: LoopRequest) -> tuple[list[str], list[str]]:
    """Return the ids of the labelled items that teach, and of those that measure.

    Items of the same text are on the same side.
    """
    names = set(request.targets)
    labelled = [item for item in items if names & item.labels.keys()]
    teach, measure = ([i for i in labelled if i.split == split] for split in _SPLITS)
    learn = [item.id for group in group_texts_apart(teach, teach, measure)[0] for item in group]
    if min(len(learn), len(measure)) >= LEAST:
        return learn, [item.id for item in measure]
    rng = seeded_random("held out", request.seed)
    held_out = whole_groups(
        twin_groups_of(labelled), round(len(labelled) * request.held_share), rng
    )
    measuring = {item.id for item in held_out}
    return sorted(i.id for i in labelled if i.id not in measuring), sorted(measuring)


_SPLITS = ("calibration", "evaluation")


@allowed("write")
def begin(store: Store, request: LoopRequest) -> int:
    """Start the loop; return the task's id. Raise ``InputError`` if there are too few labels."""
    items = resolved_items(store, request.dataset_version, None)
    learn, held_out = split_ids(items, request)
    if min(len(learn), len(held_out)) < LEAST:
        labelled = len(learn) + len(held_out)
        raise InputError(
            "This dataset has too few labelled items.",
            (
                Problem(
                    f"has {labelled} items with labels for these criteria.",
                    f"At least {2 * LEAST} are needed: half to learn from, half to measure on.",
                    ("dataset",),
                ),
            ),
        )
    data = help_tasks.request_data(request, "held_share") | {"learn": learn, "held": held_out}
    # Each round takes one call per criterion, two runs and the decision; before the first round
    # there are two runs.
    planned = 2 + request.rounds * (len(request.targets) + 3)
    return help_tasks.begin(store, KIND, request.subject, data, planned, request.budget)


def estimate(store: Store, request: LoopRequest) -> TaskCost:
    """Return the maximal cost, with all rounds: proposals and runs together."""
    items = resolved_items(store, request.dataset_version, None)
    learn, held_out = split_ids(items, request)
    plan = RunPlan("", 0, request.dataset_version, request.panel, seed=request.seed)
    chosen = {*learn, *held_out}
    graded_items = tuple(item for item in items if item.id in chosen)
    if not graded_items or not request.targets:
        return TaskCost(0, 0, 0, 0.0)
    run = estimate_planned(
        store, Planned(plan, graded_part(request.rubric, request), graded_items, ())
    )
    proposals_asked = ImproveRequest(
        request.judge, request.rubric, request.subject, request.targets, request.findings
    )
    proposing, times = improving_outlook(proposals_asked), request.rounds
    cost = None
    if run.cost is not None and proposing.cost is not None:
        cost = (times + 1) * run.cost + times * proposing.cost
    return TaskCost(
        (times + 1) * run.calls + times * proposing.calls,
        (times + 1) * run.tokens_in + times * proposing.tokens_in,
        (times + 1) * run.tokens_out + times * proposing.tokens_out,
        cost,
    )


def graded_part(rubric: Rubric, request: LoopRequest) -> Rubric:
    """Return the part of a rubric that the loop grades: only the criteria to improve."""
    criteria = tuple(c for c in rubric.criteria if c.name in request.targets)
    return Rubric(name=rubric.name, guidelines=rubric.guidelines, criteria=criteria)


def request_of(task: HelpTask) -> LoopRequest:
    """Return the request of a task."""
    return help_tasks.request_from(LoopRequest, task)


RESAMPLES = 1000


def gain_between(store: Store, first: int, second: int) -> Deltas:
    """Return the second run's gain over the first's, with an interval from fixed resamples of
    items.
    """
    return run_deltas(pair_runs(store, first, second), RESAMPLES, 0)


def has_gained(gain: Deltas) -> bool:
    """Return whether more cells are right than before; the interval shows the certainty."""
    gained = gain.accuracy.difference.value
    return gained is not None and gained > 0


@dataclass(frozen=True)
class LoopRound:
    """One round. ``held`` is its run on held-out items; ``gain`` compares it with the best round
    before.

    Round 0 is the original rubric. ``kept``: it is the best so far.
    """

    number: int
    held: int | None
    changes: tuple[ProposalPiece, ...]
    gain: Deltas | None
    kept: bool


def runs_of(store: Store, task: HelpTask) -> dict[str, int]:
    """Return the runs of a task by step, e.g. ``{"0/held": 12}``."""
    return {
        step.name: int(step.value)
        for step in help_tasks.steps_of_task(store, task.id)
        if step.failure is None and step.name.endswith(("/learn", "/held"))
    }


def runs_cost(store: Store, task: HelpTask) -> float:
    """Return the cost of the task's runs so far, in US dollars."""
    return sum(store.runs.row(run_id).cost for run_id in runs_of(store, task).values())


def rounds_so_far(store: Store, task: HelpTask) -> list[LoopRound]:
    """Return every round so far, starting with the original rubric."""
    request, runs = request_of(task), runs_of(store, task)
    values = {
        s.name: s.value for s in help_tasks.steps_of_task(store, task.id) if s.failure is None
    }
    finished, best, best_at = list[LoopRound](), request.rubric, 0
    if "0/held" in runs:
        finished.append(LoopRound(0, runs["0/held"], (), None, True))
    for number in range(1, request.rounds + 1):
        noted = values.get(f"changes/{number}")
        if noted is None:
            break
        changes = [ProposedChange(**fields) for fields in noted]
        gain = gain_between(store, runs[f"{best_at}/held"], runs[f"{number}/held"])
        held_run = runs[f"{number}/held"]
        shown = tuple(pieces_of(best, changes))
        finished.append(LoopRound(number, held_run, shown, gain, has_gained(gain)))
        if finished[-1].kept:
            best, best_at = apply_changes(best, changes), number
    return finished


def proposed_pieces(store: Store, task: HelpTask) -> list[ProposalPiece]:
    """Return the differences between the original rubric and the best round's, to accept."""
    request = request_of(task)
    last: dict[str, ProposalPiece] = {}
    for loop_round in rounds_so_far(store, task):
        for piece in loop_round.changes if loop_round.kept else ():
            first = last.get(piece.key, piece)
            last[piece.key] = replace(piece, before=first.before)
    existing = {criterion.name for criterion in request.rubric.criteria} | {""}
    return [piece for piece in last.values() if piece.criterion in existing]


async def work(context: TaskContext) -> dict[str, Any]:
    """Run rounds until nothing is proposed, a round does not help, or the limit is reached."""
    request = request_of(context.task)
    best, best_at = request.rubric, 0
    await _grade_part(context, request, best, 0, "learn")
    await _grade_part(context, request, best, 0, "held")
    for number in range(1, request.rounds + 1):
        changes = await _proposed_changes(context, request, best, best_at, number)
        if not changes:
            return _loop_result(best_at, "Nothing more was proposed.")
        rubric = apply_changes(best, changes)
        held_run = await _grade_part(context, request, rubric, number, "held")
        gain = await context.io(
            gain_between, context.store, _run_of_part(context, best_at, "held"), held_run
        )
        await context.note(f"changes/{number}", [asdict(change) for change in changes])
        if not has_gained(gain):
            return _loop_result(best_at, f"Round {number} did not help on the items held out.")
        await _grade_part(context, request, rubric, number, "learn")
        best, best_at = rubric, number
    return _loop_result(best_at, "All rounds are over.")


def _loop_result(best: int, reason: str) -> dict[str, Any]:
    return {"best": best, "why": reason}


async def _proposed_changes(
    context: TaskContext, request: LoopRequest, rubric: Rubric, best_at: int, number: int
) -> tuple[ProposedChange, ...]:
    """Return the changes of wording proposed in a round; a failed request ends the loop."""
    learnt = _run_of_part(context, best_at, "learn")
    draw_cases = partial(cases_of, seed=request.seed)
    cases = await context.io(draw_cases, context.store, learnt, request.targets)
    findings = merge_findings(offline_findings(rubric), request.findings if number == 1 else {})
    improve = ImproveRequest(
        judge=request.judge,
        rubric=rubric,
        subject=request.subject,
        targets=request.targets,
        findings=findings,
        cases=tuple(cases),
        seed=request.seed,
    )
    chosen = [
        name
        for name in request.targets
        if findings.get(name) or any(case.criterion == name for case in cases)
    ]
    results = await context.all(
        propose_changes(context, improve, name, f"{number}/revise/{name}") for name in chosen
    )
    changes = list[ProposedChange]()
    for result in results:
        if isinstance(result, WritingFailure):
            raise InputError(f"A request failed: {result.message}")
        changes += [change for change in result.value if change.part in WORDING]
    guidelines = [change for change in changes if change.part == "guidelines"]
    return tuple(change for change in changes if change not in guidelines[1:])


def _run_of_part(context: TaskContext, number: int, part: str) -> int:
    return int(context.noted(f"{number}/{part}"))


async def _grade_part(
    context: TaskContext, request: LoopRequest, rubric: Rubric, number: int, part: str
) -> int:
    make = await context.io(_run_request, context, request, rubric, number, part)
    row = await graded_run(context, f"{number}/{part}", make)
    return row.id


def _run_request(
    context: TaskContext, request: LoopRequest, rubric: Rubric, number: int, part: str
) -> RunRequest:
    """Return the run of one part in one round, with the rest of the budget."""
    store, task = context.store, context.store.helps.get(context.task.id)
    remaining = None
    if task.budget is not None:
        remaining = max(0.0, task.budget - task.cost - runs_cost(store, task))
    return RunRequest(
        rubric_version=store.rubrics.version_with_content(
            graded_part(rubric, request), now=clock.now()
        ).id,
        dataset_version=request.dataset_version,
        panel=request.panel,
        name=f"Improve {rubric.name}: round {number}, {part}"[:200],
        seed=request.seed,
        budget=remaining,
        items=tuple(task.request[part]),
        kind="spot",
        details={HELP: {"task": task.id, "round": number, "part": part}},
    )

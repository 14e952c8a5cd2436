"""The loop: propose, grade, compare on items no proposal has seen, and stop when it helps no more.

The labelled items are parted. Proposals learn from the cases of one part; accuracy and kappa before
and after are measured on the other, on the same items, with the interval of their difference. Only
wording is changed by itself; what came of it is offered as pieces to accept in the editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.dataset import Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import HelpTask, RunPlan
from core.errors import InputError, Problem
from core.identity import seeded
from core.services import helping
from core.services.estimating import estimate_planned
from core.services.helping import Wish
from core.services.helping_cost import Outlook
from core.services.improving import ImproveRequest
from core.services.improving import estimate as improving_outlook
from core.services.planning import Planned
from core.services.preparing import resolved_items
from core.services.twins import apart, grouped, whole_groups
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
    learn = [item.id for group in apart(teach, measure, same=True)[0] for item in group]
    if min(len(learn), len(measure)) >= LEAST:
        return learn, [item.id for item in measure]
    rng = seeded("held out", request.seed)
    held = whole_groups(grouped(labelled), round(len(labelled) * request.held_share), rng)
    measuring = {item.id for item in held}
    return sorted(i.id for i in labelled if i.id not in measuring), sorted(measuring)


_SPLITS = ("calibration", "evaluation")


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
    wanted = {
        "judge": request.judge.model_dump(mode="json"),
        "panel": request.panel.model_dump(mode="json"),
        "rubric": request.rubric.model_dump(mode="json", by_alias=True),
        "targets": list(request.targets),
        "dataset_version": request.dataset_version,
        "findings": {name: list(said) for name, said in request.findings.items()},
        "rounds": request.rounds,
        "seed": request.seed,
        "learn": learn,
        "held": held,
    }
    # Per round: a call for each criterion, two runs and what was decided; two runs before.
    planned = 2 + request.rounds * (len(request.targets) + 3)
    return helping.begin(store, Wish(KIND, request.subject, wanted, planned, request.budget))


def estimate(store: Store, request: LoopRequest) -> Outlook:
    """What it takes at most, if every round is made: proposals and runs together."""
    items = resolved_items(store, request.dataset_version, None)
    learn, held = parted(items, request)
    plan = RunPlan("", 0, request.dataset_version, request.panel, seed=request.seed)
    chosen = {*learn, *held}
    mine = tuple(item for item in items if item.id in chosen)
    if not mine or not request.targets:
        return Outlook(0, 0, 0, 0.0)
    run = estimate_planned(store, Planned(plan, asked_part(request.rubric, request), mine, ()))
    asked = ImproveRequest(
        request.judge, request.rubric, request.subject, request.targets, request.findings
    )
    words, times = improving_outlook(asked), request.rounds
    cost = None
    if run.cost is not None and words.cost is not None:
        cost = (times + 1) * run.cost + times * words.cost
    return Outlook(
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
    asked = task.request
    return LoopRequest(
        judge=helping.writer_from(asked),
        panel=Panel.model_validate(asked["panel"]),
        rubric=Rubric.model_validate(asked["rubric"]),
        subject=task.subject,
        targets=tuple(asked["targets"]),
        dataset_version=asked["dataset_version"],
        findings=asked["findings"],
        rounds=asked["rounds"],
        seed=asked["seed"],
        budget=task.budget,
    )

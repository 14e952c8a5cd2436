"""The loop: propose, grade, compare on items no proposal has seen, and stop when it helps no more.

The labelled items are parted. Proposals learn from the cases of one part; accuracy and kappa before
and after are measured on the other, on the same items, with the interval of their difference. Only
wording is changed by itself; what came of it is offered as pieces to accept in the editor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.identity import seeded
from core.judging.authoring import Failed
from core.judging.authoring_changes import WORDING, changed
from core.judging.authoring_replies import Change
from core.services import helping
from core.services.helping import HelpTask, Wish
from core.services.helping_desk import Desk
from core.services.helping_runs import graded, hidden_request
from core.services.improving import ImproveRequest, Piece, pieces_of, propose
from core.services.improving_evidence import cases_of, merged, offline_findings
from core.services.improving_figures import Gain, gain_between
from core.services.planning import RunRequest
from core.services.preparing import resolved_items
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


@dataclass(frozen=True)
class Round:
    """One round. ``learn`` and ``held`` are its runs; ``gain`` compares it with the best before.

    Round 0 is the rubric as it was. ``kept``: it is the best so far.
    """

    number: int
    learn: int | None
    held: int | None
    changes: tuple[Piece, ...]
    gain: Gain | None
    kept: bool


def parted(items: Sequence[Item], request: LoopRequest) -> tuple[list[str], list[str]]:
    """The ids of the items that teach and of those that measure; only labelled ones."""
    names = set(request.targets)
    labelled = [item for item in items if names & item.labels.keys()]
    marked = {split: [i.id for i in labelled if i.split == split] for split in _SPLITS}
    if all(len(ids) >= LEAST for ids in marked.values()):
        return marked["calibration"], marked["evaluation"]
    ids = [item.id for item in labelled]
    seeded("held out", request.seed).shuffle(ids)
    held = round(len(ids) * request.held_share)
    return sorted(ids[held:]), sorted(ids[:held])


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


async def work(desk: Desk) -> dict[str, Any]:
    """Round after round, until nothing is proposed, it helps no more, or the rounds are over."""
    request = request_of(desk.task)
    best, best_at = request.rubric, 0
    await _graded(desk, request, best, 0, "learn")
    await _graded(desk, request, best, 0, "held")
    for number in range(1, request.rounds + 1):
        changes = await _proposed(desk, request, best, best_at, number)
        if not changes:
            return _ended(best_at, "Nothing more was proposed.")
        rubric = changed(best, changes)
        held = await _graded(desk, request, rubric, number, "held")
        gain = await desk.io(gain_between, desk.store, _run(desk, best_at, "held"), held)
        await desk.note(f"changes/{number}", [asdict(change) for change in changes])
        if not gain.helps:
            return _ended(best_at, f"Round {number} did not help on the items held out.")
        await _graded(desk, request, rubric, number, "learn")
        best, best_at = rubric, number
    return _ended(best_at, "All rounds are over.")


def _ended(best: int, why: str) -> dict[str, Any]:
    return {"best": best, "why": why}


async def _proposed(
    desk: Desk, request: LoopRequest, rubric: Rubric, best_at: int, number: int
) -> tuple[Change, ...]:
    """The changes of wording proposed in a round; a request that failed ends the loop."""
    learnt = _run(desk, best_at, "learn")
    cases = await desk.io(_cases, desk.store, learnt, request)
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
    found = await desk.all(propose(desk, asked, name, f"{number}/revise/{name}") for name in wanted)
    changes = list[Change]()
    for one in found:
        if isinstance(one, Failed):
            raise InputError(f"A request failed: {one.message}")
        changes += [change for change in one if change.part in WORDING]
    guidelines = [change for change in changes if change.part == "guidelines"]
    return tuple(change for change in changes if change not in guidelines[1:])


def _cases(store: Store, run_id: int, request: LoopRequest) -> list[Any]:
    return cases_of(store, run_id, request.targets, seed=request.seed)


def _run(desk: Desk, number: int, part: str) -> int:
    return int(desk.noted(f"{number}/{part}"))


async def _graded(desk: Desk, request: LoopRequest, rubric: Rubric, number: int, part: str) -> int:
    make = await desk.io(_request, desk, request, rubric, number, part)
    row = await graded(desk, f"{number}/{part}", make)
    return row.id


def _request(
    desk: Desk, request: LoopRequest, rubric: Rubric, number: int, part: str
) -> RunRequest:
    """The run of one part in one round; what was spent so far leaves so much of the budget."""
    store, task = desk.store, desk.store.helps.get(desk.task.id)
    left = None
    if request.budget is not None:
        left = max(0.0, request.budget - task.cost - runs_cost(store, task))
    return hidden_request(
        store,
        rubric,
        request.dataset_version,
        request.panel,
        name=f"Improve {rubric.name}: round {number}, {part}",
        items=tuple(task.request[part]),
        budget=left,
        seed=request.seed,
        details={"task": task.id, "round": number, "part": part},
    )


def runs_of(store: Store, task: HelpTask) -> dict[str, int]:
    """The runs of a task by step, e.g. ``{"0/held": 12}``."""
    return {
        step.name: int(step.value)
        for step in helping.steps(store, task.id)
        if step.failure is None and step.name.endswith(("/learn", "/held"))
    }


def runs_cost(store: Store, task: HelpTask) -> float:
    """What the task's runs cost so far, in US dollars."""
    return sum(store.runs.row(run_id).cost for run_id in runs_of(store, task).values())


def rounds(store: Store, task: HelpTask) -> list[Round]:
    """Every round so far, the rubric as it was first."""
    request, runs = request_of(task), runs_of(store, task)
    kept = {s.name: s.value for s in helping.steps(store, task.id) if s.failure is None}
    found, best, best_at = list[Round](), request.rubric, 0
    if "0/held" in runs:
        found.append(Round(0, runs.get("0/learn"), runs["0/held"], (), None, True))
    for number in range(1, request.rounds + 1):
        noted = kept.get(f"changes/{number}")
        if noted is None:
            break
        changes = [Change(**one) for one in noted]
        gain = gain_between(store, runs[f"{best_at}/held"], runs[f"{number}/held"])
        learn, held = runs.get(f"{number}/learn"), runs[f"{number}/held"]
        shown = tuple(pieces_of(best, changes))
        found.append(Round(number, learn, held, shown, gain, gain.helps))
        if gain.helps:
            best, best_at = changed(best, changes), number
    return found


def whole_gain(store: Store, found: Sequence[Round]) -> Gain | None:
    """The best round against the rubric as it was, on the items held out."""
    best = [one for one in found if one.kept]
    if len(best) < 2 or best[0].held is None or best[-1].held is None:
        return None
    return gain_between(store, best[0].held, best[-1].held)


def pieces(store: Store, task: HelpTask) -> list[Piece]:
    """The differences between the rubric as it was and the best round's, to be accepted."""
    request = request_of(task)
    last: dict[str, Piece] = {}
    for one in rounds(store, task):
        for piece in one.changes if one.kept else ():
            first = last.get(piece.key)
            before = piece.before if first is None else first.before
            last[piece.key] = Piece(**{**_plain(piece), "before": before})
    known = {criterion.name for criterion in request.rubric.criteria} | {""}
    return [piece for piece in last.values() if piece.criterion in known]


def _plain(piece: Piece) -> dict[str, Any]:
    return {name: getattr(piece, name) for name in Piece.__slots__}

"""The loop at work: grade, propose, grade again, compare, and keep or stop."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from core.domain.rubric import Rubric
from core.errors import InputError
from core.judging.authoring import Failed
from core.judging.authoring_changes import WORDING, changed
from core.judging.authoring_replies import ProposedChange
from core.services.helping_desk import Desk
from core.services.helping_runs import graded, hidden_request
from core.services.improving import ImproveRequest, propose
from core.services.improving_evidence import cases_of, merged, offline_findings
from core.services.improving_figures import gain_between
from core.services.improving_loop import LoopRequest, asked_part, request_of
from core.services.improving_rounds import runs_cost
from core.services.planning import RunRequest
from core.store.store import Store


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
) -> tuple[ProposedChange, ...]:
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
    changes = list[ProposedChange]()
    for one in found:
        if isinstance(one, Failed):
            raise InputError(f"A request failed: {one.message}")
        changes += [change for change in one.changes if change.part in WORDING]
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
        asked_part(rubric, request),
        request.dataset_version,
        request.panel,
        name=f"Improve {rubric.name}: round {number}, {part}",
        items=tuple(task.request[part]),
        budget=left,
        seed=request.seed,
        details={"task": task.id, "round": number, "part": part},
    )

"""What the rounds of the loop were, and what they gained: read from the steps that are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.domain.runs import HelpTask
from core.judging.authoring_changes import changed
from core.judging.authoring_replies import ProposedChange
from core.services import helping
from core.services.improving import Piece, pieces_of
from core.services.improving_figures import Gain, gain_between
from core.services.improving_loop import request_of
from core.store.store import Store


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
        changes = [ProposedChange(**one) for one in noted]
        gain = gain_between(store, runs[f"{best_at}/held"], runs[f"{number}/held"])
        learn, held = runs.get(f"{number}/learn"), runs[f"{number}/held"]
        shown = tuple(pieces_of(best, changes))
        found.append(Round(number, learn, held, shown, gain, gain.helps))
        if gain.helps:
            best, best_at = changed(best, changes), number
    return found


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

"""Gates that never fire, always fire, change nothing, or stand behind a stricter one.

What a gate does is tried out, not read: every answer to its criterion goes through the same
functions that score an item.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.gates import Effect, Gate
from core.domain.rubric import Criterion, Rubric
from core.scoring import score_item
from core.scoring.gating import evaluate
from core.services.checking.finding import Edit, Finding

_VERDICTS = {None: 0, "review": 1, "fail": 2}
_NEAR = 1e-9


def inert(rubric: Rubric) -> Iterator[Finding]:
    """Gates whose condition or effect makes no difference."""
    for at, gate in enumerate(rubric.gates):
        found = _inert(rubric, gate)
        if found:
            rule, sentence, mend = found
            edit = (
                Edit("remove", ("gates", at), "Remove the gate") if rule == "inert-gate" else None
            )
            yield Finding(rule, ("gates", at), sentence, mend, edit=edit)


def _inert(rubric: Rubric, gate: Gate) -> tuple[str, str, str] | None:
    if gate.when.criterion is None:
        tagged = sum(gate.when.tag in c.tags for c in rubric.criteria)
        if tagged >= (gate.when.count_at_least or 1):
            return None
        needed = gate.when.count_at_least
        return (
            "inert-gate",
            f"Can never fire: it needs {needed} criteria tagged {gate.when.tag!r}, there are "
            f"{tagged}.",
            "Lower the count or tag more criteria.",
        )
    criterion = rubric.criterion(gate.when.criterion)
    firing = _firing(rubric, gate, criterion)
    if not firing:
        return "inert-gate", "Can never fire: no answer meets its condition.", _CHANGE
    if firing >= set(criterion.scored) and gate.when.abstained is None:
        return (
            "always-gate",
            "Fires whatever the answer: every level meets its condition.",
            "Move the threshold, or take the effect into the scoring.",
        )
    if not _bites(rubric, gate.then, criterion, firing):
        return (
            "inert-gate",
            "Changes nothing: where it fires, the score cannot be higher than it allows anyway.",
            "Lower its cap or factor, or give it a verdict or a flag.",
        )
    return None


_CHANGE = "Change the threshold or the option it names."


def _firing(rubric: Rubric, gate: Gate, criterion: Criterion) -> set[int]:
    """The choices of the criterion with which the gate fires, abstentions among them."""
    alone = rubric.model_copy(update={"gates": (gate,)})
    return {
        choice
        for choice in range(len(criterion.choices))
        if evaluate(alone, {criterion.name: choice})[0].state == "fired"
    }


def _bites(rubric: Rubric, then: Effect, criterion: Criterion, firing: set[int]) -> bool:
    """Whether the effect can show: in the outcome, or in the best score it can meet."""
    if then.verdict or then.flag or (then.multiply is not None and then.multiply < 1):
        return True
    if then.cap is None:
        return False
    free = rubric.model_copy(
        update={
            "gates": (),
            "decision": None,
            "prechecks": (),
            "scoring": rubric.scoring.model_copy(
                update={"normalize": True, "length_penalty": None}
            ),
        }
    )
    best = {c.name: _best(c) for c in rubric.criteria}
    reached = [score_item(free, {**best, criterion.name: choice}).score for choice in firing]
    return any(score is not None and score > then.cap + _NEAR for score in reached)


def _best(criterion: Criterion) -> int:
    sign = 1.0 if criterion.weight >= 0 else -1.0
    return max(criterion.scored, key=lambda i: sign * (criterion.value_of(i) or 0.0))


def shadowed(rubric: Rubric) -> Iterator[Finding]:
    """Gates behind another one that fires at least as often and does at least as much."""
    fires = {
        at: _firing(rubric, gate, rubric.criterion(gate.when.criterion))
        for at, gate in enumerate(rubric.gates)
        if gate.when.criterion is not None
    }
    for at, mine in fires.items():
        for other, its in fires.items():
            gate, stricter = rubric.gates[at], rubric.gates[other]
            if at == other or gate.when.criterion != stricter.when.criterion or not mine <= its:
                continue
            equal = mine == its and _covers(gate.then, stricter.then)
            # Of two equal gates the later one is told.
            if not mine or not _covers(stricter.then, gate.then) or (equal and at < other):
                continue
            yield Finding(
                "shadowed-gate",
                ("gates", at),
                f"Never matters: “{stricter.name}” fires whenever it does, and does no less.",
                "Remove it, or make it the stricter of the two.",
                edit=Edit("remove", ("gates", at), "Remove the gate"),
                also=(("gates", other),),
            )
            break


def _covers(strict: Effect, mild: Effect) -> bool:
    """Whether ``strict`` leaves ``mild`` nothing to do."""
    caps = mild.cap is None or (strict.cap is not None and strict.cap <= mild.cap)
    flags = mild.flag is None or mild.flag == strict.flag
    factors = mild.multiply is None or mild.multiply == 1
    return caps and flags and factors and _VERDICTS[mild.verdict] <= _VERDICTS[strict.verdict]

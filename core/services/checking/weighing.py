"""Weights and what they leave without any: one that drowns the rest, none, no penalty."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.rubric import Rubric
from core.services.checking.finding import Finding

#: From this share of all weights on, the other criteria hardly show in the score.
DROWNING = 0.6
#: Below this share, and a tenth of an equal share, a criterion hardly shows itself.
DROWNED = 0.01
#: A checklist shorter than this is looked over at a glance.
CHECKLIST = 5


def drowning(rubric: Rubric) -> Iterator[Finding]:
    """One weight above the others' reach, or one that moves nothing."""
    total = sum(abs(c.weight) for c in rubric.criteria)
    if len(rubric.criteria) < 3 or not total:
        return
    for at, criterion in enumerate(rubric.criteria):
        share = abs(criterion.weight) / total
        if share >= DROWNING:
            yield Finding(
                "drowning-weight",
                ("criteria", at, "weight"),
                f"Carries {share:.0%} of all weight: the other {len(rubric.criteria) - 1} criteria "
                "together cannot outweigh it.",
                "If it must decide alone, make it a gate; else bring the weights closer together.",
            )
        elif 0 < share < DROWNED and share < 0.1 / len(rubric.criteria):
            yield Finding(
                "drowned-weight",
                ("criteria", at, "weight"),
                f"Carries {share:.1%} of all weight: no answer to it would show in the score.",
                "Raise the weight, or leave the criterion out and save its calls.",
            )


def no_effect(rubric: Rubric) -> Iterator[Finding]:
    """A criterion that is asked, and whose answer changes nothing."""
    named = {gate.when.criterion for gate in rubric.gates}
    tags = {gate.when.tag for gate in rubric.gates}
    for at, criterion in enumerate(rubric.criteria):
        if criterion.weight == 0 and criterion.name not in named and not tags & set(criterion.tags):
            yield Finding(
                "no-effect",
                ("criteria", at, "weight"),
                "Has the weight 0 and no gate asks about it: its answers change nothing.",
                "Give it a weight or a gate, if it is more than a note.",
            )


def no_penalty(rubric: Rubric) -> Iterator[Finding]:
    """A checklist that pays for what is there and never takes for what should not be."""
    listed = [c for c in rubric.criteria if c.scale == "binary" and c.weight > 0]
    whole = sum(c.weight for c in rubric.criteria if c.weight > 0)
    guarded = (
        any(c.weight < 0 for c in rubric.criteria)
        or rubric.gates
        or rubric.prechecks
        or rubric.scoring.length_penalty is not None
    )
    if len(listed) < CHECKLIST or guarded or sum(c.weight for c in listed) < whole / 2:
        return
    yield Finding(
        "no-penalty",
        (),
        f"All {len(listed)} yes/no criteria reward; nothing takes points away.",
        "Add the faults that matter (a false statement, an invented source) with a negative "
        "weight, or a gate.",
    )

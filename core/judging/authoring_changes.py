"""Proposed changes made to a rubric: texts are replaced one by one, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.domain.base import build
from core.domain.rubric import Criterion, Rubric
from core.judging.authoring_replies import ProposedChange

#: Parts that are mere wording: options, scale, values, weights and rules stay what they are.
WORDING = frozenset({"requirement", "option", "guidelines"})


def changed(rubric: Rubric, changes: Iterable[ProposedChange]) -> Rubric:
    """The rubric with these changes made; raises ``InputError`` where it is none any more."""
    data = rubric.model_dump(by_alias=True)
    place = {criterion.name: at for at, criterion in enumerate(rubric.criteria)}
    for change in changes:
        if change.part == "guidelines":
            data["guidelines"] = change.to
        else:
            _set(data["criteria"][place[change.criterion]], change)
    return build(Rubric, data, "rubric")


def _set(criterion: dict[str, Any], change: ProposedChange) -> None:
    if change.option is not None:
        what = "description" if change.part == "option" else "label"
        options = [dict(option) for option in criterion["options"]]
        options[change.option][what] = change.to
        criterion["options"] = options
    elif change.part == "weight":
        criterion["weight"] = float(change.to)
    else:
        criterion["requirement"] = change.to


def before(rubric: Rubric, change: ProposedChange) -> str:
    """The text that a change replaces."""
    if change.part == "guidelines":
        return rubric.guidelines
    criterion: Criterion = rubric.criterion(change.criterion)
    if change.option is not None:
        option = criterion.options[change.option]
        return option.description if change.part == "option" else option.label
    return f"{criterion.weight:g}" if change.part == "weight" else criterion.requirement

"""A rubric as JSON that autorubric reads: its keys, and nothing it would pass over unread."""

from __future__ import annotations

import json
from typing import Any

from core.domain.rubric import Criterion, Option, Rubric
from core.errors import Problem
from core.files.written import WrittenRubric, listed, lost_of_criteria, lost_of_rubric


def peer_json(rubric: Rubric) -> WrittenRubric:
    """The rubric in the peer's keys: guidelines and criteria, options with label, value and na.

    >>> text = peer_json(Rubric(criteria=[{"name": "a", "requirement": "b"}])).text
    >>> json.loads(text)
    {'criteria': [{'name': 'a', 'weight': 10.0, 'requirement': 'b'}]}
    """
    data: dict[str, Any] = {"guidelines": rubric.guidelines} if rubric.guidelines else {}
    data["criteria"] = [_criterion(criterion) for criterion in rubric.criteria]
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return WrittenRubric(text, tuple(_losses(rubric)))


def _criterion(criterion: Criterion) -> dict[str, Any]:
    data = {
        "name": criterion.name,
        "weight": criterion.weight,
        "requirement": requirement_in_full(criterion),
    }
    if criterion.scale == "binary":
        return data
    data |= {"scale_type": criterion.scale}
    if criterion.aggregation is not None:
        data["aggregation"] = criterion.aggregation
    return data | {"options": [_option(option) for option in criterion.options]}


def _option(option: Option) -> dict[str, Any]:
    # It demands a value of an abstention, too, and never counts it.
    return {"label": option.label, "value": option.value or 0.0, "na": option.na}


def requirement_in_full(criterion: Criterion) -> str:
    """The requirement, with the anchors below it: its options have no descriptions."""
    anchors = [f"{o.label}: {o.description}" for o in criterion.options if o.description]
    return "\n".join([criterion.requirement, *anchors])


def _losses(rubric: Rubric) -> list[Problem]:
    found = [Problem("The name is left out; the file is named after the rubric.", "", ("name",))]
    found += lost_of_rubric(rubric, ("guidelines",))
    found += lost_of_criteria(rubric.criteria, ("aggregation",))
    ruled = [c.name for c in rubric.criteria if c.scale == "binary" and c.aggregation]
    if ruled:
        words = "The rule by which votes are settled"
        found.append(Problem(f"{words} of {listed(ruled)} (yes or no) is left out."))
    anchored = [c.name for c in rubric.criteria if any(o.description for o in c.options)]
    if anchored:
        message = f"The descriptions of options of {listed(anchored)} have no place of their own."
        found.append(Problem(message, "They are written below the requirement."))
    away = [c.name for c in rubric.criteria if c.scale == "binary" and len(c.options) > 2]
    if away:
        message = f"The abstention of {listed(away)} is the peer's own there, CANNOT_ASSESS."
        found.append(Problem(message))
    return found

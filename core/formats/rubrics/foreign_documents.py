"""Documents of other tools that are a rubric: one list, each entry with its name and its reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from core.errors import Problem
from core.formats.rubrics import benchmarks, score_scales
from core.formats.rubrics.score_scales import Converted


class DocumentForm(NamedTuple):
    """What a document is called, how it is recognised, and how it becomes our keys."""

    name: str
    fits: Callable[[Any], bool]
    read: Callable[[Any], Converted]


def _holds_its_rubric(value: Any) -> bool:
    """Return whether this is a dataset with a rubric, such as autorubric's."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("items"), list)
        and bool(value.get("rubric"))
    )


def _of_dataset(value: Mapping[str, Any]) -> Converted:
    count = len(value["items"])
    message = f"Its {count:,} item{'s are' if count != 1 else ' is'} no part of a rubric."
    mend = "Name the file as the data, too, to grade them."
    named = {"name": value["name"]} if value.get("name") else {}
    return named | {"rubric": value["rubric"]}, [Problem(message, mend)]


FORMS = (
    DocumentForm("a dataset with its rubric", _holds_its_rubric, _of_dataset),
    DocumentForm("points by criterion (HealthBench)", benchmarks.is_points, benchmarks.points),
    DocumentForm("a tree of tasks (PaperBench)", benchmarks.is_tree, benchmarks.tree),
    DocumentForm(
        "described scores (Prometheus)", score_scales.is_score_rubric, score_scales.score_rubric
    ),
    DocumentForm(
        "scoring criteria (promptfoo)",
        score_scales.has_scoring_criteria,
        score_scales.scoring_criteria,
    ),
    DocumentForm(
        "a model-graded spec (OpenAI evals)",
        score_scales.is_model_graded,
        score_scales.model_graded,
    ),
)


def form_of(value: Any) -> DocumentForm | None:
    """Return the first form that a document has, or ``None``."""
    return next((form for form in FORMS if form.fits(value)), None)


def converted(value: Any) -> tuple[Any, list[Problem]]:
    """Return a document in our keys with notices, and anything else unchanged.

    >>> converted([{"criterion": "Says to rest.", "points": -2, "tags": []}])[0]
    {'criteria': [{'requirement': 'Says to rest.', 'weight': -2, 'tags': []}]}
    """
    form = form_of(value)
    if form is None:
        return value, []
    data, notices = form.read(value)
    return data, [Problem(f"Read as {form.name}."), *notices]

"""Convert Prometheus, HealthBench, ResearchRubrics, PaperBench and OpenAI evals to our keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.errors import InputError, Problem
from core.formats.rubrics.foreign import Level, scored_options
from core.formats.rubrics.score_scales import Converted
from core.formats.source.parsed import MAX_DEPTH, finite

#: The total weight of all leaves of a tree.
WHOLE = 100.0


#: The keys of a criterion with points, as HealthBench and ResearchRubrics write them.
_TEXT, _POINTS, _GROUP = ("criterion", "title"), ("points", "weight"), ("axis", "category")
_KNOWN = {*_TEXT, *_POINTS, *_GROUP, "tags", "row_index"}


def is_points_list(value: Any) -> bool:
    """Return whether this is a list of criteria with points: HealthBench, ResearchRubrics.

    >>> is_points_list([{"criterion": "Says to rest.", "points": 2}])
    True
    """
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(entry, Mapping)
            and entry.keys() <= _KNOWN
            and sum(key in entry for key in _TEXT) == sum(key in entry for key in _POINTS) == 1
            for entry in value
        )
    )


def points_rubric(value: Sequence[Mapping[str, Any]]) -> Converted:
    """Return a rubric of yes-or-no criteria; points below 0 are penalties."""
    return {"criteria": [_criterion_data(entry) for entry in value]}, []


def _criterion_data(entry: Mapping[str, Any]) -> dict[str, Any]:
    text = next(entry[key] for key in _TEXT if key in entry)
    weight = next(entry[key] for key in _POINTS if key in entry)
    group = next((str(entry[key]) for key in _GROUP if entry.get(key)), None)
    data = {"requirement": text, "weight": weight, "tags": entry.get("tags") or []}
    return data | ({"section": group} if group else {})


def is_tree(value: Any) -> bool:
    """Return whether this is a tree of tasks, such as PaperBench's."""
    return isinstance(value, Mapping) and {"requirements", "weight", "sub_tasks"} <= value.keys()


class _Leaf(NamedTuple):
    node: Mapping[str, Any]
    share: float
    above: tuple[str, ...]


def tree_rubric(root: Mapping[str, Any]) -> Converted:
    """Return the leaves as criteria in sections, weighted by their path.

    A node's score is the weighted mean of its parts. So the shares of all leaves add up to one,
    here to 100 points.
    """
    return {
        "name": _short_name(root["requirements"]),
        "description": str(root["requirements"]),
        "criteria": [_criterion_of_leaf(leaf) for leaf in _leaves(root, 1.0, (), 0)],
    }, []


def parts_within_limit(root: Any, most: int) -> list[Any]:
    """Return a tree's parts with at most ``most`` leaves each; any other value unchanged.

    A part keeps the tasks above its branches, so that its leaves keep their sections.
    """
    if not is_tree(root) or len(leaves_of(root)) <= most:
        return [root]
    groups, sizes = list[list[Any]](), list[int]()
    for part in (piece for task in root["sub_tasks"] for piece in parts_within_limit(task, most)):
        size = len(leaves_of(part))
        if groups and sizes[-1] + size <= most:
            groups[-1].append(part)
            sizes[-1] += size
        else:
            groups.append([part])
            sizes.append(size)
    whole = str(root["requirements"])
    of = len(groups)
    return [
        {**root, "requirements": f"Part {n} of {of}: {whole}", "sub_tasks": group}
        for n, group in enumerate(groups, start=1)
    ]


def leaves_of(root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tasks without parts, in the order of the rubric's criteria."""
    return [leaf.node for leaf in _leaves(root, 1.0, (), 0)]


def _leaves(
    node: Mapping[str, Any], share: float, above: tuple[str, ...], depth: int
) -> Iterator[_Leaf]:
    parts = node["sub_tasks"]
    if not isinstance(parts, Sequence) or isinstance(parts, str) or depth > MAX_DEPTH:
        raise _node_error(node, "has sub_tasks that are not a list.", "Write [] at a leaf.")
    if not parts:
        yield _Leaf(node, share, above)
        return
    for part in parts:
        if not is_tree(part):
            raise _node_error(
                node, "has a part that is not a task.", "Give requirements, weight, sub_tasks."
            )
    weights = [_node_weight(part) for part in parts]
    total = sum(weights)
    section = (*above, str(node["requirements"])) if depth else ()
    for part, weight in zip(parts, weights, strict=True):
        yield from _leaves(part, share * weight / total if total else 0.0, section, depth + 1)


def _node_weight(node: Mapping[str, Any]) -> float:
    weight = node["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < 1e12:
        raise _node_error(node, f"has the weight {weight!r}.", "Use a number from 0 on.")
    return float(weight)


def _criterion_of_leaf(leaf: _Leaf) -> dict[str, Any]:
    node, category = leaf.node, leaf.node.get("task_category")
    criterion: dict[str, Any] = {
        "requirement": node["requirements"],
        "weight": round(leaf.share * WHOLE, 9),
        "tags": [str(category)] if category else [],
        "meta": {"above": list(leaf.above[1:])} if leaf.above[1:] else {},
    }
    if leaf.above:
        criterion["section"] = _short_name(leaf.above[0])
    return criterion


def _short_name(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 200 else line[:199].rsplit(" ", 1)[0] + "…"


def _node_error(node: Mapping[str, Any], message: str, mend: str) -> InputError:
    about = f"The task {_short_name(node['requirements'])[:80]!r} {message}"
    return InputError("This tree of tasks is not valid.", (Problem(about, mend),))


# OpenAI evals: a model-graded spec, a prompt with choices and their scores.

_PAIRWISE = re.compile(r"\{completion2\}")
#: Lines that only frame the data, which our prompts show separately.
_FRAME = re.compile(r"\s*(?:\*{3,}|-{3,}|\[(?:BEGIN|END) DATA\]|(?:\[[^\]]+\]:?\s*)?\{\w+\})\s*\Z")
_CHOICE = re.compile(r'\s*\(?"?([A-Za-z0-9]{1,12})"?[):.]\s+(.+)\Z')


def is_model_graded(value: Any) -> bool:
    """Return whether this is a model-graded spec of OpenAI evals, or a mapping of names to them."""
    return bool(_specs_by_name(value))


def _specs_by_name(value: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        return {}
    if _is_spec(value):
        return {"": value}
    are_specs = value and all(_is_spec(part) for part in value.values())
    return {str(name): part for name, part in value.items()} if are_specs else {}


def _is_spec(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("prompt"), str):
        return False
    choices = value.get("choice_strings")
    return isinstance(choices, str | list) and bool(choices)


def model_graded(value: Any) -> Converted:
    """Return the rubric of a model-graded spec: a criterion for each spec or each of its ``args``.

    Raises:
        InputError: it compares several answers.
    """
    criteria, notices = list[dict[str, Any]](), list[Problem]()
    for name, spec in _specs_by_name(value).items():
        criteria += _spec_criteria(name, spec, notices)
    return {"criteria": criteria}, notices


def _spec_criteria(
    name: str, spec: Mapping[str, Any], notices: list[Problem]
) -> Iterator[dict[str, Any]]:
    prompt, choices = str(spec["prompt"]), spec["choice_strings"]
    if _PAIRWISE.search(prompt) or str(choices).startswith("from_n"):
        mend = "Use Compare systems instead; it asks which of two answers is better."
        problem = Problem(
            "compares several answers with each other.", mend, (name,) if name else ()
        )
        raise InputError("This model-graded spec is not a rubric.", (problem,))
    text = [line for line in prompt.splitlines() if not _FRAME.match(line)]
    labels = [str(choice) for choice in choices]
    described = {m[1]: m[2] for line in text if (m := _CHOICE.match(line)) and m[1] in labels}
    text = [line for line in text if not ((m := _CHOICE.match(line)) and m[1] in described)]
    answers = _scale_and_options(spec.get("choice_scores"), labels, described)
    if not answers:
        message = f"{name or 'The spec'} gives its choices no scores; each is worth 0."
        notices.append(Problem(message, "Give the options values."))
        levels = [Level(label, described.get(label, ""), 0.0) for label in labels]
        answers = {"scale": "nominal", "options": scored_options(levels)}
    args = spec.get("args")
    asked = args.get("criteria") if isinstance(args, Mapping) else None
    if isinstance(asked, Mapping) and "{criteria}" in prompt:
        for key, question in asked.items():
            yield {"name": str(key), "requirement": str(question)} | answers
        return
    requirement = re.sub(r"\n{3,}", "\n\n", "\n".join(text)).strip()
    yield ({"name": name} if name else {}) | {"requirement": requirement or prompt} | answers


def _scale_and_options(
    scores: Any, labels: Sequence[str], described: Mapping[str, str]
) -> dict[str, Any] | None:
    """Return scale and options; a plain yes or no has no options. ``None`` without scores."""
    if scores == "from_strings":
        scores = {label: float(label) for label in labels if label.isdecimal()}
    if not isinstance(scores, Mapping) or any(label not in scores for label in labels):
        return None
    numbers = {label: n for label in labels if (n := finite(scores[label])) is not None}
    if len(numbers) < len(set(labels)):
        return None
    if {label.casefold()[:1]: n for label, n in numbers.items()} == {"y": 1.0, "n": 0.0}:
        return {"scale": "binary"}
    levels = [Level(label, described.get(label, ""), numbers[label]) for label in labels]
    distinct = len(set(numbers.values())) == len(numbers)
    return {"scale": "ordinal" if distinct else "nominal", "options": scored_options(levels)}


# Prometheus, BiGGen Bench, the Feedback Collection and Ragas: `criteria`, `score1_description`.

_SCORE = re.compile(r"(?:orig_)?score(\d{1,3})_description\Z")


def is_score_rubric(value: Any) -> bool:
    """Return whether a mapping describes each score, as Prometheus's rubrics do."""
    return isinstance(value, Mapping) and sum(bool(_SCORE.match(str(key))) for key in value) > 1


def score_rubric(value: Mapping[str, Any]) -> Converted:
    """Return the rubric of one criterion; without ``criteria`` the descriptions are the question.

    >>> rubric, _ = score_rubric({"criteria": "Is it kind?", "score1_description": "No.",
    ...                           "score2_description": "Yes."})
    >>> rubric["criteria"][0]["options"][1]
    {'label': '2', 'description': 'Yes.', 'value': 1.0}
    """
    scores = {int(m[1]): value[key] for key in value if (m := _SCORE.match(str(key)))}
    levels = [Level(str(n), str(text or ""), n) for n, text in sorted(scores.items()) if text]
    question = value.get("criteria", value.get("orig_criteria"))
    requirement = str(question or "Which description fits the answer best?")
    criterion = {
        "requirement": requirement,
        "scale": "ordinal",
        "options": scored_options(levels) if levels else [],
    }
    return {"criteria": [criterion]}, []


def feedback_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a row of the Feedback Collection as an item's fields, ``None`` for other rows.

    The row's ``instruction`` and ``output`` repeat these fields for training.
    """
    fields = {
        key.removeprefix("orig_"): part for key, part in row.items() if key.startswith("orig_")
    }
    if "response" not in fields or not is_score_rubric(fields):
        return None
    (rubric, _), score = score_rubric(fields), fields.get("score")
    fields = {key: part for key, part in fields.items() if not _SCORE.match(key)}
    for key in ("criteria", "score", "feedback"):
        fields.pop(key, None)
    if score is not None:
        label = {"label": str(score), "reason": str(row.get("orig_feedback") or "")}
        rubric["criteria"][0]["name"] = "score"
        fields["labels"] = {"score": label}
    return fields | {"rubric": rubric}

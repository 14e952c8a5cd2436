"""Rubrics of other tools whose levels are scores: Prometheus, OpenAI evals, scoring criteria."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.errors import InputError, Problem
from core.formats.rubrics.foreign import Level
from core.formats.source.parsed import finite
from core.text.names import fold

Converted = tuple[dict[str, Any], list[Problem]]


def scored_options(levels: Sequence[Level], *, turned: bool = False) -> list[dict[str, Any]]:
    """Return options from worst to best, with scores as values from 0 to 1.

    ``turned``: the lowest score is the best.

    >>> [o["value"] for o in scored_options([Level("5", "", 5), Level("1", "", 1)])]
    [0.0, 1.0]
    """
    scores = [level.points for level in levels]
    low, high = min(scores), max(scores)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    ends = (high, low) if turned else (low, high)
    return [
        {
            "label": level.label,
            "description": level.description,
            "value": round((level.points - ends[0]) / (ends[1] - ends[0]), 9)
            if high > low
            else 0.0,
        }
        for level in sorted(levels, key=lambda level: level.points, reverse=turned)
    ]


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


# OpenAI evals: a model-graded spec, a prompt with choices and their scores.

_PAIRWISE = re.compile(r"\{completion2\}")
#: Lines that only frame the data, which our prompts show separately.
_FRAME = re.compile(r"\s*(?:\*{3,}|-{3,}|\[(?:BEGIN|END) DATA\]|(?:\[[^\]]+\]:?\s*)?\{\w+\})\s*\Z")
_CHOICE = re.compile(r'\s*\(?"?([A-Za-z0-9]{1,12})"?[):.]\s+(.+)\Z')


def is_model_graded(value: Any) -> bool:
    """Return whether this is a spec of OpenAI evals, or several by name."""
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


# promptfoo: `scoring_criteria`, each with a weight and described scores; others: `criteria`.

_LEVELS = (
    *("scores", "levels", "ratings", "performance_levels", "anchors", "descriptors", "scale"),
    "score_descriptions",
    "options",
)
_SCORES = ("score", "points", "value", "level", "label")
_LABELS = ("label", "name", "title", "level")
_DESCRIPTIONS = ("description", "descriptor", "criteria", "text")
_TEXT = ("description", "requirement", "criteria", "criterion", "question")
_WEIGHT = ("weight", "points", "max_score", "max_points")


def has_scoring_criteria(value: Any) -> bool:
    """Return whether a mapping lists its criteria as ``scoring_criteria``."""
    return isinstance(value, Mapping) and isinstance(value.get("scoring_criteria"), Mapping | list)


def has_levels(value: Any) -> bool:
    """Return whether these are criteria, each with a name and described levels.

    >>> has_levels({"criteria": [{"name": "Voice", "levels": [{"points": 1, "label": "Low"}]}]})
    True
    """
    value = _rubric_inside(value)
    criteria = value.get("criteria") if isinstance(value, Mapping) else value
    return (
        isinstance(criteria, list)
        and bool(criteria)
        and all(
            isinstance(entry, Mapping)
            and ("options" not in entry or _have_points(entry["options"]))
            and bool(entry.get("name") or entry.get("title"))
            and any(entry.get(key) and isinstance(entry[key], Mapping | list) for key in _LEVELS)
            for entry in criteria
        )
    )


def _have_points(options: Any) -> bool:
    """Return whether options have points, unlike ours, which have values."""
    listed = options if isinstance(options, list) else []
    parts = [part for part in listed if isinstance(part, Mapping) and "value" not in part]
    return len(parts) == len(listed) > 1 and all({"points", "score"} & {*part} for part in parts)


def _rubric_inside(value: Any) -> Any:
    """Return the rubric inside a document about it, such as an event's; others unchanged."""
    within = value.get("rubric") if isinstance(value, Mapping) else None
    own = isinstance(value, Mapping) and {"criteria", "scoring_criteria"} & value.keys()
    return within if isinstance(within, Mapping) and not own else value


def scoring_criteria(value: Any) -> Converted:
    """Return the rubric; a criterion without described scores is a yes-or-no question.

    Raises:
        InputError: a level without a number.
    """
    document = value if isinstance(value, Mapping) else {"criteria": value}
    value = _rubric_inside(document)
    kind = "scoring_criteria" if "scoring_criteria" in value else "criteria"
    criteria = value[kind]
    entries = (
        criteria.items() if isinstance(criteria, Mapping) else ((None, entry) for entry in criteria)
    )
    named = {"name": value["title"], **value} if value.get("title") else value
    rubric = {key: named[key] for key in ("name", "description", "guidelines") if named.get(key)}
    known = {kind, "title", "name", "description", "guidelines"}
    around = [] if value is document else [key for key in document if key != "rubric"]
    unused = [*around, *(key for key in value if key not in known)]
    notices = (
        [Problem(f"Left out, as they are outside the criteria: {', '.join(unused)}.")]
        if unused
        else []
    )
    criteria = [_criterion_of(name, entry, notices) for name, entry in entries]
    return rubric | {"criteria": criteria}, notices


def _criterion_of(name: Any, entry: Any, notices: list[Problem]) -> dict[str, Any]:
    entry = entry if isinstance(entry, Mapping) else {"description": entry}
    name = entry.get("name") or entry.get("title") or entry.get("id") or name
    texts = [str(entry[key]) for key in _TEXT if entry.get(key)]
    levels = next((entry[key] for key in _LEVELS if entry.get(key)), None)
    # Without a question, judges are asked the name; for levels, the reader adds a notice.
    asked = texts[:1] or ([] if levels else [str(name or "")])
    criterion: dict[str, Any] = {"requirement": asked[0]} if asked else {}
    if name:
        criterion["name"] = str(name)
    weights = [entry[key] for key in _WEIGHT if entry.get(key) is not None]
    if weights:
        criterion["weight"] = weights[0]
    turned, remark = _direction(entry, str(name), has_levels=bool(levels))
    notices += [remark] if remark else []
    if levels:
        options = scored_options(
            _levels_with_scores(levels, str(name), entry.get("scale")), turned=turned
        )
        criterion |= {"scale": "ordinal", "options": options}
    return criterion


#: Keys that say which end of a scale is the better one, with words, or with yes and no.
_DIRECTIONS = ("direction", "polarity", "better")
_TURNS = {"lower_is_better": True, "higher_is_better": False} | dict.fromkeys(
    ("reverse", "reversed", "reverse_scored", "inverted"), True
)
_LOW, _HIGH = ("low", "less", "few", "min", "neg", "rev", "inv"), ("high", "more", "max", "pos")


def _direction(
    entry: Mapping[str, Any], name: str, *, has_levels: bool
) -> tuple[bool, Problem | None]:
    """Return whether a criterion's lowest level is the best, and what must be said of it."""
    words = {key: str(entry[key]) for key in _DIRECTIONS if entry.get(key) is not None}
    turned = any(entry.get(key) is turns for key, turns in _TURNS.items())
    for key, word in words.items():
        if word.lower().startswith(_LOW):
            turned = True
        elif not word.lower().startswith(_HIGH):
            mend = "The highest level is taken for the best; else write lower_is_better."
            return turned, Problem(f"{name!r}: {key} is {word!r}.", mend)
    if not turned:
        return False, None
    if not has_levels:
        mend = "Give it a negative weight if a yes is bad."
        return False, Problem(f"{name!r} has a direction, but no levels.", mend)
    return True, Problem(f"{name!r}: the lowest level is the best, as the file says.")


def _levels_with_scores(given: Any, name: str, scale: Any) -> list[Level]:
    """Return levels with their scores, or their places in a ``scale`` of words."""
    parts = given if isinstance(given, list) else []
    if isinstance(given, Mapping):
        parts = [{"label": label, "description": text} for label, text in given.items()]
    places = _places_of_words(scale)
    levels = [level for part in parts if (level := _level_with_score(part, places)) is not None]
    if len(levels) < max(2, len(parts)):
        mend = "Give every level its score, such as 1: Wrong facts, or list them, lowest first."
        problem = Problem("has levels without scores.", mend, ("criteria", name))
        raise InputError("These scoring criteria are not a rubric.", (problem,))
    return levels + _levels_between(levels, scale)


def _places_of_words(scale: Any) -> dict[str, float]:
    """Return the place of each word of a scale, lowest first; none of a scale with numbers."""
    words = [fold(str(word)) for word in scale] if isinstance(scale, list) else []
    if any(finite(word) is not None for word in words):
        return {}
    return {word: float(place) for place, word in enumerate(words)}


#: The most levels of a scale that names only its ends.
_MOST_BETWEEN = 20


def _levels_between(levels: Sequence[Level], scale: Any) -> list[Level]:
    """Return the whole numbers of a scale, given by its ends, that have no level among others."""
    ends = [finite(end) for end in scale] if isinstance(scale, list) and len(scale) == 2 else []
    if None in ends or len(levels) < 3 or any(lv.label != f"{lv.points:g}" for lv in levels):
        return []
    points = {level.points for level in levels}
    low, high = min(points), max(points)
    if ends != [low, high] or high - low > _MOST_BETWEEN or any(n % 1 for n in points):
        return []
    return [Level(str(n), "", n) for n in range(int(low), int(high)) if n not in points]


def _level_with_score(part: Any, places: Mapping[str, float]) -> Level | None:
    """Return a level with its score, or its place, or ``None`` without either."""
    given = part if isinstance(part, Mapping) else {"label": part}
    score = next((n for key in _SCORES if (n := finite(given.get(key))) is not None), None)
    label = next((str(given[key]) for key in _LABELS if given.get(key)), "")
    text = next((str(given[key]) for key in _DESCRIPTIONS if given.get(key)), "")
    score = places.get(fold(label)) if score is None else score
    return None if score is None else Level(label or f"{score:g}", text, score)

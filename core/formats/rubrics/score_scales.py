"""Criteria whose levels are scores, in JSON and YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.domain.base import Path
from core.errors import InputError, Problem
from core.formats.rubrics.foreign import Level, scored_options, weigh_by_names
from core.formats.rubrics.grid_headings import points_in, rank_of
from core.formats.rubrics.keys import ASKING
from core.formats.source.parsed import finite
from core.text.names import fold

Converted = tuple[dict[str, Any], list[Problem]]


# Criteria with scores: promptfoo's `scoring_criteria`, and `criteria` as people write them.

_LEVELS = (
    *("scores", "levels", "ratings", "performance_levels", "anchors", "descriptors", "scale"),
    *("score_descriptions", "scoring", "rating_scale", "labels", "options"),
)
_SCORES = ("score", "points", "value", "level", "label")
_LABELS = ("label", "name", "title", "level")
_DESCRIPTIONS = ("description", "descriptor", "criteria", "definition", "text", "anchor")
_NAMES = ("name", "title", "id", "key", "criterion")
_WEIGHT = ("weight", "points", "max_score", "max_points")
#: Our keys that other people's criteria may have, too.
_KEPT = ("section", "tags", "aggregation", "forced_choice")
#: Kinds of scales: yes or no; numbers of which the file must give the ends; five steps.
_YES_OR_NO = frozenset(("boolean", "bool", "binary", "yes_no", "yesno", "yes/no", "pass_fail"))
_NUMERIC = frozenset(
    ("likert", "ordinal", "numeric", "number", "integer", "int", "float", "rating", "score")
)
#: Kinds of questions whose options have no order, and words for an option that gives no points.
_CHOICE = frozenset(("choice", "single_choice", "categorical", "category", "nominal", "enum"))
_NA = frozenset({"na", "n/a", "not applicable", "does not apply"})
_ENDS = (("min", "max"), ("minimum", "maximum"), ("min_score", "max_score"))
_RANGES = ("range", "scale")
_RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|\u2013|to|\.\.|/)\s*(-?\d+)\s*\Z")
#: Keys beside the criteria that say how their scores become one.
_AGGREGATES = frozenset({"weights", "aggregate", "aggregation", "scoring", "score"})
#: The most steps of a scale that names only its ends.
_MOST_BETWEEN = 20


def has_scoring_criteria(value: Any) -> bool:
    """Return whether a mapping lists its criteria as ``scoring_criteria``."""
    return isinstance(value, Mapping) and isinstance(value.get("scoring_criteria"), Mapping | list)


def has_levels(value: Any) -> bool:
    """Return whether these are criteria, each with a name and some with described levels.

    >>> has_levels({"criteria": [{"name": "Voice", "levels": [{"points": 1, "label": "Low"}]}]})
    True
    """
    value = _rubric_inside(value)
    shared = _shared_scale(value)
    criteria = value.get("criteria") if isinstance(value, Mapping) else value
    if isinstance(criteria, Mapping):
        criteria = [isinstance(p, Mapping) and {"name": key, **p} for key, p in criteria.items()]
    if not isinstance(criteria, list) or not all(isinstance(e, Mapping) for e in criteria):
        return False
    if any("options" in e and not (_have_points(e["options"]) or _is_choice(e)) for e in criteria):
        return False
    return any(_has_scale({**shared, **e}) for e in criteria) and all(
        any(e.get(key) for key in _NAMES) for e in criteria
    )


#: Keys of a scale that all criteria share.
_SHARED = ("scale", "levels", "rating_scale", "labels", "anchors", "type", "min", "max", "range")


def _shared_scale(value: Any) -> dict[str, Any]:
    """Return the scale beside the criteria, for those without their own; {} without one."""
    keys = _SHARED if isinstance(value, Mapping) and "criteria" in value else ()
    shared = {key: value[key] for key in keys if value.get(key) is not None}
    return shared if _has_scale(shared) else {}


def _has_scale(entry: Mapping[str, Any]) -> bool:
    """Return whether a criterion has levels, or a scale by its kind or its ends."""
    return bool(_levels_in(entry)) or bool(_kind_of(entry)) or _ends_of(entry) is not None


def _levels_in(entry: Mapping[str, Any]) -> Any:
    """Return the levels of a criterion, which may be inside of its ``scale``."""
    scale, ends = entry.get("scale"), _ends_of(entry)
    for part in (scale if isinstance(scale, Mapping) else {}, entry):
        for key in _LEVELS:
            levels = part.get(key)
            is_scale = levels is scale and ends is not None
            if levels and isinstance(levels, Mapping | list) and not is_scale:
                return levels
    return None


def _kind_of(entry: Mapping[str, Any]) -> str:
    """Return the kind of a criterion's scale, or ""."""
    scale = entry.get("scale")
    kinds = (entry.get("type"), scale.get("type") if isinstance(scale, Mapping) else None)
    words = [re.sub(r"[\s-]+", "_", str(kind).strip().lower()) for kind in kinds if kind]
    return next((word for word in words if word in _YES_OR_NO | _NUMERIC | _CHOICE), "")


def _is_choice(entry: Mapping[str, Any]) -> bool:
    """Return whether a criterion asks for one of several words without an order."""
    words = entry.get("options")
    listed = isinstance(words, list) and len(words) > 1 and all(isinstance(w, str) for w in words)
    return listed and _kind_of(entry) in _CHOICE


def _ends_of(entry: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the lowest and highest score of a criterion, if it names both."""
    scale = entry.get("scale")
    named = scale if isinstance(scale, Mapping) else {}
    pairs: list[Any] = [
        [part.get(end) for end in ends] for part in (entry, named) for ends in _ENDS
    ]
    for given in (entry.get(key) for key in _RANGES):
        match = _RANGE.match(given) if isinstance(given, str) else None
        pairs.append([*match.groups()] if match else given)
    for pair in pairs:
        ends = [finite(end) for end in pair] if isinstance(pair, list) and len(pair) == 2 else []
        known = [end for end in ends if end is not None]
        if len(known) == 2 and known[0] < known[1]:
            return known[0], known[1]
    return None


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


def _weights_beside(value: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the key beside the criteria that holds their weights by name, and the weights."""
    for key in (key for key in value if key in _AGGREGATES and isinstance(value[key], Mapping)):
        weights = value[key] if key == "weights" else value[key].get("weights")
        if isinstance(weights, Mapping) and all(finite(n) is not None for n in weights.values()):
            return key, weights
    return "", {}


def scoring_criteria(value: Any) -> Converted:
    """Return the rubric; a criterion without described scores is a yes-or-no question.

    Raises:
        InputError: a level without a number, or a scale without its ends.
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
    shared = _shared_scale(value)
    key, weights = _weights_beside(value)
    known = {kind, "title", "name", "description", "guidelines", key, *shared}
    around = [] if value is document else [key for key in document if key != "rubric"]
    given = [(name, entry, _with_scale(entry, shared)) for name, entry in entries]
    if all(whole == entry for _, entry, whole in given):
        known -= {*shared}  # No criterion takes the shared scale.
    unused = [*around, *(key for key in value if key not in known)]
    left = Problem(f"Left out, as they are outside the criteria: {', '.join(unused)}.")
    notices = [left] if unused else []
    read = [
        _criterion_of(name, entry, notices, ("criteria", at))
        for at, (name, _, entry) in enumerate(given)
    ]
    for criterion in read:
        if criterion.get("name") in weights:
            criterion.setdefault("weight", weights[criterion["name"]])
    weighed = ["weight" in criterion for criterion in read]
    notices += weigh_by_names(read, weighed)
    unweighted = [criterion for criterion in read if "weight" not in criterion]
    if any(weighed):
        for criterion in unweighted:
            criterion["weight"] = 0
            message = (
                f"{criterion.get('name')!r} has no weight beside others that have: it counts 0."
            )
            notices.append(Problem(message, "Give it a weight, or a gate."))
    return rubric | {"criteria": read}, notices


def _with_scale(entry: Any, shared: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a criterion with the shared scale, or with its ends beside levels of its own."""
    entry = entry if isinstance(entry, Mapping) else {"description": entry}
    if not _has_scale(entry):
        return {**shared, **entry}
    ends = _ends_of(shared) if _kind_of(entry) not in _YES_OR_NO else None
    return entry if ends is None or _ends_of(entry) else {**entry, "min": ends[0], "max": ends[1]}


def _criterion_of(
    name: Any, entry: Mapping[str, Any], notices: list[Problem], path: Path
) -> dict[str, Any]:
    named = next((key for key in _NAMES if entry.get(key) and (key != "criterion" or not name)), "")
    name = str(entry[named] if named else name or "")
    asked = [key for key in ASKING if entry.get(key) and key != named]
    levels, kind = _levels_in(entry), _kind_of(entry)
    criterion: dict[str, Any] = {key: entry[key] for key in _KEPT if entry.get(key) is not None}
    if asked or not levels:
        # Without a question, judges are asked the name; for levels, the reader adds a notice.
        criterion["requirement"] = "\n".join(str(entry[key]) for key in asked) or name
    if name:
        criterion["name"] = name
    weights = [key for key in _WEIGHT if entry.get(key) is not None]
    if weights:
        weight = entry[weights[0]]
        share = finite(weight.strip().removesuffix("%")) if isinstance(weight, str) else None
        criterion["weight"] = weight if share is None else share
    turned = _is_turned(entry, name, notices)
    criterion |= _answers_of(entry, name, kind, turned=turned, notices=notices)
    used = {named, *asked, *weights[:1], *_KEPT, *_LEVELS, *_RANGES, *_DIRECTIONS, *_TURNS}
    used |= {end for pair in _ENDS for end in pair} | ({"type", "scale_type"} if kind else set())
    foreign = {key: part for key, part in entry.items() if key not in used and part is not None}
    if foreign:
        criterion["meta"] = foreign
        message = "is not a known key; kept under meta, not used."
        notices += [Problem(message, "", (*path, key)) for key in foreign if key != "id"]
    return criterion


def _answers_of(
    entry: Mapping[str, Any], name: str, kind: str, *, turned: bool, notices: list[Problem]
) -> dict[str, Any]:
    """Return the scale and options of a criterion; nothing for a plain yes or no."""
    given = _levels_in(entry)
    if _is_choice(entry):
        return {"scale": "nominal", "options": _choices(entry["options"], name, notices)}
    if given:
        levels = _levels_with_scores(given, name, entry, notices)
    elif kind in _YES_OR_NO or not (kind or _ends_of(entry)):
        if not turned:
            return {}
        levels = [Level("No", "", 0.0), Level("Yes", "", 1.0)]
    else:
        levels = _numbered_levels(entry, name, kind, notices)
    return {"scale": "ordinal", "options": scored_options(levels, turned=turned)}


def _choices(words: Sequence[str], name: str, notices: list[Problem]) -> list[dict[str, Any]]:
    """Return options for words without an order; only *yes* has a value."""
    if "yes" not in map(fold, words):
        mend = "Its options have the value 0, so it scores nothing until they get values."
        notices.append(Problem(f"{name!r} has words without points.", mend))
    return [
        {"label": word, "na": True} if fold(word) in _NA
        else {"label": word, "value": float(fold(word) == "yes")} for word in words
    ]  # fmt: skip


def _numbered_levels(
    entry: Mapping[str, Any], name: str, kind: str, notices: list[Problem]
) -> list[Level]:
    """Return the whole numbers from the lowest score to the highest."""
    ends = _ends_of(entry)
    if ends is None and kind == "likert":
        ends = (1.0, 5.0)
        mend = "If it has others, give its min and max."
        notices.append(Problem(f"{name!r} is taken as 1 to 5, as Likert scales usually are.", mend))
    if ends is None or ends[0] % 1 or ends[1] % 1 or ends[1] - ends[0] > _MOST_BETWEEN:
        said = f"from {ends[0]:g} to {ends[1]:g}" if ends else f"{kind} without min and max"
        mend = f"List its levels; at most {_MOST_BETWEEN} whole steps are made from its ends."
        problem = Problem(f"has a scale {said}.", mend, ("criteria", name))
        raise InputError("These scoring criteria are not a rubric.", (problem,))
    return [Level(str(n), "", n) for n in range(int(ends[0]), int(ends[1]) + 1)]


#: Keys that say which end of a scale is the better one, with words, or with yes and no.
_DIRECTIONS = ("direction", "polarity", "better")
_TURNS = {"lower_is_better": True, "higher_is_better": False} | dict.fromkeys(
    ("reverse", "reversed", "reverse_scored", "reverse_coded", "inverted", "inverse"), True
)
_LOW, _HIGH = ("low", "less", "few", "min", "neg", "rev", "inv"), ("high", "more", "max", "pos")


def _is_turned(entry: Mapping[str, Any], name: str, notices: list[Problem]) -> bool:
    """Return whether a criterion's lowest level is the best. Raises ``InputError``: not clear."""
    words = {key: str(entry[key]) for key in _DIRECTIONS if entry.get(key) is not None}
    turns = {key: entry[key] for key in _TURNS if entry.get(key) is not None}
    sides = {word.lower().startswith(_LOW) for word in words.values()}
    sides |= {part is _TURNS[key] for key, part in turns.items()}
    odd = [word for word in words.values() if not word.lower().startswith((*_LOW, *_HIGH))]
    odd += [str(part) for part in turns.values() if not isinstance(part, bool)]
    if odd or len(sides) > 1:
        listed = ", ".join(f"{key}: {part}" for key, part in (words | turns).items())
        mend = "Write lower_is_better or higher_is_better, with true."
        problem = Problem(
            f"has a direction that is not clear ({listed}).", mend, ("criteria", name)
        )
        raise InputError("These scoring criteria are not a rubric.", (problem,))
    if True in sides:
        notices.append(Problem(f"{name!r}: the lowest level is the best, as the file says."))
    return True in sides


def _levels_with_scores(
    given: Any, name: str, entry: Mapping[str, Any], notices: list[Problem]
) -> list[Level]:
    """Return levels with their scores, or their places in a ``scale`` of words."""
    parts = [*_level_parts(given)]
    scale = entry.get("scale")
    places = _places_of_words(scale) or _places_of_ranks(parts)
    levels = [level for part in parts if (level := _level_with_score(part, places)) is not None]
    if len(levels) < max(2, len(parts)):
        mend = "Give every level its score, such as 1: Wrong facts, or list them, lowest first."
        problem = Problem("has levels without scores.", mend, ("criteria", name))
        raise InputError("These scoring criteria are not a rubric.", (problem,))
    ends = _ends_of(entry)
    return levels + (_levels_between(levels, ends, name, notices) if ends else [])


def _level_parts(given: Any) -> Iterator[Mapping[str, Any]]:
    """Yield levels as mappings: of `3: text`, `Good: 3`, `3: {label, text}`, or a list of these."""
    if isinstance(given, list):
        for part in given:
            if not isinstance(part, Mapping):
                yield {"label": part}
            elif len(part) == 1 and not {*part} & {*_SCORES, *_LABELS}:
                yield from _level_parts(part)
            else:
                yield part
        return
    for label, text in given.items():
        if isinstance(text, Mapping):
            key = "label" if finite(label) is None else "score"
            yield {key: label, **text}
        elif finite(text) is not None and finite(label) is None:
            yield {"label": label, "score": text}
        else:
            yield {"label": label, "description": text}


def _places_of_words(scale: Any) -> dict[str, float]:
    """Return the place of each word of a scale, lowest first; none of a scale with numbers."""
    words = [fold(str(word)) for word in scale] if isinstance(scale, list) else []
    if any(points_in(word, heading=True).points is not None for word in words):
        return {}
    return {word: float(place) for place, word in enumerate(words)}


def _places_of_ranks(parts: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the places of usual names of levels, each of another rank; else none."""
    labels = [str(part.get("label", "")) for part in parts]
    ranks = {fold(label): rank for label in labels if (rank := rank_of(label)) is not None}
    falling = sorted({*ranks.values()}, reverse=True)
    if not len(falling) == len(ranks) == len(labels):
        return {}
    return {label: float(falling.index(rank)) for label, rank in ranks.items()}


def _levels_between(
    levels: Sequence[Level], ends: tuple[float, float], name: str, notices: list[Problem]
) -> list[Level]:
    """Return the whole numbers of a scale, given by its ends, that have no level among others."""
    numbered = all(level.label == f"{level.points:g}" for level in levels)
    points = {level.points for level in levels}
    said = f"{name!r}: its scale from {ends[0]:g} to {ends[1]:g}"
    if min(points) < ends[0] or max(points) > ends[1]:
        notices.append(Problem(f"{said} has levels beyond its ends; they are kept."))
    if any(n % 1 for n in (*points, *ends)) or ends[1] - ends[0] > _MOST_BETWEEN:
        notices.append(Problem(f"{said} has only the levels that are described."))
        return []
    missing = [n for n in range(int(ends[0]), int(ends[1]) + 1) if n not in points]
    if missing and not numbered:
        notices.append(Problem(f"{said} has only the levels that are named."))
    elif missing:
        listed = ", ".join(map(str, missing))
        notices.append(Problem(f"{said} has levels without a description: {listed}."))
    return [Level(str(n), "", n) for n in missing] if numbered else []


def _level_with_score(part: Mapping[str, Any], places: Mapping[str, float]) -> Level | None:
    """Return a level with its score, or its place, or ``None`` without either."""
    score = next((n for key in _SCORES if (n := finite(part.get(key))) is not None), None)
    label = next((str(part[key]) for key in _LABELS if part.get(key) is not None), "")
    text = next((str(part[key]) for key in _DESCRIPTIONS if part.get(key)), "")
    if score is None and (score := places.get(fold(label))) is None:
        label, score, _ = points_in(label, heading=True)
    return None if score is None else Level(label or f"{score:g}", text, score)

"""Rubric formats of other tools: levels with points, and what each format cannot hold."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from core.domain.base import Noun
from core.domain.rubric import MET, UNMET, Criterion, Option, Rubric
from core.errors import Problem
from core.formats.rubrics.grid_headings import weight_in_name
from core.text.names import fold
from core.text.numbers import percent

#: ``ratio``: points / most points. ``range``: (points - least) / (most - least), as Moodle does
#: unless a rubric counts from the minimum achievable grade.
Scaling = Literal["ratio", "range"]

MET_WORD, UNMET_WORD = "Met", "Not met"


class Level(NamedTuple):
    """A level of a criterion with its points."""

    label: str
    description: str
    points: float


def levels_of(criterion: Criterion) -> list[Level]:
    """Return options with a value, best first, with points to two decimals."""
    options = [o for o in criterion.options if not o.na]
    if criterion.scale == "binary":
        options = sorted(options, key=lambda o: fold(o.label) != fold(MET))
    else:
        options.reverse()
        options.sort(key=lambda o: -_option_value(o))
    return [
        Level(shown_label(criterion, o), o.description, _option_points(criterion, o))
        for o in options
    ]


def shown_label(criterion: Criterion, option: Option) -> str:
    """Return the label for teachers: Met and Not met for a yes/no question."""
    if criterion.scale != "binary" or option.na:
        return option.label
    return MET_WORD if fold(option.label) == fold(MET) else UNMET_WORD


def _option_value(option: Option) -> float:
    return option.value or 0.0


def _option_points(criterion: Criterion, option: Option) -> float:
    return round(_option_value(option) * criterion.weight, 2) + 0.0


def criterion_of(
    name: str, requirement: str, levels: Sequence[Level], scaling: Scaling
) -> tuple[dict[str, Any], str]:
    """Return the criterion as plain data, and a remark if it was changed.

    Levels are sorted lowest first. If no points are above 0, they are a penalty. Points on both
    sides of 0 always become a range, because an option's value lies in [0, 1].

    >>> data, _ = criterion_of("a", "b", [Level("Good", "", 4), Level("Poor", "", 1)], "ratio")
    >>> data["weight"], [o["value"] for o in data["options"]]
    (4.0, [0.25, 1.0])
    """
    data: dict[str, Any] = {"name": name, "requirement": requirement}
    # Files list the best level first; equal levels are reversed, too.
    ranked = list(reversed(levels))
    ranked.sort(key=lambda level: level.points)
    worst, best = ranked[0].points, ranked[-1].points
    if worst == best:
        last = max(1, len(ranked) - 1)
        data |= {"weight": worst, "scale": "ordinal"}
        # If all are worth 0, the levels still differ; if all are worth the same, they do not.
        spread = [at / last if worst == 0 else 1.0 for at in range(len(ranked))]
        data["options"] = [_option_data(*pair) for pair in zip(ranked, spread, strict=True)]
        return data, f"gives {worst:g} points for every level, so it cannot tell answers apart."
    remark = ""
    low, high = 0.0, best
    if best <= 0:
        # The criterion is a penalty: the option with value 1 deducts the most.
        low, high = (0.0 if scaling == "ratio" else best), worst
        ranked.reverse()
    elif worst < 0 or scaling == "range":
        low = worst
        remark = "has points above and below 0; they are taken as a range." if worst < 0 else ""
    data["weight"] = high - low
    options = [
        _option_data(level, _points_as_share(level.points - low, high - low)) for level in ranked
    ]
    if _is_binary(options):
        by_label = {fold(o["label"]): o for o in options}
        met, unmet = by_label[fold(MET_WORD)], by_label[fold(UNMET_WORD)]
        options = [{**met, "label": MET}, {**unmet, "label": UNMET}]
        return data | {"scale": "binary", "options": options}, remark
    return data | {"scale": "ordinal", "options": options}, remark


def _points_as_share(points: float, most: float) -> float:
    """Return points as a share of the most, with just enough digits to restore them.

    >>> _points_as_share(1, 3), _points_as_share(5000000.5, 15000001.5)
    (0.333333333, 0.3333333333)
    """
    exact = points / most
    rounded = (round(exact, digits) for digits in range(9, 17))
    return next((s for s in rounded if round(s * most, 2) == round(points, 2)), exact)


def _option_data(level: Level, value: float) -> dict[str, Any]:
    share = min(1.0, max(0.0, value))
    return {"label": level.label, "description": level.description, "value": share}


def _is_binary(options: Sequence[dict[str, Any]]) -> bool:
    expected = {fold(MET_WORD): 1.0, fold(UNMET_WORD): 0.0}
    return {fold(o["label"]): o["value"] for o in options} == expected and len(options) == 2


def weigh_by_names(criteria: Sequence[dict[str, Any]], weighed: Sequence[bool]) -> list[Problem]:
    """Take the weights out of criteria's names, use them, and return the notices.

    ``weighed``: whether a criterion has a weight of its own, which counts more than its name's.

    >>> criteria = [{"name": "Tone (x2)", "weight": 4.0}, {"name": "Form", "weight": 4.0}]
    >>> str(weigh_by_names(criteria, [False, False])[0]), criteria[0]["name"]
    ("Weights are taken from the names: 'Tone (x2)' weighs 8.", 'Tone')
    """
    found = [weight_in_name(criterion.get("name", "")) for criterion in criteria]
    bare = Counter(
        fold(named[0] if named else criterion.get("name", ""))
        for named, criterion in zip(found, criteria, strict=True)
    )
    weighs = [c.get("weight") != 0 for c in criteria]
    whole = all(named or not counts for named, counts in zip(found, weighs, strict=True))
    whole = whole and not any(named and named[2] == "factor" for named in found)
    said, notices = list[str](), list[Problem]()
    for criterion, named, own in zip(criteria, found, weighed, strict=True):
        if named is None:
            continue
        full, (name, number, kind) = criterion["name"], named
        old = criterion.get("weight", Criterion.model_fields["weight"].default)
        if own and old not in (number, -number):
            weight = str(old).removesuffix(".0")
            message = f"{full!r} has the weight {number:g} in its name; its weight {weight} counts."
            notices.append(Problem(message, "Keep one of the two."))
        elif not own:
            is_whole = kind == "whole" or (kind == "weight" and whole)
            criterion["weight"] = math.copysign(number, old) if is_whole else number * old
            said.append(f"{full!r} weighs {criterion['weight']:g}")
        if bare[fold(name)] == 1:
            if criterion.get("requirement") == full:
                criterion["requirement"] = name
            criterion["name"] = name
    others = [
        criterion.get("name", "")
        for criterion, named, own in zip(criteria, found, weighed, strict=True)
        if not (named or own)
    ]
    if said:
        notices.insert(0, Problem(f"Weights are taken from the names: {', '.join(said)}."))
    if said and others and any(named and named[2] == "whole" for named in found):
        message = f"{first_names(others)} {'has' if len(others) == 1 else 'have'} no weight there."
        notices.append(Problem(message, "Check what the others weigh, or give all a weight."))
    return notices


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
            "value": round((level.points - ends[0]) / (ends[1] - ends[0]), 9) + 0.0
            if high > low
            else 0.0,
        }
        for level in sorted(levels, key=lambda level: level.points, reverse=turned)
    ]


def scaling_notices(criteria: Iterable[Sequence[Level]], scaling: Scaling) -> tuple[Problem, ...]:
    """Return the difference between ratio and range; empty if all lowest levels are 0.

    >>> str(scaling_notices([[Level("a", "", 4), Level("b", "", 1)]], "ratio")[0])[:57]
    'The lowest levels add up to 1 of 4 points. They score 25%'
    """
    points = [[level.points for level in levels] for levels in criteria]
    least, most = sum(map(min, points)), sum(map(max, points))
    if not least or most <= 0 or least < 0:
        return ()
    ratio = percent(least / most)
    parts = (
        f"{ratio} (points are taken as a ratio; as a range, as Moodle does, it would be 0%)"
        if scaling == "ratio"
        else f"0% (points are taken as a range, as Moodle does; as a ratio it would be {ratio})"
    )
    message = f"The lowest levels add up to {least:g} of {most:g} points. They score {parts}."
    return (Problem(message),)


def point_losses(criteria: Sequence[Criterion]) -> list[Problem]:
    """Return what scales and values lose if stored as points with two decimals."""
    losses = list[Problem]()
    for criterion in criteria:
        path = ("criteria", criterion.name)
        scored = [o for o in criterion.options if not o.na]
        values = [_option_value(o) for o in scored]
        best = max(values)
        if criterion.scale == "nominal":
            message = "is nominal; its options are written as levels, the most valued first."
            losses.append(Problem(message, "", path))
        elif criterion.scale == "ordinal" and values != sorted(values):
            message = "lists its best level first; read back, it is the last."
            losses.append(Problem(message, "", path))
        if 0 < best < 1:
            message = f"is worth {best:g} of its weight at best; only the points remain."
            losses.append(Problem(message, "", path))
        exact = [v * criterion.weight for v in values]
        if any(abs(round(points, 2) - points) > 1e-9 for points in exact):
            losses.append(Problem("has points that are rounded to two decimals.", "", path))
        losses += _odd_labels(criterion, path)
    return losses


def _odd_labels(criterion: Criterion, path: tuple[str, ...]) -> list[Problem]:
    away = [o.label for o in criterion.options if o.na]
    losses = []
    if away:
        message = f"may be answered with {away[0]!r}, which earns no points and is not a level."
        losses.append(Problem(message, "It is written into the description.", path))
    points = [level.points for level in levels_of(criterion)]
    if len(set(points)) < len(points):
        message = "has two levels with the same points."
        losses.append(Problem(message, "Moodle refuses that; Canvas does not.", path))
    return losses


def described_requirement(criterion: Criterion) -> str:
    """Return the requirement, followed by the meaning of an ``na`` option."""
    away = [o for o in criterion.options if o.na]
    lines = [criterion.requirement]
    lines += [f"{o.label}: {o.description}".rstrip(": ") for o in away]
    return "\n".join(lines)


@dataclass(frozen=True)
class WrittenRubric:
    """The text of a file, and a problem for everything that it lacks."""

    text: str
    losses: tuple[Problem, ...] = ()


def rubric_losses(rubric: Rubric, keeps: Iterable[str] = ()) -> list[Problem]:
    """Return what a format with only criteria and ``keeps`` loses of a rubric.

    >>> rubric = Rubric(guidelines="Be kind.", criteria=[{"name": "a", "requirement": "b"}])
    >>> [str(loss) for loss in rubric_losses(rubric)]
    ['guidelines: The guidelines are left out.']
    """
    losses, kept = list[Problem](), {"name", "criteria", *keeps}
    for name in rubric.given():
        loss = rubric.field_row(name).lost
        if name not in kept:
            losses.append(Problem(f"{loss} {_is_or_are(loss)} left out.", "", (name,)))
    return losses


def _is_or_are(text: str) -> str:
    return "are" if text.split(" (", maxsplit=1)[0].endswith("s") else "is"


#: Fields of a criterion, and of an option, that every format holds.
_HELD = {"name", "requirement", "weight", "scale", "options"}
_HELD_OF_OPTION = {"label", "description", "value", "na"}


def criteria_losses(criteria: Sequence[Criterion], keeps: Iterable[str] = ()) -> list[Problem]:
    """Return what a format with only names, texts, levels and points loses."""
    losses, options = list[Problem](), [(c.name, o) for c in criteria for o in c.options]
    parts: Sequence[tuple[str, Noun]] = [(c.name, c) for c in criteria]
    for noun, nouns, kept in (
        (Criterion, parts, {*_HELD, *keeps}),
        (Option, options, _HELD_OF_OPTION),
    ):
        for name in (name for name in noun.model_fields if name not in kept):
            loss = noun.field_row(name).lost
            having = list(dict.fromkeys(name_of for name_of, part in nouns if name in part.given()))
            if having:
                losses.append(
                    Problem(f"{loss} of {first_names(having)} {_is_or_are(loss)} left out.")
                )
    return losses


def first_names(names: Sequence[str], most: int = 5) -> str:
    """Return the first few names in quotes.

    >>> first_names(["a", "b"]), first_names(list("abcdefg"), 3)
    ("'a', 'b'", "'a', 'b', 'c' and 4 more")
    """
    head = ", ".join(map(repr, names[:most]))
    others = len(names) - most
    return f"{head} and {others} more" if others > 0 else head


# autorubric uses a subset of our keys, so our own reader reads its files.


def is_autorubric(value: Any) -> bool:
    """Return whether a document names scales as autorubric does."""
    criteria = value.get("criteria") if isinstance(value, dict) else None
    listed = criteria if isinstance(criteria, list) else []
    return any(isinstance(criterion, dict) and "scale_type" in criterion for criterion in listed)


def autorubric_json(rubric: Rubric) -> WrittenRubric:
    """Return the rubric in autorubric's keys: guidelines, criteria and options.

    >>> text = autorubric_json(Rubric(criteria=[{"name": "a", "requirement": "b"}])).text
    >>> json.loads(text)
    {'criteria': [{'name': 'a', 'weight': 10.0, 'requirement': 'b'}]}
    """
    data: dict[str, Any] = {"guidelines": rubric.guidelines} if rubric.guidelines else {}
    data["criteria"] = [_autorubric_criterion(criterion) for criterion in rubric.criteria]
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return WrittenRubric(text, tuple(_autorubric_losses(rubric)))


def _autorubric_criterion(criterion: Criterion) -> dict[str, Any]:
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
    # autorubric also requires a value for an abstention, but never uses it.
    options = [{"label": o.label, "value": o.value or 0.0, "na": o.na} for o in criterion.options]
    return data | {"options": options}


def requirement_in_full(criterion: Criterion) -> str:
    """Return the requirement with the anchors, since autorubric's options have none."""
    anchors = [f"{o.label}: {o.description}" for o in criterion.options if o.description]
    return "\n".join([criterion.requirement, *anchors])


def _autorubric_losses(rubric: Rubric) -> list[Problem]:
    losses = [Problem("The name is left out; the file is named after the rubric.", "", ("name",))]
    losses += rubric_losses(rubric, ("guidelines",))
    losses += criteria_losses(rubric.criteria, ("aggregation",))
    ruled = [c.name for c in rubric.criteria if c.scale == "binary" and c.aggregation]
    if ruled:
        rule = "The rule by which votes are settled"
        losses.append(Problem(f"{rule} of {first_names(ruled)} (yes or no) is left out."))
    anchored = [c.name for c in rubric.criteria if any(o.description for o in c.options)]
    if anchored:
        message = (
            f"The descriptions of options of {first_names(anchored)} have no place of their own."
        )
        mend = "They are written below the requirement, where our reader finds them."
        losses.append(Problem(message, mend))
    away = [c.name for c in rubric.criteria if c.scale == "binary" and len(c.options) > 2]
    if away:
        message = f"The abstention of {first_names(away)} is the peer's own there, CANNOT_ASSESS."
        losses.append(Problem(message))
    return losses

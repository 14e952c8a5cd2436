"""Two people changed one rubric: what each of them changed, and one rubric made of pieces of both.

A piece is a field of the rubric, a field of a criterion that both have, or a criterion that only
one of them has. Nobody decides for them where both changed the same piece; where one did, that
change is what is suggested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.domain.base import build
from core.domain.rubric import Criterion, Rubric
from core.rubric_diff.edits import MISSING, said, said_options, said_rule

Side = Literal["mine", "theirs"]
#: Fields of the rubric, merged whole; fields of a criterion that are merged together.
_WHOLE = tuple(name for name in Rubric.model_fields if name != "criteria")
_GROUPS: dict[str, list[str]] = {}
for _name in Criterion.model_fields:
    if _name != "name":
        _GROUPS.setdefault(Criterion.about(_name).group, []).append(_name)


@dataclass(frozen=True)
class MergePiece:
    """Something that is not the same in both. ``key`` names it for ``merged``.

    ``mine`` and ``theirs`` are as they are read; ``both`` says that both changed it since they
    parted, so that one of the changes would be lost.
    """

    key: str
    criterion: str | None
    what: str
    mine: str
    theirs: str
    both: bool
    suggested: Side


def pieces(base: Rubric, mine: Rubric, theirs: Rubric) -> tuple[MergePiece, ...]:
    """Every piece on which the two differ; ``base`` is the version that both started from."""
    found = []
    for name in _WHOLE:
        one, other, was = (getattr(r, name) for r in (mine, theirs, base))
        if one != other:
            words = (said_rule(name, one), said_rule(name, other))
            found.append(
                _piece(name, None, Rubric.about(name).label, words, one != was, other != was)
            )
    names = dict.fromkeys([c.name for r in (mine, theirs) for c in r.criteria])
    by_name = [{c.name: c for c in r.criteria} for r in (mine, theirs, base)]
    for name in names:
        one, other, was = (known.get(name) for known in by_name)
        found += _of_criterion(name, one, other, was)
    return tuple(found)


def _of_criterion(
    name: str, mine: Criterion | None, theirs: Criterion | None, base: Criterion | None
) -> list[MergePiece]:
    if mine is None or theirs is None:
        words = tuple(MISSING if c is None else _whole(c) for c in (mine, theirs))
        # One took it out while the other changed it, or one of them made it.
        changed = (mine != base, theirs != base)
        return [_piece(f"criterion/{name}", name, "criterion", (words[0], words[1]), *changed)]
    found = []
    for what, fields in _GROUPS.items():
        one, other = _fields(mine, fields), _fields(theirs, fields)
        if one == other:
            continue
        was = None if base is None else _fields(base, fields)
        words = (_says(mine, what), _says(theirs, what))
        found.append(
            _piece(f"criterion/{name}/{what}", name, what, words, one != was, other != was)
        )
    return found


def _piece(
    key: str, criterion: str | None, what: str, words: tuple[str, ...], mine: bool, theirs: bool
) -> MergePiece:
    suggested: Side = "theirs" if theirs and not mine else "mine"
    return MergePiece(key, criterion, what, words[0], words[1], mine and theirs, suggested)


def merged(mine: Rubric, theirs: Rubric, taken: Mapping[str, Side]) -> Rubric:
    """One rubric of pieces of both; ``taken`` says whose, mine where it says nothing.

    Criteria stand in my order; those that only the other one has follow the criterion that they
    follow there.

    Raises:
        InputError: the pieces do not fit together, e.g. a gate names a criterion that is not taken.
    """
    known = {c.name: c for c in theirs.criteria}
    data: dict[str, Any] = mine.model_dump(by_alias=True)
    other = theirs.model_dump(by_alias=True)
    for name in _WHOLE:
        if taken.get(name) == "theirs":
            data[name] = other[name]
    criteria = [
        _criterion(c, known.get(c.name), taken)
        for c in mine.criteria
        if c.name in known or taken.get(f"criterion/{c.name}") != "theirs"
    ]
    _insert(criteria, {c.name for c in mine.criteria}, theirs, taken)
    data["criteria"] = criteria
    return build(Rubric, data, "rubric")


def _insert(
    criteria: list[dict[str, Any]], mine: set[str], theirs: Rubric, taken: Mapping[str, Side]
) -> None:
    at = 0
    for c in theirs.criteria:
        names = [one["name"] for one in criteria]
        if c.name in names:
            at = names.index(c.name) + 1
        elif c.name not in mine and taken.get(f"criterion/{c.name}") == "theirs":
            criteria.insert(at, c.model_dump(by_alias=True))
            at += 1


def _criterion(
    mine: Criterion, theirs: Criterion | None, taken: Mapping[str, Side]
) -> dict[str, Any]:
    data = mine.model_dump(by_alias=True)
    if theirs is not None:
        other = theirs.model_dump(by_alias=True)
        for what, fields in _GROUPS.items():
            if taken.get(f"criterion/{mine.name}/{what}") == "theirs":
                data |= {name: other[name] for name in fields}
    return data


def _fields(criterion: Criterion, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(criterion, name) for name in names)


def _says(criterion: Criterion, what: str) -> str:
    if what != "answers":
        return said(getattr(criterion, _GROUPS[what][0]))
    anchors = [f"{o.label}: {o.description}" for o in criterion.options if o.description]
    rest = [
        f"{criterion.about(name).label}: {said(getattr(criterion, name))}"
        for name in criterion.given()
        if name in _GROUPS[what] and name not in ("scale", "options")
    ]
    return "\n".join([f"{criterion.scale}: {said_options(criterion)}", *anchors, *rest])


def _whole(criterion: Criterion) -> str:
    return "\n".join(
        [f"weight {criterion.weight:g}", criterion.requirement, _says(criterion, "answers")]
    )

"""Merge two people's changes of a rubric: list each person's changes, and build the result.

A piece is a field of the rubric, a field of a criterion in both versions, or a criterion in only
one of them. If both changed a piece, the user must choose; if only one did, that change is
suggested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.domain.base import build_model
from core.domain.rubric import Criterion, Rubric
from core.rubric_diff.edits import MISSING, options_text, rule_text, value_text

Side = Literal["mine", "theirs"]
#: Fields of the rubric that merge as a whole, and fields of a criterion that merge together.
_WHOLE = tuple(name for name in Rubric.model_fields if name != "criteria")
_GROUPS: dict[str, list[str]] = {}
for _name in Criterion.model_fields:
    if _name != "name":
        _GROUPS.setdefault(Criterion.field_row(_name).group, []).append(_name)


@dataclass(frozen=True)
class MergePiece:
    """A piece that differs between the versions. ``key`` names it for ``merged_rubric``.

    ``mine`` and ``theirs`` are its texts; ``both`` says that both changed it since the common
    version, so one change would be lost.
    """

    key: str
    criterion: str | None
    what: str
    mine: str
    theirs: str
    both: bool
    suggested: Side


def merge_pieces(base: Rubric, mine: Rubric, theirs: Rubric) -> tuple[MergePiece, ...]:
    """Return every piece that differs; ``base`` is the common version that both started from."""
    differing = []
    for name in _WHOLE:
        my, their, was = (getattr(r, name) for r in (mine, theirs, base))
        if my != their:
            texts = (rule_text(name, my), rule_text(name, their))
            differing.append(
                _merge_piece(
                    name, None, Rubric.field_row(name).label, texts, my != was, their != was
                )
            )
    names = dict.fromkeys([c.name for r in (mine, theirs) for c in r.criteria])
    by_name = [{c.name: c for c in r.criteria} for r in (mine, theirs, base)]
    for name in names:
        my, their, was = (by_names.get(name) for by_names in by_name)
        differing += _pieces_of_criterion(name, my, their, was)
    return tuple(differing)


def _pieces_of_criterion(
    name: str, mine: Criterion | None, theirs: Criterion | None, base: Criterion | None
) -> list[MergePiece]:
    if mine is None or theirs is None:
        texts = tuple(MISSING if c is None else _criterion_text(c) for c in (mine, theirs))
        # One user removed the criterion while the other changed it, or only one of the two users
        # has it.
        changed = (mine != base, theirs != base)
        return [
            _merge_piece(f"criterion/{name}", name, "criterion", (texts[0], texts[1]), *changed)
        ]
    differing = []
    for label, fields in _GROUPS.items():
        my, their = _field_values(mine, fields), _field_values(theirs, fields)
        if my == their:
            continue
        was = None if base is None else _field_values(base, fields)
        texts = (_option_text(mine, label), _option_text(theirs, label))
        differing.append(
            _merge_piece(f"criterion/{name}/{label}", name, label, texts, my != was, their != was)
        )
    return differing


def _merge_piece(
    key: str, criterion: str | None, what: str, words: tuple[str, ...], mine: bool, theirs: bool
) -> MergePiece:
    suggested: Side = "theirs" if theirs and not mine else "mine"
    return MergePiece(key, criterion, what, words[0], words[1], mine and theirs, suggested)


def merged_rubric(mine: Rubric, theirs: Rubric, chosen_sides: Mapping[str, Side]) -> Rubric:
    """Return a rubric of pieces of both; ``chosen_sides`` says whose piece to use, by default mine.

    Criteria keep my order; those only in the other version follow their predecessor there.

    Raises:
        InputError: the pieces do not fit together, e.g. a gate names a criterion not taken.
    """
    their_criteria = {c.name: c for c in theirs.criteria}
    data: dict[str, Any] = mine.model_dump(by_alias=True)
    their_data = theirs.model_dump(by_alias=True)
    for name in _WHOLE:
        if chosen_sides.get(name) == "theirs":
            data[name] = their_data[name]
    criteria = [
        _merged_criterion(c, their_criteria.get(c.name), chosen_sides)
        for c in mine.criteria
        if c.name in their_criteria or chosen_sides.get(f"criterion/{c.name}") != "theirs"
    ]
    _insert_criteria(criteria, {c.name for c in mine.criteria}, theirs, chosen_sides)
    data["criteria"] = criteria
    return build_model(Rubric, data, "rubric")


def _insert_criteria(
    criteria: list[dict[str, Any]], mine: set[str], theirs: Rubric, chosen_sides: Mapping[str, Side]
) -> None:
    at = 0
    for c in theirs.criteria:
        names = [criterion["name"] for criterion in criteria]
        if c.name in names:
            at = names.index(c.name) + 1
        elif c.name not in mine and chosen_sides.get(f"criterion/{c.name}") == "theirs":
            criteria.insert(at, c.model_dump(by_alias=True))
            at += 1


def _merged_criterion(
    mine: Criterion, theirs: Criterion | None, chosen_sides: Mapping[str, Side]
) -> dict[str, Any]:
    data = mine.model_dump(by_alias=True)
    if theirs is not None:
        their_data = theirs.model_dump(by_alias=True)
        for label, fields in _GROUPS.items():
            if chosen_sides.get(f"criterion/{mine.name}/{label}") == "theirs":
                data |= {name: their_data[name] for name in fields}
    return data


def _field_values(criterion: Criterion, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(getattr(criterion, name) for name in names)


def _option_text(criterion: Criterion, label: str) -> str:
    if label != "answers":
        return value_text(getattr(criterion, _GROUPS[label][0]))
    anchors = [
        f"{option.label}: {option.description}"
        for option in criterion.options
        if option.description
    ]
    rest = [
        f"{criterion.field_row(name).label}: {value_text(getattr(criterion, name))}"
        for name in criterion.given()
        if name in _GROUPS[label] and name not in ("scale", "options")
    ]
    return "\n".join([f"{criterion.scale}: {options_text(criterion)}", *anchors, *rest])


def _criterion_text(criterion: Criterion) -> str:
    return "\n".join(
        [f"weight {criterion.weight:g}", criterion.requirement, _option_text(criterion, "answers")]
    )

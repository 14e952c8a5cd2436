"""The fields that differ between two versions of a rubric, each with what it means for votes.

``words``: nothing. ``score``: scores are computed anew from the same votes. ``question``: judges
were asked something else, so those cells are stale. ``options``: votes must be mapped to the new
options. ``added``, ``removed``, ``renamed``: a criterion came, went, or is called otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from core.domain.names import fold
from core.domain.rubric import Criterion, Rubric
from core.services.rubric_words import check_words, decision_words, gate_words

Kind = Literal["words", "score", "question", "options", "added", "removed", "renamed"]
KINDS: dict[Kind, str] = {
    "words": "Nothing is computed anew: judges never saw it.",
    "score": "Scores are computed anew from the votes that are there. Nobody is asked.",
    "question": "Judges were asked something else: these cells are stale.",
    "options": "Votes for the old options must be mapped to the new ones.",
    "added": "Nobody was asked this yet: its cells are open.",
    "removed": "Its votes are kept, and count no more.",
    "renamed": "The same question under another name.",
}
MISSING = "(nothing)"


class Edit(NamedTuple):
    """One difference. ``criterion`` is its name in the newer version (in the older one where it was
    removed), ``None`` for the rubric itself; ``what`` the field, in words.
    """

    kind: Kind
    criterion: str | None
    what: str
    before: str
    after: str


def small(edit: Edit) -> bool:
    """Whether an edit of a question looks like a mended slip: it may not be another question.

    >>> small(Edit("question", "A", "requirement", "It cites teh source.", "It cites the source."))
    True
    >>> small(Edit("question", "A", "requirement", "It cites a source.", "It cites no source."))
    False
    """
    if edit.kind != "question":
        return False
    one, other = _letters(edit.before), _letters(edit.after)
    return one == other or sorted(one) == sorted(other)


def rubric_edits(before: Rubric, after: Rubric) -> Iterator[Edit]:
    """What differs outside of the criteria."""
    kinds: dict[str, Kind] = {
        "name": "words",
        "description": "words",
        "guidelines": "question",
        "scoring": "score",
        "gates": "score",
        "prechecks": "score",
        "decision": "score",
        "meta": "words",
    }
    for name, kind in kinds.items():
        one, other = getattr(before, name), getattr(after, name)
        if one == other:
            continue
        kind = "words" if kind == "question" and plain(one) == plain(other) else kind
        words = (said_rule(name, one), said_rule(name, other))
        yield Edit(kind, None, _FIELDS.get(name, name), *words)


def criterion_edits(old: Criterion, new: Criterion) -> Iterator[Edit]:
    """What differs in a criterion, its options among it."""
    if old.name != new.name:
        yield Edit("renamed", new.name, "name", old.name, new.name)
    if old.requirement != new.requirement:
        kind: Kind = "words" if plain(old.requirement) == plain(new.requirement) else "question"
        yield Edit(kind, new.name, "requirement", old.requirement, new.requirement)
    kinds: dict[str, Kind] = {
        "weight": "score",
        "scale": "score",
        "aggregation": "score",
        "tags": "score",
        "section": "words",
        "meta": "words",
    }
    for name, each in kinds.items():
        one, other = getattr(old, name), getattr(new, name)
        if one != other:
            yield Edit(each, new.name, _FIELDS.get(name, name), said(one), said(other))
    yield from _option_edits(old, new)


def _option_edits(old: Criterion, new: Criterion) -> Iterator[Edit]:
    if not same_choices(old, new):
        yield Edit("options", new.name, "options", said_options(old), said_options(new))
        return
    for one, other in zip(old.choices, new.choices, strict=True):
        if one.value != other.value:
            values = (said(one.value), said(other.value))
            yield Edit("score", new.name, f"value of {other.label!r}", *values)
        if plain(one.description) != plain(other.description):
            texts = (one.description or MISSING, other.description or MISSING)
            yield Edit("question", new.name, f"anchor of {other.label!r}", *texts)
        if one.label != other.label:
            kind: Kind = "words" if plain(one.label) == plain(other.label) else "question"
            yield Edit(kind, new.name, "label of an option", one.label, other.label)


def said_options(criterion: Criterion) -> str:
    """A criterion's choices on one line, e.g. ``Low (0), High (1), Cannot assess``."""
    return ", ".join(
        o.label if o.value is None else f"{o.label} ({o.value:g})" for o in criterion.choices
    )


def said(value: Any) -> str:
    """A field's value as text."""
    if value is None or value in ("", (), {}):
        return MISSING
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "\n".join(said(each) for each in value)
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, dict):
        return ", ".join(
            f"{name.replace('_', ' ')} {said(each)}" for name, each in value.items() if each != ""
        )
    return str(value)


def said_rule(name: str, value: Any) -> str:
    """A field of the rubric as text; its rules as sentences."""
    return _SAYS.get(name, said)(value)


def _sentences(words: Callable[[Mapping[str, Any]], str]) -> Callable[[Any], str]:
    def say(value: Any) -> str:
        nouns = value if isinstance(value, tuple) else (value,)
        data = [
            noun.model_dump(mode="json", by_alias=True, exclude_none=True) for noun in nouns if noun
        ]
        return "\n".join(map(words, data)) or MISSING

    return say


_SAYS = {
    "gates": _sentences(gate_words),
    "prechecks": _sentences(check_words),
    "decision": _sentences(decision_words),
}
_FIELDS = {"aggregation": "rule for votes", "prechecks": "pre-checks", "meta": "additional data"}


def same_choices(old: Criterion, new: Criterion) -> bool:
    """Whether options are the same by place: a vote's number means the same."""
    one, other = ([(fold(o.label), o.na) for o in c.choices] for c in (old, new))
    return one == other


def plain(text: str) -> str:
    """A text without what spaces and lines add."""
    return " ".join(text.split())


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())

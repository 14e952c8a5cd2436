"""Replies of a writing model, read strictly: what was asked for in full, or why it is not there.

What surrounds one whole JSON object is tolerated, and keys nobody asked for are left aside. A key
that is missing, of another kind, empty or out of range makes the reply unreadable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.base import build
from core.domain.rubric import MET, UNMET, Criterion, Rubric, fold
from core.errors import InputError
from core.judging.authoring_prompts import PARTS
from core.judging.fences import sendable
from core.judging.parsing import Unreadable, whole_object
from core.judging.schemas import ids_of


@dataclass(frozen=True, slots=True)
class Change:
    """One text to be replaced. ``criterion`` is a name, empty for the rubric's guidelines.

    ``option`` indexes the criterion's own options, ``None`` where the part is no option's.
    """

    criterion: str
    part: str
    option: int | None
    to: str
    why: str


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed submission, and what was changed in a sentence."""

    submission: str
    what: str


def read_rubric(text: str | None) -> Rubric | Unreadable:
    """The drafted rubric, valid as a whole.

    >>> read_rubric("Here is a rubric.").kind
    'malformed'
    """
    found = _object(text, "criteria")
    if isinstance(found, Unreadable):
        return found
    criteria = found["criteria"]
    if not isinstance(criteria, list) or not criteria:
        return _wrong('"criteria" was not a list of criteria.')
    data = {
        "name": _text(found, "name") or "Drafted rubric",
        "guidelines": _text(found, "guidelines"),
        "criteria": [_criterion(one) for one in criteria],
    }
    try:
        return build(Rubric, data, "rubric")
    except InputError as error:
        first = error.problems[0] if error.problems else error
        return _wrong(f"The reply was no valid rubric: {_short(str(first))}")


def _criterion(one: object) -> object:
    if not isinstance(one, dict):
        return one
    kept = {k: one[k] for k in ("name", "requirement", "weight", "scale") if k in one}
    options = one.get("options")
    if isinstance(options, list) and (options or one.get("scale") != "binary"):
        kept["options"] = [_option(option) for option in options]
    return kept


def _option(option: object) -> object:
    if not isinstance(option, dict):
        return option
    kept = {k: option[k] for k in ("label", "description", "value") if k in option}
    label = kept.get("label")
    if isinstance(label, str) and fold(label) in (fold(MET), fold(UNMET)):
        kept["label"] = MET if fold(label) == fold(MET) else UNMET
    return kept


def read_changes(
    text: str | None, rubric: Rubric, targets: Sequence[str]
) -> tuple[Change, ...] | Unreadable:
    """The proposed changes; one that cannot be made makes the whole reply unreadable."""
    found = _object(text, "changes")
    if isinstance(found, Unreadable):
        return found
    if not isinstance(found["changes"], list):
        return _wrong('"changes" was not a list.')
    by_id = dict(zip(ids_of(len(rubric.criteria)), rubric.criteria, strict=True))
    read = list[Change]()
    for number, one in enumerate(found["changes"], start=1):
        change = _change(one, by_id, targets)
        if isinstance(change, str):
            return _wrong(f"Change {number} {change}")
        read.append(change)
    places = {(one.criterion, one.part, one.option) for one in read}
    if len(places) < len(read):
        return _wrong("Two changes replaced the same text.")
    return tuple(read)


def _change(one: object, by_id: dict[str, Criterion], targets: Sequence[str]) -> Change | str:
    if not isinstance(one, dict):
        return "was no object."
    part, to, why = one.get("part"), one.get("to"), _text(one, "why")
    if isinstance(to, int | float) and not isinstance(to, bool):
        to = f"{to:g}"
    if part not in PARTS or not isinstance(to, str) or not to.strip():
        return 'needs a known "part" and a text under "to".'
    to = sendable(to).strip()
    if part == "guidelines":
        return Change("", part, None, to, why)
    criterion = by_id.get(str(one.get("criterion")))
    if criterion is None or criterion.name not in targets:
        return "was about no criterion that was to be changed."
    if part == "weight" and not _is_number(to):
        return "gave no number as a weight."
    if part in ("requirement", "weight"):
        return Change(criterion.name, part, None, to, why)
    return _of_option(criterion, part, one.get("option"), to, why)


def _of_option(criterion: Criterion, part: str, option: object, to: str, why: str) -> Change | str:
    if not isinstance(option, int) or isinstance(option, bool):
        return "gave no whole number as its option."
    if not 1 <= option <= len(criterion.options):
        return f"named an option that is not from 1 to {len(criterion.options)}."
    if part == "label" and criterion.scale == "binary" and not criterion.options[option - 1].na:
        return "renamed an option of a binary criterion, which must be MET and UNMET."
    return Change(criterion.name, part, option - 1, to, why)


def read_submission(text: str | None) -> str | Unreadable:
    """One generated submission.

    >>> read_submission('{"submission": "Rain falls."}')
    'Rain falls.'
    """
    found = _object(text, "submission")
    if isinstance(found, Unreadable):
        return found
    return _text(found, "submission") or _wrong('"submission" was not a text.')


def read_tasks(text: str | None, count: int) -> tuple[str, ...] | Unreadable:
    """So many different tasks; further ones are left aside, fewer are too few."""
    found = _object(text, "tasks")
    if isinstance(found, Unreadable):
        return found
    listed = found["tasks"] if isinstance(found["tasks"], list) else []
    tasks: dict[str, str] = {}
    for one in listed:
        if isinstance(one, str) and fold(one):
            tasks.setdefault(fold(one), sendable(one).strip())
    if len(tasks) < count:
        return _wrong(f'"tasks" held fewer than {count} different texts.')
    return tuple(tasks.values())[:count]


def read_edit(text: str | None, before: str) -> Edited | Unreadable:
    """A changed submission; one that is not changed at all is no reply."""
    found = _object(text, "submission")
    if isinstance(found, Unreadable):
        return found
    submission = _text(found, "submission")
    if not submission:
        return _wrong('"submission" was not a text.')
    if fold(submission) == fold(before):
        return _wrong("The submission was given back unchanged.")
    return Edited(submission, _text(found, "what"))


def _object(text: str | None, key: str) -> dict[str, Any] | Unreadable:
    if not text or not text.strip():
        return Unreadable("empty", "The reply was empty.")
    found = whole_object(text, key)
    if found is None:
        return _wrong(f'The reply held no complete JSON object with the key "{key}".')
    return found


def _text(found: dict[str, Any], key: str) -> str:
    value = found.get(key)
    return sendable(value).strip() if isinstance(value, str) else ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:297]}..."


def _wrong(message: str) -> Unreadable:
    return Unreadable("malformed", message)

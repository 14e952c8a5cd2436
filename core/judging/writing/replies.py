"""Parse a writing model's replies strictly, and apply their changes.

Text around one whole JSON object is tolerated, and unknown keys are ignored. A part whose key is
missing, of another type, empty or out of range is dropped and reported. A reply without a usable
part is unreadable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from core.domain.base import build_model
from core.domain.rubric import MET, UNMET, Criterion, Rubric
from core.errors import InputError
from core.judging.prompts.parts import sendable_text
from core.judging.prompts.reply_parsing import Unreadable, ids_of, only_object
from core.judging.writing.prompts import PARTS
from core.judging.writing.writer import PartialReply
from core.text.names import fold


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A text to replace. ``criterion`` is a name, empty for the rubric's guidelines.

    ``option`` indexes the criterion's own options, ``None`` for other parts.
    """

    criterion: str
    part: str
    option: int | None
    to: str
    why: str


def read_rubric(text: str | None) -> PartialReply[dict[str, Any]] | Unreadable:
    """Return the drafted rubric as plain data; ``dropped`` lists what makes it invalid.

    >>> read_rubric("Here is a rubric.").kind
    'malformed'
    """
    reply = _object(text, "criteria")
    if isinstance(reply, Unreadable):
        return reply
    criteria = reply["criteria"]
    if not isinstance(criteria, list) or not any(isinstance(entry, dict) for entry in criteria):
        return _malformed_reply('"criteria" was not a list of criteria.')
    dropped = [
        f"Criterion {at} is no object."
        for at, entry in enumerate(criteria, start=1)
        if not isinstance(entry, dict)
    ]
    data: dict[str, Any] = {
        "name": _text_under(reply, "name") or "Drafted rubric",
        "guidelines": _text_under(reply, "guidelines"),
        "criteria": [_criterion_data(entry) for entry in criteria if isinstance(entry, dict)],
    }
    try:
        build_model(Rubric, data, "rubric")
    except InputError as error:
        dropped += [_short_text(str(problem)) for problem in error.problems] or [str(error)]
    return PartialReply(data, tuple(dropped))


def _criterion_data(entry: dict[str, Any]) -> dict[str, Any]:
    criterion: dict[str, Any] = {
        k: entry[k] for k in ("name", "requirement", "weight", "scale") if k in entry
    }
    options = entry.get("options")
    if isinstance(options, list) and (options or entry.get("scale") != "binary"):
        criterion["options"] = [_option_data(option) for option in options]
    return criterion


def _option_data(option: object) -> object:
    if not isinstance(option, dict):
        return option
    fields = {k: option[k] for k in ("label", "description", "value") if k in option}
    label = fields.get("label")
    if isinstance(label, str) and fold(label) in (fold(MET), fold(UNMET)):
        fields["label"] = MET if fold(label) == fold(MET) else UNMET
    return fields


def read_changes(
    text: str | None, rubric: Rubric, targets: Sequence[str]
) -> PartialReply[tuple[ProposedChange, ...]] | Unreadable:
    """Return the valid proposed changes; the first for each text wins."""
    reply = _object(text, "changes")
    if isinstance(reply, Unreadable):
        return reply
    if not isinstance(reply["changes"], list):
        return _malformed_reply('"changes" was not a list.')
    by_id = dict(zip(ids_of(len(rubric.criteria)), rubric.criteria, strict=True))
    changes: dict[tuple[str, str, int | None], ProposedChange] = {}
    dropped = list[str]()
    for number, entry in enumerate(reply["changes"], start=1):
        change = _read_change(entry, by_id, targets)
        if isinstance(change, str):
            dropped.append(f"Change {number} {change}")
        elif (place := (change.criterion, change.part, change.option)) in changes:
            dropped.append(f"Change {number} replaced the same text as an earlier one.")
        else:
            changes[place] = change
    if dropped and not changes:
        return _malformed_reply(" ".join(dropped))
    return PartialReply(tuple(changes.values()), tuple(dropped))


def _read_change(
    entry: object, by_id: dict[str, Criterion], targets: Sequence[str]
) -> ProposedChange | str:
    if not isinstance(entry, dict):
        return "was no object."
    part, to, reason = entry.get("part"), entry.get("to"), _text_under(entry, "why")
    if isinstance(to, int | float) and not isinstance(to, bool):
        to = f"{to:g}"
    if part not in PARTS or not isinstance(to, str) or not to.strip():
        return 'needs a known "part" and a text under "to".'
    to = sendable_text(to).strip()
    if part == "guidelines":
        return ProposedChange("", part, None, to, reason)
    criterion = by_id.get(str(entry.get("criterion")))
    if criterion is None or criterion.name not in targets:
        return "was about no criterion that was to be changed."
    if part == "weight" and not _is_number(to):
        return "gave no number as a weight."
    if part in ("requirement", "weight"):
        return ProposedChange(criterion.name, part, None, to, reason)
    return _option_change(criterion, part, entry.get("option"), to, reason)


def _option_change(
    criterion: Criterion, part: str, option: object, to: str, reason: str
) -> ProposedChange | str:
    if not isinstance(option, int) or isinstance(option, bool):
        return "gave no whole number as its option."
    if not 1 <= option <= len(criterion.options):
        return f"named an option that is not from 1 to {len(criterion.options)}."
    if part == "label" and criterion.scale == "binary" and not criterion.options[option - 1].na:
        return "renamed an option of a binary criterion, which must be MET and UNMET."
    return ProposedChange(criterion.name, part, option - 1, to, reason)


def read_submission(text: str | None) -> str | Unreadable:
    """Return a generated submission.

    >>> read_submission('{"submission": "Rain falls."}')
    'Rain falls.'
    """
    reply = _object(text, "submission")
    if isinstance(reply, Unreadable):
        return reply
    return _text_under(reply, "submission") or _malformed_reply('"submission" was not a text.')


def read_tasks(text: str | None, count: int) -> PartialReply[tuple[str, ...]] | Unreadable:
    """Return up to ``count`` distinct tasks; report how many are missing."""
    reply = _object(text, "tasks")
    if isinstance(reply, Unreadable):
        return reply
    listed = reply["tasks"] if isinstance(reply["tasks"], list) else []
    tasks: dict[str, str] = {}
    for entry in listed:
        if isinstance(entry, str) and fold(entry):
            tasks.setdefault(fold(entry), sendable_text(entry).strip())
    if not tasks:
        return _malformed_reply('"tasks" held no text.')
    problem = f'"tasks" held {len(tasks)} different texts where {count} were asked for.'
    return PartialReply(tuple(tasks.values())[:count], (problem,) if len(tasks) < count else ())


def read_edit(text: str | None, before: str) -> tuple[str, str] | Unreadable:
    """Return a changed submission, and what was changed; an unchanged one is unreadable."""
    reply = _object(text, "submission")
    if isinstance(reply, Unreadable):
        return reply
    submission = _text_under(reply, "submission")
    if not submission:
        return _malformed_reply('"submission" was not a text.')
    if fold(submission) == fold(before):
        return _malformed_reply("The submission was given back unchanged.")
    return submission, _text_under(reply, "what")


def _object(text: str | None, key: str) -> dict[str, Any] | Unreadable:
    if not text or not text.strip():
        return Unreadable("empty", "The reply was empty.")
    reply = only_object(text, key)
    if reply is None:
        return _malformed_reply(
            f'The reply did not hold exactly one complete JSON object with the key "{key}".'
        )
    return reply


def _text_under(reply: dict[str, Any], key: str) -> str:
    value = reply.get(key)
    return sendable_text(value).strip() if isinstance(value, str) else ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _short_text(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:297]}..."


def _malformed_reply(message: str) -> Unreadable:
    return Unreadable("malformed", message)


#: Parts that only change wording; options, scale, values, weights and rules stay.
WORDING = frozenset({"requirement", "option", "guidelines"})


def apply_changes(rubric: Rubric, changes: Iterable[ProposedChange]) -> Rubric:
    """Return the rubric with these changes; raises ``InputError`` if invalid."""
    data = rubric.model_dump(by_alias=True)
    place = {criterion.name: at for at, criterion in enumerate(rubric.criteria)}
    for change in changes:
        if change.part == "guidelines":
            data["guidelines"] = change.to
        else:
            _set_field(data["criteria"][place[change.criterion]], change)
    return build_model(Rubric, data, "rubric")


def _set_field(criterion: dict[str, Any], change: ProposedChange) -> None:
    if change.option is not None:
        field = "description" if change.part == "option" else "label"
        options = [dict(option) for option in criterion["options"]]
        options[change.option][field] = change.to
        criterion["options"] = options
    elif change.part == "weight":
        criterion["weight"] = float(change.to)
    else:
        criterion["requirement"] = change.to


def text_before_change(rubric: Rubric, change: ProposedChange) -> str:
    """Return the text that a change replaces."""
    if change.part == "guidelines":
        return rubric.guidelines
    criterion: Criterion = rubric.criterion(change.criterion)
    if change.option is not None:
        option = criterion.options[change.option]
        return option.description if change.part == "option" else option.label
    return f"{criterion.weight:g}" if change.part == "weight" else criterion.requirement

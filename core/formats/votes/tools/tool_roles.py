"""The table of roles of a tool's file: where the values of each field went."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.formats.columns.headings import is_quantity, is_sum
from core.formats.datasets.roles import IGNORED, NOTE
from core.formats.source.parsed import ColumnRole
from core.formats.votes.tools.tool_results import ToolResults

#: How many different values of a field are looked for, and shown, and the length of a shown one.
_SOUGHT, _SHOWN, _CUT = 20, 3, 60
#: From so many words on a text may also be found as a part of a longer one.
_WORDS = 3
#: How many items and answers are looked through.
_ITEMS, _ANSWERS = 2000, 20_000
#: Addresses and names of annotators, which are not shown.
_PERSON = re.compile(r"[^@\s]+@[^@\s]+\.\w+\Z|\b(email|username|(first|last|full)_name)\Z", re.I)
_FIELDS = {"submission": "text", "prompt": "prompt", "reference": "reference", "system": "system"}


_TEXTS = {*_FIELDS.values(), "context", "reason"}


class _Field(NamedTuple):
    """A field's first different values as text, and the number of filled ones."""

    words: dict[str, None]
    filled: list[int]


def roles_of_fields(
    rows: Sequence[Mapping[str, Any]], results: ToolResults, known: Mapping[str, str]
) -> list[ColumnRole]:
    """Return the role of each field of the rows, by the path to it: `data.reply`, `marks[].value`.

    A field that is not known, and not named for a question, has the role of the items and answers
    that hold all of its values. If some are known, only texts are found in this way, and notes by
    their names. A known path with a dot at its end is of all other fields within it.
    """
    fields: dict[str, _Field] = {}
    for row in rows:
        for path, word in _words_inside(row):
            field = fields.setdefault(path, _Field({}, [0]))
            field.filled[0] += bool(word)
            if word and len(field.words) < _SOUGHT:
                field.words[word] = None
    kept = {role: of for role, of in _kept_words(results).items() if not known or role in _TEXTS}
    asked = {answer.question.partition(" (")[0] for answer in results.answers} if known else set()
    told = {path: "label" for path in fields if asked & {*re.split(r"[.\[\]]+", path)}}
    told |= known
    others = {path: known.get(f"{path.partition('.')[0]}.", IGNORED) for path in fields}
    notes = [of.get("meta", {}) for of in results.items.values()] if known else []
    kept_paths = {path for of in notes[:_ITEMS] for path, _ in _words_inside(of)}
    others |= dict.fromkeys(kept_paths & others.keys(), NOTE)
    return [
        _role_of_field(path, field, kept, told.get(path, ""), others[path])
        for path, field in fields.items()
    ]


def _words_inside(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path to each value in objects and lists, and the value as text."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _words_inside(part, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for part in value:
            yield from _words_inside(part, f"{path}[]")
    else:
        yield path, "" if value is None else _word(value)


def _word(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value).strip()


def _kept_words(results: ToolResults) -> dict[str, tuple[dict[str, None], str]]:
    """Return the words of the items and the answers by role, and all of them in one text."""
    items, answers = [*results.items.items()][:_ITEMS], results.answers[:_ANSWERS]
    kept: dict[str, Iterable[str]] = {"item": [key for key, _ in items]}
    for name, role in _FIELDS.items():
        kept[role] = {word for _, of in items for _, word in _words_inside(of.get(name))}
    kept["context"] = {text for _, of in items for text in of.get("context", {}).values()}
    asked = {answer.question for answer in answers}
    kept["criterion"] = asked | {question.partition(": ")[0] for question in asked}
    raters = {answer.rater for answer in answers}
    kept["rater"] = raters | {rater.rpartition(" ")[2] for rater in raters}
    told = [v for a in answers for v in (a.value, a.number)]
    told += [v for of in results.truth.values() for v in of.values()]
    kept["label"] = {_word(v) for v in told if v is not None}
    kept["reason"] = {answer.reason for answer in answers if answer.reason}
    kept[NOTE] = {word for _, of in items for _, word in _words_inside(of.get("meta", {}))}
    return {
        role: (dict.fromkeys(words), json.dumps([*words], ensure_ascii=False))
        for role, words in kept.items()
    }


def _role_of_field(
    path: str,
    field: _Field,
    kept: Mapping[str, tuple[dict[str, None], str]],
    known: str,
    other: str,
) -> ColumnRole:
    shown = tuple(" ".join(word.split())[:_CUT] for word in [*field.words][:_SHOWN])
    shown = () if any(map(_PERSON.search, (path, *field.words))) else shown
    if known and field.words:
        return ColumnRole(path, known, "its name", shown, field.filled[0])
    roles = (role for role, of in kept.items() if field.words and _holds(role, path, field, *of))
    role = next(roles, other if field.words else IGNORED)
    why = "its values" if role != IGNORED else "not read" if field.words else "always empty"
    return ColumnRole(path, role, why, shown, field.filled[0])


def _holds(role: str, path: str, field: _Field, words: dict[str, None], text: str) -> bool:
    """Return whether the words of a role are all of a field's."""
    name = path.rpartition(".")[2]
    if role in ("label", "rater") and (is_sum(name) or is_quantity(name)):
        return False  # figures that happen to be those of answers
    if role == "item":  # numbers of items may be those of raters and answers
        return [*field.words] == [*words][: len(field.words)] and (
            len(field.words) == min(_SOUGHT, len(words))
        )
    if field.words.keys() <= words.keys():
        return True
    if role == "criterion":  # questions without an answer have no vote
        return 2 * len(field.words.keys() & words.keys()) > len(field.words)
    long = all(len(word.split()) >= _WORDS for word in field.words)
    return long and all(json.dumps(w, ensure_ascii=False)[1:-1] in text for w in field.words)

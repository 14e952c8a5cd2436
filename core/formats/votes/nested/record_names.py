"""What the keys and words of a nested record name: rater, criterion, score, reason, kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.formats.columns.headings import (
    names_a_criterion,
    names_a_person,
    names_a_rater,
    plain_name,
)
from core.formats.source.heading_words import ASPECTS, PREFERENCES, REMARKS, has_word
from core.formats.votes.nested.left_inside import Keys
from core.formats.votes.structure.named_fields import NAMES
from core.formats.votes.structure.vote_headings import is_users_feedback

_SCORES = (*NAMES["label"], "grade", "mark", "result", "passed", "string value")
#: Keys of a rater's further answer beside a score.
CATEGORIES = frozenset({"category", "class", "severity"})
#: Keys that may name a criterion, and those whose words are what a person was asked.
_WEAK = ("name", "key", "question", "rubric")
_ASKED = ("question", "task label", "task")
#: Keys that name a judge in a list of judges.
WEAK_RATERS = ("model", "model name", "name", "llm", "id")
#: Longer words are no names and no answers.
LONGEST = 40
#: Last words of keys that name people by an id.
_IDS = frozenset({"id", "uid", "uuid", "name", "email"})
#: Keys that say by what kind of rater a score is, and the words for each kind.
_SOURCES = frozenset({"source", "source type", "annotator kind", "scorer type", "evaluator type"})
_KINDS = {
    **dict.fromkeys(("eval", "evaluator", "llm", "model", "ai", "auto eval", "judge"), "llm"),
    **dict.fromkeys(("annotation", "human", "annotator", "person", "user", "manual"), "human"),
    **dict.fromkeys(("api", "code", "sdk", "heuristic", "rule", "script"), "offline"),
}
#: Keys of the rater's name beside a source.
_AUTHORS = frozenset({"author", "author name", "created by", "user name"})
#: What a rater is called of whom only the kind is known.
_UNNAMED = {"llm": "evaluator", "human": "annotator", "offline": "code"}


def named_in_record(
    value: Mapping[str, Any], of: Mapping[str, str], place: Keys
) -> tuple[dict[str, str], list[str]]:
    """Return what a record names, beside what those around it name, and the keys that do so."""
    keys = {field: key for key in value for field in fields_named(key, value) if field != "score"}
    own = {**of, **{field: str(value[key]) for field, key in keys.items()}}
    if "rater" not in own and "[]" in place and any(map(names_a_rater, place)):
        names = (k for k in value if plain_name(k) in WEAK_RATERS and isinstance(value[k], str))
        if (name := next(names, None)) is not None:
            own, keys = own | {"rater": value[name]}, keys | {"rater": name}
    sources = (k for k in value if plain_name(k) in _SOURCES and _kind_named(value[k]))
    if (key := next(sources, None)) is not None:
        kind = _kind_named(value[key])
        names = (k for k in value if plain_name(k) in _AUTHORS and isinstance(value[k], str))
        if "rater" not in own and (name := next(names, None)) is not None:
            own, keys = own | {"rater": value[name]}, keys | {"rater": name}
        own = {"rater": _UNNAMED[kind]} | own | {"kind": kind}
        keys = keys | {"kind": key}
    weak = (k for k in value if plain_name(k) in _WEAK and isinstance(value[k], str))
    key = next((k for k in weak if k not in keys.values()), None)
    if key is not None and (own.get("rater") or names_a_criterion(value[key])):
        own, keys = own | {"criterion": value[key]}, keys | {"criterion": key}
    words = {plain_name(k): k for k in value if isinstance(value[k], str)}
    key = next((words[name] for name in _ASKED if name in words), None)
    if key is not None and "criterion" not in own:
        own, keys = own | {"asked": value[key]}, keys | {"asked": key}
    if own.get("rater") == _UNNAMED["offline"] and is_users_feedback(own.get("criterion", "")):
        own |= {"rater": "user", "kind": "human"}
    return own, [*keys.values()]


def _kind_named(source: Any) -> str:
    """Return the kind of rater that a score's source says, or ""."""
    return _KINDS.get(plain_name(source), "") if isinstance(source, str) else ""


def fields_named(key: str, record: Mapping[str, Any]) -> list[str]:
    """Return the field that a key of a record names, or []."""
    name, cell = plain_name(key), record[key]
    if isinstance(cell, dict | list):
        return []
    is_id = name.rpartition(" ")[2] in _IDS or name == "user"
    if isinstance(cell, str) and (names_a_rater(key) or (is_id and names_a_person(key))):
        return ["rater"]
    if type(cell) is int and is_id and names_a_person(key):
        return ["rater"]
    if isinstance(cell, str) and (has_word(key, REMARKS) or name in NAMES["reason"]):
        return ["reason"]
    if name in _SCORES or (isinstance(cell, str) and has_word(key, PREFERENCES)):
        return ["score"]
    short = isinstance(cell, str) and len(cell) <= LONGEST
    return ["criterion"] if short and has_word(key, ASPECTS) else []


def is_category(value: Any) -> bool:
    """Return whether a score is the word of a category, neither a number nor a truth value."""
    return isinstance(value, str) and value.lower() not in ("true", "false")


def is_score(value: Any) -> bool:
    """Return whether a value can be a score: a number, a short word, or nothing."""
    short = isinstance(value, str) and len(value) <= LONGEST
    return value is None or short or isinstance(value, int | float)

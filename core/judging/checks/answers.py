"""Compute checks of an item: what a text contains, matches or counts.

A user's schema or pattern may run forever on some text, so only the process that can be ended
(`child`) calls this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from core.domain.checks import Check, CriterionChecks
from core.domain.dataset import Item

#: What checks see of an item: its texts and meta values, by name.
Seen = Mapping[str, str]
#: How many characters of an item are checked.
MOST_SEEN = 5_000_000
#: Seconds that a regular expression may take per text.
MATCHING = 1.0
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")
_PLACE = re.compile(r"\{(reference|prompt|meta\.[^{}]+)\}")
_NOTHING = object()
_NONE_HELD = "None of its checks holds."


class CheckError(Exception):
    """A check that cannot be computed, with the reason as its text."""


def places(checks: Iterable[CriterionChecks]) -> frozenset[str]:
    """Return the names that checks use: texts of an item, and `meta.KEY`.

    >>> sorted(places([CriterionChecks.model_validate({"contains": "{meta.city}"})]))
    ['meta.city', 'submission']
    """
    rules = (rule for check in checks for rule in check.rules)
    return frozenset(name for rule in rules for name in _places(rule.when))


def _places(check: Check) -> Iterator[str]:
    wanted = (check.contains,) if isinstance(check.contains, str) else check.contains or ()
    for text in (*wanted, check.equals or ""):
        yield from _PLACE.findall(text)
    yield check.of
    for inner in (*(check.all or ()), *(check.any or ()), *filter(None, (check.not_,))):
        yield from _places(inner)


def seen(names: Iterable[str], item: Item) -> Seen:
    """Return these parts of an item for checks. Raises ``CheckError``."""
    texts = {name: text for name in names if (text := _seen(name, item)) is not None}
    size = sum(map(len, texts.values()))
    if size > MOST_SEEN:
        raise CheckError(f"Its texts come to {size:,} characters; {MOST_SEEN:,} are looked at.")
    return texts


def _seen(name: str, item: Item) -> str | None:
    if name == "submission":
        return item.output
    if not name.startswith("meta."):
        return str(getattr(item, name))
    value = item.meta.get(name.removeprefix("meta."), _NOTHING)
    if value is _NOTHING or isinstance(value, str):
        return None if value is _NOTHING else str(value)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        raise CheckError(f"What {name} holds cannot be written as text.") from None


def answer(checks: CriterionChecks, seen: Seen) -> tuple[str | None, str]:
    """Return the option's label and its check; ``None`` to abstain.

    Raises ``CheckError``, and whatever error a text causes in a library.
    """
    for rule in checks.rules:
        if holds(rule.when, seen):
            return rule.then, f"Holds: {rule.when.describe()}."
    if len(checks.rules) == 1:
        return checks.otherwise, f"Does not hold: {checks.rules[0].when.describe()}."
    return checks.otherwise, _NONE_HELD


def holds(check: Check, seen: Seen) -> bool:
    """Return whether a check holds for an item. Raises ``CheckError``.

    >>> holds(Check(equals="{reference}"), {"submission": " Paris", "reference": "Paris"})
    True
    """
    return _TESTS[check.test](check, seen)


def _text(check: Check, seen: Seen) -> str:
    return seen[check.of]


def _filled(wanted: str, seen: Seen) -> str:
    """Return the text to compare with, with the item's texts filled in."""

    def own(place: re.Match[str]) -> str:
        if place[1] not in seen:
            key = place[1].removeprefix("meta.")
            raise CheckError(f"This item's meta has no {key!r}, which the check asks for.")
        return seen[place[1]]

    return _PLACE.sub(own, wanted) if "{" in wanted else wanted


def _same_case(check: Check, text: str) -> str:
    return text.casefold() if check.ignore_case else text


def _contains(check: Check, seen: Seen) -> bool:
    wanted = (check.contains,) if isinstance(check.contains, str) else check.contains or ()
    text = _same_case(check, _text(check, seen))
    return all(_same_case(check, _filled(text_wanted, seen)) in text for text_wanted in wanted)


def _equals(check: Check, seen: Seen) -> bool:
    wanted = _same_case(check, _filled(check.equals or "", seen)).strip()
    return _same_case(check, _text(check, seen)).strip() == wanted


@lru_cache(maxsize=256)
def _pattern(pattern: str, ignore_case: bool) -> Any:
    import regex

    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise CheckError(f"Its regular expression is not understood: {error}.") from None


def _regex(check: Check, seen: Seen) -> bool:
    pattern = _pattern(check.regex or "", check.ignore_case)
    try:
        return pattern.search(_text(check, seen), timeout=MATCHING) is not None
    except TimeoutError:
        message = f"The regular expression took more than {MATCHING:g} s for this text. Simplify it"
        raise CheckError(f"{message}, or bound its repetitions.") from None


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    given = json.loads(schema)
    kind = validator_for(given)
    try:
        kind.check_schema(given)
    except SchemaError as error:
        raise CheckError(f"Its JSON schema is not valid: {error.message[:200]}.") from None
    # With a registry of its own it fetches nothing from the network.
    return kind(given, registry=Registry())


def _json_schema(check: Check, seen: Seen) -> bool:
    from referencing.exceptions import Unresolvable

    validator = _validator(json.dumps(check.json_schema, sort_keys=True))
    try:
        value = json.loads(_text(check, seen))
    except (ValueError, RecursionError):
        return False
    try:
        return bool(validator.is_valid(value))
    except Unresolvable:
        raise CheckError("Its JSON schema refers to another, which is not fetched.") from None


def _number(check: Check, seen: Seen) -> bool:
    """Return the text's only number; without exactly one the check fails."""
    numbers = set(_NUMBER.findall(_text(check, seen)))
    if check.number is None or len(numbers) != 1:
        return False
    return check.number.holds(float(numbers.pop().replace(",", ".")))


_TESTS: Mapping[str, Callable[[Check, Seen], bool]] = {
    "contains": _contains,
    "equals": _equals,
    "regex": _regex,
    "json_schema": _json_schema,
    "words": lambda check, seen: (
        check.words is not None and check.words.holds(len(_text(check, seen).split()))
    ),
    "characters": lambda check, seen: (
        check.characters is not None and check.characters.holds(len(_text(check, seen)))
    ),
    "number": _number,
    "all": lambda check, seen: all(holds(one, seen) for one in check.all or ()),
    "any": lambda check, seen: any(holds(one, seen) for one in check.any or ()),
    "not_": lambda check, seen: check.not_ is not None and not holds(check.not_, seen),
}

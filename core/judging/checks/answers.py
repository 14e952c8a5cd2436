"""Compute checks of an item: what a text contains, matches or counts.

A user's schema or pattern may run forever on some text, so only the process that can be killed
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

#: The texts and meta values of an item that checks use, by name.
ItemTexts = Mapping[str, str]
#: The most characters of an item that checks may use.
MOST_SEEN = 5_000_000
#: The timeout of a regular expression per text, in seconds.
MATCHING = 1.0
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")
_PLACE = re.compile(r"\{(reference|prompt|meta\.[^{}]+)\}")
_NOTHING = object()
_NONE_HELD = "None of its checks holds."


class CheckError(Exception):
    """A check that cannot be computed, with the reason as its text."""


def names_in_checks(checks: Iterable[CriterionChecks]) -> frozenset[str]:
    """Return the names that checks use: texts of an item, and `meta.KEY`.

    >>> sorted(names_in_checks([CriterionChecks.model_validate({"contains": "{meta.city}"})]))
    ['meta.city', 'submission']
    """
    rules = (rule for check in checks for rule in check.rules)
    return frozenset(name for rule in rules for name in _names_in_check(rule.when))


def _names_in_check(check: Check) -> Iterator[str]:
    strings = (check.contains,) if isinstance(check.contains, str) else check.contains or ()
    for text in (*strings, check.equals or ""):
        yield from _PLACE.findall(text)
    yield check.of
    for subcheck in (*(check.all or ()), *(check.any or ()), *filter(None, (check.not_,))):
        yield from _names_in_check(subcheck)


def texts_for_checks(names: Iterable[str], item: Item) -> ItemTexts:
    """Return these parts of an item for checks. Raises ``CheckError``."""
    texts = {name: text for name in names if (text := _text_by_name(name, item)) is not None}
    size = sum(map(len, texts.values()))
    if size > MOST_SEEN:
        raise CheckError(f"Its texts come to {size:,} characters; {MOST_SEEN:,} are looked at.")
    return texts


def _text_by_name(name: str, item: Item) -> str | None:
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


def answer_by_checks(checks: CriterionChecks, texts: ItemTexts) -> tuple[str | None, str]:
    """Return the option's label, ``None`` to abstain, and the check that decided.

    Raises ``CheckError``, and any error that a library raises for a text.
    """
    for rule in checks.rules:
        if check_passes(rule.when, texts):
            return rule.then, f"Holds: {rule.when.describe()}."
    if len(checks.rules) == 1:
        return checks.otherwise, f"Does not hold: {checks.rules[0].when.describe()}."
    return checks.otherwise, _NONE_HELD


def check_passes(check: Check, texts: ItemTexts) -> bool:
    """Return whether a check holds for an item. Raises ``CheckError``.

    >>> check_passes(Check(equals="{reference}"), {"submission": " Paris", "reference": "Paris"})
    True
    """
    return _TESTS[check.test](check, texts)


def _text_for_check(check: Check, texts: ItemTexts) -> str:
    return texts[check.of]


def _with_item_texts(text: str, texts: ItemTexts) -> str:
    """Return ``text`` with the item's texts in its placeholders."""

    def text_of_place(place: re.Match[str]) -> str:
        if place[1] not in texts:
            key = place[1].removeprefix("meta.")
            raise CheckError(f"This item's meta has no {key!r}, which the check asks for.")
        return texts[place[1]]

    return _PLACE.sub(text_of_place, text) if "{" in text else text


def _folded_if_ignored(check: Check, text: str) -> str:
    return text.casefold() if check.ignore_case else text


def _contains_text(check: Check, texts: ItemTexts) -> bool:
    strings = (check.contains,) if isinstance(check.contains, str) else check.contains or ()
    text = _folded_if_ignored(check, _text_for_check(check, texts))
    return all(
        _folded_if_ignored(check, _with_item_texts(text_wanted, texts)) in text
        for text_wanted in strings
    )


def _equals_text(check: Check, texts: ItemTexts) -> bool:
    expected = _folded_if_ignored(check, _with_item_texts(check.equals or "", texts)).strip()
    return _folded_if_ignored(check, _text_for_check(check, texts)).strip() == expected


@lru_cache(maxsize=256)
def _compiled_pattern(pattern: str, ignore_case: bool) -> Any:
    import regex

    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise CheckError(f"Its regular expression is not understood: {error}.") from None


def _matches_regex(check: Check, texts: ItemTexts) -> bool:
    pattern = _compiled_pattern(check.regex or "", check.ignore_case)
    try:
        return pattern.search(_text_for_check(check, texts), timeout=MATCHING) is not None
    except TimeoutError:
        message = f"The regular expression took more than {MATCHING:g} s for this text. Simplify it"
        raise CheckError(f"{message}, or bound its repetitions.") from None


@lru_cache(maxsize=64)
def _schema_validator(schema: str) -> Any:
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    parsed = json.loads(schema)
    kind = validator_for(parsed)
    try:
        kind.check_schema(parsed)
    except SchemaError as error:
        raise CheckError(f"Its JSON schema is not valid: {error.message[:200]}.") from None
    # An empty registry fetches nothing from the network.
    return kind(parsed, registry=Registry())


def _matches_schema(check: Check, texts: ItemTexts) -> bool:
    from referencing.exceptions import Unresolvable

    validator = _schema_validator(json.dumps(check.json_schema, sort_keys=True))
    try:
        value = json.loads(_text_for_check(check, texts))
    except (ValueError, RecursionError):
        return False
    try:
        return bool(validator.is_valid(value))
    except Unresolvable:
        raise CheckError("Its JSON schema refers to another, which is not fetched.") from None


def _number_in_range(check: Check, texts: ItemTexts) -> bool:
    """Return whether the text's only number passes; a text without exactly one fails."""
    numbers = set(_NUMBER.findall(_text_for_check(check, texts)))
    if check.number is None or len(numbers) != 1:
        return False
    return check.number.in_range(float(numbers.pop().replace(",", ".")))


_TESTS: Mapping[str, Callable[[Check, ItemTexts], bool]] = {
    "contains": _contains_text,
    "equals": _equals_text,
    "regex": _matches_regex,
    "json_schema": _matches_schema,
    "words": lambda check, texts: (
        check.words is not None and check.words.in_range(len(_text_for_check(check, texts).split()))
    ),
    "characters": lambda check, texts: (
        check.characters is not None
        and check.characters.in_range(len(_text_for_check(check, texts)))
    ),
    "number": _number_in_range,
    "all": lambda check, texts: all(check_passes(part, texts) for part in check.all or ()),
    "any": lambda check, texts: any(check_passes(part, texts) for part in check.any or ()),
    "not_": lambda check, texts: check.not_ is not None and not check_passes(check.not_, texts),
}

"""A judge of rules: what a text contains, matches, counts. It asks nobody and costs nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from core.domain.checks import Check, CriterionChecks
from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Vote, VoteFailure
from core.judging.protocol import Question

#: Seconds that a regular expression may take for one text.
PATIENCE = 1.0
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d+)?")
_PLACE = re.compile(r"\{(reference|prompt|meta\.[^{}]+)\}")
_NOBODY = "It has no check for this criterion."
_NONE_HELD = "None of its checks holds."


class CheckError(Exception):
    """A check that cannot be worked out; its text says why."""


class CheckJudge:
    """Answers by its checks; abstains from criteria without any, and where none of them holds.

    A check that cannot be worked out, and an option that the criterion does not have, are
    failures.
    """

    def __init__(self, spec: Judge) -> None:
        self.spec = spec

    async def ask(self, question: Question) -> AskedOutcome:
        """A vote on the question's cell, or why there is none. No call, no cost, no order."""
        checks = self.spec.checks.get(question.criterion.name)
        try:
            label, reason = (None, _NOBODY) if checks is None else answer(checks, question.item)
        except CheckError as error:
            return AskedOutcome((VoteFailure(question.cell, "code", str(error)),))
        criterion = question.criterion
        if label is None:
            return AskedOutcome((Vote(question.cell, criterion.na_index, True, reason),))
        option = criterion.index_of(label)
        if option is None:
            options = ", ".join(one.label for one in criterion.choices)
            message = f"It says {label!r}, which is none of the options: {options}."
            return AskedOutcome((VoteFailure(question.cell, "out_of_range", message),))
        abstained = criterion.choices[option].na
        return AskedOutcome((Vote(question.cell, option, abstained, reason),))

    async def close(self) -> None:
        """There is nothing to give back."""


def answer(checks: CriterionChecks, item: Item) -> tuple[str | None, str]:
    """The option's label for an item and which check it comes from; ``None``: abstains.

    Raises ``CheckError``.
    """
    for rule in checks.rules:
        if holds(rule.when, item):
            return rule.then, f"Holds: {rule.when.describe()}."
    if len(checks.rules) == 1:
        return checks.otherwise, f"Does not hold: {checks.rules[0].when.describe()}."
    return checks.otherwise, _NONE_HELD


def holds(check: Check, item: Item) -> bool:
    """Whether a check holds for an item. Raises ``CheckError``.

    >>> holds(Check(equals="{reference}"), Item(id="a", submission=" Paris", reference="Paris"))
    True
    """
    return _TESTS[check.test](check, item)


def _text(check: Check, item: Item) -> str:
    if check.of == "submission":
        return item.output
    return str(getattr(item, check.of))


def _filled(wanted: str, item: Item) -> str:
    """The text to compare with, the item's own words in their places."""

    def own(place: re.Match[str]) -> str:
        name = place[1]
        if name in ("reference", "prompt"):
            return str(getattr(item, name))
        key = name.removeprefix("meta.")
        if key not in item.meta:
            raise CheckError(f"This item's meta has no {key!r}, which the check asks for.")
        value = item.meta[key]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    return _PLACE.sub(own, wanted) if "{" in wanted else wanted


def _same_case(check: Check, text: str) -> str:
    return text.casefold() if check.ignore_case else text


def _contains(check: Check, item: Item) -> bool:
    wanted = (check.contains,) if isinstance(check.contains, str) else check.contains or ()
    text = _same_case(check, _text(check, item))
    return all(_same_case(check, _filled(one, item)) in text for one in wanted)


def _equals(check: Check, item: Item) -> bool:
    wanted = _same_case(check, _filled(check.equals or "", item)).strip()
    return _same_case(check, _text(check, item)).strip() == wanted


@lru_cache(maxsize=256)
def _pattern(pattern: str, ignore_case: bool) -> Any:
    import regex

    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        raise CheckError(f"Its regular expression is not understood: {error}.") from None


def _regex(check: Check, item: Item) -> bool:
    found = _pattern(check.regex or "", check.ignore_case)
    try:
        return found.search(_text(check, item), timeout=PATIENCE) is not None
    except TimeoutError:
        message = f"The regular expression took more than {PATIENCE:g} s for this text. Simplify it"
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
    # With a registry of its own it looks nowhere else: no address is fetched.
    return kind(given, registry=Registry())


def _json_schema(check: Check, item: Item) -> bool:
    from referencing.exceptions import Unresolvable

    validator = _validator(json.dumps(check.json_schema, sort_keys=True))
    try:
        value = json.loads(_text(check, item))
    except (ValueError, RecursionError):
        return False
    try:
        return bool(validator.is_valid(value))
    except Unresolvable:
        raise CheckError("Its JSON schema refers to another, which is not fetched.") from None


def _words(check: Check, item: Item) -> bool:
    return check.words is not None and check.words.holds(len(_text(check, item).split()))


def _characters(check: Check, item: Item) -> bool:
    return check.characters is not None and check.characters.holds(len(_text(check, item)))


def _number(check: Check, item: Item) -> bool:
    """Of no number and of several nothing can be said: the check does not hold."""
    found = set(_NUMBER.findall(_text(check, item)))
    if check.number is None or len(found) != 1:
        return False
    return check.number.holds(float(found.pop().replace(",", ".")))


_TESTS: Mapping[str, Callable[[Check, Item], bool]] = {
    "contains": _contains,
    "equals": _equals,
    "regex": _regex,
    "json_schema": _json_schema,
    "words": _words,
    "characters": _characters,
    "number": _number,
    "all": lambda check, item: all(holds(one, item) for one in check.all or ()),
    "any": lambda check, item: any(holds(one, item) for one in check.any or ()),
    "not_": lambda check, item: check.not_ is not None and not holds(check.not_, item),
}

"""Checks: rules that answer a criterion without a judge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from core.domain.base import Noun, defect
from core.domain.rubric import MET, UNMET

#: The text that a check tests.
Looked = Literal["submission", "thinking", "prompt", "reference", "description"]
_TESTS = (
    *("contains", "equals", "regex", "json_schema", "words", "characters", "number"),
    *("all", "any", "not_"),
)
MOST_PATTERN = 2000
_DEEPEST, _DEEPEST_SCHEMA = 10, 100
#: Letters beyond Latin-1, which ``(?i)`` also adds. Each costs ``re`` up to 4 ms within a set: one
#: expression took 1.7 s to compile, while the slowest without such letters takes 30 ms.
_WIDE = re.compile(r"[^\x00-\xff]|\\[uUN]|\(\?[a-zA-Z-]*i")
Text = Annotated[str, Field(max_length=100_000)]


class Within(Noun):
    """A range of numbers with both ends included; ``None`` means open."""

    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _check(self) -> Within:
        if self.min is None and self.max is None:
            raise defect("has no end.", "Give min, max, or both.")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise defect("ends before it begins.", "min must not be larger than max.")
        return self

    def in_range(self, value: float) -> bool:
        """Return whether ``value`` is in the range.

        >>> Within(min=2).in_range(2), Within(max=1).in_range(2)
        (True, False)
        """
        low, high = self.min, self.max
        return (low is None or value >= low) and (high is None or value <= high)


class Check(Noun):
    """A test of a text; has exactly one of the test fields.

    ``contains`` a text, or each of several; ``equals`` a text, ignoring white space at its ends;
    ``regex`` matches anywhere; ``json_schema``: valid JSON for the schema (``{}``: any JSON);
    ``words`` and ``characters`` limit counts; ``number``: the only number in the text is in the
    range. ``all``, ``any`` and ``not`` combine tests. In texts to compare with, ``{reference}`` and
    ``{prompt}`` stand for the item's own, ``{meta.KEY}`` for its metadata. ``of`` is the text to
    test.
    """

    # Saved panels are rebuilt from field names, where ``not`` is called ``not_``.
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    contains: Text | tuple[Text, ...] | None = None
    equals: Text | None = None
    regex: Annotated[str, Field(max_length=MOST_PATTERN)] | None = None
    json_schema: dict[str, Any] | None = None
    words: Within | None = None
    characters: Within | None = None
    number: Within | None = None
    all: tuple[Check, ...] | None = None
    any: tuple[Check, ...] | None = None
    not_: Annotated[Check | None, Field(alias="not")] = None
    of: Looked = "submission"
    ignore_case: bool = False

    @property
    def test(self) -> str:
        """Return the name of the test."""
        return next(name for name in _TESTS if getattr(self, name) is not None)

    @model_validator(mode="after")
    def _check(self) -> Check:
        set_tests = [name.rstrip("_") for name in _TESTS if getattr(self, name) is not None]
        if len(set_tests) != 1:
            tests = ", ".join(name.rstrip("_") for name in _TESTS)
            problem = " and ".join(set_tests) if set_tests else "no test"
            raise defect(f"has {problem}.", f"Give exactly one of {tests}.")
        if (self.all, self.any) in (((), None), (None, ())) or self.contains in ("", ()):
            raise defect("is empty.", "It would hold for every text.", set_tests[0])
        if self.regex is not None:
            _require_pattern(self.regex)
        if self.json_schema is not None and _too_deep(self.json_schema):
            remedy = f"At most {_DEEPEST_SCHEMA} levels."
            raise defect("is nested too deep.", remedy, "json_schema")
        return self

    def describe(self) -> str:
        """Return what the check requires, in a few words.

        >>> Check(words=Within(min=3)).describe()
        'at least 3 words'
        """
        place = "" if self.of == "submission" else f" in the {self.of}"
        name = self.test
        if name in ("words", "characters"):
            return f"{_range_text(getattr(self, name))} {name}{place}"
        if self.number is not None:
            return f"a number of {_range_text(self.number)}{place}"
        if self.not_ is not None:
            return f"not ({self.not_.describe()})"
        if name in ("all", "any"):
            word = " and " if name == "all" else " or "
            return word.join(f"({test.describe()})" for test in getattr(self, name))
        value = getattr(self, name)
        is_tuple = isinstance(value, tuple)
        shown = ", ".join(map(json.dumps, value)) if is_tuple else json.dumps(value)
        start = {"json_schema": "JSON that fits", "regex": "matches"}.get(name, name)
        return f"{start} {shown[:120]}{place}"


def _require_pattern(pattern: str) -> None:
    """Refuse invalid regular expressions.

    Those that may be slow to compile are left to the process that evaluates checks, because it
    can be killed.
    """
    if "[" in pattern and _WIDE.search(pattern):
        return
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        advice = "Write it as Python's re does; escape ( [ . * with a backslash."
        raise defect(f"is no regular expression: {error}.", advice, "regex") from None


def _too_deep(schema: Any) -> bool:
    """Return whether a schema is nested too deeply to be read back after saving."""
    level = [schema]
    for _ in range(_DEEPEST_SCHEMA):
        children = (child.values() if isinstance(child, dict) else child for child in level)
        within = (
            child for values in children for child in values if isinstance(child, dict | list)
        )
        level = list({id(child): child for child in within}.values())
    return bool(level)


def _range_text(within: Within) -> str:
    low, high = within.min, within.max
    if low is None:
        return f"at most {high:g}"
    return f"at least {low:g}" if high is None else f"{low:g} to {high:g}"


class CheckRule(Noun):
    """A check, and the option that applies if it holds."""

    when: Check
    then: Annotated[str, Field(min_length=1, max_length=200)]


class CriterionChecks(Noun):
    """The rules that answer a criterion: the first one that holds, else ``otherwise``.

    Without ``otherwise`` the judge abstains if no rule holds. A single check gives MET if it holds,
    else UNMET.

    >>> short = CriterionChecks.model_validate({"contains": "http"})
    >>> short.rules[0].then, short.otherwise
    ('MET', 'UNMET')
    """

    rules: Annotated[tuple[CheckRule, ...], Field(min_length=1, max_length=100)]
    otherwise: Annotated[str, Field(max_length=200)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _shorten(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or value.keys() & {"rules", "otherwise"}:
            return value
        return {"rules": [{"when": value, "then": MET}], "otherwise": UNMET}

    @model_validator(mode="after")
    def _check(self) -> CriterionChecks:
        for rule in self.rules:
            if max(_depths_of(rule.when)) > _DEEPEST:
                raise defect("is nested too deep.", f"At most {_DEEPEST} levels.", "rules")
        return self

    @property
    def labels(self) -> tuple[str, ...]:
        """Return every possible answer, by label."""
        answers = [rule.then for rule in self.rules]
        return tuple(dict.fromkeys(answers + ([self.otherwise] if self.otherwise else [])))


def _depths_of(check: Check, depth: int = 1) -> Iterator[int]:
    yield depth
    if depth <= _DEEPEST:
        for subcheck in (*(check.all or ()), *(check.any or ()), *filter(None, (check.not_,))):
            yield from _depths_of(subcheck, depth + 1)

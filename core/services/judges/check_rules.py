"""A judge's checks as rows of rules, as a form shows them, and a trial of the checks on an item.

Checks that rules cannot express (tests joined by all or any, a schema) stay YAML text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from core.domain.base import build_model
from core.domain.checks import MOST_PATTERN, Check, CheckRule, CriterionChecks, Looked
from core.domain.dataset import Item
from core.domain.rubric import MET, UNMET
from core.errors import InputError, Problem
from core.formats.rubrics.rubric_file import as_yaml
from core.formats.source.yaml_reader import read_yaml
from core.judging.checks.answers import CheckError, names_in_checks, texts_for_checks
from core.judging.checks.desk import CheckEnded, check_item_now, checks_as_json

Test = Literal[
    "contains", "lacks", "equals", "regex", "words", "characters", "number", "json_schema"
]
#: Tests that compare texts, and tests of a number.
TEXT_TESTS: tuple[Test, ...] = ("contains", "lacks", "equals", "regex")
RANGE_TESTS: tuple[Test, ...] = ("words", "characters", "number")
#: The longest text in a row of the form, and the largest number that a browser keeps exactly.
MOST_TEXT = MOST_PATTERN
_MOST_NUMBER = 1e15
_REFUSED = "These checks are not valid."
YAML_PLACE = "Further checks"


class RuleRow(TypedDict):
    """A rule as plain data: the test, and the option to choose if it succeeds.

    ``otherwise`` is the option if no rule matches, given in a criterion's last rule; empty to
    abstain.
    """

    criterion: str
    test: Test
    text: str
    low: float | None
    high: float | None
    of: Looked
    ignore_case: bool
    then: str
    otherwise: str


def new_row(criterion: str = "") -> RuleRow:
    """Return an empty rule."""
    return _row(criterion, "contains")


def _row(criterion: str, test: Test) -> RuleRow:
    return RuleRow(
        criterion=criterion,
        test=test,
        text="",
        low=None,
        high=None,
        of="submission",
        ignore_case=False,
        then=MET,
        otherwise=UNMET,
    )


def rows_of(checks: Mapping[str, CriterionChecks]) -> tuple[list[RuleRow], str]:
    """Return the rules, and as YAML the criteria that rules cannot express."""
    rows, others = list[RuleRow](), dict[str, Any]()
    for criterion, checks_of in checks.items():
        converted = [
            _as_row(criterion, rule, checks_of.otherwise or "") for rule in checks_of.rules
        ]
        shown = [row for row in converted if row is not None]
        if len(shown) == len(converted):
            rows += shown
        else:
            others[criterion] = checks_of.model_dump(
                mode="json", by_alias=True, exclude_defaults=True
            )
    return rows, as_yaml(others) if others else ""


def _as_row(criterion: str, rule: CheckRule, otherwise: str) -> RuleRow | None:
    """Return the rule as a row, or ``None`` if the row would read back as a different rule."""
    when = rule.when
    inner_test = when.not_ or when
    test = "lacks" if when.not_ is not None else when.test
    if test not in (*TEXT_TESTS, *RANGE_TESTS, "json_schema"):
        return None
    row = _row(criterion, test)
    row |= {"of": inner_test.of, "ignore_case": inner_test.ignore_case}
    row |= {"then": rule.then, "otherwise": otherwise}
    value = getattr(inner_test, inner_test.test)
    if isinstance(value, str):
        row["text"] = value
    elif test in RANGE_TESTS:
        row |= {"low": value.min, "high": value.max}
    if not _fits_a_line(row):
        return None
    try:
        return row if _check_of_rule(row) == when else None
    except InputError:
        return None


def _fits_a_line(row: RuleRow) -> bool:
    ends = [end for end in (row["low"], row["high"]) if end is not None]
    integral = row["test"] == "number" or all(end == int(end) for end in ends)
    in_range = all(abs(end) <= _MOST_NUMBER for end in ends)
    one_line = row["text"].splitlines() in ([], [row["text"]])
    return integral and in_range and one_line and len(row["text"]) <= MOST_TEXT


def _check_of_rule(row: RuleRow) -> Check:
    """Return the test of a rule. Raises ``InputError``."""
    test = row["test"]
    value: Any = row["text"]
    if test == "json_schema":
        value = {}
    elif test in RANGE_TESTS:
        value = {"min": row["low"], "max": row["high"]}
    common = {"of": row["of"], "ignore_case": row["ignore_case"] and test in TEXT_TESTS}
    if test == "lacks":
        return build_model(Check, {"not": {**common, "contains": value}}, "check")
    return build_model(Check, {**common, test: value}, "check")


def checks_from(rows: Sequence[RuleRow], text: str = "") -> dict[str, CriterionChecks]:
    """Return the checks of rules and of further YAML, by criterion.

    Raises:
        InputError: every problem, each with its rule.
    """
    problems, rules = list[Problem](), dict[str, list[CheckRule]]()
    otherwise = dict[str, str | None]()
    for number, row in enumerate(rows, start=1):
        place = f"Rule {number}"
        criterion, wrong = row["criterion"].strip(), _missing_fields(row)
        problems += [Problem(message, mend, (place,)) for message, mend in wrong]
        try:
            rule = CheckRule(when=_check_of_rule(row), then=row["then"].strip() or MET)
        except InputError as error:
            if not wrong:
                problems += [Problem(p.message, p.mend, (place,)) for p in error.problems[:1]]
            continue
        rules.setdefault(criterion, []).append(rule)
        otherwise[criterion] = row["otherwise"].strip() or None
    checks = dict[str, CriterionChecks]()
    if not problems:
        checks = {
            name: CriterionChecks(rules=tuple(own_rules), otherwise=otherwise[name])
            for name, own_rules in rules.items()
        }
        given_twice = checks.keys() & (others := _yaml_checks(text)).keys()
        if given_twice:
            message = f"name {min(given_twice)!r}, which has rules above."
            problems = [Problem(message, "Say it in one of the two places.", (YAML_PLACE,))]
        checks |= others
    if not problems and not checks:
        problems = [Problem("There is no rule.", "Add one.")]
    if problems:
        raise InputError(_REFUSED, tuple(problems))
    return checks


def _missing_fields(row: RuleRow) -> list[tuple[str, str]]:
    """Return the missing fields of a rule, as the form names them."""
    wrong = []
    ends = [end for end in (row["low"], row["high"]) if end is not None]
    if not row["criterion"].strip():
        wrong.append(("names no criterion.", "Say which question it answers."))
    if row["test"] in ("contains", "lacks", "regex") and not row["text"]:
        wrong.append(("has no text to look for.", "Write it next to the test."))
    if row["test"] in RANGE_TESTS and not ends:
        wrong.append(("has no number.", "Give the least, the most, or both."))
    elif row["test"] in RANGE_TESTS and len(ends) == 2 and ends[0] > ends[1]:
        wrong.append(("ends before it begins.", "The least must not be above the most."))
    return wrong


def _yaml_checks(text: str) -> dict[str, CriterionChecks]:
    """Return checks by criterion, as in a panel file. Raise ``InputError`` with one problem."""
    if not text.strip():
        return {}
    try:
        value = read_yaml(text).require_valid("list of checks", "").value
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise InputError(
                "",
                (Problem("are not checks by criterion.", "Write `criterion: {contains: text}`."),),
            )
        checks = {}
        for name, criterion_rules in value.items():
            try:
                checks[name] = build_model(CriterionChecks, criterion_rules, "check")
            except InputError as error:
                first = error.problems[0]
                place = (name, *first.path)
                raise InputError("", (Problem(first.message, first.mend, place),)) from None
        return checks
    except InputError as error:
        first = error.problems[0]
        place_words = f"{first.place}: " if first.place else ""
        problem = Problem(f"{place_words}{first.message}", first.mend, (YAML_PLACE,))
        raise InputError(_REFUSED, (problem,)) from None


@dataclass(frozen=True)
class CheckOutcome:
    """The result of the checks on a criterion; ``option`` is ``None`` without an answer."""

    criterion: str
    option: str | None
    why: str
    failed: bool = False


def try_out(checks: Mapping[str, CriterionChecks], item: Item) -> list[CheckOutcome]:
    """Return the result of each criterion's checks on an item, and the rule that decided."""
    try:
        answers = check_item_now(
            checks_as_json(checks), texts_for_checks(names_in_checks(checks.values()), item)
        )
    except CheckError as error:
        answers = dict.fromkeys(checks, error)
    return [_trial_result(criterion, answers[criterion]) for criterion in checks]


def _trial_result(criterion: str, outcome: tuple[str | None, str] | CheckError) -> CheckOutcome:
    if isinstance(outcome, CheckEnded):
        return CheckOutcome(criterion, None, f"The check {outcome}", failed=True)
    if isinstance(outcome, CheckError):
        return CheckOutcome(criterion, None, str(outcome), failed=True)
    return CheckOutcome(criterion, *outcome)

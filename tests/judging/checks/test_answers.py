"""Checks answer by rules: what a text contains, matches, counts; expectations are read off it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from pydantic import ValidationError

from core.domain.checks import Check, CriterionChecks
from core.domain.dataset import Item, Sections
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.votes import AskedOutcome, Cell, Vote, VoteFailure
from core.judging.checks import answers
from core.judging.checks.answers import CheckError, names_in_checks, texts_for_checks
from core.judging.checks.desk import CheckDesk
from core.judging.checks.judge import CheckJudge
from core.judging.protocol import Question

ITEM = Item(
    id="a",
    submission=Sections(thinking="Let me see.", output='Paris has 2,1 million people: {"n": 1}'),
    prompt="Name a capital.",
    reference="Paris",
    meta={"topic": "towns", "n": 3},
)
CITES = Criterion(name="cites", requirement="Cites.")
DEPTH = Criterion(
    name="depth",
    requirement="How deep?",
    scale="ordinal",
    options=(Option(label="none", value=0), Option(label="some", value=1)),
)
RUBRIC = Rubric(name="r", criteria=(CITES, DEPTH))


def ask(
    checks: dict[str, Any], criterion: Criterion = CITES, item: Item = ITEM
) -> Vote | VoteFailure:
    cell = Cell(item.id, criterion.name, "j", 0)
    question = Question(cell, item, RUBRIC, criterion, (0, 1), 1)

    async def answered() -> AskedOutcome:
        desk = CheckDesk()
        judge = CheckJudge(Judge(name="j", kind="check", checks=checks), desk)
        try:
            return await judge.ask(question)
        finally:
            await judge.close()
            await desk.close()

    (said,) = asyncio.run(answered()).results
    return said


def holds(check: Check, item: Item) -> bool:
    """As the process that works checks out says it."""
    one = CriterionChecks.model_validate(check.model_dump(by_alias=True, exclude_defaults=True))
    return answers.check_passes(check, texts_for_checks(names_in_checks([one]), item))


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ({"contains": "Paris"}, True),
        ({"contains": "paris"}, False),
        ({"contains": "paris", "ignore_case": True}, True),
        ({"contains": ["Paris", "million"]}, True),
        ({"contains": ["Paris", "London"]}, False),
        ({"contains": "{reference}"}, True),
        ({"contains": "{meta.topic}"}, False),
        ({"contains": "{meta.n}"}, False),  # 3 stands nowhere
        ({"contains": '{"n"'}, True),  # braces that name nothing are braces
        ({"equals": "Paris"}, False),
        ({"equals": " Paris ", "of": "reference"}, True),
        ({"regex": r"\bhas \d"}, True),
        ({"regex": "^paris", "ignore_case": True}, True),
        ({"regex": "London"}, False),
        ({"contains": "see", "of": "thinking"}, True),
        ({"contains": "see"}, False),
        ({"words": {"min": 7, "max": 7}}, True),  # Paris has 2,1 million people: {"n": 1}
        ({"words": {"max": 6}}, False),
        ({"characters": {"min": 15, "max": 15}, "of": "prompt"}, True),
        ({"number": {"min": 0}}, False),  # 2,1 and 1: not one number
        ({"all": [{"contains": "Paris"}, {"words": {"min": 1}}]}, True),
        ({"any": [{"contains": "London"}, {"contains": "Paris"}]}, True),
        ({"not": {"contains": "Paris"}}, False),
    ],
)
def test_what_holds_of_a_text(check: dict[str, Any], found: bool) -> None:
    assert holds(Check.model_validate(check), ITEM) is found


@pytest.mark.parametrize(
    ("text", "within", "found"),
    [
        ("It is 2,5.", {"min": 2.5, "max": 2.5}, True),
        ("-3", {"max": 0}, True),
        ("1e3 or so", {"min": 1000}, True),
        ("4 and 4", {"min": 4, "max": 4}, True),
        ("none", {"min": 0}, False),
    ],
)
def test_a_number_is_the_only_one_in_the_text(
    text: str, within: dict[str, float], found: bool
) -> None:
    check = Check.model_validate({"number": within})
    assert holds(check, Item(id="n", submission=text)) is found


@pytest.mark.parametrize(
    ("text", "schema", "found"),
    [
        ('{"n": 1}', {}, True),
        ('{"n": 1}', {"required": ["n"], "properties": {"n": {"type": "integer"}}}, True),
        ('{"n": "1"}', {"properties": {"n": {"type": "integer"}}}, False),
        ("no JSON", {}, False),
        ("[" * 100_000, {}, False),
    ],
)
def test_json_fits_a_schema_or_does_not(text: str, schema: dict[str, Any], found: bool) -> None:
    assert holds(Check(json_schema=schema), Item(id="j", submission=text)) is found


def test_a_check_alone_is_met_or_not_and_says_why() -> None:
    said = ask({"cites": {"contains": "Paris"}})
    assert isinstance(said, Vote)
    assert (said.option, said.abstained) == (0, False)
    assert said.reason == 'Holds: contains "Paris".'
    other = ask({"cites": {"contains": "London"}})
    assert isinstance(other, Vote)
    assert (other.option, other.reason) == (1, 'Does not hold: contains "London".')


def test_the_first_rule_that_holds_answers_and_without_one_it_abstains() -> None:
    rules = [
        {"when": {"contains": "London"}, "then": "some"},
        {"when": {"contains": "Paris"}, "then": "none"},
        {"when": {"words": {"min": 1}}, "then": "some"},
    ]
    said = ask({"depth": {"rules": rules}}, DEPTH)
    assert isinstance(said, Vote)
    assert said.option == 0

    nothing = ask({"depth": {"rules": rules[:1]}}, DEPTH)
    assert isinstance(nothing, Vote)
    assert nothing.abstained
    otherwise = ask({"depth": {"rules": rules[:1], "otherwise": "some"}}, DEPTH)
    assert isinstance(otherwise, Vote)
    assert otherwise.option == 1


def test_of_a_criterion_without_checks_it_abstains() -> None:
    said = ask({"cites": {"contains": "x"}}, DEPTH)
    assert isinstance(said, Vote)
    assert (said.abstained, said.reason) == (True, "It has no check for this criterion.")


@pytest.mark.parametrize(
    ("check", "kind", "says"),
    [
        ({"rules": [{"when": {"contains": "Paris"}, "then": "maybe"}]}, "out_of_range", "'maybe'"),
        ({"contains": "{meta.gone}"}, "code", "no 'gone'"),
        ({"json_schema": {"type": "nothing"}}, "code", "not valid"),
        # Sets like these take long to understand, so the process for checks does it.
        ({"regex": "[а-я]+("}, "code", "not understood"),
        ({"regex": "[\\u0430-\\u044f]+("}, "code", "not understood"),
        ({"regex": "(?i:[a-z]+("}, "code", "not understood"),
        ({"regex": "(?s-i:(?mi)[a-z]+("}, "code", "not understood"),
    ],
)
def test_what_cannot_be_worked_out_is_a_failure(check: Any, kind: str, says: str) -> None:
    said = ask({"cites": check})
    assert isinstance(said, VoteFailure)
    assert said.kind == kind
    assert says in said.message


def test_an_expression_that_would_run_for_ever_is_stopped() -> None:
    hostile = Item(id="h", submission="a" * 5000 + "!")
    with pytest.raises(CheckError, match="took more than"):
        holds(Check(regex=r"(a|aa)+$"), hostile)


def test_a_schema_that_refers_elsewhere_is_not_fetched() -> None:
    check = Check(json_schema={"$ref": "http://127.0.0.1:9/schema.json"})
    with pytest.raises(CheckError, match="not fetched"):
        holds(check, Item(id="r", submission="{}"))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "has no test"),
        ({"contains": "a", "equals": "b"}, "contains and equals"),
        ({"contains": ""}, "is empty"),
        ({"all": []}, "is empty"),
        ({"regex": "("}, "no regular expression"),
        ({"regex": "[a-z]+("}, "no regular expression"),
        ({"regex": "(?i)а("}, "no regular expression"),
        ({"json_schema": json.loads('{"not":' * 101 + "{}" + "}" * 101)}, "nested too deep"),
        ({"words": {}}, "has no end"),
        ({"words": {"min": 3, "max": 2}}, "ends before it begins"),
        ({"of": "meta"}, "of"),
    ],
)
def test_a_check_that_says_nothing_clear_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        CriterionChecks.model_validate(given if given else {"rules": [{"when": {}, "then": "x"}]})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"kind": "check"}, "is empty"),
        ({"kind": "command"}, "is empty"),
        ({"model": "m", "checks": {"a": {"contains": "b"}}}, "for judges of the kind 'check'"),
        ({"model": "m", "command": ["true"]}, "for judges of the kind 'command'"),
    ],
)
def test_checks_and_programs_belong_to_judges_of_their_kind(
    given: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValidationError, match=says):
        Judge.model_validate({"name": "j", **given})

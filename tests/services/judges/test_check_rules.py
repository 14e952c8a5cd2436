"""Checks as lines of a form: what a line says is the check, and what no line says stays text."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.checks import CriterionChecks
from core.domain.dataset import Item
from core.errors import InputError
from core.judging.checks import desk
from core.services.judges import check_rules, registry
from core.services.judges.check_rules import RuleRow, checks_from, new_row, rows_of, try_out
from core.store.store import Store

LINES: list[dict[str, Any]] = [
    {"contains": "http"},
    {"not": {"contains": "stupid", "ignore_case": True}},
    {"equals": "{reference}", "of": "thinking"},
    {"regex": "^a+$"},
    {"words": {"min": 3, "max": 9}},
    {"characters": {"max": 500}},
    {"number": {"min": 0.5}},
    {"json_schema": {}},
]
NO_LINES: list[dict[str, Any]] = [
    {"all": [{"contains": "a"}, {"contains": "b"}]},
    {"json_schema": {"type": "object"}},
    {"contains": ["a", "b"]},
    {"contains": "two\nlines"},
    {"words": {"min": 2.5}},
    {"not": {"regex": "a"}},
    {"contains": "x" * 3000},
]


def checks(**by_criterion: Any) -> dict[str, CriterionChecks]:
    return {name: build_model(CriterionChecks, one, "check") for name, one in by_criterion.items()}


def line(criterion: str = "c", **given: Any) -> RuleRow:
    return {**new_row(criterion), **given}  # type: ignore[typeddict-item]


def told(rows: list[RuleRow], text: str = "") -> list[str]:
    with pytest.raises(InputError) as refused:
        checks_from(rows, text)
    return [str(problem) for problem in refused.value.problems]


@pytest.mark.parametrize("check", LINES, ids=lambda check: next(iter(check)))
def test_a_check_that_a_line_can_say_comes_back_from_its_line(check: dict[str, Any]) -> None:
    given = checks(c=check)
    rows, text = rows_of(given)

    assert (len(rows), text) == (1, "")
    assert checks_from(rows) == given


@pytest.mark.parametrize("check", NO_LINES, ids=lambda check: next(iter(check)))
def test_a_check_that_no_line_can_say_comes_back_from_its_yaml(check: dict[str, Any]) -> None:
    given = checks(c=check)
    rows, text = rows_of(given)

    assert rows == []
    assert checks_from(rows, text) == given


def test_several_rules_of_a_criterion_keep_their_order_and_what_stands_last() -> None:
    rules = [
        {"when": {"words": {"max": 20}}, "then": "shallow"},
        {"when": {"words": {"min": 200}}, "then": "deep"},
    ]
    given = checks(depth={"rules": rules, "otherwise": "fair"}, silent={"rules": rules})

    rows, text = rows_of(given)

    assert [row["then"] for row in rows] == ["shallow", "deep"] * 2
    assert checks_from(rows, text) == given


def test_what_is_wrong_names_its_rule() -> None:
    rows = [
        line(text="a"),
        line("", text="a"),
        line(test="words"),
        line(test="words", low=3, high=2),
        line(test="regex", text="("),
        line(test="contains"),
    ]

    problems = told(rows)

    assert [problem.partition(":")[0] for problem in problems] == [
        f"Rule {number}" for number in (2, 3, 4, 5, 6)
    ]
    assert "is no regular expression" in problems[3]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [", "line"),
        ("just words", "are not checks by criterion"),
        ("a: {contians: x}", "Did you mean 'contains'?"),
        ("c: {contains: x}", "has rules above"),
        ("a: {any: []}", "is empty"),
        ("a: 1\na: 2", "line 2"),
    ],
)
def test_yaml_that_is_wrong_is_one_problem_in_words(text: str, says: str) -> None:
    (problem,) = told([line(text="a")], text)

    assert problem.startswith("Further checks: ")
    assert says in problem


def test_no_rule_at_all_is_said() -> None:
    assert told([]) == ["There is no rule. Add one."]


def test_a_text_is_tried_as_a_run_would_judge_it() -> None:
    rules = checks(
        cites={"contains": "http"},
        own={"contains": "{meta.city}"},
        long={"rules": [{"when": {"words": {"min": 9}}, "then": "MET"}]},
    )
    item = Item(id="a", submission="see http://x")

    found = {one.criterion: (one.option, one.failed) for one in try_out(rules, item)}

    # "see http://x" are two words, and nothing is said of what is shorter than nine.
    assert found == {"cites": ("MET", False), "own": (None, True), "long": (None, False)}
    assert 'contains "http"' in try_out(rules, item)[0].why


def test_a_check_that_would_never_end_is_tried_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "PATIENCE", 0.5)
    rules = checks(c={"json_schema": {"pattern": "^(a+)+$"}}, d={"contains": "a"})

    hung, found = try_out(rules, Item(id="a", submission=f'"{"a" * 60}!"'))

    assert hung.failed
    assert hung.why.startswith("The check took more than 0.5 s and was ended.")
    assert (found.option, found.failed) == ("MET", False)


def test_who_tries_out_many_that_never_end_waits_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "IN_ALL", 1.0)
    rules = checks(**{f"c{n}": {"json_schema": {"pattern": "^(b+)+$"}} for n in range(3)})

    tried = try_out(rules, Item(id="a", submission=f'"{"b" * 60}!"'))

    assert {one.why for one in tried} == {
        "The check was not checked, because others took too long."
    }


def test_a_judge_of_checks_is_kept_and_sits_on_a_panel(store: Store) -> None:
    given = checks(polite={"not": {"contains": "stupid"}})
    plain = {name: one.model_dump(by_alias=True) for name, one in given.items()}
    registry.save_judge(store, {"name": "rules", "kind": "check", "checks": plain})

    row = registry.save_panel(store, "Mine", ["rules"], {})

    assert registry.get_judge(store, "rules").judge.checks == given
    assert registry.get_panel(store, row.id).panel.judges[0].checks == given
    assert check_rules.rows_of(given)[0][0]["test"] == "lacks"

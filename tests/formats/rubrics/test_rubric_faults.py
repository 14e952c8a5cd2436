"""Rubrics that are refused: what, where, how to mend it; never a guess, never a traceback."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.formats.rubrics.forms import read_rubrics
from core.formats.rubrics.rubric_file import parse_rubric
from tests.formats.refusals import rubric_refused

A = "criteria:\n- name: a\n  requirement: A\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (A + "  weigth: 3\n", 4, "criteria 1, weigth: is not a known key of a criterion."),
        (A + "  Weight: 3\n", 4, "Did you mean 'weight'?"),
        (A + "  optoins: []\n", 4, "Did you mean 'options'?"),
        ("guidlines: x\n" + A, 1, "guidlines: is not a known key of a rubric. Did you mean"),
        ("sections:\n- nam: S\n  criteria: [A]\n", 2, "is not a known key of a section"),
        (A + "  options:\n  - {label: x, vale: 0}\n  - {label: y, value: 1}\n", 5, "'value'?"),
        (A + "  weight: heavy\n", 4, "criteria 1, weight: is 'heavy'"),
        (A + "  weight: 1,5\n", 4, "weight: is '1,5'. Use a number, like 1.5 (a point, no comma)."),
        (A + "  weight: true\n", 4, "weight: is true. Use a number."),
        (A + "  weight: .nan\n", 4, "weight: is .nan"),
        (A + "  weight: 'nan'\n", 4, "criteria 1, weight"),
        (A + "  weight: 1e999\n", 4, "too large"),
        (A + f"  weight: {'9' * 400}\n", 4, "whole number of 400 digits"),
        (A + "  scale: ordnal\n", 4, "Use 'binary', 'ordinal' or 'nominal'."),
        (A + "  scale: ordinal\n", 4, "is ordinal, but there are no options."),
        (
            A + "  scale: nominal\n  scale_type: ordinal\n",
            5,
            "is 'ordinal', but scale is 'nominal'",
        ),
        (A + "  aggregation: meen\n", 4, "criteria 1, aggregation: is 'meen'"),
        (A + "  options: 5\n", 4, "options: is a number. Use a list of options."),
        (A + "  options: [x, y]\n", 4, "options 1: is text, not an option."),
        (A + "  options:\n  - {label: true, value: 0}\n  - {label: b, value: 1}\n", 5, "in quotes"),
        (A + "  options:\n  - {label: x, value: 0}\n  - {label: X, value: 1}\n", 6, "repeats"),
        (A + "  options:\n  - {label: x, value: 7}\n  - {label: y, value: 1}\n", 5, "value: is 7"),
        (A + "  options:\n  - {label: x}\n  - {label: y, value: 1}\n", 5, "is missing for option"),
        (A + "  source: Q\n  meta: {source: P}\n", 4, "is given twice, once under meta"),
        (A + "  meta: 3\n", 4, "criteria 1, meta"),
        (A + "  meta: 3\n  source: Q\n", 4, "criteria 1, meta"),
        (A + "meta: hello\nodd: 1\n", 4, "meta: is text"),
        (A + "- name: A\n  requirement: B\n", 4, "criteria 2, name: repeats the name 'A'"),
        (A + "- name: b\n", 4, "criteria 2, requirement: is missing. Add it."),
        (A + "- 5\n", 4, "criteria 2: is a number, not a criterion."),
        (A + "scoring: {abstention: skp}\n", 4, "scoring, abstention: is 'skp'"),
        (A + "scoring: {normalise: true}\n", 4, "scoring, normalise: is not a known key."),
        (A + "scoring: {partial_credit: true}\n", 4, "is true. Use a number."),
        (A + "scoring: {min_coverage: true}\n", 4, "is true. Use a number."),
        (A + "scoring: {min_coverage: 1.5}\n", 4, "scoring, min_coverage: is 1.5"),
        (
            A + "gates:\n- {name: g, when: {criterion: b, is: MET}, then: {cap: 0.5}}\n",
            5,
            "gates 1, when, criterion: names the criterion 'b'",
        ),
        (
            "guidelines: x\nrubric:\n  guidelines: y\n  criteria: [A]\n",
            3,
            "both next to `rubric` and inside",
        ),
        ("rubric:\n  name: x\n", 1, "holds no criteria"),
        ("criteria: hello\n", 1, "criteria: is text. Use a list of criteria."),
        ("sections: {S: hello}\n", 1, "sections, S: is text."),
        ("hello\n", 1, "is text, not a rubric."),
        ("criteria: []\n", 1, "criteria: is empty. Add at least one criterion."),
        ("items: []\nrubric: [A]\n", 1, "this is a dataset"),
    ],
)
def test_a_fault_is_named_with_its_line_and_mend(text: str, line: int, words: str) -> None:
    found = rubric_refused(text)
    assert found[0][0] == line
    assert words in found[0][1]


def test_in_a_bare_list_the_place_still_says_criteria() -> None:
    [(_, text)] = rubric_refused("- A\n- {requirement: B, weigth: 3}\n")
    assert text.startswith("line 2, criteria 2, weigth:")


def test_lines_are_the_source_s_where_sections_shift_the_criteria() -> None:
    text = """\
criteria:
- name: S
  criteria:
  - {name: a, requirement: A}
  - {name: b, requirement: B}
- {name: c, requirement: C, weigth: 1}
- {name: d, requirement: D, weight: heavy}
"""
    # The second entry of `criteria` is the third criterion; its line is the entry's.
    assert [line for line, _ in rubric_refused(text)] == [6, 7]


def test_every_problem_of_a_file_is_named_at_once_in_the_order_of_its_lines() -> None:
    text = A + "  weight: heavy\n  scale: ordnal\n- name: b\n  requirment: B\n- 5\n"
    assert [line for line, _ in rubric_refused(text)] == [4, 5, 6, 7, 8]


def test_no_more_than_fifty_problems_are_listed_and_the_rest_are_counted() -> None:
    text = "".join(f"- {{requirement: r{n}, weigth: 1}}\n" for n in range(80))
    found = rubric_refused(text)
    assert len(found) == 51
    assert found[-1] == (None, "and 30 more.")  # 80 - 50


def test_json_problems_have_lines_too() -> None:
    text = '{"criteria": [\n {"name": "a", "requirement": "A",\n  "weigth": 3}\n]}'
    assert rubric_refused(text, "r.json")[0][0] == 3


def test_a_label_that_yaml_1_1_would_call_true_is_a_word() -> None:
    text = A + "  options: [{label: no, value: 0}, {label: yes, value: 1}]\n"
    assert [o.label for o in parse_rubric(text, "r.yaml").value.criteria[0].options] == [
        "no",
        "yes",
    ]


@pytest.mark.parametrize(
    "line", [",".join(f"c{at}" for at in range(200_000)), '"' + "c" * 200_000], ids=["wide", "long"]
)
def test_a_table_whose_first_line_is_beyond_any_csv_is_refused_with_one_message(line: str) -> None:
    """A cell of more than 128 KB, which Python's reader raises for, ended in a traceback."""
    with pytest.raises(InputError, match=r"This rubric is not valid \(1 problem\)"):
        read_rubrics(f"{line}\nx\n", "rubric.csv")

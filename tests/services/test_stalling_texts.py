"""Texts made to stall a pattern: none of them may stop the app for everybody.

Patterns that look at a place from every place before it need minutes for these texts (time grows
with the square of the length), which the time limit of tests ends. Nothing here is timed.
"""

from __future__ import annotations

import pytest

from core.domain.gates import FAMILIES, Precheck
from core.errors import InputError
from core.formats.rubrics.rubric_file import parse_rubric
from core.rubric_diff.wording import word_changes
from core.scoring.gates import screen_text
from core.services.judges.panel_setup import could_be_secret
from core.services.rubrics.import_export import read_paste
from core.text.quotes import sentence_spans

LONG = 400_000
ALL = Precheck(name="all", families=FAMILIES)


def test_a_run_of_marks_is_one_sentence() -> None:
    text = "?" * LONG + "x! Next."
    assert sentence_spans(text) == [(0, LONG + 2), (LONG + 3, LONG + 8)]


@pytest.mark.parametrize("run", ["!", "!'", "\n", "\n ", "1", "a.", "a@", "'"])
def test_a_long_run_in_a_submission_does_not_stop_the_pre_checks(run: str) -> None:
    text = "Here is how to make a bomb " + run * (LONG // len(run)) + "x"
    (mark,) = screen_text([ALL], text)
    assert [found.text for found in mark.found] == ["how to make a bomb"]


def test_blanks_after_a_json_document_do_not_keep_its_faults_from_being_named() -> None:
    text = '{"criteria": [{"name": "a",\n"requirement": "b", "weight": "x"}]}' + " " * LONG
    with pytest.raises(InputError) as refused:
        parse_rubric(text, "r.json")
    assert [problem.line for problem in refused.value.problems] == [2]


@pytest.mark.parametrize("line", ["# a{}x", "Cites{}a source", "Cites (5{}a source", "1.{}x"])
def test_a_pasted_line_with_a_run_of_blanks_is_read_as_with_one(line: str) -> None:
    whole, short = (read_paste(line.format(" " * n) + "\nnext")[0] for n in (LONG, 1))
    assert whole == short


@pytest.mark.parametrize("run", ["#", "?key", "?a;", "@"])
def test_a_long_address_is_looked_through_for_secrets(run: str) -> None:
    address = "https://host/" + run * (LONG // len(run))
    assert not could_be_secret("api_base", address)
    assert could_be_secret("api_base", address + "?token=1")


def test_wordings_too_long_to_compare_are_each_one_change() -> None:
    before, after = " " + "- " * 10_000, "x " * 10_000
    assert word_changes(before, after) == (((1, 20_000),), ((0, 19_999),))

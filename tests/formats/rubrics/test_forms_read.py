"""Rubrics read from other programs' tables, and from tables as people make them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.rubrics.forms import RUBRIC_FORMS, read_rubrics, write_rubric
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.rubrics.tables.canvas import canvas_rubric, read_canvas_rubrics
from core.formats.rubrics.tables.level_tables import (
    FULL,
    MOODLE,
    levels_csv,
    moodle_csv,
    read_levels,
)
from core.formats.source.csv_reader import read_raw
from tests.formats.rubrics.rubric_tables import PLAIN, TEMPLATE, grid, one
from tests.strategies import rubrics


def test_a_table_for_moodle_has_its_four_columns_and_says_what_to_set() -> None:
    written = moodle_csv(PLAIN)

    assert tuple(grid(written.text)[0]) == MOODLE
    assert grid(written.text)[1] == [
        "Method: Is the method told so that it can be repeated?",
        "1",
        "Whole: All steps, in order.",
        "8",
    ]
    # 8 + 2 points at best.
    assert any("maximum grade to 10" in str(loss) for loss in written.losses)


def test_moodles_own_example_is_read() -> None:
    # The example of the plugin (reference: adjudication.md 4.3).
    text = (
        "criterion,level,level_description,score\n"
        "Clarity,1,Excellent clarity,25\n"
        "Clarity,2,Very clear with minor details,16\n"
    )
    criterion = one(text).criteria[0]

    assert (criterion.name, criterion.weight) == ("Clarity", 25)
    # 16 / 25 = 0.64
    assert [(o.label, o.value) for o in criterion.options] == [
        ("Very clear with minor details", 0.64),
        ("Excellent clarity", 1.0),
    ]


def test_range_and_ratio_are_told_apart_with_their_effect() -> None:
    text = "criterion,level,level_description,score\nA,,Low,2\nA,,High,8\nB,,No,1\nB,,Yes,2\n"
    (ratio,), (span,) = (
        read_levels(read_raw(text, "x.csv", "rubric")),
        read_levels(read_raw(text, "x.csv", "rubric"), "range"),
    )

    # Ratio: 2/8 of weight 8. Range: (2-2)/(8-2) of weight 6.
    assert ratio.value.criteria[0].options[0].value == 0.25
    assert (span.value.criteria[0].weight, span.value.criteria[0].options[0].value) == (6, 0.0)
    # (2 + 1) / (8 + 2) = 30%
    assert "3 of 10 points. They score 30%" in str(ratio.notices[0])
    assert "They score 0%" in str(span.notices[0])


def test_points_below_zero_make_a_penalty() -> None:
    text = (
        "criterion,level,level_description,score\nLate,,In time,0\nLate,,A day,-1\nLate,,More,-4\n"
    )
    criterion = one(text).criteria[0]

    assert criterion.weight == -4
    assert [(o.label, o.value) for o in criterion.options] == [
        ("In time", 0.0),
        ("A day", 0.25),
        ("More", 1.0),
    ]


def test_a_canvas_file_may_be_ragged_numbered_and_hold_several_rubrics() -> None:
    text = (
        "Rubric Name,Criteria Name,Criteria Description,Criteria Enable Range,"
        "Rating Name 1,Rating Description 1,Rating Points 1,Rating Name 2,Rating Description 2,"
        "Rating Points 2\n"
        'One,Clear,,false,Yes,,"2,5",No,,0\n'
        "Two,Short,Is it short?,true,Yes,,1,No,,0,,\n"
    )
    first, second = read_canvas_rubrics(read_raw(text, "x.csv", "rubric"))

    assert (first.value.name, first.value.criteria[0].weight) == ("One", 2.5)
    assert first.value.criteria[0].requirement == "Clear"
    assert second.value.criteria[0].requirement == "Is it short?"


def test_faults_of_a_canvas_file_are_named_with_their_lines() -> None:
    text = (
        "Rubric Name,Criteria Name,Criteria Description,Criteria Enable Range,"
        "Rating Name,Rating Description,Rating Points\n"
        ",A,,false,Good,,1\n"
        "R,,,false,Good,,1\n"
        "R,B,,false,,,\n"
        "R,C,,false,Good,,8-10\n"
    )
    with pytest.raises(InputError) as caught:
        read_canvas_rubrics(read_raw(text, "x.csv", "rubric"))

    assert [(p.line, p.message) for p in caught.value.problems] == [
        (2, "has no Rubric Name."),
        (3, "has no Criteria Name."),
        (4, "has no rating for 'B'."),
        (5, "has '8-10' as the points of 'Good'."),
    ]


def test_the_peers_json_is_read_by_the_reader_of_the_peers_shapes() -> None:
    written = write_rubric(PLAIN, "autorubric")
    data = json.loads(written.text)

    assert set(data) == {"criteria"}
    assert set(data["criteria"][0]) == {"name", "weight", "requirement", "scale_type", "options"}
    assert all(set(o) == {"label", "value", "na"} for o in data["criteria"][0]["options"])
    read = parse_rubric(written.text, "Lab report.json").value
    # Its options have no descriptions; they stand below the requirement, as the loss says.
    asked = data["criteria"][0]["requirement"]
    assert asked.endswith("Whole: All steps, in order.")
    assert read.criteria[0] == PLAIN.criteria[0]
    assert any("written below the requirement" in str(loss) for loss in written.losses)
    assert read.criteria[1] == PLAIN.criteria[1]


@given(rubrics())
def test_every_form_can_be_written_of_every_rubric_and_only_ours_lose_nothing(
    rubric: Rubric,
) -> None:
    for form in RUBRIC_FORMS:
        written = write_rubric(rubric, form)
        assert written.text
        if form in ("yaml", "json"):
            assert written.losses == ()
            assert one(written.text, f"x.{form}") == rubric


@given(st.sampled_from([",", ";", "\t"]), st.booleans())
def test_a_table_may_come_from_a_spreadsheet(delimiter: str, mark: bool) -> None:
    text = moodle_csv(PLAIN).text.replace(",", delimiter) if delimiter == "\t" else ""
    text = text or _joined(grid(moodle_csv(PLAIN).text), delimiter)
    data = ("\ufeff" if mark else "") + text.replace("\n", "\r\n")

    assert one(data, "Lab report.csv").criteria[0].name == "Method"


def _joined(rows: list[list[str]], delimiter: str) -> str:
    return "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)


def test_a_pasted_table_needs_no_ending() -> None:
    assert one(canvas_rubric(PLAIN).text, "pasted text") == PLAIN
    assert one(levels_csv(PLAIN).text, "pasted text") == PLAIN
    assert tuple(grid(levels_csv(PLAIN).text)[0]) == FULL


def test_a_table_that_is_no_rubric_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="not columns of a rubric"):
        read_rubrics("id,text\n1,a\n", "x.csv")


def test_what_a_canvas_file_holds_beyond_a_rubric_is_said_to_be_left_out() -> None:
    heads = f"{TEMPLATE},Outcome"
    row = "R,Method,,false,Good,All of it.,2,,Nearly.,1,Bad,,0,O-7"
    (read,) = read_rubrics(f"{heads}\n{row}\n", "x.csv")

    # The second of three ratings has a description and points, but no name.
    assert [o.label for o in read.value.criteria[0].options] == ["Bad", "Good"]
    said = [(str(n.message), n.line) for n in read.notices]
    assert ("Left out: a rating without a name (Nearly., 1) of 'Method'.", 2) in said
    assert ("The column 'Outcome' is left out.", 1) in said

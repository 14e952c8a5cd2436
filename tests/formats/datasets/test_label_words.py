"""Their words for labels become options: said once, for a file's columns of labels."""

from __future__ import annotations

import json

import pytest

from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.formats.columns.absences import without_absences
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.datasets.mapping import guess_mapping
from core.formats.tables.table import Table, read_table
from core.services.datasets.label_stats import strange_labels

RUBRIC = Rubric(
    criteria=(
        Criterion(name="polite", requirement="Is it?"),
        Criterion(
            name="depth",
            requirement="How deep?",
            scale="ordinal",
            options=(Option(label="low", value=0), Option(label="high", value=1)),
        ),
    )
)
TABLE = "id,submission,polite,depth\na,Guten Tag,höflich,hoch\nb,Na?,grob,low\nc,Hm,n/a,hoch\n"


def labels(*words: str) -> dict[str, dict[str, str]]:
    changes = [f"word:{word}" for word in words]
    found = parse_dataset(TABLE, "t.csv", RUBRIC, changes).value
    return {i.id: {name: one.label for name, one in i.labels.items()} for i in found.items}


def test_words_are_read_as_the_options_they_are_said_to_be() -> None:
    found = labels(
        "polite:höflich=MET", "grob=UNMET", "polite:n/a=CANNOT_ASSESS", "depth:hoch=high"
    )
    assert found == {
        "a": {"polite": "MET", "depth": "high"},
        "b": {"polite": "UNMET", "depth": "low"},
        "c": {"polite": "CANNOT_ASSESS", "depth": "high"},
    }


def test_a_word_that_is_no_option_says_how_to_say_what_it_is() -> None:
    with pytest.raises(InputError) as error:
        labels("polite:höflich=MET", "polite:grob=UNMET", "polite:n/a=CANNOT_ASSESS")
    (first, *_) = error.value.problems
    assert first.message == "is 'hoch', which is not an option."
    assert first.mend.endswith("Or say what it means: --map-label 'depth:hoch=OPTION'.")


def test_a_word_said_to_be_no_option_is_refused() -> None:
    with pytest.raises(InputError) as error:
        labels("höflich=PERHAPS", "grob=UNMET", "hoch=high", "n/a=CANNOT_ASSESS")
    assert [p.message for p in error.value.problems] == ["is 'PERHAPS', which is not an option."]


def test_yes_and_no_of_json_and_numbers_are_words_too() -> None:
    rows = '{"id": "a", "submission": "x", "labels": {"depth": true}}\n'
    rows += '{"id": "b", "submission": "x", "labels": {"depth": 3}}\n'
    words = ["word:depth:true=high", "word:depth:3=low"]
    found = parse_dataset(rows, "t.jsonl", RUBRIC, words).value
    assert [item.labels["depth"].label for item in found.items] == ["high", "low"]


def test_what_is_no_option_is_found_before_anything_is_kept() -> None:
    table = read_table(TABLE, "t.csv")
    found = strange_labels(table, guess_mapping(table, RUBRIC), RUBRIC)
    # A word for no answer needs no option.
    assert found == {"polite": ["höflich", "grob"], "depth": ["hoch"]}


def test_labels_of_a_column_that_say_yes_differently_are_one_and_empty_ones_none() -> None:
    words = ["TRUE", "1", "yes", "T", "MET", "NA", "-", "nan", "", "0"]
    table = "id,submission,label:polite" + "".join(
        f"\ni{at},Text,{word}" for at, word in enumerate(words)
    )
    read = parse_dataset(table, "t.csv", RUBRIC)
    found = [item.truth(RUBRIC.criteria[0]) for item in read.value.items]
    assert found == [0, 0, 0, 0, 0, None, None, None, None, 1]
    said = "4 labels are empty (blank 1, - 1, NA 1, nan 1)."
    assert said in [notice.message for notice in read.notices]
    # Without a rubric, too; what else stands there is kept as it is.
    alone = parse_dataset(table, "t.csv")
    assert [len(item.labels) for item in alone.value.items] == [1] * 5 + [0] * 4 + [1]
    assert said in [notice.message for notice in alone.notices]


def test_a_context_is_chosen_and_renamed() -> None:
    table = "id,submission,docs,policy,other\na,Paris,Paris is.,Cite.,x\n"
    changes = ["context:passages=docs", "context=policy"]
    (item,) = parse_dataset(table, "t.csv", None, changes).value.items
    assert item.context == {"passages": "Paris is.", "policy": "Cite."}
    assert item.meta == {"other": "x"}


@pytest.mark.parametrize("name", ["marks.json", "marks.jsonl"])
def test_a_word_for_absent_is_no_answer_beside_numbers_of_json_either(name: str) -> None:
    rows = [{"id": f"a{at}", "kim": kim} for at, kim in enumerate((4, 2.5, "ABS", 3))]
    text = "\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows)
    table = without_absences(read_table(text.encode(), name))
    assert [row["kim"] for row in table.rows] == [4, 2.5, "", 3]


def test_yes_and_no_are_read_in_other_languages() -> None:
    """Each pair is MET and UNMET; a single letter of another language is not known."""
    for yes, no in (
        ("ja", "nein"),
        ("Oui", "Non"),
        ("sí", "no"),
        ("да", "нет"),
        ("はい", "いいえ"),
    ):
        rows = f"id,submission,polite\na,x,{yes}\nb,y,{no}\n"
        found = parse_dataset(rows, "t.csv", RUBRIC).value
        assert [item.labels["polite"].label for item in found.items] == ["MET", "UNMET"]


def signs(*cells: str) -> list[object]:
    rows = tuple({"kim": cell, "lee": "x"} for cell in cells)
    table = Table("x.csv", "csv", ("kim", "lee"), rows, tuple(range(len(rows))))
    return [row["kim"] for row in without_absences(table).rows]


def test_a_dash_beside_other_marks_is_a_mark() -> None:
    assert signs("--", "-", "+/-", "+") == ["--", "\u2212", "+/-", "+"]
    assert signs("+", "-", "") == ["+", "\u2212", ""]
    assert signs("+/-", "-") == ["+/-", "\u2212"]
    # Beside words, numbers or nothing it is no answer, as elsewhere.
    assert signs("good", "-", "+") == ["good", "-", "+"]
    assert signs("1", "-", "0") == ["1", "-", "0"]
    assert signs("-", "0") == ["-", "0"]


def test_an_option_or_a_map_keeps_the_dash() -> None:
    rows = ({"kim": "+"}, {"kim": "-"})
    table = Table("x.csv", "csv", ("kim",), rows, (2, 3))
    assert without_absences(table, None, ["-"]).rows == rows


def test_a_word_for_an_absence_beside_empty_numbers_is_no_answer() -> None:
    rows = [("1", "2", "Good"), ("2", "1", "Pass"), ("", "", "absent"), ("1", "1", "absent")]
    table = Table(
        "x.csv", "csv", ("a", "b", "c"),
        tuple(dict(zip("abc", row, strict=True)) for row in rows), (2, 3, 4, 5),
    )  # fmt: skip
    assert [row["c"] for row in without_absences(table).rows] == ["Good", "Pass", "", "absent"]


def test_an_absence_in_columns_of_numbers_and_of_words_is_counted_once_each() -> None:
    rows = [("1", "2", "Good"), ("2", "1", "Pass"), ("abs", "abs", "abs"), ("1", "3", "Good")]
    table = Table(
        "x.csv", "csv", ("a", "b", "c"),
        tuple(dict(zip("abc", row, strict=True)) for row in rows), (2, 3, 4, 5),
    )  # fmt: skip
    assert "'abs' 3." in str(without_absences(table).notices[0])


@pytest.mark.parametrize(
    ("word", "times", "taken"),
    [
        ("withdrawn", 1, True),
        ("not there", 2, True),
        # Too many for so few marks; a grade; a mark with a sign.
        ("withdrawn", 3, False),
        ("A", 1, False),
        ("5+", 1, False),
    ],
)
def test_an_unknown_word_in_few_cells_beside_numbers_is_no_answer(
    word: str, times: int, taken: bool
) -> None:
    marks = ["3", "4", "5", "2", "4", "3", "5", "3", "2", "4", *[word] * times]
    rows = "\n".join(f"e{n},{mark}" for n, mark in enumerate(marks))
    table = without_absences(read_table(f"id,kim\n{rows}\n".encode(), "x.csv"))
    assert (word not in [row["kim"] for row in table.rows]) == taken
    assert (f"{word!r} {times}" in " ".join(map(str, table.notices))) == taken

"""Two tables dropped together are read as tables: joined, two systems, or two parts."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.formats.tables.table import read_table
from core.services.guided import several, texts
from core.services.guided.texts import File

QUESTIONS = b"id,question,topic\n1,Why do tides rise?,sea\n2,Why is it cold?,air\n3,Who?,none\n"
ANSWERS = b"ID,answer\n1,The Moon pulls the water.\n2,The axis of the Earth is tilted.\n9,Lost.\n"
ALPHA = b"id,prompt,answer\n1,Why?,The Moon pulls the water.\n2,How?,By its gravity.\n"
BETA = b"id,prompt,answer\n1,Why?,The Sun pulls it a little.\n2,How?,By magnetism it seems.\n"


def test_a_table_of_tasks_and_one_of_answers_are_joined_by_their_ids() -> None:
    files = [File("tasks.csv", QUESTIONS), File("answers.csv", ANSWERS)]
    assert texts.ways_to_join(files) == ("join",)
    checked = texts.check(texts.look(texts.read(files)))
    assert checked.dataset is not None
    assert [(i.id, i.prompt, i.text) for i in checked.dataset.items] == [
        ("1", "Why do tides rise?", "The Moon pulls the water."),
        ("2", "Why is it cold?", "The axis of the Earth is tilted."),
        ("9", "", "Lost."),
    ]
    said = " ".join(str(notice) for notice in checked.notices)
    # Row 9 has no task, and task 3 has no answer.
    assert "are 1 rows of the first, which stay, and 1 of the second, which are left out" in said


def test_tables_of_the_same_rows_are_two_systems_and_of_other_rows_two_parts() -> None:
    files = [File("alpha.csv", ALPHA), File("beta.csv", BETA)]
    assert texts.ways_to_join(files) == ("systems", "parts")
    look = texts.look(texts.read(files))
    assert (len(look.table.rows), look.systems) == (4, ("alpha", "beta"))
    checked = texts.check(look)
    assert checked.dataset is not None
    assert [i.id for i in checked.dataset.items][:3] == ["1 (alpha)", "2 (alpha)", "1 (beta)"]

    later = BETA.replace(b"\n1,", b"\n3,").replace(b"\n2,", b"\n4,")
    files = [File("a.csv", ALPHA), File("b.csv", later)]
    assert texts.ways_to_join(files) == ("parts", "systems")
    table = texts.read(files)
    assert ("system" in table.columns, [row["id"] for row in table.rows]) == (False, list("1234"))


def test_tables_whose_rows_are_named_otherwise_are_parts_that_leave_nothing_to_ask() -> None:
    first = File("7a.csv", b"Name,Essay\nAda,On tides.\nEve,On moons.\n")
    other = File("7b.csv", b"Name,Essay\nBen,On moons.\n")
    assert texts.ways_to_join([first, other]) == ("parts", "systems")
    checked = texts.texts_without_questions([first, other])
    assert checked is not None
    assert checked.dataset is not None
    assert len(checked.dataset.items) == 3
    # The same people: two answers of each.
    assert texts.ways_to_join([first, File("7b.csv", first.data)]) == ("systems", "parts")
    assert texts.texts_without_questions([first, File("7b.csv", first.data)]) is None


def test_tables_without_anything_in_common_are_refused_by_name() -> None:
    tables = [read_table(b"a,b\n1,2\n", "one.csv"), read_table(b"c,d\n1,2\n", "two.csv")]
    with pytest.raises(InputError, match=r"'one\.csv' and 'two\.csv' have no column in common"):
        several.joined_tables(tables)

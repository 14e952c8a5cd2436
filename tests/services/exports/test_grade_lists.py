"""A run's grades into the files of Canvas and Moodle: nothing but grades changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.gates import Decision
from core.domain.review import QueueRule, ReviewerAnswer
from core.errors import InputError
from core.formats.source.csv_reader import read_raw
from core.services.exports.grade_lists import Filled, GradeChoices, fill
from core.services.review import commit_reveal
from core.store.store import Store
from tests.services import reviewed
from tests.services.exports.class_of_four import RUBRIC, class_of_four
from tests.services.reviewed import MET, sit, take

#: As Moodle's offline grading worksheet has it (adjudication.md 4.3), with what trips others up: a
#: mark at the beginning, quotes that are not needed, CRLF, commas in names, a student of no item.
WORKSHEET = (
    '\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade",'
    '"Grade can be changed","Last modified (submission)","Last modified (grade)",'
    '"Feedback comments"\r\n'
    'Participant 9,"O\'Neil, Zoë",z@x.org,"Submitted for grading - ",,20.00,Yes,"Monday, 2 March '
    '2026, 10:00 AM",-,""\r\n'
    "Participant 7,Ann,a@x.org,Submitted,,20.00,Yes,-,-,\r\n"
    'Participant 99,"Not in the run",n@x.org,Submitted,,20.00,Yes,-,-,\r\n'
    'Participant 10,"No score",s@x.org,Submitted,,20.00,Yes,-,-,\r\n'
    'Participant 8,Bob,b@x.org,Submitted,11.00,20.00,Yes,-,-,"Kept, as it is"\r\n'
)
#: Canvas's gradebook: points possible in a second row, the assignment's number in its heading.
GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Lab (123),Quiz (124),Current Score\n"
    "    Points Possible,,,,,5,10,(read only)\n"
    '"Lee, Ann",501,s-001,ann,A,,3,80\n'
    '"Ray, Bob",502,s-002,bob,A,EX,4,70\n'
)
ASSESSMENT = (
    "Student Id,Student Name,Method - Rating,Method - Points,Method - Comments,"
    "Units - Rating,Units - Points,Units - Comments,Gone - Points\n"
    "7,Ann,,,,,,,\n"
    "8,Bob,,,,,,,\n"
)


def made(store: Store, text: str, **choices: object) -> Filled:
    run = class_of_four(store)
    return fill(store, run, text.encode(), "class.csv", GradeChoices(**choices))  # type: ignore[arg-type]


def said(filled: Filled) -> str:
    return " ".join(map(str, filled.problems))


def test_a_worksheet_keeps_every_byte_that_is_no_grade(store: Store) -> None:
    filled = made(store, WORKSHEET)

    # 0.2 x 20 = 4 and 1.0 x 20 = 20; Bob's 11 is somebody's grade and stays.
    expected = WORKSHEET.replace('"Submitted for grading - ",,', '"Submitted for grading - ",4,')
    expected = expected.replace("a@x.org,Submitted,,", "a@x.org,Submitted,20,")
    assert filled.data == expected.encode()
    assert (filled.students, filled.matched, filled.written) == (5, 4, 2)
    assert (filled.roster.kind, filled.choices.match, filled.choices.by) == (
        "moodle_worksheet",
        "Identifier",
        "id",
    )
    assert "1 student." in said(filled)
    assert "'Participant 10'" in said(filled)
    assert "have no score" in said(filled)


def test_the_difference_says_what_is_written_and_what_is_left(store: Store) -> None:
    filled = made(store, WORKSHEET)

    # The rows' order is the file's; 0.6 x 20 = 12.
    assert [(c.line, c.student, c.column, c.old, c.new, c.kept) for c in filled.changes] == [
        (2, "Participant 9", "Grade", "", "4", False),
        (3, "Participant 7", "Grade", "", "20", False),
        (6, "Participant 8", "Grade", "11.00", "12", True),
    ]
    again = made(store, WORKSHEET, overwrite=True)
    assert b"b@x.org,Submitted,12,20.00" in again.data
    assert b'"Kept, as it is"' in again.data


def test_a_filled_worksheet_filled_again_does_not_change(store: Store) -> None:
    run = class_of_four(store)
    first = fill(store, run, WORKSHEET.encode(), "class.csv", GradeChoices(overwrite=True))
    again = fill(store, run, first.data, "class.csv", GradeChoices(overwrite=True))

    assert (again.changes, again.data) == ((), first.data)


def test_a_range_counts_from_the_worst_answers_and_its_effect_is_said(store: Store) -> None:
    filled = made(store, WORKSHEET, scaling="range", overwrite=True)

    # (0.2 - 0.2) / 0.8 = 0; 1; (0.6 - 0.2) / 0.8 = 0.5: of 20 points 0, 20 and 10.
    assert [change.new for change in filled.changes] == ["0", "20", "10"]
    # Means of 0.2, 1, 0.6 and of 0, 1, 0.5.
    assert "60.0% as a ratio" in filled.effect
    assert "50.0% as a range" in filled.effect


def test_a_canvas_gradebook_is_matched_by_what_the_items_know_of_students(store: Store) -> None:
    filled = made(store, GRADEBOOK, grade="Lab (123)")

    # sid of the items is the SIS User ID; 5 points possible; EX(cused) is left alone.
    assert (filled.choices.match, filled.choices.by) == ("SIS User ID", "sid")
    assert filled.data.decode() == GRADEBOOK.replace("ann,A,,3", "ann,A,5,3")
    assert filled.students == 2


def test_with_two_assignments_a_person_says_which(store: Store) -> None:
    with pytest.raises(InputError) as caught:
        made(store, GRADEBOOK)

    assert "'Lab (123)', 'Quiz (124)'" in str(caught.value)


def test_a_rubric_assessment_gets_ratings_and_points_and_no_judge_speaks(store: Store) -> None:
    filled = made(store, ASSESSMENT)

    assert filled.data.decode() == (
        ASSESSMENT.replace("7,Ann,,,,,,,", "7,Ann,Whole,8,,Met,2,,").replace(
            "8,Bob,,,,,,,", "8,Bob,Sketchy,4,,Met,2,,"
        )
    )
    assert b"SECRET" not in filled.data
    assert "No criterion of this run: 'Gone'" in said(filled)


def test_a_gradebook_of_moodle_needs_to_be_told_the_most(store: Store) -> None:
    text = (
        "First name,Last name,ID number,Email address,Assignment: Lab (Real),"
        "Assignment: Lab (Feedback),Course total (Real),Last downloaded from this course\n"
        "Ann,Lee,s-001,a@x.org,-,,50,1765000000\n"
    )
    with pytest.raises(InputError, match="does not say the most"):
        made(store, text)
    filled = made(store, text, maximum=50.0)
    assert filled.data.decode() == text.replace("a@x.org,-,,50", "a@x.org,50,,50")


def test_decimal_commas_and_semicolons_stay_what_they_are(store: Store) -> None:
    text = "Identifier;Grade;Maximum Grade;Last modified (grade)\nTeilnehmer/in 8;;12,50;-\n"
    filled = made(store, text)

    # 0.6 x 12.5 = 7.5
    assert filled.data.decode() == text.replace("8;;", "8;7,5;")


def test_a_grade_that_is_locked_is_left_alone(store: Store) -> None:
    text = "Identifier,Grade,Maximum Grade,Grade can be changed\nParticipant 7,,10,No\n"
    filled = made(store, text)

    assert filled.data.decode() == text
    assert "may not be changed" in said(filled)


def test_two_rows_for_one_item_are_left_alone(store: Store) -> None:
    text = "Identifier,Grade,Maximum Grade\nParticipant 7,,10\nParticipant 7,,10\n"
    filled = made(store, text)

    assert filled.data.decode() == text
    assert "share one" in said(filled)


def test_any_table_will_do_when_told_its_columns(store: Store) -> None:
    text = "Matrikel,Note\ns-003,\n"
    filled = made(store, text, match="Matrikel", grade="Note", maximum=100.0)

    # 0.2 x 100
    assert filled.data.decode() == "Matrikel,Note\ns-003,20\n"


def test_a_file_of_strangers_is_refused_with_what_was_compared(store: Store) -> None:
    with pytest.raises(InputError) as caught:
        made(store, "Identifier,Grade,Maximum Grade\nParticipant 70,,10\n")

    assert "'Identifier' is unlike the items' ids ('7', '8', '9' and 1 more)" in str(caught.value)


def test_points_without_a_ceiling_of_one_become_shares(store: Store) -> None:
    raw = RUBRIC.model_copy(
        update={"scoring": RUBRIC.scoring.model_copy(update={"normalize": False})}
    )
    run = class_of_four(store, raw)
    filled = fill(store, run, WORKSHEET.encode(), "class.csv")

    # 2 of 10 points, of 20.
    assert [c.new for c in filled.changes if c.student == "Participant 9"] == ["4"]


@pytest.fixture
def reviews(tmp_path: Path) -> Iterator[Store]:
    opened = reviewed.open_store(tmp_path)
    yield opened
    opened.close()


def test_what_a_person_noted_is_feedback(reviews: Store) -> None:
    run = reviewed.graded(reviews, 2)
    queue = reviewed.make_queue(reviews, run, QueueRule(near_mark=None, audit_share=1.0))
    ticket = take(reviews, sit(reviews, "Ada"), queue, "i1")
    ticket = commit_reveal.commit(reviews, ticket, {"Right": ReviewerAnswer(MET)}).ticket
    commit_reveal.reveal(reviews, ticket)
    commit_reveal.finish(reviews, ticket, {"Right": ReviewerAnswer(MET, note='Say "why", too.')})
    text = "Identifier,Grade,Maximum Grade,Feedback comments\ni1,,10,\n"
    filled = fill(reviews, run.id, text.encode(), "class.csv")

    assert filled.data.decode().endswith(',10,"Right: Say ""why"", too."\n')


def test_who_waits_for_a_person_gets_a_grade_once_a_person_settled_it(reviews: Store) -> None:
    between = RUBRIC.model_copy(update={"decision": Decision(pass_at=0.9, fail_below=0.3)})
    run = reviews.runs.get(class_of_four(reviews, between))
    text = b"Identifier,Grade,Maximum Grade\n8,,10\n"
    # 0.6 lies between 0.3 and 0.9, where a person decides.
    waiting = fill(reviews, run.id, text, "class.csv")
    assert waiting.data == text
    assert "wait for a person" in said(waiting)
    queue = reviewed.make_queue(reviews, run, QueueRule(near_mark=None, audit_share=1.0))
    ticket = take(reviews, sit(reviews, "Ada"), queue, "8")
    ticket = commit_reveal.commit(
        reviews, ticket, {"Method": ReviewerAnswer(1), "Units": ReviewerAnswer(0)}
    ).ticket
    commit_reveal.reveal(reviews, ticket)
    commit_reveal.finish(reviews, ticket, {"Method": ReviewerAnswer(1), "Units": ReviewerAnswer(0)})

    # What the judge said, and now a person: 0.6 of 10.
    assert fill(reviews, run.id, text, "class.csv").data == text.replace(b"8,,", b"8,6,")


CELLS = st.text(alphabet=st.sampled_from('ab,;"\n\r\t é🙂=\u202e'), max_size=5)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=4), st.booleans())
def test_a_file_that_nothing_is_written_to_is_the_same_bytes(
    rows: list[list[str]], mark: bool
) -> None:
    quoted = ["".join(_quoted(row)) for row in [["h", "i"], *rows]]
    data = (("\ufeff" if mark else "") + "\r\n".join(quoted)).encode()
    table = read_raw(data, "x.csv")

    assert table.with_cells({}) == data
    kept = [row for row in rows if any(cell.strip() for cell in row)]
    assert [[cell.text for cell in row.cells] for row in table.rows] == kept


def _quoted(row: list[str]) -> Iterator[str]:
    for at, cell in enumerate(row):
        yield ("," if at else "") + '"' + cell.replace('"', '""') + '"'


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "cp1252", "utf-8-sig"])
def test_the_encoding_stays_what_it_is(store: Store, encoding: str) -> None:
    text = "Identifier,Full name,Grade,Maximum Grade\r\nParticipant 7,Zoë,,10\r\n"
    run = class_of_four(store)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    filled = fill(store, run, (mark + text).encode(encoding), "class.csv")

    assert filled.data == (mark + text.replace("Zoë,,", "Zoë,10,")).encode(encoding)

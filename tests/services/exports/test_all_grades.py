"""A class gets all grades back: of items that judges learned from, too, and it says whose each is.

Eight answers under the rubric of `class_of_four` (Method 8: 0.25, .5, 1; Units 2). Judges graded
e1 to e4; they learned from e5 to e7, and e8 was left out of the run:

    item  labels             graded                  grade
    e1    none               Whole 1, MET            (8 + 2) / 10 = 1.0, 10 of 10 points, judges
    e2    Whole, MET         Poor 0.25, UNMET         (2 + 0) / 10 = 0.2, 2 points, judges
    e3    none               Method only: Sketchy    4 / 8 = 0.5, 4 of 8; 2 of 10 not assessed
    e4    none               nothing                 none
    e5    Sketchy, UNMET     learned from            4 / 10 = 0.4, 4 points, your labels
    e6    Whole, MET         learned from            1.0, your labels
    e7    Whole              learned from            none: no label for Units
    e8    none               not in the run          none
"""

from __future__ import annotations

import io
from typing import Any

from openpyxl import load_workbook

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.agreement.metrics_report import metrics_source
from core.services.exports.grade_lists import fill
from core.services.exports.run_export import export, own_workbook
from core.store.store import Store
from tests.recording import record
from tests.services import reviewed
from tests.services.exports.class_of_four import NOW, RUBRIC
from tests.services.exports.test_documented_columns import documented
from tests.services.reviewed import MET, sit

LABELS = {
    "e2": {"Method": "Whole", "Units": "MET"},
    "e5": {"Method": "Sketchy", "Units": "UNMET"},
    "e6": {"Method": "Whole", "Units": "MET"},
    "e7": {"Method": "Whole"},
}
VOTES = {
    "e1": {"Method": 2, "Units": 0},
    "e2": {"Method": 0, "Units": 1},
    "e3": {"Method": 1},
    "e4": {},
}
LEARNED = ("e5", "e6", "e7")


def class_of_eight(store: Store) -> int:
    items = tuple(
        Item(
            id=f"e{n}",
            submission=f"Report {n}",
            meta={"Name": f"=Student {n}", "nested": {"no": "cell"}},
            labels={c: Label(label=said) for c, said in LABELS.get(f"e{n}", {}).items()},
        )
        for n in range(1, 9)
    )
    version = store.datasets.create(Dataset(name="Class", items=items), now=NOW).id
    plan = RunPlan(
        name="Class",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=version,
        panel=Panel(name="One", judges=(Judge(name="words", kind="classifier"),)),
        calibration={"dataset_version": version, "items": list(LEARNED)},
    )
    votes = [
        AskedOutcome((Vote(Cell(item, name, "words"), option, False),))
        for item, given in VOTES.items()
        for name, option in given.items()
    ]
    run_id = store.runs.create(plan, [(item, 2) for item in VOTES], now=NOW).id
    return record(store, run_id, RUBRIC, items, votes, now=NOW)


def grades(store: Store, run_id: int) -> dict[str, dict[str, Any]]:
    """The sheet of grades, by item."""
    (data,) = export(store, run_id, "xlsx").data().values()
    return sheet(data)


def sheet(data: bytes) -> dict[str, dict[str, Any]]:
    heads, *rows = load_workbook(io.BytesIO(data))["Grades, whole dataset"].iter_rows(
        values_only=True
    )
    return {str(row[0]): dict(zip(map(str, heads), row, strict=True)) for row in rows}


def test_every_item_of_the_dataset_is_listed_with_where_its_grade_is_from(store: Store) -> None:
    found = grades(store, class_of_eight(store))
    assert {
        i: (row["score"], row["points"], row["of"], row["from"]) for i, row in found.items()
    } == {
        "e1": (1, 10, 10, "judges"),
        "e2": (0.2, 2, 10, "judges"),
        "e3": (0.5, 4, 8, "judges"),
        "e4": (None, None, 10, None),
        "e5": (0.4, 4, 10, "your labels"),
        "e6": (1, 10, 10, "your labels"),
        "e7": (None, None, 10, None),
        "e8": (None, None, 10, None),
    }
    assert {i: row["remark"] for i, row in found.items() if row["remark"]} == {
        "e3": "assessed 4 of 8; 2 of 10 not assessed (no verdict: Units); a person must look",
        "e4": "no verdict: Method, Units",
        "e7": "judges learned from its labels; no label: Units",
        "e8": "not graded in this run",
    }
    assert (found["e5"]["Method"], found["e5"]["Units"]) == ("Sketchy", "UNMET")
    assert (found["e2"]["Method"], found["e2"]["Units"]) == ("Poor", "UNMET")


def test_short_notes_of_items_come_along_and_say_who_is_who(store: Store) -> None:
    row = grades(store, class_of_eight(store))["e5"]
    assert row["Name"] == "=Student 5"
    assert "nested" not in row
    assert row["text"] == "Report 5"


def test_labels_alone_are_grades_to_hand_back_without_any_run(store: Store) -> None:
    run = store.runs.get(class_of_eight(store))

    found = sheet(own_workbook(store, run.dataset_version_id, run.rubric_version_id))

    assert {i: (row["score"], row["from"], row["remark"]) for i, row in found.items()} == {
        **dict.fromkeys(("e1", "e3", "e4", "e8"), (None, None, "no label")),
        "e2": (1, "your labels", None),
        "e5": (0.4, "your labels", None),
        "e6": (1, "your labels", None),
        "e7": (None, None, "no label: Units"),
    }


def test_labels_that_are_grades_enter_no_figure(store: Store) -> None:
    run_id = class_of_eight(store)
    found = metrics_source(lambda: store, str(run_id))["criteria"]
    # Of the labelled items only e2 was judged; e5 and e6 are grades, and in no comparison.
    assert [one["panel"]["vs_gold"]["n"] for one in found.values()] == [1, 1]
    (data,) = export(store, run_id, "xlsx").data().values()
    scores = load_workbook(io.BytesIO(data))
    assert [
        row[0] for row in scores["Scores, texts of this run"].iter_rows(min_row=2, values_only=True)
    ] == [*VOTES]


def test_what_people_settled_is_named_as_theirs(store: Store) -> None:
    run = reviewed.graded(store, 4)
    reviewed.settle(store, sit(store, "Ada"), reviewed.make_queue(store, run), "i1", MET)
    found = grades(store, run.id)
    assert {i: row["from"] for i, row in found.items()} == {
        "i0": "judges",
        "i1": "a person's review",
        "i2": "judges",
        "i3": "judges",
    }


def test_the_columns_of_grades_are_written_down(store: Store) -> None:
    row = grades(store, class_of_eight(store))["e1"]
    shown = ["NOTE" if n == "Name" else "NAME" if n in ("Method", "Units") else n for n in row]
    assert list(dict.fromkeys(shown)) == documented()["Grades, whole dataset"]


ROSTER = "Identifier,Full name,Grade,Maximum Grade\r\n" + "".join(
    f"e{n},Student {n},,10.00\r\n" for n in range(1, 10)
)


def test_a_list_of_students_gets_the_grades_of_the_whole_class_and_says_whose(
    store: Store,
) -> None:
    filled = fill(store, class_of_eight(store), ROSTER.encode(), "class.csv")
    assert {one.student: (one.new, one.origin) for one in filled.changes} == {
        "e1": ("10", "judges"),
        "e2": ("2", "judges"),
        "e5": ("4", "your labels"),
        "e6": ("10", "your labels"),
    }
    said = " ".join(map(str, filled.problems))
    assert "e7, because they have no score (judges learned from its labels; no label: Units)" in (
        said.replace("'", "")
    )
    assert "e8, because they have no score (not graded in this run)" in said.replace("'", "")
    # e9 is a student of whom there is no answer at all.
    assert "Not in the run, left alone: 1 student." in said


def test_a_rubric_assessment_of_canvas_holds_the_answers_of_own_labels(store: Store) -> None:
    heads = "Student Id,Student Name,Method - Rating,Method - Points,Units - Rating,Units - Points"
    filled = fill(store, class_of_eight(store), f"{heads}\ne5,Five,,,,\n".encode(), "canvas.csv")
    # Sketchy is half of 8 points; UNMET, which such files call so, is none of 2.
    assert filled.data.decode() == f"{heads}\ne5,Five,Sketchy,4,Not met,0\n"
    assert {one.origin for one in filled.changes} == {"your labels"}

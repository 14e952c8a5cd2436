"""Gradescope's evaluations: a table per question becomes criteria, items and graders' votes."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes, open_path
from core.services.agreement.metrics_report import metrics_source
from core.services.imports import import_files
from tests.new_store import new_store

HEAD = (
    "Assignment Submission ID,Question Submission ID,First Name,Last Name,SID,Email,Sections,"
    "Score,Submission Time,"
)
TAIL = ",Adjustment,Comments,Grader,Tags"
#: Written for this test after adjudication.md 4.4; Eve was never graded.
FIRST = (
    f'{HEAD}"Names the law","Shows units, always"{TAIL}\n'
    "901,1,Ann,Lee,s1,a@x.org,A,3.0,2026-03-01,true,true,,Well done,Bo,\n"
    "902,2,Bob,Ray,s2,b@x.org,A,1.5,2026-03-01,true,false,-0.5,,Cy,\n"
    "903,3,Eve,Kim,s3,e@x.org,A,,2026-03-01,false,false,,,,\n"
    "Point Values,,,,,,,,,2.0,1.0,,,,\n"
    "Scoring Method: positive,,,,,,,,,,,,,,\n"
)
SECOND = (
    f"{HEAD}Wrong sign,Names the law{TAIL}\n"
    "901,11,Ann,Lee,s1,a@x.org,A,5,2026-03-01,false,false,,,Bo,\n"
    "902,12,Bob,Ray,s2,b@x.org,A,4,2026-03-01,true,false,,,Bo,\n"
    "Point Values,,,,,,,,,1.0,0.5,,,,\n"
    "Scoring Method: negative,,,,,,,,,,,,,,\n"
)


def archive(**files: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, text in files.items():
            made.writestr(f"Lab 1/{name}.csv", text)
    return data.getvalue()


def bundle(data: bytes, name: str) -> VoteBundle:
    source = open_bytes(data, name)
    assert kind_of(source) == "gradescope"
    return read_bundle(source, "gradescope")


def test_a_column_is_a_criterion_with_its_points_and_a_grader_a_rater() -> None:
    found = bundle(FIRST.encode(), "Question 1.csv")

    assert [(c.name, c.weight, c.scale, c.section) for c in found.rubric.criteria] == [
        ("Names the law", 2, "binary", "Question 1"),
        ("Shows units, always", 1, "binary", "Question 1"),
    ]
    said = [(v.cell.item, v.criterion, v.rater, v.option, v.kind) for v in found.votes.rows]
    # Option 0 is MET. Nobody graded 903, so there are no votes on it.
    assert said == [
        ("901", "Names the law", "Bo", 0, "human"),
        ("901", "Shows units, always", "Bo", 0, "human"),
        ("902", "Names the law", "Cy", 0, "human"),
        ("902", "Shows units, always", "Cy", 1, "human"),
    ]
    assert found.votes.rows[0].reason == "Well done"


def test_students_are_known_by_their_number_only() -> None:
    found = bundle(FIRST.encode(), "Question 1.csv")

    assert [item.id for item in found.dataset.items] == ["901", "902", "903"]
    assert found.dataset.items[1].meta["sid"] == "s2"
    assert found.dataset.items[1].meta["adjustments"] == {"Question 1": -0.5}
    assert found.dataset.items[0].meta["scores"] == {"Question 1": 3.0}
    kept = found.dataset.model_dump_json()
    assert "Ann" not in kept
    assert "@" not in kept
    assert any("left out" in str(notice) for notice in found.notices)


def test_an_archive_is_an_assignment_with_a_section_per_question() -> None:
    found = bundle(archive(Question_1=FIRST, Question_2=SECOND), "evaluations.zip")

    assert [(c.name, c.weight, c.section) for c in found.rubric.criteria] == [
        ("Names the law", 2, "Question_1"),
        ("Shows units, always", 1, "Question_1"),
        # Points taken off are penalties; a text that is there already names its question.
        ("Wrong sign", -1, "Question_2"),
        ("Names the law (Question_2)", -0.5, "Question_2"),
    ]
    assert len(found.dataset.items) == 3
    assert any("0 with all of them" in notice.mend for notice in found.notices)


def test_items_with_the_same_text_in_one_question_are_told_apart() -> None:
    text = f"{HEAD}Good,Good{TAIL}\n1,1,A,B,s,e,A,1,t,true,false,,,Bo,\n"
    found = bundle(text.encode(), "Q.csv")

    assert [c.name for c in found.rubric.criteria] == ["Good", "Good (Q)"]
    assert sum("has no points" in str(notice) for notice in found.notices) == 2


def test_a_cell_that_is_neither_true_nor_false_is_named() -> None:
    text = f"{HEAD}Good{TAIL}\n1,1,A,B,s,e,A,1,t,maybe,,,Bo,\n,2,A,B,s,e,A,1,t,true,,,Bo,\n"
    with pytest.raises(InputError) as caught:
        bundle(text.encode(), "Q.csv")

    assert [p.line for p in caught.value.problems] == [2, 3]
    assert "'maybe' for 'Good'" in str(caught.value)


def test_a_folder_of_tables_is_read_and_measured(tmp_path: Path) -> None:
    folder = tmp_path / "Lab 1"
    folder.mkdir()
    (folder / "Q1.csv").write_text(FIRST, encoding="utf-8")
    (folder / "Q2.csv").write_text(SECOND, encoding="utf-8")
    assert kind_of(open_path(folder)) == "gradescope"
    store = new_store(tmp_path / "x.db")
    report = import_files.import_path(store, folder)

    # 2 graded submissions x 4 rubric items.
    assert (report["kind"], report["votes"], report["items"]) == ("gradescope", 8, 3)
    rater = {one["name"]: one["kind"] for one in report["raters"]}
    assert rater == {"Bo": "human", "Cy": "human"}
    assert metrics_source(lambda: store, str(report["run"]))
    again = import_files.import_path(store, folder)
    assert (again["run"], again["existed"]) == (report["run"], True)
    store.close()

"""What was asked stands above a table or in a heading; who was absent wrote nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.formats.source.heading import read_titles
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.office.workbooks import xlsx
from tests.formats.strangers import essay, table
from tests.services.imports.test_strangers import brought

WHY, BECAUSE = "Why does the river bring sand?", "It wears the rock down and carries it."


@pytest.mark.parametrize(
    ("asked", "model"),
    [
        (["Question:", WHY], ["Model answer:", BECAUSE]),
        ([f"Frage 2: {WHY}"], [f"Musterlösung: {BECAUSE}"]),
        ([f"Pregunta: {WHY}"], [f"Respuesta modelo: {BECAUSE}"]),
        ([f"Question : {WHY}"], [f"Corrigé : {BECAUSE}"]),
        ([f"Task: {WHY}"], [f"Mark scheme: {BECAUSE}"]),
    ],
)
def test_a_question_and_a_model_answer_above_a_table_are_every_items(
    store: Store, tmp_path: Path, asked: list[str], model: list[str]
) -> None:
    file = tmp_path / "short answers.xlsx"
    rows = [[f"P{n}", essay(n), ""] for n in range(5)]
    head = ["Code", "Answer", "Points (0-4)"]
    file.write_bytes(xlsx({"A": [["Test 3, class 8"], asked, model, head, *rows]}))
    report = brought(store, file)
    dataset = store.datasets.load(report["dataset_version"])
    assert (dataset.prompt, dataset.reference) == (WHY, BECAUSE)
    assert "Test 3, class 8" in str(report["notices"])


def test_marks_below_a_question_keep_it(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    rows = [{"code": f"P{n}", "rater 1": n % 3, "rater 2": (n + 1) % 3} for n in range(6)]
    file.write_text(f"Question: {WHY}\n\n{table(rows)}")
    report = brought(store, file)
    assert report["votes"] == 12
    assert store.datasets.load(report["dataset_version"]).prompt == WHY


def test_several_questions_above_a_table_are_nobodys_prompt() -> None:
    lines = [["Question 1: What is it?"], ["Question 2: Where is it?"]]
    given, (notice,) = read_titles(lines, 1)
    assert given == {}
    assert "Where is it?" in notice.message
    # A source is no question.
    assert read_titles([["Source: the survey of 2021, wave 2"]], 1)[0] == {}


QUESTIONS = ("Q1. Warum ist der Sand gelb?", "Q2. Nenne zwei Folgen für den Fluss.")


@pytest.mark.parametrize("away", ["krank", "ABS", "excused", "ausente", "n.r.", "assente"])
def test_a_heading_is_the_prompt_and_absence_no_submission(
    store: Store, tmp_path: Path, away: str
) -> None:
    file = tmp_path / "answers.csv"
    rows = [
        {"Name": f"P{n}"} | {q: essay(n + k) for k, q in enumerate(QUESTIONS)} for n in range(6)
    ]
    rows[4] = {"Name": "P4", QUESTIONS[0]: away, QUESTIONS[1]: ""}
    file.write_text(table(rows))
    report = import_files.import_path(store, file, changes=[f"submission={QUESTIONS[0]}"])
    dataset = store.datasets.load(report["dataset_version"])
    assert dataset.prompt == "Warum ist der Sand gelb?"
    assert [bool(item.text) for item in dataset.items] == [True] * 4 + [False, True]
    said = str(report["notices"])
    assert f"no submission: '{away}' 1." in said
    # The answers to the next question are not what was asked.
    assert "is what was asked" not in said


def test_one_word_answers_are_no_absences(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "spelling.csv"
    words = ("absent", "river", "excused", "sand")
    file.write_text(table([{"id": n, "answer": words[n % 4]} for n in range(8)]))
    report = brought(store, file)
    assert first_texts(store, report) == {*words}


def first_texts(store: Store, report: dict[str, object]) -> set[str]:
    return {item.text for item in store.datasets.load(str(report["dataset_version"])).items}

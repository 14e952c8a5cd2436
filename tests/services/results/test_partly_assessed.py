"""What was assessed in part is said so on every surface, and below half there is no grade."""

from __future__ import annotations

import csv
import io
from typing import Any

from openpyxl import load_workbook

import rubric_studio as rs
from core.blocks.terminal import terminal_text
from core.cli import rescore
from core.cli.reports_as_text import item_as_data, item_as_text
from core.domain.review import QueueRule
from core.services.comparison import run_comparison
from core.services.comparison.comparison_blocks import comparison_sections
from core.services.exports.grade_lists import GradeChoices, fill
from core.services.exports.run_export import export
from core.services.guided import grading
from core.services.reports import rank_report
from core.services.reports.run_report import report_run
from core.services.results.run_columns import score_columns
from core.services.runs import lifecycle
from core.store.store import Store
from tests.services import reviewed
from tests.services.results.partly_assessed import UNGRADED, partly_assessed

SCORES = {"whole": 0.75, "most": 1.0, "quarter": None, "lost": None, "failed": None}


def test_the_run_keeps_no_score_for_what_was_hardly_assessed(store: Store) -> None:
    run = partly_assessed(store)
    rows = {row.item_id: row for row in store.results.items(run)}
    assert {name: row.score for name, row in rows.items()} == SCORES
    assert {n: (row.coverage, row.assessed_points, row.assessed_of) for n, row in rows.items()} == {
        "whole": (1.0, 12.0, 16.0),
        "most": (0.75, 12.0, 12.0),
        "quarter": (0.25, 4.0, 4.0),
        "lost": (0.25, 4.0, 4.0),
        "failed": (0.0, 0.0, 0.0),
    }
    assert [n for n, row in rows.items() if not row.review] == ["whole"]
    assert [n for n, row in rows.items() if row.complete] == ["whole"]
    assert lifecycle.run_means(store, run) == (0.875, 1.0, 2)
    assert store.verify() == []


def test_a_teacher_gets_no_full_marks_for_a_quarter(store: Store) -> None:
    run = partly_assessed(store)
    (data,) = export(store, run, "xlsx").data().values()
    heads, *lines = load_workbook(io.BytesIO(data))["Grades, whole dataset"].iter_rows(
        values_only=True
    )
    rows: dict[str, Any] = {line[0]: dict(zip(heads, line, strict=True)) for line in lines}
    shown = ("score", "points", "of", "coverage", "assessed_points", "needs_a_person", "remark")
    assert {name: tuple(row[key] for key in shown) for name, row in rows.items()} == {
        "whole": (0.75, 12, 16, 1, 12, False, None),
        "most": (
            *(1, 12, 12, 0.75, 12, True),
            "assessed 12 of 12; 4 of 16 not assessed (cannot assess: d); a person must look",
        ),
        "quarter": (
            *(None, None, 16, 0.25, 4, True),
            "too little was assessed for a grade: 4 of 4; 12 of 16 not assessed "
            "(cannot assess: b, c, d); a person must look",
        ),
        "lost": (
            *(None, None, 16, 0.25, 4, True),
            "too little was assessed for a grade: 4 of 4; 12 of 16 not assessed "
            "(no verdict: b, c, d); a person must look",
        ),
        "failed": (
            *(None, None, 16, None, None, True),
            "no verdict: a, b, c, d; a person must look",
        ),
    }


def test_lists_of_students_get_only_what_was_assessed_whole(store: Store) -> None:
    run = partly_assessed(store)
    names = "\n".join(f"{name}," for name in SCORES)
    choices = GradeChoices(match="ID", by="id", grade="Grade", maximum=10)
    filled = fill(store, run, f"ID,Grade\n{names}\n".encode(), "class.csv", choices)
    assert filled.data.decode().split() == [
        *("ID,Grade", "whole,7.5", "most,", "quarter,", "lost,", "failed,")
    ]
    said = [str(problem) for problem in filled.problems]
    assert "'most', because they wait for a person." in said[0]
    assert "'quarter', 'lost', because they have no grade (too little was assessed)." in said[1]


def test_tables_of_the_run_say_what_is_covered(store: Store) -> None:
    run = partly_assessed(store)
    text = export(store, run, "everything").files["items.csv"]
    rows = {row["item_id"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
    kept = ("score", "raw", "coverage", "assessed_points", "complete", "needs_a_person")
    assert tuple(rows["most"][key] for key in kept) == (
        *("1.0", "12.0", "0.75", "12.0", "false", "true"),
    )
    assert tuple(rows["quarter"][key] for key in kept) == (
        *("", "", "0.25", "4.0", "false", "true"),
    )


def test_canvas_gets_no_points_for_an_item_without_a_grade(store: Store) -> None:
    found = export(store, partly_assessed(store), "canvas")
    rows = {row["Student Id"]: row for row in csv.DictReader(io.StringIO(found.text, newline=""))}
    assert rows["most"]["a - Points"] == "4.0"
    assert rows["quarter"]["a - Points"] == rows["lost"]["a - Points"] == ""
    assert any(UNGRADED in loss for loss in found.losses)


def test_the_command_line_says_it(store: Store) -> None:
    run = partly_assessed(store)
    report = rescore.score_source(lambda: store, str(run), (), None, None, print)
    by = {item["id"]: item for item in report["items"]}
    kept = ("score", "coverage", "assessed_points", "assessed_of", "needs_a_person")
    assert tuple(by["quarter"][key] for key in kept) == (None, 0.25, 4.0, 4.0, True)
    assert tuple(by["whole"][key] for key in kept) == (0.75, 1.0, 12.0, 16.0, False)
    lines = rescore.scores_as_text(report).splitlines()
    assert lines[2].startswith("quarter  no grade (assessed 4 of 4; 12 of 16 not assessed)  a=MET")
    assert UNGRADED in lines
    assert "no grade" in item_as_text(store, run, "quarter")
    shown = item_as_data(store, run, "quarter")
    assert tuple(shown[key] for key in kept) == (None, 0.25, 4.0, 4.0, True)
    # An abstention that costs points is still not assessed.
    zero = rescore.score_source(lambda: store, str(run), (), "zero", None, print)
    most = next(item for item in zero["items"] if item["id"] == "most")
    assert (most["score"], most["coverage"], most["needs_a_person"]) == (0.75, 0.75, True)


def test_the_path_of_a_teacher_counts_them(store: Store) -> None:
    run = partly_assessed(store)
    done = grading.outcome(store, run)
    assert (done.judged, done.partly, done.without) == (2, 1, 3)
    assert done.reasons["too little was assessed"] == 2
    assert [grading.points(text) for text in grading.trial_texts(store, run)] == [
        "12 of 16",
        "12 of 12; 4 of 16 not assessed",
        "no grade: 4 of 4; 12 of 16 not assessed",
    ]


def test_columns_count_what_has_no_grade(store: Store) -> None:
    run = store.runs.get(partly_assessed(store))
    assert score_columns(store, run).ungraded == 2


def test_a_ranking_leaves_out_what_has_no_grade_and_counts_it(store: Store) -> None:
    report, _ = rank_report.rank_answers(lambda: store, str(partly_assessed(store)))
    ranks = {one["system"]: one["rank"] for one in report["standings"]}
    # 1.0 for what was assessed of one, .75 for all of the other; no rank without a grade.
    assert (ranks["most"], ranks["whole"]) == (1, 2)
    assert ranks["quarter"] is ranks["lost"] is None
    assert "1 answer has no grade: too little was assessed." in report["notes"]
    assert "1 scores with a failed or missing vote are left out." in report["notes"]


def test_a_report_says_how_many_have_no_grade_and_what_the_rest_covers(store: Store) -> None:
    run = partly_assessed(store)
    found = report_run(store, run)
    assert (found.counts.scored, found.counts.complete, found.counts.ungraded) == (2, 1, 2)
    assert f"{UNGRADED}. Means and ranks leave such items out." in found.limits
    assert "1 item of 5 has no score and is left out." in found.limits
    assert "1 item with a score was assessed only in part; grade sheets mark it" in " ".join(
        found.limits
    )
    text = export(store, run, "markdown").text
    assert "75% assessed" in text
    assert "| Too little assessed for a grade | 2 |" in text


def test_a_comparison_leaves_out_what_has_no_grade_and_counts_it(store: Store) -> None:
    first = partly_assessed(store)
    second = partly_assessed(store, {"whole": "MMMM", "most": "MMMA", "quarter": "MAAM"})
    found = run_comparison.comparison_data(run_comparison.compare_runs(store, first, second))
    # whole .75 -> 1 and most 1 -> 1: +.125 over two items. A has no grade for quarter and lost; of
    # quarter half was assessed in B, so that it has a grade there alone.
    mean = found["overall"]["mean_score"]
    assert (mean["n"], mean["difference"]) == (2, 0.125)
    assert found["ungraded"] == {"a": 2, "b": 0}
    lines = terminal_text(
        comparison_sections(run_comparison.compare_runs(store, first, second))
    ).splitlines()
    assert f"  A: {UNGRADED}" in lines


def test_python_has_the_columns(store: Store) -> None:
    run = partly_assessed(store)
    items = rs.Run(run, store.path).items.set_index("item_id")
    assert items.loc["quarter", ["coverage", "assessed_points", "needs_a_person"]].tolist() == [
        *(0.25, 4.0, True)
    ]
    assert items["score"].isna().tolist() == [False, False, True, True, True]


def test_once_a_person_settled_that_nobody_can_assess_it_nobody_is_asked_again(
    store: Store,
) -> None:
    run = store.runs.get(partly_assessed(store))
    rule = QueueRule(audit_share=0.0)  # abstentions and failures
    queue = reviewed.make_queue(store, run, rule)
    ada = reviewed.sit(store, "Ada")
    reviewed.settle(store, ada, queue, "most", None, why="missing_info")
    row = store.results.item(run.id, "most")
    assert (row.score, row.coverage, row.complete, row.review) == (1.0, 0.75, False, False)
    choices = GradeChoices(match="ID", by="id", grade="Grade", maximum=10)
    assert fill(store, run.id, b"ID,Grade\nmost,\n", "c.csv", choices).data.split()[1] == b"most,10"
    # Too little stays too little, whoever says so.
    reviewed.settle(store, ada, queue, "quarter", None, why="missing_info")
    assert store.results.item(run.id, "quarter").score is None

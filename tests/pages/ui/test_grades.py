"""Rubrics in every form in and out of the app, and grades into files of Canvas and Moodle."""

from __future__ import annotations

import html

import pytest
from streamlit.testing.v1 import AppTest

from core.services.rubrics import library
from core.services.rubrics.import_export import SHARE_FORMS, export_rubric
from core.store.store import Store
from pages.rubric.files import RUBRIC_EXPORT
from pages.ui import grades as keys
from pages.ui import routes, state
from pages.ui.drafts import RUBRIC_ACT, RUBRICS_ACT, RUBRICS_FILE, RUBRICS_POINTS, RUBRICS_TEXT
from pages.ui.routes import Screen
from tests.pages.conftest import open_page, shown
from tests.services.exports.class_of_four import NOW, RUBRIC, class_of_four
from tests.services.exports.test_grade_lists import WORKSHEET

PAGE = routes.RUBRICS


def press(app: AppTest, *ids: object) -> AppTest:
    app.button(key=state.key(*map(str, ids))).click().run()
    assert not app.exception
    return app


def read(data: str, name: str = "", points: str = "") -> AppTest:
    app = press(open_page(PAGE), RUBRICS_ACT, "import")
    if name:
        app.file_uploader(key=RUBRICS_FILE).set_value((name, data.encode(), "text/csv")).run()
    else:
        app.text_area(key=RUBRICS_TEXT).set_value(data).run()
    if points:
        app.segmented_control(key=RUBRICS_POINTS).set_value(points).run()
    return press(app, RUBRICS_ACT, "read")


def test_losses_stand_above_the_download_of_every_form(store: Store) -> None:
    script = "from pages.rubric.files import export_panel\n"
    script += "from tests.services.exports.class_of_four import RUBRIC\nexport_panel(RUBRIC)"
    app = panel(script)
    key = state.key(RUBRIC_EXPORT, "form")
    assert "Nothing is lost" in shown(app)
    for form in SHARE_FORMS:
        app.selectbox(key=key).set_value(form).run()
        assert not app.exception
        for loss in export_rubric(RUBRIC, form).losses:
            assert loss.message[:40] in html.unescape(shown(app))
        buttons = str([one.proto for one in app.get("download_button")])
        assert state.key(RUBRIC_EXPORT, "download", form) in buttons
    assert store.counts().rubrics == 0


def test_the_editor_opens_it(store: Store) -> None:
    name = str(store.rubrics.create(RUBRIC, now=NOW).rubric_id)
    app = press(open_page(PAGE, rubric=name), RUBRIC_ACT, name, "export")

    assert "Nothing is lost" in shown(app)


@pytest.mark.parametrize("form", ["json", "autorubric", "csv", "canvas", "moodle"])
def test_every_form_is_read_again_as_a_file_and_pasted(store: Store, form: str) -> None:
    made = export_rubric(RUBRIC, form)  # type: ignore[arg-type]
    for app in (read(made.text, made.file_name), read(made.text)):
        assert "Review it" in str([one.value for one in app.toast])
    first, second = library.all_kept_drafts(store)
    assert [c["name"] for c in first.draft["criteria"]] == ["Method", "Units"]
    assert [c["weight"] for c in second.draft["criteria"]] == [8, 2]


def test_points_are_asked_about_only_where_there_are_points(store: Store) -> None:
    app = press(open_page(PAGE), RUBRICS_ACT, "import")
    assert not app.segmented_control
    table = "criterion,level,level_description,score\nA,,Low,2\nA,,High,8\n"
    app = read(table, points="range")
    # 8 - 2 points above the least.
    assert library.all_kept_drafts(store)[0].draft["criteria"][0]["weight"] == 6
    assert "as a ratio it would be 25%" in shown(app)


def test_of_several_rubrics_in_a_file_none_is_lost(store: Store) -> None:
    head = "Rubric Name,Criteria Name,Criteria Description,Criteria Enable Range,"
    head += (
        "Rating Name,Rating Description,Rating Points,Rating Name,Rating Description,Rating Points"
    )
    app = read(f"{head}\nOne,A,,false,Yes,,1,No,,0\nTwo,B,,false,Yes,,1,No,,0\n", "two.csv")
    assert sorted(one.draft["name"] for one in library.all_kept_drafts(store)) == ["One", "Two"]
    assert "1 more" in str([one.value for one in app.toast])


def test_a_table_of_something_else_is_refused_in_words() -> None:
    assert "not columns of a rubric" in shown(read("id,text\n1,a\n", "x.csv"))


def panel(script: str) -> AppTest:
    """What stands in a dialog; by itself, because a test cannot run a dialog again alone."""
    app = AppTest.from_string(script, default_timeout=30).run()
    assert not app.exception
    return app


def grades(run: int, data: str) -> AppTest:
    app = panel(f"from pages.ui.grades import grades_panel\ngrades_panel({run})")
    upload = ("class.csv", data.encode(), "text/csv")
    app.file_uploader(key=state.key(keys.GRADES_FILE, run)).set_value(upload).run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("page", "view"), [(routes.REPORT, {}), (routes.RUN, {"view": "scores"})])
def test_report_and_run_lead_to_it(store: Store, page: Screen, view: dict[str, str]) -> None:
    run = class_of_four(store)
    app = press(open_page(page, run=str(run), **view), keys.GRADES_ACT, "open", run)

    assert "Only grades change in the file" in shown(app)


def test_what_changes_in_the_file_is_shown_before_it_is_taken(store: Store) -> None:
    app = grades(class_of_four(store), WORKSHEET)
    said = shown(app)

    # As in tests.services.exports.test_grade_lists:
    # 0.2 x 20 and 1 x 20 are written, Bob's 11 is left alone.
    assert "2 cells will change" in said
    assert "an offline grading worksheet of Moodle" in said
    assert "left alone" in said
    assert "have no score" in said
    toggle = next(one for one in app.toggle if "Overwrite existing grades" in one.label)
    toggle.set_value(True).run()
    assert "3 cells will change" in shown(app)


def test_a_table_of_any_make_waits_until_its_columns_are_known(store: Store) -> None:
    run = class_of_four(store)
    app = grades(run, "Matrikel,Note\ns-003,\n")
    assert "Choose the meaning of the columns" in shown(app)
    for words, column in (
        ("Students are identified by", "Matrikel"),
        ("Column for the grade", "Note"),
    ):
        next(one for one in app.selectbox if one.label == words).set_value(column).run()
    assert "1 cell will change" in shown(app)
    assert not app.exception


def test_strangers_are_refused_with_what_was_compared(store: Store) -> None:
    run = class_of_four(store)
    text = "Identifier,Grade,Maximum Grade\nParticipant 70,,10\n"
    said = shown(grades(run, text))
    assert "No student of this file is in the run" in said

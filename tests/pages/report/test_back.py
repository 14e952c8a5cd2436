"""A run's results in a copy of one's own file, from the Report page."""

from __future__ import annotations

from core.store.store import Store
from pages.report import back
from pages.ui import routes, state
from tests.pages.conftest import open_page, shown
from tests.pages.ui.test_grades import panel, press
from tests.services.exports.class_of_four import class_of_four


def test_the_report_leads_to_it(store: Store) -> None:
    run = class_of_four(store)
    app = press(open_page(routes.REPORT, run=str(run)), back.BACK_ACT, "open", run)
    assert "nothing else in the file changes" in shown(app)


def given(run: int, data: str) -> str:
    app = panel(f"from pages.report.back import back_panel\nback_panel({run})")
    upload = ("items.csv", data.encode(), "text/csv")
    app.file_uploader(key=state.key(back.BACK_FILE, run)).set_value(upload).run()
    assert not app.exception
    return shown(app) + str([one.proto for one in app.get("download_button")])


def test_a_file_of_its_items_comes_back_with_results(store: Store) -> None:
    run = class_of_four(store)
    ids = [row.item_id for row in store.results.items(run, limit=10)]
    said = given(run, "id,text\n" + "".join(f"{id},x\n" for id in ids) + "other,x\n")
    assert f"{len(ids)} of {len(ids) + 1} records got their results" in said
    assert "items-run-" in said or "Download the copy" in said


def test_another_file_is_refused_in_words(store: Store) -> None:
    said = given(class_of_four(store), "id,text\nq,x\n")
    assert "None of its 1 records is an item" in said

"""What was assessed in part, on the Run page and in the list of runs."""

from __future__ import annotations

import html

from core.store.store import Store
from pages.ui import routes
from tests.pages.conftest import open_page, shown
from tests.pages.grids import grids
from tests.pages.run.test_page import listed, open_run
from tests.services.results.partly_assessed import UNGRADED, partly_assessed


def test_the_grid_says_no_grade_and_how_much_was_assessed(store: Store) -> None:
    app = open_run(partly_assessed(store))
    scores = [cell.words for cell in grids(app)[0].column("Score")]
    notes = [cell.words for cell in grids(app)[0].column("Notes")]
    assert dict(zip(listed(app), scores, strict=True)) == {
        "whole": "0.75",
        "most": "1.00",
        "quarter": "no grade",
        "lost": "no grade",
        "failed": "–",
    }
    by = dict(zip(listed(app), notes, strict=True))
    assert "needs a person" in by["most"]
    assert "75% assessed" in by["most"]
    assert "25% assessed" in by["quarter"]
    assert "assessed" not in by["whole"]


def test_the_count_of_items_that_need_a_person_is_that_of_the_notes(store: Store) -> None:
    app = open_run(partly_assessed(store))
    (pills,) = [group for group in app.pills if group.label == "Show only"]
    # All but "whole"; the rubric has no outcomes.
    assert "⚑ Needs a person: 4" in pills.options
    pills.set_value(["review"]).run()
    assert set(listed(app)) == {"most", "quarter", "lost", "failed"}


def test_an_item_says_its_points_of_what_was_assessed(store: Store) -> None:
    words = shown(open_run(partly_assessed(store), item="quarter"))
    assert "No grade" in words
    assert "4 of 4; 12 of 16 not assessed" in words
    assert "25% of the weight was assessed, and the rubric asks for 50%." in words
    assert "12 of 12; 4 of 16 not assessed" in shown(open_run(partly_assessed(store), item="most"))


def test_means_say_how_many_items_they_leave_out(store: Store) -> None:
    run = partly_assessed(store)
    words = html.unescape(shown(open_run(run, view="scores")))
    assert f"Mean 0.88 over 2 items with a score. 3 without. {UNGRADED}. Click" in words
    assert f"mean score 0.88 · {UNGRADED}" in shown(open_page(routes.RUNS))


def test_a_run_without_any_grade_says_why(store: Store) -> None:
    run = partly_assessed(store, answers={"quarter": "MAAA", "lost": "M---"})
    words = shown(open_run(run, view="scores"))
    assert "No grades" in words
    assert UNGRADED in words

"""Hostile text in every place where it can appear: shown as it is, never obeyed.

Every text of the data file (`hostile.seed`) holds scripts, pictures and links to elsewhere, styles,
Markdown, icons, formulas and text that turns around. `looking.seen` holds each place to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from core.store.store import Store
from tests.browser import hostile as seeded
from tests.browser.driving import choose, press, settle, turn, visit, write
from tests.browser.hostile import Places, hostile
from tests.browser.looking import SHOWN, drawn, seen, show_archived, unfold

#: No test needs a page of its own.
ONE_PAGE = True


@pytest.fixture(scope="module")
def places(app_db: Path) -> Iterator[Places]:
    """Where the attacks are; seeded before the server starts."""
    store = Store(app_db)
    yield seeded.seed(store)
    store.close()


def test_on_the_start_page(places: Places, page: Any, app_url: str) -> None:
    turn(page, app_url)
    seen(page, "run", "spot")


def test_in_the_list_of_rubrics(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/rubrics")
    seen(page, "rubric", "draft", "broken")
    show_archived(page)
    seen(page, "archived")
    show_archived(page)
    press(page, "Import")
    write(page, "Or paste it here", f"{hostile('key')!r}: 1\ncriteria: {hostile('typed')!r}\n")
    press(page, "Read it")
    page.get_by_test_id("stAlert").wait_for()
    seen(page)


def test_in_the_form_of_a_rubric(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/rubrics?rubric={places.rubric}")
    seen(page, "rubric", "section", "criterion-1", "requirement-1", "criterion-2")
    press(page, "About, guidelines and scoring")
    seen(page, "gate", whole=("description", "mine"))
    open_card(page, "criterion-1")
    unfold(page, "More", exact=True)
    seen(page, "tag", whole=("requirement-1",))
    open_card(page, "criterion-3")
    seen(page, "high", "low", whole=("anchor-high", "anchor-low"))
    press(page, "Preview", role="radio")
    seen(page, "criterion-3", "high", whole=("mine",))
    press(page, "Scoring", role="radio")
    seen(page, "criterion-1", "high")
    press(page, "Versions", role="radio")
    seen(page, "author", whole=("save", "their-note"))
    press(page, "YAML", role="radio")
    seen(page, "description", "mine", "anchor-high")
    press(page, "Export")
    page.get_by_role("dialog").wait_for()
    seen(page)


def open_card(page: Any, name: str) -> None:
    page.get_by_test_id("stMain").get_by_role("button").filter(has_text=name).first.click()
    settle(page)


def test_where_a_rubric_cannot_be_saved(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/rubrics?rubric={seeded.BROKEN_DRAFT}")
    seen(page, "broken", "criterion-1")
    assert "fix before saving" in page.evaluate(SHOWN)
    turn(page, f"{app_url}/rubrics?rubric={seeded.BROKEN_TEXT}")
    page.get_by_text("text that is not a valid rubric yet").wait_for()
    seen(page, "draft")
    press(page, "Return to the YAML")
    seen(page, "typed")


def test_where_a_rubric_was_saved_by_two(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/rubrics?rubric={places.rubric}")
    press(page, "Save")
    page.get_by_text("Nothing was overwritten").wait_for()
    seen(page, "criterion-3", whole=("their-note",))


def test_in_a_version_to_read(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/rubrics?rubric={places.rubric}&version={places.version}")
    seen(page, "rubric", "description", "guidelines", "anchor-low", whole=("save",))


def test_in_datasets(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/datasets")
    seen(page, "dataset")
    show_archived(page)
    seen(page, "put-away")
    turn(page, f"{app_url}/datasets?dataset={places.dataset}")
    drawn(page)
    seen(page, "dataset", "source", "item-plain", "item-chat", "item-sections")
    seen(page, "system", "item-tag", "high", whole=("prompt", "submission", "reference"))
    seen(page, whole=("item-description", "label-reason", "label-reason-2"))
    unfold(page, "1 note")
    seen(page, "note", whole=("note-value",))
    turn(page, f"{app_url}/datasets?dataset={places.dataset}&item={quote(seeded.CHAT)}")
    unfold(page, "Its own rubric: ")
    seen(page, "role", "criterion-1", whole=("turn", "common-prompt", "requirement-1"))
    turn(page, f"{app_url}/datasets?dataset={places.dataset}&item={quote(seeded.SECTIONS)}")
    unfold(page, "Thinking, ")
    seen(page, whole=("thinking", "output"))
    press(page, "Labels", role="radio")
    page.get_by_role("table", name="Labels per criterion").wait_for()
    seen(page, "rubric", "criterion-1", "criterion-2", "high")
    press(page, "About", role="radio")
    seen(page, "source", whole=("dataset-description", "common-prompt"))


def test_in_an_import(places: Places, page: Any, app_url: str) -> None:
    visit(page, f"{app_url}/datasets?dataset=new")  # anew: forms keep what was chosen
    press(page, "Paste text", role="radio")
    column, cell = hostile("column"), hostile("cell")
    write(page, "Paste CSV, TSV, JSON or JSONL", f"id\tsubmission\t{column}\n{cell}\t{cell}\tx")
    page.get_by_text("All 1 item can be read").wait_for()
    seen(page, "column", whole=("cell",))
    unfold(page, "The file as it is")
    drawn(page)
    seen(page, "cell")
    choose(page, "Check labels against a rubric", "rubric")
    seen(page, "column", "cell")
    write(page, "Paste CSV, TSV, JSON or JSONL", f"id\tsubmission\n{cell}\ta\n{cell}\tb")
    page.get_by_text("to fix before this can be imported").wait_for()
    seen(page, "cell")


def test_in_judges_and_panels(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/judges")
    seen(page, "judge", "failing", "learner", "model")
    show_archived(page)
    seen(page, "retired", "model")
    press(page, "Panels", role="radio")
    seen(page, "panel", "judge")
    press(page, "Keys", role="radio")
    seen(page)
    turn(page, f"{app_url}/judges?judge={places.judge}")
    seen(page, "judge", whole=("model", "test-reason"))
    turn(page, f"{app_url}/judges?judge={places.judge + 1}")
    seen(page, "failing", whole=("test-message",))
    turn(page, f"{app_url}/judges?panel={places.panel}")
    seen(page, "panel", "judge")


def test_in_the_list_and_the_plan_of_runs(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/runs")
    seen(page, "run", "rubric", "judge")
    turn(page, f"{app_url}/runs?plan=new&rubric={places.rubric}&dataset={places.dataset}")
    seen(page, "rubric", "dataset")
    choose(page, "Panel", "panel !")
    seen(page, "panel", "judge", "failing")
    press(page, "Choose judges", role="radio")
    seen(page, "judge")


def test_in_a_run(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/run?run={places.run}")
    page.get_by_role("gridcell").first.wait_for()
    page.locator("summary", has_text="verdicts").first.click()
    seen(page, "run", "rubric", "judge", "item-plain", "item-chat", "submission")
    unfold(page, "got no vote")
    seen(page, "failure", "failing")
    page.get_by_role("gridcell", name="criterion-1").first.click()
    seen(page, "item-plain", "criterion-1", "judge", whole=("requirement-1",))
    press(page, "Filter and sort")
    choose(page, "Verdict of", "criterion-2")
    choose(page, "is", "high")
    seen(page, "criterion-2", "high")
    turn(page, f"{app_url}/run?run={places.run}&view=scores")
    unfold(page, "As numbers")
    seen(page, "criterion-1", "high", "low")
    turn(page, f"{app_url}/run?run={places.run}&view=labels")
    seen(page, "criterion-1", "criterion-2")
    turn(page, f"{app_url}/run?run={places.run}&view=plan")
    seen(page, "rubric", "dataset", "panel", "learner", whole=("model", "training-reason"))
    turn(page, f"{app_url}/run?run={places.failed}")
    seen(page, whole=("message",))
    turn(page, f"{app_url}/run?run={places.queued}")
    page.get_by_role("gridcell").first.wait_for()
    seen(page, "run", "item-plain")


def test_in_an_item_of_a_run(places: Places, page: Any, app_url: str) -> None:
    turn(page, f"{app_url}/run?run={places.run}&item={quote(seeded.PLAIN)}")
    seen(page, "item-plain", "run", "system", "item-tag", "criterion-1", "high", "low", "judge")
    seen(page, whole=("submission", "requirement-1", "reason", "evidence", "failure", "abstention"))
    seen(page, "flag", whole=("label-reason",))
    for part in ("Prompt", "Reference", "About this item", "Points by criterion"):
        unfold(page, part, exact=True)
    seen(page, whole=("prompt", "reference", "item-description"))
    unfold(page, "Prompt, reply and cost")
    page.get_by_text("Unprocessed reply").wait_for()
    seen(page, "answered-by", "finish", "setting", whole=("sent-system", "sent-user", "reply"))
    seen(page, whole=("call-thinking", "setting-value"))
    turn(page, f"{app_url}/run?run={places.run}&item={quote(seeded.CHAT)}")
    seen(page, "role", whole=("turn",))
    turn(page, f"{app_url}/run?run={places.run}&item={quote(seeded.SECTIONS)}")
    unfold(page, "The model's thinking")
    seen(page, whole=("thinking", "output"))


def test_in_a_spot_check(places: Places, page: Any, app_url: str) -> None:
    visit(page, f"{app_url}/spot_check")
    seen(page, "rubric", "judge", "failing", "learner", "criterion-1", whole=("pasted",))
    press(page, "Dataset item", role="radio")
    choose(page, "Dataset", "dataset !")
    seen(page, "dataset", "item-plain", "prompt", whole=("submission",))
    turn(page, f"{app_url}/spot_check?run={places.spot}")
    unfold(page, "got no vote")
    seen(page, "rubric", "criterion-1", "high", "judge", "failing", whole=("failure",))
    unfold(page, "Compared with check")
    seen(page, "criterion-1", "high", "rubric", "learner")
    unfold(page, "votes: reasons and evidence")
    unfold(page, "Prompt and reply")
    page.get_by_text("Unprocessed reply").wait_for()
    unfold(page, "What was judged")
    seen(page, "answered-by", whole=("reason", "evidence", "sent-user", "reply"))
    seen(page, whole=("submission", "prompt", "reference", "call-thinking", "setting-value"))

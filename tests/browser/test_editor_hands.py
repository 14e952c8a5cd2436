"""The editor by keyboard, and by a person who types and clicks without waiting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.domain.rubric import Criterion, Rubric
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from tests.browser.driving import press, settle, turn, visit, write

#: No test needs a page of its own.
ONE_PAGE = True
FIELD = "Requirement: what the judge must decide"
AT = "document.activeElement.value"


def made(app_db: Path, name: str) -> int:
    """A rubric of two criteria, saved."""
    store = Store(app_db)
    criteria = tuple(Criterion(name=n, requirement=f"Is it {n}?") for n in "AB")
    saved = library.save(store, "x", draft_from(Rubric(name=name, criteria=criteria)))
    store.close()
    return saved.rubric_id


@pytest.fixture(scope="module")
def ids(app_db: Path) -> dict[str, int]:
    """A rubric for each test, made before the server starts."""
    return {
        name: made(app_db, name)
        for name in ("clicked", "written", "shortcut", "gone", "low", "bar", "linked")
    }


def requirements(app_db: Path, rubric_id: int) -> list[str]:
    store = Store(app_db)
    found = library.latest_version(store, rubric_id).rubric.criteria
    store.close()
    return [criterion.requirement for criterion in found]


def opened(page: Any, app_url: str, rubric_id: int) -> None:
    turn(page, f"{app_url}/rubrics?rubric={rubric_id}")
    page.get_by_role("button", name="A", exact=True).click()
    settle(page)


def test_typing_and_clicking_save_at_once_saves_what_was_typed(
    ids: dict[str, int], app_db: Path, page: Any, app_url: str
) -> None:
    opened(page, app_url, ids["clicked"])
    page.get_by_role("textbox", name=FIELD, exact=True).fill("Is it an A?")
    # No blur and no waiting: the first change and its saving in one movement of the hand.
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Version 2, saved").wait_for()
    assert requirements(app_db, ids["clicked"]) == ["Is it an A?", "Is it B?"]


def test_ctrl_s_saves_what_is_being_typed_and_leaves_the_cursor(
    ids: dict[str, int], app_db: Path, page: Any, app_url: str
) -> None:
    opened(page, app_url, ids["shortcut"])
    page.get_by_role("textbox", name=FIELD, exact=True).fill("Is it an A")
    page.keyboard.press("End")
    page.keyboard.type("?")
    page.keyboard.press("Control+s")
    page.get_by_text("Version 2, saved").wait_for()
    settle(page)
    assert page.evaluate(AT) == "Is it an A?"
    page.keyboard.type(" Yes")
    page.keyboard.press("Control+s")
    page.get_by_text("Version 3, saved").wait_for()
    assert requirements(app_db, ids["shortcut"]) == ["Is it an A? Yes", "Is it B?"]


def test_whoever_goes_to_another_field_of_a_new_criterion_stays_there(
    ids: dict[str, int], app_db: Path, page: Any, app_url: str
) -> None:
    opened(page, app_url, ids["gone"])
    page.keyboard.press("Alt+Enter")
    page.wait_for_function(f"() => document.activeElement.tagName == 'TEXTAREA' && !{AT}")
    # By key, not by pointing; the cursor that is being brought to the requirement must not follow.
    name = page.get_by_role("textbox", name="Name", exact=True)
    name.focus()
    page.wait_for_timeout(600)
    assert name.evaluate("field => field === document.activeElement")


def test_criteria_are_written_moved_and_taken_back_without_a_mouse(
    ids: dict[str, int], app_db: Path, page: Any, app_url: str
) -> None:
    opened(page, app_url, ids["written"])
    for words in ("One more.", "And another."):
        page.keyboard.press("Alt+Enter")
        page.wait_for_function(f"() => document.activeElement.tagName == 'TEXTAREA' && !{AT}")
        page.keyboard.type(words)
    page.keyboard.press("Alt+ArrowUp")
    page.wait_for_function(f"() => {AT} == 'One more.'")
    page.keyboard.press("Alt+Shift+ArrowUp")
    settle(page)  # while it moves, the field is there twice
    page.get_by_text("More", exact=True).click()
    page.get_by_role("spinbutton", name="Place of 4").and_(page.locator("[value='2']")).wait_for()
    page.get_by_role("heading", level=1).click()  # out of the field, where the browser takes back
    page.keyboard.press("Control+z")
    settle(page)
    page.get_by_role("spinbutton", name="Place of 4").and_(page.locator("[value='3']")).wait_for()
    page.keyboard.press("Control+Shift+z")
    settle(page)
    page.get_by_role("spinbutton", name="Place of 4").and_(page.locator("[value='2']")).wait_for()
    page.keyboard.press("Control+s")
    page.get_by_text("Version 2, saved").wait_for()
    assert requirements(app_db, ids["written"]) == [
        *("Is it A?", "One more.", "Is it B?", "And another.")
    ]


def height(page: Any) -> float:
    """How high the open card is."""
    return float(page.locator("[class*=st-key-rubric_card_]").bounding_box()["height"])


def test_cards_are_low_and_the_ways_beside_them_stand_in_one_line(
    ids: dict[str, int], page: Any, app_url: str
) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    opened(page, app_url, ids["low"])
    assert height(page) <= 420
    press(page, "4 levels")
    write(page, FIELD, "How clear is the wording to a reader?")
    assert height(page) <= 560
    ways = ("Form", "YAML", "Workbench", "Check", "Preview", "Scoring", "Versions")
    named = [page.get_by_role("radio", name=w, exact=True) for w in (*ways, "Draft with a model")]
    assert len({round(one.bounding_box()["y"]) for one in named}) == 1
    assert page.get_by_role("button", name="Save", exact=True).is_visible()
    press(page, "Discard")


def test_the_bar_with_save_stays_in_sight_and_covers_no_title(
    ids: dict[str, int], page: Any, app_url: str
) -> None:
    opened(page, app_url, ids["bar"])
    page.set_viewport_size({"width": 1360, "height": 500})
    heading = page.get_by_role("heading", level=1)
    heading.scroll_into_view_if_needed()  # a test before may have left the page scrolled
    title = heading.bounding_box()
    top = "([x, y]) => document.elementFromPoint(x, y).closest('h1') !== null"
    assert page.evaluate(top, [title["x"] + 10, title["y"] + title["height"] / 2])
    page.get_by_text("Rules on top of the points").scroll_into_view_if_needed()
    page.mouse.wheel(0, 5000)
    page.wait_for_function("() => document.querySelector('h1').getBoundingClientRect().bottom < 0")
    assert page.get_by_role("button", name="Save", exact=True).bounding_box()["y"] > 0


def test_a_deep_link_reopens_the_rubric_and_reload_keeps_unsaved_work(
    ids: dict[str, int], page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/rubrics?rubric={ids['linked']}")
    page.get_by_role("heading", name="linked").wait_for()
    press(page, "About, guidelines and scoring")
    write(page, "Guidelines", "Be kind.")
    page.get_by_text("Unsaved changes to version 1").wait_for()
    page.reload()
    page.get_by_text("Unsaved changes to version 1").wait_for()
    settle(page)

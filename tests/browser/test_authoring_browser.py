"""As a new user would: six mixed criteria by form, by paste and from the library; two at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.rubric import Criterion, Rubric
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from tests.browser.driving import press, settle, visit, watch, write
from tests.browser.seats import Wardrobe

REQUIREMENT = "Requirement: what the judge must decide"


@pytest.fixture(scope="module")
def shared_id(app_db: Path) -> int:
    """A rubric that two people will open, saved before the server starts."""
    store = Store(app_db)
    rubric = Rubric(name="Shared", criteria=(Criterion(name="A", requirement="Is it brief?"),))
    saved = library.save(store, "x", draft_from(rubric))
    store.close()
    return saved.rubric_id


@pytest.fixture
def second(wardrobe: Wardrobe, app_url: str) -> Iterator[Any]:
    """A page of somebody else's browser."""
    with wardrobe.lent(app_url) as context:
        page = context.new_page()
        watch(page)
        yield page


def rubric_named(app_db: Path, name: str) -> Rubric:
    store = Store(app_db)
    (row,) = library.listing(store, search=name)
    rubric = library.latest(store, row.id).rubric
    store.close()
    return rubric


def test_by_form_six_mixed_criteria_with_anchors_are_saved(
    shared_id: int, app_db: Path, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/rubrics")
    press(page, "New rubric")
    write(page, "Name of the rubric", "Made by form")
    for kind, requirement in (
        ("Yes or no", "Names density as the reason."),
        ("Yes or no", "Gives a number with its unit."),
        ("3 levels", "How complete is the explanation?"),
        ("4 levels", "How clear is the wording?"),
        ("5 levels", "How well is the claim supported?"),
        ("Categories", "Which kind of answer is it?"),
    ):
        press(page, kind)
        write(page, REQUIREMENT, requirement)
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    rubric = rubric_named(app_db, "made by form")
    assert [c.scale for c in rubric.criteria] == [
        *("binary", "binary", "ordinal", "ordinal", "ordinal", "nominal")
    ]
    levels = [o for c in rubric.criteria if c.scale == "ordinal" for o in c.options]
    assert all(option.description for option in levels)  # the templates bring anchors


def test_by_paste_six_criteria_are_saved(
    shared_id: int, app_db: Path, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/rubrics")
    press(page, "New rubric")
    write(page, "Name of the rubric", "Made by paste")
    page.get_by_text("Paste many", exact=True).click()
    settle(page)
    lines = "# Facts\n- Names density (12 points)\n- Gives a number with its unit (4 points)\n"
    lines += (
        "[-5] Invents a source\n# Style\nTone: It is warm.\n5. Is brief\nClear\tIs it clear?\t3"
    )
    write(page, "One requirement per line, or a table", lines)
    press(page, "Add 6 criteria")
    page.get_by_text("Nothing to fix").wait_for()
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    rubric = rubric_named(app_db, "made by paste")
    assert [(c.weight, c.section) for c in rubric.criteria] == [
        *((12.0, "Facts"), (4.0, "Facts"), (-5.0, "Facts")),
        *((10.0, "Style"), (10.0, "Style"), (3.0, "Style")),
    ]


def test_from_the_library_six_criteria_are_saved(
    shared_id: int, app_db: Path, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/library")
    boxes = page.get_by_test_id("stMain").get_by_test_id("stCheckbox")
    boxes = boxes.filter(has_not_text="With the guidelines")
    for at in range(6):
        boxes.nth(at).click()
        settle(page)
    press(page, "Add 6 criteria")
    page.get_by_role("button", name="Save", exact=True).wait_for()
    settle(page)
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    store = Store(app_db)
    row = library.listing(store)[0]
    rubric = library.latest(store, row.id).rubric
    store.close()
    assert len(rubric.criteria) == 6


def test_the_second_to_save_sees_both_versions_and_loses_nothing(
    shared_id: int, app_db: Path, page: Any, second: Any, app_url: str
) -> None:
    for one in (page, second):
        visit(one, f"{app_url}/rubrics?rubric={shared_id}")
        one.get_by_role("button", name="A", exact=True).click()
        settle(one)
    write(page, REQUIREMENT, "Is it brief and clear?")
    write(second, REQUIREMENT, "Is it shorter than 50 words?")
    second.get_by_role("spinbutton", name="Weight").fill("7")
    second.get_by_role("spinbutton", name="Weight").blur()
    settle(second)
    press(page, "Save")
    page.get_by_text("Version 2, saved").wait_for()
    press(second, "Save")
    second.get_by_text("Nothing was overwritten").wait_for()
    main = second.get_by_test_id("stMain")
    assert main.get_by_text("both changed it").count() == 1
    cards = " ".join(main.locator(".rs-card").all_inner_texts())
    assert "shorter than 50 words" in cards
    assert "brief and clear" in cards
    # The requirement is theirs, the weight stays mine.
    main.get_by_text("Theirs", exact=True).first.click()
    settle(second)
    press(second, "Save with the pieces chosen above")
    second.get_by_text("Version 3, saved").wait_for()
    (criterion,) = rubric_named(app_db, "shared").criteria
    assert (criterion.requirement, criterion.weight) == ("Is it brief and clear?", 7.0)

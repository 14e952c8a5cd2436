"""As a new user would: six mixed criteria by form, by paste and from the library; two at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.rubric import Criterion, Rubric
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from tests.browser.driving import press, settle, turn, watch, write
from tests.browser.seats import Wardrobe

#: No test needs a page of its own.
ONE_PAGE = True
REQUIREMENT = "Requirement: what the judge must decide"
PICKED = (
    "Requests delivered",
    "Way of speaking",
    "Flatters the person",
    "Claims found in passages",
    "Question answered",
    "Says what is missing",
)


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
    (row,) = library.rubric_rows(store, search=name)
    rubric = library.latest_version(store, row.id).rubric
    store.close()
    return rubric


def rubric_at(app_db: Path, address: str) -> Rubric:
    """What is saved of the rubric that an address of the editor names."""
    store = Store(app_db)
    rubric = library.latest_version(store, int(address.partition("/rubrics?rubric=")[2])).rubric
    store.close()
    return rubric


def test_by_form_six_mixed_criteria_with_anchors_are_saved(
    shared_id: int, app_db: Path, page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/rubrics")
    press(page, "New rubric")
    write(page, "Name of the rubric", "Made by form")
    asked = (
        ("Yes or no", "Names density as the reason."),
        ("Yes or no", "Gives a number with its unit."),
        ("3 levels", "How complete is the explanation?"),
        ("4 levels", "How clear is the wording?"),
        ("5 levels", "How well is the claim supported?"),
        ("Categories", "Which kind of answer is it?"),
    )
    for kind, requirement in asked:
        press(page, kind)
        write(page, REQUIREMENT, requirement)
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    rubric = rubric_named(app_db, "made by form")
    assert rubric == rubric_at(app_db, page.evaluate("location.href"))
    assert [c.scale for c in rubric.criteria] == [
        *("binary", "binary", "ordinal", "ordinal", "ordinal", "nominal")
    ]
    assert [c.requirement for c in rubric.criteria] == [words for _, words in asked]
    levels = [o for c in rubric.criteria if c.scale == "ordinal" for o in c.options]
    assert all(option.description for option in levels)  # the templates bring anchors


def test_by_paste_six_criteria_are_saved(
    shared_id: int, app_db: Path, page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/rubrics")
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
    page.get_by_text("This can be saved").wait_for()
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    rubric = rubric_named(app_db, "made by paste")
    assert [(c.weight, c.section) for c in rubric.criteria] == [
        *((12.0, "Facts"), (4.0, "Facts"), (-5.0, "Facts")),
        *((10.0, "Style"), (10.0, "Style"), (3.0, "Style")),
    ]


def test_six_mixed_criteria_come_from_the_library_and_are_saved(
    app_db: Path, page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/library")
    for name in PICKED:
        page.get_by_role("checkbox", name=f"Pick {name}", exact=True).check(force=True)
        settle(page)
    press(page, "Add 6 criteria")
    page.get_by_text("known to make judges disagree").wait_for()
    page.get_by_text("Nothing to fix before saving").wait_for()
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    store = Store(app_db)
    (row,) = library.rubric_rows(store, search="From the library")
    rubric = library.latest_version(store, row.id).rubric
    store.close()
    assert {c.name for c in rubric.criteria} == set(PICKED)
    assert {c.scale for c in rubric.criteria} == {"binary", "ordinal", "nominal"}
    assert min(c.weight for c in rubric.criteria) < 0


def test_a_finding_appears_when_the_field_is_left_and_goes_with_one_click(
    page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/rubrics")
    press(page, "New rubric")
    press(page, "Yes or no")
    write(page, REQUIREMENT, "The answer is clear and concise.")
    beside = page.locator("[class*=st-key-rubric_card_]")
    beside.get_by_text("Two questions in one").wait_for()
    beside.get_by_role("button", name=re.compile("Split into two")).click()
    settle(page)
    assert page.get_by_text("Two questions in one").count() == 0
    assert page.get_by_text("The answer is concise.").count() >= 1


def test_the_second_to_save_sees_both_versions_and_loses_nothing(
    shared_id: int, app_db: Path, page: Any, second: Any, app_url: str
) -> None:
    for one in (page, second):
        turn(one, f"{app_url}/rubrics?rubric={shared_id}")
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
    press(second, "Save the pieces chosen above")
    second.get_by_text("Version 3, saved").wait_for()
    (criterion,) = rubric_named(app_db, "shared").criteria
    assert (criterion.requirement, criterion.weight) == ("Is it brief and clear?", 7.0)

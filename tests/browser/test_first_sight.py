"""What a person sees at once, without scrolling: at a desk (1440 x 900) and on a telephone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.in_sight import two_runs
from core.domain.panel import Judge, Panel
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Call, Cell, Segment, Vote
from core.store.store import Store
from tests.browser.driving import settle, turn, visit, watch
from tests.new_store import graded_example
from tests.pages.graded import DATASET, FIRST, NOW, RUBRIC
from tests.recording import record

#: No test needs a page of its own.
ONE_PAGE = True
DESK, TELEPHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
JUDGES = ("Ann of the first provider", "Bob", "Cid")
#: Of each judge of the second run: the shown order of None, Some, Deep and Cannot assess.
ORDERS = ((2, 0, 1, 3), (0, 2, 1, 3), (1, 0, 2, 3))


@pytest.fixture(scope="module", autouse=True)
def _runs(app_db: Path) -> None:
    store = graded_example(app_db)
    two_runs(store)
    _three_judges(store)
    store.close()


def _three_judges(store: Store) -> None:
    """Run 3, in which three models, with prompts, reasons and quotes, disagree."""
    judges = tuple(Judge(name=name, model=f"openai/{name[0]}") for name in JUDGES)
    plan = RunPlan(
        name="Three judges",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(DATASET, now=NOW).id,
        panel=Panel(name="Three", judges=judges),
    )
    run = store.runs.create(plan, [(item.id, 6) for item in DATASET.items], now=NOW).id
    call = Call((Segment("user", "SENT"),), {}, reply="REPLY", model="m", cost=0.1, seconds=1.0)
    given = [
        AskedOutcome(
            (
                Vote(
                    Cell(item.id, name, judge),
                    number if name == "Depth" else 0,
                    False,
                    reason="It says that rain falls and gives two more reasons. " * 6,
                    evidence=("Rain falls.",),
                    order=ORDERS[number] if name == "Depth" else (0, 1, 2),
                    confidence=0.75,
                ),
            ),
            call,
        )
        for item in DATASET.items
        for name in ("Clear", "Depth")
        for number, judge in enumerate(JUDGES)
    ]
    record(store, run, RUBRIC, DATASET.items, given, now=NOW)


@pytest.fixture
def desk(page: Any, app_url: str) -> Any:
    page.set_viewport_size(DESK)
    return page


@pytest.fixture
def telephone(page: Any, app_url: str) -> Any:
    page.set_viewport_size(TELEPHONE)
    return page


def test_the_votes_of_three_judges_are_in_the_first_view_of_an_open_cell(
    desk: Any, app_url: str
) -> None:
    # Loaded anew: on the page as another test left it, a reason may be unfolded.
    visit(desk, f"{app_url}/run?run=3&cell={FIRST}&cell=Depth")

    cards = desk.locator(".rs-brief .rs-card")
    assert cards.count() == 3
    for card, judge, order in zip(cards.all(), JUDGES, ORDERS, strict=True):
        box = card.bounding_box()
        assert box["y"] + box["height"] <= DESK["height"]
        assert f"{judge}\noptions in the order shown" in card.inner_text()
        chips = card.locator(".rs-chip").all_inner_texts()
        labels = [("None", "Some", "Deep", "Cannot assess")[option] for option in order]
        assert [label in chip for label, chip in zip(labels, chips, strict=True)] == [True] * 4


def test_a_click_on_a_cut_reason_shows_it_whole_with_its_quotes(desk: Any, app_url: str) -> None:
    turn(desk, f"{app_url}/run?run=3&cell={FIRST}&cell=Depth")
    card = desk.locator(".rs-brief .rs-card").first
    quote = card.locator(".rs-quote")
    assert not quote.is_visible()

    card.locator("summary").click()

    assert quote.is_visible()
    prose = card.locator(".rs-prose")
    assert prose.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_a_page_chosen_on_a_telephone_is_not_left_under_the_menu(
    telephone: Any, app_url: str
) -> None:
    turn(telephone, f"{app_url}/run?run=1")
    telephone.get_by_test_id("stExpandSidebarButton").click()
    menu = telephone.get_by_test_id("stSidebar")
    link = menu.get_by_role("link", name="Rubrics")
    link.wait_for()

    link.click()
    settle(telephone)

    telephone.get_by_role("heading", name="Rubrics").wait_for()
    telephone.wait_for_function(
        "() => document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right <= 0"
    )


def test_the_editors_panels_come_into_view_on_a_telephone(telephone: Any, app_url: str) -> None:
    turn(telephone, f"{app_url}/rubrics?rubric=1")

    for panel, words in (("Scoring", "Weights from grades"), ("Versions", "Graded runs")):
        heading = telephone.get_by_role("heading", level=1)
        heading.scroll_into_view_if_needed()
        telephone.get_by_role("radio", name=panel).click()
        settle(telephone)
        # The last panel is short: then it stands at the page's foot.
        shown = telephone.get_by_text(words).first
        telephone.wait_for_function(
            "one => { const at = one.getBoundingClientRect();"
            " return at.top > 0 && at.bottom < innerHeight; }",
            arg=shown.element_handle(),
        )
        assert heading.bounding_box()["y"] < 0


def test_a_runs_name_is_whole_on_a_telephone(telephone: Any, app_url: str) -> None:
    for run in (1, 3):
        turn(telephone, f"{app_url}/run?run={run}")
        name = telephone.get_by_role("heading", level=1)
        assert name.evaluate("one => one.scrollWidth <= one.clientWidth")
        assert name.evaluate("one => getComputedStyle(one).whiteSpace") == "normal"


def test_the_filter_of_disagreements_covers_nothing_on_a_telephone(
    telephone: Any, app_url: str
) -> None:
    turn(telephone, f"{app_url}/run?run=1")
    close = telephone.get_by_role("button", name="Close")

    telephone.get_by_role("button", name="Judges disagree").click()
    settle(telephone)
    cell = telephone.locator("td.opened")
    cell.wait_for()
    assert not close.is_visible()

    cell.click()
    settle(telephone)
    close.wait_for()


def test_key_hints_are_shown_only_where_there_is_a_keyboard(
    desk: Any, browser: Any, app_url: str
) -> None:
    address = f"{app_url}/run?run=3&cell={FIRST}&cell=Depth"
    turn(desk, address)
    assert desk.locator(".st-key-rs_steps kbd").first.is_visible()
    assert desk.get_by_text("Digit keys settle the cell").is_visible()

    touched = browser.new_context(viewport=TELEPHONE, has_touch=True, is_mobile=True)
    page = touched.new_page()
    watch(page)
    visit(page, address)
    page.get_by_role("button", name="Close").wait_for()
    assert not [kbd for kbd in page.locator("kbd").all() if kbd.is_visible()]
    assert not page.get_by_text("Digit keys settle the cell").is_visible()
    touched.close()


def test_the_steps_between_items_stand_in_one_line_without_keys_on_a_telephone(
    telephone: Any, app_url: str
) -> None:
    turn(telephone, f"{app_url}/run?run=1&item=seasons-024&only=doubt")
    places = [
        telephone.get_by_role("button", name=words).first.bounding_box()
        for words in ("Items", "Previous", "Next")
    ]
    middles = [place["y"] + place["height"] / 2 for place in places]
    assert max(middles) - min(middles) < 2
    assert places[2]["x"] + places[2]["width"] <= TELEPHONE["width"]
    assert not [kbd for kbd in telephone.locator("kbd").all() if kbd.is_visible()]


def test_an_item_opens_at_its_title_and_first_column_on_a_telephone(
    telephone: Any, app_url: str
) -> None:
    turn(telephone, f"{app_url}/run?run=1&item=seasons-024&at=Reads+clearly")
    settle(telephone)

    assert telephone.get_by_role("heading", level=1).bounding_box()["y"] > 0
    assert telephone.locator(".rs-grid").evaluate("grid => grid.scrollLeft") == 0


def test_a_sections_heading_stays_in_sight_while_its_criteria_do(
    telephone: Any, app_url: str
) -> None:
    visit(telephone, f"{app_url}/run?run=1")
    grid = telephone.locator(".rs-grid")
    criterion = grid.get_by_role("columnheader", name="States a misconception")

    grid.evaluate("grid => grid.scrollLeft = 330")

    heading, last = grid.get_by_text("Content", exact=True).bounding_box(), criterion.bounding_box()
    assert grid.bounding_box()["x"] < heading["x"]
    assert heading["x"] + heading["width"] < last["x"] + last["width"]


def test_the_grid_stays_under_the_pointer_when_a_cell_is_settled(desk: Any, app_url: str) -> None:
    visit(desk, f"{app_url}/run?run=1")
    desk.get_by_role("button", name="≠ Judges disagree").click()
    settle(desk)
    before = desk.get_by_role("grid").bounding_box()

    desk.keyboard.press("1")
    desk.get_by_role("button", name="Undo").wait_for()
    settle(desk)

    assert desk.get_by_role("grid").bounding_box()["y"] == before["y"]


def test_a_person_without_a_name_settles_disagreements_at_once(desk: Any, app_url: str) -> None:
    visit(desk, f"{app_url}/run?run=1")

    desk.get_by_role("link", name="disagreements").click()

    desk.get_by_text("Give your verdict.").first.wait_for()

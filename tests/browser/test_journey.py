"""The whole road in a real browser, as somebody walks it on the first day."""

from __future__ import annotations

import re
from typing import Any

from core.settings import RunnerPlace
from tests.browser.answers import first_shown, labelled_csv
from tests.browser.driving import PATIENCE, choose, go, main_text, press, settle, visit, write
from tests.provider import Provider

#: Runs are really executed.
RUNNER: RunnerPlace = "process"
RUBRIC = "Tides"
SEED = 7
#: How the editor's buttons call the kinds, with the criterion's name and question.
CRITERIA = (
    ("Yes or no", "Names gravity", "The answer names gravity as the cause."),
    ("3 levels", "Depth", "How much does the answer explain?"),
    ("Categories", "Tone", "Is the answer plain (A) or flowery (B)?"),
)
JUDGES = ("Text classifier", "Nearest neighbours", "Loopback model")


def test_from_an_empty_rubric_to_every_vote_of_an_item(
    page: Any, app_url: str, provider: Provider
) -> None:
    provider.rule = first_shown
    visit(page, app_url)
    write_rubric(page)
    import_answers(page)
    connect_model(page, provider.url)
    start_run(page)
    page.get_by_text("✓ Done", exact=True).wait_for()
    settle(page)
    read_cells(page)
    read_item(page)


def write_rubric(page: Any) -> None:
    go(page, "Rubrics")
    press(page, "New rubric")
    write(page, "Name of the rubric", RUBRIC)
    for kind, name, question in CRITERIA:
        press(page, kind)
        write(page, "Name", name)
        write(page, "Requirement: what the judge must decide", question)
    page.get_by_text("This can be saved").wait_for()
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()


def import_answers(page: Any) -> None:
    from playwright.sync_api import expect

    go(page, "Data", "Datasets")
    press(page, "Import")
    file = {"name": "tides.csv", "mimeType": "text/csv", "buffer": labelled_csv()}
    page.locator("input[type=file]").set_input_files(files=[file])
    page.get_by_text("All 48 items can be read").wait_for()
    settle(page)
    choose(page, "Check labels against a rubric", RUBRIC)
    for column, role in (
        ("answer", "Submission (what is judged)"),
        ("note", "Keep as a note (meta)"),
        ("Depth", "Label: Depth"),
    ):
        box = page.get_by_role("combobox", name=f"Role of {column}", exact=True)
        expect(box).to_have_value(role, timeout=1000 * PATIENCE)
    page.get_by_text("All 48 items can be read, 48 with labels.").wait_for()
    press(page, "Import")
    page.get_by_text("all labelled").wait_for()
    assert "48 items" in main_text(page)


def connect_model(page: Any, url: str) -> None:
    go(page, "Judges")
    press(page, "New judge")
    write(page, "Name", JUDGES[2])
    write(page, "Model", "loopback-1")
    write(page, "Address", url)
    press(page, "Save and test connection")
    page.get_by_text(re.compile("^(✓ It works|The judge answers, but wrongly)$")).wait_for()


def start_run(page: Any) -> None:
    go(page, "Runs")
    press(page, "Plan a run")
    choose(page, "Rubric", RUBRIC)
    choose(page, "Dataset", "tides")
    press(page, "Choose judges", role="radio")
    choose(page, "Judges", JUDGES[2])  # Those that learn from labels are proposed.
    # The order in which options are shown is drawn from the seed, so every run shows the same.
    seed = page.get_by_role("spinbutton", name="Seed", exact=True)
    seed.fill(str(SEED))
    seed.press("Enter")
    settle(page)
    slider = page.get_by_role("slider", name="Labelled items to learn from")
    for _ in range(8):  # from 20 to 60% in steps of 5
        slider.press("ArrowRight")
    settle(page)
    page.get_by_text("Offline judges learn from 29 labelled items").wait_for()
    press(page, "Start")
    page.get_by_role("heading", name=RUBRIC, level=1).wait_for()


def read_cells(page: Any) -> None:
    """Cells are opened by hand and by keys, beside a grid that stays; Escape closes them."""
    grid = page.get_by_role("grid", name="Items by criteria")
    first = grid.get_by_role("row").nth(1)
    first.get_by_role("gridcell").nth(1).click()
    settle(page)
    assert page.locator(".rs-card", has_text=JUDGES[2]).count() == 1
    assert page.url.endswith("&cell=Names+gravity")
    # The arrows move in the grid and open nothing; Enter does, and the cursor stays.
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    settle(page)
    assert page.url.endswith("&cell=Names+gravity")
    page.keyboard.press("Enter")
    settle(page)
    assert page.url.endswith("&cell=Depth")
    open_ = grid.locator("[aria-selected=true]")
    assert open_.get_attribute("aria-label") in page.evaluate("document.activeElement.ariaLabel")
    # Out of the grid the arrows step through the criteria of the open cell's item.
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.url.endswith("&cell=Tone")
    page.reload()
    settle(page)
    assert "Tone" in grid.locator("[aria-selected=true]").get_attribute("aria-label")
    page.keyboard.press("Escape")
    settle(page)
    assert "cell=" not in page.url


def read_item(page: Any) -> None:
    """Every judge's vote with its reason; the model's with the order that it was shown."""
    press(page, "Step through")
    grid = page.get_by_role("grid", name="Criteria by judges")
    assert grid.get_by_role("row").count() == 1 + len(CRITERIA)
    for judge in JUDGES:
        assert grid.get_by_role("gridcell", name=f"{judge}, ").count() == len(CRITERIA)
        assert page.locator(".rs-card", has_text=judge).count() == 1
    said = main_text(page)
    assert "Words that spoke for" in said  # the classifier's reason: the words that decided
    assert "Nearest labelled answers: t" in said  # the neighbours': the answers they knew
    # One vote by a click, and the same judge's on the next criterion by a key.
    grid.get_by_role("gridcell", name=f"{JUDGES[2]}, {CRITERIA[0][1]}").click()
    settle(page)
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("j")
    settle(page)
    card = page.locator(".rs-card")
    assert (card.count(), JUDGES[2] in card.inner_text()) == (1, True)
    assert "It stood first." in card.inner_text()
    shown, places = options_of(card)
    assert shown[-1] == "Cannot assess"
    assert sorted(places) == [1, 2, 3, 4]
    assert places != [1, 2, 3, 4], "take a seed that shuffles this question"
    assert [("Absent", "In part", "Whole", "Cannot assess")[place - 1] for place in places] == shown
    page.get_by_text("Prompt, reply and cost").click()
    page.get_by_text("Unprocessed reply").wait_for()
    settle(page)
    sent, reply = (page.get_by_test_id("stCode").nth(at).inner_text() for at in (-3, -2))
    numbered = [sent.index(f"{number}. {words}") for number, words in enumerate(shown, start=1)]
    assert numbered == sorted(numbered)
    assert '"option": 1' in reply


def options_of(card: Any) -> tuple[list[str], list[int]]:
    """The options on a vote's card as they stand there, and their places in the rubric."""
    chips = card.locator(".rs-chip")
    labels = [chip.locator("span").last.inner_text() for chip in chips.all()]
    places = [int(re.findall(r"option (\d+)", text)[0]) for text in chips.all_inner_texts()]
    return labels, places

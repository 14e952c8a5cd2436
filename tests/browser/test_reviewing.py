"""Reviewing in a real browser: keys only, two people at once."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.review import QueueRule
from core.domain.rubric import Criterion
from core.services.reports import worked_example
from core.services.review import adjudication
from core.store.store import Store
from tests.browser import reviewers as world
from tests.browser.driving import main_text, settle, turn, watch
from tests.browser.seats import STAGE, key, review, states
from tests.browser.test_headers import AXE, LISTEN, barriers
from tests.browser.test_keyboard_alone import by_tab
from tests.new_store import graded_example

#: What scrolls on every page.
MAIN = "document.querySelector('[data-testid=stMain]')"


@pytest.fixture(scope="module")
def store(app_db: Path) -> Iterator[Store]:
    """The app's data file, with the bundled example graded in it."""
    opened = graded_example(app_db)
    yield opened
    opened.close()


def with_refusals(page: Any) -> None:
    """Watch a page, also for what the policy of the server refuses it."""
    watch(page)
    page.add_init_script(LISTEN)


def test_keys_never_fire_while_typing_and_streamlits_own_stay_its_own(
    store: Store, someone: Callable[..., Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 2))
    page = someone("Tina", with_refusals)
    review(page, app_url, queue_id)
    key(page, "n")
    note = page.get_by_role("textbox", name="Note on Right")
    assert note.evaluate("field => field === document.activeElement")
    page.keyboard.type("12 0 skip Undo Flag cr")
    key(page, "Escape")
    assert note.input_value() == "12 0 skip Undo Flag cr"
    assert page.get_by_text("no verdict yet").count() == 2  # nothing was chosen, nor skipped
    assert "Item 1" in main_text(page)
    # C and R are Streamlit's: neither of them is a key of ours.
    hints = page.locator("kbd").all_inner_texts()
    assert not {"C", "R"} & {hint.upper() for hint in hints}
    # Ctrl+Enter in the note does what Enter does outside of it: here it says what is missing.
    key(page, "n", "Control+Enter")
    page.get_by_text("2 cells have no verdict yet.").wait_for()
    # Enter on a button that has the focus presses that button, and does not commit.
    key(page, "1")
    page.get_by_role("button", name=re.compile("^Keys")).focus()
    key(page, "Enter")
    assert page.get_by_role("table", name="Keys").is_visible()
    assert "no verdict yet" in main_text(page)
    # The policy of the server refused nothing meanwhile.
    assert page.evaluate("window.refused") == []


def test_twenty_cells_of_the_example_are_settled_with_keys_alone(
    store: Store, someone: Callable[[str], Any], app_url: str
) -> None:
    run = store.runs.get(worked_example.ensure_example(store))
    names = [c.name for c in store.rubrics.version(run.rubric_version_id).rubric.criteria][:5]
    chosen = tuple(store.runs.item_ids(run.id)[:4])
    rule = QueueRule(everything=True, audit_share=0.0, items=chosen, criteria=tuple(names))
    queue_id = world.queue(store, run, rule)
    assert states(store, queue_id) == {"needs_review": 20}
    page = someone("Kay")
    turn(page, f"{app_url}/queues?queue={queue_id}")
    page.get_by_role("button", name=re.compile("Start reviewing")).wait_for()
    settle(page)
    key(page, "Enter")
    page.get_by_text("Give your verdict").wait_for()
    settle(page)
    waits = settle_all(page)
    assert "Everything in this queue is done." in main_text(page)
    assert states(store, queue_id) == {"resolved": 20}
    settled = [
        s for (item, _), s in adjudication.settled_cells(store, run.id).items() if item in chosen
    ]
    assert {s.people for s in settled} == {("Kay",)}
    per_decision = sum(waits) / 20
    print(
        f"\n{len(waits)} keys for 20 cells; app seconds per decision {per_decision:.2f}, "
        f"per key: median {statistics.median(waits):.2f}, most {max(waits):.2f}"
    )


def test_reviewing_is_for_everybody_and_for_the_keyboard_alone(
    store: Store, someone: Callable[..., Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 1))
    page = someone("Abe")
    review(page, app_url, queue_id)
    page.evaluate(AXE)
    for pressed in ((), ("1", "2", "Enter")):  # blind, then with the votes in sight
        key(page, *pressed)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            settle(page)
            assert barriers(page) == []
        assert by_tab(page) == ([], [], [])
        page.evaluate("document.activeElement.blur()")


def test_after_a_click_on_commit_at_once_a_digit_is_an_answer(
    store: Store, someone: Callable[..., Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 1))
    page = someone("Tom")
    review(page, app_url, queue_id)
    page.locator("label").filter(has_text="Commit at once").click()
    settle(page)
    page.wait_for_timeout(200)  # longer than the page waits before it takes the focus back
    key(page, "1", "1")
    page.get_by_text("Confirm with Enter").or_(page.get_by_text("Nothing left")).first.wait_for()


def test_on_a_scale_from_zero_a_digit_chooses_the_option_that_shows_it(
    store: Store, someone: Callable[..., Any], app_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [{"label": str(n), "value": n / 5} for n in range(6)]
    raw = {"name": "Right", "requirement": "How right?", "scale": "ordinal", "options": options}
    scale = build_model(Criterion, raw, "criterion")
    rubric = world.RUBRIC.model_copy(update={"criteria": (scale, world.RUBRIC.criteria[1])})
    monkeypatch.setattr(world, "RUBRIC", rubric)
    queue_id = world.queue(store, world.graded(store, 1))
    page = someone("Dora")
    review(page, app_url, queue_id)
    shown = page.locator(".st-key-rs_options button").all_inner_texts()
    # Each button shows its key, and that is its label.
    assert [(text.split()[0], text.split()[-1]) for text in shown] == [(n, n) for n in "012345"]
    key(page, "5")
    assert "✓ 5" in main_text(page)
    key(page, "ArrowUp", "0")
    assert "✓ 0" in main_text(page)
    # 0 is taken by an option; X says that the cell cannot be assessed.
    key(page, "ArrowUp", "x", "1")
    assert "✓ cannot assess: Something needed is missing" in main_text(page)


def settle_all(page: Any) -> list[float]:
    """Work off a queue by keyboard; returns the seconds that the app took after each key."""
    waits = list[float]()

    def timed(name: str) -> None:
        began = time.perf_counter()
        key(page, name)
        waits.append(time.perf_counter() - began)

    def say(words: str) -> None:
        page.wait_for_function("() => document.activeElement.tagName === 'TEXTAREA'")
        page.keyboard.type(words)
        timed("Escape")

    for _ in range(100):
        said = main_text(page)
        if "No items left for you" in said:
            return waits
        if "Give your verdict" in said and "no verdict yet" in said:
            timed("1")
        elif "A note is needed" in said:
            say("The reference says so.")
            timed("Enter")
        else:
            timed("Enter")
    raise AssertionError(f"the queue did not come to an end: {main_text(page)}")


def test_two_people_on_one_queue_settle_every_cell_once_and_the_slower_is_told(
    store: Store, someone: Callable[[str], Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 3))
    ann, bea = someone("Ann"), someone("Bea")
    review(ann, app_url, queue_id)
    review(bea, app_url, queue_id)
    assert "Item 1" in main_text(ann)
    assert "Item 2" in main_text(bea)  # the first is Ann's as long as she is there
    key(ann, "1")
    # Ann's lease ends as if her tab had been closed; Bea comes to the same item and settles it.
    world.let_run_out(store, queue_id)
    review(bea, app_url, queue_id)
    key(bea, "1", "2", "Enter")
    bea.get_by_text("These are the judges' votes").wait_for()
    key(bea, "Enter")
    key(bea, "ArrowLeft")
    finished = states(store, queue_id)
    if "Item 1" in main_text(bea):
        key(bea, "1", "2", "Enter", "Enter")
        finished = states(store, queue_id)
    key(ann, "2", "Enter")
    told = main_text(ann)
    assert "Bea" in told
    assert "Nothing was lost" in told or "was not recorded" in told
    assert states(store, queue_id) == finished  # Ann overwrote nothing
    run = store.queues.get(queue_id).run_id
    assert {s.people for s in adjudication.settled_cells(store, run).values()} == {("Bea",)}


def test_a_lead_takes_an_item_over_and_its_reviewer_keeps_the_draft(
    store: Store, someone: Callable[[str], Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 1))
    ann, lea = someone("Ann"), someone("Lea")
    review(ann, app_url, queue_id)
    key(ann, "2")
    turn(lea, f"{app_url}/queues?queue={queue_id}")
    lea.get_by_role("button", name="Take over from Ann").wait_for()
    settle(lea)
    lea.get_by_role("button", name="Take over from Ann").click()
    lea.get_by_text("Give your verdict").wait_for()
    settle(lea)
    key(ann, "2", "Enter")
    assert "Lea opened it since" in main_text(ann)
    assert states(store, queue_id) == {"needs_review": 2}
    world.let_run_out(store, queue_id)
    review(ann, app_url, queue_id)
    assert ann.get_by_text("✓ UNMET").count() >= 1


def test_a_reload_keeps_the_item_and_another_window_offers_to_go_on_with_it(
    store: Store, someone: Callable[[str], Any], app_url: str
) -> None:
    queue_id = world.queue(store, world.graded(store, 2))
    page = someone("Rae")
    review(page, app_url, queue_id)
    key(page, "ArrowRight", "2")
    assert "Item 2" in main_text(page)
    review(page, app_url, queue_id)  # loaded anew: the same tab, the same item, the draft
    assert "Item 2" in main_text(page)
    assert "✓ UNMET" in main_text(page)
    window = page.context.new_page()
    watch(window)
    window.goto(f"{app_url}/item?queue={queue_id}")
    window.get_by_text("One item is still open").wait_for()
    settle(window)
    key(window, "Enter")
    window.get_by_text(STAGE).wait_for()
    assert "Item 2" in main_text(window)
    assert "✓ UNMET" in main_text(window)
    # A click of the mouse does not take the keys away: Enter commits, and does not click again.
    window.get_by_role("button", name=re.compile("^MET")).click()
    settle(window)
    window.wait_for_function("() => document.activeElement === document.body")
    # The votes open in place, though on this screen the cell that they open in is out of sight.
    window.set_viewport_size({"width": 1280, "height": 130})
    window.evaluate(f"() => {MAIN}.scrollTo({{ top: 0 }})")
    settle(window)
    key(window, "Enter")
    window.get_by_text("These are the judges' votes").wait_for()
    window.wait_for_timeout(300)  # longer than the page waits before it brings a cell into sight
    assert window.locator(".st-key-rs_cell_active").bounding_box()["y"] > 130
    assert window.evaluate(f"() => [{MAIN}.scrollTop, scrollY]") == [0, 0]
    # But the digit of an option brings the cell that it is for into sight.
    key(window, "1")
    assert window.evaluate(f"() => {MAIN}.scrollTop") > 0
    window.set_viewport_size({"width": 1280, "height": 340})
    # Wherever one scrolls to, the bar and the row that commits are in sight; the sidebar is a rail.
    for top in (0, 10_000):
        window.evaluate(f"() => {MAIN}.scrollTo({{ top: {top} }})")
        settle(window)
        bar = window.locator(".st-key-rs_where").bounding_box()
        row = window.locator(".st-key-rs_commit").bounding_box()
        assert 40 <= bar["y"] < 100
        assert row["y"] + row["height"] <= 341
    assert window.get_by_test_id("stSidebar").bounding_box()["width"] < 70
    window.get_by_role("button", name="Queue").click()
    window.get_by_role("heading", name="Doubtful", level=1).wait_for()
    assert f"queue={queue_id}" in window.evaluate("location.href")
    assert store.turns.leases_in_force(queue_id, at=0.0) == []

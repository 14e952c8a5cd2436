"""What a Runner beside the server does, seen from the pages: the example, spot checks, runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.services.judges import registry
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.settings import RunnerPlace
from core.store.store import Store
from tests.browser.answers import first_shown
from tests.browser.driving import choose, follow, main_text, press, settle, turn, visit
from tests.browser.test_typing import FIRST, MORE, type_in_two_goes
from tests.provider import Answer, Provider, status

#: Runs are really executed.
RUNNER: RunnerPlace = "thread"
#: No test needs a page of its own.
ONE_PAGE = True
JUDGE = "Loopback model"
RUBRIC = Rubric(name="Replies", criteria=(Criterion(name="Polite", requirement="It is polite."),))


@pytest.fixture(scope="module")
def store(app_db: Path, provider: Provider) -> Iterator[Store]:
    """The app's data file, with a rubric and a judge that asks the provider."""
    opened = Store(app_db)
    opened.rubrics.create(RUBRIC, now=clock.now())
    settings = {"name": JUDGE, "model": "loopback-1", "api_base": provider.url, "concurrency": 2}
    # A call costs 1000 tokens in and 50 out (`tests.provider.USAGE`): 0.002 + 0.0005 dollars.
    prices = {"price_in": 2.0, "price_out": 10.0}
    registry.save_judge(opened, {**settings, **prices, "tries": 1})
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _answers(provider: Provider) -> None:
    provider.rule = first_shown


def started(store: Store, name: str, items: int) -> int:
    """A run of that many items with the judge; the server's Runner takes it up."""
    texts = tuple(Item(id=f"{name}-{n}", submission=f"Hello {n}.") for n in range(items))
    dataset = store.datasets.create(Dataset(name=name, items=texts), now=clock.now())
    (rubric,) = (row for row in store.rubrics.list() if row.name == RUBRIC.name)
    judges: tuple[Judge, ...] = (registry.get_judge(store, JUDGE).judge,)
    panel = Panel(name="One", judges=judges)
    request = RunRequest(rubric_version=rubric.version_id, dataset_version=dataset.id, panel=panel)
    return lifecycle.start(store, request)


def test_the_first_visit_shows_the_example_graded_and_leads_to_its_votes(
    store: Store, page: Any, app_url: str
) -> None:
    visit(page, app_url)
    page.get_by_text("Two offline judges learned from").wait_for()
    settle(page)
    page.get_by_text("Criterion by criterion").click()
    settle(page)
    figures = page.get_by_role("table", name="Agreement per criterion")
    # The sample rubric has a row for each of its criteria, with the share that was right.
    assert figures.locator("tbody tr").count() >= 3
    assert re.search(r"\d+%", figures.inner_text())
    assert "trusted" in figures.inner_text()
    follow(page, "See an answer that the judges got wrong")
    page.get_by_text("✕ wrong").first.wait_for()
    assert page.locator(".rs-card", has_text="Nearest neighbours").count() == 1
    grid = page.get_by_role("grid", name="Criteria by judges")
    assert grid.get_by_role("gridcell", name="Nearest neighbours, ").count() >= 3
    page.go_back()
    follow(page, "Open the run")
    page.get_by_text("✓ Done").wait_for()
    choose(page, "Show", "Against labels")
    assert page.get_by_role("table", name="Verdicts against labels").is_visible()


def test_a_pause_in_typing_keeps_the_text_and_starts_no_check(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/spot_check")
    choose(page, "Rubric", RUBRIC.name)
    page.get_by_test_id("stMultiSelect").filter(has_text=JUDGE).wait_for()
    before = store.counts().spot_checks, provider.count
    field = page.get_by_role("textbox", name="Submission", exact=True)
    field.fill("")
    type_in_two_goes(page, field)  # the pauses are nearly four times what takes a text over
    settle(page)
    # Ctrl+Enter in this field starts a check, which may cost money.
    assert (store.counts().spot_checks, provider.count) == before
    assert field.input_value() == FIRST + MORE
    page.reload()
    page.wait_for_selector("h1")
    settle(page)
    assert field.input_value() == FIRST + MORE
    field.fill("")
    field.blur()
    settle(page)


def test_a_pasted_submission_is_checked_with_the_keyboard(
    store: Store, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/spot_check")
    field = page.get_by_role("textbox", name="Submission", exact=True)
    # The cursor is there on arrival, and never comes back to who has gone on.
    page.locator("textarea:focus").wait_for()
    assert field.evaluate("field => field === document.activeElement")
    choose(page, "Rubric", RUBRIC.name)
    page.get_by_test_id("stMultiSelect").filter(has_text=JUDGE).wait_for()  # a model comes first
    page.wait_for_timeout(600)
    assert not field.evaluate("field => field === document.activeElement")
    field.fill("Good morning, here is some water.")
    field.press("Control+Enter")
    page.get_by_text("✓ Done", exact=True).wait_for()
    settle(page)
    said = main_text(page)
    assert "1 of 1 vote" in said
    assert "1 call · $0.0025" in said
    page.get_by_text("Reason and evidence").click()
    # While it opens, what lies in it moves away under the mouse.
    settle(page)
    card = page.locator(".rs-card", has_text=JUDGE)
    card.wait_for()
    # The model took the first of the options as shown; each says its place in the rubric, too.
    assert "It stood first." in card.inner_text()
    assert len(re.findall(r"option [123]\b", card.inner_text())) == 3
    page.get_by_text("Prompt and reply").click()
    settle(page)
    page.get_by_text("Unprocessed reply").wait_for()
    assert "Good morning, here is some water." in page.get_by_test_id("stCode").nth(1).inner_text()


def test_a_run_is_cancelled_and_resumed_from_its_page(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    begun = provider.count

    def answers_few(body: dict[str, Any]) -> Answer:
        answer = first_shown(body)
        return answer if provider.count <= begun + 10 else Answer(body=answer.body, stall=30.0)

    provider.rule = answers_few
    run_id = started(store, "Stalled", items=60)
    turn(page, f"{app_url}/run?run={run_id}")
    page.get_by_text("▶ Grading").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("◼ Cancelled").wait_for()
    row = lifecycle.run_progress(store, run_id).row
    assert (row.status, row.failures_open) == ("cancelled", 0)
    assert row.votes < 60
    provider.rule = first_shown
    page.get_by_role("button", name=re.compile("Resume")).click()
    page.get_by_text("✓ Done", exact=True).wait_for()
    settle(page)
    assert "60 of 60 votes" in main_text(page)


def test_failures_are_counted_by_kind_and_retried_from_the_page(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    provider.rule = lambda body: (
        status(500, "out of order") if "Hello 1." in str(body) else first_shown(body)
    )
    run_id = started(store, "Failing", items=3)
    turn(page, f"{app_url}/run?run={run_id}")
    page.get_by_text("◼ Incomplete, 1 failure").wait_for()
    settle(page)
    page.get_by_text("1 question got no vote: provider's fault").click()
    settle(page)
    said = main_text(page)
    assert "1 × provider's fault" in said
    assert "out of order" in said
    assert "2 of 3 votes" in said
    provider.rule = first_shown
    press(page, "Retry 1 failure")
    page.get_by_text("✓ Done", exact=True).wait_for()
    settle(page)
    assert "3 of 3 votes" in main_text(page)
    assert page.get_by_role("button", name=re.compile("Retry")).count() == 0

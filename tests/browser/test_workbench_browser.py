"""The workbench in a real browser: an edit, exactly its rows stale, only those asked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import new_row
from core.settings import RunnerPlace
from core.store.store import Store
from pages.rubric.workbench import subject as keys
from pages.ui import state
from tests.browser.driving import choose, press, settle, visit, write
from tests.provider import Answer, Provider
from tests.services.workbench.made import EXPECTED, RUBRIC, TEXTS, by_text, model

#: Runs are really executed.
RUNNER: RunnerPlace = "thread"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider() as serving:
        serving.rule = by_text
        yield serving


@pytest.fixture(scope="module")
def rubric(app_db: Path, provider: Provider) -> str:
    """A saved rubric with three rows in its workbench, and Ann to ask."""
    store = Store(app_db)
    name = str(library.save(store, "new-x", draft_from(RUBRIC)).rubric_id)
    model(store, provider.url)
    rows = [new_row(t, expected=e) for t, e in zip(TEXTS, EXPECTED, strict=True)]
    bench_rows.add_rows(store, name, rows)
    store.close()
    return name


def asked(page: Any) -> None:
    """Wait until nobody is being asked any more."""
    page.get_by_role("button", name="Nothing is open").wait_for()
    settle(page)


def test_an_edited_requirement_turns_its_rows_stale_and_only_those_are_asked(
    rubric: str, provider: Provider, page: Any, app_url: str
) -> None:
    address = f"{app_url}/rubrics?rubric={rubric}&{state.SIDE}={keys.BENCH}"
    visit(page, address)
    choose(page, "Criterion", "All criteria")
    press(page, "Ask open questions (6)")  # 3 rows x 2 criteria
    asked(page)
    assert provider.count == 6
    choose(page, "Criterion", "Cause")
    page.get_by_text("3 of 3", exact=True).wait_for()
    write(page, "Requirement: what the judge must decide", "Names the Moon as the cause.")
    page.get_by_text("3 stale", exact=True).wait_for()
    choose(page, "Criterion", "Depth")
    assert page.get_by_text("stale").count() == 0
    press_all(page)
    assert provider.count == 9  # exactly the 3 rows of Cause more
    sent = [str(one.body["messages"]) for one in provider.requests[6:]]
    assert all("Names the Moon as the cause." in words for words in sent)
    cancelled(page, provider)


def press_all(page: Any) -> None:
    """Ask open questions of all criteria, and reload while that is being done."""
    choose(page, "Criterion", "All criteria")
    press(page, "Ask open questions (3)")
    page.reload()
    page.wait_for_selector("h1")
    settle(page)
    choose(page, "Criterion", "All criteria")
    asked(page)


def cancelled(page: Any, provider: Provider) -> None:
    """Ask slowly, and stop it: the former answers are still there to be read."""
    provider.rule = lambda body: Answer(body=by_text(body).body, stall=3)
    choose(page, "Criterion", "Cause")
    write(page, "Requirement: what the judge must decide", "Says that the Moon does it.")
    page.get_by_role("button", name="Ask open questions (3)").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Ask open questions (3)").wait_for()
    settle(page)
    assert page.get_by_text("stale", exact=True).count() == 3

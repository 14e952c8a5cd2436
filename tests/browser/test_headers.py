"""The pages of the app work under the policy that their own server sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.services.reports import worked_example
from core.store.store import Store
from tests.browser import reviewers as world
from tests.browser.driving import visit
from tests.browser.seats import STAGE, review

#: A violation is said on the console, and by this event.
LISTEN = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refused.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}`));
"""
#: Every kind of thing a page draws: figures, tables on canvas, parts of ours, downloads, code.
PAGES = (
    *("", "rubrics?rubric=1", "library", "datasets?dataset=1", "test_data?rubric=1"),
    *("run?run={run}", "runs", "judges?judge=new", "spot_check", "import_votes"),
    *("agreement?run={run}", "agreement?run={run}&view=findings", "report?run={run}", "compare"),
    *("contests", "arena", "record?run={run}"),
)


@pytest.fixture(scope="module")
def run_id(app_db: Any) -> int:
    store = Store(app_db)
    worked_example.grade_example(store)
    found = worked_example.ensure_example(store)
    store.close()
    return int(found)


def test_no_page_is_refused_anything_by_the_policy(run_id: int, page: Any, app_url: str) -> None:
    page.add_init_script(LISTEN)
    refused = {}
    for address in PAGES:
        visit(page, f"{app_url}/{address.format(run=run_id)}")
        refused[address] = page.evaluate("window.refused")
    assert {address: said for address, said in refused.items() if said} == {}


def test_reviewing_is_refused_nothing_by_the_policy(
    app_db: Any, someone: Callable[[str], Any], app_url: str
) -> None:
    store = Store(app_db)
    queue_id = world.queue(store, world.graded(store, 2))
    store.close()
    page = someone("Tina")
    page.add_init_script(LISTEN)
    review(page, app_url, queue_id)
    page.get_by_text(STAGE).wait_for()
    assert page.evaluate("window.refused") == []


def test_a_picture_or_script_from_elsewhere_is_refused(
    run_id: int, context: Any, app_url: str
) -> None:
    page = context.new_page()  # not the fixture's, which takes a refusal for an error
    page.add_init_script(LISTEN)
    page.goto(app_url)
    page.wait_for_selector("h1")
    page.evaluate(
        """() => {
          const picture = new Image(); picture.src = `${location.protocol}//127.0.0.1:9/p.png`;
          const script = document.createElement("script"); script.textContent = "window.ran = 1";
          document.head.append(script);
        }"""
    )
    page.wait_for_function("window.refused.length > 1")
    assert page.evaluate("window.ran") is None
    assert {said.split()[0] for said in page.evaluate("window.refused")} == {
        "img-src",
        "script-src-elem",
    }
    page.close()

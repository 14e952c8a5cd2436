"""Help from a model in a real browser, from the first press to what is saved.

A scripted provider stands for the model; the server's own Runner and desk do the asking. Every
test has a rubric of its own, so that their order does not matter.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.domain.rubric import Criterion, Rubric
from core.domain.runs import HelpTask
from core.services.assist import help_tasks, rubric_draft
from core.services.judges import registry
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.settings import RunnerPlace
from core.store.store import Store
from tests.browser.driving import PATIENCE, choose, press, settle, turn, visit, write
from tests.judging.test_writing_replies import DRAFT
from tests.provider import Answer, Provider, malformed, said, status
from tests.services.assist.made import BETTER, DEPTH, LIMIT, change, reply, text_of
from tests.services.assist.test_generated_items import by_aim
from tests.services.assist.test_meta_check import fault_finder

#: Runs are really executed.
RUNNER: RunnerPlace = "thread"
#: No test needs a page of its own.
ONE_PAGE = True
MODEL = "Scripted model"
REQUIREMENT = "Requirement: what the judge must decide"
SECONDS = 30_000


@pytest.fixture(scope="module")
def store(app_db: Path, provider: Provider) -> Iterator[Store]:
    """The app's data file, with the model that writes and judges."""
    opened = Store(app_db)
    address = {"api_base": provider.url, "price_in": 1, "price_out": 1, "tries": 1}
    registry.save_judge(opened, {"name": MODEL, "model": "scripted-1", **address})
    yield opened
    opened.close()


def saved(store: Store, name: str) -> int:
    """A rubric of a yes/no criterion and an ordinal one with all that a reviser could lose."""
    rubric = Rubric(name=name, criteria=(LIMIT, DEPTH))
    return library.save(store, "x", draft_from(rubric)).rubric_id


def criteria(store: Store, rubric_id: int) -> tuple[Criterion, ...]:
    return library.latest_version(store, rubric_id).rubric.criteria


def open_help(page: Any, app_url: str, rubric_id: int, view: str = "Improve") -> None:
    turn(page, f"{app_url}/rubrics?rubric={rubric_id}")
    for group, words in (("Next to the form", "Draft with a model"), ("Kind of help", view)):
        page.get_by_role("radiogroup", name=group).get_by_role("radio", name=words).click()
        settle(page)


def said_on_page(page: Any, words: str) -> None:
    """Wait until these words are there: a task polls by itself."""
    page.get_by_test_id("stMain").get_by_text(words).first.wait_for(timeout=SECONDS)
    settle(page)


#: What may come instead of a draft: no answer, and one that cannot be read. The others are in
#: tests/services/assist/test_rubric_draft.py.
BROKEN: dict[str, tuple[Answer, str]] = {
    "no money left": (status(402, "Top up."), "Top up."),
    "words": (malformed(), "exactly one complete JSON object"),
}


def always(answer: Answer, body: dict[str, Any]) -> Answer:
    return answer


def ended(store: Store, calls: int) -> HelpTask:
    """The newest draft, once it is no longer worked on and has cost that many calls or more."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        task = help_tasks.latest(store, rubric_draft.KIND, rubric_draft.NEW)
        if task is not None and not task.active and task.calls >= calls:
            return task
        time.sleep(0.05)
    raise TimeoutError("The draft was not worked off.")


def test_a_draft_survives_broken_replies_and_is_saved_from_the_editor(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/rubrics")
    press(page, "Draft with a model")
    write(page, "The task", "Answer questions about refunds.")
    button, calls = "Draft it", 0
    for what, (answer, words) in BROKEN.items():
        provider.rule = partial(always, answer)
        press(page, button)
        task = ended(store, calls + 1)
        assert (what, task.status) == (what, "failed")
        assert words in task.message
        calls, button = task.calls, "Go on"
        said_on_page(page, words)
    # A refusal for now is waited out and never seen; words around the JSON do no harm.
    provider.say(status(429, headers={"Retry-After": "0.2"}))
    chatty = f"Here is the rubric:\n```json\n{json.dumps(DRAFT)}\n```\nEnjoy!"
    provider.rule = partial(always, said(chatty))
    press(page, "Go on")
    said_on_page(page, "Open the draft in the editor")
    press(page, "Open the draft in the editor")
    page.get_by_text("Drafted by a model. Review it, then save.").wait_for()
    press(page, "Save")
    said_on_page(page, "Version 1, saved")
    (row,) = library.rubric_rows(store, search=DRAFT["name"])
    limit, tone = criteria(store, row.id)
    assert [option.description for option in limit.options] == ["A number of days.", "No number."]
    assert (tone.scale, tone.weight) == ("ordinal", -2)


def test_a_draft_that_the_provider_keeps_waiting_can_be_cancelled(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    provider.rule = partial(always, Answer(stall=20.0))
    visit(page, f"{app_url}/rubrics")
    press(page, "Draft with a model")
    write(page, "The task", "Answer questions about shipping.")
    press(page, "Draft it")
    said_on_page(page, "Working")
    press(page, "Cancel")
    said_on_page(page, "Cancelled")


def test_one_proposal_is_taken_and_saved_and_nothing_else_is_lost(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    rubric_id = saved(store, "Improved")
    option = change("Names two reasons or more.", "option", 3, "c2")
    provider.rule = lambda body: reply(
        {"changes": [change(BETTER) if "States the limit" in text_of(body) else option]}
    )
    open_help(page, app_url, rubric_id)
    press(page, "Propose changes")
    said_on_page(page, "proposed change")
    page.get_by_role("button", name="Take", exact=True).first.click()
    settle(page)
    said_on_page(page, "✓ Taken")
    press(page, "Save")
    said_on_page(page, "Version 2, saved")
    assert criteria(store, rubric_id) == (
        LIMIT.model_copy(update={"requirement": BETTER}),
        DEPTH,
    )


def test_written_submissions_become_a_dataset_and_judges_are_asked(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    rubric_id = saved(store, "Tested")
    provider.rule = by_aim
    turn(page, f"{app_url}/test_data?rubric={rubric_id}")
    choose(page, "Criterion", "Depth")
    press(page, "Write them")
    said_on_page(page, "Save as a dataset")
    press(page, "Save as a dataset")
    said_on_page(page, "Do judges find the intended option?")
    press(page, "Ask judges")
    # Two each for None, Some and Deep; the scripted judge takes Deep for Some: 4 of 6.
    said_on_page(page, "Found: 67% (30% to 90%), 4 of 6")
    (kept,) = (row for row in store.datasets.list() if "Depth" in row.name)
    assert all(not item.labels for item in store.datasets.items(kept.version_id))


def test_what_judges_find_in_a_rubric_leads_to_the_criterion(
    store: Store, provider: Provider, page: Any, app_url: str
) -> None:
    rubric_id = saved(store, "Checked")
    provider.rule = fault_finder
    open_help(page, app_url, rubric_id, "Check")
    press(page, "Check by judges")
    said_on_page(page, "Single question")
    # The field stays where it is when findings make the panel longer than the screen.
    task = page.get_by_role("textbox", name="The task that is graded (optional)")
    assert (
        task.locator("xpath=ancestor::*[@data-testid='stElementContainer']").bounding_box()[
            "height"
        ]
        > task.bounding_box()["height"]
    )
    assert page.get_by_role("textbox", name=REQUIREMENT).count() == 0
    page.get_by_role("button", name="Open Limit", exact=True).first.click()
    settle(page)
    field = page.get_by_role("textbox", name=REQUIREMENT)
    assert field.input_value() == LIMIT.requirement

"""Writing a rubric in a real browser, and hostile text that stays text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.domain.rubric import Criterion, Option, Rubric
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from tests.browser.driving import press, settle, turn, visit, write

HOSTILE = (
    "![x](http://evil.test/p.png) [l](http://evil.test) www.evil.test :material/home: "
    "<img src=http://evil.test/q.png onerror=alert(1)> $a$ \u202ereversed"
)


@pytest.fixture(scope="module")
def hostile_id(app_db: Path) -> int:
    """A rubric whose every text is an attack, saved before the server starts."""
    store = Store(app_db)
    rubric = Rubric(
        name=HOSTILE,
        description=HOSTILE,
        criteria=(
            Criterion(
                name=HOSTILE,
                requirement=HOSTILE,
                section=HOSTILE[:200],
                scale="nominal",
                options=(
                    Option(label=HOSTILE[:190] + "1", value=1, description=HOSTILE),
                    Option(label=HOSTILE[:190] + "2", value=0, description=HOSTILE),
                ),
            ),
        ),
    )
    saved = library.save(store, "x", draft_from(rubric), note=HOSTILE)
    store.close()
    return saved.rubric_id


def test_a_rubric_with_one_criterion_of_each_kind_is_written_and_saved(
    hostile_id: int, app_db: Path, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/rubrics")
    press(page, "New rubric")
    write(page, "Name of the rubric", "Made by hand")
    for kind, requirement in (
        ("Yes or no", "Names density."),
        ("4 levels", "How deep?"),
        ("Categories", "Which tone?"),
    ):
        press(page, kind)
        write(page, "Requirement: what the judge must decide", requirement)
    page.get_by_text("Nothing to fix").wait_for()
    press(page, "Save")
    page.get_by_text("Version 1, saved").wait_for()
    store = Store(app_db)
    (row,) = library.listing(store, search="made by hand")
    rubric = library.latest(store, row.id).rubric
    store.close()
    assert [(c.scale, c.requirement) for c in rubric.criteria] == [
        ("binary", "Names density."),
        ("ordinal", "How deep?"),
        ("nominal", "Which tone?"),
    ]
    assert f"rubric={row.id}" in page.evaluate("location.href")


def test_a_deep_link_reopens_the_rubric_and_reload_keeps_unsaved_work(
    hostile_id: int, page: Any, app_url: str, app_db: Path
) -> None:
    store = Store(app_db)
    rubric = Rubric(name="Linked", criteria=(Criterion(name="A", requirement="Is it?"),))
    saved = library.save(store, "y", draft_from(rubric))
    store.close()
    visit(page, f"{app_url}/rubrics?rubric={saved.rubric_id}")
    page.get_by_role("heading", name="Linked").wait_for()
    press(page, "About, guidelines and scoring")
    write(page, "Guidelines", "Be kind.")
    page.get_by_text("Unsaved changes to version 1").wait_for()
    page.reload()
    page.get_by_text("Unsaved changes to version 1").wait_for()


def test_hostile_text_is_shown_as_text_everywhere(hostile_id: int, page: Any, app_url: str) -> None:
    dialogs = list[str]()
    page.on("dialog", lambda opened: (dialogs.append(opened.message), opened.dismiss()))
    visit(page, f"{app_url}/rubrics")
    turn(page, f"{app_url}/rubrics?rubric={hostile_id}")
    page.locator("[data-testid=stMain] button", has_text="![x]").first.click()
    settle(page)
    for side in ("Preview", "Scoring", "Versions"):
        press(page, side, role="radio")
        drawn = page.locator("[data-testid=stMain]").locator(
            "a:not([data-testid=stPageLink-NavLink]), img, .katex"
        )
        assert drawn.count() == 0
    assert dialogs == []

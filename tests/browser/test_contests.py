"""From the list of contests to a cell of the win matrix and the votes behind it; hostile text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.services.pairwise import blind_arena
from core.store.store import Store
from tests.browser.driving import follow, main_text, press, settle, turn, write
from tests.browser.hostile import hostile
from tests.browser.looking import seen
from tests.pages.contested import SYSTEMS, held
from tests.services.pairwise.world import dataset

#: No test needs a page of its own.
ONE_PAGE = True
#: Where a cell of the matrix is in the window: cells are bars of length 1, one row above another.
PLACE = """([row, column]) => {
  const plot = document.querySelector('[aria-label^="Win matrix"] .js-plotly-plot');
  const { xaxis, yaxis } = plot._fullLayout;
  const area = plot.querySelector('.nsewdrag').getBoundingClientRect();
  return [area.x + xaxis.c2p(column + 0.5), area.y + yaxis.c2p(row)];
}"""


@pytest.fixture(scope="module")
def runs(app_db: Path) -> tuple[int, int]:
    """An ordinary contest, and one in which every text is an attack and a person has voted."""
    store = Store(app_db)
    plain = held(store, "ada", tasks=2)
    names = hostile("system-one"), hostile("system-two")
    data = dataset(names, 6)
    items = [
        item.model_copy(
            update={
                # Of different lengths, so that something can be told of length, too.
                "submission": f"{item.submission}\n{hostile('answer')}" + " more" * (at % 5),
                "prompt": f"{hostile('prompt')} {item.prompt}",
            }
        )
        for at, item in enumerate(data.items)
    ]
    attacked = held(
        store,
        "ada",
        "bob",
        data=data.model_copy(update={"name": hostile("data", 180), "items": tuple(items)}),
        name=hostile("contest", 180),
    )
    arena = blind_arena.start(store, attacked, hostile("person", 90))
    blind = blind_arena.next_blind(store, arena)
    assert blind is not None
    blind_arena.vote(store, arena, blind.item, blind.question, "A")
    store.close()
    return plain, attacked


def test_a_cell_of_the_matrix_leads_to_both_orders_of_a_contest(
    runs: tuple[int, int], page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/contests")
    follow(page, "weak vs fair")
    press(page, "Who beats whom", role="radio")
    matrix = page.get_by_role("figure", name="Win matrix")
    matrix.locator(".nsewdrag").wait_for(state="attached")
    matrix.scroll_into_view_if_needed()
    # "best" (the third row) against "weak" (the first column).
    page.mouse.click(*page.evaluate(PLACE, [2, 0]))
    page.wait_for_url("**cell=2-0**")
    settle(page)
    assert "2 contests." in main_text(page)
    page.get_by_role("button", name=f"000-0: {SYSTEMS[0]} against {SYSTEMS[2]}").click()
    settle(page)
    said = main_text(page)
    assert "Shown as A: weak" in said
    assert "Shown as A: best" in said
    assert "A says more than B." in said
    page.reload()
    page.get_by_text("Shown as A: best").wait_for()
    settle(page)


def test_a_link_to_the_page_one_is_on_is_kept_by_the_next_act(
    runs: tuple[int, int], page: Any, app_url: str
) -> None:
    turn(page, f"{app_url}/contests")
    follow(page, "weak vs fair")
    assert page.url == f"{app_url}/contests?run={runs[0]}"
    press(page, "People", role="radio")
    assert page.url == f"{app_url}/contests?run={runs[0]}&view=people"
    page.go_back()
    settle(page)
    page.go_back()
    page.get_by_role("button", name="Plan a contest").wait_for()
    settle(page)
    assert page.url == f"{app_url}/contests"
    turn(page, f"{app_url}/contests?run={runs[0]}")
    follow(page, "All contests")
    press(page, "Plan a contest")
    assert page.url == f"{app_url}/contests?plan=new"


def test_hostile_text_in_every_view_is_shown_and_not_obeyed(
    runs: tuple[int, int], page: Any, app_url: str
) -> None:
    _, attacked = runs
    turn(page, f"{app_url}/contests")
    seen(page, "contest")
    for view in ("board", "position", "people"):
        turn(page, f"{app_url}/contests?run={attacked}&view={view}")
        seen(page, "contest", "system-one", "system-two")
    turn(page, f"{app_url}/contests?run={attacked}&view=matrix&bout=0")
    seen(page, "system-one", "system-two", "answer", "prompt")
    turn(page, f"{app_url}/arena?run={attacked}")
    write(page, "Your name", "Zoe")
    press(page, "Start")
    page.keyboard.press("Enter")
    settle(page)
    seen(page, "answer", "prompt")
    page.keyboard.press("1")
    settle(page)
    seen(page, "answer", "system-one", "system-two")

"""Looking for hostile text: what a place must show of it, and anything that was obeyed.

`seen` holds the page to both; the fixture `page` fails on requests to other hosts.
"""

from __future__ import annotations

from typing import Any

from core.text.names import visible
from pages.ui.text import JOINER
from tests.browser.driving import settle
from tests.browser.hostile import hostile

#: What the page shows, with the cells of tables that are drawn on a canvas.
SHOWN = """() => [
  document.body.innerText,
  ...[...document.querySelectorAll('canvas [role=gridcell]')].map(cell => cell.textContent),
].join('\\n')"""
#: What its fields hold, which is never changed.
FIELDS = """() => [...document.querySelectorAll('textarea, input')]
  .map(field => field.value).join('\\n')"""
#: Links to elsewhere (plots have their own kind of address), pictures, scripts, formulas.
OBEYED = (
    "[*|href*='127.0.0.1:9/'], [*|href^='http://www.evil'], [*|href^='javascript:'], "
    "[src*='127.0.0.1:9/'], "
    "[data-testid=stMain] script, [data-testid=stMain] .katex"
)
#: Labels are cut; so much of each must be there: the name of the place and some Markdown.
START = 32


def drawn(page: Any) -> None:
    """Wait for the cells of a table."""
    page.locator("canvas [role=gridcell]").first.wait_for(state="attached")


def seen(page: Any, *names: str, whole: tuple[str, ...] = ()) -> None:
    """These places' texts are on the page (`whole`: to their end), and nothing was obeyed."""
    settle(page)
    text = page.evaluate(SHOWN).replace(JOINER, "") + visible(page.evaluate(FIELDS))
    for name in names:
        assert visible(hostile(name))[:START] in text, name
    for name in whole:
        assert visible(hostile(name)) in text, name
    assert page.evaluate("window.hurt") is None
    obeyed = page.locator(OBEYED)
    assert obeyed.count() == 0, obeyed.first.evaluate("node => node.outerHTML")
    assert page.get_by_test_id("stIconMaterial").filter(has_text="skull").count() == 0
    assert page.get_by_role("heading", level=1).is_visible()


def unfold(page: Any, words: str, *, exact: bool = False) -> None:
    """Open the first part of the page that is called so."""
    page.get_by_test_id("stMain").get_by_text(words, exact=exact).first.click()
    settle(page)


def show_archived(page: Any) -> None:
    """Put the archived into a list, or out of it again."""
    page.get_by_test_id("stCheckbox").filter(has_text="Archived").click()
    settle(page)

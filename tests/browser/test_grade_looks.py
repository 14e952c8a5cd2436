"""The path with hostile files, with labels, on a phone and in the dark: nothing is obeyed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.settings import RunnerPlace
from pages.ui.text import JOINER
from tests.browser.driving import PATIENCE, press, settle, visit
from tests.browser.hostile import hostile
from tests.browser.looking import SHOWN, seen
from tests.formats.office.workbooks import xlsx
from tests.provider import Provider, status

#: Runs are really executed.
RUNNER: RunnerPlace = "thread"
#: No slash stands in a file's name; dollars, colons and marks do.
NAME = "filename <img src=x onerror=window.hurt=1> **b** :red[d] $a$"
HEAD = hostile("column", 50)
CRITERION = hostile("mark", 50)
WORDS = {"Full": hostile("full", 40), "Nothing": hostile("nothing", 40)}
#: A text of each kind tells itself by its words, so that judges can learn from the labels.
TEXTS = {
    "Full": "The tilt of the axis makes summer and winter, as in Oslo or in Sydney",
    "Nothing": "Clouds keep away the warmth of the Sun, and so it is cold in the winter",
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as serving:
        serving.rule = lambda body: status(401, hostile("refused"))
        yield serving


def rubric() -> str:
    """A grid whose criterion and levels are attacks."""
    rows = [["Criterion", f"{WORDS['Full']} (4)", f"{WORDS['Nothing']} (0)"]]
    rows.append([CRITERION, hostile("cell-full", 200), hostile("cell-nothing", 200)])
    return "\n".join("\t".join(row) for row in rows)


def class_book(marked: int) -> bytes:
    """Forty texts with attacks in them; the first are marked with words that are no options."""
    kinds = list(TEXTS)
    rows = [["Name", HEAD, CRITERION]]
    for n in range(40):
        kind = kinds[n % 2]
        mark = {"Full": "yes!", "Nothing": "no!"}[kind] if n < marked else ""
        # Words of its own, so that no two are the same text with another number.
        own = " ".join(f"word{(n * 37 + k * k * 11) % 997}" for k in range(12))
        text = f"{TEXTS[kind]} {own}. {hostile('text')}"
        rows.append([f"{hostile('who', 40)} {n}", text, mark])
    return xlsx({"Sheet": rows})


def drop(page: Any, name: str, data: bytes, until: str) -> None:
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])
    page.get_by_text(until).first.wait_for()
    settle(page)


def paste(page: Any, field: str, words: str) -> None:
    press(page, "Paste", role="radio")
    page.get_by_role("textbox", name=field).fill(words)
    page.get_by_role("textbox", name=field).blur()
    page.get_by_role("button", name="Use th").wait_for()
    settle(page)


def pictured(page: Any, name: str) -> None:
    """Pictures to look at, where somebody says where: wide, narrow, light and dark."""
    folder = os.environ.get("RUBRIC_STUDIO_PICTURES")
    if not folder:
        return
    for width, height in ((1280, 800), (390, 844)):
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            settle(page)
            page.wait_for_timeout(300)
            path = Path(folder) / f"looks-{name}-{width}-{scheme}.png"
            page.screenshot(path=path, full_page=True)
    page.set_viewport_size({"width": 1360, "height": 900})
    page.emulate_media(color_scheme="light")
    settle(page)


def seen_file(page: Any, *names: str) -> None:
    """The file's name and these places are on the page as they are."""
    seen(page, *names)
    assert NAME in str(page.evaluate(SHOWN)).replace(JOINER, "")


def use_hostile_class(page: Any, marked: int) -> None:
    drop(page, f"{NAME}.xlsx", class_book(marked), "40 texts, in the column")
    seen_file(page, "column")
    pictured(page, "start")
    press(page, "Grade these texts")
    page.get_by_role("heading", name="Grade my texts", level=1).wait_for()
    settle(page)
    seen(page, "who", "column")
    pictured(page, "texts")
    press(page, "Use these 40 texts")
    page.get_by_text("40 texts from").wait_for()
    seen_file(page, "column")
    paste(page, "Paste the rubric", rubric())
    seen(page, "mark", "full", "nothing")
    pictured(page, "rubric")
    press(page, "Use this rubric (1 criterion, 4 points)")
    page.get_by_text("3 · Judges").wait_for()
    settle(page)


def test_a_hostile_class_with_marks_is_graded_without_a_model(page: Any, app_url: str) -> None:
    visit(page, app_url)
    pictured(page, "welcome")
    use_hostile_class(page, marked=30)
    seen(page, "mark")
    # Their words are “yes!” and “no!”, in the order of how often they are used, then of the rows.
    for at, kind in enumerate(("Full", "Nothing")):
        page.get_by_test_id("stSelectbox").nth(at).get_by_role("combobox").click()
        page.get_by_role("option", name=WORDS[kind][:20]).first.click()
        settle(page)
    pictured(page, "marks")
    press(page, "Use the marks as labels")
    page.get_by_text("these two judges learn from them").wait_for()
    settle(page)
    pictured(page, "offline")
    press(page, "Try 3 texts")
    page.get_by_role("table", name="3 texts and verdicts").wait_for()
    settle(page)
    seen_file(page, "mark")
    pictured(page, "tried")
    page.get_by_role("button", name="Grade ").last.click()
    # All forty come back: what taught the judges keeps its labels.
    page.get_by_text("40 graded").wait_for(timeout=1000 * PATIENCE)
    settle(page)
    seen_file(page, "column")
    pictured(page, "graded")
    address = page.url
    visit(page, address)
    page.get_by_text("40 graded").wait_for()
    seen_file(page, "column")


def test_a_model_that_refuses_is_said_and_nothing_is_obeyed(
    page: Any, app_url: str, provider: Provider
) -> None:
    visit(page, f"{app_url}/grade")
    paste(page, "Paste the texts", hostile("first") + "\n\n" + hostile("second"))
    press(page, "Use these 2 texts")
    paste(page, "Paste the rubric", rubric())
    press(page, "Use this rubric (1 criterion, 4 points)")
    page.get_by_text("3 · Judges").wait_for()
    settle(page)
    page.get_by_text("Add a model", exact=True).click()
    settle(page)
    page.get_by_role("textbox", name="Model", exact=True).fill(
        "<b>m</b> ![x](http://127.0.0.1:9/m)"
    )
    page.get_by_role("textbox", name="Address (only for your own server)").fill(provider.url)
    press(page, "Add and test")
    page.get_by_text("No answer: key refused").wait_for()
    settle(page)
    seen(page, "refused")
    pictured(page, "refused")

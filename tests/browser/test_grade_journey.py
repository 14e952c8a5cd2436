"""From a spreadsheet and a Word rubric to a spreadsheet of grades, as a teacher walks it first.

The essays, the rubric and the model's answers are made here, so that every grade can be worked out:
essay n earns in criterion c the level (n + c) mod 3, of 4, 2 and 0 points; three criteria.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from core.settings import RunnerPlace
from tests.browser.driving import PATIENCE, STILL, settle, visit
from tests.formats.office.documents import docx, grid
from tests.formats.office.workbooks import xlsx
from tests.provider import Answer, Provider, ok

#: Runs are really executed.
RUNNER: RunnerPlace = "thread"
CRITERIA = ("Thesis", "Evidence", "Style")
LEVELS = (("Full", 4), ("Half", 2), ("Nothing", 0))
COUNT = 60
MOST_CLICKS = 12


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as serving:
        serving.rule = marks
        yield serving


def level(essay: int, criterion: int) -> tuple[str, int]:
    """What the model says, by hand."""
    return LEVELS[(essay + criterion) % 3]


def marks(body: dict[str, Any]) -> Answer:
    """The level of the essay in the criterion, whatever the order in which options are shown."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    essay = re.search(r"essay number (\d+)", prompt)
    if essay is None:
        return ok(1)  # the connection test: Paris is the capital of France
    criterion = next(at for at, name in enumerate(CRITERIA) if f"{name} of the essay" in prompt)
    label = level(int(essay[1]), criterion)[0]
    (number,) = set(re.findall(rf"^\s*(\d+)\. {label}\b", prompt, re.M))
    return ok(int(number))


def essays() -> bytes:
    """Sixty essays below a title, as schools write them."""
    rows: list[list[Any]] = [["Class 9b, essays of March"], [], ["Name", "Essay", "Group"]]
    for n in range(COUNT):
        text = f"This is essay number {n}. It says what the author thinks of the tides, at length."
        rows.append([f"Student {n:02}", text, "AB"[n % 2]])
    return xlsx({"Sheet1": rows})


def rubric() -> bytes:
    """A grid of criteria and levels with points, in Word."""
    head = ["Criterion", "Description", *(f"{label} ({points})" for label, points in LEVELS)]
    rows = [[name, f"{name} of the essay", "all of it", "a part", "none"] for name in CRITERIA]
    return docx("How we grade essays", grid([head, *rows]))


class Hands:
    """What a person does: clicks and typed texts, counted. A file dropped counts as a click."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.clicks, self.typed = 0, list[str]()

    def drop(self, name: str, data: bytes, until: str) -> None:
        """Drop a file, and wait until the page shows what was seen in it."""
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": data}
        self._page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])
        self._page.get_by_text(until).wait_for()
        self._done()

    def press(self, words: str | re.Pattern[str]) -> None:
        self._page.wait_for_function(STILL)
        self._page.get_by_role("button", name=words).click()
        self._done()

    def fill(self, field: str, words: str, *, click: bool = False) -> None:
        """Type into a field: clicked at, or reached from the last one by the Tab key."""
        self.clicks += click
        self.typed.append(words)
        self._page.get_by_role("textbox", name=field, exact=True).fill(words)

    def _done(self) -> None:
        self.clicks += 1
        settle(self._page)


def pictured(page: Any, name: str) -> None:
    """A picture to look at, where somebody says where."""
    if folder := os.environ.get("RUBRIC_STUDIO_PICTURES"):
        page.screenshot(path=Path(folder) / f"grade-{name}.png", full_page=True)


def test_sixty_essays_and_a_word_rubric_become_sixty_grades_in_twelve_clicks(
    page: Any, app_url: str, provider: Provider
) -> None:
    visit(page, app_url)
    hands = Hands(page)
    hands.drop("essays.xlsx", essays(), "60 texts, in the column “Essay”")
    pictured(page, "start-seen")
    hands.press("Grade these texts")
    page.get_by_role("heading", name="Grade my texts", level=1).wait_for()
    settle(page)
    pictured(page, "texts")
    hands.press("Use these 60 texts")
    assert page.get_by_text("60 texts from essays.xlsx, text in column “Essay”").is_visible()
    hands.drop("rubric.docx", rubric(), "Use this rubric (3 criteria, 12 points)")
    pictured(page, "rubric")
    hands.press(re.compile("Use this rubric"))
    pictured(page, "judges")
    page.get_by_text("Add a model", exact=True).click()
    settle(page)
    hands.clicks += 1
    hands.fill("Model", "loopback-1", click=True)
    hands.fill("Address (only for your own server)", provider.url)
    hands.press("Add and test")
    page.get_by_text("✓ answered").wait_for()
    settle(page)
    pictured(page, "tested")
    hands.press("Try 3 texts")
    page.get_by_role("table", name="3 texts and verdicts").wait_for()
    settle(page)
    pictured(page, "tried")
    hands.press("Grade 60 texts")
    page.get_by_text("60 graded, 0 in doubt").wait_for(timeout=2000 * PATIENCE)
    settle(page)
    pictured(page, "graded")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download grades (.xlsx)").click()
    hands.clicks += 1
    check_grades(Path(waiting.value.path()).read_bytes())
    assert hands.clicks <= MOST_CLICKS
    # Nothing is typed twice: a model's name and its address are all that no file says.
    assert hands.typed == ["loopback-1", provider.url]
    # Three texts were tried before; their answers are kept. One call is the test of the model.
    assert provider.count == 1 + COUNT * len(CRITERIA)


def check_grades(data: bytes) -> None:
    sheet = load_workbook(io.BytesIO(data))["Grades, whole dataset"]
    heads, *rows = sheet.iter_rows(values_only=True)
    assert len(rows) == COUNT
    for n, cells in enumerate(rows):
        row = dict(zip(heads, cells, strict=True))
        said = [level(n, at) for at in range(len(CRITERIA))]
        assert row["Name"] == f"Student {n:02}"
        assert [row[name] for name in CRITERIA] == [label for label, _ in said]
        # One of each level, in some order: 4 + 2 + 0 of 12 points.
        assert (row["points"], row["of"]) == (sum(points for _, points in said), 12)
        assert row["score"] == pytest.approx(row["points"] / 12, abs=1e-4)
        assert (row["from"], row["remark"]) == ("judges", None)

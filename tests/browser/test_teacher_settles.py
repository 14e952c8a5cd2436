"""A teacher's way through doubt: two models disagree, a person settles it, the grades say whose."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

from openpyxl import load_workbook

from core.settings import RunnerPlace
from tests.browser.driving import PATIENCE, follow, main_text, settle, turn, visit, write
from tests.browser.seats import key
from tests.browser.test_grade_journey import CRITERIA, Hands, level, marks, rubric
from tests.provider import Answer, Provider, ok

#: Runs are really executed.
RUNNER: RunnerPlace = "thread"


def test_what_two_models_disagree_on_is_settled_by_the_teacher_and_stands_in_the_grades(
    page: Any, app_url: str, provider: Provider
) -> None:
    # Both say the same of four essays, but for the thesis of essay 0: Full, and Half.
    def rule(body: dict[str, Any]) -> Answer:
        prompt = str(body["messages"])
        if body["model"] == "second" and "essay number 0" in prompt and "Thesis of" in prompt:
            (number,) = set(re.findall(r"(\d+)\. Half\b", prompt))
            return ok(int(number))
        return marks(body)

    provider.rule = rule
    visit(page, app_url)
    hands = Hands(page)
    lines = [f"Student {n},This is essay number {n} on the tides." for n in range(4)]
    hands.drop("four.csv", "\n".join(["Name,Essay", *lines]).encode(), "4 texts, in the column")
    hands.drop("rubric.docx", rubric(), "3 criteria, 12 points")
    hands.press("Grade these texts with this rubric")
    for at, model in enumerate(("first", "second")):
        page.get_by_text("Add a model", exact=True).click()
        settle(page)
        hands.fill("Model", model)
        hands.fill("Address (only for your own server)", provider.url)
        hands.press("Add and test")
        page.get_by_text("✓ answered").nth(at).wait_for()
        settle(page)
    hands.press("Grade 4 texts")
    page.get_by_text("4 graded, 1 in doubt").wait_for(timeout=2000 * PATIENCE)
    settle(page)
    path = page.url
    follow(page, "Settle doubtful cells")
    write(page, "Your name", "Kim")
    hands.press("Start")
    hands.press("Make the queue")
    hands.press(re.compile("^Start reviewing"))
    # The cell in doubt, and those drawn at random from the rest: the teacher says what is so.
    settled = set[tuple[int, str]]()
    for _ in range(12 + 1):  # by chance all twelve cells are drawn
        said = main_text(page)
        if "No items left for you" in said:
            break
        essay = int(re.findall(r"essay number (\d+)", said)[0])
        criterion = next(at for at, name in enumerate(CRITERIA) if f"{name} of the essay" in said)
        settled.add((essay, CRITERIA[criterion]))
        shown = ("Nothing", "Half", "Full")
        key(page, str(1 + shown.index(level(essay, criterion)[0])), "Enter", "Enter")
    assert "No items left for you" in main_text(page)
    turn(page, path)
    page.get_by_text("4 graded, 0 in doubt").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download grades (.xlsx)").click()
    sheet = load_workbook(io.BytesIO(Path(waiting.value.path()).read_bytes()))[
        "Grades, whole dataset"
    ]
    heads, *rows = sheet.iter_rows(values_only=True)
    first = dict(zip(heads, rows[0], strict=True))
    assert [first[name] for name in CRITERIA] == ["Full", "Half", "Nothing"]
    # By chance those drawn may be all the rest of essay 0.
    whole = settled >= {(0, name) for name in CRITERIA}
    assert first["from"] == ("a person's review" if whole else "judges, and a person's review")

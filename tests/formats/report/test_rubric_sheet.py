"""The sheet to print: everything of the rubric in words, nothing that runs, nothing fetched."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given

from core.domain.gates import ScoringPolicy
from core.domain.rubric import Criterion, Option, Rubric
from core.formats.report.rubric_sheet import SheetRules, rubric_sheet
from core.services.rubrics.import_export import export_rubric
from tests.strategies import rubrics


class Tags(HTMLParser):
    """The names and attributes of every tag, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names, self.attributes, self.text = set[str](), set[str](), list[str]()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


RUBRIC = Rubric(
    name="Lab",
    guidelines="Be kind.",
    criteria=(
        Criterion(
            name="Method",
            requirement="Told?",
            weight=8,
            scale="ordinal",
            section="Content",
            options=(
                Option(label="No", value=0.0),
                Option(label="Some", value=0.5, description="Half of it."),
                Option(label="All", value=1.0),
                Option(label="Not asked", na=True),
            ),
        ),
        Criterion(name="Invents", requirement="Invents a number?", weight=-5),
    ),
    gates=[{"name": "g", "when": {"criterion": "Method", "is": "No"}, "then": {"cap": 0.4}}],
)


def words(text: str) -> str:
    return " ".join(" ".join(Tags(text).text).split())


def test_levels_stand_best_first_with_their_points() -> None:
    said = words(export_rubric(RUBRIC, "sheet").text)

    assert "2 criteria, 8 points at best" in said
    assert "All 8 Some 4 Half of it. No 0 Not asked not counted" in said
    # A penalty takes most where it is met, so that comes last.
    assert "Penalty: \u22125 Invents Invents a number? Not met 0 Met \u22125" in said
    assert "When 'Method' is 'No': the score is at most 0.4." in said
    assert "For whoever grades Be kind." in said


def test_weights_that_are_shares_are_shown_in_per_cent() -> None:
    half = Criterion(name="a", requirement="b", weight=0.5)
    rubric = Rubric(criteria=(half, half.model_copy(update={"name": "c"})))

    assert "Met 50% Not met 0%" in words(rubric_sheet(rubric))


@given(rubrics())
def test_no_text_of_a_rubric_becomes_markup(rubric: Rubric) -> None:
    attack = "<script src=x onerror=alert(1)></style><img>\u202e"
    hostile = rubric.model_copy(update={"name": attack, "guidelines": attack})
    found = Tags(rubric_sheet(hostile, SheetRules((attack,), (attack,)), attack))

    assert found.names <= {
        *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer"),
        *("h1", "h2", "p", "div", "span", "article", "b", "ol", "ul", "li"),
    }
    assert found.attributes <= {"lang", "charset", "http-equiv", "content", "name", "class"}


def test_nothing_is_fetched_and_it_prints_without_colour_of_a_screen() -> None:
    text = rubric_sheet(RUBRIC)

    assert "default-src 'none'" in text
    assert not re.search(r"https?:|url\(|@import|<script", text)
    assert "@media print" in text
    assert "prefers-color-scheme:dark" in text


def test_the_coverage_that_a_grade_needs_is_said_where_it_is_not_the_usual_half() -> None:
    assert "was assessed" not in words(export_rubric(RUBRIC, "sheet").text)
    strict = RUBRIC.model_copy(update={"scoring": ScoringPolicy(min_coverage=0.8)})
    said = "There is a grade where 80% of the weight or more was assessed."
    assert said in words(export_rubric(strict, "sheet").text)

"""Rubrics in foreign forms: what comes back is the same, or the loss was listed before."""

from __future__ import annotations

import pytest
from hypothesis import example, given

from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.formats.rubrics.forms import write_rubric
from core.formats.rubrics.tables.canvas import HEADS, TRIPLE, canvas_rubric, read_canvas_rubrics
from core.formats.rubrics.tables.level_tables import levels_csv, read_levels
from core.formats.source.csv_reader import read_raw
from core.formats.source.csv_writer import unguarded
from tests.formats.rubrics.rubric_tables import PLAIN, TEMPLATE, grid, one
from tests.strategies import rubrics


def test_canvas_gets_its_thirteen_columns_and_the_best_level_first() -> None:
    written = canvas_rubric(PLAIN)

    assert written.text.splitlines()[0] == TEMPLATE
    assert (*HEADS, *TRIPLE * 3) == tuple(TEMPLATE.split(","))
    rows = grid(written.text)[1:]
    # 8 x 1, 8 x 0.5, 8 x 0; MET and UNMET in words that a teacher reads.
    assert rows[0][:2] == ["Lab report", "Method"]
    assert rows[0][3:] == [
        *("false", "Whole", "All steps, in order.", "8", "Sketchy", "Steps are missing.", "4"),
        *("Missing", "", "0"),
    ]
    assert rows[1][4:] == ["Met", "", "2", "Not met", "", "0", "", "", ""]
    assert written.losses == ()


@pytest.mark.parametrize("form", ["canvas", "moodle", "csv"])
def test_a_plain_rubric_comes_back_whole(form: str) -> None:
    written = write_rubric(PLAIN, form)  # type: ignore[arg-type]

    assert one(written.text, "Lab report.csv") == PLAIN


def test_more_ratings_than_three_widen_the_canvas_header() -> None:
    five = Criterion(
        name="Depth",
        requirement="How deep?",
        weight=4,
        scale="ordinal",
        options=tuple(Option(label=f"L{at}", value=at / 4) for at in range(5)),
    )
    text = canvas_rubric(Rubric(criteria=(five, *PLAIN.criteria))).text

    # 4 columns, then 5 times 3; every row is as wide.
    assert {len(row) for row in grid(text)} == {19}
    assert one(text).criteria[0] == five


LOSSY = Rubric(
    name="Essay",
    description="For the second year",
    guidelines="Be kind.",
    criteria=(
        Criterion(
            name="=Style",
            requirement="What style?",
            weight=1,
            scale="nominal",
            section="Form",
            tags=("a",),
            options=(
                Option(label="Formal", value=0.9),
                Option(label="Plain", value=1 / 3),
                Option(label="Not shown", na=True, description="Nothing to see"),
            ),
            forced_choice=False,
        ),
        Criterion(name="Invents", requirement="Invents a number?", weight=-5),
    ),
    gates=[{"name": "g", "when": {"criterion": "Invents", "is": "MET"}, "then": {"cap": 0.4}}],
)


def test_what_canvas_cannot_hold_is_listed() -> None:
    said = " ".join(str(loss) for loss in canvas_rubric(LOSSY).losses)

    for part in (
        *("no deductions", "'Invents'", "description is", "guidelines are", "gates are"),
        *("section of '=Style'", "tags of '=Style'", "nominal", "0.9 of its weight"),
        *("rounded", "'Not shown'", "apostrophe"),
    ):
        assert part in said, part


#: 5,000,000.5 of 15,000,001.5 points: a third, which nine decimals give back a cent too low.
MANY_POINTS = Rubric(
    criteria=(
        Criterion(
            name="Much",
            requirement="How much?",
            weight=20000002,
            scale="ordinal",
            options=(Option(label="Low", value=0.25), Option(label="High", value=0.75)),
        ),
    )
)


@given(rubrics())
@example(MANY_POINTS)
def test_a_canvas_file_read_and_written_again_is_the_same(rubric: Rubric) -> None:
    earning = [c for c in rubric.criteria if c.weight > 0 and not _rounds_away(c)]
    if not earning:
        return
    text = canvas_rubric(_with(rubric, earning)).text
    try:
        (read,) = read_canvas_rubrics(read_raw(text, "x.csv", "rubric"))
    except InputError as error:
        refused = error
    else:
        assert _cells(canvas_rubric(read.value).text) == _cells(text)
        return
    # A label that is invisible or blank in a cell, or whose points do not differ any more.
    assert _excused(refused)


def _rounds_away(criterion: Criterion) -> bool:
    values = [o.value * criterion.weight for o in criterion.options if o.value is not None]
    return round(max(values), 2) <= 0 or max(values) > 1e9


def _with(rubric: Rubric, criteria: list[Criterion]) -> Rubric:
    return Rubric(name=rubric.name, criteria=tuple(criteria))


def _excused(error: InputError) -> bool:
    words = (
        "repeats",
        "at most",
        "is empty",
        "has no",
        "fewer than two",
        "NUL",
        "must be in order",
    )
    return all(any(word in str(p) for word in words) for p in error.problems)


def _cells(text: str) -> list[list[str]]:
    """Cells without the spaces around them, which are an accident in files of others.

    Without them a text can begin like a formula, and then gets its apostrophe.
    """
    return [[unguarded(cell.strip()) for cell in row] for row in grid(text)]


def _in_our_table(rubric: Rubric) -> Rubric:
    """The rubric without what the table's losses name."""
    data = rubric.model_dump(by_alias=True)
    kept = {"name": data["name"], "criteria": data["criteria"]}
    for criterion in kept["criteria"]:
        criterion["meta"] = {}
        criterion["section"] = criterion["section"] or None
    return Rubric.model_validate(kept)


@given(rubrics())
def test_our_own_table_keeps_criteria_and_options_to_the_letter(rubric: Rubric) -> None:
    written = levels_csv(rubric)
    if "\0" in "".join(_texts(rubric)):
        assert any("NUL" in str(loss) for loss in written.losses)
        return
    if any(text and not text.strip() for text in _texts(rubric)):
        return  # blank cells mean "as above"
    (read,) = read_levels(read_raw(written.text, "x.csv", "rubric"))

    assert read.value == _in_our_table(rubric)


def _texts(rubric: Rubric) -> list[str]:
    found = [rubric.name]
    for criterion in rubric.criteria:
        found += [criterion.name, criterion.requirement, criterion.section or "", *criterion.tags]
        for option in criterion.options:
            found += [option.label, option.description]
    return found

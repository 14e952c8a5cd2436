"""Every form in which a rubric goes out or comes in, and how a file's form is found."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files.canvas_rubric import canvas_rubric, looks_like_canvas, read_canvas_rubrics
from core.files.csv_source import DELIMITERS
from core.files.evalassist import beside_criterion, case_in, unwrapped
from core.files.grid_heads import looks_like_grid
from core.files.grid_rubric import read_grid
from core.files.json_source import read_json
from core.files.levels_csv import levels_csv, looks_like_levels, moodle_csv, read_levels
from core.files.parsed import Parsed, refusal
from core.files.peer_rubric import peer_json
from core.files.points import Scaling
from core.files.raw_csv import read_raw
from core.files.rubric_writer import dump_rubric
from core.files.rubrics import is_json, rubric_from
from core.files.text import MAX_RUBRIC_BYTES, read_text
from core.files.unitxt import looks_like_unitxt, read_unitxt
from core.files.written import WrittenRubric
from core.files.yaml_source import read_yaml

RubricForm = Literal["yaml", "json", "autorubric", "csv", "canvas", "moodle"]
RUBRIC_FORMS: tuple[RubricForm, ...] = get_args(RubricForm)


class FormWords(NamedTuple):
    """What a form is called, what it is for, and how its files end."""

    title: str
    about: str
    ending: str
    mime: str


FORM_WORDS: dict[RubricForm, FormWords] = {
    "yaml": FormWords("YAML", "Everything, to read and edit by hand.", "yaml", "application/yaml"),
    "json": FormWords("JSON", "Everything, for programs.", "json", "application/json"),
    "autorubric": FormWords(
        "JSON for autorubric", "Its keys: guidelines and criteria.", "json", "application/json"
    ),
    "csv": FormWords(
        "CSV, one level a row", "Criteria and options, to edit in a spreadsheet.", "csv", "text/csv"
    ),
    "canvas": FormWords("CSV for Canvas", "As Canvas imports rubrics.", "csv", "text/csv"),
    "moodle": FormWords(
        "CSV for Moodle", "As Moodle's plugin for importing rubrics reads it.", "csv", "text/csv"
    ),
}


def write_rubric(rubric: Rubric, form: RubricForm) -> WrittenRubric:
    """The rubric in that form, with every loss."""
    makers: dict[RubricForm, Callable[[Rubric], WrittenRubric]] = {
        "yaml": lambda r: WrittenRubric(dump_rubric(r, "yaml")),
        "json": lambda r: WrittenRubric(dump_rubric(r, "json")),
        "autorubric": peer_json,
        "csv": levels_csv,
        "canvas": canvas_rubric,
        "moodle": moodle_csv,
    }
    return makers[form](rubric)


def read_rubrics(
    data: str | bytes, name: str, scaling: Scaling = "ratio"
) -> tuple[Parsed[Rubric], ...]:
    """The rubrics in a file of any form: one at least, several in some tables.

    Args:
        data: the file.
        name: its name; without a telling ending, its beginning decides.
        scaling: how points become values, where a form has points.

    Raises:
        InputError: with every problem found, each with its line.
    """
    text = read_text(data, name, "rubric", MAX_RUBRIC_BYTES)
    if looks_like_table(text, name):
        heads = read_raw(text, name, "rubric").heads
        if looks_like_canvas(heads):
            return read_canvas_rubrics(text, name, scaling)
        if looks_like_levels(heads):
            return read_levels(text, name, scaling)
        if looks_like_grid(heads):
            return (read_grid(text, name, scaling),)
        mend = (
            "Known are Canvas rubrics; criterion, level, level_description, score; and grids: a "
            "column of criteria, then a column for each level, such as Good (2). Votes go to "
            "Import votes."
        )
        message = f"has the columns {', '.join(heads[:6])}, which are no rubric's."
        raise refusal("rubric", [Problem(message, mend, (), 1)], name)
    document = unwrapped((read_json if is_json(text, name) else read_yaml)(text, name))
    if looks_like_unitxt(document.value):
        read = read_unitxt(document, name)
        case = case_in(document.value)
        more = beside_criterion(case) if case else []
        return (Parsed(read.value, (*read.notices, *more), read.line_of),)
    return (rubric_from(document.value, name, document.line_of),)


def looks_like_table(text: str, name: str) -> bool:
    """Whether a file is a table, by its ending or its first line."""
    ending = name.lower().rpartition(".")[2]
    if ending in ("csv", "tsv"):
        return True
    if ending in ("json", "yaml", "yml"):
        return False
    return _is_form(text)


#: Words that every such file has near its beginning.
_MARKED = re.compile(rb'"options"|pairwise|(?i:criterion)|Criteria Name')


def looks_like_rubric(data: bytes, name: str) -> bool:
    """Whether a file is a rubric in one of the forms that have no ending of their own."""
    if len(data) > MAX_RUBRIC_BYTES or not _MARKED.search(data[:20_000]):
        return False
    try:
        text = read_text(data, name, "rubric", MAX_RUBRIC_BYTES)
        if _is_form(text):
            return True
        return is_json(text, name) and looks_like_unitxt(read_json(text, name).value)
    except InputError:
        # It is something else, whose own reader says what is wrong with it.
        return False


def _is_form(text: str) -> bool:
    first = text.lstrip().split("\n", 1)[0]
    heads = [head.strip(' "\r') for head in first.replace(";", ",").replace("\t", ",").split(",")]
    if looks_like_canvas(heads) or looks_like_levels(heads):
        return True
    return any(looks_like_grid(next(csv.reader([first], delimiter=one))) for one in DELIMITERS)

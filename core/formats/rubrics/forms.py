"""All rubric formats for export and import, and how a file's is recognised."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError, Problem
from core.formats.rubrics.canvas import canvas_rubric, looks_like_canvas, read_canvas_rubrics
from core.formats.rubrics.evalassist import beside_criterion, case_in, unwrapped
from core.formats.rubrics.foreign import (
    Scaling,
    WrittenRubric,
    listed,
    lost_of_criteria,
    lost_of_rubric,
)
from core.formats.rubrics.foreign_documents import converted, form_of
from core.formats.rubrics.grid import holds_answers, looks_like_grid, read_grid
from core.formats.rubrics.level_tables import levels_csv, looks_like_levels, moodle_csv, read_levels
from core.formats.rubrics.office_tables import MOST_CELLS, WrittenTable, office_tables
from core.formats.rubrics.rubric_file import dump_rubric, is_json, rubric_from
from core.formats.rubrics.unitxt import looks_like_unitxt, read_unitxt
from core.formats.source.csv_reader import DELIMITERS, read_raw
from core.formats.source.heading import without_titles
from core.formats.source.json_reader import read_json
from core.formats.source.parsed import (
    MAX_RUBRIC_BYTES,
    Parsed,
    read_table_text,
    read_text,
    refusal,
)
from core.formats.source.yaml_reader import read_yaml


def peer_json(rubric: Rubric) -> WrittenRubric:
    """Return the rubric in the peer's keys: guidelines, criteria and options.

    >>> text = peer_json(Rubric(criteria=[{"name": "a", "requirement": "b"}])).text
    >>> json.loads(text)
    {'criteria': [{'name': 'a', 'weight': 10.0, 'requirement': 'b'}]}
    """
    data: dict[str, Any] = {"guidelines": rubric.guidelines} if rubric.guidelines else {}
    data["criteria"] = [_criterion(criterion) for criterion in rubric.criteria]
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return WrittenRubric(text, tuple(_losses(rubric)))


def _criterion(criterion: Criterion) -> dict[str, Any]:
    data = {
        "name": criterion.name,
        "weight": criterion.weight,
        "requirement": requirement_in_full(criterion),
    }
    if criterion.scale == "binary":
        return data
    data |= {"scale_type": criterion.scale}
    if criterion.aggregation is not None:
        data["aggregation"] = criterion.aggregation
    return data | {"options": [_option(option) for option in criterion.options]}


def _option(option: Option) -> dict[str, Any]:
    # It requires a value of an abstention, too, and never uses it.
    return {"label": option.label, "value": option.value or 0.0, "na": option.na}


def requirement_in_full(criterion: Criterion) -> str:
    """Return the requirement with the anchors, since its options have none."""
    anchors = [f"{o.label}: {o.description}" for o in criterion.options if o.description]
    return "\n".join([criterion.requirement, *anchors])


def _losses(rubric: Rubric) -> list[Problem]:
    losses = [Problem("The name is left out; the file is named after the rubric.", "", ("name",))]
    losses += lost_of_rubric(rubric, ("guidelines",))
    losses += lost_of_criteria(rubric.criteria, ("aggregation",))
    ruled = [c.name for c in rubric.criteria if c.scale == "binary" and c.aggregation]
    if ruled:
        rule = "The rule by which votes are settled"
        losses.append(Problem(f"{rule} of {listed(ruled)} (yes or no) is left out."))
    anchored = [c.name for c in rubric.criteria if any(o.description for o in c.options)]
    if anchored:
        message = f"The descriptions of options of {listed(anchored)} have no place of their own."
        mend = "They are written below the requirement, where our reader finds them."
        losses.append(Problem(message, mend))
    away = [c.name for c in rubric.criteria if c.scale == "binary" and len(c.options) > 2]
    if away:
        message = f"The abstention of {listed(away)} is the peer's own there, CANNOT_ASSESS."
        losses.append(Problem(message))
    return losses


RubricForm = Literal["yaml", "json", "autorubric", "csv", "canvas", "moodle"]
RUBRIC_FORMS: tuple[RubricForm, ...] = get_args(RubricForm)


class FormWords(NamedTuple):
    """A format's name, purpose and file ending."""

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
    """Return the rubric in ``form``, and a problem for everything that this format cannot hold."""
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
    """Return the rubrics in a file of any format: one, or several in a table.

    Args:
        data: the file.
        name: its name; without a telling ending, its beginning decides.
        scaling: how points become values, where a form has points.

    Raises:
        InputError: with every problem found, each with its line.
    """
    tables = office_tables(data, name, _is_table) if isinstance(data, bytes) else None
    if tables is not None:
        return _from_office(tables, name, scaling)
    text, notices = read_table_text(data, name, "rubric", MAX_RUBRIC_BYTES)
    if looks_like_table(text, name):
        text, titles = without_titles(text, _is_header)
        notices = (*notices, *titles)
        return _from_table(text, name, scaling, notices)
    text = read_text(data, name, "rubric", MAX_RUBRIC_BYTES)
    document = unwrapped((read_json if is_json(text, name) else read_yaml)(text, name))
    if looks_like_unitxt(document.value):
        read = read_unitxt(document, name)
        case = case_in(document.value)
        more = beside_criterion(case) if case else []
        return (Parsed(read.value, (*read.notices, *more), read.line_of),)
    value, said = converted(document.value)
    read = rubric_from(value, name, document.line_of)
    return (Parsed(read.value, (*said, *read.notices), read.line_of),)


_TABLES = (
    "Known are Canvas rubrics; criterion, level, level_description, score; and grids: a column of "
    "criteria, then a column for each level, such as Good (2). Votes go to Import votes."
)


def _from_table(
    text: str, name: str, scaling: Scaling, notices: tuple[Problem, ...] = ()
) -> tuple[Parsed[Rubric], ...]:
    raw = read_raw(text, name, "rubric")
    heads = raw.heads
    cells = sum(len(row.cells) for row in raw.rows)
    if cells > MOST_CELLS:
        message = f"has {cells:,} cells; {MOST_CELLS:,} is the limit of a rubric."
        raise refusal("rubric", [Problem(message, "Leave out what is no part of it.")], name)
    if looks_like_canvas(heads):
        rubrics = read_canvas_rubrics(text, name, scaling)
    elif looks_like_levels(heads):
        rubrics = read_levels(text, name, scaling)
    elif looks_like_grid(heads):
        rubrics = (read_grid(text, name, scaling),)
    else:
        message = f"has the columns {', '.join(heads[:6])}, which are no rubric's."
        raise refusal("rubric", [Problem(message, _TABLES, (), 1)], name)
    first, *more = rubrics
    return (Parsed(first.value, (*notices, *first.notices), first.line_of), *more)


def _from_office(
    tables: tuple[WrittenTable, ...], name: str, scaling: Scaling
) -> tuple[Parsed[Rubric], ...]:
    if not tables:
        raise refusal("rubric", [Problem("holds no table that is a rubric.", _TABLES)], name)
    read = [_from_table(table.text, table.name, scaling, table.notices) for table in tables]
    return tuple(rubric for rubrics in read for rubric in rubrics)


def looks_like_table(text: str, name: str) -> bool:
    """Return whether a file is a table, by its ending or its first line."""
    ending = name.lower().rpartition(".")[2]
    if ending in ("csv", "tsv"):
        return True
    if ending in ("json", "yaml", "yml"):
        return False
    return _is_form(text)


#: Keys that every such file has near its beginning.
_MARKED = re.compile(
    rb'"options"|pairwise|(?i:criterion)|Criteria Name|score\d+_description|"weight"|choice_strings'
)


def looks_like_rubric(data: bytes, name: str) -> bool:
    """Return whether a file is a rubric in a format without its own ending."""
    if len(data) > MAX_RUBRIC_BYTES:
        return False
    try:
        tables = office_tables(data, name, _is_table)
        if tables is not None or not _MARKED.search(data[:20_000]):
            return bool(tables)
        text = read_text(data, name, "rubric", MAX_RUBRIC_BYTES)
        if text.lstrip().startswith(("{", "[")):
            # JSON lines may hold any words between commas, which are not headings.
            if not is_json(text, name):
                return False
            value = read_json(text, name).value
            return not _has_items(value) and (
                looks_like_unitxt(value) or form_of(value) is not None
            )
        return _is_form(text)
    except InputError:
        # Another format, whose own reader reports the error.
        return False


def holds_items(data: bytes, name: str) -> bool:
    """Return whether a JSON or YAML document is a dataset: items, or rows with rubrics."""
    if len(data) > MAX_RUBRIC_BYTES:
        return True
    try:
        text = read_text(data, name, "rubric", MAX_RUBRIC_BYTES)
        return _has_items((read_json if is_json(text, name) else read_yaml)(text, name).value)
    except InputError:
        return False


def _has_items(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("items"), list) and case_in(value) is None
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and bool({"rubric", "rubrics", "score_rubric"} & first.keys())


def _is_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether these are the headings and rows of a rubric."""
    if looks_like_canvas(heads) or looks_like_levels(heads):
        return True
    return looks_like_grid(heads) and not holds_answers(heads, rows)


def _is_form(text: str) -> bool:
    below, _ = without_titles(text, _is_header)
    return _is_header(below.lstrip().split("\n", 1)[0])


def _is_header(first: str) -> bool:
    """Return whether a line is the header of a rubric table."""
    heads = [head.strip(' "\r') for head in first.replace(";", ",").replace("\t", ",").split(",")]
    if looks_like_canvas(heads) or looks_like_levels(heads):
        return True
    return any(looks_like_grid(_cells(first, delimiter)) for delimiter in DELIMITERS)


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line, or nothing if it is not CSV."""
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error:
        return []


# The JSON Schema of rubric files, made from the model, for completion in editors.


def rubric_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a rubric file in our keys.

    It describes what ``parse_rubric`` reads without a notice, except some shapes of other tools.
    Only reading checks unique names, options of gates and rising levels.
    """
    model = Rubric.model_json_schema(by_alias=True)
    parts: dict[str, Any] = model.pop("$defs")
    parts["Rubric"] = model
    for noun in (Rubric, Criterion, Option):
        for name in noun.model_fields:
            parts[noun.__name__]["properties"][name]["description"] = noun.about(name).schema
    _as_files_have_it(parts)
    for part in parts.values():
        _without_titles(part)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rubric Studio rubric",
        "anyOf": [
            {"$ref": "#/$defs/Rubric"},
            {"$ref": "#/$defs/Entries"},
        ],
        "$defs": dict(sorted(parts.items())),
    }


def _as_files_have_it(parts: dict[str, Any]) -> None:
    """Return the looser types that a file may have, since reading tidies them."""
    parts["Criterion"]["required"] = ["requirement"]
    parts["Criterion"]["properties"]["options"].pop("default")
    parts["Option"]["required"] = ["label"]
    parts["Option"]["properties"]["label"] = {
        **parts["Option"]["properties"]["label"],
        "type": ["string", "number"],
    }
    parts["Section"] = {
        "type": "object",
        "description": "Criteria under one heading.",
        "properties": {"name": {"type": "string"}, "criteria": {"$ref": "#/$defs/Entries"}},
        "required": ["criteria"],
        "additionalProperties": False,
    }
    parts["Entries"] = {
        "type": "array",
        "description": "Criteria; a text alone is the requirement of a yes-or-no criterion.",
        "items": {
            "anyOf": [
                {"$ref": "#/$defs/Criterion"},
                {"$ref": "#/$defs/Section"},
                {"type": "string"},
            ]
        },
        "minItems": 1,
        "maxItems": 500,
    }
    about = Rubric.about("criteria").schema
    parts["Rubric"]["properties"]["criteria"] = {"$ref": "#/$defs/Entries", "description": about}
    # Editors insist on required keys, and the name may come from the file.
    parts["Rubric"]["required"] = ["criteria"]


def _without_titles(part: Any) -> None:
    """Remove pydantic's titles, which editors show instead of descriptions."""
    if isinstance(part, dict):
        if isinstance(part.get("title"), str):
            del part["title"]
        if isinstance(part.get("description"), str):
            part["description"] = " ".join(part["description"].replace("``", "").split())
        for inner in part.values():
            _without_titles(inner)
    elif isinstance(part, list):
        for inner in part:
            _without_titles(inner)


def schema_text() -> str:
    """Return the schema as the text of ``docs/rubric.schema.json``."""
    return json.dumps(rubric_schema(), indent=2, ensure_ascii=False) + "\n"

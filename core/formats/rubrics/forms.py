"""The formats of rubrics: how each is recognised, read and written.

A new format is an entry of ``TABLES`` or ``DOCUMENTS``, before any that would accept its files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple, get_args

from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.rubrics import benchmarks as marks
from core.formats.rubrics import score_scales as scales
from core.formats.rubrics.evalassist import case_in, parts_beside_criterion, unwrapped
from core.formats.rubrics.foreign import Scaling, WrittenRubric, autorubric_json, is_autorubric
from core.formats.rubrics.keys import in_english
from core.formats.rubrics.rubric_file import dump_rubric, rubric_from_data
from core.formats.rubrics.score_scales import Converted
from core.formats.rubrics.shapes import MAX_CRITERIA
from core.formats.rubrics.tables.canvas import canvas_rubric, looks_like_canvas, read_canvas_rubrics
from core.formats.rubrics.tables.grid import holds_answers, holds_marks, looks_like_grid, read_grid
from core.formats.rubrics.tables.level_tables import (
    levels_csv,
    looks_like_descriptors,
    looks_like_levels,
    looks_like_moodle,
    moodle_csv,
    read_descriptors,
    read_levels,
)
from core.formats.rubrics.tables.office_tables import MOST_CELLS, RubricTable, office_tables
from core.formats.rubrics.tables.points_possible import (
    looks_like_points_possible,
    read_points_possible,
)
from core.formats.rubrics.unitxt import looks_like_unitxt, read_unitxt
from core.formats.source.csv_reader import DELIMITERS, RawTable, records
from core.formats.source.format import Fit, Format, formats_of
from core.formats.source.heading import below_titles, titles_notice
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_RUBRIC_BYTES, Document, Parsed, refusal

Rubrics = tuple[Parsed[Rubric], ...]
Heads = Sequence[str]
Write = Callable[[Rubric], WrittenRubric]
#: Characters of a file to search for marks, and rows to search for a header.
_FIRST, _DEEPEST = 20_000, 20
#: Keys that occur near the beginning of other tools' files, and in our own JSON files.
_MARKED = re.compile(
    rb'"options"|pairwise|(?i:criteri(?!a["\w:])|crit(?:.{1,2}|\\u00e[89])r(?:e|ios)|kriteri|kryteri)|score\d+_description|"weight"'
    rb'|"levels"|choice_strings|' + "критери|标准|評価項目|観点".encode()
)
_YAML = ("yaml", "yml")
_OURS = re.compile(rb'"criteria"|"requirement"|"sub_tasks"')


class TableForm(NamedTuple):
    """A table that is a rubric, by its headings: in CSV, workbooks and Word documents alike."""

    name: str
    title: str
    looks: Callable[[Heads], bool]
    read: Callable[[RawTable, Scaling], Rubrics]
    write: Write | None = None

    def fit_of(self, opened: Opened) -> Fit | None:
        """Return how certainly a file has this format."""
        score = 1 if self.looks is looks_like_grid else 2
        fits = any(map(self.looks, opened.once(_heads_in)))
        return Fit(score, "the headings of its columns") if fits else None


TABLES = (
    TableForm("canvas", "Canvas", looks_like_canvas, read_canvas_rubrics, canvas_rubric),
    TableForm("moodle", "Moodle", looks_like_moodle, read_levels, moodle_csv),
    TableForm("csv", "CSV, one level a row", looks_like_levels, read_levels, levels_csv),
    TableForm("descriptors", "levels with descriptors", looks_like_descriptors, read_descriptors),
    TableForm("possible", "criteria and points", looks_like_points_possible, read_points_possible),
    TableForm("grid", "a grid of criteria and levels", looks_like_grid, read_grid),
)


class DocumentForm(NamedTuple):
    """A JSON or YAML document that is a rubric: by its keys, or by the file's name alone.

    ``convert`` changes its value to our keys. ``beside_items``: it is a dataset, too.
    """

    name: str
    title: str
    fits: Callable[[Any], bool]
    convert: Callable[[Any], Converted] | None = None
    endings: tuple[str, ...] = ()
    write: Write | None = None
    beside_items: bool = False

    def fit_of(self, opened: Opened) -> Fit | None:
        """Return how certainly a file has this format."""
        if self.endings:
            ours = opened.ending in self.endings and may_be_ours(opened)
            return Fit(0, "its name") if ours and not opened.once(holds_items) else None
        if opened.once(_form_in) is not self:
            return None
        return Fit(0 if self.beside_items else 2, "its keys")

    def read(self, document: Document, name: str) -> Parsed[Rubric]:
        """Return the rubric. Raises ``InputError``."""
        if self.convert is None:
            return rubric_from_data(document.value, name, document.line_of)
        data, notices = self.convert(document.value)
        read = rubric_from_data(data, name, document.line_of)
        notices = [replace(n, line=document.line_of(n.path)) if n.path else n for n in notices]
        notice = (Problem(f"Read as {self.title}."), *notices)
        return Parsed(read.value, (*notice, *read.notices), read.line_of)


def _is_dataset_with_rubric(value: Any) -> bool:
    return isinstance(value, dict) and _has_items(value) and bool(value.get("rubric"))


def _rubric_of_dataset(value: Any) -> Converted:
    count = len(value["items"])
    message = f"Its {count:,} item{'s are' if count != 1 else ' is'} not part of a rubric."
    mend = "Name the file as the data, too, to grade them."
    named = {"name": value["name"]} if value.get("name") else {}
    return named | {"rubric": value["rubric"]}, [Problem(message, mend)]


def _writer_of(format: Literal["yaml", "json"]) -> Write:
    return lambda rubric: WrittenRubric(dump_rubric(rubric, format))


DOCUMENTS = (
    DocumentForm("unitxt", "unitxt", looks_like_unitxt),
    DocumentForm(
        "rubric_dataset", "a dataset with its rubric", _is_dataset_with_rubric, _rubric_of_dataset,
        beside_items=True,
    ),
    DocumentForm(
        "points", "points by criterion (HealthBench)", marks.is_points_list, marks.points_rubric
    ),
    DocumentForm("tasks", "a tree of tasks (PaperBench)", marks.is_tree, marks.tree_rubric),
    DocumentForm(
        "prometheus", "described scores (Prometheus)", marks.is_score_rubric, marks.score_rubric
    ),
    DocumentForm(
        "scoring_criteria", "scoring criteria (promptfoo)", scales.has_scoring_criteria,
        scales.scoring_criteria,
    ),
    DocumentForm("levels", "criteria with levels", scales.has_levels, scales.scoring_criteria),
    DocumentForm(
        "model_graded", "a model-graded spec (OpenAI evals)", marks.is_model_graded,
        marks.model_graded,
    ),
    DocumentForm("autorubric", "autorubric", is_autorubric, write=autorubric_json),
    DocumentForm("yaml", "YAML", lambda _: True, endings=_YAML, write=_writer_of("yaml")),
    DocumentForm("json", "JSON", lambda _: True, endings=("json",), write=_writer_of("json")),
)  # fmt: skip


def read_rubrics(data: str | bytes | Opened, name: str, scaling: Scaling = "ratio") -> Rubrics:
    """Return the rubrics in a file of any format: one, or several in a table.

    Args:
        data: the file.
        name: its name; if the ending is unknown, its beginning decides.
        scaling: how points become values, for formats with points.

    Raises:
        InputError: with every problem found, each with its line.
    """
    opened = Opened.of(data, name)
    tables = _tables_in(opened)
    if tables is None:
        document, said = opened.once(_in_english)
        parts = marks.parts_within_limit(document.value, MAX_CRITERIA)
        if len(parts) > 1:
            return tuple(
                _rubric_from_document(replace(document, value=part), name) for part in parts
            )
        read = _rubric_from_document(document, name)
        return (replace(read, notices=(*said, *read.notices)),)
    if not tables:
        raise refusal("rubric", [Problem("holds no table that is a rubric.", _KNOWN)], name)
    return tuple(rubric for table in tables for rubric in _rubrics_from_table(table, scaling))


def _in_english(opened: Opened) -> tuple[Document, list[Problem]]:
    return in_english(unwrapped(opened.document("rubric", MAX_RUBRIC_BYTES)))


def _rubric_from_document(document: Document, name: str) -> Parsed[Rubric]:
    form = next(form for form in DOCUMENTS if form.fits(document.value))
    if form.name != "unitxt":
        return form.read(document, name)
    read, case = read_unitxt(document, name), case_in(document.value)
    notices = parts_beside_criterion(case) if case else []
    return Parsed(read.value, (*read.notices, *notices), read.line_of)


def converted_document(value: Any) -> Any:
    """Return a document of another tool in our keys; other documents unchanged.

    >>> converted_document([{"criterion": "Says to rest.", "points": -2, "tags": []}])
    {'criteria': [{'requirement': 'Says to rest.', 'weight': -2, 'tags': []}]}
    """
    forms = (form.convert for form in DOCUMENTS if form.convert and form.fits(value))
    convert = next(forms, None)
    return value if convert is None else convert(value)[0]


_KNOWN = (
    "Known are Canvas rubrics; criterion, level, level_description, score; and grids: a column of "
    "criteria, then a column for each level, such as Good (2). Votes go to Import votes."
)


def _rubrics_from_table(table: RubricTable, scaling: Scaling) -> Rubrics:
    raw = table.raw
    cells = sum(len(row.cells) for row in raw.rows)
    if cells > MOST_CELLS:
        message = f"has {cells:,} cells; {MOST_CELLS:,} is the limit of a rubric."
        mend = "Leave out what is not part of it."
        raise refusal("rubric", [Problem(message, mend)], raw.name)
    form = next((form for form in TABLES if form.looks(raw.heads)), None)
    if form is None:
        message = f"has the columns {', '.join(raw.heads[:6])}, which are not columns of a rubric."
        raise refusal("rubric", [Problem(message, _KNOWN, (), 1)], raw.name)
    first, *further = form.read(raw, scaling)
    return (Parsed(first.value, (*table.notices, *first.notices), first.line_of), *further)


def _tables_in(opened: Opened) -> tuple[RubricTable, ...] | None:
    """Return the tables of a file, by its ending or its first lines; ``None`` for documents."""
    office = opened.once(_office_tables)
    if office is not None:
        return office
    text, notices = opened.text("rubric", MAX_RUBRIC_BYTES, table=True), opened.notices
    if not looks_like_table(text, opened.name):
        return None
    raw = opened.raw("rubric", MAX_RUBRIC_BYTES)
    rows = (raw.head, *raw.rows[:_DEEPEST])
    titles = below_titles([[cell.text.strip() for cell in row.cells] for row in rows], _is_header)
    if titles:
        lines = [[raw.source[r.cells[0].start : r.cells[-1].end].strip(' ,;\t"')] for r in rows]
        notices = (*notices, titles_notice(lines[:titles], raw.head.line))
        raw = raw.table_below(titles)
    return (RubricTable(raw, notices),)


def looks_like_table(text: str, name: str) -> bool:
    """Return whether a text is a table, by its ending or its first lines."""
    ending = name.lower().rpartition(".")[2]
    if ending in ("csv", "tsv"):
        return True
    return ending not in ("json", *_YAML) and any(_heads_of(text))


def _office_tables(opened: Opened) -> tuple[RubricTable, ...] | None:
    return office_tables(opened, _is_table)


def _is_table(heads: Heads, rows: Sequence[Heads]) -> bool:
    """Return whether these are the headings and rows of a rubric."""
    form = next((form for form in TABLES if form.looks(heads)), None)
    are_answers = holds_answers(heads, rows) or holds_marks(heads, rows)
    return form is not None and not (form.name == "grid" and are_answers)


# Recognise a rubric by the beginning of its file.


def looks_like_rubric(data: str | bytes | Opened, name: str) -> bool:
    """Return whether a file's content is a rubric, whatever its name."""
    fits = formats_of(RUBRIC_FORMATS, Opened.of(data, name))
    return any(fit.score for _, fit in fits)


def may_be_ours(opened: Opened) -> bool:
    """Return whether a file is YAML, or JSON with our keys near its beginning."""
    named = opened.ending == "json" and bool(_OURS.search(opened.head[:_FIRST]))
    return named or opened.ending in _YAML


def holds_items(opened: Opened) -> bool:
    """Return whether a JSON or YAML document is a dataset: items, or rows with rubrics."""
    if opened.size > MAX_RUBRIC_BYTES:
        return True
    try:
        return _has_items(opened.document("rubric", MAX_RUBRIC_BYTES).value)
    except InputError:
        return False


def _has_items(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("items"), list) and case_in(value) is None
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and bool({"rubric", "rubrics", "score_rubric"} & first.keys())


def _form_in(opened: Opened) -> DocumentForm | None:
    """Return the format of a document whose keys may be a rubric's, or ``None``."""
    if opened.size > MAX_RUBRIC_BYTES or opened.once(_office_tables) is not None:
        return None
    if not may_be_ours(opened):
        marked = _MARKED.search(opened.head[:_FIRST])
        if not (marked and opened.start[:1] in ("{", "[") and opened.is_json):
            return None
    value = opened.once(_in_english)[0].value
    items = opened.once(holds_items)
    forms = (form for form in DOCUMENTS if form.beside_items == items and not form.endings)
    return next((form for form in forms if form.fits(value)), None)


def _heads_in(opened: Opened) -> tuple[Heads, ...]:
    """Return the headings of a file's tables, for every possible delimiter."""
    if opened.size > MAX_RUBRIC_BYTES:
        return ()
    office = opened.once(_office_tables)
    if office is not None:
        return tuple(table.raw.heads for table in office)
    if opened.start[:1] in ("{", "["):
        # JSON lines may hold any words between commas, which are not headings.
        return ()
    if _MARKED.search(opened.head[:_FIRST]):
        return tuple(_heads_of(opened.beginning))
    return tuple(heads for heads in _heads_of(opened.beginning) if looks_like_descriptors(heads))


def _heads_of(text: str) -> Iterator[Heads]:
    """Yield the headings of a rubric near the beginning of a text, for each delimiter."""
    for delimiter in DELIMITERS:
        first = [cells for _, cells in islice(records(text, delimiter, []), 2 * _DEEPEST)]
        rows = [[cell.strip() for cell in cells] for cells in first if any(cells)]
        at = below_titles(rows, _is_header)
        if at is not None and (
            _is_certain_header(rows[at]) or not holds_marks(rows[at], rows[at + 1 :])
        ):
            yield rows[at]


def _is_certain_header(heads: Heads) -> bool:
    return any(form.looks(heads) for form in TABLES if form.looks is not looks_like_grid)


def _is_header(heads: Heads) -> bool:
    return any(form.looks(heads) for form in TABLES)


# The formats in which a rubric can be written.

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
    write = next(
        rubric_format.write for rubric_format in (*TABLES, *DOCUMENTS) if rubric_format.name == form
    )
    assert write is not None
    return write(rubric)


RUBRIC_FORMATS = tuple(
    Format(form.name, form.title, ("rubric",), form.fit_of, read_rubrics, write=form.write)
    for form in (*TABLES, *DOCUMENTS)
)

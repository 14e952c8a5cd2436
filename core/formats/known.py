"""The list of all formats, most certain first; a file has the first format that fits.

Rubrics, items and votes are recognised the same way. A table of no known format is votes in some
layout, or items, depending on what its columns hold (``votes.vote_layouts``).
"""

from __future__ import annotations

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.datasets.dataset_file import MAX_ITEMS, parse_dataset
from core.formats.office.workbook import book_in
from core.formats.rubrics.evalassist import recognised_rows
from core.formats.rubrics.forms import RUBRIC_FORMATS, holds_items, may_be_ours, read_rubrics
from core.formats.source.format import Fit, Format, format_of
from core.formats.source.opened import Opened
from core.formats.tables.table import Table
from core.formats.votes.gradescope import recognised_evaluations
from core.formats.votes.proposals.near_shapes import nearest_shapes
from core.formats.votes.reading import TABLES, SeenKind, read_bundle, table_of
from core.formats.votes.sources import KNOWN, MANIFEST, VOTES, VoteSource
from core.formats.votes.tools.known_tools import TOOLS
from core.formats.votes.vote_layouts import kind_of_table


def _recognised_items(opened: Opened) -> Fit | None:
    named = may_be_ours(opened) and opened.once(holds_items)
    return Fit(2, "its list of items, or rows with rubrics") if named else None


FORMATS: tuple[Format, ...] = (
    Format("gradescope", "Gradescope", ("votes",), recognised_evaluations, read_bundle),
    *TOOLS,
    Format("evalassist", "EvalAssist", ("items",), recognised_rows, parse_dataset),
    Format("items", "a document of items", ("items",), _recognised_items, parse_dataset),
    *RUBRIC_FORMATS,
)


def kind_of(
    source: VoteSource, rubric: Rubric | None = None, *, has_choices: bool = False
) -> SeenKind:
    """Return what the source holds, by the names of its files and columns.

    ``has_choices``: the user also named columns or a rubric, so a table is no rubric itself.
    """
    if recognised_evaluations(source.first_file):
        return "gradescope"
    if not source.lone:
        if VOTES not in source.files and MANIFEST in source.files:
            return "autorubric"
        return "folder" if set(KNOWN) & set(source.files) else "dataset"
    opened = source.first_file
    format = format_of(FORMATS, opened)
    if format is not None and "votes" in format.holds:
        return format.name
    if format is not None and "items" in format.holds:
        return "dataset"
    is_sheet = opened.once(book_in) is not None or opened.ending in ("csv", "tsv")
    is_rubric = format is not None and not (has_choices and is_sheet)
    by_name = is_rubric and format is not None and format.name == "json"
    if is_rubric and not ((is_sheet or by_name) and opened.once(_is_no_rubric)):
        return "rubric"
    try:
        table = table_of(source, MAX_ITEMS, rubric)
    except InputError:
        if by_name:
            return "rubric"  # the rubric reader's errors help more than those of a table reader
        raise
    kind = kind_of_table(table, rubric)
    return "rubric" if is_rubric and not _may_be_votes(table, kind) else kind


def _may_be_votes(table: Table, kind: SeenKind) -> bool:
    """Return whether a table is votes, or could be once its columns have roles.

    One person's marks by several criteria are labels of texts.
    """
    near = nearest_shapes(table) if kind == "unknown" else ()
    labels = (sum(c.startswith("labels=") for c in shape.changes) for shape in near)
    votes = kind in TABLES or any(shape.kind != "dataset" for shape in near)
    return votes or max(labels, default=0) > 1


def _is_no_rubric(opened: Opened) -> bool:
    """Return whether a table looks like a rubric but cannot be read as one."""
    try:
        read_rubrics(opened, opened.name)
    except InputError:
        return True
    return False

"""The texts to grade: read from any kind of file, their column guessed, stored as a dataset.

A note of the dataset says which column its texts came from, so that the path can show it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.domain.library import DatasetVersion
from core.errors import InputError
from core.formats.columns.headings import stem_of
from core.formats.datasets.mapping import ColumnMapping
from core.formats.office.workbook import SheetNotChosen
from core.formats.source.opened import Opened
from core.formats.tables.submissions import could_be_submissions
from core.formats.tables.table import Table, table_of_files
from core.services.access.allowing import allowed
from core.services.datasets import catalog
from core.services.datasets.catalog import Checked
from core.services.guided import several
from core.services.guided.several import Way
from core.services.imports import column_roles
from core.store.store import Store
from core.text.numbers import plural

#: The dataset's note that names the column of its texts.
COLUMN = "text column"
PASTED = "pasted texts"
#: The number of rows shown, and of characters of a text.
SHOWN, CUT = 3, 220


class File(NamedTuple):
    """A file with its name and bytes."""

    name: str
    data: bytes


@dataclass(frozen=True)
class TextTable:
    """A table of texts: the column of texts, other possible columns, and the roles of the rest.

    ``column`` is ``None`` if it is unknown; ``mapping`` is the guess with that column.
    """

    table: Table
    column: str | None
    columns: tuple[str, ...]
    mapping: ColumnMapping

    @property
    def line(self) -> str:
        """Return in one line what the table contains."""
        count = plural(len(self.table.rows), "text")
        if self.table.kind == "files" or self.table.name == PASTED:
            return f"{count}."
        if self.column is None:
            return f"A table with {plural(len(self.table.rows), 'row')}."
        return f"{count}, in the column “{self.column}”{self._others}."

    @property
    def _others(self) -> str:
        naming_part = f"; “{self.mapping.id}” says which is which" if self.mapping.id else ""
        marks = list(self.mapping.labels)
        return f"{naming_part}; labels for {', '.join(marks[:4])}" if marks else naming_part

    @property
    def systems(self) -> tuple[str, ...]:
        """Return who wrote the texts, if a column names several systems."""
        column = self.mapping.system
        if column is None:
            return ()
        names = dict.fromkeys(str(row.get(column) or "").strip() for row in self.table.rows)
        named = tuple(name for name in names if name)
        return named if len(named) > 1 else ()


def read(
    files: Sequence[File],
    sheet: str | None = None,
    way: Way | None = None,
    opened: Opened | None = None,
) -> Table:
    """Return the table in a file or archive, several tables as one, or documents as a table of
    texts.

    ``opened`` is the only file, if it was opened already.

    Raises:
        InputError: the files are unreadable, or the tables do not belong together;
            ``SheetNotChosen`` if a sheet must be named.
    """
    if len(files) == 1 and not _is_plain_text(files[0]):
        return catalog.read_source(opened or files[0].data, files[0].name, sheet)
    if are_tables(files):
        return several.joined_tables([_read_file(file, sheet) for file in files], way)
    return table_of_files({file.name: file.data for file in files}, "handed in")


def are_tables(files: Sequence[File]) -> bool:
    """Return whether these are several tables without documents."""
    return len(files) > 1 and not could_be_submissions({file.name.lower(): b"" for file in files})


def source_of(files: Sequence[File]) -> str:
    """Return where the texts in these files come from, in a few words."""
    if len(files) > 1 and not are_tables(files):
        return plural(len(files), "document")
    others = len(files) - 1
    return files[0].name + (f" and {plural(others, 'other table')}" if others else "")


def ways_to_join(files: Sequence[File], sheet: str | None = None) -> tuple[Way, ...]:
    """Return how several tables can belong together, the likeliest first. Raises ``InputError``."""
    if not are_tables(files):
        return ()
    return several.ways_to_join([_read_file(file, sheet) for file in files])


def _read_file(file: File, sheet: str | None) -> Table:
    try:
        return catalog.read_source(file.data, file.name)
    except SheetNotChosen:
        if sheet is None:
            raise
        return catalog.read_source(file.data, file.name, sheet)


def _is_plain_text(file: File) -> bool:
    """Return whether a file is a person's plain text instead of a table."""
    return file.name.lower().rpartition(".")[2] in ("txt", "md", "html", "htm", "rtf", "tex")


def read_pasted(text: str) -> Table:
    r"""Return the texts in a paste: a table if it is one, else a text per paragraph, or else one
    per line. Raises ``InputError`` for a blank text or an invalid table.

    >>> [row["text"] for row in read_pasted("One,\ntwo.\n\nThree.").rows]
    ['One,\ntwo.', 'Three.']
    """
    if (table := _pasted_table(text)) is not None:
        return table
    parts = [part.strip() for part in re.split(r"\n\s*\n", text.replace("\r\n", "\n"))]
    parts = [part for part in parts if part]
    if len(parts) == 1:
        parts = [line.strip() for line in parts[0].splitlines()]
    if not parts:
        raise InputError("There is nothing to read. Paste a text.", (), PASTED)
    rows = tuple({"text": part} for part in parts)
    return Table(PASTED, "csv", ("text",), rows, tuple(range(1, len(rows) + 1)))


def _pasted_table(text: str) -> Table | None:
    first = text.lstrip("\n").partition("\n")[0]
    headings = re.split(r"[\t;,|]", first)
    tabbed = "\t" in first
    structured = text.lstrip()[:1] in ("{", "[")
    if not (structured or tabbed or (len(headings) > 1 and all(len(h) <= 30 for h in headings))):
        return None
    try:
        table = catalog.read_source(text, "pasted.json" if structured else "pasted text")
    except InputError:
        if structured or tabbed:
            raise
        # The commas are those of sentences, so this is a text and not a table.
        return None
    if structured:
        return table
    has_texts = tabbed or look(table).column is not None
    return table if has_texts and len(table.columns) > 1 else None


def columns_of(table: Table) -> tuple[str, ...]:
    """Return the columns that could be the texts: those with words, the longest first."""
    sizes = dict[str, float]()
    for column in table.columns:
        cells = [str(row[column]) for row in table.rows[:200] if row.get(column)]
        if not cells or column in table.nested:
            continue
        if any(re.search(r"[^\W\d]", cell) for cell in cells):
            sizes[column] = sum(map(len, cells)) / len(cells)
    return tuple(sorted(sizes, key=sizes.__getitem__, reverse=True))


def look(table: Table, column: str | None = None) -> TextTable:
    """Return the roles of the table's columns; ``column`` is the column of texts, if a person chose
    it.
    """
    guess = catalog.with_likeliest_path(table, catalog.suggest_mapping(table))
    could = columns_of(table)
    if guess.submission is not None and guess.submission not in could:
        could = (guess.submission, *could)
    if column is None:
        column = guess.submission or (could[0] if len(could) == 1 else None)
    mapping = (
        guess if column in (None, guess.submission) else _with_column_of_texts(guess, str(column))
    )
    return TextTable(table, column, could, mapping)


def with_roles(look: TextTable, chosen: Sequence[str]) -> TextTable:
    """Return the look with the roles that a person chose; unchanged if these do not fit together
    or no column would be the texts.
    """
    structured = look.mapping.structured
    mapping, problems = column_roles.mapping_from(look.table.columns, chosen, structured=structured)
    if problems or mapping.submission is None:
        return look
    return replace(look, column=mapping.submission, mapping=mapping)


def _with_column_of_texts(guess: ColumnMapping, column: str) -> ColumnMapping:
    """Return the guess with another column of texts; the previous one becomes a note."""
    data = guess.model_dump()
    fields = {name: None for name, used in guess.used.items() if used == column and name in data}
    labels = {name: used for name, used in guess.labels.items() if used != column}
    reasons = {name: used for name, used in guess.reasons.items() if name in labels}
    context = tuple(name for name in guess.context if name != column)
    meta = [name for name in guess.meta if name != column]
    meta += [guess.submission] if guess.submission else []
    changed = {**data, **fields, "labels": labels, "reasons": reasons, "context": context}
    return ColumnMapping.model_validate(
        changed | {"meta": meta, "submission": column, "structured": False}
    )


def side_by_side(table: Table) -> tuple[str, tuple[str, ...]] | None:
    """Return the column of prompts and the columns of answers; ``None`` without several answers.

    Answers are texts under headings that begin alike: answer_v1 and answer_v2, v1 and v2.
    """
    mapping = catalog.suggest_mapping(table)
    used = {*mapping.used.values(), *mapping.context} - {mapping.submission}
    candidates = [c for c in columns_of(table) if c not in used and _has_several_words(table, c)]
    groups = [[c for c in candidates if stem_of(c) == stem_of(other) != ""] for other in candidates]
    answers = max(groups, key=len, default=[])
    other_columns = [c for c in candidates if c not in answers]
    prompt = mapping.prompt or (other_columns[0] if len(other_columns) == 1 else None)
    if prompt is None or len(answers) < 2:
        return None
    return prompt, tuple(column for column in table.columns if column in answers)


def _has_several_words(table: Table, column: str) -> bool:
    """Return whether most cells of a column have more than one word."""
    cells = [str(row[column]).strip() for row in table.rows[:200] if row.get(column)]
    return bool(cells) and 2 * sum(" " in cell for cell in cells) > len(cells)


def systems_in(files: Sequence[File]) -> tuple[str, ...]:
    """Return the systems if each file has one system's answers to the same prompts, else nothing.

    Raises:
        InputError: a file cannot be read.
    """
    if "systems" not in ways_to_join(files):
        return ()
    first_look = look(read(files, way="systems"))
    prompt = first_look.mapping.prompt
    if prompt is None:
        return ()
    prompts = Counter(str(row.get(prompt) or "") for row in first_look.table.rows)
    return first_look.systems if max(prompts.values()) > 1 else ()


def read_answers(files: Sequence[File]) -> Table:
    """Return the answers of several systems, from one table or one table each, an answer per row.

    Raises ``InputError`` like `read`.
    """
    table = read(files, way="systems")
    answer_columns = side_by_side(table)
    if answer_columns is None:
        return table
    prompt, columns = answer_columns
    rows, lines = list[dict[str, object]](), list[int | None]()
    for number, row in enumerate(table.rows, start=1):
        for column in columns:
            answer = {"id": f"{number}-{column}", "system": column, "submission": row.get(column)}
            rows.append({**answer, "prompt": row.get(prompt)})
            lines.append(table.lines[number - 1])
    headings = ("id", "system", "prompt", "submission")
    return Table(table.name, "csv", headings, tuple(rows), tuple(lines), notices=table.notices)


def first_rows(look: TextTable) -> list[tuple[str, str]]:
    """Return the first rows: each row's name, and the beginning of its text."""
    rows, who_column = list[tuple[str, str]](), naming_column(look)
    for index, row in enumerate(look.table.rows[:SHOWN], start=1):
        title = str(row.get(who_column) or "") or f"row {index}"
        rows.append((title, " ".join(str(row.get(look.column or "") or "").split())[:CUT]))
    return rows


def naming_column(look: TextTable) -> str:
    """Return the column that names the rows, or an empty string."""
    return several.naming_column(look.table, look.mapping)


def check(look: TextTable) -> Checked:
    """Return the texts as a dataset, or every reason why they cannot be one."""
    checked = catalog.check(look.table, look.mapping)
    plain = look.table.kind == "files" or look.table.name == PASTED
    if checked.dataset is None or look.column is None or plain:
        return checked
    noted = {**checked.dataset.meta, COLUMN: look.column}
    return replace(checked, dataset=checked.dataset.model_copy(update={"meta": noted}))


def texts_without_questions(files: Sequence[File]) -> Checked | None:
    """Return the texts if the user need not be asked about them, else ``None``.

    That is the case if a heading names their column, every row is a text without a label, several
    tables are parts of one, and no remark needs an answer.
    """
    try:
        could, table = ways_to_join(files), read(files)
    except InputError:
        return None
    texts = look(table)
    # Several tables have a remark that says how they are read.
    remarks = 1 if could else 0
    if (could and could[0] != "parts") or len(table.notices) > remarks:
        return None
    if texts.column is None or texts.systems or texts.mapping.labels or side_by_side(table):
        return None
    checked = check(texts)
    is_complete = checked.dataset is not None and len(checked.dataset.items) == len(table.rows)
    return checked if is_complete and not any(notice.mend for notice in checked.notices) else None


@allowed("write")
def keep(store: Store, checked: Checked, source: str) -> DatasetVersion:
    """Store the texts; texts that are stored already are not duplicated.

    Raises:
        InputError: there is no dataset.
    """
    if checked.dataset is None:
        raise InputError("These texts cannot be used yet.", checked.problems, source)
    name = checked.dataset.name
    if name in ("handed in", PASTED, "pasted text", "pasted"):
        name = source.rpartition(".")[0] or source
    version, _ = catalog.import_dataset(store, checked.dataset, name=name[:200], source=source)
    return version


def kept_line(version: DatasetVersion) -> str:
    """Return the stored texts in one line."""
    origin = f" from {version.source}" if version.source else f" in {version.name}"
    column = version.head.meta.get(COLUMN)
    column_words = f", text in column “{column}”" if isinstance(column, str) else ""
    return f"{plural(version.items, 'text')}{origin}{column_words}"

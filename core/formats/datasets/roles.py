"""The table of roles: how each column of a file was used and why, and how users change it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from core.domain.base import hint_for
from core.errors import InputError
from core.formats.columns.answer_columns import counts_rows, is_index, words_in
from core.formats.columns.headings import (
    COUNTS,
    is_quantity,
    is_sum,
    lower_heading,
    names_an_occasion,
    plain_name,
)
from core.formats.columns.label_words import NO_ANSWER
from core.formats.columns.message_texts import turns_in
from core.formats.columns.text_columns import ANY_TEXT, LONG, WRITTEN, WRITTEN_BY
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ASPECTS, ITEMS, PEOPLE, RANKS, RATERS, has_word
from core.formats.source.parsed import ColumnRole
from core.formats.tables.cells import steps_of
from core.formats.tables.table import JOINED, Table, joined_parts

#: A column that is kept with the item but hidden from judges, and a column that is left out.
NOTE, IGNORED = "note", "ignored"
LONGEST = "the longest texts"
_SAMPLES, _CUT = 3, 60
_TEXTS = {"text", "submission", "submission text", *WRITTEN_BY, *WRITTEN, *ANY_TEXT}


_NAMES = {"item": (ITEMS,), "rater": (RATERS, PEOPLE), "criterion": (ASPECTS,)}


def role_table(
    table: Table, roles: Mapping[str, str], chosen: Collection[str] = ()
) -> tuple[ColumnRole, ...]:
    """Return every column with its role; a user chose the roles of columns in ``chosen``."""
    rows = []
    joined = {name: joined_parts(name, table.columns) for name in roles}
    roles = {part: roles[name] for name, parts in joined.items() for part in parts} | dict(roles)
    inside = {steps_of(column)[:1] for column in roles if column in table.columns}
    for column in table.columns:
        if joined.get(column) or (column not in roles and (column,) in inside):
            continue  # the role belongs to the column's parts
        cells = [row.get(column) for row in table.rows]
        cells = [cell for cell in cells if cell not in (None, "", [], {})]
        full = list(map(str, cells))
        role = roles.get(column, IGNORED)
        why = "as you said" if column in chosen else _reason_for_role(table, column, role, full)
        shown = tuple(dict.fromkeys(map(_shown_cell, cells[:200])))[:_SAMPLES]
        rows.append(ColumnRole(column, role, why, shown, len(full)))
    return tuple(rows)


def _shown_cell(cell: object) -> str:
    if turns := turns_in(cell):
        cell = f"a conversation of {len(turns)} turns; the last: {turns[-1]['content']}"
    return " ".join(str(cell).split())[:_CUT]


def _reason_for_role(table: Table, column: str, role: str, cells: Sequence[str]) -> str:
    kind, _, name = role.partition(":")
    if role in (NOTE, IGNORED):
        return _reason_unused(table, column, cells)
    if kind == "text" and lower_heading(column) not in _TEXTS and "." not in column:
        long = sum(map(len, cells)) >= LONG * len(cells)
        return LONGEST if long else "the only texts"
    if kind in ("rater", "score", "label") and name:
        return f"a scale: {_scale_text(words_in(table, column))}"
    named = any(has_word(column, words) for words in _NAMES[kind]) if kind in _NAMES else True
    return "its name" if named else "tells the rows apart"


def _reason_unused(table: Table, column: str, cells: Sequence[str]) -> str:
    if not cells:
        return "always empty"
    if counts_rows(table.rows, column):
        return "counts the rows"
    if is_index(table, column):
        return "an index without a heading"
    if len(cells) == len(table.rows) > 1 and len(set(cells)) == 1:
        return "the same in every row"
    if plain_name(column) in COUNTS or is_quantity(column):
        return "counts or measures"
    if is_sum(column):
        return "headed as a sum or a mean"
    if names_an_occasion(column):
        return "when it was rated"
    return (
        "a place in an order" if has_word(column, RANKS, whole=True) else "no known name or scale"
    )


def _scale_text(words: Collection[str]) -> str:
    numbers = sorted(n for n in map(number_of, words) if n is not None)
    if len(numbers) == len(words) > 3:
        return f"{numbers[0]:g} to {numbers[-1]:g}"
    shown = sorted(words - NO_ANSWER if isinstance(words, set) else words)
    return ", ".join(shown[:4]) + (" ..." if len(shown) > 4 else "")


def roles_as_text(roles: Sequence[ColumnRole]) -> str:
    """Return the table of roles for a terminal, followed by what is left out of the file."""
    heads = ("column", "taken as", "why", "filled", "for example")
    rows = [
        (r.column[:40], r.role[:40], r.why[:40], f"{r.filled:,}", " | ".join(r.samples)[:70])
        for r in roles
    ]
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
    out = [role for role in roles if role.role == IGNORED and role.filled]
    cells = sum(role.filled for role in out)
    summary = (
        f"Left out: {len(out)} columns with {cells:,} cells." if out else "Nothing is left out."
    )
    return "\n".join((*lines, summary))


#: Columns of time and respondent that Google Forms adds.
_FORM = ("timestamp", "email address", "username")


def private_columns(table: Table) -> set[str]:
    """Return a form's columns that identify respondents, which are left out."""
    heads = {lower_heading(column): column for column in table.columns}
    if not table.flat or _FORM[0] not in heads or lower_heading(table.columns[0]) != _FORM[0]:
        return set()
    return {heads[name] for name in _FORM[1:] if name in heads}


# Users' changes of columns: `--map FIELD=COLUMN`.


class Change(NamedTuple):
    """A change of a mapping: a field, its name (of a criterion or rater), and a column."""

    field: str
    name: str
    column: str

    @classmethod
    def of(
        cls, text: str, fields: Sequence[str], named: Sequence[str], aliases: Mapping[str, str]
    ) -> Change:
        """Return the change in the text `FIELD=COLUMN` or `FIELD:NAME=COLUMN`.

        Raises:
            InputError: another form, or an unknown field.
        """
        target, equals, column = text.partition("=")
        field, colon, name = target.partition(":")
        field = aliases.get(field, field)
        with_names = {change.partition(":")[0] for change in named}
        is_known = field in with_names and name.strip() if colon else field in fields
        if not equals or not is_known:
            names = (*fields, *named)
            mend = hint_for(target, {*names, *aliases}) or f"FIELD is one of {', '.join(names)}."
            message = f"--map {text!r} is not understood. Write FIELD=COLUMN. {mend}"
            raise InputError(message)
        return cls(field, " ".join(name.split()), column)


#: The advice on how to map columns, with the fields and an example.
HOW_TO_SAY = (
    "Say which column is what with --map FIELD=COLUMN. FIELD is item, rater, criterion, label, "
    "reason, submission, prompt or system; raters, criteria and items are lists of columns, as "
    "in item=doc_id, rater=annotator, criteria=tone,depth."
)


def refuse_repeated_fields(
    changes: Iterable[str], aliases: Mapping[str, str], lists: Collection[str] = ()
) -> None:
    """Refuse a field that is given two columns, except fields in ``lists``.

    Raises:
        InputError: names the field and both columns.
    """
    columns: dict[str, list[str]] = {}
    for change in changes:
        field, equals, column = change.partition("=")
        if equals and column:
            columns.setdefault(aliases.get(field, field), []).append(column)
    for field, names in columns.items():
        if len(set(names)) > 1 and field.partition(":")[0] not in lists:
            two_names = " and ".join(map(repr, names[:2]))
            raise InputError(
                f"--map names two columns for {field!r}: {two_names}. Keep one of them."
            )


def with_item_columns_joined(changes: Sequence[str]) -> list[str]:
    """Return the changes with several columns of an item joined into one name.

    >>> with_item_columns_joined(["item=doc", "rater=who", "item=turn"])
    ['item=doc + turn', 'rater=who']
    """
    columns = [change.partition("=")[2] for change in changes if _changes_item(change)]
    if len(set(columns)) < 2 or "" in columns:
        return list(changes)
    others = [change for change in changes if not _changes_item(change)]
    return [f"item={JOINED.join(dict.fromkeys(columns))}", *others]


def _changes_item(change: str) -> bool:
    return change.partition("=")[0] in ("item", "id")


def listed_columns(value: str, table: Table) -> list[str]:
    """Return the columns in a comma-separated list; a column with exactly that name is one."""
    parts = [part.strip() for part in value.split(",")]
    return [value] if value in table.columns else [part for part in parts if part]

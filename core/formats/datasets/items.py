"""Convert a row of a table to an item; problems carry their lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from core.domain.base import Path, build_model
from core.domain.dataset import Item, Label
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.labels import (
    TEXT_AVAILABLE,
    Truth,
    UnfitValue,
    context_of,
    prompt_of,
    submission_of,
    text_of,
)
from core.formats.datasets.mapping import ColumnMapping, context_name
from core.formats.rubrics.forms import converted_document
from core.formats.rubrics.rubric_file import parse_rubric, rubric_from_data
from core.formats.source.parsed import kind_of, too_many
from core.formats.tables.cells import only_entry
from core.formats.tables.table import Table

_NEEDED = ("id", "submission")
#: The longest name of a group; a longer text is a note.
LONGEST = 100


def traits_in(meta: Mapping[str, Any], *, system: str, tags: bool) -> dict[str, Any]:
    """Return ``system`` and a tag from ``meta``, if the item has none.

    Rating data often has the system, and the subset of a collection, next to the item. They are
    used without renaming keys. ``meta`` keeps both. Values other than short texts and whole numbers
    are ignored.

    Args:
        meta: the item's notes.
        system: the item's own system; empty if it has none.
        tags: whether the item has its own tags.

    >>> traits_in({"system": 2, "subset": "natural"}, system="", tags=False)
    {'system': '2', 'tags': ['natural']}
    >>> traits_in({"system": "GPT-2"}, system="Human", tags=False)
    {}
    """
    traits = dict[str, Any]()
    if not system and (named := _trait_name(meta.get("system"))):
        traits["system"] = named
    if not tags and (named := _trait_name(meta.get("subset"))):
        traits["tags"] = [named]
    return traits


def _trait_name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = str(value).strip()
    return text if len(text) <= LONGEST and "\n" not in text else ""


class ItemReader:
    """Makes items from the rows of ``table``; collects ``problems`` and ``notices``.

    ``textless`` and ``empty`` hold the rows without a text, and with an empty answer.
    ``empty_labels`` counts the words that mean no label.
    """

    def __init__(self, table: Table, mapping: ColumnMapping, rubric: Rubric | None) -> None:
        self._table, self._mapping = table, mapping
        self.empty_labels = Counter[str]()
        self._truth = Truth(rubric, mapping.words, self.empty_labels)
        self._rubrics: dict[str, Rubric] = {}
        self.problems: list[Problem] = []
        self.notices: list[Problem] = []
        self.textless: list[int] = []
        self.empty: list[int] = []
        self._found_in_meta = set[str]()
        self._texts, self._rows = set[int](), 0
        self._shared: dict[Any, Any] = {}
        self._labelled = bool(mapping.labels) or (mapping.label_map, mapping.truth) != (None, None)
        named = ((name, getattr(mapping, name), read) for name, read in _READ.items())
        #: The fields that have a column, and the function that reads its cells.
        self._columns = [(name, column, read) for name, column, read in named if column is not None]

    def remarks(self) -> list[Problem]:
        """Return the notices; if rows repeat texts, one says that a note could name the rater."""
        again = self._rows - len(self._texts) - len(self.textless) - len(self.empty)
        if self._rows < 4 or 2 * again < self._rows or not self._mapping.meta:
            return self.notices
        message = f"{again:,} of {self._rows:,} rows repeat the text of another row."
        mend = "If rows are answers of raters, say who they are, as in --map rater=COLUMN."
        return [*self.notices, Problem(message, mend)]

    def item(self, row: int, id: str) -> Item | None:
        """Return the item of a row, or ``None`` if it has a problem."""
        before = len(self.problems)
        rubric, cells = self._rubric_of_row(row), self._table.rows[row]
        truth = Truth(rubric, self._mapping.words, self.empty_labels) if rubric else self._truth
        data: dict[str, Any] = {"id": id, "rubric": rubric}
        for name, column, read in self._columns:
            try:
                data[name] = read(cells.get(column), self._mapping)
            except UnfitValue as error:
                self._add_problem(error, row, (column,))
        data.setdefault("submission", "")
        if self._mapping.context:
            data["context"] = self._context_of_row(row)
        if self._labelled:
            data["labels"] = self._labels_of_row(row, truth)
        data["meta"] = meta = self._meta_of_row(row)
        if "system" in meta or "subset" in meta:
            self._fill_traits(data)
        if len(self.problems) > before:
            return None
        # Empty fields keep their default, which saves memory in every item.
        filled = {name: value for name, value in data.items() if value or name in _NEEDED}
        try:
            return build_model(Item, filled, "item").sharing(self._shared)
        except InputError as error:
            for p in error.problems:
                self._add_problem(UnfitValue(p.message, p.mend), row, self._source_path(p.path))
            return None

    def _source_path(self, path: Path) -> Path:
        """Return a place in an item with the column's own name instead of the field's."""
        used = self._mapping.used
        return (used.get(str(path[0]), path[0]), *path[1:]) if path else path

    def _add_problem(self, error: UnfitValue, row: int, path: Path) -> None:
        full = (*path, *error.path)
        line = self._table.line_of(row, full)
        self.problems.append(error.problem(("items", row, *path), line))

    def _context_of_row(self, row: int) -> dict[str, str]:
        context = dict[str, str]()
        for column in self._mapping.context:
            try:
                name = self._mapping.context_names.get(column) or context_name(column)
                texts = context_of(self._table.rows[row].get(column), name)
                if twice := texts.keys() & context.keys():
                    message = f"gives {min(twice)!r}, which another column gives as well."
                    raise UnfitValue(message, "Give each text its own name.")
            except UnfitValue as error:
                self._add_problem(error, row, (column,))
                continue
            context |= texts
        return context

    def _rubric_of_row(self, row: int) -> Rubric | None:
        column = self._mapping.rubric
        value = self._table.rows[row].get(column) if column is not None else None
        if value is None or value == "":
            return None
        key = json.dumps(value, sort_keys=True)
        if key not in self._rubrics:
            try:
                self._rubrics[key] = self._parse_rubric(row, column or "", value)
            except InputError as error:
                self.problems += [
                    Problem(p.message, p.mend, ("items", row, column or "", *p.path), p.line)
                    for p in error.problems
                ]
                return None
        return self._rubrics[key]

    def _parse_rubric(self, row: int, column: str, value: Any) -> Rubric:
        if isinstance(value, str):
            return parse_rubric(value, "rubric.yaml").value
        parsed = rubric_from_data(
            converted_document(value),
            self._table.name,
            lambda path: self._table.line_of(row, (column, *path)),
            "Rubric of one item",
        )
        self.notices += parsed.notices
        return parsed.value

    def _labels_of_row(self, row: int, truth: Truth) -> dict[str, Label]:
        mapping, cells = self._mapping, self._table.rows[row]
        labels = self._labels_from_list(row, truth)
        label_cell = cells.get(mapping.label_map) if mapping.label_map is not None else None
        if label_cell is not None and not isinstance(label_cell, dict):
            mend = "Use a mapping from criterion to label."
            self._add_problem(
                UnfitValue(f"is {kind_of(label_cell)}.", mend), row, (mapping.label_map or "",)
            )
            label_cell = None
        named: list[tuple[str, Any, Any, Path]] = [
            (name, value, "", (mapping.label_map or "", name))
            for name, value in (label_cell or {}).items()
        ]
        for name, column in mapping.labels.items():
            reason = cells.get(mapping.reasons.get(name, ""))
            named.append((name, only_entry(cells.get(column)), reason, (column,)))
        for name, value, reason, path in named:
            if too_many(self.problems):
                break
            try:
                label = truth.named_label(name, value, reason)
                if label and label[0] in labels:
                    raise UnfitValue(
                        "labels a criterion that is labelled already.", "Keep one label."
                    )
            except UnfitValue as error:
                self._add_problem(error, row, path)
                continue
            if label:
                labels[label[0]] = label[1]
        return labels

    def _labels_from_list(self, row: int, truth: Truth) -> dict[str, Label]:
        mapping, cells = self._mapping, self._table.rows[row]
        if mapping.truth is None:
            return {}
        reasons = cells.get(mapping.truth_reasons) if mapping.truth_reasons is not None else None
        try:
            return truth.labels_from_list(cells.get(mapping.truth), reasons)
        except UnfitValue as error:
            self._add_problem(error, row, (mapping.truth,))
            return {}

    def _meta_of_row(self, row: int) -> dict[str, Any]:
        mapping, cells = self._mapping, self._table.rows[row]
        meta = {c: cells[c] for c in mapping.meta if cells.get(c) not in (None, "")}
        notes = cells.get(mapping.meta_map) if mapping.meta_map is not None else None
        if notes is not None and not isinstance(notes, dict):
            mend = "Use a mapping, or give each note a key of its own."
            self._add_problem(
                UnfitValue(f"is {kind_of(notes)}.", mend), row, (mapping.meta_map or "",)
            )
            notes = None
        if notes:
            for key in notes.keys() & meta.keys():
                mend = "Keep one of the two."
                self._add_problem(UnfitValue("is given twice, once under meta.", mend), row, (key,))
            meta |= notes
        self._record_missing_text(row, meta)
        return meta

    def _fill_traits(self, data: dict[str, Any]) -> None:
        """Fill system and tags from ``meta`` if missing; give one notice per field."""
        system, tags = data.get("system") or "", bool(data.get("tags"))
        traits = traits_in(data["meta"], system=system, tags=tags)
        data.update(traits)
        for name in traits.keys() - self._found_in_meta:
            self._found_in_meta.add(name)
            where = {"system": "meta.system", "tags": "meta.subset"}[name]
            message = f"Items that name no {name} take it from {where}, to be compared by it."
            self.notices.append(Problem(message, "", (), self._table.line_of(0)))

    def _record_missing_text(self, row: int, meta: dict[str, Any]) -> None:
        """Record whether an answer is empty, or its text is missing: null, or marked as missing in
        meta.
        """
        column, cells = self._mapping.submission or "", self._table.rows[row]
        if column not in cells and not self._mapping.are_tasks:
            mend = "Give every item its text; write null if it is not available."
            self._add_problem(UnfitValue("is missing.", mend), row, (column,))
            return
        value = cells.get(column)
        self._rows += 1
        if self._mapping.meta:
            self._texts.add(hash(value if isinstance(value, str) else str(value)))
        blank = value is None or (isinstance(value, str) and not value.strip())
        if value is None or (blank and meta.get(TEXT_AVAILABLE) is False):
            meta[TEXT_AVAILABLE] = False
            self.textless.append(row)
        elif blank:
            self.empty.append(row)


def _tags_from_value(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text_of(part, "Use a list of words.") for part in value]
    return [part.strip() for part in re.split(r"[;,]", text_of(value)) if part.strip()]


#: The function that reads a field's cell; fields without a column keep their default.
_READ: dict[str, Callable[[Any, ColumnMapping], Any]] = {
    "submission": lambda value, mapping: submission_of(value, mapping.structured),
    "prompt": lambda value, mapping: prompt_of(value),
    "reference": lambda value, mapping: text_of(value),
    "description": lambda value, mapping: text_of(value),
    "system": lambda value, mapping: text_of(value),
    "split": lambda value, mapping: value or None,
    "tags": lambda value, mapping: _tags_from_value(value),
}

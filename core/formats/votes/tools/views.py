"""A file as tools write them: an archive, a JSON document, lines of JSON, or a table.

Each view is as lazy as can be: telling what a file is must not cost what reading it costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

from core.errors import InputError, Problem
from core.formats.office.archive import Unpacked, is_zip
from core.formats.source.csv_reader import delimiter_of, records
from core.formats.source.parsed import MAX_DATASET_BYTES, read_text, refusal, stem
from core.formats.votes.tools.lax_json import decoded, objects_in
from core.formats.votes.tools.tool_results import ToolResults

_BLANK = b"\xef\xbb\xbf \t\r\n"
#: A file's first line is looked for in so much of it.
_HEAD = 1_000_000
_WHAT = "file of results"


@dataclass(frozen=True)
class View:
    """A file at hand."""

    data: bytes = field(repr=False)
    name: str

    @property
    def title(self) -> str:
        """What to call it: the file's name without its ending."""
        return stem(self.name, "Results")

    @cached_property
    def text(self) -> str:
        """Its text. Raises ``InputError``: no text in a known encoding."""
        return read_text(self.data, self.name, _WHAT, MAX_DATASET_BYTES)


class Archive(View):
    """A zip archive."""

    @cached_property
    def _unpacked(self) -> Unpacked:
        return Unpacked(self.data, self.name)

    @property
    def files(self) -> dict[str, Any]:
        """Its members by their paths."""
        return self._unpacked.members

    def json(self, path: str) -> Any:
        """The JSON value in a member. Raises ``InputError``, also where all unpacks to too much."""
        where = f"{self.name}, {path}"
        text = read_text(self._unpacked.read(path), where, _WHAT, MAX_DATASET_BYTES)
        return decoded(text, where, _WHAT)


class JsonDocument(View):
    """One JSON value that is an object."""

    def holds(self, *marks: str) -> bool:
        """Whether keys of these names stand in it somewhere; saves decoding what is not ours."""
        return all(f'"{mark}"'.encode() in self.data for mark in marks)

    @cached_property
    def value(self) -> Any:
        """The value. Raises ``InputError``."""
        return decoded(self.text, self.name, _WHAT)


class JsonRows(View):
    """JSON lines, or a JSON list: one object a row."""

    @cached_property
    def _listed(self) -> list[dict[str, Any]] | None:
        if not self.data.lstrip(_BLANK).startswith(b"["):
            return None
        return objects_in(decoded(self.text, self.name, _WHAT))

    @cached_property
    def first(self) -> dict[str, Any]:
        """The first row; empty where there is none."""
        if self._listed is not None:
            return self._listed[0] if self._listed else {}
        head = self.data[:_HEAD].lstrip(_BLANK).split(b"\n", 1)[0]
        value = decoded(read_text(head, self.name, _WHAT, _HEAD), self.name, _WHAT)
        return value if isinstance(value, dict) else {}

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Every row. Raises ``InputError``, with the line."""
        if self._listed is not None:
            return self._listed
        found = list[dict[str, Any]]()
        for number, line in enumerate(self.text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                value = decoded(line, self.name, _WHAT)
            except InputError as error:
                problems = [Problem(p.message, p.mend, p.path, number) for p in error.problems]
                raise refusal(_WHAT, problems, self.name) from None
            found += [value] if isinstance(value, dict) else []
        return found


class CsvTable(View):
    """A table in CSV, whose heads may be there several times."""

    @cached_property
    def _delimiter(self) -> str:
        return delimiter_of(self.data[:_HEAD].decode("utf-8-sig", "replace"), self.name)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The heads in the first line that is not blank."""
        head = self.data[:_HEAD].decode("utf-8-sig", "replace")
        every = (cells for _, cells in records(head, self._delimiter, []) if any(cells))
        return tuple(next(every, ()))

    def rows(self) -> Iterator[list[str]]:
        """The cells of every row below. Raises ``InputError``, with the line."""
        problems, begun = list[Problem](), False
        for line, cells in records(self.text, self._delimiter, problems):
            if not any(cells):
                continue
            if len(cells) != len(self.columns):
                message = f"has {len(cells)} cells, but the header names {len(self.columns)}."
                raise refusal(_WHAT, [Problem(message, "Export it again.", (), line)], self.name)
            if begun:
                yield cells
            begun = True
        if problems:
            raise refusal(_WHAT, problems, self.name)

    def records(self) -> list[dict[str, str]]:
        """Every row by its heads. Raises ``InputError``, with the line."""
        return [dict(zip(self.columns, cells, strict=True)) for cells in self.rows()]


def views_of(data: bytes, name: str) -> tuple[View, ...]:
    """The file as what it can be by its first bytes; one object on one line is two things."""
    if is_zip(data):
        return (Archive(data, name),)
    start = data[:_HEAD].lstrip(_BLANK)
    if start[:1] == b"[":
        return (JsonRows(data, name),)
    if start[:1] != b"{":
        return (CsvTable(data, name),)
    head, _, more = start.partition(b"\n")
    if not head.rstrip().endswith(b"}"):
        return (JsonDocument(data, name),)
    if more.lstrip()[:1] == b"{":
        return (JsonRows(data, name),)
    return (JsonDocument(data, name), JsonRows(data, name))


V = TypeVar("V", bound=View)


@dataclass(frozen=True)
class Shape(Generic[V]):
    """One form in which a tool writes its results: how it is known, and how it is read."""

    view: type[V]
    fits: Callable[[V], bool]
    read: Callable[[V], ToolResults]

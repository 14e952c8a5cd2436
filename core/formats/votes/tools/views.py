"""Views of a tool's file: archive, JSON document, JSON lines or table.

Views are lazy: recognising a file must not cost as much as reading it.
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
#: How many bytes are searched for a file's first line.
_HEAD = 1_000_000
_WHAT = "file of results"


@dataclass(frozen=True)
class View:
    """A file in memory."""

    data: bytes = field(repr=False)
    name: str

    @property
    def title(self) -> str:
        """Return the file's name without its ending."""
        return stem(self.name, "Results")

    @cached_property
    def text(self) -> str:
        """Return its text. Raises ``InputError`` for an unknown encoding."""
        return read_text(self.data, self.name, _WHAT, MAX_DATASET_BYTES)


class Archive(View):
    """A zip archive."""

    @cached_property
    def _unpacked(self) -> Unpacked:
        return Unpacked(self.data, self.name)

    @property
    def files(self) -> dict[str, Any]:
        """Return its members by path."""
        return self._unpacked.members

    def json(self, path: str) -> Any:
        """Return the JSON value in a member. Raises ``InputError``, also if too large."""
        where = f"{self.name}, {path}"
        text = read_text(self._unpacked.read(path), where, _WHAT, MAX_DATASET_BYTES)
        return decoded(text, where, _WHAT)


class JsonDocument(View):
    """A JSON value that is an object."""

    def holds(self, *marks: str) -> bool:
        """Return whether it contains these keys, before decoding other files."""
        return all(f'"{mark}"'.encode() in self.data for mark in marks)

    @cached_property
    def value(self) -> Any:
        """Return the value. Raises ``InputError``."""
        return decoded(self.text, self.name, _WHAT)


class JsonRows(View):
    """JSON lines, or a JSON list: an object per row."""

    @cached_property
    def _listed(self) -> list[dict[str, Any]] | None:
        if not self.data.lstrip(_BLANK).startswith(b"["):
            return None
        return objects_in(decoded(self.text, self.name, _WHAT))

    @cached_property
    def first(self) -> dict[str, Any]:
        """Return the first row, or an empty one."""
        if self._listed is not None:
            return self._listed[0] if self._listed else {}
        head = self.data[:_HEAD].lstrip(_BLANK).split(b"\n", 1)[0]
        value = decoded(read_text(head, self.name, _WHAT, _HEAD), self.name, _WHAT)
        return value if isinstance(value, dict) else {}

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Yield every row. Raises ``InputError``, with the line."""
        if self._listed is not None:
            return self._listed
        rows = list[dict[str, Any]]()
        for number, line in enumerate(self.text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                value = decoded(line, self.name, _WHAT)
            except InputError as error:
                problems = [Problem(p.message, p.mend, p.path, number) for p in error.problems]
                raise refusal(_WHAT, problems, self.name) from None
            rows += [value] if isinstance(value, dict) else []
        return rows


class CsvTable(View):
    """A CSV table with headings that may repeat."""

    @cached_property
    def _delimiter(self) -> str:
        return delimiter_of(self.data[:_HEAD].decode("utf-8-sig", "replace"), self.name)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the headings in the first nonblank line."""
        head = self.data[:_HEAD].decode("utf-8-sig", "replace")
        every = (cells for _, cells in records(head, self._delimiter, []) if any(cells))
        return tuple(next(every, ()))

    def rows(self) -> Iterator[list[str]]:
        """Yield the cells of every row below. Raises ``InputError``, with the line."""
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
        """Yield every row by its headings. Raises ``InputError``, with the line."""
        return [dict(zip(self.columns, cells, strict=True)) for cells in self.rows()]


def views_of(data: bytes, name: str) -> tuple[View, ...]:
    """Return possible views by the first bytes; one line of JSON has two."""
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
    """A format of a tool's results: how to recognise and how to read it."""

    view: type[V]
    fits: Callable[[V], bool]
    read: Callable[[V], ToolResults]

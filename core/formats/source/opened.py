"""An opened file: every view of it is computed once, on first use.

Recognising a file must cost less than reading it, so those views only look at its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Literal, TypeVar

from core.errors import InputError, Problem
from core.formats.source.archives import Unpacked, is_zip
from core.formats.source.csv_reader import RawTable, delimiter_of, read_raw, records
from core.formats.source.json_reader import Decoder, decode, read_json, too_many_parts
from core.formats.source.parsed import (
    MAX_DATASET_BYTES,
    MAX_ROWS,
    MEGABYTE,
    Document,
    refusal,
    stem,
)
from core.formats.source.text import UTF16, DecodedText, decoded_text
from core.formats.source.yaml_reader import read_yaml

#: Bytes of a file that are used to recognise it.
_HEAD = 1_000_000
_RESULTS = "file of results"
#: A bracket, then a quoted key or text: YAML rarely has quotes after the brackets.
_JSON = re.compile(r'\s*[\[{][\s\[{]*"')
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
T = TypeVar("T")
#: Possible kinds of a file by its first characters; a single line of JSON can be two kinds.
Shape = Literal["archive", "object", "rows", "table"]


class Opened:
    """A file in memory, or a pasted text.

    Once its text is decoded, its bytes are released.
    """

    def __init__(self, data: str | bytes, name: str) -> None:
        self.name, self.size = name, len(data)
        self._data: str | bytes = data
        self._views: dict[Callable[..., Any], Any] = {}
        self._raw: RawTable | None = None

    @classmethod
    def of(cls, data: str | bytes | Opened, name: str) -> Opened:
        """Return an opened file; an ``Opened`` is returned unchanged."""
        return data if isinstance(data, Opened) else cls(data, name)

    def once(self, view: Callable[[Opened], T]) -> T:
        """Return ``view`` of this file, computed on the first call; an error is cached."""
        if view not in self._views:
            try:
                self._views[view] = view(self)
            except InputError as error:
                self._views[view] = error
        result: T | InputError = self._views[view]
        if isinstance(result, InputError):
            raise result.with_traceback(None)
        return result

    def release_views(self) -> None:
        """Release all views; call it after the last one."""
        self._views.clear()
        for view in ("_decoded", "_json", "_yaml", "rows"):
            self.__dict__.pop(view, None)
        self._data, self._raw = b"", None

    @property
    def data(self) -> bytes:
        """Return the bytes; a decoded text is encoded as UTF-8."""
        if isinstance(self._data, str):
            return self._data.encode("utf-8", "surrogatepass")
        return self._data

    @property
    def title(self) -> str:
        """Return the file's name without its ending."""
        return stem(self.name, "Results")

    @cached_property
    def ending(self) -> str:
        """Return the ending of the name, without the dot."""
        return self.name.lower().rpartition(".")[2]

    # Text

    @cached_property
    def head(self) -> bytes:
        """Return the first bytes."""
        first = self._data[:_HEAD]
        return first.encode("utf-8", "surrogatepass") if isinstance(first, str) else first

    @cached_property
    def beginning(self) -> str:
        """Return the first characters; undecodable ones are replaced."""
        encoding = "utf-16" if self.head.startswith(UTF16) else "utf-8-sig"
        return self.head.decode(encoding, "replace")

    @cached_property
    def start(self) -> str:
        """Return the first characters without leading white space."""
        return self.beginning.lstrip()

    def text(self, what: str, limit: int, *, table: bool = False) -> str:
        r"""Return the text without its mark; line breaks are unchanged.

        A ``table`` may also be Windows-1252, which spreadsheets write. ``what`` names the content
        in messages. Raises ``InputError`` with the line if the file is larger than ``limit`` bytes
        (characters for a text), empty, of an unknown encoding, or holds a NUL.

        >>> Opened("id;Stadt\n1;Köln\n".encode("cp1252"), "a.csv").text("table", 100, table=True)
        'id;Stadt\n1;Köln\n'
        """
        if self.size > limit:
            size, most = self.size / MEGABYTE, limit / MEGABYTE
            mend = "Split it, or write JSONL or CSV." if what == "dataset" else "Shorten it."
            problem = Problem(f"has {size:,.1f} MB; {most:,.0f} MB is the limit.", mend)
            raise refusal(what, [problem], self.name)
        fault = self._decoded.table_fault if table else self._decoded.fault
        if fault is not None:
            raise refusal(what, [fault], self.name)
        return self._decoded.text

    @property
    def notices(self) -> tuple[Problem, ...]:
        """Return notices about the encoding; empty for UTF-8."""
        return self._decoded.notices

    @cached_property
    def _decoded(self) -> DecodedText:
        decoded = decoded_text(self._data)
        if decoded.table_fault is None and self.head:
            self._data = decoded.text
        return decoded

    # Archives

    @property
    def archive(self) -> Unpacked | None:
        """Return the zip archive; ``None`` for other files. Raises ``InputError`` if broken."""
        return self.once(_archive_in)

    def json(self, path: str) -> Any:
        """Return the JSON value in an archive's file. Raises ``InputError``, also if too large."""
        assert self.archive is not None
        return Opened(self.archive.read(path), f"{self.name}, {path}").value

    # JSON and YAML

    @cached_property
    def is_json(self) -> bool:
        """Return whether a document is read as JSON rather than YAML.

        JSON in a file with another ending is JSON, too: YAML reads all of it except characters that
        JSON writes as two escapes (an emoji, say).
        """
        if self.ending == "json" or not _JSON.match(self._decoded.text):
            return self.ending == "json"
        return self.ending not in ("yaml", "yml") or self._json.value is not None

    @cached_property
    def _json(self) -> Document:
        return read_json(self._decoded.text)

    @cached_property
    def _yaml(self) -> Document:
        return read_yaml(self._decoded.text)

    def document(self, what: str, limit: int) -> Document:
        """Return the JSON or YAML, read strictly. Raises ``InputError`` with every fault."""
        self.text(what, limit)
        return (self._json if self.is_json else self._yaml).require_valid(what, self.name)

    @cached_property
    def value(self) -> Any:
        """Return the JSON, read leniently: NaN is missing, the last of two equal keys counts.

        Raises ``InputError``.
        """
        self.text(_RESULTS, MAX_DATASET_BYTES)
        if self._json.value is None:
            self._json.require_valid(_RESULTS, self.name)
        return self._json.value

    def has_words(self, *words: str) -> bool:
        """Return whether these words are anywhere in the file, without decoding it."""
        data = self._data
        if isinstance(data, str):
            return all(word in data for word in words)
        return all(word.encode() in data for word in words)

    def json_lines(self, what: str) -> Iterator[tuple[int, Any, list[Problem]]]:
        """Yield the number, the value and the faults of every line that is not blank.

        Raises:
            InputError: more rows than ``MAX_ROWS``, or no text.
        """
        text, decoder = self.text(what, MAX_DATASET_BYTES), Decoder()
        if fault := too_many_parts(text, MAX_ROWS):
            raise refusal(what, [fault], self.name)
        for number, line in enumerate(_LINE.finditer(text), start=1):
            if line[0].strip():
                yield number, *decoder.decode(line[0])

    # What tools write

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """Return the possible kinds of the file by its first characters."""
        if is_zip(self.head):
            return ("archive",)
        if self.start[:1] == "[":
            return ("rows",)
        if self.start[:1] != "{":
            return ("table",)
        head, _, following = self.start.partition("\n")
        if not head.rstrip().endswith("}"):
            return ("object",)
        return ("rows",) if following.lstrip()[:1] == "{" else ("object", "rows")

    @cached_property
    def first_row(self) -> dict[str, Any]:
        """Return the first row of JSON lines or of a JSON list, or {}."""
        if self.start[:1] == "[":
            return self.rows[0] if self.rows else {}
        value, _ = decode(self.start.split("\n", 1)[0])
        return value if isinstance(value, dict) else {}

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Return every object of JSON lines or of a JSON list. Raises ``InputError``."""
        if self.start[:1] == "[":
            return [row for row in self.value if isinstance(row, dict)]
        rows = list[dict[str, Any]]()
        for number, value, faults in self.json_lines(_RESULTS):
            if value is None and faults:
                problems = [Problem(f.message, f.mend, f.path, number) for f in faults]
                raise refusal(_RESULTS, problems, self.name)
            rows += [value] if isinstance(value, dict) else []
        return rows

    # CSV

    @cached_property
    def delimiter(self) -> str:
        """Return the delimiter of cells."""
        return delimiter_of(self.beginning, self.name)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Return the headings in the first line that is not blank; they may repeat."""
        every = (cells for _, cells in records(self.beginning, self.delimiter, []) if any(cells))
        return tuple(next(every, ()))

    def raw(self, what: str, limit: int) -> RawTable:
        """Return the table with the position of every cell; rows may be ragged."""
        text = self.text(what, limit, table=True)
        if self._raw is None:
            self._raw = read_raw(text, self.name, what)
        return self._raw


def _archive_in(opened: Opened) -> Unpacked | None:
    return Unpacked(opened.data, opened.name) if is_zip(opened.head) else None

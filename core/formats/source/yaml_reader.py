"""Limited YAML to plain data from the parser's events, with line numbers.

Plain scalars follow YAML 1.2 (``yes`` and ``1:30`` are text). A number in a label or a name keeps
its spelling. Only the standard tags are allowed, so only plain data is ever constructed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from core.domain.base import Path
from core.errors import Problem
from core.formats.source.parsed import (
    MAX_DEPTH,
    TOO_DEEP,
    BadNumber,
    Document,
    Lines,
    nearest_line,
    number,
)

#: The most nodes, counted after expanding aliases. A rubric of 500 criteria with 20 options has
#: about 50,000.
MAX_NODES = 200_000

#: Keys of text fields, in which a number keeps its spelling.
WORDS = frozenset(
    {"name", "label", "requirement", "section", "tags", "tag", "is", "in", "criterion", "flag"}
    | {"reason", "description", "guidelines", "families", "patterns", "terms", "action"}
)

_STANDARD = "tag:yaml.org,2002:"
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLS = {"true": True, "True": True, "TRUE": True} | {
    "false": False,
    "False": False,
    "FALSE": False,
}
_MERGE = object()
#: Characters that YAML 1.2 (section 5.1) forbids, and a byte order mark inside.
_UNPRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class _Stop(Exception):
    """Raised to stop reading after recording the problem."""


@dataclass
class _Frame:
    """A list or mapping that is still open."""

    value: Any
    path: Path
    words: bool
    nodes: int
    anchor: str | None
    key: Any = None
    waiting: bool = False
    merges: list[dict[str, Any]] = field(default_factory=list)


def read_yaml(text: str) -> Document:
    """Return the only YAML document in ``text``, with its faults.

    Faults are: not YAML, empty, more than one document, an unknown tag, a key given twice, a number
    that is not finite, or more than ``MAX_NODES`` nodes after expanding aliases.

    >>> read_yaml("a: [1, yes]").value
    {'a': [1, 'yes']}
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    builder = _Builder(Lines(text))
    try:
        if odd := _UNPRINTABLE.search(text):
            builder.stop(
                f"holds the control character U+{ord(odd[0]):04X}.",
                *("Delete it.", (), builder.lines.at(odd.start())),
            )
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        builder.problems.append(_syntax_problem(error, text, builder.lines))
    except _Stop:
        pass
    if not builder.problems and builder.value is None:
        builder.problems.append(Problem("is empty.", "Write something in it.", (), 1))
    if builder.problems:
        return Document(None, lambda path: None, lambda: builder.problems)
    return Document(builder.value, lambda path: nearest_line(builder.places, path))


def _events(text: str) -> Iterator[yaml.Event]:
    # libyaml if available (25 times faster), otherwise the same parser in Python.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return iter(yaml.parse(text, Loader=loader))


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, lines: Lines) -> Problem:
    if "nesting depth" in (error.problem or ""):
        mark = error.problem_mark or error.context_mark
        return Problem(TOO_DEEP, "Make it flatter.", (), lines.at(mark.index) if mark else None)
    # Report an unclosed quote or bracket at its beginning, not at the end.
    unclosed = "end of stream" in (error.problem or "")
    mark = (unclosed and error.context_mark) or error.problem_mark or error.context_mark
    line = lines.at(mark.index) if mark else None
    written = text.split("\n")[line - 1] if line else ""
    indent = written[: len(written) - len(written.lstrip())]
    if "\t" in indent:
        return Problem("is indented with a tab.", "Indent with spaces.", (), line)
    message = ", ".join(part for part in (error.context, error.problem) if part)
    mend = (
        "Check the indentation; put text that holds ': ' or ' #', or starts with a sign, in quotes."
    )
    return Problem(f"is not valid YAML: {message}.", mend, (), line)


class _Builder:
    """Builds data from events; ``value`` is the document after the last event."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.value: Any = None
        self.places: dict[Path, int] = {}
        self.problems: list[Problem] = []
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = 0
        self._nodes = 0

    def take(self, event: yaml.Event) -> None:
        # Both parsers set start_mark on every event; only PyYAML's base class types it as optional.
        line = self.lines.at(event.start_mark.index if event.start_mark else 0)
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self.stop("begins a second document.", "Keep one document per file.", (), line)
        elif isinstance(event, yaml.ScalarEvent):
            self._take_scalar(event, line)
        elif isinstance(event, yaml.AliasEvent):
            self._take_alias(event.anchor or "", line)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open_collection(event, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close_collection()

    def stop(self, message: str, mend: str, path: Path, line: int) -> None:
        """Record this problem and stop reading."""
        self.problems.append(Problem(message, mend, path, line))
        raise _Stop

    def _count_nodes(self, nodes: int, line: int) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            message = f"has more than {MAX_NODES:,} values once its aliases are written out."
            self.stop(message, "Use fewer aliases (*name).", (), line)

    def _next_path(self) -> tuple[Path, bool]:
        """Return the path of the next value, and whether it is text."""
        if not self._stack:
            return (), False
        top = self._stack[-1]
        if isinstance(top.value, list):
            return (*top.path, len(top.value)), top.words
        key = top.key if isinstance(top.key, str) else "<<"
        inside_meta = "meta" in top.path
        return (*top.path, key), key in WORDS and not inside_meta

    def _expects_key(self) -> bool:
        return (
            bool(self._stack)
            and isinstance(self._stack[-1].value, dict)
            and not self._stack[-1].waiting
        )

    def _take_scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        self._count_nodes(1, line)
        if self._expects_key():
            self._take_key(event, line)
            return
        path, word = self._next_path()
        value = self._resolve(event, path, word, line)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put_value(value, line)

    def _take_key(self, event: yaml.ScalarEvent, line: int) -> None:
        top, key = self._stack[-1], event.value
        top.waiting = True
        if key == "<<" and event.implicit[0]:
            top.key = _MERGE
            return
        if event.anchor:
            self._anchors[event.anchor] = (key, 1)
        path = (*top.path, key)
        if key in top.value:
            first = self.places.get(path)
            self.problems.append(
                Problem("is given twice.", f"It is on line {first} already; keep one.", path, line)
            )
        self.places[path] = line
        top.key = key

    def _resolve(self, event: yaml.ScalarEvent, path: Path, word: bool, line: int) -> Any:
        tag = (event.tag or "").removeprefix(_STANDARD)
        if tag not in ("", "!", "str", "int", "float", "bool", "null"):
            self._stop_at_tag(event.tag, path, line)
        plain = event.implicit[0] if not tag else tag in ("int", "float", "bool", "null")
        if not plain:
            return event.value
        try:
            return resolve(event.value, word)
        except BadNumber as error:
            self.problems.append(Problem(str(error), "Use a finite number.", path, line))
            return None

    def _stop_at_tag(self, tag: str | None, path: Path, line: int) -> None:
        message = f"carries the tag {(tag or '!')[:80]!r}."
        mend = "Remove the tag: only plain text, numbers, lists and mappings are read."
        self.problems.append(Problem(message, mend, path, line))

    def _take_alias(self, anchor: str, line: int) -> None:
        path, _ = self._next_path()
        if anchor not in self._anchors:
            message = f"is the alias *{anchor}, which has no finished anchor &{anchor} before it."
            self.stop(message, "Define the anchor first; it cannot hold itself.", path, line)
        value, nodes = self._anchors[anchor]
        self._count_nodes(nodes, line)
        if self._expects_key():
            self.stop("uses an alias as a key.", "Write the key out.", path, line)
        self._put_value(value, line)

    def _open_collection(self, event: yaml.CollectionStartEvent, line: int) -> None:
        self._count_nodes(1, line)
        if self._expects_key():
            self.stop(
                "uses a list or mapping as a key.", "Use text as a key.", self._stack[-1].path, line
            )
        path, word = self._next_path()
        if len(self._stack) >= MAX_DEPTH:
            self.stop(TOO_DEEP, "Make it flatter.", (), line)
        if (event.tag or "").removeprefix(_STANDARD) not in ("", "!", "seq", "map"):
            self._stop_at_tag(event.tag, path, line)
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self.places.setdefault(path, line)
        self._stack.append(_Frame(value, path, word, self._nodes, event.anchor))

    def _close_collection(self) -> None:
        frame = self._stack.pop()
        if isinstance(frame.value, dict):
            for merged in frame.merges:
                for key, value in merged.items():
                    frame.value.setdefault(key, value)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, self._nodes - frame.nodes + 1)
        self._put_value(frame.value, self.places[frame.path])

    def _put_value(self, value: Any, line: int) -> None:
        if not self._stack:
            self.value = value
            self.places.setdefault((), line)
            return
        top = self._stack[-1]
        if isinstance(top.value, list):
            self.places.setdefault((*top.path, len(top.value)), line)
            top.value.append(value)
            return
        if top.key is _MERGE:
            self._merge_mapping(top, value, line)
        else:
            top.value[top.key] = value
        top.waiting = False

    def _merge_mapping(self, top: _Frame, value: Any, line: int) -> None:
        several = value if isinstance(value, list) else [value]
        if not all(isinstance(mapping, dict) for mapping in several):
            self.stop("merges (<<) what is not a mapping.", "Merge mappings only.", top.path, line)
        top.merges += several


def resolve(text: str, word: bool = False) -> Any:
    """Return a plain scalar's value: null, boolean, number (unless ``word``) or text.

    Raises:
        BadNumber: a number that is not finite or too large.

    >>> resolve("true"), resolve("yes"), resolve("010", word=True)
    (True, 'yes', '010')
    """
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if word:
        return text
    value = number(text)
    return text if value is None else value


def comment_lines(text: str) -> tuple[int, ...]:
    r"""Return the numbers (from 1) of lines with a comment; () for invalid YAML.

    A hash sign inside a value, quoted or in a block, is part of the value.

    >>> comment_lines("# mine\nname: 'a # b'\ntext: |\n  # no comment\nweight: 1 # why\n")
    (1, 5)
    """
    import yaml

    try:
        tokens = list(yaml.scan(text))
    except yaml.YAMLError:
        return ()
    values = [
        # A block's value begins below its indicator, which a comment may follow.
        (
            text.find("\n", token.start_mark.index)
            if token.style in ("|", ">")
            else token.start_mark.index,
            token.end_mark.index,
        )
        for token in tokens
        if isinstance(token, yaml.ScalarToken)
    ]
    lines, offset = list[int](), 0
    for row, line in enumerate(text.split("\n"), start=1):
        marks = [offset + match.end() - 1 for match in re.finditer(r"(?:^|[ \t])#", line)]
        if any(not any(start <= at < end for start, end in values) for at in marks):
            lines.append(row)
        offset += len(line) + 1
    return tuple(lines)

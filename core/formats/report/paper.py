"""A paper: headed sections of sentences, facts, tables and plots; and it as Markdown.

It holds finished words; nothing is computed or formatted any more. Every plot is followed by the
table with its numbers, so that a writer without pictures leaves plots out and loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from core.text.names import visible


class Words(NamedTuple):
    """What stands in a cell: ``text``, quieter words ``below``, and where it leads in the app.

    ``link`` are address parameters of the page with the items behind it, which is the run's unless
    ``to`` names another one; a file has no links.
    """

    text: str
    below: str = ""
    link: Mapping[str, str] = {}


@dataclass(frozen=True)
class Sentences:
    """Sentences one after the other; ``listed`` ones stand on lines of their own."""

    lines: tuple[str, ...]
    listed: bool = False


@dataclass(frozen=True)
class Facts:
    """Names with what is known of them."""

    name: str
    rows: tuple[tuple[str, Words], ...]


@dataclass(frozen=True)
class PaperTable:
    """Rows below heads; ``numbers`` are the columns that hold numbers; ``note`` explains them."""

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    numbers: tuple[int, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Histogram:
    """How many items fall into each (low, high, count); ``mean`` is marked."""

    name: str
    bins: tuple[tuple[float, float, int], ...]
    mean: float | None


class Reach(NamedTuple):
    """A value with its interval; ``mark`` is a second value to compare it with."""

    name: str
    value: float
    low: float | None
    high: float | None
    mark: float | None = None


@dataclass(frozen=True)
class Forest:
    """Values with their intervals below each other, on an axis from ``low`` to ``high``.

    ``axis`` says what the values are, ``marks`` what their second values are.
    """

    name: str
    rows: tuple[Reach, ...]
    low: float = 0.0
    high: float = 1.0
    marks: str = ""
    axis: str = ""


class BarPiece(NamedTuple):
    """A part of a bar: ``value`` in [0, 1] decides its shade, ``None`` is an abstention."""

    label: str
    value: float | None
    items: int
    option: int | None


@dataclass(frozen=True)
class Bars:
    """A bar per name, made of pieces."""

    name: str
    rows: tuple[tuple[str, tuple[BarPiece, ...]], ...]


Block = Sentences | Facts | PaperTable | Histogram | Forest | Bars


@dataclass(frozen=True)
class Section:
    """Blocks below a title."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Paper:
    """``title`` and ``subtitle`` are on top; ``made`` says by what and when, at the end."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    made: str = field(default="")

    def texts(self) -> tuple[str, ...]:
        """Every text that has to be in any written form of it; plots are in their tables."""
        found = [self.title, self.subtitle, self.made]
        for section in self.sections:
            found.append(section.title)
            for block in section.blocks:
                found += _texts(block)
        return tuple(text for text in found if text)


def _texts(block: Block) -> list[str]:
    if isinstance(block, Sentences):
        return list(block.lines)
    if isinstance(block, Facts):
        return [text for name, words in block.rows for text in (name, words.text, words.below)]
    if isinstance(block, PaperTable):
        cells = [text for row in block.rows for words in row for text in words[:2]]
        return [*block.heads, *cells, block.note]
    return []


#: What could be read as Markdown, HTML, or the edge of a cell.
_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~$&!@]")
#: Words that viewers make links of without any mark.
_LINKS = re.compile(r"(?i)\b(https?|ftp|www)(?=[:.])|:(?=\w+:)")
#: What starts a list, a number, a rule or a head where a line begins.
_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")


def markdown_paper(paper: Paper) -> str:
    r"""The paper as the text of a Markdown file; plots are left out, their tables are there.

    >>> from core.formats.report.paper import Section
    >>> print(markdown_paper(Paper("A *b*", "", (Section("S", (Sentences(("1 < 2",)),)),))))
    # A \*b\*
    <BLANKLINE>
    ## S
    <BLANKLINE>
    1 \< 2
    <BLANKLINE>
    """
    parts = [f"# {escaped(paper.title)}", escaped(paper.subtitle)]
    for section in paper.sections:
        parts.append(f"## {escaped(section.title)}")
        parts += [_block(block) for block in section.blocks]
    parts.append(escaped(paper.made))
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Sentences):
        return (
            "\n".join(f"- {_line(one)}" for one in block.lines)
            if block.listed
            else _paragraphs(block)
        )
    if isinstance(block, Facts):
        rows = tuple((Words(name), words) for name, words in block.rows)
        return _table(("", ""), rows, ())
    if isinstance(block, PaperTable):
        table = _table(block.heads, block.rows, block.numbers)
        return "\n\n".join(
            p for p in (f"**{escaped(block.name)}**", table, escaped(block.note)) if p
        )
    return ""


def _paragraphs(block: Sentences) -> str:
    return "\n\n".join(map(_line, block.lines))


def _table(
    heads: tuple[str, ...],
    rows: tuple[tuple[Words, ...], ...],
    numbers: tuple[int, ...],
) -> str:
    rule = ["---:" if at in numbers else "---" for at in range(len(heads))]
    lines = [[escaped(one) for one in heads], rule, *([_cell(one) for one in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(words: Words) -> str:
    below = f" ({escaped(words.below)})" if words.below else ""
    return escaped(words.text) + below


def _line(text: str) -> str:
    return _START.sub(r"\1\\\2", escaped(text)) if _START.match(text) else escaped(text)


def escaped(text: str) -> str:
    r"""The text on one line, so that Markdown shows exactly these characters.

    >>> escaped("a|b\n<i>")
    'a\\|b \\<i\\>'
    """
    line = " ".join(visible(text).split())
    safe = _MARKS.sub(lambda match: "\\" + match.group(), line)
    return _LINKS.sub(lambda match: match.group() + "&#8288;", safe)

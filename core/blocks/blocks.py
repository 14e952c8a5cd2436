"""Blocks of a result: sentences, facts, tables and plots in titled sections.

Blocks hold formatted text, so a writer computes nothing. Every plot is followed by a table of its
numbers, so a writer without pictures can skip plots and lose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Tone = Literal["", "neutral", "good", "warn", "bad"]


class IntervalCell(NamedTuple):
    """A value with its interval; ``mark`` is a second value to compare it with."""

    name: str
    value: float
    low: float | None
    high: float | None
    mark: float | None = None


class TextCell(NamedTuple):
    """A cell: its ``text``, a quieter line ``below``, and a link within the app.

    ``link`` holds URL parameters of the page that lists the items behind the cell: a page of the
    run, or the page named by ``to``. Exported files omit links. A page shows a cell with a ``tone``
    as a tag, and draws its ``reach`` as a bar from 0 to 1; the text says the same.
    """

    text: str
    below: str = ""
    link: Mapping[str, str] = {}
    tone: Tone = ""
    reach: IntervalCell | None = None

    @property
    def flat(self) -> str:
        """Return the whole cell on one line.

        >>> TextCell("0.50", "0.25 to 0.75").flat
        '0.50 (0.25 to 0.75)'
        """
        return f"{self.text} ({self.below})" if self.below else self.text


@dataclass(frozen=True)
class Sentences:
    """Sentences in a row, or one per line if ``listed``; a page folds those after the ``first``.

    ``quiet`` sentences explain the block above, ``warning`` sentences limit it. ``links`` lead from
    each listed sentence to where it is done (see ``Words``).
    """

    lines: tuple[str, ...]
    listed: bool = False
    kind: Literal["", "quiet", "warning"] = ""
    first: int | None = None
    links: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True)
class NamedValues:
    """Names with their values; a page shows ``large`` facts first, as figures."""

    name: str
    rows: tuple[tuple[str, TextCell], ...]
    large: bool = False


@dataclass(frozen=True)
class TableBlock:
    """A table: rows below heads.

    ``numbers`` are the columns that hold numbers. ``note`` explains the table. If there are more
    than ``first`` rows, a page and a terminal show the first ones and offer the rest.
    """

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[TextCell, ...], ...]
    numbers: tuple[int, ...] = ()
    note: str = ""
    first: int | None = None


@dataclass(frozen=True)
class Histogram:
    """Counts of items in bins (low, high, count); ``mean`` is marked."""

    name: str
    bins: tuple[tuple[float, float, int], ...]
    mean: float | None


@dataclass(frozen=True)
class Forest:
    """Values with their intervals below each other, on an axis from ``low`` to ``high``.

    ``axis`` says what the values are, ``marks`` what their second values are.
    """

    name: str
    rows: tuple[IntervalCell, ...]
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


Block = Sentences | NamedValues | TableBlock | Histogram | Forest | Bars


@dataclass(frozen=True)
class Section:
    """Blocks below a title; an ``annex`` is collapsed in formats that can expand it."""

    title: str
    blocks: tuple[Block, ...]
    annex: bool = False


@dataclass(frozen=True)
class Paper:
    """A document: ``title`` and ``subtitle``, sections, and ``made``, its program and time."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    made: str = field(default="")

    def texts(self) -> tuple[str, ...]:
        """Return every text that all written forms must contain; those of plots are in their
        tables.
        """
        texts = [self.title, self.subtitle, self.made]
        for section in self.sections:
            texts.append(section.title)
            for block in section.blocks:
                texts += _texts(block)
        return tuple(text for text in texts if text)


def _texts(block: Block) -> list[str]:
    if isinstance(block, Sentences):
        return list(block.lines)
    if isinstance(block, NamedValues):
        return [text for name, cell in block.rows for text in (name, cell.text, cell.below)]
    if isinstance(block, TableBlock):
        cells = [text for row in block.rows for cell in row for text in cell[:2]]
        return [*block.heads, *cells, block.note]
    return []

"""Blocks of a result: sentences, facts, tables and plots, below the titles of sections.

They hold finished words; nothing is computed or formatted any more. Every plot is followed by the
table with its numbers, so that a writer without pictures leaves plots out and loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Tone = Literal["", "neutral", "good", "warn", "bad"]


class Words(NamedTuple):
    """What stands in a cell: ``text``, quieter words ``below``, and where it leads in the app.

    ``link`` are address parameters of the page with the items behind it, which is the run's unless
    ``to`` names another one; a file has no links. A ``tone`` is how a page marks it, as a tag; the
    text says as much.
    """

    text: str
    below: str = ""
    link: Mapping[str, str] = {}
    tone: Tone = ""

    @property
    def flat(self) -> str:
        """All of it on one line.

        >>> Words("0.50", "0.25 to 0.75").flat
        '0.50 (0.25 to 0.75)'
        """
        return f"{self.text} ({self.below})" if self.below else self.text


@dataclass(frozen=True)
class Sentences:
    """Sentences one after the other; ``listed`` ones stand on lines of their own.

    ``quiet`` ones explain what stands above, ``warning`` ones limit it.
    """

    lines: tuple[str, ...]
    listed: bool = False
    kind: Literal["", "quiet", "warning"] = ""


@dataclass(frozen=True)
class Facts:
    """Names with what is known of them; ``large`` ones stand first on a page, as figures."""

    name: str
    rows: tuple[tuple[str, Words], ...]
    large: bool = False


@dataclass(frozen=True)
class TableBlock:
    """Rows below heads; ``numbers`` are the columns that hold numbers; ``note`` explains them.

    A page and a terminal show the ``first`` rows, if there are more, and offer the others.
    """

    name: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Words, ...], ...]
    numbers: tuple[int, ...] = ()
    note: str = ""
    first: int | None = None


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


Block = Sentences | Facts | TableBlock | Histogram | Forest | Bars


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
    if isinstance(block, TableBlock):
        cells = [text for row in block.rows for words in row for text in words[:2]]
        return [*block.heads, *cells, block.note]
    return []

"""Blocks as text for a terminal; plots are left out, their tables are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from core.blocks.blocks import Block, Facts, Section, Sentences, TableBlock, Words
from core.text.names import visible

#: No column is made wider than this; longer words, such as why there is no figure, reach over it.
WIDEST = 44
#: What explains a table is wrapped here.
WRAPPED = 96


def terminal_text(sections: Iterable[Section]) -> str:
    """The sections as lines, each below its title; blocks are apart by an empty line.

    >>> print(terminal_text([Section("Cost", (Facts("", (("Calls", Words("7")),)),))]))
    Cost
      Calls  7
    """
    written = (_section(section) for section in sections)
    return "\n\n".join("\n".join(lines) for lines in written if lines)


def _section(section: Section) -> list[str]:
    blocks = [block for block in section.blocks if any(True for _ in _lines(block))]
    if not section.title:
        return [line for block in blocks for line in _lines(block)]
    tables = sum(isinstance(block, TableBlock) for block in blocks)
    found = [section.title] if blocks else []
    for number, block in enumerate(blocks):
        found += [""] if number else []
        # Of several tables each has its name above it.
        if isinstance(block, TableBlock) and tables > 1:
            found.append(f"  {block.name}")
        found += [f"  {line}".rstrip() for line in _lines(block)]
    return found


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Sentences) and block.kind == "quiet":
        yield from wrap(visible(" ".join(block.lines)), WRAPPED)
    elif isinstance(block, Sentences):
        yield from (visible(line) for line in block.lines)
    elif isinstance(block, Facts):
        yield from _columns([(Words(name), words) for name, words in block.rows], ())
    elif isinstance(block, TableBlock) and block.rows:
        heads = tuple(map(Words, block.heads))
        rows = block.rows[: block.first]
        yield from _columns([heads, *rows], block.numbers)
        if len(rows) < len(block.rows):
            yield f"and {len(block.rows) - len(rows)} more (--json has all)"
        yield from wrap(visible(block.note), WRAPPED)


def _columns(rows: Sequence[Sequence[Words]], numbers: Sequence[int]) -> Iterator[str]:
    """Rows as columns of equal width, numbers to the right."""
    texts = [[" ".join(visible(words.flat).split()) for words in row] for row in rows]
    widths = [
        max((len(text) for text in column if len(text) <= WIDEST), default=0)
        for column in zip(*texts, strict=True)
    ]
    for row in texts:
        cells = (
            text.rjust(width) if at in numbers else text.ljust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()

"""Blocks as text for a terminal; plots are left out, since their tables follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from core.blocks.blocks import Block, NamedValues, Section, Sentences, TableBlock, TextCell
from core.text.names import visible

#: The widest column. Longer text, such as the reason for a missing figure, overflows.
WIDEST = 44
#: Notes below tables wrap at this width.
WRAPPED = 96


def terminal_text(sections: Iterable[Section]) -> str:
    """Return the sections as text, with an empty line between blocks.

    >>> print(terminal_text([Section("Cost", (NamedValues("", (("Calls", TextCell("7")),)),))]))
    Cost
      Calls  7
    """
    written = (_section(section) for section in sections)
    return "\n\n".join("\n".join(lines) for lines in written if lines)


def _section(section: Section) -> list[str]:
    blocks = [block for block in section.blocks if any(True for _ in _block_lines(block))]
    if not section.title:
        return [line for block in blocks for line in _block_lines(block)]
    tables = sum(isinstance(block, TableBlock) for block in blocks)
    lines = [section.title] if blocks else []
    for number, block in enumerate(blocks):
        lines += [""] if number else []
        # With several tables, each gets its name above it.
        if isinstance(block, TableBlock) and tables > 1:
            lines.append(f"  {block.name}")
        lines += [f"  {line}".rstrip() for line in _block_lines(block)]
    return lines


def _block_lines(block: Block) -> Iterator[str]:
    if isinstance(block, Sentences) and block.kind == "quiet":
        yield from wrap(visible(" ".join(block.lines)), WRAPPED)
    elif isinstance(block, Sentences):
        yield from (visible(line) for line in block.lines)
    elif isinstance(block, NamedValues):
        yield from _aligned_rows([(TextCell(name), cell) for name, cell in block.rows], ())
    elif isinstance(block, TableBlock) and block.rows:
        heads = tuple(map(TextCell, block.heads))
        rows = block.rows[: block.first]
        yield from _aligned_rows([heads, *rows], block.numbers)
        if len(rows) < len(block.rows):
            yield f"and {len(block.rows) - len(rows)} more (--json has all)"
        yield from wrap(visible(block.note), WRAPPED)


def _aligned_rows(rows: Sequence[Sequence[TextCell]], numbers: Sequence[int]) -> Iterator[str]:
    """Yield rows as columns of equal width, with numbers aligned to the right."""
    texts = [[" ".join(visible(cell.flat).split()) for cell in row] for row in rows]
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

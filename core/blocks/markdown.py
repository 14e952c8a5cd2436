"""Blocks as the text of a Markdown file."""

from __future__ import annotations

import re

from core.blocks.blocks import Block, NamedValues, Paper, Sentences, TableBlock, TextCell
from core.text.names import visible

#: Characters that Markdown or HTML could interpret as syntax, or that could end a table cell.
_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~$&!@]")
#: Words that viewers turn into links even without markup.
_LINKS = re.compile(r"(?i)\b(https?|ftp|www)(?=[:.])|:(?=\w+:)")
#: Text at the start of a line that begins a list, a numbered item, a rule or a heading.
_START = re.compile(r"^(\s*)([-+=]|\d+(?=[.)]))")


def markdown_paper(paper: Paper) -> str:
    r"""Return the paper as the text of a Markdown file.

    Plots are left out, since their tables follow.

    >>> from core.blocks.blocks import Section
    >>> print(markdown_paper(Paper("A *b*", "", (Section("S", (Sentences(("1 < 2",)),)),))))
    # A \*b\*
    <BLANKLINE>
    ## S
    <BLANKLINE>
    1 \< 2
    <BLANKLINE>
    """
    parts = [f"# {escape_markdown(paper.title)}", escape_markdown(paper.subtitle)]
    for section in paper.sections:
        parts.append(f"## {escape_markdown(section.title)}")
        parts += [_block(block) for block in section.blocks]
    parts.append(escape_markdown(paper.made))
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Sentences):
        return (
            "\n".join(f"- {_table_line(line)}" for line in block.lines)
            if block.listed
            else "\n\n".join(map(_table_line, block.lines))
        )
    if isinstance(block, NamedValues):
        rows = tuple((TextCell(name), cell) for name, cell in block.rows)
        return _table(("", ""), rows, ())
    if isinstance(block, TableBlock):
        table = _table(block.heads, block.rows, block.numbers)
        return "\n\n".join(
            p
            for p in (f"**{escape_markdown(block.name)}**", table, escape_markdown(block.note))
            if p
        )
    return ""


def _table(
    heads: tuple[str, ...],
    rows: tuple[tuple[TextCell, ...], ...],
    numbers: tuple[int, ...],
) -> str:
    rule = ["---:" if at in numbers else "---" for at in range(len(heads))]
    lines = [
        [escape_markdown(cell) for cell in heads],
        rule,
        *([escape_markdown(cell.flat) for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _table_line(text: str) -> str:
    return (
        _START.sub(r"\1\\\2", escape_markdown(text))
        if _START.match(text)
        else escape_markdown(text)
    )


def escape_markdown(text: str) -> str:
    r"""Return the text on one line, escaped so that Markdown shows it literally.

    >>> escape_markdown("a|b\n<i>")
    'a\\|b \\<i\\>'
    """
    line = " ".join(visible(text).split())
    safe = _MARKS.sub(lambda match: "\\" + match.group(), line)
    return _LINKS.sub(lambda match: match.group() + "&#8288;", safe)

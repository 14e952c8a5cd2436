"""Tables, lists and headed texts in Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from core.errors import InputError, Problem
from core.formats.source.csv_reader import bad_columns, read_csv
from core.formats.source.heading import headings_of
from core.formats.source.heading_words import PROMPTS, TOPICS, has_word
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_RUBRIC_BYTES, TableRows, refusal

_MARKDOWN = ("md", "markdown")
#: Endings of files with tables or documents of their own kind.
_OTHERS = frozenset(
    ("csv", "tsv", "tab", "json", "jsonl", "ndjson", "yaml", "yml", "xlsx", "ods", "docx", "pdf")
)
#: The line below the headings of a table.
_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?")
_RULE_IN_BYTES = re.compile(rb"^[ \t|:]*-+[ \t:]*\|", re.M)
_BAR = re.compile(r"(?<!\\)\|")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_WHOLE = re.compile(r"([*_`])(?=\S)(.+)(?<=\S)\1")
_HEADING = re.compile(r" {0,3}(#{1,6})\s(.*)")
#: Cells without marks of emphasis inside, however many stars they have.
_LONG = 10_000
_FENCE = re.compile(r" {0,3}(```|~~~)")


class MarkdownTable(NamedTuple):
    """The rows of a table by line, headings first, and the line of text before it."""

    title: str
    rows: dict[int, list[str]]


class _Parts(NamedTuple):
    """The tables of a text, and its other lines by number."""

    tables: tuple[MarkdownTable, ...]
    words: dict[int, str]


def markdown_tables(opened: Opened) -> tuple[MarkdownTable, ...]:
    r"""Return the tables in a text with bars and a rule below the headings.

    >>> markdown_tables(Opened("Intro\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "x.md"))[0].rows
    {3: ['a', 'b'], 5: ['1', '2']}
    """
    return opened.once(_parts_in).tables


def words_around(opened: Opened, used: Collection[str] = ()) -> tuple[Problem, ...]:
    """Return the notice of the lines outside of the tables that are not ``used``."""
    return left_out([line for line in opened.once(_parts_in).words.values() if line not in used])


#: A notice quotes left-out lines in full up to this many characters; otherwise it quotes the
#: beginnings of at most this many lines.
_QUOTED, _BEGUN = 200, 30


def left_out(lines: Sequence[str], around: str = "the table") -> tuple[Problem, ...]:
    """Return the notice of lines that are left out; the beginning of each if they are long."""
    text = " / ".join(lines)
    if len(text) > _QUOTED:
        text = " / ".join(f"{line[:97]}..." if len(line) > 100 else line for line in lines[:_BEGUN])
    more = f" and {len(lines) - _BEGUN:,} more lines" if len(lines) > _BEGUN else ""
    return (Problem(f"What stands around {around} is left out: {text!r}{more}."),) if text else ()


def _parts_in(opened: Opened) -> _Parts:
    may_be = opened.ending not in _OTHERS and opened.size <= MAX_RUBRIC_BYTES
    if not may_be or opened.archive is not None or not _RULE_IN_BYTES.search(opened.head):
        return _Parts((), {})
    lines = opened.text("table", MAX_RUBRIC_BYTES, table=True).splitlines()
    tables, words = list[MarkdownTable](), dict[int, str]()
    at = 0
    while at < len(lines):
        heads = _row_cells(lines[at])
        if len(heads) > 1 and _is_rule(lines[at + 1 : at + 2], len(heads)):
            end = next((n for n in range(at + 2, len(lines)) if "|" not in lines[n]), len(lines))
            rows = {n + 1: _row_cells(lines[n]) for n in (at, *range(at + 2, end))}
            tables.append(MarkdownTable(next(reversed(words.values()), ""), rows))
            at = end
            continue
        if line := lines[at].strip(" #*\t"):
            words[at + 1] = line
        at += 1
    return _Parts(tuple(tables), words)


def _is_rule(lines: Sequence[str], wide: int) -> bool:
    return bool(lines and _RULE.fullmatch(lines[0].strip())) and len(_row_cells(lines[0])) == wide


def _row_cells(line: str) -> list[str]:
    """Return the cells of a row without outer bars and marks of emphasis."""
    inside = line.strip()
    inside = inside.removeprefix("|")
    inside = inside[:-1] if inside.endswith("|") and not inside.endswith("\\|") else inside
    return [_plain_cell(cell) for cell in _BAR.split(inside)]


def _plain_cell(cell: str) -> str:
    text = re.sub(r"<br ?/?>", " ", cell).replace("\\|", "|").strip()
    text = _BOLD.sub(r"\1", text) if len(text) < _LONG else text
    whole = _WHOLE.fullmatch(text)
    return whole[2] if whole else text


def text_table(opened: Opened, text: str, most: int | None) -> TableRows:
    """Return the rows of the only table in Markdown, or of CSV.

    Raises:
        InputError: several tables, prose without a table, or a fault of CSV.
    """
    tables = markdown_tables(opened)
    if len(tables) > 1:
        mend = "Keep one of them in a file."
        raise refusal("table", [Problem(f"holds {len(tables)} tables.", mend)], opened.name)
    if tables:
        return _rows_of(tables[0], opened)
    try:
        rows = read_csv(text, opened.name, most, opened.delimiter)
    except InputError:
        is_prose = opened.ending == "txt" and len(opened.columns) == 1
        if not is_prose and opened.ending not in _MARKDOWN:
            raise
        raise _no_table_error(opened) from None
    if opened.ending in _MARKDOWN and len(rows.columns) == 1:
        raise _no_table_error(opened)
    return rows


def _no_table_error(opened: Opened) -> InputError:
    mend = (
        "Give each text a file of its own in a folder, or in a .md file a heading of its own (## "
        "Name), or write a table."
    )
    return refusal("dataset", [Problem("holds prose, no table.", mend)], opened.name)


def _rows_of(table: MarkdownTable, opened: Opened) -> TableRows:
    (line, heads), *body = table.rows.items()
    columns = headings_of(heads)
    problems = bad_columns(columns, line)
    message = f"cells, but the header names {len(columns)} columns."
    mend = r"Write a bar inside a cell as \|."
    problems += [
        Problem(f"has {len(row)} {message}", mend, (), n)
        for n, row in body
        if len(row) > len(heads)
    ]
    if not body:
        problems.append(Problem("has a header, but no rows.", "Add one row per item.", (), line))
    if problems:
        raise refusal("table", problems, opened.name)
    rows = tuple(
        dict(zip(columns, [*row, *[""] * (len(columns) - len(row))], strict=True))
        for _, row in body
    )
    around = tuple(opened.once(_parts_in).words.values())
    lines = tuple(n for n, _ in body)
    return TableRows(columns, rows, lines, words_around(opened), told=around)


def headed_texts(opened: Opened) -> TableRows | None:
    """Return the texts below headings of one level in a Markdown file; ``None`` for other files.

    At least two headings have words below them. The level is the highest that has. A line such as
    `Topic: the sea` above the first heading is the prompt of all.
    """
    if opened.ending not in _MARKDOWN or markdown_tables(opened):
        return None
    lines = opened.once(_lines_in)
    headings = list(_headings(lines))
    for level in range(1, 7):
        parts = [(at, title) for at, depth, title in headings if depth == level]
        ends = [at for at, depth, _ in headings if depth <= level] + [len(lines)]
        texts = ["\n".join(lines[at + 1 : ends[bisect_right(ends, at)]]).strip() for at, _ in parts]
        if sum(map(bool, texts)) > 1:
            return _texts_as_rows(parts, texts, lines, level)
    return None


def _lines_in(opened: Opened) -> list[str]:
    return opened.text("dataset", MAX_RUBRIC_BYTES, table=True).splitlines()


class ListSection(NamedTuple):
    """A heading, with the text and the list entries below it by line number. ``outer`` is the
    heading above.
    """

    title: str
    outer: str
    line: int
    words: dict[int, str]
    entries: dict[int, str]


_ENTRY = re.compile(r"(\s*)(?:[-*+\u2022]|\d{1,2}[.)])\s+(?:\[[ xX]?\]\s+)?(\S.*)")
_LIST_IN_BYTES = re.compile(rb"^[ \t]*(?:[-*+]|\d{1,2}[.)]|\xe2\x80\xa2)[ \t]+\S", re.M)
_BOLD_LINE = re.compile(
    r"\s*((?:\*\*|__)(?=\S)[^*_]+(?:\*\*|__):?(?:\s*\([^()]{1,40}\)|\s*/\s*\d+)?)\s*"
)


def sections_in(opened: Opened) -> tuple[ListSection, ...]:
    r"""Return the parts of a Markdown file with their lists; none for other files.

    A part begins at a heading, a line in bold type, or an entry of a list with entries below it.

    >>> [found] = sections_in(Opened("# Essay\n## Voice\nHow loud?\n- 2: loud\n- 1: low", "x.md"))
    >>> found.title, found.words, found.entries
    ('Voice', {3: 'How loud?'}, {4: '2: loud', 5: '1: low'})
    """
    may_be = opened.ending in _MARKDOWN and opened.size <= MAX_RUBRIC_BYTES
    if not may_be or not _LIST_IN_BYTES.search(opened.head) or markdown_tables(opened):
        return ()
    lines = opened.once(_lines_in)
    heads = {at: (depth, title) for at, depth, title in _headings(lines)}
    for at, line in enumerate(lines):
        entry, below = (
            _ENTRY.match(line),
            _ENTRY.match(lines[at + 1]) if at + 1 < len(lines) else None,
        )
        if bold := _BOLD_LINE.fullmatch(line):
            heads[at] = (7, bold[1])
        elif entry and below and len(below[1]) > len(entry[1]):
            heads[at] = (8, entry[2])
    starts = sorted(heads)
    parts = [_section(lines, at, end, heads) for at, end in pairwise([*starts, len(lines)])]
    return tuple(part for part in parts if part.words or part.entries)


def _section(
    lines: Sequence[str], at: int, end: int, heads: Mapping[int, tuple[int, str]]
) -> ListSection:
    depth, title = heads[at]
    above = [n for n in heads if n < at and heads[n][0] < depth]
    outer = max(above, default=None)
    top = min(level for level, _ in heads.values())
    words, entries, last = dict[int, str](), dict[int, str](), None
    for n in range(at + 1, end):
        text = _plain_cell(lines[n])
        if entry := _ENTRY.match(lines[n]):
            last = n + 1
            entries[last] = _plain_cell(entry[2])
        elif text and last and lines[n].startswith((" ", "\t")):
            entries[last] += f" {text}"
        elif text:
            words[n + 1] = text.strip(">#*_ ")
        last = last if text else None
    group = "" if outer is None or heads[outer][0] == top else heads[outer][1]
    return ListSection(_plain_cell(title).rstrip(": "), _plain_cell(group), at + 1, words, entries)


def are_below_one_heading(opened: Opened, titles: Collection[str]) -> bool:
    """Return whether titles are headings of one level in Markdown, below one heading of the whole.

    >>> lines = ("# Review", "## Code", "## Talk")
    >>> are_below_one_heading(Opened(chr(10).join(lines), "x.md"), ["Code", "Talk"])
    True
    """
    if opened.ending not in _MARKDOWN:
        return False
    headings = [(depth, words.strip("* ")) for _, depth, words in _headings(opened.once(_lines_in))]
    depths = [depth for depth, words in headings if words in titles]
    above = [depth for depth, _ in headings if depth < min(depths, default=0)]
    return len(depths) == len(titles) and len({*depths}) == len(above) == 1


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the line, the level and the words of each heading outside of code."""
    in_code = False
    for at, line in enumerate(lines):
        in_code ^= bool(_FENCE.match(line))
        match = None if in_code else _HEADING.fullmatch(line)
        words, _, end = match[2].strip().rpartition(" ") if match else ("", "", "")
        title = words if {*end} == {"#"} else f"{words} {end}"
        if match and title.strip():
            yield at, len(match[1]), title.strip()


def _texts_as_rows(
    parts: Sequence[tuple[int, str]], texts: Sequence[str], lines: Sequence[str], level: int
) -> TableRows:
    above = [line.strip() for line in lines[: parts[0][0]] if line.strip()]
    prompt = next((p for line in above if (p := _prompt_in(line))), "")
    asked = {"prompt": prompt} if prompt else {}
    rows = tuple(
        {"id": title, "submission": text, **asked}
        for (_, title), text in zip(parts, texts, strict=True)
    )
    notices = [Problem(f"Read as {len(rows):,} texts, one below each heading with {'#' * level}.")]
    unused = " / ".join(
        line.strip("# ") for line in above if _prompt_in(line) != prompt or not prompt
    )
    if prompt:
        notices.append(Problem(f"The prompt of all is {prompt[:200]!r}."))
    if unused:
        notices.append(Problem(f"What stands above them is left out: {unused[:200]!r}."))
    columns = ("id", "submission", *asked)
    return TableRows(columns, rows, tuple(at + 1 for at, _ in parts), tuple(notices))


def _prompt_in(line: str) -> str:
    """Return what was asked in a line such as `Topic: the sea`, or ""."""
    head, colon, asked = line.strip("*_ ").partition(":")
    named = len(head) < 40 and (has_word(head, TOPICS, whole=True) or has_word(head, PROMPTS))
    return asked.strip("*_ ") if colon and named else ""

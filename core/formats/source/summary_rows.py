"""Rows of a table that are not items: means at the foot, points possible, further headings."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import RATERS, has_word, heads_a_summary, plain_heading

Row = Mapping[str, Any]
#: The most summary rows at the head, or at the foot.
_MOST = 6
#: The beginning of a cell in the row of ids that Qualtrics writes below its headings.
IMPORT_ID = re.compile(r'\{"importid" ?:', re.IGNORECASE)
#: The beginning of the description of a row of points possible, or of other scales.
_POSSIBLE_ROW, _SCALES_ROW = "points possible: ", "scales: "
#: Points possible: `/10`, `max. 10`, `out of 10 points`.
_POSSIBLE = re.compile(
    r"(?:/|max(?:imum|\.)?:?|out of|von|sur|de|su) ?\d+(?:[.,]\d+)?(?: ?[^\W\d]+\.?)?"
)
#: `1-5`, and words in order beside such cells: `yes / rather / no`.
_RANGE = re.compile(r"[(\[]?-?\d+ ?(?:[-–—~]|to|bis|a|à|do|tot|до|至) ?\d+[)\]]?")
_LIST = re.compile(r"[^\d/|<>]+(?:[/|<>][^\d/|<>]+)+")
_SCALE_ROW = re.compile(r"(scale|range|skala|echelle|escala|scala|schaal|шкала|量表|尺度)s?")


def summary_rows(
    columns: Sequence[str], rows: Sequence[Row], lines: Sequence[int | None] = ()
) -> dict[int, str]:
    """Return the rows that are not items, by index, with a description.

    ``lines`` are the rows' lines in the file, which show where blank rows were.

    >>> marks = [{"id": "a", "kim": "3"}, {"id": "b", "kim": "4"}, {"id": "Mean", "kim": "3.5"}]
    >>> summary_rows(["id", "kim"], marks)
    {2: 'Mean'}
    """
    kinds = dict(_repeated_headings(columns, rows))
    items = range(len(kinds), len(rows))
    for at in items[:_MOST]:
        if (summary := _summary_of(columns, rows, at, items)) is None:
            break
        kinds[at] = summary
    remarks = _remarks_below(columns, rows, lines)
    kinds |= remarks
    foot = min(remarks, default=len(rows))
    for at in [at for at in items[-_MOST - len(remarks) :] if at not in remarks]:
        above = range(items.start, min(foot, at))
        summary = _summary_of(columns, rows, at, above)
        if summary is None and (foot < at or at == len(rows) - 1 - len(remarks)):
            summary = _remark_below_items(columns, rows, at, above, below=foot < at)
        if summary is not None:
            kinds[at], foot = summary, min(foot, at)
    return kinds | _means_of_raters(columns, rows)


#: `Panel mean`, among the names of raters.
_MEAN = re.compile(
    r"(\w+ )?(mean|average|avg|median|total|moyenne|mittelwert|durchschnitt|media|promedio"
    r"|gemiddelde|srednia)( \w+)?"
)


def _means_of_raters(columns: Sequence[str], rows: Sequence[Row]) -> dict[int, str]:
    """Return the rows that the column of raters calls means, if most are means of the rows above.

    Elsewhere such a word may be an answer: *average*.
    """
    raters = [c for c in columns if has_word(c, RATERS)]
    names = [str(row.get(raters[0]) or "") for row in rows] if len(raters) == 1 else []
    means = {name for name in {*names} if _MEAN.fullmatch(plain_heading(name))}
    found = {at: name.strip() for at, name in enumerate(names) if name in means}
    starts = [0, *(at + 1 for at in found)]
    fits = [
        any(
            _is_summary(n, rows[start:at], c, only_mean=True)
            for c in columns
            if (n := _number_in(rows[at], c)) is not None
        )
        for start, at in zip(starts, found, strict=False)
    ]
    return found if found and 2 * sum(fits) > len(fits) and 2 * len(found) < len(rows) else {}


def scale_cells(
    columns: Sequence[str], rows: Sequence[Row], summaries: Mapping[int, str]
) -> dict[str, str]:
    """Return the scale or the points possible by column, if one of the summary rows gives them.

    >>> rows = [{"id": "Points Possible", "essay": "20"}, {"id": "7", "essay": "13"}]
    >>> scale_cells(["id", "essay"], rows, {0: "Points Possible"})
    {'essay': 'max 20'}
    """
    for at, description in summaries.items():
        if description.startswith((_POSSIBLE_ROW, _SCALES_ROW)) or heads_a_summary(
            description, maxima=True
        ):
            cells = {c: str(rows[at].get(c) or "").strip() for c in columns}
            numbers = {c: re.search(r"\d+(?:[.,]\d+)?", cell) for c, cell in cells.items()}
            most = {c: f"max {m[0]}" for c, m in numbers.items() if m}
            told = {c: cell for c, cell in cells.items() if _is_scale(cell)}
            return most | told
    return {}


def left_out_notices(reasons: Mapping[int, str], lines: Sequence[int | None]) -> list[Problem]:
    """Return the notice about rows that were left out."""
    if not reasons:
        return []
    listed = ", ".join(
        f"{description!r}" + (f" (line {lines[at]})" if lines[at] else "")
        for at, description in sorted(reasons.items())
    )
    are = "1 row is" if len(reasons) == 1 else f"{len(reasons)} rows are"
    return [Problem(f"{are} no item and left out: {listed}.", "", (), lines[min(reasons)])]


def _repeated_headings(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Yield further rows of headings, as Qualtrics and SurveyMonkey write them."""
    ids = [at for at, row in enumerate(rows[:3]) if IMPORT_ID.search(str([*row.values()][:1]))]
    if ids:
        yield from ((at, "further headings") for at in range(ids[0] + 1))
    elif (
        len(rows) > 3
        and not _is_filled(rows[0], columns[0])
        and not _points_possible(columns, rows[0])
    ):
        numeric = [c for c in columns if all(_number_in(row, c) is not None for row in rows[1:50])]
        all_filled = all(_is_filled(row, columns[0]) for row in rows[1:50])
        words = [c for c in numeric if _is_filled(rows[0], c) and _number_in(rows[0], c) is None]
        if all_filled and words:
            yield 0, "further headings"


def _points_possible(columns: Sequence[str], row: Row) -> str:
    """Return the points possible, or the scales, in a row that holds nothing else, or "".

    >>> _points_possible(["id", "Ideas", "Style"], {"id": "", "Ideas": "/10", "Style": "max 5"})
    'points possible: Ideas /10, Style max 5'
    >>> _points_possible(["id", "Tone", "Hire"], {"id": "Scale", "Tone": "1-5", "Hire": "no / yes"})
    'scales: Tone 1-5, Hire no / yes'
    """
    cells = {c: str(row[c]).strip() for c in columns if _is_filled(row, c)}
    given = {
        c: cell
        for c, cell in cells.items()
        if c != columns[0]
        or not (heads_a_summary(cell) or _SCALE_ROW.fullmatch(plain_heading(cell)))
    }
    numbers = [c for c, cell in given.items() if _POSSIBLE.fullmatch(cell.lower())]
    scales = [c for c, cell in given.items() if c not in numbers and _is_scale(cell)]
    ranges = [c for c in scales if columns[0] not in given and _RANGE.fullmatch(given[c])]
    possible = len(numbers) == len(given) or (
        bool(numbers or ranges) and columns[0] not in given and len(numbers + scales) == len(given)
    )
    if not possible or len(given) < 2:
        return ""
    return (_SCALES_ROW if scales else _POSSIBLE_ROW) + ", ".join(map(" ".join, given.items()))


def _is_scale(cell: str) -> bool:
    return bool(_RANGE.fullmatch(cell) or _LIST.fullmatch(cell))


def _remark_below_items(
    columns: Sequence[str], rows: Sequence[Row], at: int, items: Sequence[int], *, below: bool
) -> str | None:
    """Return the words of a row below the items that is mostly empty, or ``None``.

    ``below``: the row is below a summary, where a row without an id is no item.
    """
    neighbours = [rows[n] for n in items[-50:]]
    full = [c for c in columns if len(neighbours) > 3 and _is_mostly_filled(neighbours, c)]
    gaps = [c for c in full if not _is_filled(rows[at], c)]
    if not (below and columns[0] in gaps) and (len(full) < 3 or 2 * len(gaps) < len(full)):
        return None
    return (
        " ".join(str(rows[at][c]).strip() for c in columns if _is_filled(rows[at], c))[:200] or None
    )


#: `Note: the second sheet is newer`, `* handed in late`.
_REMARK = re.compile(r"\*|[^\W\d_][^:]{1,20}: ")


def _remarks_below(
    columns: Sequence[str], rows: Sequence[Row], lines: Sequence[int | None]
) -> dict[int, str]:
    """Return the lines below a table: each a lone cell, below a blank row or unlike those above.

    >>> above = [{"id": f"e{n}", "kim": "3", "lee": "4"} for n in range(4)]
    >>> below = {"id": "Kim was ill on the last day.", "kim": "", "lee": ""}
    >>> _remarks_below(["id", "kim", "lee"], [*above, below], ())
    {4: 'Kim was ill on the last day.'}
    """
    cells, end = dict[int, str](), len(rows)
    while end > 3 and len(cells) < _MOST and (cell := _lone_cell(columns, rows[end - 1])):
        end -= 1
        cells[end] = cell
    above = rows[:end]
    full = sum(sum(_is_filled(row, c) for c in columns) > 1 for row in above)
    if not cells or 10 * full < 9 * len(above):
        return {}
    firsts = [str(row.get(columns[0]) or "").strip() for row in above]
    spaced = {at for at in range(1, len(lines)) if _is_below_blank(rows, lines, at)}
    first = next(
        (
            at
            for at, cell in sorted(cells.items())
            if (at in spaced and not any(n < end for n in spaced)) or _is_unlike(cell, firsts)
        ),
        len(rows),
    )
    return {at: cell[:200] for at, cell in cells.items() if at >= first}


def _lone_cell(columns: Sequence[str], row: Row) -> str:
    """Return the only cell of a row, or ""."""
    filled = [c for c in columns if _is_filled(row, c)]
    return str(row[filled[0]]).strip() if len(filled) == 1 < len(columns) else ""


def _is_below_blank(rows: Sequence[Row], lines: Sequence[int | None], at: int) -> bool:
    """Return whether a blank row is above a row; line breaks in cells are none."""
    line, before = lines[at], lines[at - 1]
    broken = max((str(cell).count("\n") for cell in rows[at - 1].values()), default=0)
    return line is not None and before is not None and line > before + 1 + broken


def _is_unlike(cell: str, firsts: Sequence[str]) -> bool:
    """Return whether a cell is a sentence below names, or begins as only a remark does."""
    longest = max(map(len, firsts))
    sentence = len(cell.split()) > 3 and len(cell) > max(24, 1.5 * longest)
    return sentence or bool(_REMARK.match(cell) and not any(map(_REMARK.match, firsts)))


def _has_gaps(columns: Sequence[str], rows: Sequence[Row], at: int, items: Sequence[int]) -> bool:
    """Return whether a row is empty in columns that most items fill."""
    neighbours = [rows[n] for n in items if n != at]
    return any(not _is_filled(rows[at], c) and _is_mostly_filled(neighbours, c) for c in columns)


#: Words and signs of a mean beside others, as in `Ø Rang` or `mean rank`.
_MEAN_SIGN = re.compile(
    r"(?<!\w)(ø|⌀|∅|μ|x|m|mw|avg|average|mean|(mittel|durchschnitt|schnitt|moyen|gemiddeld|sredni"
    r"|średni|средн|medel)\w*|media|medio|promedio|ortalama|gjennomsnitt|gennemsnit|keskiarvo)"
    r"(?!\w)|平均|평균"
)


def _summary_of(
    columns: Sequence[str], rows: Sequence[Row], at: int, items: Sequence[int]
) -> str | None:
    """Return what a row summarises, by its first cell or its numbers, or ``None``."""
    row = rows[at]
    if possible := _points_possible(columns, row):
        return possible
    filled = [c for c in columns if _is_filled(row, c)]
    first = str(row[filled[0]]).strip() if filled else ""
    item_rows = [rows[n] for n in items if n != at]
    if _MEAN_SIGN.search(plain_heading(first)):
        numbers = {c: n for c in filled if (n := _number_in(row, c)) is not None}
        if len(numbers) > 1 and all(
            _is_summary(n, item_rows, c, only_mean=True) for c, n in numbers.items()
        ):
            return first
    if not (heads_a_summary(first) or columns[0] not in filled):
        return None
    if heads_a_summary(first) and filled[1:] and all(_is_day(row, c) for c in filled[1:]):
        return first  # when each work was due
    numbers = {c: n for c in filled if (n := _number_in(row, c)) is not None}
    if len(item_rows) < 2 or not numbers:
        return None
    if heads_a_summary(first):
        words = [c for c in filled[1:] if c not in numbers and not _is_bracketed_remark(row, c)]
        fits = any(_is_summary(n, item_rows, c) for c, n in numbers.items())
        ids = all(any(map(str.isdigit, str(item[columns[0]]))) for item in item_rows)
        no_item = fits or ids or _has_gaps(columns, rows, at, items)
        return first if not words and no_item else None
    if len(numbers) < 2 or len(numbers) < len(filled):
        return None
    means = all(_is_summary(n, item_rows, c, only_mean=True) for c, n in numbers.items())
    return "means of the columns" if means and _is_mostly_filled(item_rows, columns[0]) else None


def _is_summary(
    number: float, other_rows: Sequence[Row], column: str, *, only_mean: bool = False
) -> bool:
    """Return whether a number is a mean or another summary of a column."""
    values = [n for row in other_rows if (n := _number_in(row, column)) is not None]
    if len(values) < 2:
        return False
    mean = statistics.fmean(values)
    summaries = [mean]
    if not only_mean:
        statistics_of_column = [
            statistics.median(values),
            statistics.stdev(values),
            statistics.pstdev(values),
        ]
        summaries += [sum(values), len(values), min(values), max(values), *statistics_of_column]
        if number >= max(values):
            return True  # at or above every item: the full marks, or a total
    return any(abs(number - summary) <= max(0.051, 0.001 * abs(summary)) for summary in summaries)


def _is_mostly_filled(rows: Sequence[Row], column: str) -> bool:
    return sum(_is_filled(row, column) for row in rows) * 5 >= 4 * len(rows)


def _is_filled(row: Row, column: str) -> bool:
    return str(row.get(column) if row.get(column) is not None else "").strip() != ""


def _is_bracketed_remark(row: Row, column: str) -> bool:
    """Return whether a cell is only a remark in brackets, such as "(read only)"."""
    cell = str(row[column]).strip()
    return cell.startswith("(") and cell.endswith(")")


def _number_in(row: Row, column: str) -> float | None:
    return None if row.get(column) is None else number_of(str(row[column]))


def _is_day(row: Row, column: str) -> bool:
    return (
        re.fullmatch(r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4}", str(row[column]).strip())
        is not None
    )

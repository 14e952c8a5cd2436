"""Words, signs and codes that mean no answer in the cells of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.domain.rubric import Rubric
from core.errors import Problem
from core.formats.columns.label_words import ABSENT, MOST_STEPS, NO_ANSWER
from core.formats.columns.plain_marks import with_plain_marks
from core.formats.columns.text_columns import text_shape
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PEOPLE, RATERS, has_word, plain_heading
from core.formats.tables.table import Table
from core.text.names import fold

#: Numbers that survey programs write for a missing answer, and those that come with them.
_CODES, _MORE_CODES = re.compile(r"-?9+(\.0)?|-8+"), frozenset({"77", "88", "97", "98"})
#: The longest level.
_LONGEST = 40
#: A column that begins with so many of an unknown word need not be read to its end.
_SOME = 20
#: A word that is no grade and no number with a sign, such as *withdrawn*.
_UNKNOWN = re.compile(r"[^\W\d_]{3}[^\W\d_ .()'’-]*(?:[ .()'’-]+[^\W\d_]+){0,3}\.?")
#: `R = recused`, in a line beside a table: the letter, which means a word.
_TOLD = re.compile(r"(?<!\w)([^\W\d_]{1,2}) ?[=:] ?[^\W\d_]{3}")
#: The number of first rows that show whether a column holds numbers.
_FIRST = 50
#: A code such as 99 is at least this many times larger than every mark.
_FAR = 4.9


def without_absences(
    table: Table, rubric: Rubric | None = None, kept: Collection[str] = ()
) -> Table:
    """Return the table with blanks for absences in columns of numbers: "absent", or a code.

    A code is 99 or -9, far outside the other numbers. Options of the rubric and values in ``kept``
    stay. A word stays if its column has other words.

    >>> rows = tuple({"kim": mark, "lee": "2"} for mark in ("4", "5", "4", "ABS", "99"))
    >>> table = Table("x.csv", "csv", ("kim", "lee"), rows, (2, 3, 4, 5, 6))
    >>> [row["kim"] for row in without_absences(table).rows]
    ['4', '5', '4', '', '']
    """
    table = _with_minus(table, rubric, kept)
    known = {o.label for c in rubric.criteria for o in c.options} if rubric else set[str]()
    known |= {*kept}
    options = {*map(fold, known)}
    table = with_plain_marks(table, known)
    answers = [c for c in table.columns if not _heads_row_numbers(c)]
    told = {fold(code) for line in table.told for code in _TOLD.findall(line)}
    found = {c: _absence_words((row.get(c) for row in table.rows), options, told) for c in answers}
    if codes := {w for words in found.values() for w in words if number_of(w) is not None}:
        # A code of one column is also a code in columns where only one other mark occurs.
        left = [c for c in answers if not found[c]]
        found |= {
            c: _absence_words((row.get(c) for row in table.rows), options, told, codes)
            for c in left
        }
    absences = Counter[str]()
    for words in found.values():
        absences.update(words)
    away = _absent_rows(table, answers, options)
    more = (pair for cells in away.values() for pair in cells.items())
    absences.update(word for c, word in more if word not in found.get(c, ()))
    if not absences:
        return table
    rows = tuple(
        {
            c: "" if _cell_word(cell) in found.get(c, ()) or c in away.get(at, ()) else cell
            for c, cell in row.items()
        }
        for at, row in enumerate(table.rows)
    )
    listed = ", ".join(f"{word!r} {times:,}" for word, times in absences.most_common(10))
    code = next((word for word in absences if number_of(word) is not None), None)
    mend = f"If {code} is an answer: --map-label {code}={code}." if code else ""
    notice = Problem(f"Beside numbers, these words are taken as no answer: {listed}.", mend)
    return replace(table, rows=rows, notices=(*table.notices, notice))


#: These can be answers in words.
_WORDS_TOO = {
    *("away", "missing", "pending", "nil", "ex", "exc", "ka", "nn", "yok", "disp", "exempt"),
    *("no response", "no data", "nb", "ns", "nc", "np", "nr", "нет ответа"),
}


def without_absent_texts(table: Table, column: str | None) -> Table:
    """Return the table without texts that only say that somebody was absent, with a notice.

    >>> rows = tuple({"essay": text} for text in ("It rains a lot.", "We sang a song.", "ABS"))
    >>> table = without_absent_texts(Table("x.csv", "csv", ("essay",), rows, (2, 3, 4)), "essay")
    >>> [row["essay"] for row in table.rows]
    ['It rains a lot.', 'We sang a song.', None]
    """
    rows = table.rows if table.flat and column else ()
    words = Counter(_cell_word(row.get(column or "")) for row in rows)
    away = {w: n for w, n in words.items() if fold(w) in ABSENT - _WORDS_TOO and w[:1].isalpha()}
    shape = text_shape(table, column) if away and column else None
    if column is None or shape is None or not shape.sentences:
        return table
    rows = tuple(
        {**row, column: None} if _cell_word(row.get(column)) in away else row for row in table.rows
    )
    listed = ", ".join(f"{word!r} {times:,}" for word, times in away.items())
    notice = Problem(f"In {column!r}, these words are taken as no submission: {listed}.")
    return replace(table, rows=rows, notices=(*table.notices, notice))


#: The ranks of marks that consist of plus and minus signs, lowest first.
SIGNS = {
    sign: float(place)
    for place, signs in enumerate(("---", "--", "-", "0 o +/- -/+ +- \u00b1 ~", "+", "++", "+++"))
    for sign in signs.split()
}


#: A dash that is a mark; elsewhere a dash is no answer.
MINUS = "\u2212"


def _with_minus(table: Table, rubric: Rubric | None, kept: Collection[str]) -> Table:
    """Return the table with a minus sign for a dash that is a mark, which a dash alone is not."""
    known = {o.label for c in rubric.criteria for o in c.options} if rubric else set[str]()
    if "-" in {*known, *kept}:
        return table
    marks = [c for c in table.columns if _holds_signs(row.get(c) for row in table.rows)]
    if not marks:
        return table
    rows = tuple(
        {c: MINUS if c in marks and _cell_word(cell) == "-" else cell for c, cell in row.items()}
        for row in table.rows
    )
    notice = Problem(
        "Beside + and the like, - is taken as a mark.", "If it is no answer: --map-label -=NA."
    )
    return replace(table, rows=rows, notices=(*table.notices, notice))


def _holds_signs(cells: Iterable[Any]) -> bool:
    """Return whether a column holds only marks of plus and minus, a dash and a plus among them."""
    words = set[str]()
    for cell in cells:
        word = "" if cell is None else str(cell)
        if word not in words and word.strip().lower() not in {"", *SIGNS}:
            return False
        words.add(word)
    words = {word.strip() for word in words}
    return "-" in words and any(word == "--" or {*word} & {"+", "\u00b1"} for word in words)


def _absent_rows(
    table: Table, columns: Sequence[str], options: Collection[str]
) -> dict[int, dict[str, str]]:
    """Return the words for absences in rows without any number, by row and column."""
    away = ABSENT - set(options)

    def word_unless_absent(row: Mapping[str, Any], column: str) -> str:
        word = _cell_word(row.get(column))
        return "" if fold(word) in away else word

    first = table.rows[:_FIRST]
    filled = {c: [word for row in first if (word := word_unless_absent(row, c))] for c in columns}
    marks = [c for c, words in filled.items() if 2 * len(words) > len(first)]
    marks = [c for c in marks if None not in map(number_of, filled[c])]
    empty = (
        at
        for at, row in enumerate(table.rows if len(marks) > 1 else ())
        if not any(word_unless_absent(row, c) for c in marks)
    )
    found = {
        at: {c: w for c in columns if fold(w := _cell_word(table.rows[at].get(c))) in away}
        for at in empty
    }
    found = {at: cells for at, cells in found.items() if cells}
    short = [c for c, words in filled.items() if words and max(map(len, words)) <= _LONGEST]
    return found or (_rows_of_one_absence(table, short, away) if len(short) > 2 else {})


def _rows_of_one_absence(
    table: Table, columns: Sequence[str], away: Collection[str]
) -> dict[int, dict[str, str]]:
    """Return the cells of rows with one word for an absence in three or more columns.

    The word stands nowhere else.
    """
    absent = {_cell_word(row.get(c)) for row in table.rows for c in columns} - {""}
    absent = {word for word in absent if fold(word) in away}
    found, elsewhere = dict[int, dict[str, str]](), set[str]()
    for at, row in enumerate(table.rows if absent else ()):
        words = {c: word for c in columns if (word := _cell_word(row.get(c))) in absent}
        if len(words) > 2 and len({*words.values()}) == 1:
            found[at] = words
        else:
            elsewhere |= {*words.values()}
    return {at: cells for at, cells in found.items() if not {*cells.values()} & elsewhere}


def _heads_row_numbers(column: str) -> bool:
    """Return whether a heading is that of numbers for items or raters."""
    words = plain_heading(column).split()
    if {*words[-1:]} & {"id", "nr", "no", "number", "code"}:
        return True
    is_word = len(words) == 1 and words[0].isalpha()
    return is_word and any(has_word(column, known) for known in (ITEMS, RATERS, PEOPLE))


def _absence_words(
    cells: Iterable[Any],
    options: Collection[str],
    told: Collection[str] = (),
    known: Collection[str] = (),
) -> dict[str, int]:
    """Return the words for absences in a column, counted; none if it has other words.

    Up to two unknown words, or letters ``told`` to mean one, in few cells of a column of numbers
    are absences as well.
    """
    words, numbers, unknown = Counter[str](), dict[str, float](), set[str]()
    for cell in cells:
        word = _cell_word(cell)
        words[word] += 1
        if word in unknown and words[word] > _SOME and 2 * words[word] > words.total():
            return {}
        if words[word] > 1 or fold(word) in NO_ANSWER or fold(word) in ABSENT - set(options):
            continue
        if (number := number_of(word)) is not None:
            numbers[word] = number
        elif fold(word) not in options and len(unknown) < 2 and _is_unknown(word, told):
            unknown.add(word)
        else:
            return {}
    marks = sum(words[word] for word in numbers)
    if (
        len({*numbers.values()}) < 2
        or 5 * sum(words[w] for w in unknown if fold(w) not in told) > marks
    ):
        return {}
    away = {word: words[word] for word in unknown}
    away |= {w: times for w, times in words.items() if fold(w) in ABSENT and fold(w) not in options}
    away |= {
        word: words[word]
        for word in _missing_codes(numbers, words, known)
        if fold(word) not in options
    }
    return away if 2 * sum(away.values()) < sum(words.values()) else {}


def _is_unknown(word: str, told: Collection[str]) -> bool:
    return fold(word) in told or _UNKNOWN.fullmatch(word) is not None


def _missing_codes(
    numbers: Mapping[str, float], counts: Counter[str], known: Collection[str] = ()
) -> list[str]:
    """Return the numbers of a column that mean "missing": numbers of nines, such as -9, that are
    far larger than the few other marks. If marks can be negative, only 99 and larger numbers count.
    """
    codes = [word for word in numbers if _CODES.fullmatch(word)]
    more = [word for word in numbers if word in _MORE_CODES]
    for others_too in ([*codes, *more], codes):
        marks = {word: n for word, n in numbers.items() if word not in others_too}
        most = max(map(abs, marks.values()), default=0)
        signed = min(marks.values(), default=0) < 0
        rising = len(numbers) == counts.total() and [*numbers.values()] == sorted(numbers.values())
        least = 1 if any(word in known for word in codes) else 2
        if rising or not least <= len(marks) <= MOST_STEPS + 1:
            continue
        far = [w for w in codes if abs(numbers[w]) >= max(99, _FAR * most)]
        far += [w for w in codes if not signed and -99 < numbers[w] <= -8]
        if far:
            return far + [word for word in more if word in others_too and most <= MOST_STEPS]
    return []


def _cell_word(cell: object) -> str:
    """Return the word in a cell, "" for objects, lists and yes or no."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return ""
    return str(cell).strip()


def empty_answers_sentence(what: str, counts: Mapping[str, int]) -> str:
    """Return a sentence on the number of empty answers or labels, and their spellings.

    >>> empty_answers_sentence("answer", {"": 5, "NA": 4, "-": 1})
    '10 answers are empty (blank 5, NA 4, - 1).'
    """
    total = sum(counts.values())
    shown = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    others = f" and {len(shown) - 10} more" if len(shown) > 10 else ""
    listed = ", ".join(f"{word or 'blank'} {times:,}" for word, times in shown[:10])
    are = f"{total:,} {what}s are" if total != 1 else f"1 {what} is"
    return f"{are} empty ({listed}{others})."

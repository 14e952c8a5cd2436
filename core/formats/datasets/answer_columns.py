"""Which columns of a table can be raters: by what stands in them, and what they share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.formats.datasets.label_words import AWAY, NO, NO_ANSWER, YES, is_yes
from core.formats.datasets.table import Table, opened
from core.formats.source.csv_writer import number_of
from core.text.names import fold

#: A column with more different answers than this holds no labels.
MOST_LABELS = 50
#: So few different answers of two columns are one scale where they have a number in common.
MOST_SHARED = 12
#: Longer texts are no labels.
LONGEST = 200
#: From so many rows on, words of which each is used once are names, and no labels.
UNIQUE_WORDS = 6
#: The same for whole numbers: ten levels can be used once each, twelve rows cannot.
UNIQUE_NUMBERS = 12
_STAMP = re.compile(r"\d{4}-\d\d?-\d\d?([t ].*)?\Z|\d\d?[./]\d\d?[./]\d{2,4}\b|\d\d?:\d\d(:\d\d)?")
_LINK = re.compile(r"[a-z][a-z0-9+.\-]*://|www\.")
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|(?=.*[a-f])[0-9a-f]{16,}\Z")
#: Whole numbers from here on are seconds of a clock, or ids.
_COUNTED_FROM = 1e8
#: Columns whose name ends in one of these say something of the row, and are nobody's answers.
NO_RATERS = frozenset(
    {
        *(
            "id",
            "ids",
            "uuid",
            "guid",
            "key",
            "name",
            "email",
            "url",
            "uri",
            "link",
            "path",
            "file",
        ),
        *("time", "timestamp", "date", "at", "duration", "latency", "cost", "tokens", "length"),
        *("index", "row", "position", "count", "version", "type", "status", "source", "split"),
        *("tag", "tags", "environment", "project", "lang", "language", "metadata", "meta"),
    }
)


def plain(name: str) -> str:
    """A column's name in small words: `traceId`, `trace_id` and `Trace ID` are one."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return plain_head(parted)


def plain_head(name: str) -> str:
    """A head in small letters, with one space for blanks, dashes and the like."""
    return re.sub(r"[\s_\-]+", " ", fold(name)).strip()


def nested(table: Table, column: str) -> bool:
    """Whether cells of a column are objects or lists, which are never a label or a name."""
    return any(isinstance(opened(row.get(column)), dict | list) for row in table.rows)


def could_answer(table: Table, column: str) -> bool:
    """Whether a column can hold a rater's answers: few short words or numbers, used repeatedly.

    Dates, links, ids, long texts and what differs in every row are none.
    """
    if plain(column).rpartition(" ")[2] in NO_RATERS or nested(table, column):
        return False
    given = _given(table, column)
    words = set(given)
    if not words or len(words) > MOST_LABELS:
        return False
    return not (says_no_label(words) or all(map(_counted, words)) or _all_unique(given, words))


def says_no_label(words: set[str]) -> bool:
    """Whether these are texts, dates, links or ids."""
    if any(len(word) > LONGEST or _LINK.match(word) for word in words):
        return True
    return bool(words) and all(_STAMP.match(w) or _KEY.match(w) for w in words)


def _counted(word: str) -> bool:
    number = number_of(word)
    return number is not None and abs(number) >= _COUNTED_FROM


def _all_unique(given: Sequence[str], words: set[str]) -> bool:
    if len(words) < len(given) or None not in map(is_yes, words):
        return False
    whole = all((n := number_of(word)) is not None and n.is_integer() for word in words)
    return len(given) >= (UNIQUE_NUMBERS if whole else UNIQUE_WORDS)


def unique_words(table: Table, column: str) -> bool:
    """Whether a column holds texts or names, one of its own in each of many rows."""
    given = _given(table, column)
    words = set(given)
    if len(given) < UNIQUE_WORDS or len(words) < len(given) or None not in map(is_yes, words):
        return False
    return not all(number_of(word) is not None for word in words)


def words_in(table: Table, column: str) -> set[str]:
    """The different words in a column, whatever their case."""
    return set(_given(table, column))


def _given(table: Table, column: str) -> list[str]:
    words = (fold(str(row[column])) for row in table.rows if row.get(column) is not None)
    return [word for word in words if word not in NO_ANSWER]


def sharing(table: Table, columns: Sequence[str]) -> list[list[str]]:
    """Groups of columns that answer on one scale each, the largest first.

    Of a group every column shares labels with another; columns that share none are left out.
    """
    words = {column: words_in(table, column) - AWAY for column in columns}
    groups = list[list[str]]()
    for column in columns:
        joined = [g for g in groups if any(one_scale(words[column], words[o]) for o in g)]
        groups = [g for g in groups if g not in joined]
        groups.append([*(one for g in joined for one in g), column])
    shared = [sorted(g, key=columns.index) for g in groups if len(g) > 1]
    return sorted(shared, key=len, reverse=True)


def one_scale(one: set[str], other: set[str]) -> bool:
    """Whether two sets of answers are of one scale: yes and no, or a good part in common.

    >>> one_scale({"3", "4"}, {"4", "5"}), one_scale({"api"}, {"boolean"}), one_scale({"no"}, {"1"})
    (True, False, False)
    >>> one_scale({"true", "false"}, {"0", "1"})
    True
    """
    both, shared = one | other, one & other
    if both <= YES | NO:
        return bool(one and other)
    if all({is_yes(word) for word in words} == {True, False} for words in (one, other)):
        return True
    if len(both) > MOST_LABELS or not shared:
        return False
    numbers = all(number_of(word) is not None for word in both)
    if numbers and len(both) <= MOST_SHARED:
        return True
    return len(shared) * (4 if numbers else 2) >= min(len(one), len(other))


def told_apart(answers: Sequence[set[str]]) -> bool:
    """Whether columns whose headings name one criterion can be answers to it.

    The headings tell most, so that few rows are enough: yes and no, or whole numbers.
    """
    words = set[str]().union(*answers) - AWAY
    if len(answers) < 2 or None not in map(is_yes, words):
        return True
    numbers = [number_of(word) for word in words]
    if all(n is not None and n.is_integer() for n in numbers):
        return len(words) <= MOST_LABELS
    return all(any(one_scale(a, b) for b in answers if b is not a) for a in answers)

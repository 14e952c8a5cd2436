"""Find the columns of a table that can be raters, by values and shared labels."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.formats.datasets.label_words import AWAY, NO, NO_ANSWER, YES, is_yes
from core.formats.datasets.table import Table, opened
from core.formats.source.csv_writer import number_of
from core.text.names import fold

#: A column with more different answers than this holds no labels.
MOST_LABELS = 50
#: Two columns with at most this many answers share a scale if they have a number in common.
MOST_SHARED = 12
#: Longer texts are not labels.
LONGEST = 200
#: From this many rows on, words used once each are names, not labels.
UNIQUE_WORDS = 6
#: The same for whole numbers: ten levels can be used once each, twelve rows cannot.
UNIQUE_NUMBERS = 12
_STAMP = re.compile(r"\d{4}-\d\d?-\d\d?([t ].*)?\Z|\d\d?[./]\d\d?[./]\d{2,4}\b|\d\d?:\d\d(:\d\d)?")
_LINK = re.compile(r"[a-z][a-z0-9+.\-]*://|www\.")
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|(?=.*[a-f])[0-9a-f]{16,}\Z")
#: Whole numbers from here on are timestamps or ids.
_COUNTED_FROM = 1e8
#: Columns whose name ends in one of these describe the row and are not answers.
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
    """Return a column's name as lower-case words.

    `traceId`, `trace_id` and `Trace ID` become the same.
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return plain_head(parted)


def plain_head(name: str) -> str:
    """Return a heading in lower case, with one space for blanks and dashes."""
    return re.sub(r"[\s_\-]+", " ", fold(name)).strip()


def nested(table: Table, column: str) -> bool:
    """Return whether cells hold objects or lists, which are never labels or names."""
    return any(isinstance(opened(row.get(column)), dict | list) for row in table.rows)


def could_answer(table: Table, column: str) -> bool:
    """Return whether a column can hold answers: a few short values, repeated.

    Dates, links, ids, long texts and values that differ in every row are excluded.
    """
    if plain(column).rpartition(" ")[2] in NO_RATERS or nested(table, column):
        return False
    given = _given(table, column)
    answers = set(given)
    if not answers or len(answers) > MOST_LABELS:
        return False
    return not (
        says_no_label(answers) or all(map(_counted, answers)) or _all_unique(given, answers)
    )


def says_no_label(answers: set[str]) -> bool:
    """Return whether these values are texts, dates, links or ids."""
    if any(len(word) > LONGEST or _LINK.match(word) for word in answers):
        return True
    return bool(answers) and all(_STAMP.match(w) or _KEY.match(w) for w in answers)


def _counted(word: str) -> bool:
    number = number_of(word)
    return number is not None and abs(number) >= _COUNTED_FROM


def _all_unique(given: Sequence[str], answers: set[str]) -> bool:
    if len(answers) < len(given) or None not in map(is_yes, answers):
        return False
    whole = all((n := number_of(word)) is not None and n.is_integer() for word in answers)
    return len(given) >= (UNIQUE_NUMBERS if whole else UNIQUE_WORDS)


def unique_words(table: Table, column: str) -> bool:
    """Return whether a column holds texts or names that differ in many rows."""
    given = _given(table, column)
    answers = set(given)
    if len(given) < UNIQUE_WORDS or len(answers) < len(given) or None not in map(is_yes, answers):
        return False
    return not all(number_of(word) is not None for word in answers)


def words_in(table: Table, column: str) -> set[str]:
    """Return the different words in a column, ignoring case."""
    return set(_given(table, column))


def _given(table: Table, column: str) -> list[str]:
    cells = (fold(str(row[column])) for row in table.rows if row.get(column) is not None)
    return [word for word in cells if word not in NO_ANSWER]


def sharing(table: Table, columns: Sequence[str]) -> list[list[str]]:
    """Return groups of columns that share a scale, largest first.

    In a group every column shares labels with another. Columns that share none are left out.
    """
    labels = {column: words_in(table, column) - AWAY for column in columns}
    groups = list[list[str]]()
    for column in columns:
        joined = [g for g in groups if any(one_scale(labels[column], labels[o]) for o in g)]
        groups = [g for g in groups if g not in joined]
        groups.append([*(member for g in joined for member in g), column])
    shared = [sorted(g, key=columns.index) for g in groups if len(g) > 1]
    return sorted(shared, key=len, reverse=True)


def one_scale(left: set[str], right: set[str]) -> bool:
    """Return whether two sets of answers are on one scale: yes/no or mostly equal.

    >>> one_scale({"3", "4"}, {"4", "5"}), one_scale({"api"}, {"boolean"}), one_scale({"no"}, {"1"})
    (True, False, False)
    >>> one_scale({"true", "false"}, {"0", "1"})
    True
    """
    both, shared = left | right, left & right
    if both <= YES | NO:
        return bool(left and right)
    if all({is_yes(word) for word in labels} == {True, False} for labels in (left, right)):
        return True
    if len(both) > MOST_LABELS or not shared:
        return False
    numbers = all(number_of(word) is not None for word in both)
    if numbers and len(both) <= MOST_SHARED:
        return True
    return len(shared) * (4 if numbers else 2) >= min(len(left), len(right))


def told_apart(answers: Sequence[set[str]]) -> bool:
    """Return whether columns named after one criterion can hold its answers.

    The headings tell most, so few rows are enough: yes and no, or whole numbers.
    """
    labels = set[str]().union(*answers) - AWAY
    if len(answers) < 2 or None not in map(is_yes, labels):
        return True
    numbers = [number_of(word) for word in labels]
    if all(n is not None and n.is_integer() for n in numbers):
        return len(labels) <= MOST_LABELS
    return all(any(one_scale(a, b) for b in answers if b is not a) for a in answers)

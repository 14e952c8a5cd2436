"""Find the columns of a table that can be raters, by values and shared labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.formats.columns.headings import (
    LANGUAGE,
    NO_RATERS,
    is_of_platform,
    is_quantity,
    names_an_occasion,
    plain_name,
)
from core.formats.columns.label_words import AWAY, NO, NO_ANSWER, YES, is_yes
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import RANKS, SURENESS, has_word
from core.formats.tables.cells import only_entry
from core.formats.tables.table import Table
from core.text.names import fold

#: The most different answers in a column of labels.
MOST_LABELS = 50
#: The highest whole number of a column of marks that may have more: a slider from 0 to 100.
MOST_MARK = 100
#: Two columns with at most this many answers share a scale if they have a number in common.
MOST_SHARED = 12
_FIRST = 500
#: Longer texts are not labels.
LONGEST = 200
#: From this many rows on, words that occur once each are names, not labels.
UNIQUE_WORDS = 6
#: From this many rows on, whole and half numbers that occur once each are not levels: ten levels
#: may occur once each, but twelve different numbers are measurements.
UNIQUE_NUMBERS = 12
_STAMP = re.compile(
    r"\d{4}([-/年]|\. ?)\d\d?([-/月]|\. ?)\d\d?[日.]?([t ].*)?\Z|\d\d?[./]\d\d?[./]\d{2,4}\b"
    r"|\d\d?:\d\d(:\d\d)?|\w{3} \w{3} \d\d? \d\d:\d\d:\d\d .{0,6}\d{4}\Z"
    r"|(\w{2,12},? )?(\d\d?\.? \w{3,10}|\w{3,10} \d\d?),? \d{4}(,? (at )?\d\d?:\d\d.{0,12})?\Z"
)
_LINK = re.compile(r"[a-z][a-z0-9+.\-]*://|www\.")
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|(?=.*[a-f])[0-9a-f]{16,}\Z")
#: `1st`, `2e`: the first or the second marker, or attempt, of something.
_ORDINAL = re.compile(r"\d{1,2}(st|nd|rd|th|re|er|ere|e|eme|ème|ª|º)\Z")
#: `HITID`, `docid`: ids whose heading is one word; and a code, such as `HIT031`.
_IDS = re.compile(
    r"(hit|user|worker|rater|doc|document|seg|segment|item|text|task|sample|system|sys|session"
    r"|batch|prompt|question|record|unit|assignment|post|tweet|comment|pair|subject)ids?\Z"
)
_CODE = re.compile(r"[^\W\d_]+[-_ ]?\d+\Z")
#: Larger whole numbers are timestamps or ids.
_COUNTED_FROM = 1e8


def is_index(table: Table, column: str) -> bool:
    """Return whether a column is the index of a data frame, filtered or not.

    It has no heading and a different whole number in each row, or is named index and counts rows.
    """
    name = column.strip().lower()
    if not re.match(r"(unnamed: \d+(\.\d+)?|column 1)\Z", name):
        return bool(re.match(r"(index|level_\d)\Z", name)) and counts_rows(table.rows, column)
    cells = {str(row.get(column)) for row in table.rows}
    return len(cells) == len(table.rows) and all(cell.isdecimal() for cell in cells)


def counts_rows(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    """Return whether a column only counts the rows (1, 2 or 1., 2.), as a data frame's index."""
    cells = [str(row.get(column)).removesuffix(".") for row in rows]
    return any(cells == [str(first + n) for n in range(len(cells))] for first in (0, 1))


def could_answer(table: Table, column: str, *, of_each: bool = False) -> bool:
    """Return whether a column can hold answers: a few short values, repeated.

    Dates, links, ids, long texts, values that differ in every row and columns of platforms are
    excluded, and how sure somebody is, unless it is asked ``of_each`` rater beside their answer.
    """
    last = plain_name(column).rpartition(" ")[2]
    last = "" if of_each and has_word(last, SURENESS) else last
    if column in table.nested:
        return False
    # If the first rows have too many words, the others need not be read.
    is_counted = column in table.word_counts
    if not is_counted and are_too_many(_count_words(table.rows[:_FIRST], column)):
        return False
    if is_of_platform(column, table.columns):
        return False
    counts = _word_counts(table, column)
    if not counts or are_too_many(counts):
        return False
    if (last in NO_RATERS or names_an_occasion(column)) and not set(counts) <= YES | NO:
        return False
    if last in LANGUAGE and None in map(number_of, counts):
        return False
    if is_quantity(column) and None in map(is_yes, counts) and None not in map(number_of, counts):
        return False
    answers = set(counts)
    if _IDS.search(last) or (last.endswith("id") and all(map(_CODE.match, answers))):
        return False
    if all(map(_ORDINAL.match, answers)) and not has_word(column, RANKS):
        return False
    return not (are_not_labels(answers) or all(map(_is_count, answers)) or _all_unique(counts))


def are_too_many(words: Collection[str]) -> bool:
    """Return whether these are more labels than a column has, apart from whole numbers up to 100.

    >>> are_too_many({str(n) for n in range(101)}), are_too_many({f"w{n}" for n in range(51)})
    (False, True)
    """
    if len(words) <= MOST_LABELS:
        return False
    numbers = [number_of(word) for word in words] if len(words) <= MOST_MARK + 1 else [None]
    return any(n is None or n % 1 or not 0 <= n <= MOST_MARK for n in numbers)


def are_not_labels(answers: set[str]) -> bool:
    """Return whether these values are texts, dates, links or ids instead of labels."""
    if any(len(word) > LONGEST or _LINK.match(word) for word in answers):
        return True
    return bool(answers) and all(_STAMP.match(w) or _KEY.match(w) for w in answers)


def is_date(word: str) -> bool:
    """Return whether a word is a date, or a time.

    >>> is_date("2024-05-01T10:00"), is_date("Monday, 1 April 2024, 10:05 AM"), is_date("May 2024")
    (True, True, False)
    >>> is_date("2024. 5. 1 오후 2:00:11"), is_date("Tue May 07 03:11:22 PDT 2024")
    (True, True)
    """
    return _STAMP.match(word.lower()) is not None


def _is_count(word: str) -> bool:
    number = number_of(word)
    return number is not None and abs(number) >= _COUNTED_FROM


def _all_unique(counts: Counter[str]) -> bool:
    if len(counts) < counts.total() or None not in map(is_yes, counts):
        return False
    numeric = all((n := number_of(word)) is not None and (2 * n).is_integer() for word in counts)
    return len(counts) >= (UNIQUE_NUMBERS if numeric else UNIQUE_WORDS)


def holds_unique_texts(table: Table, column: str) -> bool:
    """Return whether a column holds texts or names that differ in many rows."""
    counts = _word_counts(table, column)
    return _all_unique(counts) and None in map(number_of, counts)


def words_in(table: Table, column: str) -> set[str]:
    """Return the different words in a column, ignoring case."""
    return set(_word_counts(table, column))


def holds_words(table: Table, column: str) -> bool:
    """Return whether a column holds any word that is an answer."""
    cells = (only_entry(row.get(column)) for row in table.rows)
    return any(c not in (None, "") and fold(str(c)) not in NO_ANSWER for c in cells)


def _word_counts(table: Table, column: str) -> Counter[str]:
    """Return how often each word occurs in a column, ignoring case; cached for labels."""
    words = table.word_counts.get(column) or _count_words(table.rows, column)
    if not are_too_many(words):
        table.word_counts[column] = words
    return words


#: The decimals of a whole number.
WHOLE = re.compile(r"(?<=\d)\.0\Z")
_PERCENT = re.compile(r"(?<=\d) ?%\Z")


def _count_words(rows: Sequence[Mapping[str, Any]], column: str) -> Counter[str]:
    """Return the number of occurrences of each word in a column of rows, without empty ones.

    A column of whole numbers with gaps is written by pandas with decimals: 3.0 is 3.
    """
    counts, cells = Counter[str](), (only_entry(row.get(column)) for row in rows)
    for word, times in Counter(str(cell) for cell in cells if cell is not None).items():
        if (folded := fold(word)) not in NO_ANSWER:
            counts[WHOLE.sub("", _PERCENT.sub("", folded))] += times
    return counts


def columns_by_scale(table: Table, columns: Sequence[str]) -> list[list[str]]:
    """Return groups of columns that share a scale, largest first.

    In a group every column shares labels with another. Columns that share none are left out.
    """
    labels = {column: words_in(table, column) - AWAY for column in columns}
    groups = list[list[str]]()
    for column in columns:
        joined = [g for g in groups if any(same_scale(labels[column], labels[o]) for o in g)]
        groups = [g for g in groups if g not in joined]
        groups.append([*(member for g in joined for member in g), column])
    shared = [sorted(g, key=columns.index) for g in groups if len(g) > 1]
    return sorted(shared, key=len, reverse=True)


def same_scale(left: set[str], right: set[str]) -> bool:
    """Return whether two sets of answers have one scale: yes/no, or mostly equal answers.

    >>> same_scale({"3", "4"}, {"4", "5"}), same_scale({"api"}, {"boolean"})
    (True, False)
    >>> same_scale({"true", "false"}, {"0", "1"})
    True
    """
    all_answers, shared = left | right, left & right
    if all_answers <= YES | NO:
        return bool(left and right)
    if all({is_yes(word) for word in labels} == {True, False} for labels in (left, right)):
        return True
    if are_too_many(all_answers) or not shared:
        return False
    numbers = all(number_of(word) is not None for word in all_answers)
    if numbers and len(all_answers) <= MOST_SHARED:
        return True
    return len(shared) * (4 if numbers else 2) >= min(len(left), len(right))


def can_share_criterion(answers: Sequence[set[str]]) -> bool:
    """Return whether columns that share a criterion's name can hold its answers.

    Because the headings already suggest it, a few rows with yes and no, or with whole numbers, are
    enough.
    """
    labels = set[str]().union(*answers) - AWAY
    if len(answers) < 2 or None not in map(is_yes, labels):
        return True
    numbers = [number_of(word) for word in labels]
    if all(n is not None and n.is_integer() for n in numbers):
        return len(labels) <= MOST_LABELS
    return all(any(same_scale(a, b) for b in answers if b is not a) for a in answers)

"""Find the columns of a table that can be raters, by values and shared labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.formats.datasets.label_words import AWAY, NO, NO_ANSWER, YES, is_yes
from core.formats.datasets.table import Table, only_entry
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import (
    ASPECTS,
    MEASURES,
    PEOPLE,
    PROMPTS,
    RANKS,
    RATERS,
    SUMMARIES,
    has_word,
    plain_heading,
)
from core.text.names import fold

#: The most different answers in a column of labels.
MOST_LABELS = 50
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
    r"\d{4}[-/]\d\d?[-/]\d\d?([t ].*)?\Z|\d\d?[./]\d\d?[./]\d{2,4}\b|\d\d?:\d\d(:\d\d)?"
    r"|(\w{2,12},? )?(\d\d?\.? \w{3,10}|\w{3,10} \d\d?),? \d{4}(,? (at )?\d\d?:\d\d.{0,12})?\Z"
)
_LINK = re.compile(r"[a-z][a-z0-9+.\-]*://|www\.")
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z|(?=.*[a-f])[0-9a-f]{16,}\Z")
#: `1st`, `2e`: the first or the second marker, or attempt, of something.
_ORDINAL = re.compile(r"\d{1,2}(st|nd|rd|th|re|er|ere|e|eme|ème|ª|º)\Z")
#: Larger whole numbers are timestamps or ids.
_COUNTED_FROM = 1e8
#: Last words of columns that describe the row and are not answers.
NO_RATERS = frozenset(
    {
        *("id", "ids", "uuid", "guid", "key", "name", "email", "url", "uri", "link", "path"),
        *("file", "time", "timestamp", "date", "at", "duration", "latency", "cost", "tokens"),
        *("length", "seconds", "minutes", "hours", "age", "year", "index", "row", "position"),
        *("count", "version", "type", "status", "source", "split", "tag", "tags", "environment"),
        *("project", "metadata", "meta", "confidence", "certainty"),
        *("experience", "expertise", "familiarity", "set", "group", "batch", "round"),
    }
)
#: Columns of languages, unless they hold marks.
LANGUAGE = frozenset({"language", "lang"})


def plain_name(name: str) -> str:
    """Return a column's name as lower-case words.

    `traceId`, `trace_id` and `Trace ID` become the same.
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return lower_heading(parted)


def lower_heading(name: str) -> str:
    """Return a heading in lower case, with one space for blanks and dashes."""
    return re.sub(r"[\s_\-]+", " ", fold(name)).strip()


#: Prefixes that tools put before the names of their fields.
_PREFIX = re.compile(r"(answer|input|scores?|ratings?|labels?|annotations?|metrics)\s*\.\s*", re.I)


def without_prefix(name: str) -> str:
    """Return a heading without a tool's prefix.

    >>> without_prefix("Answer.quality"), without_prefix("scores.depth"), without_prefix("a.b")
    ('quality', 'depth', 'a.b')
    """
    return _PREFIX.sub("", name, count=1) or name


#: Names of columns that count votes and hold no answers.
COUNTS = frozenset(
    {
        *("n", "n votes", "num votes", "number of votes", "votes", "vote count", "count", "counts"),
        *("n annotators", "num annotators", "n raters", "n ratings", "frequency", "freq"),
    }
)


#: Not sums, despite the word: a maximum, `[Total Pts: 20 Score]`, and `Issue resolved`.
_NO_SUM = re.compile(
    r"[\[<][^\]>]*\d[^\]>]*[\]>]|\b(issue|problem|query|case|ticket|request|call)s?[ _]+resolved",
    re.I,
)


def is_sum(column: str, others: Sequence[str] = ()) -> bool:
    """Return whether a column's name says that it is a total, or a score next to raters.

    >>> is_sum("resolved_score"), is_sum("score", ["rater1", "rater2"]), is_sum("tone")
    (True, True, False)
    """
    if has_word(_NO_SUM.sub("", column), SUMMARIES, whole=True) or plain_name(column) in COUNTS:
        return True
    beside = sum(map(names_a_rater, others)) > 1
    return beside and "score" in plain_name(column).split() and not names_a_rater(column)


def named_for_raters(columns: Sequence[str]) -> bool:
    """Return whether headings name raters: `rater 1`, `score_a` and `score_b`.

    Numbered questions and parts do not.

    >>> named_for_raters(["R1", "R2"]), named_for_raters(["depth", "tone"])
    (True, False)
    >>> named_for_raters(["Q1", "Q2"]), named_for_raters(["r1_holistic", "r2_holistic"])
    (False, True)
    """
    stems = {stem_of(column) for column in columns}
    alike = len(columns) > 1 and len(stems) == 1 and stems != {""} and not numbered_parts(columns)
    alike = alike and not any(map(is_question, columns))
    codes = [_CODED.fullmatch(plain_heading(column)) for column in columns]
    coded = len({(m[1], m[2]) for m in codes if m}) == 1 < len(columns) and None not in codes
    return alike or coded or all(map(names_a_rater, columns))


#: `r1_holistic`: a numbered rater, and a question that every rater answers.
_CODED = re.compile(r"(r|a|j|c|e|h|ann|annot)\d+ (.+)")


def is_question(heading: str) -> bool:
    """Return whether a heading is a question, or as long as a question."""
    return heading.rstrip()[-1:] in "?？؟" or len(heading.split()) > 4


_PARTS = frozenset(
    {
        *("q", "item", "part", "section", "ex", "exercise", "problem", "subtask", "step", "turn"),
        *("teil", "abschnitt", "ejercicio", "partie", "exercice", "esercizio", "pregunta"),
    }
)


def numbered_parts(columns: Sequence[str]) -> bool:
    """Return whether headings are numbered questions, tasks or parts.

    >>> numbered_parts(["Task 1", "Task 2"]), numbered_parts(["L1", "L2"])
    (True, False)
    """
    stems = {plain_heading(stem_of(column)) for column in columns}
    return all(s in _PARTS or has_word(s, PROMPTS) or has_word(s, ASPECTS) for s in stems)


#: Words for criteria in column names.
_ASKED = re.compile(
    r"coheren|cohesi|fluen|relevan|helpful|correct(?!eur|ric|or)|complex|verbos|gramma|syntax|vocab|clarity"
    r"|clear|tone\b|accura|consisten|engag|surpris|empath|factual|style|organi|convention"
    r"|phraseolog|naturalness|complete|concise|toxic|safety|harm|polite|readab|structure|creativ"
    r"|original|depth|useful|informativ|specific|understand|faithful|grounded|adequa|evidence"
    r"|mechanics|argument|thesis|spelling|overall|persuas|novelty|soundness|significance"
    r"|professional|appearance|aroma\b|flavou?r\b|sweetness|acidity|bitterness"
    r"|inhalt|sprache\b|aufbau\b|ausdruck\b|rechtschreib|verstandlich|gliederung"
    r"|contenido|ortografia|estructura|cla(rid|rez|rte)|chiarezza|comunica|contenu\b|orthographe"
    r"|coeren|coesao|genauigkeit|sprachfluss|terminolog|inhoud|opbouw|taalgebruik|rigor\b|tono?\b"
    r"|estilo|грамотн|вежлив|полезн|ясност|точност|стил|содержани|логик|正確|自然|流暢|准确|流畅|连贯|完整|清晰",
)


def names_a_rater(column: str) -> bool:
    """Return whether a heading contains a word for a rater.

    >>> names_a_rater("Rater 2"), names_a_rater("R2")
    (True, False)
    """
    return has_word(column, RATERS)


def names_a_person(column: str) -> bool:
    """Return whether a heading could name raters, in one of several languages.

    >>> names_a_person("évaluateur"), names_a_person("note")
    (True, False)
    """
    return names_a_rater(column) or has_word(column, PEOPLE)


def names_a_criterion(column: str) -> bool:
    """Return whether a heading is a usual name of a criterion.

    >>> names_a_criterion("Coherence"), names_a_criterion("Kim")
    (True, False)
    """
    return bool(_ASKED.search(plain_heading(column)))


def stem_of(heading: str) -> str:
    """Return a heading without its last letter or number.

    >>> stem_of("answer_v1"), stem_of("Answer B"), stem_of("v2"), stem_of("Essay")
    ('answer_v', 'answer', 'v', '')
    """
    pattern = r"(.*[^\W\d_].*?)[\s_.-]*(?:\d+|(?<=[\s_.\-\u3040-\u9fff])\w)$"
    match = re.match(pattern, heading.strip())
    return fold(match[1]) if match else ""


def is_quantity(column: str) -> bool:
    """Return whether a heading says that its numbers are counts or measurements; questions do not.

    >>> is_quantity("helpful_votes"), is_quantity("Dauer (Minuten)"), is_quantity("pain at 6 weeks")
    (True, True, False)
    """
    when = re.search(
        r"\d+ (hour|day|week|month|stunde|tag|woche|monat|jour|dia)", plain_heading(column)
    )
    return has_word(column, MEASURES, whole=True) and not (when or is_question(column))


#: Headings for when, or in which part of a study, a row was rated; not `Session quality`.
_OCCASION = re.compile(
    r"(?:(?:test|testing|rating|tasting|study|scoring) )?(?:session|round|wave|batch|day|block|week"
    r"|occasion|run|sitzung|runde|durchgang|durchlauf|welle|seance|manche|vague|sesion|ronda|dia"
    r"|sessao|rodada|sessione|sessie|ronde|сессия|раунд|场次|轮次)(?: (?:no|nr|number|num|id|\d+))?"
)


def names_an_occasion(column: str) -> bool:
    """Return whether a heading is only that of a session, a round or a day of rating.

    >>> names_an_occasion("Session"), names_an_occasion("test_day"), names_an_occasion("Day plan")
    (True, True, False)
    """
    return _OCCASION.fullmatch(plain_heading(column)) is not None


def is_index(table: Table, column: str) -> bool:
    """Return whether a column is the index of a data frame, filtered or not.

    It has no heading and a different whole number in each row, or is named index and counts rows.
    """
    name = column.strip().lower()
    if not re.match(r"(unnamed: \d+(\.\d+)?|column 1)\Z", name):
        return bool(re.match(r"(index|level_\d)\Z", name)) and counts_rows(table, column)
    cells = {str(row.get(column)) for row in table.rows}
    return len(cells) == len(table.rows) and all(cell.isdecimal() for cell in cells)


def counts_rows(table: Table, column: str) -> bool:
    """Return whether a column only counts the rows, as the index of a data frame does."""
    cells = [str(row.get(column)) for row in table.rows]
    return any(cells == [str(first + n) for n in range(len(cells))] for first in (0, 1))


def could_answer(table: Table, column: str) -> bool:
    """Return whether a column can hold answers: a few short values, repeated.

    Dates, links, ids, long texts and values that differ in every row are excluded.
    """
    last = plain_name(column).rpartition(" ")[2]
    # If the first rows have too many words, the others need not be read.
    if len(_count_words(table.rows[:_FIRST], column)) > MOST_LABELS or column in table.nested:
        return False
    counts = _word_counts(table, column)
    if not counts or len(counts) > MOST_LABELS:
        return False
    if (last in NO_RATERS or names_an_occasion(column)) and not set(counts) <= YES | NO:
        return False
    if last in LANGUAGE and None in map(number_of, counts):
        return False
    if is_quantity(column) and None in map(is_yes, counts) and None not in map(number_of, counts):
        return False
    answers = set(counts)
    if all(map(_ORDINAL.match, answers)) and not has_word(column, RANKS):
        return False
    return not (are_not_labels(answers) or all(map(_is_count, answers)) or _all_unique(counts))


def are_not_labels(answers: set[str]) -> bool:
    """Return whether these values are texts, dates, links or ids instead of labels."""
    if any(len(word) > LONGEST or _LINK.match(word) for word in answers):
        return True
    return bool(answers) and all(_STAMP.match(w) or _KEY.match(w) for w in answers)


def is_date(word: str) -> bool:
    """Return whether a word is a date, or a time.

    >>> is_date("2024-05-01"), is_date("Monday, 1 April 2024, 10:05 AM"), is_date("May 2024")
    (True, True, False)
    """
    return _STAMP.match(word) is not None


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
    if len(words) <= MOST_LABELS:
        table.word_counts[column] = words
    return words


_PERCENT = re.compile(r"(?<=\d) ?%\Z")


def _count_words(rows: Sequence[Mapping[str, Any]], column: str) -> Counter[str]:
    """Return the number of occurrences of each word in a column of rows, without empty ones."""
    counts, cells = Counter[str](), (only_entry(row.get(column)) for row in rows)
    for word, times in Counter(str(cell) for cell in cells if cell is not None).items():
        if (folded := fold(word)) not in NO_ANSWER:
            counts[_PERCENT.sub("", folded)] += times
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
    if len(all_answers) > MOST_LABELS or not shared:
        return False
    numbers = all(number_of(word) is not None for word in all_answers)
    if numbers and len(all_answers) <= MOST_SHARED:
        return True
    return len(shared) * (4 if numbers else 2) >= min(len(left), len(right))


def can_share_criterion(answers: Sequence[set[str]]) -> bool:
    """Return whether columns that share a criterion's name can hold its answers.

    The headings are strong evidence, so few rows are enough: yes and no, or whole numbers.
    """
    labels = set[str]().union(*answers) - AWAY
    if len(answers) < 2 or None not in map(is_yes, labels):
        return True
    numbers = [number_of(word) for word in labels]
    if all(n is not None and n.is_integer() for n in numbers):
        return len(labels) <= MOST_LABELS
    return all(any(same_scale(a, b) for b in answers if b is not a) for a in answers)

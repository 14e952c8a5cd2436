"""Interpret a word in a cell of answers or labels: option, yes or no, or empty."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import gcd
from typing import Any

from core.domain.rubric import Criterion, Rubric
from core.errors import Problem
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, PEOPLE, RATERS, has_word, plain_heading
from core.formats.tables.table import Table
from core.text.names import fold

#: Other words for MET and UNMET: words for yes and no in pairs, as one file uses them.
YES_NO = (
    *(("yes", "no"), ("y", "n"), ("true", "false")),
    *(("pass", "fail"), ("passed", "failed"), ("met", "unmet"), ("met", "not met")),
    *(("ja", "nein"), ("ja", "nee"), ("ja", "nej"), ("oui", "non"), ("sí", "no"), ("si", "no")),
    *(("sì", "no"), ("sim", "não"), ("tak", "nie"), ("ano", "ne"), ("kyllä", "ei")),
    *(("evet", "hayır"), ("да", "нет"), ("так", "ні"), ("ναι", "όχι"), ("はい", "いいえ")),
    *(("是", "否"), ("예", "아니요"), ("예", "아니오"), ("نعم", "لا"), ("כן", "לא")),
)
YES = frozenset(yes for yes, _ in YES_NO)
NO = frozenset(no for _, no in YES_NO)
#: Words that mean yes only in a yes/no question, or next to such words.
YES_SIGNS = frozenset({"1", "t", "\u2713", "\u2714"})
NO_SIGNS = frozenset({"0", "f", "\u2717", "\u2718"})
#: Words for "cannot be assessed".
_AWAY = (
    "cannot_assess|cannot assess|not applicable|abstain|abstained|?|unable to assess|cannot judge"
    "|unable to judge|cannot rate|unable to rate|not assessable|nicht beurteilbar|kann ich nicht"
    " beurteilen|nicht bewertbar|non évaluable|impossible à évaluer|no evaluable|non valutabile"
    "|niet te beoordelen|não avaliável"
)
AWAY = frozenset(_AWAY.split("|"))
#: Words for "was not assessed".
_NOT_ASSESSED = (
    "not assessed|not evaluated|not rated|not scored|not graded|not marked|did not assess"
    "|didn't assess|did not evaluate|nicht beurteilt|nicht bewertet|nicht eingeschätzt|non évalué"
    "|non évaluée|non noté|non notée|non apprécié|non valutato|non valutata|no evaluado"
    "|no evaluada|no valorado|sin evaluar|não avaliado|não avaliada|niet beoordeeld|未评|未採点"
)
#: Words for "not available"; if an option of the rubric has that name, they mean that option.
_NA = frozenset({"na", "n/a"})
#: Cells without an answer: empty, a dash, or a program's word for null.
NO_ANSWER = frozenset(
    {
        "",
        "-",
        "\u2013",
        "\u2014",
        *_NA,
        *_NOT_ASSESSED.split("|"),
        "nan",
        "none",
        "null",
        "<na>",
        "#n/a",
        "#nv",
        "#null!",
        "\\n",
    }
)

#: Words that mean "no number", by language, separated by bars.
_ABSENCES = (
    "abs|absent|absence|away|excused|exempt|missing|pending|no show|no-show|dns|dnf|ns|n/s"
    "|not submitted|no submission|not done|not coded"
    "|needs grading|needs marking|not yet graded|ungraded|ex|exc|exempted",
    ".|..|n.a.|n. a.|not available|no data|no response|nil|n/d|n.d.|n/r|n.r.|---|--",
    "k.a.|ka|k. a.|keine angabe|entsch.|entschuldigt|unentsch.|unentschuldigt|abwesend|krank|fehlt"
    "|entf.|entfällt|nicht erschienen|nicht abgegeben|nb|n.b.|n. b.",
    "abs.|absente|non rendu|dispensé|dispensée|disp|disp.|excusé|excusée|nn"
    "|non renseigné|nr|n.c.|n. c.|nc|n/c|non communiqué|s/o|s.o.|s. o.|sans objet",
    "ns/nc|ns/nr|ausente|no presentado|np|n.p.|no entregado|sin nota|s/d|sin dato"
    "|s/r|faltou|não entregue|sem nota",
    "assente|non consegnato|afwezig|niet ingeleverd|nieobecny|nieobecna|frånvarande"
    "|fraværende|yok|gelmedi|girmedi",
    "отсутствует|отсутствовал|отсутствовала|н/я|не явился|неявка|не сдано|нет оценки"
    "|з/о|н/о|н/д|нет ответа|затрудняюсь|затрудняюсь ответить|затруднились ответить",
    "缺考|缺席|未提交|弃权|缺失|欠席|未提出|결석|미제출|غائب|נעדר",
)
#: These words in lower case; they count as empty in columns of numbers.
ABSENT = frozenset(fold(word) for words in (*_ABSENCES, _NOT_ASSESSED) for word in words.split("|"))


def is_yes(word: str) -> bool | None:
    """Return whether a word means yes or no, or ``None`` for other words.

    >>> [is_yes(word) for word in ("TRUE", "1.0", "F", "2")]
    [True, True, False, None]
    """
    plain = fold(word).removesuffix(".0")
    if plain in YES or plain in YES_SIGNS:
        return True
    return False if plain in NO or plain in NO_SIGNS else None


#: The highest mark; larger numbers are levels if they have a round step and are few.
_MOST_POINTS, _MOST_STEPS, _ROUND = 100, 20, 5
#: The number of first rows that show whether a column holds numbers.
_FIRST = 50


def may_be_marks(numbers: Collection[float]) -> bool:
    """Return whether numbers are in the range of marks, or are a few round levels beyond it.

    >>> may_be_marks([3.5, 98]), may_be_marks([0, 120, 200]), may_be_marks([812, 849])
    (True, True, False)
    """
    most = max(map(abs, numbers), default=0)
    if most <= _MOST_POINTS:
        return True
    step = gcd(*map(int, numbers)) if all(n % 1 == 0 for n in numbers) else 0
    return step >= _ROUND and most <= step * _MOST_STEPS


def holds_no_answer(criterion: Criterion | None, word: str) -> bool:
    """Return whether a cell is empty, or a word for empty that is not an option.

    >>> asked = Criterion(name="c", requirement="r")
    >>> [holds_no_answer(asked, word) for word in ("", "NaN", "N/A", "MET")]
    [True, True, True, False]
    """
    if fold(word) not in NO_ANSWER:
        return False
    return criterion is None or option_named(criterion, word) is None


_SEVERAL = re.compile(r"\s*[;|]\s*|,\s+|\n")


def label_lists_in(words: Collection[str]) -> list[str]:
    """Return the words that list several labels: each part is a word, or part of another word.

    >>> label_lists_in(["pay; hours", "hours", "pay", "so, so"])
    ['pay; hours']
    """
    parts = {word: [p for p in _SEVERAL.split(fold(word)) if p] for word in words}
    single = {fold(word) for word in words}
    counts = Counter(part for part_list in parts.values() for part in set(part_list))
    return [
        word
        for word, part_list in parts.items()
        if len(part_list) > 1 and any(counts[p] > 1 or p in single for p in part_list)
    ]


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


def option_named(criterion: Criterion, label: str) -> int | None:
    """Return the choice that a label in a file means, or ``None``.

    Case and spaces are ignored. Without an exact option, ``3.0`` is ``3``. If the options are MET
    and UNMET, or other words for yes and no, then yes, true, T and 1 mean the first, and no, false,
    F and 0 the second. ``NA`` and ``N/A`` mean the rubric's own option for "not applicable".

    >>> asked = Criterion(name="c", requirement="r")
    >>> [option_named(asked, word) for word in ("met", "No", "1.0", "maybe")]
    [0, 1, 0, None]
    """
    for spelling in _spellings(criterion, label):
        option = criterion.index_of(spelling)
        if option is not None:
            return option
    return None


def _spellings(criterion: Criterion, label: str) -> Iterator[str]:
    yield label
    integer = label.strip().removesuffix(".0")
    yield integer
    if (yes := is_yes(integer)) is not None:
        yield from (label for label in _yes_and_no(criterion) if is_yes(label) is yes)
    if fold(integer) in _NA:
        yield from (
            o.label for o in criterion.options if o.na and fold(o.label) in {*_NA, "not applicable"}
        )


def _yes_and_no(criterion: Criterion) -> tuple[str, ...]:
    """Return the two options that mean yes and no, or ``()``."""
    labels = tuple(criterion.choices[at].label for at in criterion.scored)
    folded = {fold(label) for label in labels}
    sides = (folded & YES, folded & NO)
    return labels if len(labels) == 2 and all(sides) else ()


#: Numbers that survey programs write for a missing answer, and those that come with them.
_CODES, _MORE_CODES = re.compile(r"-?9+(\.0)?|-8+"), frozenset({"77", "88", "97", "98"})
#: A code is at least this many times larger than every mark.
_FAR = 4.9


def without_absences(
    table: Table, rubric: Rubric | None = None, kept: Collection[str] = ()
) -> Table:
    """Return the table with blanks for absences in columns of numbers: "absent", or a code.

    A code is 99 or -9, far outside the other numbers. What is an option of the rubric or in
    ``kept`` stays, and so does a word beside other words.

    >>> rows = tuple({"kim": mark, "lee": "2"} for mark in ("4", "5", "4", "ABS", "99"))
    >>> table = Table("x.csv", "csv", ("kim", "lee"), rows, (2, 3, 4, 5, 6))
    >>> [row["kim"] for row in without_absences(table).rows]
    ['4', '5', '4', '', '']
    """
    table = _with_minus(table, rubric, kept)
    options = {fold(o.label) for c in rubric.criteria for o in c.options} if rubric else set[str]()
    options |= {fold(word) for word in kept}
    answers = [c for c in table.columns if not _heads_row_numbers(c)]
    found = {c: _absence_words((row.get(c) for row in table.rows), options) for c in answers}
    if codes := {w for words in found.values() for w in words if number_of(w) is not None}:
        # A code of one column is also a code in columns where only one other mark occurs.
        left = [c for c in answers if not found[c]]
        found |= {
            c: _absence_words((row.get(c) for row in table.rows), options, codes) for c in left
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


#: The places of marks of plus and minus, lowest first.
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
    if len(marks) < 2:
        return {}
    empty = (
        at
        for at, row in enumerate(table.rows)
        if not any(word_unless_absent(row, c) for c in marks)
    )
    found = {
        at: {c: w for c in columns if fold(w := _cell_word(table.rows[at].get(c))) in away}
        for at in empty
    }
    return {at: cells for at, cells in found.items() if cells}


def _heads_row_numbers(column: str) -> bool:
    """Return whether a heading is that of numbers for items or raters."""
    words = plain_heading(column).split()
    if {*words[-1:]} & {"id", "nr", "no", "number", "code"}:
        return True
    is_word = len(words) == 1 and words[0].isalpha()
    return is_word and any(has_word(column, known) for known in (ITEMS, RATERS, PEOPLE))


def _absence_words(
    cells: Iterable[Any], options: Collection[str], known: Collection[str] = ()
) -> dict[str, int]:
    """Return the words for absences in a column, counted; none if it has other words."""
    words, numbers = Counter[str](), dict[str, float]()
    for cell in cells:
        word = _cell_word(cell)
        words[word] += 1
        if words[word] > 1 or fold(word) in NO_ANSWER or fold(word) in ABSENT - set(options):
            continue
        if (number := number_of(word)) is None:
            return {}
        numbers[word] = number
    if len({*numbers.values()}) < 2:
        return {}
    away = {w: times for w, times in words.items() if fold(w) in ABSENT and fold(w) not in options}
    away |= {
        word: words[word]
        for word in _missing_codes(numbers, words, known)
        if fold(word) not in options
    }
    return away if 2 * sum(away.values()) < sum(words.values()) else {}


def _missing_codes(
    numbers: Mapping[str, float], counts: Counter[str], known: Collection[str] = ()
) -> list[str]:
    """Return the numbers of a column that are codes: of nines, far outside a few other marks.

    Next to negative marks, only 99 and the like are far enough outside.
    """
    codes = [word for word in numbers if _CODES.fullmatch(word)]
    more = [word for word in numbers if word in _MORE_CODES]
    for others_too in ([*codes, *more], codes):
        marks = {word: n for word, n in numbers.items() if word not in others_too}
        most = max(map(abs, marks.values()), default=0)
        signed = min(marks.values(), default=0) < 0
        rising = len(numbers) == counts.total() and [*numbers.values()] == sorted(numbers.values())
        least = 1 if any(word in known for word in codes) else 2
        if rising or not least <= len(marks) <= _MOST_STEPS + 1:
            continue
        far = [w for w in codes if abs(numbers[w]) >= max(99, _FAR * most)]
        far += [w for w in codes if not signed and -99 < numbers[w] <= -8]
        if far:
            return far + [word for word in more if word in others_too and most <= _MOST_STEPS]
    return []


def _cell_word(cell: object) -> str:
    """Return the word in a cell, "" for objects, lists and yes or no."""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return ""
    return str(cell).strip()

"""What a table's values say, whatever the headings: which columns identify rows."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Sequence

from core.formats.columns.answer_columns import (
    MOST_MARK,
    MOST_SHARED,
    WHOLE,
    are_not_labels,
    could_answer,
    is_index,
    same_scale,
)
from core.formats.columns.headings import (
    LANGUAGE,
    NO_RATERS,
    is_confidential,
    is_quantity,
    is_sum,
    names_a_criterion,
    reports_a_run,
)
from core.formats.columns.label_words import NO_ANSWER, is_yes, may_be_marks
from core.formats.columns.text_columns import ANY_TEXT, WRITTEN, WRITTEN_BY, is_remark, text_shape
from core.formats.source.csv_writer import number_of
from core.formats.source.heading import names_the_truth
from core.formats.source.heading_words import (
    ITEMS,
    RANKS,
    RATED,
    RATERS,
    SUMMARIES,
    SURENESS,
    has_word,
    name_parts,
    plain_heading,
)
from core.formats.tables.cells import only_entry
from core.formats.tables.table import Table, first_of_table
from core.formats.votes.structure.vote_headings import (
    YES_OR_NO,
    heads_label,
    is_measured,
    is_overall_heading,
    names_a_system,
)
from core.text.names import fold

#: The most rows to examine; more change nothing.
_ROWS = 2000
_KEPT = frozenset({"id", "ids", "uuid", "guid", "key", "name", "email"})
#: Last words of headings for what a person gave or is, which are not names.
_GIVEN = frozenset(
    {"score", "scores", "rating", "label", "grade", "mark", "answer", "vote", "comment", "notes"}
)
#: Last words of headings for measurements, or for criteria if others have their scale.
_ALSO_RATED = frozenset({"experience", "length", "cost", "environment"})
#: Headings of a total grade, which is a rounded sum of others.
_GRADE = re.compile(r"\A(note|endnote|zensur|grade|mark|ocena|nota|voto|karakter|cijfer)\Z", re.I)
#: Attributes of a person.
TRAITS = re.compile(
    r"\b(age|sex|gender|years|education|experience|country|alter|geschlecht|edad|sexo)"
    r"|性別|年齢|年代|性别|年龄|성별|나이"
)
#: Up to this many different words are a scale, however short the table.
_FEW = 7
#: Words in headings of correct answers.
_KNOWN = frozenset({"gold", "golden", "truth", "goldstandard", "curated", "curation"})
#: Usual headings of judged texts.
USUAL = frozenset({*WRITTEN_BY, *WRITTEN, *ANY_TEXT})
#: The position of an item in a series of trials.
_POSITION = re.compile(r"\b(trial|row|order|index|position|reihenfolge|ordre|orden|posicion)\b")
#: Ids, and the addresses of pictures, sounds and pages.
_ADDRESS = re.compile(r"[0-9a-f-]+\Z|[a-z][a-z0-9+.\-]*://|www\.")
_SENTENCE = re.compile(r"[.!?](\s|\Z)|。")
#: Texts that are longer than this on average are not names.
_NAME = 60


def first_rows(table: Table) -> Table:
    """Return the table with only the rows to examine."""
    return first_of_table(table, _ROWS)


def values_of(table: Table) -> Values:
    """Return what the values of a table say, worked out once for each table."""
    return table.once(Values)


class Values:
    """The words of a table's columns, and what they determine."""

    def __init__(self, table: Table) -> None:
        table = first_rows(table)
        self.table, self.rows = table, table.rows
        self.size = len(self.rows)
        self.columns = [c for c in table.columns if not (c in table.nested or is_index(table, c))]
        self.words = {c: [_word_in(row.get(c)) for row in self.rows] for c in self.columns}
        self.columns = [c for c in self.columns if any(self.words[c])]
        self.distinct = {c: {w for w in self.words[c] if w} for c in self.columns}
        self.full_name = name_parts(self.columns)
        self._known = dict[str, bool]()
        self._number_lists = dict[str, list[float | None]]()

    def share_filled(self, column: str) -> float:
        """Return the share of rows with a value."""
        return sum(map(bool, self.words[column])) / max(1, self.size)

    def uniqueness(self, keys: Sequence[str]) -> float:
        """Return the number of different keys in these columns as a share of the rows."""
        return len(set(zip(*(self.words[key] for key in keys), strict=True))) / max(1, self.size)

    def varies(self, keys: Sequence[str], column: str) -> bool:
        """Return whether rows with the same keys differ in a column; an empty cell differs."""
        first: dict[tuple[str, ...], str] = {}
        rows = zip(
            zip(*(self.words[key] for key in keys), strict=True), self.words[column], strict=True
        )
        return any(first.setdefault(key, word) != word for key, word in rows)

    def are_crossed(self, left: str, right: str) -> bool:
        """Return whether each of two columns has several values for one value of the other."""
        return self.varies([left], right) and self.varies([right], left)

    def may_be_key(self, column: str) -> bool:
        """Return whether a column names things that occur in several rows."""
        words = self.distinct[column]
        if (
            not 1 < len(words) < self.size
            or self.share_filled(column) < 0.95
            or column in self.full_name
        ):
            return False
        if self.is_number(column) and any((number_of(word) or 0) % 1 for word in words):
            return False
        ends = plain_heading(column).rpartition(" ")[2]
        is_asked = names_a_criterion(column) or heads_label(column)
        if is_asked and ends not in _KEPT and not has_word(column, ITEMS):
            return False
        is_attribute = ends in (NO_RATERS | LANGUAGE | _GIVEN) - _KEPT and not has_word(
            column, RATED
        )
        counted = is_quantity(column) and not has_word(column, RATERS)
        if self.holds_remarks(column) or is_sum(column) or counted or is_attribute:
            return False
        return not are_not_labels(words) or all(map(_ADDRESS.match, words))

    def holds_remarks(self, column: str) -> bool:
        """Return whether a column holds remarks; `note` is a mark if it holds numbers."""
        named = is_remark(column) and plain_heading(column).rpartition(" ")[2] not in _KEPT
        return named and not self.is_number(column)

    @property
    def remarks(self) -> list[str]:
        """Return the columns of remarks that are not confidential."""
        return [c for c in self.columns if self.holds_remarks(c) and not is_confidential(c)]

    def holds_sentences(self, column: str) -> bool:
        """Return whether a column holds sentences, such as a reviewer's text."""
        shape = text_shape(self.table, column)
        ends = [bool(_SENTENCE.search(word)) for word in self.distinct[column]]
        return shape is not None and shape.has_phrases and 2 * sum(ends) > len(ends)

    def is_long(self, column: str) -> bool:
        """Return whether a column holds sentences too long for names."""
        return sum(map(len, self.distinct[column])) > _NAME * max(1, len(self.distinct[column]))

    def text_columns(self) -> list[str]:
        """Return the columns of judged texts: several words in nearly every row."""
        filled = (c for c in self.columns if self.share_filled(c) >= 0.8)
        return [c for c in filled if is_written(self.table, c)]

    def _is_varied(self, column: str) -> bool:
        return len(self.distinct[column]) > 1 or names_a_criterion(column)

    def counts_rows(self, column: str, keys: Sequence[str], *, any_order: bool = False) -> bool:
        """Return whether a column only counts the rows of each key: turns, positions, instances.

        A column headed for a position may count them in another order.
        """
        any_order = any_order or bool(_POSITION.search(plain_heading(column)))
        any_order = any_order and self.is_number(column)
        groups = defaultdict[str, list[str]](list)
        for key in keys:
            groups.clear()
            for name, word in zip(self.words[key], self.words[column], strict=True):
                groups[name].append(word)
            sizes = [len(group) for group in groups.values()]
            of_keys = [
                sorted(group, key=lambda w: number_of(w) or 0.0) if any_order else group
                for group in groups.values()
            ]
            if max(sizes) > 2 and all(map(_is_count_heading, of_keys)):
                return True
        return False

    def is_answer(self, column: str, item: str, rater: str) -> bool:
        """Return whether a column may hold answers: no counter, rater's number or right answer."""
        if {item, rater, column} - set(self.columns):
            return True
        if names_the_truth(column) and not self.varies([item], column):
            return False
        if heads_label(column) or names_a_criterion(column) or len(self.distinct[column]) < 2:
            return True
        repeats = self.size - len(self.distinct[rater]) > 2
        is_rater_number = repeats and self.is_number(column) and not self.varies([rater], column)
        return not is_rater_number and not self.counts_rows(column, [item, rater])

    def answer_columns(self, item: Sequence[str], rater: str) -> list[str]:
        """Return the columns of answers, if items and a rater identify rows.

        They differ between the raters of an item, or share the scale of a column that does. Columns
        that are constant within a rater, counts, remarks and sums are not answers.
        """
        keys = {*item, rater}
        able = [c for c in self.columns if c not in keys and self._may_answer(c, [*item, rater])]
        if sum(map(self.is_number, able)) > 1:
            left = {*self.columns} - {*able, *keys}
            more = [c for c in left if self.is_line(c) or self._is_rated_like(c, able)]
            able += [c for c in more if self.varies(item, c) and self.varies([rater], c)]
            able.sort(key=self.columns.index)
        texts = [t for t in self.text_columns() if not self.varies(item, t)]
        seeds = [c for c in able if c not in texts and self.varies(item, c)]
        if self.size - len(self.distinct[rater]) > 2:
            seeds = [c for c in seeds if names_a_criterion(c) or self.varies([rater], c)]
        # Raters who always agree have answered, too.
        seeds = seeds or [c for c in able if heads_label(c) and len(self.distinct[c]) > 1]
        words = [self.distinct[c] for c in seeds]
        alike = [
            c for c in able if any(same_scale(self.distinct[c], seed_words) for seed_words in words)
        ]
        alike = [
            c
            for c in alike
            if self._is_varied(c) or any(self.distinct[c] <= seed_words for seed_words in words)
        ]
        alike = [c for c in alike if self.varies([rater], c) or not self.is_number(c)]
        columns = [c for c in able if c in seeds or (c in alike and c not in texts)]
        columns = [c for c in columns if not self._is_settled_answer(c, columns, item)]
        return [c for c in columns if not self._adds_nothing(c, columns, rater)]

    def _is_settled_answer(self, column: str, answers: Sequence[str], item: Sequence[str]) -> bool:
        """Return whether a column is the settled answer: the words of the answers, one per item."""
        answers_left = [c for c in answers if c != column]
        if (
            len(answers_left) != 1
            or self.varies(item, column)
            or not self.varies(item, answers_left[0])
        ):
            return False
        words, answer_words = self.distinct[column], self.distinct[answers_left[0]]
        plain = all(is_yes(word) is None and number_of(word) is None for word in words)
        return plain and len(words) > 1 and words <= answer_words

    def _adds_nothing(self, column: str, answers: Sequence[str], rater: str) -> bool:
        """Return whether a column next to answers is a rank, or their mean."""
        places = [c for c in answers if self.is_number(c) and has_word(c, RANKS, whole=True)]
        numeric = [c for c in answers if c not in (column, *places) and self.is_number(c)]
        ranks = column in places and self.counts_rows(column, [rater], any_order=True)
        return bool(numeric) and (
            ranks or (is_overall_heading(column) and self.is_mean(column, numeric))
        )

    def is_mean(self, column: str, group: Sequence[str]) -> bool:
        """Return whether a column holds the means or the sums of others."""
        if not self.is_number(column) or not all(map(self.is_number, group)) or len(group) < 2:
            return False
        rows = zip(self._numbers(column), *map(self._numbers, group), strict=True)
        fits, total, exact = 0, 0, 0
        rounded = has_word(column, SUMMARIES, whole=True) or bool(_GRADE.search(column))
        # Bands and grades are rounded to halves.
        least = 0.26 if is_overall_heading(column) else 0.051
        for value, *others in rows:
            numbers = [n for n in others if n is not None]
            if value is None or len(numbers) < 2:
                continue
            if 5 * (total - fits) > self.size:
                return False  # too many rows differ, whatever the others hold
            mean = statistics.fmean(numbers)
            total += 1
            exact += value % 1 != 0 or abs(value - sum(numbers)) < 0.01
            near = abs(value - mean) <= (0.51 if rounded and value % 1 == 0 else least)
            fits += near or abs(value - sum(numbers)) < 0.01
        share = 1 if least > 0.1 else 0.8
        return total > 2 and bool(exact or rounded) and fits >= total * share

    def _numbers(self, column: str) -> list[float | None]:
        """Return the number in each row, or ``None``."""
        if column not in self._number_lists:
            number = {word: number_of(word) for word in {*self.words[column]}}
            self._number_lists[column] = [number[word] for word in self.words[column]]
        return self._number_lists[column]

    def says_how_sure(self, column: str) -> bool:
        """Return whether a column is the confidence in the answer of another column."""
        heading = plain_heading(column)
        beside = (plain_heading(c) for c in self.columns if c != column)
        return has_word(column, SURENESS) and any(heading.startswith(f"{c} ") for c in beside)

    def measures_nothing(self, column: str) -> bool:
        """Return whether a heading names no time, age or count, and does not end as an id's."""
        words = plain_heading(column).split()
        ends = bool(words) and words[-1] in NO_RATERS and column[-1] != "]"
        return not (ends or (words and is_measured(column)))

    def is_number(self, column: str) -> bool:
        """Return whether a column holds only numbers."""
        return all(number_of(word) is not None for word in self.distinct[column])

    def can_be_answers(self, column: str) -> bool:
        """Return whether a column could hold answers by its values and its heading."""
        if column not in self._known:
            self._known[column] = self._may_be_answers(column)
        return self._known[column]

    def _may_be_answers(self, column: str) -> bool:
        adds_up = is_sum(column) and not YES_OR_NO.search(column)
        if adds_up or names_a_system(column) or reports_a_run(column):
            return False
        if self.holds_remarks(column) or self.holds_sentences(column):
            return False
        if {*plain_heading(column).split()} & _KNOWN or self.says_how_sure(column):
            return False
        numbers = [n for word in self.distinct[column] if (n := number_of(word)) is not None]
        named = heads_label(column)
        if len(numbers) < len(self.distinct[column]):
            is_scale = len(self.distinct[column]) <= max(_FEW, self.size // 2)
            return could_answer(self.table, column) and is_scale
        if not (named or may_be_marks(numbers)) or not self.measures_nothing(column):
            return False
        halves = all((2 * n) % 1 == 0 for n in numbers)
        on_a_line = not halves and _on_line(numbers, 10)
        return (
            named
            or on_a_line
            or (could_answer(self.table, column) and (halves or len(numbers) <= MOST_SHARED))
        )

    def is_line(self, column: str) -> bool:
        """Return whether a column holds marks on a line from 0 to 100, each of which may differ."""
        numbers = [n for word in self.distinct[column] if (n := number_of(word)) is not None]
        if not MOST_SHARED < len(numbers) == len(self.distinct[column]) or max(numbers) <= 10:
            return False
        counted = len(numbers) == self.size and all(n % 1 == 0 for n in numbers)
        known = counted or is_sum(column) or has_word(column, SURENESS)
        return _on_line(numbers, MOST_MARK) and self.measures_nothing(column) and not known

    def _is_rated_like(self, column: str, answers: Sequence[str]) -> bool:
        """Return whether `Experience` and the like hold marks on the scale of other answers."""
        ends = plain_heading(column).rpartition(" ")[2]
        words = self.distinct[column]
        like = (c for c in answers if self.is_number(c) and same_scale(words, self.distinct[c]))
        return ends in _ALSO_RATED and self.is_number(column) and sum(1 for _ in like) > 1

    def _may_answer(self, column: str, keys: Sequence[str]) -> bool:
        if not self.can_be_answers(column):
            return False
        return (
            heads_label(column) or names_a_criterion(column) or not self.counts_rows(column, keys)
        )


def _on_line(numbers: Sequence[float], most: float) -> bool:
    """Return whether numbers are tenths up to ``most``, as marks set on a line are."""
    return all(0 <= n <= most and abs(10 * n - round(10 * n)) < 1e-6 for n in numbers)


def is_written(table: Table, column: str) -> bool:
    """Return whether a column holds texts: several words each, different, and not remarks."""
    shape = text_shape(table, column)
    return shape is not None and shape.has_phrases and not is_remark(column)


def _is_count_heading(words: Sequence[str]) -> bool:
    numbers = [int(word) for word in words if word.isdecimal() and len(word) < 20]
    return len(numbers) == len(words) and numbers == [numbers[0] + n for n in range(len(words))]


def _word_in(cell: object) -> str:
    value = only_entry(cell)
    word = "" if value is None else fold(str(value))
    word = word[:-1].strip() if re.fullmatch(r"[\d.,]+ ?%|[1-6][+-]", word) else word
    word = WHOLE.sub("", word)
    return "" if word in NO_ANSWER else word

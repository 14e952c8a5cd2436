"""Tables with a row for each item, and columns of answers on one scale: raters or criteria."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

from core.formats.columns.answer_columns import are_not_labels, columns_by_scale, counts_rows
from core.formats.columns.headings import (
    is_sum,
    named_for_raters,
    names_a_criterion,
    names_a_person,
    numbered_parts,
    stem_of,
    without_place,
)
from core.formats.columns.label_words import may_be_marks
from core.formats.columns.name_grids import is_titled_name, without_continued_headings
from core.formats.columns.text_columns import is_remark, text_shape
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import (
    ITEMS,
    PREFERENCES,
    RATERS,
    SUMMARIES,
    has_word,
    heads_names,
    plain_heading,
)
from core.formats.tables.sheets import SHEETS
from core.formats.tables.table import Table
from core.formats.votes.structure.marks import raters_agree
from core.formats.votes.structure.texts import TextColumns, best_texts
from core.formats.votes.structure.values import Values, values_of
from core.formats.votes.structure.vote_headings import (
    IDS,
    RANGED,
    heads_label,
    is_measured,
    item_changes,
    names_a_system,
)
from core.formats.votes.structure.word_scales import is_scale

#: `J1`, `k12`: a rater, or a judge.
_LETTERED = re.compile(r"[a-z]\d+")
#: `NAME (48213)`, `NAME [Total Pts: 20] |48213` and `NAME <Numeric MaxPoints:20>` of gradebooks.
#: `Quiz: Week 3 (Real)` of Moodle's, which has percentages and letters beside it.
_GRADEBOOKS = (
    *(r".+ \(\d+\)", r".+ \[.+\] \|\d+", r".+ <.*MaxPoints:[^>]*>"),
    r"(?!Course total|Kurs).+ \((?:Real|Points|Punkte|Réel|Brut|Reale|Valore|Echt)\)",
)
#: The same, and `stem [part]` of a survey.
_SAME_FORM = (*_GRADEBOOKS, r"(.+?)\s*\[[^\]]+\]")
#: `Code (SK)`: a criterion, and the initials of the rater.
_INITIALS = re.compile(r"(.+?)\s*[(\[]([A-Z]{1,3}\d?)[)\]]")
#: `Note /20 (Mme Petit)`: a criterion, and a rater by title or initial.
_TITLED = re.compile(
    r"(.+?)\s*[(\[]((?:(?:(?:Dr|Dra|Prof|Mr|Mrs|Ms|Miss|Mme|Mlle|Herr|Frau|Hr|Fr|Sr|Sra|Sig"
    r"|Dott)\.?|[A-Z]\.) )+[^\W\d_][^()\[\]]{1,30})[)\]]"
)
#: `Severity - Lena`: a criterion, and the name of the rater.
_AFTER_STEM = re.compile(r"(.+?)(?:\s+[-–—/|]\s+|:\s+)([^\W\d_][^,;:/|]{0,30})")
#: `G24-001`, `e7`, `§ 3`: a name with a number, in one or two words.
_CODE = re.compile(r"(?=.*\d)[\w\-./#§]{1,20}(?: [\w\-./#§]{1,10})?")
#: `Value for money`: several words, which no name of a person is.
_PHRASE = re.compile(r"\w\s+[a-z]{3,}")
_LEAST = -10
#: The weakest id of a respondent: two people may share one.
IP = "ip address"
_RESPONSES = frozenset({"response id", "respondent id", "session id", "antwort id", IP})


class RaterColumns(NamedTuple):
    """Columns of answers, the item (empty: a row is one), texts, and summaries of the answers.

    ``are`` says what the columns are if their headings decide: "raters", "criteria", or "".
    """

    item: tuple[str, ...]
    columns: tuple[str, ...]
    are: str = ""
    texts: TextColumns = TextColumns()
    summaries: tuple[str, ...] = ()

    @property
    def is_numbered(self) -> bool:
        """Return whether headings differ only in a number."""
        forms = {_heading_form(column) for column in self.columns}
        return len(forms) == 1 and "#" in "".join(forms)

    @property
    def is_gradebook(self) -> bool:
        """Return whether headings are a gradebook's, or numbered parts with a sum beside them."""
        summed = bool(self.summaries) and numbered_parts(self.columns)
        return summed or any(
            all(re.fullmatch(form, c) for c in self.columns) for form in _GRADEBOOKS
        )

    @property
    def titled(self) -> bool:
        """Return whether headings are, or end in, the title or initial and name of a person."""
        return all(_TITLED.fullmatch(c.strip()) or is_titled_name(c) for c in self.columns)

    def changes(self, field: str) -> tuple[str, ...]:
        """Return the roles as `FIELD=COLUMN`, with the columns as ``field``."""
        keys = [*item_changes(self.item), *self.texts.changes(self.item)]
        stem, names = self._names_after_stem()
        if field == "raters" and names:
            return (*keys, *(f"raters={name}" for name in names), f"criteria={stem}")
        return (*keys, *(f"{field}={column}" for column in self.columns))

    def _names_after_stem(self) -> tuple[str, list[str]]:
        """Return the criterion and the names after it in `Severity - Lena`, or "" and none."""
        form = _TITLED if self.titled else _AFTER_STEM
        parts = [m for c in self.columns if (m := form.fullmatch(c.strip()))]
        stems = {m[1] for m in parts}
        if len(parts) < len(self.columns) or len(stems) > 1:
            return "", []
        return stems.pop(), [m[2] for m in parts]


def rater_columns(table: Table) -> RaterColumns | None:
    """Return the columns of answers of a table whose rows are items, or ``None``."""
    values = values_of(table)
    item = item_columns(values)
    able = without_place([c for c in values.columns if c not in item and not is_sum(c)])
    able = without_continued_headings(values.table, able)
    able = [c for c in able if not _names_the_best(values, c)]
    marks = [c for c in able if _is_mark(values, c)]
    group = (
        [c for c in marks if c in table.maxima]
        or _columns_of_one_form(values, able)
        or _summed_columns(values, marks)
        or _largest_group(values, able, marks)
    )
    if len(group) < 2:
        return None
    twice = [c for c in group if _summarises(values, c, [g for g in group if g != c])]
    alone = len(twice) == 1 and not names_a_person(twice[0])
    twice = [c for c in twice if alone or has_word(c, SUMMARIES, whole=True)]
    group = [c for c in group if c not in twice]
    are = "criteria" if {*group} <= table.maxima else _kind_of_columns(group)
    if not item and (are == "raters" or raters_agree(values, group)):
        before = [] if values.is_number(group[0]) else able[: able.index(group[0])]
        ids = [c for c in able if c not in group and values.may_be_key(c)]
        ids = [c for c in ids if c in before or has_word(c, ITEMS)]
        ids.sort(key=lambda c: c in values.text_columns())
        item = next((pair for pair in combinations(ids, 2) if values.uniqueness(pair) == 1), ())
    if all(map(names_a_system, group)):
        return None  # an answer of each system, not of the row
    if len(group) < 2 or values.size < 3 or not (item or are):
        return None
    judged = best_texts(values, [t for t in values.text_columns() if t not in group], item)
    if not judged.text and len(item) == 1 and (of := text_shape(table, item[0])):
        judged = judged._replace(text=item[0] if of.sentences and not of.is_short else "")
    summaries = [c for c in values.columns if c not in group and _summarises(values, c, group)]
    return RaterColumns(item, tuple(group), are, judged, tuple(summaries))


def raters_by_rows(table: Table) -> tuple[str, ...]:
    """Return the roles of a table with a row per item and criterion, and a column per rater.

    Headings such as J1 and J2 name the raters. Every item has a row for each criterion, of which
    there are fewer than items.
    """
    values = values_of(table)
    answers = [c for c in values.columns if _is_mark(values, c) or values.can_be_answers(c)]
    judges = [c for c in answers if re.fullmatch(r"(judge |rater |[jr])\d+", plain_heading(c))]
    if len(judges) < 2 or len(set(map(_heading_form, judges))) > 1:
        return ()
    words = [
        c for c in values.columns if c not in values.text_columns() and values.share_filled(c) == 1
    ]
    words = [c for c in words if not values.is_number(c) and c not in judges]
    asked_of = [c for c in words if not (has_word(c, RATERS) or names_a_person(c))]
    for item, asked in product(words, asked_of):
        times = len(values.distinct[item]), len(values.distinct[asked])
        if times[0] > times[1] > 1 and times[0] * times[1] == values.size * values.uniqueness(
            [item, asked]
        ):
            return (f"item={item}", f"criterion={asked}", *(f"raters={c}" for c in judges))
    return ()


def _names_the_best(values: Values, column: str) -> bool:
    """Return whether a column names the best of others by the numbers that begin their headings."""
    numbers = {m[0] for c in values.columns if c != column and (m := re.match(r"\d+", c))}
    return has_word(column, PREFERENCES) and values.distinct[column] <= numbers


def sheet_column(values: Values) -> str:
    """Return the column with the names of a workbook's sheets, or ""."""
    head = values.table.columns[0]
    return head if head in SHEETS and values.table.kind in ("xlsx", "ods") else ""


def is_sheet_of_raters(values: Values, sheet: str) -> bool:
    """Return whether sheets repeat the ids of others, with the same words about them."""
    ids = [c for c in values.columns if c != sheet and values.may_be_key(c)]
    ids = [c for c in ids if values.uniqueness([c, sheet]) == 1 and values.varies([c], sheet)]
    about = [c for c in values.columns if not (values.is_number(c) or values.holds_remarks(c))]
    about = [c for c in about if len(values.distinct[c]) > 2 and values.share_filled(c) == 1]
    return any(not values.varies([i], c) for i in ids for c in about if c not in (i, sheet))


def names_a_respondent(column: str) -> bool:
    """Return whether an id is that of a person, so that a row is a respondent."""
    return plain_heading(column) in _RESPONSES or names_a_person(column)


def _kind_of_columns(group: Sequence[str]) -> str:
    """Return whether headings name "raters", "criteria", or "" if neither is clear."""
    alike = any(all(re.fullmatch(form, c) for c in group) for form in _SAME_FORM)
    phrase = any(_PHRASE.search(c) and not heads_label(c) for c in group)
    phrase = phrase and not any(map(names_a_person, group))
    if any(map(names_a_criterion, group)) or alike or phrase or numbered_parts(group):
        return "criteria"
    for form in (_INITIALS, _TITLED):
        parts = [m for c in group if (m := form.fullmatch(c.strip()))]
        if len(parts) == len(group) and len({m[1] for m in parts}) == 1:
            return "raters"
    if all(map(RANGED.search, group)) and not any(map(names_a_person, group)):
        return "criteria"
    return "raters" if all(map(_is_name, group)) or named_for_raters(list(group)) else ""


def _is_name(heading: str) -> bool:
    """Return whether a heading could be the name of a rater, or a word for one."""
    lettered = _LETTERED.fullmatch(plain_heading(heading))
    return bool(lettered) or is_titled_name(heading) or names_a_person(heading)


def item_columns(values: Values) -> tuple[str, ...]:
    """Return the column, or the id and the system, that identify the item of a row, or ()."""
    unique = [
        c for c in values.columns if values.uniqueness([c]) == 1 and values.share_filled(c) == 1
    ]
    unique = [c for c in unique if not are_not_labels(values.distinct[c])]
    unique = [c for c in unique if has_word(c, ITEMS) or not is_remark(c)]
    unique = [c for c in unique if not (values.is_number(c) and is_measured(c))]
    named = [c for c in unique if has_word(c, ITEMS) and c not in values.text_columns()]
    named = [c for c in named if not _is_mark(values, c) or {*plain_heading(c).split()} & IDS]
    words = [c for c in unique if not (values.is_number(c) or heads_label(c) or is_sum(c))]
    first = [c for c in values.columns[:1] if c in unique and not heads_label(c)]
    first = [c for c in first if c not in values.text_columns()]
    words = [c for c in words if c not in values.text_columns()]
    codes = [c for c in first if c in words and all(map(_CODE.fullmatch, values.distinct[c]))]
    ids = [c for c in named if {*plain_heading(c).split()} & IDS]
    codes = [c for c in codes if not names_a_person(c)]
    full_name = values.full_name
    by_name = full_name and not (ids or codes or named) and values.uniqueness(full_name) == 1
    if not by_name and (columns := [*ids, *codes, *named, *first, *words]):
        is_id = "id" in plain_heading(columns[0]).split()
        if counts_rows(values.table.rows, columns[0]) and not is_id:  # A name beside it says more.
            shapes = {c: text_shape(values.table, c) for c in values.columns[1:2]}
            beside = [c for c, of in shapes.items() if of and (of.is_short or not of.sentences)]
            beside = [c for c in beside if not is_scale(values.distinct[c], c)]
            names = [c for c in (*named, *words) if c not in ids]
            names = [c for c in names if c in named or heads_names(c) or c in beside]
            return full_name or tuple(names[:1] or columns[:1])
        return (columns[0],)
    if by_name:
        return full_name
    systems = [c for c in values.columns if names_a_system(c) and values.may_be_key(c)]
    ids = [c for c in values.columns if has_word(c, ITEMS) and values.may_be_key(c)]
    pairs = ((i, s) for i in ids for s in systems if values.uniqueness([i, s]) == 1)
    return next(pairs, ())


def _is_mark(values: Values, column: str) -> bool:
    """Return whether a column holds marks of some range, which may all differ."""
    numbers = [n for w in values.distinct[column] if (n := number_of(w)) is not None]
    if (
        len(numbers) < max(2, len(values.distinct[column]))
        or {*plain_heading(column).split()} & IDS
    ):
        return False
    return min(numbers) >= _LEAST and may_be_marks(numbers) and values.measures_nothing(column)


def _columns_of_one_form(values: Values, able: Sequence[str]) -> list[str]:
    """Return the columns whose headings have the form of a gradebook's or a survey's."""
    for form in _SAME_FORM:
        alike = [c for c in able if re.fullmatch(form, c)]
        alike = [c for c in alike if values.can_be_answers(c) or _is_mark(values, c)]
        stems = Counter("" if form in _GRADEBOOKS else re.sub(form, r"\1", c) for c in alike)
        if max(stems.values(), default=0) > 1:
            return alike
    return []


def _summed_columns(values: Values, marks: Sequence[str]) -> list[str]:
    """Return the adjacent columns whose means or sums another column holds."""
    named = (c for c in values.columns if has_word(c, SUMMARIES, whole=True))
    for total in (c for c in named if values.is_number(c)):
        at = values.columns.index(total)
        before = [c for c in values.columns[:at] if c in marks]
        after = [c for c in values.columns[at + 1 :] if c in marks]
        runs = [before[n:] for n in range(len(before) - 1)]
        runs += [after[: len(after) - n] for n in range(len(after) - 1)]
        for run in runs:
            if values.is_mean(total, run):
                return list(run)
    return []


def _largest_group(values: Values, able: Sequence[str], marks: Sequence[str]) -> list[str]:
    """Return the largest group of columns that share a scale, or marks of people in one range."""
    answers = [c for c in able if values.can_be_answers(c)]
    group = next(iter(columns_by_scale(values.table, answers)), [])
    forms = Counter(_heading_form(c) for c in group)
    form, times = forms.most_common(1)[0] if forms else ("", 0)
    if "#" in form and 2 <= times < len(group) <= 2 * times:
        group = [
            c for c in group if _heading_form(c) == form
        ]  # a column with another form of heading is something else
    for form in forms:
        alike = [c for c in answers if _heading_form(c) == form]
        group = alike if set(group) < set(alike) else group
    stems = Counter(filter(None, map(stem_of, marks)))
    alike = [c for c in marks if stems and stem_of(c) == stems.most_common(1)[0][0]]
    if len(alike) > max(1, len(group)) and names_a_system(alike[0]):
        return alike
    people = [c for c in marks if _is_name(c)]
    ranged = [c for c in people if all(_share_range(values, c, other) for other in people)]
    return ranged if len(ranged) > len(group) else group


def _share_range(values: Values, left: str, right: str) -> bool:
    ranges = [[number_of(w) or 0.0 for w in values.distinct[c]] for c in (left, right)]
    low, high = max(map(min, ranges)), min(map(max, ranges))
    return high - low >= 0.3 * (max(map(max, ranges)) - min(map(min, ranges)))


def _summarises(values: Values, column: str, group: Sequence[str]) -> bool:
    """Return whether a column holds the means of others, or their majority."""
    if values.is_mean(column, group):
        return len(group) > 1
    if len(group) < 2 or not _differs_in_form(column, group):
        return False
    rows = zip(values.words[column], *(values.words[c] for c in group), strict=True)
    agreed = total = 0
    for word, *others in rows:
        most = Counter(filter(None, others)).most_common(2)
        if word and most and (len(most) == 1 or most[0][1] > most[1][1]):
            total += 1
            agreed += word == most[0][0]
    return total > 2 and agreed * 10 >= total * 9


def _differs_in_form(column: str, group: Sequence[str]) -> bool:
    """Return whether the other headings are similar, and this one is not."""
    forms = {_heading_form(c) for c in group}
    named = all(map(names_a_person, group)) and not names_a_person(column)
    return named or (len(forms) == 1 and _heading_form(column) not in forms)


def _heading_form(heading: str) -> str:
    """Return a heading with a placeholder for each number."""
    return re.sub(r"\d+", "#", plain_heading(heading))

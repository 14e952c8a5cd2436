"""The columns that identify the rows of a table, with the columns of answers and texts."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from core.formats.columns.answer_columns import columns_by_scale
from core.formats.columns.headings import is_confidential, names_a_criterion
from core.formats.columns.text_columns import heads_a_prompt, heads_a_source
from core.formats.source.heading import names_the_truth
from core.formats.source.heading_words import ITEMS, PEOPLE, RATERS, REFERENCES, has_word
from core.formats.votes.structure.marks import is_either, without_derived
from core.formats.votes.structure.texts import TextColumns, best_texts, judged_texts
from core.formats.votes.structure.values import Values
from core.formats.votes.structure.vote_headings import heads_label, item_changes, names_a_system
from core.formats.votes.structure.word_scales import scale_order

_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+\Z")
_PERSON = re.compile(r"(?:dr|prof|mr|mrs|ms|mme|herr|frau|sr|sra|m)\.? \w|[a-z]{2,3}\Z")


class RowKeys(NamedTuple):
    """The columns that identify the rows of a table, and the answers in them.

    ``sure``: headings name the rater and the item, or each rater answered on each item.
    ``system``: the author of each item, beside the columns of the item.
    """

    item: tuple[str, ...]
    rater: str
    answers: tuple[str, ...]
    criterion: str = ""
    texts: TextColumns = TextColumns()
    reason: str = ""
    replicate: str = ""
    sure: bool = False
    system: str = ""

    @property
    def has_criterion_columns(self) -> bool:
        """Return whether each column of answers is a criterion."""
        return not self.criterion and len(self.answers) > 1

    def changes(self) -> tuple[str, ...]:
        """Return the roles as `FIELD=COLUMN`."""
        arguments = [*item_changes(self.item), *self.texts.changes(self.item)]
        arguments += [f"rater={self.rater}"]
        arguments += [f"criterion={self.criterion}"] if self.criterion else []
        name = "criteria" if self.has_criterion_columns else "label"
        arguments += [f"{name}={column}" for column in self.answers]
        optional = (("reason", self.reason), ("replicate", self.replicate), ("system", self.system))
        return (*arguments, *(f"{field}={column}" for field, column in optional if column))


def answer_keys(
    values: Values, item: tuple[str, ...], rater: str, asked: str, texts: Sequence[str]
) -> RowKeys | None:
    """Return the answers and the texts for these keys, or ``None`` if no column holds answers."""
    keys = (*item, *([asked] if asked else []))
    answers = [c for c in values.answer_columns(keys, rater) if c not in keys]
    if not answers:
        return None
    if values.uniqueness([*keys, rater]) < 1:
        # A column that distinguishes the remaining rows is not an answer.
        rest = [c for c in answers if values.uniqueness([*keys, rater, c]) < 1 or heads_label(c)]
        grids = {c.partition(" [")[0] for c in rest if " [" in c}
        answers = [c for c in answers if c in rest or c.partition(" [")[0] in grids] or answers
    answers = _answers_together(values, without_derived(values, answers), one=bool(asked))
    free = [t for t in texts if not values.varies(item, t)]
    if not free and values.uniqueness(item) < 1:
        free = judged_texts(values, item)  # remarks that people rate
    free = [t for t in free if t not in (*item, rater, *answers)]
    if len(item) == 1 and item[0] in texts:
        free = [item[0], *free]
    judged = _system_texts(values, free, item) or best_texts(values, free, item)
    varying = [c for c in values.columns if c not in keys and values.varies(item, c)]
    varying = [c for c in varying if not is_confidential(c)]
    sentences = (c for c in varying if c in texts or values.holds_sentences(c))
    reasons = sorted(filter(values.holds_remarks, varying)) or [
        *filter(values.measures_nothing, sentences)
    ]
    if not reasons and len(values.remarks) == 1:
        reasons = values.remarks  # raters of an item may all give the same
    reason = next((c for c in reasons if c not in (*answers, rater, *judged)), "")
    others = {*keys, rater, *answers, *judged, *varying}
    system = author_of(values, item, others)
    return RowKeys(item, rater, tuple(answers), asked, judged, reason, system=system)


def author_of(values: Values, item: Sequence[str], taken: Collection[str]) -> str:
    """Return the column of the systems that wrote several items each, beside the ids, or ""."""
    most = values.uniqueness(item) * values.size / 2
    able = (c for c in values.columns if names_a_system(c) and c not in taken)
    authors = (c for c in able if 1 < len(values.distinct[c]) <= most)
    return "" if any(map(names_a_system, item)) else next(authors, "")


def _system_texts(values: Values, texts: Sequence[str], item: Sequence[str]) -> TextColumns | None:
    """Return the texts that differ between the systems of an id, with the one they share."""
    ids = [c for c in item if not names_a_system(c)]
    own = [t for t in texts if ids and values.varies(ids, t)]
    shared = [t for t in texts if t not in own and not has_word(t, REFERENCES)]
    shared.sort(key=lambda t: not (heads_a_prompt(t) or heads_a_source(t)))
    if len(ids) == len(item) or not own or not shared:
        return None
    judged = best_texts(values, own, item)
    return judged if judged.prompt else judged._replace(prompt=shared[0])


def _answers_together(values: Values, answers: list[str], *, one: bool) -> list[str]:
    """Return the answers that belong together: one, or those on a scale and those named for it."""
    named = [c for c in answers if heads_label(c)]
    if one:
        return (named or answers)[:1]
    group = next(iter(columns_by_scale(values.table, answers)), [])
    if not group:
        return answers
    first, last = answers.index(group[0]), answers.index(group[-1])
    fields = {c.rpartition(".")[0] for c in group} - {""}  # `Answer.tone` beside `Answer.kind`
    named += [c for c in answers if c.rpartition(".")[0] in fields]
    scales = [c for c in answers if scale_order(w := values.distinct[c], c) or is_either(w, c)]
    also = {*answers[first:last], *group, *named, *scales, *filter(names_a_criterion, answers)}
    also |= {*filter(values.is_line, answers)}
    return [c for c in answers if c in also]


def rater_heading_level(values: Values, column: str) -> int:
    """Return how certainly a column names raters: 3 by its heading, 0 not at all, -1 it cannot."""
    codes = len(values.distinct[column]) * 2 <= values.size or has_word(column, ITEMS)
    if names_a_system(column) or (values.is_number(column) and not codes) or values.is_long(column):
        return -1
    if has_word(column, RATERS):
        return 3
    if has_word(column, PEOPLE) or all(map(_MAIL.match, values.distinct[column])):
        return 2
    words = values.distinct[column]
    names = [w for w in words if not names_the_truth(w)]
    if names and all(has_word(w, RATERS) for w in names):
        return 2
    return int(all(map(_PERSON.match, words)))

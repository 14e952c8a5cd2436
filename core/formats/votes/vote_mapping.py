"""The role of each column in a table of votes, guessed from names and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from core.domain.base import Noun
from core.domain.rubric import Rubric
from core.formats.columns.answer_columns import (
    can_share_criterion,
    columns_by_scale,
    could_answer,
    counts_rows,
    holds_words,
    is_index,
    words_in,
)
from core.formats.columns.headings import (
    is_confidential,
    is_sum,
    named_for_raters,
    names_a_criterion,
    names_a_judging_model,
    names_a_rater,
    part_beside_raters,
    plain_name,
    without_place,
    without_prefix,
)
from core.formats.columns.name_grids import without_continued_headings
from core.formats.columns.text_columns import is_remark, prompt_beside, text_column
from core.formats.datasets.labels import option_for
from core.formats.source.heading import names_the_truth
from core.formats.source.heading_words import RANKS, has_word
from core.formats.tables.table import Table
from core.formats.votes.structure.marks import without_derived
from core.formats.votes.structure.named_fields import (
    ABOUT_ITEM,
    NAMES,
    PAIR,
    WIDE,
    fields_checked_by_values,
    flat_columns,
    named_fields,
    names_a_model,
)
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import Values, values_of
from core.formats.votes.structure.vote_headings import (
    IN_BRACKETS,
    heads_label,
    what_is_remarked_on,
)
from core.formats.votes.structure.word_scales import is_scale
from core.text.names import fold

Layout = Literal["long", "wide", "criteria", "pairs"]
#: Kinds of raters. ``gold`` is not a rater: its answer becomes the item's label.
VoterKind = Literal["human", "llm", "offline", "gold"]

_CRITERIA = ("item", "rater", "kind", *ABOUT_ITEM)
_SEPARATORS = (" / ", "/", " | ", "|", ": ", ":", " - ", " – ", "__", "_", " ")
_NTH = re.compile(r"\d{1,2}(st|nd|rd|th|re|er|e|\.|ª|º|°)?", re.I)


class VoteColumn(Noun):
    """A column of answers, and what it names: the criterion, the rater or the item.

    Other columns of a row name the rest. ``reason`` is the column of remarks on these answers.
    """

    column: str
    rater: str = ""
    criterion: str = ""
    item: str = ""
    reason: str = ""

    @property
    def reason_role(self) -> str:
        """Return the role of the column of remarks."""
        return f"reason:{self.column}"


class VoteMapping(Noun):
    """Which column holds which field; ``None`` for none.

    ``columns`` are the raters of a wide table, the criteria of a table with a criterion a column,
    or the judges of pairs. ``only`` names the criterion if neither a column nor a heading does.
    ``kinds`` gives the kinds of raters, ``others`` that of the rest. ``words`` translates answers
    to the rubric's options, by criterion (or for all, under ""). ``by_system``: an id has a text
    for each system, and an item is both together.
    """

    layout: Layout
    item: str | None = None
    criterion: str | None = None
    rater: str | None = None
    kind: str | None = None
    label: str | None = None
    reason: str | None = None
    weight: str | None = None
    replicate: str | None = None
    order: str | None = None
    submission: str | None = None
    prompt: str | None = None
    reference: str | None = None
    system: str | None = None
    first: str | None = None
    second: str | None = None
    first_system: str | None = None
    second_system: str | None = None
    columns: tuple[VoteColumn, ...] = ()
    only: str = ""
    kinds: dict[str, VoterKind] = Field(default_factory=dict)
    others: VoterKind = "human"
    words: dict[str, dict[str, str]] = Field(default_factory=dict)
    by_system: bool = False

    def option_for(self, criterion: str, word: str) -> str:
        """Return the option for a word of the file, or the word itself."""
        return option_for(self.words, criterion, word)

    def used(self) -> dict[str, str]:
        """Return the column of every field that has one."""
        named = {name: getattr(self, name) for name in (*NAMES, *PAIR)}
        used = {name: column for name, column in named.items() if column is not None}
        keys = (f"{c.criterion}/{c.rater}{c.item}/{c.column}" for c in self.columns)
        used |= dict(zip(keys, (c.column for c in self.columns), strict=True))
        return used | {f"reason/{c.column}": c.reason for c in self.columns if c.reason}

    def with_criterion(self) -> VoteMapping:
        """Return the mapping with a name for its only criterion, if it has none."""
        if self.criterion or self.only or any(c.criterion for c in self.columns):
            return self
        heads = [c for c in (self.label, *(c.column for c in self.columns)) if c]
        ranks = bool(heads) and all(has_word(head, RANKS, whole=True) for head in heads)
        only = part_beside_raters(heads) or ("rank" if ranks else "rating")
        return self.model_copy(update={"only": only})

    def roles(self) -> dict[str, str]:
        """Return the role of every mapped column, as listed in `docs/formats.md`."""
        roles = {column: name for name, column in self.used().items() if "/" not in name}
        for c in self.columns:
            gold = self.kinds.get(c.rater) == "gold"
            kind = "item" if c.item else "label" if gold or not c.rater else "rater"
            names = (self.only or "rating",) if gold else (c.criterion, c.rater, c.item)
            roles[c.column] = ":".join(filter(None, (kind, " / ".join(filter(None, names)))))
            roles |= {c.reason: c.reason_role} if c.reason else {}
        return {c: "text" if role == "submission" else role for c, role in roles.items()}


def on_one_scale(table: Table, columns: Sequence[VoteColumn]) -> bool:
    """Return whether the columns of each criterion hold answers on one scale."""
    answers = {c.criterion: list[set[str]]() for c in columns}
    for c in columns:
        answers[c.criterion].append(words_in(table, c.column))
    return all(map(can_share_criterion, answers.values()))


def guess_vote_mapping(table: Table, layout: Layout, rubric: Rubric | None = None) -> VoteMapping:
    r"""Guess a mapping from the names of columns and raters.

    >>> from core.formats.tables.table import read_table
    >>> wide = read_table("id,ann,gpt-4\n1,yes,no\n", "x.csv")
    >>> mapping = guess_vote_mapping(wide, "wide")
    >>> [c.rater for c in mapping.columns], mapping.kinds
    (['ann', 'gpt-4'], {'gpt-4': 'llm'})
    """
    only = rubric.criteria[0].name if rubric and len(rubric.criteria) == 1 else ""
    if layout == "long":
        fields = fields_checked_by_values(table, named_fields(flat_columns(table), NAMES))
        fields |= _reason_field(table, fields)
        kinds = {} if "kind" in fields else kinds_in(table, fields.get("rater"))
        return VoteMapping(layout="long", only=only, kinds=kinds, **fields)
    if layout in ("criteria", "pairs"):
        fields = fields_checked_by_values(table, named_fields(flat_columns(table), _CRITERIA))
        fields |= _reason_field(table, fields)
        kinds = {} if "kind" in fields else kinds_in(table, fields.get("rater"))
        columns = _criterion_columns(table, fields, rubric)
        return VoteMapping(layout=layout, columns=tuple(columns), kinds=kinds, **fields)
    fields = fields_checked_by_values(table, named_fields(flat_columns(table), WIDE))
    first = values_of(table)
    number, names = fields.get("item"), item_columns(first)
    if number and len(names) == 1 and counts_rows(first.table.rows, number):
        fields["item"] = names[0]  # a name beside the number of the row
    able = [c for c in columns_to_answer(table, fields) if c != number]
    candidates = [c for c in without_place(able) if could_answer(table, c)]
    candidates = [
        c
        for c in without_continued_headings(table, candidates)
        if names_the_truth(c) or not is_sum(c, candidates)
    ]
    if sum(map(names_a_rater, candidates)) > 1:
        # Next to columns named for raters, another column is a consensus or a total.
        candidates = [c for c in candidates if names_a_rater(c) or kinds_of([c])]
    means = _mean_column(first, candidates)
    candidates = [c for c in candidates if c not in means]
    columns = _vote_columns(candidates, rubric, by_row="criterion" in fields)
    if all(c.criterion for c in columns):
        turned = [
            VoteColumn(column=c.column, rater=c.criterion, criterion=c.rater) for c in columns
        ]
        sides = [list({c.criterion for c in reading}) for reading in (columns, turned)]
        by_name = len(sides[0]) > 1 and _look_like_raters(sides[0]) > _look_like_raters(sides[1])
        by_scale = not on_one_scale(table, columns) and on_one_scale(table, turned)
        if rubric is None and (by_name or by_scale):
            columns = turned
    else:
        groups = columns_by_scale(table, candidates)
        columns = [c for c in columns if len(groups) != 1 or c.column in groups[0]]
    answers = [c.column for c in columns]
    raters = list(dict.fromkeys(c.rater for c in columns))
    named = named_for_raters(answers) or kinds_of(answers) or named_for_raters(raters)
    if "item" not in fields and columns and named:
        fields |= _item_by_values(table, [*fields.values(), *answers], fields)
    kinds = kinds_of([c.rater for c in columns])
    return VoteMapping(layout="wide", columns=tuple(columns), only=only, kinds=kinds, **fields)


def with_reasons(mapping: VoteMapping, table: Table) -> VoteMapping:
    """Return the mapping with the remarks on one column of answers as the reasons of these.

    So are `Essay (Feedback)` beside `Essay (Real)`, `ann comment` beside `ann` or `ann score`.
    """
    columns = [c.model_copy(update={"reason": ""}) for c in mapping.columns]
    mapping = mapping.model_copy(update={"columns": tuple(columns)})
    used = {*mapping.used().values()}
    free = [c for c in table.columns if c not in used and is_remark(c) and not is_confidential(c)]
    remarks = {about: c for c in free if (about := what_is_remarked_on(c))}
    names = [{plain_name(c.column), IN_BRACKETS.sub("", plain_name(c.column)),
              plain_name(c.rater)} for c in columns]  # fmt: skip
    whose = {about: [of for of, name in zip(columns, names, strict=True) if about in name]
             for about in remarks}  # fmt: skip
    reasons = {of[0].column: remarks[about] for about, of in whose.items() if len(of) == 1}
    columns = [c.model_copy(update={"reason": reasons.get(c.column, "")}) for c in columns]
    return mapping.model_copy(update={"columns": tuple(columns)})


def _mean_column(values: Values, columns: Sequence[str]) -> list[str]:
    """Return the only column with the means of the others, whatever its heading."""
    able = [c for c in columns if c in values.columns and values.is_number(c)]
    means = [c for c in able if values.is_mean(c, [o for o in able if o != c])]
    return means if len(means) == 1 and len(able) > 2 and not names_a_rater(means[0]) else []


def _reason_field(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the only column of sentences that differ between raters of one item, or of its text.

    Without a text, its heading must be that of remarks or reviews.
    """
    item, text = fields.get("item", ""), fields.get("submission", "")
    values = values_of(table)
    if {"reason", "rater"} & {*fields} != {"rater"} or {item, text or item} - {*values.columns}:
        return {}
    free = [c for c in values.columns if c not in fields.values()]
    own = [c for c in free if values.varies([item], c) and not is_confidential(c)]
    said = [*filter(values.holds_remarks, own)] or [*filter(values.holds_sentences, own)]
    if not text:
        said = [c for c in said if is_remark(c) or plain_name(c) in ("review", "review text")]
    known = len(said) == 1 and not (text and values.varies([item], text))
    return {"reason": said[0]} if known else {}


def _look_like_raters(names: Sequence[str]) -> tuple[bool, bool]:
    return all(map(names_a_rater, names)), named_for_raters(names)


def _criterion_columns(
    table: Table, fields: dict[str, str], rubric: Rubric | None
) -> list[VoteColumn]:
    """Return the columns of scores: those of a rubric's criteria, or of numbers and yes or no."""
    able = columns_to_answer(table, fields)
    if rubric is not None:
        names = {plain_name(c.name): c.name for c in rubric.criteria}
        named = {c: names.get(plain_name(without_prefix(c))) for c in able}
        if any(named.values()):
            return [VoteColumn(column=c, criterion=name) for c, name in named.items() if name]
    values = values_of(table)
    able = [
        c for c in able if could_answer(table, c) and not (is_sum(c) or values.holds_sentences(c))
    ]
    if {"item", "rater"} <= fields.keys():
        able = [c for c in able if values.is_answer(c, fields["item"], fields["rater"])]
    prefixed = [c for c in able if without_prefix(c) != c]
    able = [c for c in prefixed or able if is_scale(words_in(table, c), c)]
    able = without_derived(values, able)
    if len(able) > 1 and not columns_by_scale(table, able):
        # Columns of their own scales are criteria by their names, where no text is left.
        texts = [c for c in values.text_columns() if c not in fields.values()]
        if texts or not all(names_a_criterion(c) or heads_label(c) for c in able):
            return []
    return [VoteColumn(column=c, criterion=without_prefix(c)) for c in able]


def columns_to_answer(table: Table, columns: dict[str, str]) -> list[str]:
    """Return filled columns that are neither fields nor reasons."""
    free = [c for c in table.columns if c not in columns.values() and not is_index(table, c)]
    return [c for c in free if not _is_reason(c, free) and holds_words(table, c)]


def _item_by_values(table: Table, taken: Sequence[str], fields: dict[str, str]) -> dict[str, str]:
    """Return the item if no heading names it: the column that identifies rows, or the text."""
    numbered = (c for c in table.columns if is_index(table, c))
    item = next((c for c in (*item_columns(values_of(table)), *numbered) if c not in taken), "")
    if named_for_raters([item]):
        return {}  # a row per rater, which none of these layouts has
    free = {plain_name(column): column for column in table.columns if column not in (*taken, item)}
    text = fields.get("submission") or text_column(table, free).column
    named = {"item": item or text, "submission": text}
    if text and "prompt" not in fields:
        named["prompt"] = prompt_beside(table, text, free.values())
    return {field: column for field, column in named.items() if column}


def kinds_in(table: Table, rater: str | None) -> dict[str, VoterKind]:
    """Return the kinds of the raters named in a column; in `judge_model`, all are models."""
    names = dict.fromkeys(str(row.get(rater) or "") for row in table.rows) if rater else ()
    if names_a_judging_model(rater or ""):
        return dict.fromkeys(names, "llm")
    return kinds_of(names)


def kinds_of(names: Iterable[str]) -> dict[str, VoterKind]:
    """Return the kinds of raters whose names reveal them."""
    kinds: dict[str, VoterKind] = {}
    for name in dict.fromkeys(names):
        if names_the_truth(name):
            kinds[name] = "gold"
        elif names_a_model(name):
            kinds[name] = "llm"
    return kinds


def _vote_columns(left: Sequence[str], rubric: Rubric | None, *, by_row: bool) -> list[VoteColumn]:
    """Return columns as raters, split at `criterion / rater` or the reverse."""
    names = {fold(c.name) for c in rubric.criteria} if rubric else set()
    for separator in () if by_row else _SEPARATORS:
        pairs = _parted(left, separator)
        if not pairs or not all(a and b and not b.isdigit() for a, b in pairs):
            continue  # nothing to split, or marks out of 20
        if names and all(fold(b) in names for _, b in pairs):
            pairs = [(b, a) for a, b in pairs]
        if _are_criterion_and_rater(pairs, names, separator):
            return [
                VoteColumn(column=column, criterion=criterion, rater=rater)
                for column, (criterion, rater) in zip(left, pairs, strict=True)
            ]
    return [VoteColumn(column=column, rater=column) for column in left]


def _parted(headings: Sequence[str], separator: str) -> list[tuple[str, str]]:
    """Return the two parts of each heading; `1st marker` is one part, not `1st`."""
    parts = [h.split(separator, 2) for h in headings]
    by_number = separator in "_ " and all(len(p) > 2 and _NTH.fullmatch(p[0]) for p in parts)
    at = 2 if by_number else 1
    cut = (h.split(separator, at) for h in headings)
    return [(separator.join(p[:at]).strip(), "".join(p[at:]).strip()) for p in cut]


def _are_criterion_and_rater(
    pairs: Sequence[tuple[str, str]], names: set[str], separator: str
) -> bool:
    """Return whether headings are criterion and rater, not `maker/model`."""
    if names:
        return all(fold(criterion) in names for criterion, _ in pairs)
    if separator in "_ ":
        parts = {a for a, _ in pairs}, {b for _, b in pairs}
        complete = len(parts[0]) * len(parts[1]) == len(pairs) > max(map(len, parts))
        return complete and any(
            len(names_of_part) > 1 and named_for_raters(list(names_of_part))
            for names_of_part in parts
        )
    return separator == _SEPARATORS[0] or len({rater for _, rater in pairs}) < len(pairs)


def _is_reason(column: str, others: Sequence[str]) -> bool:
    """Return whether a column holds reasons: `reason`, or `ann reason` next to `ann`.

    >>> _is_reason("ann_reason", ["ann", "ann_reason"]), _is_reason("bob note", ["ann"])
    (True, False)
    """
    about = what_is_remarked_on(column)
    return plain_name(column) in NAMES["reason"] or about in {*map(plain_name, others)} - {""}

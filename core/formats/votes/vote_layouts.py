"""The layout of a table: votes in one of four layouts, items to judge, or unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from core.domain.rubric import Rubric
from core.formats.columns.answer_columns import (
    are_not_labels,
    columns_by_scale,
    could_answer,
    holds_unique_texts,
    words_in,
)
from core.formats.columns.headings import (
    is_question,
    is_sum,
    named_for_raters,
    names_a_criterion,
    names_a_rater,
    numbered_parts,
    plain_name,
)
from core.formats.columns.name_grids import answers_in_grid
from core.formats.columns.text_columns import LONG, text_shape
from core.formats.datasets.mapping import ColumnMapping, guess_mapping
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, has_word
from core.formats.tables.table import Table
from core.formats.votes.imported import TableFormat
from core.formats.votes.item_texts import (
    has_text_per_system,
    merges_texts,
    rival_labels,
    why_unreadable,
)
from core.formats.votes.pairs.pair_columns import similar_system_columns
from core.formats.votes.pairs.pair_tables import guess_pairs, near_pairs
from core.formats.votes.structure.lists import list_answer_changes, with_object_keys
from core.formats.votes.structure.marks import columns_of_marks, tick_changes, without_derived
from core.formats.votes.structure.named_fields import (
    NAMES,
    WEAK,
    WIDE,
    fields_checked_by_values,
    flat_columns,
    judges_with_reasons,
    named_fields,
)
from core.formats.votes.structure.rater_columns import names_a_respondent, rater_columns
from core.formats.votes.structure.row_keys import row_keys
from core.formats.votes.structure.values import first_rows, values_of
from core.formats.votes.structure.word_scales import is_scale
from core.formats.votes.vote_mapping import (
    Layout,
    VoteColumn,
    VoteMapping,
    columns_to_answer,
    guess_vote_mapping,
    kinds_of,
    on_one_scale,
)


def kind_of_table(
    table: Table, rubric: Rubric | None = None
) -> TableFormat | Literal["dataset", "unknown"]:
    """Return whether a table holds votes, in which layout, or items to grade."""
    if guess_pairs(table) is not None:
        return "pairs"
    if why_unreadable(table):
        return "unknown"
    if looks_by_criteria(table):
        return (
            "unknown"
            if _values_disagree(table, "criteria")
            else _layout_unless_merging(table, "criteria")
        )
    if looks_long(table):
        return (
            "unknown" if _values_disagree(table, "long") else _layout_unless_merging(table, "long")
        )
    if _is_grid(table, rubric) or (rubric is None and judges_with_reasons(table)):
        return "unknown"  # raters by criteria, or labels of a text
    if similar_system_columns(table, loose=False):
        return "unknown"  # systems, not raters
    if looks_wide(table):
        return _layout_unless_ticked(table, "wide")
    wide = guess_vote_mapping(table, "wide")
    if answers_share_a_scale(table, wide) and not _are_criteria(table, wide, rubric):
        return "unknown"  # raters' answers, or labels of criteria
    mapping = guess_mapping(table, rubric)
    if mapping.submission is None:
        return "dataset" if mapping.are_tasks else "unknown"
    beside = (*mapping.meta, *mapping.labels.values())
    marks = columns_of_marks(values_of(table), beside) if rubric is None else []
    ambiguous = bool(rival_labels(table, mapping)) or any(near_pairs(first_rows(table)))
    labels = [c for c in mapping.labels.values() if rubric is None and not mapping.label_map]
    ambiguous = ambiguous or not {*marks} <= {*mapping.labels.values()}
    ambiguous = ambiguous or without_derived(values_of(table), labels) != labels
    rated = bool(row_keys(with_object_keys(table))) or any(list_answer_changes(table))
    rated = rated or _has_rater_columns(table, mapping.labels.values())
    rated = rated or unnamed_raters(table, mapping) != "" or _labels_in_grid(table, mapping)
    return "unknown" if ambiguous or rated else "dataset"


def _labels_in_grid(table: Table, mapping: ColumnMapping) -> bool:
    """Return whether labels without a rubric are headed as raters by criteria: `Truth / KB`."""
    grid = answers_in_grid(table) if mapping.labels and not mapping.label_map else None
    return grid is not None and {*grid.columns.values()} <= {*mapping.labels.values()}


def unnamed_raters(table: Table, mapping: ColumnMapping) -> str:
    """Return the id of items of which most have several rows with other labels, or "".

    The same text is another item where another prompt was asked.
    """
    text, values = mapping.submission, values_of(table)
    labels = [c for c in mapping.labels.values() if c in values.columns]
    if not labels or text is None or text not in values.columns or values.uniqueness([text]) > 0.67:
        return ""
    ids = [c for c in values.columns if c != text and has_word(c, ITEMS) and values.may_be_key(c)]
    ids = [c for c in ids if not (values.varies([c], text) or values.varies([text], c))]
    asked = [mapping.prompt] if mapping.prompt in values.columns else []
    keys = {**{c: [c] for c in ids}, text: [text, *asked]}
    named = [c for c, of in keys.items() if any(values.varies(of, label) for label in labels)]
    return next(iter(named), "") if ids or mapping.id is None else ""


def _values_disagree(table: Table, layout: Layout) -> bool:
    """Return whether the values suggest another item or more answers than the headings.

    If ids are unique, or have several rows per rater, they are not the items.
    """
    keys, mapping = row_keys(table), guess_vote_mapping(table, layout)
    if not keys or keys[0].rater != mapping.rater or mapping.criterion:
        return False
    values = values_of(table)
    item = [mapping.item] if mapping.item in values.columns else []
    is_complete = values.uniqueness([*keys[0].item, keys[0].rater]) == 1
    several = is_complete and values.uniqueness([*item, keys[0].rater]) < 1
    named = {*item, mapping.system} >= {*keys[0].item}
    if item and (values.uniqueness(item) == 1 or several) and not named:
        return True
    return keys[0].has_criterion_columns and not set(keys[0].answers) <= set(
        mapping.used().values()
    )


def _has_rater_columns(table: Table, labels: Iterable[str]) -> bool:
    """Return whether columns next to texts are raters, or criteria that are not all labels."""
    wide = rater_columns(with_object_keys(table))
    if wide is None or set(wide.columns) & set(labels):
        return wide is not None and wide.is_numbered and not set(wide.columns) <= set(labels)
    if wide.are == "criteria":
        return set(wide.columns) <= {*table.columns}
    free = [c for c in columns_to_answer(table, {}) if could_answer(table, c) and not is_sum(c)]
    free = [c for c in free if c not in wide.item]
    return wide.are == "raters" or wide.is_numbered or 2 * len(wide.columns) >= len(free)


def _layout_unless_merging(table: Table, layout: Layout) -> TableFormat | Literal["unknown"]:
    """Return the layout, or ``unknown`` if its items would merge different texts."""
    merged = merges_texts(table, guess_vote_mapping(table, layout))
    return "unknown" if merged else _layout_unless_ticked(table, layout)


def _layout_unless_ticked(table: Table, layout: TableFormat) -> TableFormat | Literal["unknown"]:
    """Return the layout, or ``unknown`` if its answers are one mark or blank, which may mean no."""
    if layout == "long":
        return layout
    table = first_rows(table)
    columns = [c.column for c in guess_vote_mapping(table, layout).columns]
    return "unknown" if tick_changes(table, columns) else layout


def _is_grid(table: Table, rubric: Rubric | None) -> bool:
    """Return whether headings are two names by two, and it is unclear which are raters."""
    grid = answers_in_grid(table)
    if grid is None or all(kinds_of([column]) for column in grid.columns.values()):
        return False
    columns = guess_vote_mapping(table, "wide", rubric).columns
    if rubric is None and all(c.criterion for c in columns):
        named = any(names_a_criterion(c.criterion) for c in columns)
        return not named and not all(names_a_rater(c.rater) for c in columns)
    return not all(c.criterion for c in columns)


def _are_criteria(table: Table, mapping: VoteMapping, rubric: Rubric | None) -> bool:
    columns = {c.column for c in mapping.columns}
    labelled = set(guess_mapping(table, rubric).labels.values())
    return bool(columns & labelled) or all(c.criterion for c in mapping.columns)


def looks_long(table: Table) -> bool:
    """Return whether columns name item, rater and label: a vote per row."""
    columns = fields_checked_by_values(table, named_fields(flat_columns(table), NAMES))
    if not {"item", "rater", "label"} <= columns.keys():
        return False
    if are_not_labels(words_in(table, columns["label"])) or holds_unique_texts(
        table, columns["label"]
    ):
        return False
    beside = (c for c in table.columns if c not in columns.values() and names_a_criterion(c))
    if "criterion" not in columns and any(_holds_scale(table, c) for c in beside):
        return False  # `Soundness` beside `Rating`: a criterion a column
    return not (_is_log(table, columns) or _judges_systems(table, columns))


def _holds_scale(table: Table, column: str) -> bool:
    words = words_in(table, column)
    return len(words) > 1 and could_answer(table, column) and is_scale(words, column)


def looks_wide(table: Table) -> bool:
    """Return whether a table has a column of answers per rater.

    At least half of the columns other than items, texts and reasons must share a small set of
    labels. Otherwise it is another kind of table, in which a few columns happen to look like
    answers. A column with a criterion's name is a criterion. Next to long texts, only a column with
    a rater's name is a rater.
    """
    mapping = guess_vote_mapping(table, "wide")
    answers = [c.column for c in mapping.columns]
    if names_a_respondent(mapping.item or "") and not all(map(names_a_rater, answers)):
        return False  # a row is a person, and columns are their answers
    if not any(map(names_a_rater, answers)) and _names_who_rated(table, answers):
        return False
    if {*answers} <= table.maxima and not all(map(names_a_rater, answers)):
        return False  # each column has its own points
    by_criterion = all(c.criterion for c in mapping.columns)
    if not by_criterion and not _could_be_raters(table, answers):
        return False
    return answers_share_a_scale(table, mapping)


def _names_who_rated(table: Table, answers: Sequence[str]) -> bool:
    """Return whether a column beside answers is headed for raters and repeats their names."""
    values = values_of(table)
    free = [c for c in values.columns if c not in answers and names_a_rater(c)]
    return any(values.may_be_key(c) and not values.is_number(c) for c in free)


def answers_share_a_scale(table: Table, mapping: VoteMapping) -> bool:
    """Return whether there is an item, and most other columns could be answers of its raters."""
    answers = [c.column for c in mapping.columns]
    if mapping.item is None or len(answers) < 2:
        return False
    if mapping.criterion is None and len(words_in(table, mapping.item)) < len(table.rows):
        return False  # an item has several rows, so its answers cannot be distinguished
    if all(c.criterion for c in mapping.columns):
        fit = on_one_scale(table, mapping.columns)
    else:
        fit = len(groups := columns_by_scale(table, answers)) == 1 and groups[0] == answers
    candidates = columns_to_answer(table, named_fields(flat_columns(table), WIDE))
    candidates = [c for c in candidates if not is_sum(c, answers)]
    return fit and 2 * len(answers) >= len(candidates)


def _could_be_raters(table: Table, columns: Sequence[str]) -> bool:
    if named_for_raters(columns) or kinds_of(columns):
        return True
    if (
        any(map(names_a_criterion, columns))
        or numbered_parts(columns)
        or any(map(is_question, columns))
    ):
        return False
    texts = [text_shape(table, column) for column in table.columns]
    return not any(
        shape and shape.sentences and not shape.repeated and shape.length >= LONG for shape in texts
    )


def looks_by_criteria(table: Table) -> bool:
    """Return whether a row is an item and a rater, with a column of scores per criterion."""
    mapping = guess_vote_mapping(table, "criteria")
    columns = [c.column for c in mapping.columns]
    if mapping.item is None or mapping.rater is None or not columns:
        return False
    if len(columns) < 2 and (not names_a_criterion(columns[0]) or looks_long(table)):
        return False
    if _judges_systems(table, {k: c for k, c in mapping.used().items() if "/" not in k}):
        return False
    keys = [mapping.item, mapping.rater]
    if mapping.system and has_text_per_system(table, mapping):
        keys.append(mapping.system)
    pairs = [tuple(row.get(column) for column in keys) for row in table.rows]
    return len(set(map(str, pairs))) == len(pairs)


def _is_log(table: Table, columns: dict[str, str]) -> bool:
    """Return whether ``id`` is unique while another column names the row's item."""
    item = columns["item"]
    free = set(table.columns) - set(columns.values())
    return (
        plain_name(item) == "id"
        and any(plain_name(column).endswith(" id") for column in free)
        and len(words_in(table, item)) == len(table.rows)
    )


def _judges_systems(table: Table, columns: dict[str, str]) -> bool:
    """Return whether a `model` or `user` column names the text's author rather than the judge."""
    if plain_name(columns["rater"]) not in WEAK or "submission" not in columns:
        return False
    texts: dict[str, set[str]] = {}
    for row in table.rows:
        texts.setdefault(str(row.get(columns["item"])), set()).add(
            str(row.get(columns["submission"]))
        )
    return len(texts) == len(table.rows) or any(
        len(item_texts) > 1 for item_texts in texts.values()
    )


def with_sparse_raters(mapping: VoteMapping, table: Table) -> VoteMapping:
    """Return the mapping with columns of raters by number (`rater3_tone`) that have few marks.

    These lie inside the marks of the other raters.
    """
    columns, taken = mapping.columns, {*mapping.used().values()}
    more = dict[str, VoteColumn]()
    for c, heading in ((c, heading) for heading in table.columns for c in columns):
        number = re.search(r"\d+", c.rater) if names_a_rater(c.rater) else None
        numbers = re.findall(r"\d+", heading) if number and heading not in taken else []
        for rater in (c.rater.replace(number[0], n, 1) for n in numbers if number):
            beside = [o.column for o in columns if o.criterion == c.criterion]
            is_named_so = c.column.replace(c.rater, rater, 1) == heading
            if is_named_so and _has_marks_inside(table, heading, beside):
                more[heading] = c.model_copy(update={"column": heading, "rater": rater})
    return mapping.model_copy(update={"columns": (*columns, *more.values())})


def _has_marks_inside(table: Table, column: str, others: Sequence[str]) -> bool:
    """Return whether a column has numbers, all between the least and the most of the others'."""
    given = (number_of(word) for other in others for word in words_in(table, other))
    marks = [n for n in given if n is not None]
    few = [number_of(word) for word in words_in(table, column)]
    inside = marks and all(n is not None and min(marks) <= n <= max(marks) for n in few)
    return bool(few and inside)

"""Column mappings: guessed from names, shown to users and changed by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from pydantic import Field

from core.domain.base import Noun, build_model
from core.domain.dataset import Split
from core.domain.rubric import Rubric
from core.formats.columns.answer_columns import (
    MOST_SHARED,
    columns_by_scale,
    could_answer,
    counts_rows,
    is_index,
    words_in,
)
from core.formats.columns.headings import (
    is_quantity,
    is_sum,
    lower_heading,
    named_for_raters,
    names_a_criterion,
    without_prefix,
)
from core.formats.columns.message_texts import holds_messages
from core.formats.columns.text_columns import (
    ANY_TEXT,
    SECTIONS,
    is_worded,
    prompt_beside,
    reference_beside,
    text_column,
)
from core.formats.datasets.field_names import (
    CODES,
    CONTEXT,
    CONTEXT_NAMES,
    CONTEXT_SYNONYMS,
    LABELS,
    OWN,
    SYNONYMS,
)
from core.formats.datasets.labels import WORD, is_word_change, words_in_changes
from core.formats.datasets.roles import (
    NOTE,
    Change,
    listed_columns,
    private_columns,
    refuse_repeated_fields,
    with_item_columns_joined,
)
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, has_word
from core.formats.tables.table import Table

#: Ends of headings of ids.
_ID = re.compile(r"[ .](id|no|num|number|code)\.?\Z|(nr|nummer|n°|\A#|kennung|\Anumero)\.?\Z")
_CONTEXT = re.compile(r"context\s*[:_]\s*(.+)\Z", re.I | re.S)
_PREFIXED = re.compile(r"(label|reason)\s*[:_]\s*(.+)\Z", re.I | re.S)


class ColumnMapping(Noun):
    """Which column holds which field; ``None`` for none.

    ``labels`` and ``reasons`` map criteria to columns. ``label_map`` is a column of objects
    (criterion to label), ``truth`` one of lists in the order of the criteria. Columns in
    ``context`` are shown to judges under their names. Columns in ``meta`` are kept with the item.
    Other columns are left out. ``structured``: text in the submission column is JSON, either
    messages or thinking and output. ``words`` translates labels to the rubric's options, by
    criterion (or for all, under ""). ``context_names`` renames columns.
    """

    id: str | None = None
    submission: str | None = None
    prompt: str | None = None
    reference: str | None = None
    description: str | None = None
    system: str | None = None
    split: str | None = None
    tags: str | None = None
    rubric: str | None = None
    label_map: str | None = None
    meta_map: str | None = None
    truth: str | None = None
    truth_reasons: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)
    context: tuple[str, ...] = ()
    meta: tuple[str, ...] = ()
    structured: bool = False
    words: dict[str, dict[str, str]] = Field(default_factory=dict)
    context_names: dict[str, str] = Field(default_factory=dict)

    @property
    def are_tasks(self) -> bool:
        """Return whether rows are tasks with their own rubrics, but without answers."""
        return self.submission is None and None not in (self.prompt, self.rubric)

    @property
    def used(self) -> dict[str, str]:
        """Return the column of every field and criterion that has one."""
        fields = {name: getattr(self, name) for name in OWN}
        named = {name: column for name, column in fields.items() if column is not None}
        named |= {f"label:{name}": column for name, column in self.labels.items()}
        return named | {f"reason:{name}": column for name, column in self.reasons.items()}

    def roles(self) -> dict[str, str]:
        """Return the role of every mapped column, as listed in `docs/formats.md`."""
        words = {"id": "item", "submission": "text", "label_map": "label", "truth": "label"}
        roles = {column: words.get(field, field) for field, column in self.used.items()}
        return roles | dict.fromkeys(self.context, "context") | dict.fromkeys(self.meta, NOTE)


def guess_mapping(table: Table, rubric: Rubric | None = None) -> ColumnMapping:
    r"""Guess a mapping from the names of the columns.

    A field's own name comes first, then criteria, by name or after ``label:`` or ``label_``, with
    reasons after ``reason:`` or ``reason_``, then other usual names. Other columns become meta.

    >>> from core.formats.tables.table import read_table
    >>> guess_mapping(read_table("Question,Answer,label:tone\n1,2,3\n", "x.csv")).labels
    {'tone': 'label:tone'}
    """
    free = {lower_heading(without_prefix(column)): column for column in reversed(table.columns)}
    if len(free) < len(table.columns):
        free = {lower_heading(column): column for column in reversed(table.columns)}
    fields: dict[str, Any] = {}
    for name, names in OWN.items():
        _claim(fields, name, names, free, table)
    context = [free.pop(plain) for plain in list(free)[::-1] if _is_context(plain, free[plain])]
    fields["labels"], fields["reasons"] = _criterion_columns(free, rubric)
    for name, synonyms in SYNONYMS.items():
        if name not in fields and name != "submission":
            no_references = _no_references(fields, free, table)
            _claim(fields, name, [n for n in synonyms if n not in no_references], free, table)
    if "id" not in fields:
        first = [n for n in free if free[n] == table.columns[0] and has_word(n, ITEMS)]
        first = [n for n in first if not is_worded(table, free[n])]
        _claim(fields, "id", (*filter(_ID.search, reversed(free)), *first), free, table)
    about = {name: free.pop(name) for name in CONTEXT_SYNONYMS if name in free}
    private = private_columns(table)
    if "submission" not in fields:
        usable = {name: column for name, column in free.items() if column not in private}
        choice = text_column(table, usable)
        chosen = choice.column or (None if choice.rivals else _only_text(fields, about, table))
        if chosen is not None:
            fields = {n: c for n, c in fields.items() if c != chosen} | {"submission": chosen}
            free, about = ({n: c for n, c in of.items() if c != chosen} for of in (free, about))
    if "submission" in fields:
        # Next to a written text, any other text is its source.
        about |= {name: free.pop(name) for name in ANY_TEXT if name in free}
        _claim_prompt_and_reference(fields, free, table)
        if "label_map" not in fields:
            fields["labels"] |= _given_labels(free, table, rubric)
    context += [c for n, c in about.items() if n in CONTEXT_NAMES or is_worded(table, c)]
    free |= {name: column for name, column in about.items() if column not in context}
    unused = {c for c in free.values() if c not in private and not is_index(table, c)}
    fields["structured"] = "submission" in fields and holds_messages(table, fields["submission"])
    meta = tuple(c for c in table.columns if c in unused)
    return ColumnMapping(**fields, context=tuple(context), meta=meta)


def _no_references(fields: Mapping[str, Any], free: Mapping[str, str], table: Table) -> set[str]:
    """Return names of a reference that here may be the judged text, or a number to guess."""
    # In a table with an "answer" column, a "model answer" may just as well be the judged text.
    judged = {"model answer"} if "answer" in free else set[str]()
    guessed = "target" in free and "prompt" not in fields and _is_number(table, free["target"])
    return judged | ({"target"} if guessed else set[str]())


def equally_likely_columns(table: Table, rubric: Rubric | None = None) -> tuple[str, ...]:
    """Return the columns that are equally likely to hold the submissions, if none was chosen."""
    mapping = guess_mapping(table, rubric)
    if mapping.submission is not None:
        return ()
    used = {*mapping.used.values(), *mapping.context}
    return text_column(table, {lower_heading(c): c for c in table.columns if c not in used}).rivals


def _only_text(fields: dict[str, Any], about: dict[str, str], table: Table) -> str | None:
    """Return the only column of texts if its name is that of an input or a source."""
    if table.nested:
        return None  # the answer may be inside a cell
    prompt = fields.get("prompt", "")
    named = [prompt] if lower_heading(prompt) == "input" else []
    texts = [c for c in (*named, *about.values()) if is_worded(table, c)]
    texts = [c for c in texts if all(isinstance(row.get(c), str) for row in table.rows[:1000])]
    return texts[0] if len(texts) == 1 else None


def _given_labels(free: dict[str, str], table: Table, rubric: Rubric | None) -> dict[str, str]:
    """Take the labels given with the items: by prefix, on a shared scale, or by a usual name."""
    if rubric is not None:
        return {}
    columns = [c for c in table.columns if c in free.values() and not is_index(table, c)]
    able = [c for c in columns if could_answer(table, c) and not is_sum(c)]
    able += [c for c in columns if lower_heading(c) in ("target", "score") and _is_number(table, c)]
    prefixed = [c for c in able if without_prefix(c) != c]
    few = [c for c in able if len(words_in(table, c)) <= MOST_SHARED and len(table.rows) > 2]
    levels = [c for c in few if _is_number(table, c)]
    levels = [c for c in levels if names_a_criterion(c) or not counts_rows(table.rows, c)]
    shared = next(iter(columns_by_scale(table, levels)), [])
    if not any(map(names_a_criterion, shared)) or named_for_raters(shared):
        shared = []  # these could be answers of raters, which are votes
    named = [free[name] for name in (*LABELS, *CODES) if free.get(name) in able]
    named += [c for c in able if names_a_criterion(c) or {*LABELS} & {*lower_heading(c).split()}]
    several = [c for c in named if len(words_in(table, c)) > 1]
    labels = prefixed or shared or several[:1]
    metrics = _metric_columns(table, columns)
    labels = metrics if {*labels} <= {*metrics} else labels
    for name in [name for name, column in free.items() if column in labels]:
        del free[name]
    return {without_prefix(column): column for column in labels}


#: Metrics that a program computes, beside the usual names of criteria.
_METRIC = re.compile(
    r"\b(precision|recall|(semantic|answer|cosine|string) similarity|bleu|rouge|meteor|bert ?score"
    r"|chrf|comet|bleurt|f1|exact match|entailment|utilization|hit rate|mrr|ndcg)\b"
)
#: Numbers from 0 to 1 that are no scores.
_NO_METRIC = re.compile(
    r"\b(temperature|top p|threshold|seed|loss|lr|rate|penalty|weight|p value|prob|probability"
    r"|confidence|fraction|share|start|end|x|y|w|h|lat|lon)\b"
)


def _metric_columns(table: Table, columns: Iterable[str]) -> list[str]:
    """Return a program's scores from 0 to 1 if one of them is named for a metric, or []."""
    able = [c for c in columns if c not in table.nested and not (is_sum(c) or is_quantity(c))]
    able = [c for c in able if not _NO_METRIC.search(lower_heading(c))]
    numbers = {c: [number_of(word) for word in words_in(table, c)] for c in able}
    able = [
        c for c in able if numbers[c] and all(n is not None and 0 <= n <= 1 for n in numbers[c])
    ]
    named = [c for c in able if names_a_criterion(c) or _METRIC.search(lower_heading(c))]
    parts = [c for c in able if any(n is not None and n % 1 for n in numbers[c])]
    return [c for c in able if c in parts or c in named] if {*named} & {*parts} else []


def _is_number(table: Table, column: str) -> bool:
    return None not in map(number_of, words_in(table, column))


def _claim_prompt_and_reference(fields: dict[str, Any], free: dict[str, str], table: Table) -> None:
    """Take what the submissions answer, and what they should say, if no usual name told it."""
    for field, beside in (("prompt", prompt_beside), ("reference", reference_beside)):
        if field not in fields and (c := beside(table, fields["submission"], free.values())):
            fields[field] = free.pop(next(name for name, column in free.items() if column == c))


def _claim(
    fields: dict[str, Any], name: str, names: Iterable[str], free: dict[str, str], table: Table
) -> None:
    for candidate in map(lower_heading, names):
        if candidate in free and _suits_field(name, free[candidate], table):
            fields[name] = free.pop(candidate)
            return


def _is_context(plain: str, column: str) -> bool:
    return plain in CONTEXT or bool(_CONTEXT.match(column) and ":" in column)


def context_name(column: str) -> str:
    """Return the name under which judges see a context column.

    >>> context_name("context: the  policy"), context_name("passages")
    ('the policy', 'passages')
    """
    prefixed = _CONTEXT.match(column)
    return " ".join((prefixed[1] if prefixed else column).split())


def _suits_field(name: str, column: str, table: Table) -> bool:
    """Return whether the column's values fit the field ``name``."""
    by_name = lower_heading(column) == "id" or (table.flat and name == "submission")
    values = [r[column] for r in table.rows if not by_name and r.get(column) not in (None, "")]
    if name == "label_map" and lower_heading(column) != "labels":
        return bool(values) and all(map(_holds_only_scalars, values))
    if name in ("label_map", "meta_map", "rubric"):
        if name == "rubric" and any(isinstance(v, str) and "\n" not in v for v in values):
            return False  # words about a rubric, not a rubric
        numbers = name == "label_map" and all(isinstance(v, int | float) for v in values)
        return not table.flat and not (values and numbers)
    if name == "submission":
        return not any(isinstance(v, dict) and not (v.keys() & SECTIONS) for v in values)
    if name.startswith("truth"):
        return all(isinstance(value, list) for value in values)
    if name == "id" and lower_heading(column) != "id":
        # The name of a person or a case is an id only if it identifies one row.
        return len(values) == len(table.rows) == len(set(map(str, values)))
    if name == "reference" and lower_heading(column) == "ground truth":
        return is_worded(table, column)  # a single word would be a label
    if name == "split":
        return all(value in get_args(Split) for value in values)
    return True


def _holds_only_scalars(value: Any) -> bool:
    cells = value.values() if isinstance(value, dict) else ()
    return bool(cells) and all(isinstance(v, str | int | float) for v in cells)


def _criterion_columns(
    free: dict[str, str], rubric: Rubric | None
) -> tuple[dict[str, str], dict[str, str]]:
    names = {lower_heading(c.name): c.name for c in rubric.criteria} if rubric else {}
    labels, reasons = dict[str, str](), dict[str, str]()
    for plain, column in list(free.items())[::-1]:
        prefixed = _PREFIXED.match(column)
        bare = lower_heading(without_prefix(column))
        if bare in names and names[bare] not in labels:
            labels[names[bare]] = free.pop(plain)
        elif prefixed and (not names or ":" in column or lower_heading(prefixed[2]) in names):
            target = labels if prefixed[1].lower() == "label" else reasons
            named = names.get(lower_heading(prefixed[2]), prefixed[2].strip())
            target.setdefault(named, free.pop(plain))
    return labels, reasons


#: Fields of items. Labels and reasons go by criterion, as ``label:tone=COLUMN``.
ITEM_FIELDS = (*OWN, "context", "meta")
_OF_CRITERIA = {"label": "labels", "reason": "reasons"}
#: Other names of fields.
_ALIASES = {"text": "submission", "item": "id"}
_WITH_NAMES = ("label:CRITERION", "reason:CRITERION", "context:NAME")


def change_items(mapping: ColumnMapping, changes: Sequence[str], table: Table) -> ColumnMapping:
    """Return a mapping of items with changes, like ``submission=messages[-1].content``.

    A column that gets a field loses its old one. A column that loses its field is kept under meta.
    ``labels`` lists all labels without a prefix. ``context`` and ``meta`` may be given several
    times. ``context:NAME=COLUMN`` renames one. ``word:CRITERION:THEIRS=OURS`` translates a label.

    Raises:
        InputError: an invalid change.
    """
    data, changes = mapping.model_dump(), with_item_columns_joined(changes)
    data["words"] |= words_in_changes([c.removeprefix(WORD) for c in changes if is_word_change(c)])
    refuse_repeated_fields(changes, _ALIASES, ("context", "meta", "labels", "word"))
    if any(change.startswith("labels=") for change in changes):
        data["labels"] = {name: c for name, c in mapping.labels.items() if without_prefix(c) != c}
    for change in (change for change in changes if not is_word_change(change)):
        field, name, value = Change.of(change, (*ITEM_FIELDS, "labels"), _WITH_NAMES, _ALIASES)
        columns = listed_columns(value, table) if field == "labels" else [value]
        for column in columns:
            _release_column(data, column)
        if field == "context" and name and value:
            data["context_names"][value] = name
        if name and field in _OF_CRITERIA:
            data[_OF_CRITERIA[field]][name] = value
        elif field == "labels":
            data["labels"] |= {without_prefix(column): column for column in columns}
        elif field in ("context", "meta"):
            data[field] = (*data[field], value) if value else ()
        else:
            data[field] = value or None
    data["meta"] = _meta(table, mapping, build_model(ColumnMapping, data, "mapping", "--map"))
    return build_model(ColumnMapping, data, "mapping", "--map")


def _release_column(data: dict[str, Any], column: str) -> None:
    """Remove a column from its field."""
    for field in OWN:
        if data[field] == column:
            data[field] = None
    for field in ("labels", "reasons"):
        data[field] = {name: value for name, value in data[field].items() if value != column}
    for field in ("context", "meta"):
        data[field] = tuple(value for value in data[field] if value != column)


def _meta(table: Table, before: ColumnMapping, after: ColumnMapping) -> tuple[str, ...]:
    """Return the columns under meta, including those that lost their field."""
    used = {*after.used.values(), *after.context, *after.meta}
    had = {*before.used.values(), *before.context}
    return (*after.meta, *(c for c in table.columns if c in had and c not in used))

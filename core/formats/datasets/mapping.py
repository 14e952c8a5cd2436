"""Column mappings: guessed from names, shown to users and changed by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from pydantic import Field

from core.domain.base import Noun, build, near
from core.domain.dataset import Split
from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.datasets.answer_columns import plain_head
from core.formats.datasets.labels import WORD, is_word, words_in_changes
from core.formats.datasets.table import Table, opened
from core.formats.datasets.vote_mapping import NAMES, VoteColumn, VoteMapping, kinds_of

#: Column names of each field in files made for grading.
OWN: dict[str, tuple[str, ...]] = {
    name: (name,)
    for name in ("id", "submission", "prompt", "reference", "description", "system", "split")
} | {
    "tags": ("tags",),
    "rubric": ("rubric",),
    "label_map": ("labels",),
    "meta_map": ("meta",),
    "truth": ("ground truth", "truth"),
    "truth_reasons": ("ground truth reasons",),
}
#: Other usual names, most specific first. A criterion of that name goes first.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": (
        *("item id", "example id", "sample id", "uid", "key", "student id", "participant id"),
        *("ticket id", "case id", "response id", "submission id", "document id", "record id"),
        *(
            "prompt id",
            "question id",
            "conversation id",
            "ticket",
            "case",
            "student",
            "participant",
        ),
    ),
    "submission": (
        *("response", "answer", "student answer", "completion", "output", "model output"),
        *("generation", "essay", "reply", "text", "student response", "essay text"),
        *("transcript", "ticket text"),
    ),
    "prompt": ("question", "instruction", "query", "input", "task", "assignment", "essay prompt"),
    "reference": (
        *("reference submission", "reference answer", "gold answer", "model answer"),
        *("desired answer", "ideal answer", "expected", "expected output", "target"),
    ),
    "system": ("model", "model name"),
    "meta_map": ("metadata",),
    "rubric": ("rubrics", "rubric tree"),
}
#: Columns of further material for judges; a file may have several.
CONTEXT = ("context", "contexts")
CONTEXT_SYNONYMS = (
    *("retrieved contexts", "retrieved context", "passages", "documents", "source document"),
    *("source text", "background"),
)
#: Keys of a submission that is an object; any other object holds more than an answer.
_SECTIONS = {"thinking", "output", "first", "second"}
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
    def used(self) -> dict[str, str]:
        """Return field or criterion to column, for every column with a place."""
        fields = {name: getattr(self, name) for name in OWN}
        named = {name: column for name, column in fields.items() if column is not None}
        named |= {f"label:{name}": column for name, column in self.labels.items()}
        return named | {f"reason:{name}": column for name, column in self.reasons.items()}


def guess_mapping(table: Table, rubric: Rubric | None = None) -> ColumnMapping:
    r"""Guess a mapping from the names of the columns.

    A column with a field's own name is that field. Criteria come next, by name or after ``label:``
    or ``label_``, with reasons after ``reason:`` or ``reason_``. Other usual names of the fields
    follow. All other columns become meta.

    >>> from core.formats.datasets.table import read_table
    >>> guess_mapping(read_table("Question,Answer,label:tone\n1,2,3\n", "x.csv")).labels
    {'tone': 'label:tone'}
    """
    free = {plain_head(column): column for column in reversed(table.columns)}
    fields: dict[str, Any] = {}
    for name, own in OWN.items():
        _claim(fields, name, own, free, table)
    context = [free.pop(plain) for plain in list(free)[::-1] if _is_context(plain, free[plain])]
    fields["labels"], fields["reasons"] = _of_criteria(free, rubric)
    for name, others in SYNONYMS.items():
        if name not in fields:
            _claim(fields, name, others, free, table)
    context += [free.pop(name) for name in CONTEXT_SYNONYMS if name in free]
    private = _private(table)
    if "submission" not in fields and (
        longest := longest_text(table, set(free.values()) - private)
    ):
        fields["submission"] = free.pop(plain_head(longest))
    left = set(free.values()) - private
    fields["structured"] = "submission" in fields and holds_messages(table, fields["submission"])
    return ColumnMapping(
        **fields, context=tuple(context), meta=tuple(c for c in table.columns if c in left)
    )


#: Columns that Google Forms adds: when, and who.
_FORM = ("timestamp", "email address", "username")
#: Texts shorter than this on average are not submissions by length alone.
_LONG = 60


def _private(table: Table) -> set[str]:
    """Return the columns of a form that identify respondents, which are left out."""
    plain = {plain_head(column): column for column in table.columns}
    if not table.flat or _FORM[0] not in plain or plain_head(table.columns[0]) != _FORM[0]:
        return set()
    return {plain[name] for name in _FORM[1:] if name in plain}


def is_form(table: Table) -> bool:
    """Return whether a table comes from a form and has people's addresses."""
    return bool(_private(table))


def longest_text(table: Table, columns: Iterable[str]) -> str | None:
    """Return the text column of a CSV or sheet that is far longer than the others.

    Only long texts count, in columns where few are repeated.
    """
    sizes = dict[str, float]()
    for column in columns if table.flat else ():
        texts = [str(row[column]) for row in table.rows[:1000] if row.get(column)]
        sentences = [
            text for text in texts if " " in text.strip() and text.lstrip()[:1] not in "{["
        ]
        if (
            sentences
            and len(sentences) * 5 >= len(table.rows[:1000]) * 4
            and len(set(sentences)) * 2 > len(sentences)
        ):
            sizes[column] = sum(map(len, sentences)) / len(sentences)
    best, *others = sorted(sizes, key=sizes.__getitem__, reverse=True) or [""]
    if not best or sizes[best] < _LONG or (others and sizes[best] < 2 * sizes[others[0]]):
        return None
    return best


def is_by_length(table: Table, column: str) -> bool:
    """Return whether a submission column was chosen by length, not by name."""
    named = {plain_head(name) for name in (*OWN["submission"], *SYNONYMS["submission"])}
    return plain_head(column) not in named and longest_text(table, table.columns) == column


def holds_messages(table: Table, column: str) -> bool:
    """Return whether the texts of a column are conversations in JSON."""
    cells = [row[column] for row in table.rows if row.get(column)] if table.flat else []
    return bool(cells) and all(map(_is_conversation, cells))


def _is_conversation(cell: Any) -> bool:
    turns = opened(cell) if isinstance(cell, str) else None
    return (
        isinstance(turns, list)
        and bool(turns)
        and all(isinstance(turn, dict) and turn.keys() == {"role", "content"} for turn in turns)
    )


def _claim(
    fields: dict[str, Any], name: str, names: Iterable[str], free: dict[str, str], table: Table
) -> None:
    for candidate in map(plain_head, names):
        if candidate in free and _suits(name, free[candidate], table):
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


def _suits(name: str, column: str, table: Table) -> bool:
    """Return whether the column's values fit the field ``name``."""
    values = [row[column] for row in table.rows if row.get(column) not in (None, "")]
    if name in ("label_map", "meta_map", "rubric"):
        return not table.flat
    if name == "submission":
        return not any(isinstance(v, dict) and not (v.keys() & _SECTIONS) for v in values)
    if name.startswith("truth"):
        return all(isinstance(value, list) for value in values)
    if name == "id" and plain_head(column) != "id":
        # A name of a person or a case is an id only if it names one row.
        return len(values) == len(table.rows) == len(set(map(str, values)))
    if name == "split":
        return all(value in get_args(Split) for value in values)
    return True


def _of_criteria(
    free: dict[str, str], rubric: Rubric | None
) -> tuple[dict[str, str], dict[str, str]]:
    names = {plain_head(c.name): c.name for c in rubric.criteria} if rubric else {}
    labels, reasons = dict[str, str](), dict[str, str]()
    for plain, column in list(free.items())[::-1]:
        prefixed = _PREFIXED.match(column)
        if plain in names and names[plain] not in labels:
            labels[names[plain]] = free.pop(plain)
        elif prefixed and (not names or ":" in column or plain_head(prefixed[2]) in names):
            into = labels if prefixed[1].lower() == "label" else reasons
            into.setdefault(
                names.get(plain_head(prefixed[2]), prefixed[2].strip()), free.pop(plain)
            )
    return labels, reasons


#: Fields of a table of votes; ``raters`` names columns of a wide table.
VOTE_FIELDS = (*NAMES, "only", "others", "raters")
#: Fields of items. Labels and reasons go by criterion, as ``label:tone=COLUMN``.
ITEM_FIELDS = (*OWN, "context", "meta")
_OF_CRITERIA = {"label": "labels", "reason": "reasons"}
#: Fields that only votes, or only items, have.
_ONLY_VOTES = {*VOTE_FIELDS, "kind:"} - set(OWN)
_TELL_LONG = {"rater", "label"}


def fields_in(changes: Sequence[str]) -> list[str]:
    """Return the fields of the changes: ``kind`` of ``kind:ann=human`` and so on."""
    fields = [change.partition("=")[0] for change in changes]
    return [f[: f.index(":") + 1] if ":" in f else f for f in fields]


def layout_meant(changes: Sequence[str]) -> Literal["long", "wide"] | None:
    """Return the layout of a table of votes, if the changes imply it."""
    fields = set(fields_in(changes))
    if "raters" in fields:
        return "wide"
    return "long" if fields & _TELL_LONG else None


def is_for_items(changes: Sequence[str]) -> bool:
    """Return whether the changes concern items to grade, and none concerns votes."""
    fields = set(fields_in(changes))
    of_items = {*ITEM_FIELDS, *(f"{kind}:" for kind in _OF_CRITERIA)}
    return bool(fields & of_items) and not fields & _ONLY_VOTES


def change_votes(mapping: VoteMapping, changes: Sequence[str], table: Table) -> VoteMapping:
    """Change a mapping of votes, like ``item=doc_id`` or ``kind:gpt=llm``.

    ``item=`` removes a column. ``raters=ann,bob`` names the columns of a wide table.

    Raises:
        InputError: an invalid change.
    """
    data, kinds = mapping.model_dump(), dict(mapping.kinds)
    raters = list[str]()
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals:
            raise _strange(change, VOTE_FIELDS)
        if field == "raters":
            parts = [part.strip() for part in value.split(",")]
            raters += [value] if value in table.columns else [part for part in parts if part]
        elif field.startswith("kind:"):
            kinds[field.removeprefix("kind:")] = value  # type: ignore[assignment]
        elif field in VOTE_FIELDS:
            data[field] = value if value or field == "only" else None
        else:
            raise _strange(change, VOTE_FIELDS)
    if raters:
        columns = [VoteColumn(column=c, rater=c) for c in dict.fromkeys(raters)]
        data["columns"], kinds = columns, {**kinds_of(raters), **kinds}
    elif data["rater"] != mapping.rater and data["kind"] is None:
        names = (str(row.get(data["rater"]) or "") for row in table.rows)
        kinds = {**kinds_of(names), **kinds}
    return build(VoteMapping, data | {"kinds": kinds}, "mapping", "--map")


#: Changes with a name before the column.
_WITH_NAMES = ("label:CRITERION", "reason:CRITERION", "context:NAME")


def change_items(mapping: ColumnMapping, changes: Sequence[str], table: Table) -> ColumnMapping:
    """Change a mapping of items, like ``submission=messages[-1].content``.

    A column that gets a field leaves its old one. A column that loses its field is kept under meta.
    ``context`` and ``meta`` may be given several times. ``context:NAME=COLUMN`` renames a column.
    ``word:CRITERION:THEIRS=OURS`` translates a label.

    Raises:
        InputError: an invalid change.
    """
    data = mapping.model_dump()
    data["words"] |= words_in_changes([c.removeprefix(WORD) for c in changes if is_word(c)])
    for change in changes:
        if is_word(change):
            continue
        field, equals, value = change.partition("=")
        kind, colon, criterion = field.partition(":")
        of_criterion = colon and kind in _OF_CRITERIA and criterion.strip()
        renamed = colon and kind == "context" and criterion.strip() and value
        if not equals or not (of_criterion or renamed or field in ITEM_FIELDS):
            raise _strange(change, (*ITEM_FIELDS, *_WITH_NAMES))
        _free(data, value)
        if renamed:
            data["context_names"][value], field = " ".join(criterion.split()), kind
        if of_criterion:
            data[_OF_CRITERIA[kind]][criterion.strip()] = value
        elif field in ("context", "meta"):
            data[field] = (*data[field], value) if value else ()
        else:
            data[field] = value or None
    data["meta"] = _meta(table, mapping, build(ColumnMapping, data, "mapping", "--map"))
    return build(ColumnMapping, data, "mapping", "--map")


def _free(data: dict[str, Any], column: str) -> None:
    """Remove a column from its field."""
    if not column:
        return
    for field in OWN:
        if data[field] == column:
            data[field] = None
    for field in ("labels", "reasons"):
        data[field] = {name: other for name, other in data[field].items() if other != column}
    for field in ("context", "meta"):
        data[field] = tuple(other for other in data[field] if other != column)


def _meta(table: Table, before: ColumnMapping, after: ColumnMapping) -> tuple[str, ...]:
    """Return the columns under meta, with those that lost their field."""
    taken = {*after.used.values(), *after.context, *after.meta}
    had = {*before.used.values(), *before.context}
    return (*after.meta, *(c for c in table.columns if c in had and c not in taken))


def _strange(change: str, fields: Iterable[str]) -> InputError:
    names = tuple(fields)
    mend = near(change.partition("=")[0], set(names)) or f"FIELD is one of {', '.join(names)}."
    return InputError(f"--map {change!r} is not understood. Write FIELD=COLUMN. {mend}")

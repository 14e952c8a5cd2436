"""Which column is what: guessed from the names, shown to the person, changed by them, then used."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, get_args

from pydantic import Field

from core.domain.base import Noun
from core.domain.dataset import Split
from core.domain.names import fold
from core.domain.rubric import Rubric
from core.files.tables import Table

#: The names a field's column goes by in files that are made for grading.
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
#: Other usual names, most telling first. They count only where no criterion has that name.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "id": ("item id", "example id", "sample id", "uid", "key"),
    "submission": (
        *("response", "answer", "student answer", "completion", "output", "model output"),
        *("generation", "essay", "reply", "text"),
    ),
    "prompt": ("question", "instruction", "query", "input", "task"),
    "reference": (
        *("reference submission", "reference answer", "gold answer", "model answer"),
        *("desired answer", "ideal answer", "expected", "expected output", "target"),
    ),
    "system": ("model", "model name"),
    "meta_map": ("metadata",),
}
#: Columns of further material that judges are to see; a file may have several.
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
    """Which column holds what; ``None`` where there is none.

    ``labels`` and ``reasons`` map criteria to columns. ``label_map`` is a column of objects
    (criterion to label), ``truth`` one of lists in the order of the criteria. Columns in
    ``context`` are shown to judges under their names. Columns in ``meta`` are kept with the item;
    columns named nowhere are left out. ``structured`` says that text in the submission column is
    JSON: messages, or thinking and output.
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

    @property
    def used(self) -> dict[str, str]:
        """Field or criterion to column, for every column that has a place of its own."""
        fields = {name: getattr(self, name) for name in OWN}
        named = {name: column for name, column in fields.items() if column is not None}
        named |= {f"label:{name}": column for name, column in self.labels.items()}
        return named | {f"reason:{name}": column for name, column in self.reasons.items()}


def guess_mapping(table: Table, rubric: Rubric | None = None) -> ColumnMapping:
    r"""A mapping guessed from the names of the columns.

    A column with a field's own name is that field; then come criteria (by their name, or behind
    ``label:`` or ``label_``; reasons behind ``reason:`` or ``reason_``), then other usual names of
    the fields. Whatever is left is kept as meta.

    >>> from core.files.tables import read_table
    >>> guess_mapping(read_table("Question,Answer,label:tone\n1,2,3\n", "x.csv")).labels
    {'tone': 'label:tone'}
    """
    free = {_plain(column): column for column in reversed(table.columns)}
    found: dict[str, Any] = {}
    for name, own in OWN.items():
        _claim(found, name, own, free, table)
    context = [free.pop(plain) for plain in list(free)[::-1] if _is_context(plain, free[plain])]
    found["labels"], found["reasons"] = _of_criteria(free, rubric)
    for name, others in SYNONYMS.items():
        if name not in found:
            _claim(found, name, others, free, table)
    context += [free.pop(name) for name in CONTEXT_SYNONYMS if name in free]
    left = set(free.values())
    return ColumnMapping(
        **found, context=tuple(context), meta=tuple(c for c in table.columns if c in left)
    )


def _claim(
    found: dict[str, Any], name: str, names: Iterable[str], free: dict[str, str], table: Table
) -> None:
    for candidate in map(_plain, names):
        if candidate in free and _suits(name, free[candidate], table):
            found[name] = free.pop(candidate)
            return


def _is_context(plain: str, column: str) -> bool:
    return plain in CONTEXT or bool(_CONTEXT.match(column) and ":" in column)


def context_name(column: str) -> str:
    """The name under which judges see a column of context.

    >>> context_name("context: the  policy"), context_name("passages")
    ('the policy', 'passages')
    """
    prefixed = _CONTEXT.match(column)
    return " ".join((prefixed[1] if prefixed else column).split())


def _suits(name: str, column: str, table: Table) -> bool:
    """Whether the column's values can be what ``name`` means."""
    values = [row[column] for row in table.rows if row.get(column) not in (None, "")]
    if name in ("label_map", "meta_map", "rubric"):
        return table.kind != "csv"
    if name == "submission":
        return not any(isinstance(v, dict) and not (v.keys() & _SECTIONS) for v in values)
    if name.startswith("truth"):
        return all(isinstance(value, list) for value in values)
    if name == "split":
        return all(value in get_args(Split) for value in values)
    return True


def _of_criteria(
    free: dict[str, str], rubric: Rubric | None
) -> tuple[dict[str, str], dict[str, str]]:
    known = {_plain(c.name): c.name for c in rubric.criteria} if rubric else {}
    labels, reasons = dict[str, str](), dict[str, str]()
    for plain, column in list(free.items())[::-1]:
        prefixed = _PREFIXED.match(column)
        if plain in known and known[plain] not in labels:
            labels[known[plain]] = free.pop(plain)
        elif prefixed and (not known or ":" in column or _plain(prefixed[2]) in known):
            into = labels if prefixed[1].lower() == "label" else reasons
            into.setdefault(known.get(_plain(prefixed[2]), prefixed[2].strip()), free.pop(plain))
    return labels, reasons


def _plain(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", fold(name)).strip()

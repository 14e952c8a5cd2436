"""An items.jsonl in which nothing needs a second look, read by whole columns: who has which label,
system and split, without the texts.

Whatever is not plain (own rubrics, conversations, texts that are not at hand, a word that is no
option) is left to the reader that looks at every item and names the line of a problem.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.dataset import MAX_TEXT
from core.domain.rubric import Criterion, Rubric
from core.formats.datasets.items import traits_in
from core.formats.datasets.labels import Truth, UnfitValue
from core.formats.source.json_reader import out_of_bounds
from core.formats.source.parsed import MAX_ROWS

Codes = npt.NDArray[np.int64]
_TEXTS = ("id", "submission", "prompt", "reference", "description", "system", "split")
_KNOWN = frozenset({*_TEXTS, "labels", "meta"})
#: Looked for wherever a value may begin; within a text it costs no more than a closer look.
_NOT_FINITE = re.compile(r"[:\[,]\s*-?(?:NaN|Inf)")
_SPLITS = ("", "calibration", "evaluation")
#: An item's notes may nest; deeper ones are looked at one by one.
_DEEPEST = 8
_LONGEST_ID = 500


class CleanItems(NamedTuple):
    """Items in the file's order. ``kinds`` are the different (system, tags, split), ``kind`` says
    which each item is. ``labels`` are options by criterion: -1 for a label that is none of them, -2
    where there is none.
    """

    ids: tuple[str, ...]
    kinds: tuple[tuple[str, tuple[str, ...], str], ...]
    kind: Codes
    labels: Mapping[str, Codes]


def read_clean_items(text: str, rubric: Rubric) -> CleanItems | None:
    """The items; ``None`` where they need a closer look."""
    table = _table(text)
    if table is None or not set(table.column_names) <= _KNOWN:
        return None
    if not {"id", "submission"} <= set(table.column_names) or table["submission"].null_count:
        return None
    ids = table["id"].to_pylist()
    if len({one for one in ids if one and one.strip()}) < len(ids):
        return None
    if max(map(len, ids)) > _LONGEST_ID or not _short_enough(table):
        return None
    labels, kinds = _labels(table, rubric), _kinds(table)
    if labels is None or kinds is None:
        return None
    return CleanItems(tuple(ids), *kinds, labels)


def _table(text: str) -> Any:
    """The file as columns; ``None`` where it is not one plain object a line."""
    import pyarrow as pa
    from pyarrow import json

    body = text.strip()
    # A line of two objects, or an object on two lines, would be read as well.
    rows = body.count("}\n{") + 1
    if not (body.startswith("{") and body.endswith("}")):
        return None
    if out_of_bounds(body) or _NOT_FINITE.search(body):
        return None
    schema = pa.schema([(name, pa.string()) for name in _TEXTS])
    try:
        found = json.read_json(
            io.BytesIO(body.encode()),
            json.ReadOptions(use_threads=False, block_size=2**24),
            json.ParseOptions(explicit_schema=schema),
        )
    except pa.ArrowInvalid:
        return None
    there = rows == body.count("\n") + 1 == len(found) <= MAX_ROWS
    if not there or any(_deep(field.type) > _DEEPEST for field in found.schema):
        return None
    # What the file does not name at all is a column of nothing.
    return found.select([n for n in found.column_names if found[n].null_count < len(found)])


def _deep(kind: Any) -> int:
    return 1 + max((_deep(kind.field(at).type) for at in range(kind.num_fields)), default=0)


def _short_enough(table: Any) -> bool:
    from pyarrow import compute

    texts = (table[name] for name in _TEXTS if name in table.column_names)
    return all((compute.max(compute.binary_length(one)).as_py() or 0) <= MAX_TEXT for one in texts)


def _words(column: Any) -> tuple[Codes, list[Any]]:
    """The place of each cell among the distinct cells of a column, and these."""
    whole = column.combine_chunks().dictionary_encode(null_encoding="encode")
    # Its own way to numpy imports pandas.
    return np.from_dlpack(whole.indices).astype(np.int64), whole.dictionary.to_pylist()


def _plain(column: Any) -> bool:
    """Whether its cells are words, whole numbers or yes and no: nothing else was made of them."""
    return str(column.type) in ("string", "int64", "bool", "null")


def _labels(table: Any, rubric: Rubric) -> dict[str, Codes] | None:
    """Every criterion's options."""
    if "labels" not in table.column_names:
        return {}
    criteria, columns = {one.name: one for one in rubric.criteria}, _fields(table["labels"])
    if columns is None or not columns.keys() <= criteria.keys():
        return None
    truth, found = Truth(rubric), dict[str, Codes]()
    for name, column in columns.items():
        inner = _fields(column)
        if inner is not None:
            if "label" not in inner or not inner.keys() <= {"label", "reason"}:
                return None
            reason, words = inner.get("reason", inner["label"]), inner["label"]
            # A label that is not there is another thing than one that is null.
            if not _plain(reason) or words.null_count > column.null_count:
                return None
            column = words
        if not _plain(column):
            return None
        codes, distinct = _words(column)
        options = _options(truth, criteria[name], distinct)
        if options is None:
            return None
        found[name] = np.array(options, np.int64)[codes]
    return found


def _fields(column: Any) -> dict[str, Any] | None:
    """What objects hold, as columns; ``None`` where the cells are no objects."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_struct(column.type):
        return None
    return {field.name: compute.struct_field(column, field.name) for field in column.type}


def _options(truth: Truth, criterion: Criterion, words: Sequence[Any]) -> list[int] | None:
    found = list[int]()
    for word in words:
        try:
            named = truth.named(criterion.name, word)
        except UnfitValue:
            return None
        option = criterion.index_of(named[1].label) if named else None
        found.append(-2 if named is None else -1 if option is None else option)
    return found


def _kinds(table: Any) -> tuple[tuple[tuple[str, tuple[str, ...], str], ...], Codes] | None:
    """The different (system, tags, split), and which of them each item is."""
    there = {name: table[name] for name in table.column_names}
    meta = _fields(there["meta"]) if "meta" in there else {}
    if meta is None:
        return None
    columns = [there.get("system"), there.get("split"), meta.get("system"), meta.get("subset")]
    code, parts = np.zeros(len(table), np.int64), list[list[Any]]()
    for column in columns:
        if column is not None and not _plain(column):
            return None
        codes, words = (np.zeros_like(code), [None]) if column is None else _words(column)
        parts.append(words)
        code = code * len(words) + codes
    distinct, kind = (
        np.unique(code, return_inverse=True) if code.any() else (np.zeros(1, np.int64), code)
    )
    shape = [len(words) for words in parts]
    made = list[tuple[str, tuple[str, ...], str]]()
    for places in np.stack(np.unravel_index(distinct, shape), axis=1).tolist():
        own, split, *notes = (words[at] for words, at in zip(parts, places, strict=True))
        if (split or "") not in _SPLITS:
            return None
        told = dict(zip(("system", "subset"), notes, strict=True))
        found = {"system": own or "", "tags": (), **traits_in(told, system=own or "", tags=False)}
        made.append((found["system"], tuple(found["tags"]), split or ""))
    return tuple(made), kind

"""Read labels, systems and splits of a regular items.jsonl as columns, without texts.

The item reader handles everything else (own rubrics, conversations, missing texts, unknown labels)
and reports problems with their lines.
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
from core.formats.source.json_reader import may_hold_huge_number
from core.formats.source.parsed import MAX_ROWS

Codes = npt.NDArray[np.int64]
_TEXTS = ("id", "submission", "prompt", "reference", "description", "system", "split")
_KNOWN = frozenset({*_TEXTS, "labels", "meta"})
#: Matches wherever a value may begin; a match inside a text only costs a second check.
_NOT_FINITE = re.compile(r"[:\[,]\s*-?(?:NaN|Inf)")
_SPLITS = ("", "calibration", "evaluation")
#: The deepest nesting of notes; deeper ones go to the item reader.
_DEEPEST = 8
_LONGEST_ID = 500


class CleanItems(NamedTuple):
    """Items in the file's order.

    ``kinds`` are the distinct triples of system, tags and split, ``kind`` the index of each item's
    triple. ``labels`` are options by criterion: -1 for an unknown label, -2 without a label.
    """

    ids: tuple[str, ...]
    kinds: tuple[tuple[str, tuple[str, ...], str], ...]
    kind: Codes
    labels: Mapping[str, Codes]


def read_clean_items(text: str, rubric: Rubric) -> CleanItems | None:
    """Return the items, or ``None`` if the item reader is needed."""
    table = _read_columns(text)
    if table is None or not set(table.column_names) <= _KNOWN:
        return None
    if not {"id", "submission"} <= set(table.column_names) or table["submission"].null_count:
        return None
    ids = table["id"].to_pylist()
    if len({id_ for id_ in ids if id_ and id_.strip()}) < len(ids):
        return None
    if max(map(len, ids)) > _LONGEST_ID or not _are_texts_short(table):
        return None
    labels, kinds = _label_columns(table, rubric), _trait_indices(table)
    if labels is None or kinds is None:
        return None
    return CleanItems(tuple(ids), *kinds, labels)


def _read_columns(text: str) -> Any:
    """Return the file as columns, or ``None`` unless each line is a plain object."""
    import pyarrow as pa
    from pyarrow import json

    body = text.strip()
    # Arrow would also read two objects on a line, or an object over two lines.
    rows = body.count("}\n{") + 1
    if not (body.startswith("{") and body.endswith("}")):
        return None
    if may_hold_huge_number(body) or _NOT_FINITE.search(body):
        return None
    schema = pa.schema([(name, pa.string()) for name in _TEXTS])
    try:
        table = json.read_json(
            io.BytesIO(body.encode()),
            json.ReadOptions(use_threads=False, block_size=2**24),
            json.ParseOptions(explicit_schema=schema),
        )
    except pa.ArrowInvalid:
        return None
    is_regular = rows == body.count("\n") + 1 == len(table) <= MAX_ROWS
    if not is_regular or any(_nesting_depth(field.type) > _DEEPEST for field in table.schema):
        return None
    # Keys that the file lacks become columns of null.
    return table.select([n for n in table.column_names if table[n].null_count < len(table)])


def _nesting_depth(kind: Any) -> int:
    return 1 + max(
        (_nesting_depth(kind.field(at).type) for at in range(kind.num_fields)), default=0
    )


def _are_texts_short(table: Any) -> bool:
    from pyarrow import compute

    texts = (table[name] for name in _TEXTS if name in table.column_names)
    return all(
        (compute.max(compute.binary_length(text)).as_py() or 0) <= MAX_TEXT for text in texts
    )


def _word_indices(column: Any) -> tuple[Codes, list[Any]]:
    """Return the index of each cell among the distinct values, and the values."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    # Arrow's own conversion to numpy imports pandas.
    return np.from_dlpack(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()


def _is_plain_column(column: Any) -> bool:
    """Return whether cells are strings, whole numbers or booleans, unconverted."""
    return str(column.type) in ("string", "int64", "bool", "null")


def _label_columns(table: Any, rubric: Rubric) -> dict[str, Codes] | None:
    """Return the options of every criterion."""
    if "labels" not in table.column_names:
        return {}
    criteria, columns = (
        {criterion.name: criterion for criterion in rubric.criteria},
        _columns_of_objects(table["labels"]),
    )
    if columns is None or not columns.keys() <= criteria.keys():
        return None
    truth, by_criterion = Truth(rubric), dict[str, Codes]()
    for name, column in columns.items():
        inner = _columns_of_objects(column)
        if inner is not None:
            if "label" not in inner or not inner.keys() <= {"label", "reason"}:
                return None
            reason, labels = inner.get("reason", inner["label"]), inner["label"]
            # A missing label differs from a null label.
            if not _is_plain_column(reason) or labels.null_count > column.null_count:
                return None
            column = labels
        if not _is_plain_column(column):
            return None
        codes, distinct = _word_indices(column)
        options = _option_indices(truth, criteria[name], distinct)
        if options is None:
            return None
        by_criterion[name] = np.array(options, np.int64)[codes]
    return by_criterion


def _columns_of_objects(column: Any) -> dict[str, Any] | None:
    """Return the fields of objects as columns, ``None`` if cells are not objects."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_struct(column.type):
        return None
    return {field.name: compute.struct_field(column, field.name) for field in column.type}


def _option_indices(truth: Truth, criterion: Criterion, labels: Sequence[Any]) -> list[int] | None:
    options = list[int]()
    for word in labels:
        try:
            named = truth.named_label(criterion.name, word)
        except UnfitValue:
            return None
        option = criterion.index_of(named[1].label) if named else None
        options.append(-2 if named is None else -1 if option is None else option)
    return options


def _trait_indices(table: Any) -> tuple[tuple[tuple[str, tuple[str, ...], str], ...], Codes] | None:
    """Return the different (system, tags, split), and the index for each item."""
    present = {name: table[name] for name in table.column_names}
    meta = _columns_of_objects(present["meta"]) if "meta" in present else {}
    if meta is None:
        return None
    columns = [present.get("system"), present.get("split"), meta.get("system"), meta.get("subset")]
    code, parts = np.zeros(len(table), np.int64), list[list[Any]]()
    for column in columns:
        if column is not None and not _is_plain_column(column):
            return None
        codes, words = (np.zeros_like(code), [None]) if column is None else _word_indices(column)
        parts.append(words)
        code = code * len(words) + codes
    distinct, kind = (
        np.unique(code, return_inverse=True) if code.any() else (np.zeros(1, np.int64), code)
    )
    shape = [len(words) for words in parts]
    kinds = list[tuple[str, tuple[str, ...], str]]()
    for places in np.stack(np.unravel_index(distinct, shape), axis=1).tolist():
        systems, split, *notes = (words[at] for words, at in zip(parts, places, strict=True))
        if (split or "") not in _SPLITS:
            return None
        named = dict(zip(("system", "subset"), notes, strict=True))
        traits = {
            "system": systems or "",
            "tags": (),
            **traits_in(named, system=systems or "", tags=False),
        }
        kinds.append((traits["system"], tuple(traits["tags"]), split or ""))
    return tuple(kinds), kind

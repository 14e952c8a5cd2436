"""Users' changes to the columns of a table of votes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from core.domain.base import build_model
from core.errors import InputError
from core.formats.columns.headings import is_sum
from core.formats.columns.name_grids import grid_of
from core.formats.columns.text_columns import text_shape
from core.formats.datasets.mapping import ITEM_FIELDS
from core.formats.datasets.roles import (
    Change,
    listed_columns,
    refuse_repeated_fields,
    with_item_columns_joined,
)
from core.formats.tables.table import Table, joined_parts
from core.formats.votes.pairs.pair_tables import preference_columns
from core.formats.votes.structure.named_fields import ABOUT_ITEM, NAMES, PAIR
from core.formats.votes.vote_mapping import (
    Layout,
    VoteMapping,
    VoterKind,
    kinds_in,
    kinds_of,
    with_reasons,
)

#: Fields that list columns; giving `rater`, `criterion` or `preference` twice does the same.
_LISTS = ("raters", "criteria", "items", "preference")
VOTE_FIELDS = (*NAMES, *PAIR, "only", "others", "gold", *_LISTS)
#: Other names of fields.
_ALIASES = {"text": "submission", "id": "item", "answer": "label", "score": "label"}
#: Fields that only votes have, and fields that only items have.
_ONLY_VOTES = {*VOTE_FIELDS, "kind"} - set(ITEM_FIELDS) - {"item"}
_ONLY_ITEMS = {*ITEM_FIELDS, "labels", "context"} - set(NAMES)
_TELL_LONG = {"rater", "label", "score"}


def layout_meant(changes: Sequence[str], first: Layout | None = None) -> Layout | None:
    """Return the layout of a table of votes, if the changes imply it.

    A rater alone implies nothing for a table first read with a row for each rater.
    """
    names = [change.partition("=")[0] for change in _with_labels_as_criteria(changes)]
    fields = {name.partition(":")[0] for name in names}
    if fields & {*PAIR, "preference"}:
        return "pairs"
    if {"raters", "criteria"} <= fields:
        return "wide"
    if "items" in fields or "criteria" in fields or names.count("criterion") > 1:
        return "criteria"
    if "raters" in fields or names.count("rater") > 1:
        return "wide"
    if first == "criteria" and not fields & _TELL_LONG - {"rater"}:
        return None
    long = fields & _TELL_LONG and not any(name.startswith("label:") for name in names)
    return "long" if long else None


def _with_labels_as_criteria(changes: Sequence[str]) -> list[str]:
    """Return the changes with labels as criteria, if a column names who gave them."""
    rated = any(re.match(r"rater=.", change) for change in changes)
    return [re.sub(r"\Alabels=", "criteria=", c) if rated else c for c in changes]


def is_for_items(changes: Sequence[str]) -> bool:
    """Return whether the changes concern items to grade, and none concerns votes."""
    fields = {change.partition("=")[0].partition(":")[0] for change in changes}
    of_items = {*ITEM_FIELDS, "label", "labels", "reason", "text", "context"}
    return bool(fields & of_items) and layout_meant(changes) is None and not fields & _ONLY_VOTES


def is_only_for_items(changes: Sequence[str]) -> bool:
    """Return whether the changes name fields that votes lack, such as labels of texts."""
    fields = {change.partition("=")[0].partition(":")[0] for change in changes}
    labels = any(change.startswith("label:") for change in changes)
    return is_for_items(changes) and (labels or bool(fields & _ONLY_ITEMS))


def item_fields(changes: Sequence[str]) -> dict[str, str]:
    """Return the columns of fields of items beside the submission, or {} if anything else changes.

    >>> item_fields(["prompt=meta.asked"]), item_fields(["prompt=meta.asked", "label=mark"])
    ({'prompt': 'meta.asked'}, {})
    """
    fields = [change.partition("=") for change in changes]
    known = all(field in ABOUT_ITEM[1:] and column for field, _, column in fields)
    return {field: column for field, _, column in fields} if known else {}


def change_votes(mapping: VoteMapping, changes: Sequence[str], table: Table) -> VoteMapping:
    """Return a mapping of votes with changes, like ``item=doc_id`` or ``kind:gpt=llm``.

    ``item=`` removes a column. ``raters=ann,bob`` names the columns of a wide table,
    ``criteria=depth,tone`` those of a table with a criterion a column, ``preference=choice`` the
    answers to pairs; each may be given several times. ``items=a,b`` are columns with the answers to
    one item each, ``gold=agreed`` the gold labels next to raters, two ``item`` an id of two
    columns.

    Raises:
        InputError: an invalid change, or two columns for a field that has one.
    """
    data, kinds = mapping.model_dump(), dict(mapping.kinds)
    label = "preference=" if mapping.layout == "pairs" else "label="
    changes = [
        re.sub(r"\Alabel=", label, change)
        for change in with_item_columns_joined(_with_labels_as_criteria(changes))
    ]
    lists: dict[str, list[str]] = {}
    several = [change.partition("=")[0] for change in changes]
    lists_as = {
        "rater": "raters",
        "criterion": "criteria",
        **dict(zip(_LISTS, _LISTS, strict=True)),
    }
    gold = ""
    single = [c for c in changes if c.partition("=")[0] not in lists_as]
    refuse_repeated_fields(single, _ALIASES, ("kind",))
    for change in changes:
        field, name, value = Change.of(change, VOTE_FIELDS, ("kind:RATER",), _ALIASES)
        if field in _LISTS or (field in lists_as and several.count(field) > 1):
            lists.setdefault(lists_as[field], []).extend(listed_columns(value, table))
        elif name:
            kinds[name] = value  # type: ignore[assignment]
        elif field == "gold":
            gold = value
        else:
            data[field] = value if value or field == "only" else None
            columns = {value, *joined_parts(value, table.columns)} - {""}
            data["columns"] = [c for c in data["columns"] if c["column"] not in columns]
            for field_name in (*NAMES, *PAIR):
                if field_name != field and data[field_name] in columns:
                    data[field_name] = None
    if lists:
        kinds = _listed_columns(data, lists, table) | kinds
    _refuse_only_beside_criteria(data, several, table)
    if gold:
        _set_gold(data, gold, table)
        kinds[gold] = "gold"
    if data["rater"] != mapping.rater and data["kind"] is None:
        kinds = {**kinds_in(table, data["rater"]), **kinds}
    data["submission"] = data["submission"] or _item_of_texts(table, data["item"])
    changed = build_model(VoteMapping, data | {"kinds": kinds}, "mapping", "--map")
    return with_reasons(changed, table)


def _set_gold(data: dict[str, Any], gold: str, table: Table) -> None:
    """Put the column of gold labels beside those of raters."""
    if data["layout"] in ("long", "criteria"):
        says = f"'gold={gold}' gives labels beside raters in columns; here a row is a rater's."
        raise InputError(says, (), table.name)
    raters = [c for c in data["columns"] if c["column"] != gold]
    data["columns"] = [*raters, {"column": gold, "rater": gold}]


def _refuse_only_beside_criteria(
    data: Mapping[str, Any], fields: Sequence[str], table: Table
) -> None:
    columns = [data["criterion"], *(c["column"] for c in data["columns"] if c.get("criterion"))]
    if "only" in fields and data["only"] and (named := next(filter(None, columns), "")):
        says = f"'only={data['only']}' names the only criterion, but {named!r} names the criteria."
        raise InputError(says, (), table.name)


def _listed_columns(
    data: dict[str, Any], lists: dict[str, list[str]], table: Table
) -> dict[str, VoterKind]:
    """Put listed columns into a mapping, and return the kinds of their raters."""
    grid = _columns_in_grid(lists, table)
    if grid is not None:
        data["columns"] = grid
        if "rater" in grid[0] and data["layout"] != "pairs":
            data["layout"] = "wide"
        return kinds_of(column["rater"] for column in grid if "rater" in column)
    kinds: dict[str, VoterKind] = {}
    for kind, columns in lists.items():
        for field_name in (*NAMES, *PAIR):
            data[field_name] = None if data[field_name] in columns else data[field_name]
        name = {"criteria": "criterion", "items": "item"}.get(kind, "rater")
        names = parts_in_brackets(columns) if name != "rater" else columns
        data["columns"] = [{"column": c, name: n} for c, n in zip(columns, names, strict=True)]
        if kind == "preference":
            voters = preference_columns(columns, has_rater=bool(data["rater"]))
            data["columns"] = [c.model_dump() for c in voters]
        kinds |= kinds_of(columns) if name == "rater" else {}
    return kinds


def parts_in_brackets(headings: Sequence[str]) -> list[str]:
    """Return the parts of headings such as `stem [part]` or `stem.part`, if all have their own.

    Headings beside several `stem [part]` with one stem stay.

    >>> parts_in_brackets(["How is it? [Tone]", "How is it? [Wit]"]), parts_in_brackets(["Tone"])
    (['Tone', 'Wit'], ['Tone'])
    """
    for form in (r"(.+?)\s*\[([^\]]+)\]", r"([^.\s]+)\.([^.\s][^.]*)"):
        matches = [re.fullmatch(form, h.strip()) for h in headings]
        stems = Counter(m and m[1] for m in matches)
        parts = [m[2] if m else h for m, h in zip(matches, headings, strict=True)]
        is_grid = "[" in form and len(stems) == 2 and stems.total() - stems[None] > 1
        if len(set(parts)) == len(headings) and (None not in stems or is_grid):
            return parts
    return list(headings)


def _columns_in_grid(lists: dict[str, list[str]], table: Table) -> list[dict[str, str]] | None:
    """Return the columns of raters by criteria if headings combine both, or ``None``."""
    side = "items" if "items" in lists else "raters"
    names = {kind: lists.get(kind, []) for kind in (side, "criteria")}
    for kind, others in ((side, names["criteria"]), ("criteria", names[side])):
        names[kind] = names[kind] or _parts_crossed_with(others, table)
    columns = list[dict[str, str]]()
    for rater, criterion in product(names[side], names["criteria"]):
        pair = (re.escape(rater), re.escape(criterion))
        forms = [rf"[\W_]*{a}[\W_]+{b}[\W_]*" for a, b in (pair, pair[::-1])]
        found = [c for c in table.columns if any(re.fullmatch(form, c) for form in forms)]
        if not found and columns and len(names["criteria"]) == 1 and rater in table.columns:
            found = [rater]  # beside raters with the criterion in their headings
        if len(found) != 1:
            return None
        columns.append({"column": found[0], side[:-1]: rater, "criterion": criterion})
    return columns or None


def _parts_crossed_with(names: Sequence[str], table: Table) -> list[str]:
    """Return the other parts of headings that combine each of these names with the same parts."""
    if len(names) < 2 or set(names) & {*table.columns}:
        return []
    answers = [c for c in table.columns if not is_sum(c)]
    grid = grid_of([c for c in answers if any(name in c for name in names)])
    sides = [(grid.raters, grid.criteria), (grid.criteria, grid.raters)] if grid else []
    return next((list(others) for side, others in sides if {*side} == {*names}), [])


def _item_of_texts(table: Table, item: str | None) -> str | None:
    """Return the item's column if it holds the texts themselves, not names such as `essay 3`."""
    shape = text_shape(table, item) if item else None
    return item if shape is not None and shape.sentences and not shape.is_short else None

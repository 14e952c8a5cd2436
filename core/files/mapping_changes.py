"""Changes to a guessed mapping, in words like ``submission=messages[-1].content``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from core.domain.base import build, near
from core.errors import InputError
from core.files.mapping import OWN, ColumnMapping
from core.files.tables import Table
from core.files.vote_mapping import NAMES, VoteColumn, VoteMapping, kinds_of

#: What may be said of a table of votes; ``raters`` names columns of a wide one.
VOTE_FIELDS = (*NAMES, "only", "others", "raters")
#: What may be said of items. Labels and reasons are said by criterion, as ``label:tone=COLUMN``.
ITEM_FIELDS = (*OWN, "context", "meta")
_OF_CRITERIA = {"label": "labels", "reason": "reasons"}
#: Fields that only votes, or only items, have.
_ONLY_VOTES = {*VOTE_FIELDS, "kind:"} - set(OWN)
_TELL_LONG = {"rater", "label"}


def fields_in(changes: Sequence[str]) -> list[str]:
    """What the changes are about: ``kind`` of ``kind:ann=human``, ``label:`` of a criterion's."""
    fields = [change.partition("=")[0] for change in changes]
    return [f[: f.index(":") + 1] if ":" in f else f for f in fields]


def layout_meant(changes: Sequence[str]) -> Literal["long", "wide"] | None:
    """How votes stand in the table, where the changes tell."""
    fields = set(fields_in(changes))
    if "raters" in fields:
        return "wide"
    return "long" if fields & _TELL_LONG else None


def is_for_items(changes: Sequence[str]) -> bool:
    """Whether the changes are about items that are to be judged, and none about votes."""
    fields = set(fields_in(changes))
    of_items = {*ITEM_FIELDS, *(f"{kind}:" for kind in _OF_CRITERIA)}
    return bool(fields & of_items) and not fields & _ONLY_VOTES


def change_votes(mapping: VoteMapping, changes: Sequence[str], table: Table) -> VoteMapping:
    """A mapping of votes with changes like ``item=doc_id`` or ``kind:gpt=llm``.

    ``item=`` takes a column away; ``raters=ann,bob`` names the columns of a wide table.

    Raises:
        InputError: a change that is not understood.
    """
    data, kinds = mapping.model_dump(), dict(mapping.kinds)
    raters = list[str]()
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals:
            raise _strange(change, VOTE_FIELDS)
        if field == "raters":
            raters += [value] if value in table.columns else _listed(value)
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


def change_items(mapping: ColumnMapping, changes: Sequence[str], table: Table) -> ColumnMapping:
    """A mapping of items with changes like ``submission=messages[-1].content``.

    A column that gets a place leaves the one it had; one that loses its place is kept under meta.
    ``context`` and ``meta`` may be given several times.

    Raises:
        InputError: a change that is not understood.
    """
    data = mapping.model_dump()
    for change in changes:
        field, equals, value = change.partition("=")
        kind, colon, criterion = field.partition(":")
        of_criterion = colon and kind in _OF_CRITERIA and criterion.strip()
        if not equals or not (of_criterion or field in ITEM_FIELDS):
            raise _strange(change, (*ITEM_FIELDS, "label:CRITERION", "reason:CRITERION"))
        _free(data, value)
        if of_criterion:
            data[_OF_CRITERIA[kind]][criterion.strip()] = value
        elif field in ("context", "meta"):
            data[field] = (*data[field], value) if value else ()
        else:
            data[field] = value or None
    data["meta"] = _meta(table, mapping, build(ColumnMapping, data, "mapping", "--map"))
    return build(ColumnMapping, data, "mapping", "--map")


def _free(data: dict[str, Any], column: str) -> None:
    """Take a column from whatever it was for."""
    if not column:
        return
    for field in OWN:
        if data[field] == column:
            data[field] = None
    for field in ("labels", "reasons"):
        data[field] = {name: one for name, one in data[field].items() if one != column}
    for field in ("context", "meta"):
        data[field] = tuple(one for one in data[field] if one != column)


def _meta(table: Table, before: ColumnMapping, after: ColumnMapping) -> tuple[str, ...]:
    """What is kept under meta, with the columns that have lost their place."""
    taken = {*after.used.values(), *after.context, *after.meta}
    had = {*before.used.values(), *before.context}
    return (*after.meta, *(c for c in table.columns if c in had and c not in taken))


def _listed(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _strange(change: str, fields: Iterable[str]) -> InputError:
    known = tuple(fields)
    mend = near(change.partition("=")[0], set(known)) or f"FIELD is one of {', '.join(known)}."
    return InputError(f"--map {change!r} is not understood. Write FIELD=COLUMN. {mend}")

"""What people say of the columns of a table of votes, and what would help if nothing is known."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from core.domain.base import build
from core.errors import InputError
from core.formats.datasets.answer_columns import (
    could_answer,
    is_index,
    named_for_raters,
    nested,
    plain,
    sharing,
    sums_up,
    words_in,
)
from core.formats.datasets.dataset_file import dataset_of
from core.formats.datasets.labels import WORD, is_word, words_in_changes
from core.formats.datasets.mapping import ITEM_FIELDS, guess_mapping
from core.formats.datasets.name_grids import NameGrid, answers_in_grid
from core.formats.datasets.roles import Change, listed_in, said_once
from core.formats.datasets.table import Table, leaves, steps_of, with_paths
from core.formats.datasets.text_columns import proposed_texts, texts_in
from core.formats.votes.derived_rubric import derive_rubric
from core.formats.votes.item_texts import (
    by_structure,
    merges_texts,
    rival_labels,
    texts_told_apart,
)
from core.formats.votes.pair_tables import near_pairs, pairs_in
from core.formats.votes.vote_mapping import (
    NAMES,
    PAIR,
    Layout,
    VoteMapping,
    VoterKind,
    guess_vote_mapping,
    kinds_of,
)
from core.formats.votes.vote_tables import votes_in

#: Fields that list columns; giving `rater`, `criterion` or `preference` twice does the same.
_LISTS = {"raters": "raters", "criteria": "criteria", "preference": "preference"}
VOTE_FIELDS = (*NAMES, *PAIR, "only", "others", *_LISTS)
#: Other names of fields.
_ALIASES = {"text": "submission", "id": "item", "answer": "label"}
#: Fields that only votes have.
_ONLY_VOTES = {*VOTE_FIELDS, "kind"} - set(ITEM_FIELDS) - {"item"}
_TELL_LONG = {"rater", "label"}


def layout_meant(changes: Sequence[str]) -> Layout | None:
    """Return the layout of a table of votes, if the changes imply it."""
    names = [change.partition("=")[0] for change in changes]
    fields = {name.partition(":")[0] for name in names}
    if fields & {*PAIR, "preference"}:
        return "pairs"
    if {"raters", "criteria"} <= fields:
        return "wide"
    if "criteria" in fields or names.count("criterion") > 1:
        return "criteria"
    if "raters" in fields or names.count("rater") > 1:
        return "wide"
    long = fields & _TELL_LONG and not any(name.startswith("label:") for name in names)
    return "long" if long else None


def is_for_items(changes: Sequence[str]) -> bool:
    """Return whether the changes concern items to grade, and none concerns votes."""
    fields = {change.partition("=")[0].partition(":")[0] for change in changes}
    of_items = {*ITEM_FIELDS, "label", "labels", "reason", "text", "context"}
    return bool(fields & of_items) and layout_meant(changes) is None and not fields & _ONLY_VOTES


def change_votes(mapping: VoteMapping, changes: Sequence[str], table: Table) -> VoteMapping:
    """Change a mapping of votes, like ``item=doc_id`` or ``kind:gpt=llm``.

    ``item=`` removes a column. ``raters=ann,bob`` names the columns of a wide table,
    ``criteria=depth,tone`` those of one with a criterion a column, ``preference=choice`` the
    answers to pairs; each may be given several times.

    Raises:
        InputError: an invalid change, or two columns for a field that has one.
    """
    data, kinds = mapping.model_dump(), dict(mapping.kinds)
    lists: dict[str, list[str]] = {}
    several = [change.partition("=")[0] for change in changes]
    lists_as = {"rater": "raters", "criterion": "criteria", **_LISTS}
    single = [c for c in changes if c.partition("=")[0] not in lists_as]
    said_once(single, _ALIASES, ("kind",))
    for change in changes:
        field, name, value = Change.of(change, VOTE_FIELDS, ("kind:RATER",), _ALIASES)
        if field in _LISTS or (field in lists_as and several.count(field) > 1):
            lists.setdefault(lists_as[field], []).extend(listed_in(value, table))
        elif name:
            kinds[name] = value  # type: ignore[assignment]
        else:
            data[field] = value if value or field == "only" else None
            data["columns"] = [c for c in data["columns"] if c["column"] != value]
            for other in (*NAMES, *PAIR):
                if value and other != field and data[other] == value:
                    data[other] = None
    if lists:
        kinds = _listed_columns(data, lists, table) | kinds
    if not lists and data["rater"] != mapping.rater and data["kind"] is None:
        names = (str(row.get(data["rater"]) or "") for row in table.rows)
        kinds = {**kinds_of(names), **kinds}
    data["submission"] = data["submission"] or _text_as_item(table, data["item"])
    return build(VoteMapping, data | {"kinds": kinds}, "mapping", "--map")


def _listed_columns(
    data: dict[str, Any], lists: dict[str, list[str]], table: Table
) -> dict[str, VoterKind]:
    """Put listed columns into a mapping, and return the kinds of their raters."""
    grid = _in_grid(lists, table)
    if grid is not None:
        data["columns"] = grid
        return kinds_of(lists["raters"])
    kinds: dict[str, VoterKind] = {}
    for kind, columns in lists.items():
        for other in (*NAMES, *PAIR):
            data[other] = None if data[other] in columns else data[other]
        name = "criterion" if kind == "criteria" else "rater"
        data["columns"] = [{"column": c, name: c} for c in dict.fromkeys(columns)]
        kinds |= {} if kind == "criteria" else kinds_of(columns)
    return kinds


def _in_grid(lists: dict[str, list[str]], table: Table) -> list[dict[str, str]] | None:
    """Return the columns of raters by criteria, if both are parts of headings."""
    grid = answers_in_grid(table) if {"raters", "criteria"} <= lists.keys() else None
    if grid is None:
        return None
    sides = lists["raters"], lists["criteria"]
    turned = {(second, first): column for (first, second), column in grid.columns.items()}
    known = {**turned, **grid.columns}
    pairs = [(rater, criterion) for rater in sides[0] for criterion in sides[1]]
    if not all(pair in known for pair in pairs):
        return None
    return [{"column": known[r, c], "rater": r, "criterion": c} for r, c in pairs]


def _text_as_item(table: Table, item: str | None) -> str | None:
    """Return the item's column if it holds the texts themselves, and no names such as `essay 3`."""
    found = texts_in(table, item) if item else None
    return item if found is not None and found.sentences and not found.short else None


# What would help with a table of which nothing is known. Only changes that pass are proposed.

_SHOWN = 8
_TRIED = 500
#: Words in column names that suggest rater, item and answer: best first.
_HINTS: dict[str, tuple[str, ...]] = {
    "item": (
        *("item", "sample id", "trace id", "run id", "custom id", "task id", "record id"),
        *("example", "doc", "page", "id"),
    ),
    "rater": (
        *("annotator", "rater", "reviewer", "judge", "completed by", "author", "source"),
        *("source type", "user", "agent", "created by"),
    ),
    "label": (
        *("label", "rating", "verdict", "string value", "value", "score", "correct", "choices"),
        *("sentiment", "answer"),
    ),
    "criterion": ("criterion", "metric", "dimension", "from name", "name", "key"),
}


class NearShape(NamedTuple):
    """A shape that a table nearly has, with what is missing and how to say it."""

    kind: Literal["long", "wide", "criteria", "pairs", "dataset"]
    lacks: str
    changes: tuple[str, ...]

    @property
    def options(self) -> str:
        """Return the words as options of the command line."""
        return " ".join(
            f"--map-label {shlex.quote(change.removeprefix(WORD))}"
            if is_word(change)
            else f"--map {shlex.quote(change)}"
            for change in self.changes
        )


def nearest_shapes(table: Table) -> tuple[NearShape, ...]:
    """Return the shapes that a table could have, each with changes that make it so."""
    few = Table(table.name, table.kind, table.columns, table.rows[:_TRIED], table.lines[:_TRIED])
    return tuple(shape for shape in _near(few) if _passes(few, shape))


def _passes(table: Table, shape: NearShape) -> bool:
    try:
        if shape.kind == "dataset":
            dataset_of(table, table.name, changes=shape.changes)
            return True
        mapping = guess_vote_mapping(table, shape.kind)
        words = words_in_changes([c.removeprefix(WORD) for c in shape.changes if is_word(c)])
        mapping = change_votes(mapping, [c for c in shape.changes if not is_word(c)], table)
        if shape.kind == "pairs":
            pairs_in(table, mapping.model_copy(update={"words": words}))
            return True
        if not (mapping.criterion or any(c.criterion for c in mapping.columns)):
            mapping = mapping.model_copy(update={"only": "rating"})
        votes = votes_in(with_paths(table, mapping.used().values()), mapping)
        derive_rubric(votes.lines, votes.labels, table.name)
    except InputError:
        return False
    return True


def _near(table: Table) -> Iterator[NearShape]:
    flat = [c for c in table.columns if not nested(table, c) and words_in(table, c)]
    flat = [c for c in flat if not is_index(table, c)]
    inside = list(leaves(table))
    chosen = _hinted_fields(flat, inside)
    if asked := list(_asked(table)):
        yield from asked
        return
    for layout, changes in by_structure(table):
        shape = NearShape(layout, "a column of people repeats over its items", changes)
        if _passes(table, shape):
            yield shape
            return
    if {"item", "rater", "label"} <= chosen.keys():
        options = tuple(f"{field}={column}" for field, column in chosen.items())
        yield NearShape("long", "no columns are named for item, rater and answer", options)
    own = [c for c in flat if not named_for_raters([c])]
    first = (c for c in own if len(words_in(table, c)) == len(table.rows))
    item = _hinted(_HINTS["item"], flat) or next(first, None)
    able = [c for c in flat if c != item and could_answer(table, c) and not sums_up(c)]
    group = next(iter(sharing(table, able)), [])[:_SHOWN]
    texts = proposed_texts(table)
    if item and group:
        listed = ", ".join(map(repr, group))
        lacks = f"{listed} share labels, but do not look like the answers of raters"
        yield NearShape("wide", lacks, (f"item={item}", *(f"raters={c}" for c in group)))
    if group and texts:
        lacks = "columns that share labels could be labels of criteria"
        changes = (f"submission={texts[0]}", *(f"labels={c}" for c in group))
        yield NearShape("dataset", lacks, changes)
    elif item and group:
        lacks = "its columns could be criteria, answered by one rater"
        yield NearShape("criteria", lacks, (f"item={item}", *(f"criteria={c}" for c in group)))
    for text in texts if len(texts) > 1 or not group else ():
        lacks = "no column is named for the submission"
        if len(texts) > 1:
            lacks = f"{len(texts)} columns come equally near to hold the submission"
        yield NearShape("dataset", lacks, (f"submission={text}",))


def _asked(table: Table) -> Iterator[NearShape]:
    """Yield the readings of a table that has more than one, where its shape is known."""
    items = guess_mapping(table)
    for label in rival_labels(table, items):
        lacks = f"{label!r} could be the label of its texts"
        yield NearShape("dataset", lacks, (f"submission={items.submission}", f"labels={label}"))
    for changes in near_pairs(table):
        yield NearShape("pairs", "two answers stand beside what could compare them", changes)
    yield from _apart(table)
    if grid := answers_in_grid(table):
        yield from _by_names(table, grid)


def _by_names(table: Table, grid: NameGrid) -> Iterator[NearShape]:
    """Yield what to say of headings that are two names by two."""
    item = guess_vote_mapping(table, "wide").item
    lacks = f"{_listed(grid.raters)} could be raters, {_listed(grid.criteria)} criteria"
    if item:
        said = [f"raters={r}" for r in grid.raters] + [f"criteria={c}" for c in grid.criteria]
        yield NearShape("wide", lacks, (f"item={item}", *said))
    for text in proposed_texts(table)[:1]:
        labels = (f"labels={column}" for column in grid.columns.values())
        yield NearShape("dataset", "its columns could be labels", (f"submission={text}", *labels))
    if item:
        said = [f"raters={column}" for column in grid.columns.values()]
        yield NearShape("wide", "each column could be a rater", (f"item={item}", *said))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _apart(table: Table) -> Iterator[NearShape]:
    """Yield what to say where a guessed item holds different texts."""
    for layout in ("criteria", "long"):
        mapping = guess_vote_mapping(table, layout)
        if mapping.rater is None or not (mapping.label if layout == "long" else mapping.columns):
            continue
        if not merges_texts(table, mapping):
            continue
        lacks = f"rows of one {mapping.item!r} hold different texts"
        said = [f"rater={mapping.rater}", *(f"criteria={c.column}" for c in mapping.columns)]
        said += [f"label={mapping.label}"] if layout == "long" else []
        for changes in texts_told_apart(table, mapping):
            yield NearShape(layout, lacks, (*changes, *said))
        return


def _hinted_fields(flat: Sequence[str], inside: Sequence[str]) -> dict[str, Any]:
    names = [*flat, *inside]
    chosen: dict[str, str] = {}
    for field in ("rater", "label", "item", "criterion"):
        root = steps_of(chosen.get("rater", ""))[:1]
        free = [name for name in names if name not in chosen.values()]
        if field == "label" and chosen.get("rater") in inside:
            # Raters and answers belong together.
            free.sort(key=lambda name: steps_of(name)[:1] != root)
        if column := _hinted(_HINTS[field], free):
            chosen[field] = column
    return {
        field: chosen[field] for field in ("item", "criterion", "rater", "label") if field in chosen
    }


def _hinted(hints: Iterable[str], names: Sequence[str]) -> str | None:
    """Return the first name that equals, ends in or holds the likeliest words."""
    plains = {name: plain(name.replace(".", " ").replace("[0]", "")) for name in names}
    for hint in hints:
        for name in names:
            if plains[name] == hint or plains[name].endswith(f" {hint}"):
                return name
        for name in names:
            if steps_of(name) == (name,) and f"{hint} " in plains[name]:
                return name
    return None

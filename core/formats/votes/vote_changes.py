"""What people say of the columns of a table of votes, and what would help if nothing is known."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from core.domain.base import build
from core.errors import InputError
from core.formats.datasets.answer_columns import (
    is_index,
    plain,
    words_in,
)
from core.formats.datasets.dataset_file import dataset_of
from core.formats.datasets.labels import WORD, is_word, words_in_changes
from core.formats.datasets.mapping import ITEM_FIELDS, guess_mapping
from core.formats.datasets.name_grids import NameGrid, answers_in_grid
from core.formats.datasets.roles import Change, listed_in, said_once, with_one_item
from core.formats.datasets.table import Table, leaves, steps_of, with_paths
from core.formats.datasets.text_columns import proposed_texts, texts_in
from core.formats.source.heading_words import PROMPTS, holds
from core.formats.votes.derived_rubric import derive_rubric
from core.formats.votes.item_texts import rival_labels
from core.formats.votes.pair_tables import near_pairs, pairs_in
from core.formats.votes.structure.lists import list_answers
from core.formats.votes.structure.rater_columns import names_a_respondent, rater_columns
from core.formats.votes.structure.row_keys import named_rater, row_keys
from core.formats.votes.structure.values import may_be_judged, ticks
from core.formats.votes.vote_mapping import (
    NAMES,
    PAIR,
    Layout,
    VoteMapping,
    VoterKind,
    flat_columns,
    guess_vote_mapping,
    kinds_of,
)
from core.formats.votes.vote_tables import votes_in

#: Fields that list columns; giving `rater`, `criterion` or `preference` twice does the same.
_LISTS = ("raters", "criteria", "items", "preference")
VOTE_FIELDS = (*NAMES, *PAIR, "only", "others", "gold", *_LISTS)
#: Other names of fields.
_ALIASES = {"text": "submission", "id": "item", "answer": "label", "score": "label"}
#: Fields that only votes have, and only items.
_ONLY_VOTES = {*VOTE_FIELDS, "kind"} - set(ITEM_FIELDS) - {"item"}
_ONLY_ITEMS = {*ITEM_FIELDS, "labels", "context"} - set(NAMES)
_TELL_LONG = {"rater", "label", "score"}


def layout_meant(changes: Sequence[str]) -> Layout | None:
    """Return the layout of a table of votes, if the changes imply it."""
    names = [change.partition("=")[0] for change in changes]
    fields = {name.partition(":")[0] for name in names}
    if fields & {*PAIR, "preference"}:
        return "pairs"
    if {"raters", "criteria"} <= fields:
        return "wide"
    if "items" in fields or "criteria" in fields or names.count("criterion") > 1:
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


def is_only_for_items(changes: Sequence[str]) -> bool:
    """Return whether the changes name what votes do not have, such as labels of texts."""
    fields = {change.partition("=")[0].partition(":")[0] for change in changes}
    labels = any(change.startswith("label:") for change in changes)
    return is_for_items(changes) and (labels or bool(fields & _ONLY_ITEMS))


def change_votes(mapping: VoteMapping, changes: Sequence[str], table: Table) -> VoteMapping:
    """Change a mapping of votes, like ``item=doc_id`` or ``kind:gpt=llm``.

    ``item=`` removes a column. ``raters=ann,bob`` names the columns of a wide table,
    ``criteria=depth,tone`` those of one with a criterion a column, ``preference=choice`` the
    answers to pairs; each may be given several times. ``items=a,b`` are columns of answers to an
    item each, ``gold=agreed`` the gold labels beside raters, two ``item`` an id of two columns.

    Raises:
        InputError: an invalid change, or two columns for a field that has one.
    """
    data, kinds, changes = mapping.model_dump(), dict(mapping.kinds), with_one_item(changes)
    lists: dict[str, list[str]] = {}
    several = [change.partition("=")[0] for change in changes]
    lists_as = {
        "rater": "raters",
        "criterion": "criteria",
        **dict(zip(_LISTS, _LISTS, strict=True)),
    }
    gold = ""
    single = [c for c in changes if c.partition("=")[0] not in lists_as]
    said_once(single, _ALIASES, ("kind",))
    for change in changes:
        field, name, value = Change.of(change, VOTE_FIELDS, ("kind:RATER",), _ALIASES)
        if field in _LISTS or (field in lists_as and several.count(field) > 1):
            lists.setdefault(lists_as[field], []).extend(listed_in(value, table))
        elif name:
            kinds[name] = value  # type: ignore[assignment]
        elif field == "gold":
            gold = value
        else:
            data[field] = value if value or field == "only" else None
            data["columns"] = [c for c in data["columns"] if c["column"] != value]
            for other in (*NAMES, *PAIR):
                if value and other != field and data[other] == value:
                    data[other] = None
    if lists:
        kinds = _listed_columns(data, lists, table) | kinds
    if gold:
        others = [c for c in data["columns"] if c["column"] != gold]
        data["columns"] = [*others, {"column": gold, "rater": gold}]
        kinds[gold] = "gold"
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
        name = {"criteria": "criterion", "items": "item"}.get(kind, "rater")
        names = parts_in_brackets(columns) if name != "rater" else columns
        data["columns"] = [{"column": c, name: n} for c, n in zip(columns, names, strict=True)]
        if kind == "preference" and data["rater"]:  # who compared is in a column
            data["columns"] = [{"column": c} for c in columns]
        kinds |= kinds_of(columns) if name == "rater" else {}
    return kinds


def parts_in_brackets(headings: Sequence[str]) -> list[str]:
    """Return the parts of headings such as `stem [part]`, if all have one of their own.

    >>> parts_in_brackets(["How is it? [Tone]", "How is it? [Wit]"]), parts_in_brackets(["Tone"])
    (['Tone', 'Wit'], ['Tone'])
    """
    parts = [
        match[1] for h in headings if (match := re.fullmatch(r".+?\s*\[([^\]]+)\]", h.strip()))
    ]
    return parts if len(set(parts)) == len(headings) else list(headings)


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
    return tuple(_near(few))


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
    """Yield the likeliest readings; what passes in one way is not proposed in a weaker one."""
    for readings in (_asked, _with_raters, _in_cells, _beside_each_other):
        if asked := [shape for shape in readings(table) if _passes(table, shape)]:
            yield from asked
            return
    texts = [text for text in proposed_texts(table) if may_be_judged(table, text)]
    texts.sort(key=lambda text: holds(text, PROMPTS))
    known = guess_mapping(table).prompt
    for text in texts:
        lacks = "no column is named for the submission"
        if len(texts) > 1:
            lacks = f"{len(texts)} columns come equally near to hold the submission"
        prompts = [c for c in texts if c != text and holds(c, PROMPTS) and not known]
        shape = NearShape(
            "dataset", lacks, (f"submission={text}", *(f"prompt={c}" for c in prompts[:1]))
        )
        if _passes(table, shape):
            yield shape


def _with_raters(table: Table) -> Iterator[NearShape]:
    """Yield a row for each item and rater, as the values tell."""
    for keys in row_keys(table):
        lacks = "a column of people repeats over its items"
        if not named_rater([keys]):
            lacks = f"each row is another pair of {keys.item[0]!r} and {keys.rater!r}"
        changes = (*keys.changes(), *ticks(table, keys.answers))
        lacks += "" if keys.text else NO_TEXTS
        yield NearShape("criteria" if keys.by_criteria else "long", lacks, changes)
    for said in list_answers(table):
        yield NearShape("long", "cells hold the answers of several raters", said)


def _in_cells(table: Table) -> Iterator[NearShape]:
    flat = [c for c in flat_columns(table) if words_in(table, c) and not is_index(table, c)]
    inside = list(leaves(table))
    chosen = _hinted_fields(flat, inside)
    if {"item", "rater", "label"} <= chosen.keys() and set(inside) & set(chosen.values()):
        options = tuple(f"{field}={column}" for field, column in chosen.items())
        yield NearShape("long", "no columns are named for item, rater and answer", options)


def _beside_each_other(table: Table) -> Iterator[NearShape]:
    """Yield columns of answers as raters, as criteria, or as labels of texts."""
    wide = rater_columns(table)
    if wide is None:
        return
    marks, listed = ticks(table, wide.columns), _listed(wide.columns)
    person = next(filter(names_a_respondent, wide.item), "") if not wide.text else ""
    if person:
        lacks = f"a row is a person ({person!r}), and {listed} could be the items"
        said = (f"rater={person}", *(f"items={c}" for c in wide.columns))
        yield NearShape("criteria", lacks, (*said, *marks))
    elif wide.are != "criteria":
        lacks = f"{listed} share labels, but do not look like the answers of raters"
        lacks = f"{listed} look like the answers of raters" if wide.are else lacks
        lacks += "" if wide.text else NO_TEXTS
        yield NearShape("wide", lacks, (*wide.changes("raters"), *marks))
    if wide.text:
        lacks = "columns that share labels could be labels of criteria"
        changes = (f"submission={wide.text}", *(f"labels={c}" for c in wide.columns), *marks)
        yield NearShape("dataset", lacks, changes)
    elif wide.are != "raters" or person:
        lacks = "its columns could be criteria, answered by one rater" + NO_TEXTS
        yield NearShape("criteria", lacks, (*wide.changes("criteria"), *marks))


NO_TEXTS = (
    "; no column holds the texts that were judged, and the votes can be imported without them"
)


def _asked(table: Table) -> Iterator[NearShape]:
    """Yield the readings of a table that has more than one, where its shape is known."""
    items = guess_mapping(table)
    for label in rival_labels(table, items):
        lacks = f"{label!r} could be the label of its texts"
        yield NearShape("dataset", lacks, (f"submission={items.submission}", f"labels={label}"))
    for changes in near_pairs(table):
        yield NearShape("pairs", "two answers stand beside what could compare them", changes)
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

"""What a table that is not recognised comes nearest to, and what would have to be said of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from core.files.answer_columns import could_answer, nested, plain, sharing, words_in
from core.files.paths import leaves, steps_of
from core.files.tables import Table
from core.files.vote_mapping import NAMES

#: Stands where no column of the file comes into question.
COLUMN = "COLUMN"
_SHOWN = 8
#: Words in the names of columns that may say whose answer it is, to what, and which: best first.
_HINTS: dict[str, tuple[str, ...]] = {
    "item": (
        *("item", "sample id", "trace id", "run id", "custom id", "task id", "record id"),
        *("example", "doc", "id"),
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
#: How places end where an answer stands.
_ANSWERS = (".content", ".output", ".answer", ".reply", ".text")


class NearShape(NamedTuple):
    """A shape that a table nearly has: what is missing, and the words that would name it."""

    kind: Literal["long", "wide", "dataset"]
    lacks: str
    changes: tuple[str, ...]

    @property
    def options(self) -> str:
        """The words as options of the command line."""
        return " ".join(f"--map {shlex.quote(change)}" for change in self.changes)


def nearest_shapes(table: Table) -> tuple[NearShape, ...]:
    """The shapes that come into question, nearest first."""
    inside = leaves(table)
    flat = [c for c in table.columns if not nested(table, c) and words_in(table, c)]
    found = (_long(table, flat, list(inside)), _wide(table, flat), _items(table, inside))
    shapes = tuple(shape for shape in found if shape is not None)
    return shapes or (_votes({}, "no columns are named for item, rater and label"),)


def _long(table: Table, flat: Sequence[str], inside: Sequence[str]) -> NearShape | None:
    names = [*flat, *inside]
    chosen: dict[str, str] = {}
    for field in ("rater", "label", "item", "criterion"):
        root = steps_of(chosen.get("rater", ""))[:1]
        free = [name for name in names if name not in chosen.values()]
        if field == "label" and chosen.get("rater") in inside:
            # Who answered and what stand together.
            free.sort(key=lambda name: steps_of(name)[:1] != root)
        if column := _hinted(_HINTS[field], free):
            chosen[field] = column
    if "rater" not in chosen and chosen.get("label") not in flat:
        return None
    known = {plain(name) for name in flat}
    missing = [f for f in ("item", "rater", "label") if not known & set(NAMES[f])]
    lacks = (
        f"no column is named for the {' or the '.join(missing)}"
        if missing
        else "the columns named so do not hold one answer a row"
    )
    return _votes(chosen, lacks)


def _votes(chosen: dict[str, str], lacks: str) -> NearShape:
    wanted = ("item", "criterion", "rater", "label")
    words = [f"{f}={chosen.get(f, COLUMN)}" for f in wanted if f != "criterion" or f in chosen]
    return NearShape("long", lacks, tuple(words))


def _wide(table: Table, flat: Sequence[str]) -> NearShape | None:
    item = _hinted(_HINTS["item"], flat)
    able = [c for c in flat if c != item and could_answer(table, c)]
    groups = sharing(table, able)
    if not groups and (not able or 2 * len(able) < len(flat) - 1):
        return None
    if groups:
        listed = ", ".join(map(repr, groups[0][:_SHOWN]))
        lacks = f"{listed} share labels, but do not look like the answers of raters"
        raters = groups[0]
    else:
        lacks = "no two columns share a small set of labels"
        raters = able if len(able) == 1 else [COLUMN, COLUMN]
    words = [f"item={item or COLUMN}", *(f"raters={column}" for column in raters[:_SHOWN])]
    return NearShape("wide", lacks, tuple(words))


def _items(table: Table, inside: dict[str, object]) -> NearShape | None:
    texts = {p: v for p, v in inside.items() if isinstance(v, str)}
    for column in table.columns:
        cells = [row[column] for row in table.rows[:20] if isinstance(row.get(column), str)]
        texts[column] = max(cells, key=len, default="")
    texts = {p: v for p, v in texts.items() if " " in v.strip() and v.lstrip()[:1] not in "{["}
    if not texts:
        return None
    said = [p for p in texts if p.endswith(_ANSWERS)]
    best = max(said or texts, key=lambda path: len(texts[path]))
    lacks = "no column is named for the submission"
    return NearShape("dataset", lacks, (f"submission={best}",))


def _hinted(hints: Iterable[str], names: Sequence[str]) -> str | None:
    """The first name that is, ends in or (of a column) holds the likeliest words."""
    plains = {name: plain(name.replace(".", " ").replace("[0]", "")) for name in names}
    for hint in hints:
        for name in names:
            if plains[name] == hint or plains[name].endswith(f" {hint}"):
                return name
        for name in names:
            if steps_of(name) == (name,) and f"{hint} " in plains[name]:
                return name
    return None

"""Mappings of vote tables, and the nearest shape of an unknown table."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from core.domain.base import Noun
from core.domain.rubric import Rubric
from core.formats.datasets.answer_columns import (
    could_answer,
    nested,
    plain,
    says_no_label,
    sharing,
    told_apart,
    unique_words,
    words_in,
)
from core.formats.datasets.labels import option_for
from core.formats.datasets.table import Table, leaves, steps_of
from core.text.names import fold

Layout = Literal["long", "wide"]
#: Kinds of raters. ``gold`` is not a rater: its answer becomes the item's label.
VoterKind = Literal["human", "llm", "offline", "gold"]

#: Column names of each field, most specific first.
NAMES: dict[str, tuple[str, ...]] = {
    "item": (
        *("item id", "item", "example id", "sample id", "submission id", "document id", "doc id"),
        *("ticket id", "case id", "response id", "student id", "participant id", "essay id"),
        *("id", "doc", "document", "example", "ticket", "case", "essay", "student"),
    ),
    "criterion": (
        *("criterion", "criterion name", "criterion id", "dimension", "aspect", "metric"),
        "question",
    ),
    "rater": (
        *("rater id", "rater", "annotator id", "annotator", "judge id", "judge", "grader"),
        *("reviewer", "coder", "worker id", "worker", "user", "model"),
    ),
    "kind": ("rater kind", "kind", "rater type", "judge kind"),
    "label": (
        *("label", "rating", "verdict", "vote", "option", "answer", "decision", "judgement"),
        *("judgment", "annotation", "value", "score"),
    ),
    "reason": ("reason", "rationale", "explanation", "comment", "note", "justification"),
    "weight": ("weight", "rater weight"),
    "replicate": ("replicate", "repetition", "attempt"),
    "order": ("order", "shown order"),
    "submission": ("submission", "text", "response", "output", "submission text"),
    "prompt": ("prompt", "instruction", "input"),
    "system": ("system", "system name"),
}
_WIDE = ("item", "criterion", "submission", "prompt", "system")
_SEPARATORS = (" / ", "/", " | ", "|", ": ", ":", "__")
_MODELS = re.compile(
    r"gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|command-r|palm|grok"
    r"|(?<![a-z])llm(?![a-z])",
    re.I,
)
_GOLD = ("gold", "gold label", "ground truth", "truth", "reference label")
#: Rater columns that just as often name whose answer was judged.
_WEAK = ("user", "model")


class VoteColumn(Noun):
    """A column of answers in a wide table; without a criterion, rows name it."""

    column: str
    rater: Annotated[str, Field(min_length=1)]
    criterion: str = ""


class VoteMapping(Noun):
    """Which column holds which field; ``None`` for none.

    ``columns`` are the raters of a wide table. ``only`` names the criterion if neither a column nor
    a heading does. ``kinds`` gives the kinds of raters, ``others`` that of the rest. ``words``
    translates answers to the rubric's options, by criterion (or for all, under "").
    """

    layout: Layout
    item: str | None = None
    criterion: str | None = None
    rater: str | None = None
    kind: str | None = None
    label: str | None = None
    reason: str | None = None
    weight: str | None = None
    replicate: str | None = None
    order: str | None = None
    submission: str | None = None
    prompt: str | None = None
    system: str | None = None
    columns: tuple[VoteColumn, ...] = ()
    only: str = ""
    kinds: dict[str, VoterKind] = Field(default_factory=dict)
    others: VoterKind = "human"
    words: dict[str, dict[str, str]] = Field(default_factory=dict)

    def option_for(self, criterion: str, word: str) -> str:
        """Return the option for a word of the file, or the word itself."""
        return option_for(self.words, criterion, word)

    def used(self) -> dict[str, str]:
        """Return field to column, for every column that is named."""
        named = {name: getattr(self, name) for name in NAMES}
        used = {name: column for name, column in named.items() if column is not None}
        return used | {f"{c.criterion}/{c.rater}": c.column for c in self.columns}


def looks_long(table: Table) -> bool:
    """Return whether columns name item, rater and label: a vote per row."""
    columns = _named(_flat(table), NAMES)
    if not {"item", "rater", "label"} <= columns.keys():
        return False
    if says_no_label(words_in(table, columns["label"])) or unique_words(table, columns["label"]):
        return False
    return not (_is_log(table, columns) or _judges_systems(table, columns))


def looks_wide(table: Table) -> bool:
    """Return whether a table has a column of answers per rater.

    At least half of the columns other than items, texts and reasons must share a small set of
    labels. Otherwise some columns of another kind of table only look alike.
    """
    mapping = guess_vote_mapping(table, "wide")
    answers = [c.column for c in mapping.columns]
    if mapping.item is None or len(answers) < 2:
        return False
    if all(c.criterion for c in mapping.columns):
        fit = _fit(table, mapping.columns)
    else:
        fit = len(groups := sharing(table, answers)) == 1 and groups[0] == answers
    rest = _answerable(table, _named(_flat(table), _WIDE))
    return fit and 2 * len(answers) >= len(rest)


def _fit(table: Table, columns: Sequence[VoteColumn]) -> bool:
    """Return whether the columns of each criterion hold answers on one scale."""
    of = {c.criterion: list[set[str]]() for c in columns}
    for c in columns:
        of[c.criterion].append(words_in(table, c.column))
    return all(map(told_apart, of.values()))


def _flat(table: Table) -> list[str]:
    return [column for column in table.columns if not nested(table, column)]


def _is_log(table: Table, columns: dict[str, str]) -> bool:
    """Return whether ``id`` is unique while another column names the row's item."""
    item = columns["item"]
    others = set(table.columns) - set(columns.values())
    return (
        plain(item) == "id"
        and any(plain(column).endswith(" id") for column in others)
        and len(words_in(table, item)) == len(table.rows)
    )


def _judges_systems(table: Table, columns: dict[str, str]) -> bool:
    """Return whether a `model` or `user` wrote the text rather than judged it."""
    if plain(columns["rater"]) not in _WEAK or "submission" not in columns:
        return False
    texts: dict[str, set[str]] = {}
    for row in table.rows:
        texts.setdefault(str(row.get(columns["item"])), set()).add(
            str(row.get(columns["submission"]))
        )
    return len(texts) == len(table.rows) or any(len(of) > 1 for of in texts.values())


def guess_vote_mapping(table: Table, layout: Layout, rubric: Rubric | None = None) -> VoteMapping:
    r"""Guess a mapping from the names of columns and raters.

    >>> from core.formats.datasets.table import read_table
    >>> wide = read_table("id,ann,gpt-4\n1,yes,no\n", "x.csv")
    >>> mapping = guess_vote_mapping(wide, "wide")
    >>> [c.rater for c in mapping.columns], mapping.kinds
    (['ann', 'gpt-4'], {'gpt-4': 'llm'})
    """
    only = rubric.criteria[0].name if rubric and len(rubric.criteria) == 1 else ""
    if layout == "long":
        fields = _named(_flat(table), NAMES)
        names = [str(row.get(fields.get("rater", "")) or "") for row in table.rows]
        kinds = {} if "kind" in fields else kinds_of(names)
        return VoteMapping(layout="long", only=only, kinds=kinds, **fields)
    fields = _named(_flat(table), _WIDE)
    left = [c for c in _answerable(table, fields) if could_answer(table, c)]
    columns = _columns(left, rubric, by_row="criterion" in fields)
    if all(c.criterion for c in columns):
        turned = [
            VoteColumn(column=c.column, rater=c.criterion, criterion=c.rater) for c in columns
        ]
        if rubric is None and not _fit(table, columns) and _fit(table, turned):
            columns = turned
    else:
        groups = sharing(table, left)
        columns = [c for c in columns if len(groups) != 1 or c.column in groups[0]]
    kinds = kinds_of([c.rater for c in columns])
    return VoteMapping(layout="wide", columns=tuple(columns), only=only, kinds=kinds, **fields)


def _answerable(table: Table, columns: dict[str, str]) -> list[str]:
    """Return filled columns other than fields and reasons."""
    rest = [c for c in table.columns if c not in columns.values()]
    return [c for c in rest if not _is_reason(c, rest) and words_in(table, c)]


def _named(columns: Sequence[str], fields: Iterable[str]) -> dict[str, str]:
    """Return fields to columns; a field takes its first free name."""
    free = {plain(column): column for column in reversed(columns)}
    by_field = {}
    for field in fields:
        name = next((n for n in NAMES[field] if n in free), None)
        if name is not None:
            by_field[field] = free.pop(name)
    return by_field


def kinds_of(names: Iterable[str]) -> dict[str, VoterKind]:
    """Return the kinds of raters whose names reveal them."""
    kinds: dict[str, VoterKind] = {}
    for name in dict.fromkeys(names):
        if plain(name) in _GOLD:
            kinds[name] = "gold"
        elif _MODELS.search(name):
            kinds[name] = "llm"
    return kinds


def _columns(left: Sequence[str], rubric: Rubric | None, *, by_row: bool) -> list[VoteColumn]:
    """Return columns as raters, split at `criterion / rater` or the reverse."""
    names = {fold(c.name) for c in rubric.criteria} if rubric else set()
    for separator in () if by_row else _SEPARATORS:
        pairs = [(a.strip(), b.strip()) for a, _, b in (c.partition(separator) for c in left)]
        if not pairs or not all(a and b for a, b in pairs):
            continue
        if names and all(fold(b) in names for _, b in pairs):
            pairs = [(b, a) for a, b in pairs]
        if _tells_criteria(pairs, names, separator):
            return [
                VoteColumn(column=column, criterion=criterion, rater=rater)
                for column, (criterion, rater) in zip(left, pairs, strict=True)
            ]
    return [VoteColumn(column=column, rater=column) for column in left]


def _tells_criteria(pairs: Sequence[tuple[str, str]], names: set[str], separator: str) -> bool:
    """Return whether headings are criterion and rater, not `maker/model`."""
    if names:
        return all(fold(criterion) in names for criterion, _ in pairs)
    return separator == _SEPARATORS[0] or len({rater for _, rater in pairs}) < len(pairs)


def _is_reason(column: str, others: Sequence[str]) -> bool:
    """Return whether a column holds reasons: `reason`, or `ann reason` by `ann`.

    >>> _is_reason("ann_reason", ["ann", "ann_reason"]), _is_reason("bob note", ["ann"])
    (True, False)
    """
    name = plain(column)
    whose = {"", *map(plain, others)}
    return any(
        name.removesuffix(word).strip() in whose and name.endswith(word) for word in NAMES["reason"]
    )


#: The placeholder for a field without a candidate column.
COLUMN = "COLUMN"
_SHOWN = 8
#: Words in column names that suggest rater, item and answer: best first.
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
#: Ends of paths that lead to an answer.
_ANSWERS = (".content", ".output", ".answer", ".reply", ".text")


class NearShape(NamedTuple):
    """A shape that a table nearly has, with what is missing and how to name it."""

    kind: Literal["long", "wide", "dataset"]
    lacks: str
    changes: tuple[str, ...]

    @property
    def options(self) -> str:
        """Return the words as options of the command line."""
        return " ".join(f"--map {shlex.quote(change)}" for change in self.changes)


def nearest_shapes(table: Table) -> tuple[NearShape, ...]:
    """Return possible shapes, nearest first."""
    inside = leaves(table)
    flat = [c for c in table.columns if not nested(table, c) and words_in(table, c)]
    near = (_long(table, flat, list(inside)), _wide(table, flat), _items(table, inside))
    shapes = tuple(shape for shape in near if shape is not None)
    return shapes or (_votes({}, "no columns are named for item, rater and label"),)


def _long(table: Table, flat: Sequence[str], inside: Sequence[str]) -> NearShape | None:
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
    if "rater" not in chosen and chosen.get("label") not in flat:
        return None
    plain_names = {plain(name) for name in flat}
    missing = [f for f in ("item", "rater", "label") if not plain_names & set(NAMES[f])]
    lacks = (
        f"no column is named for the {' or the '.join(missing)}"
        if missing
        else "the columns named so do not hold one answer a row"
    )
    return _votes(chosen, lacks)


def _votes(chosen: dict[str, str], lacks: str) -> NearShape:
    wanted = ("item", "criterion", "rater", "label")
    options = [f"{f}={chosen.get(f, COLUMN)}" for f in wanted if f != "criterion" or f in chosen]
    return NearShape("long", lacks, tuple(options))


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
    options = [f"item={item or COLUMN}", *(f"raters={column}" for column in raters[:_SHOWN])]
    return NearShape("wide", lacks, tuple(options))


def _items(table: Table, inside: dict[str, object]) -> NearShape | None:
    texts = {p: v for p, v in inside.items() if isinstance(v, str)}
    for column in table.columns:
        cells = [row[column] for row in table.rows[:20] if isinstance(row.get(column), str)]
        texts[column] = max(cells, key=len, default="")
    texts = {p: v for p, v in texts.items() if " " in v.strip() and v.lstrip()[:1] not in "{["}
    if not texts:
        return None
    answers = [p for p in texts if p.endswith(_ANSWERS)]
    best = max(answers or texts, key=lambda path: len(texts[path]))
    lacks = "no column is named for the submission"
    return NearShape("dataset", lacks, (f"submission={best}",))


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

"""Judgements nested in cells, by judge and criterion: each becomes a row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.errors import Problem
from core.formats.columns.answer_columns import MOST_LABELS
from core.formats.columns.headings import (
    is_quantity,
    is_sum,
    names_a_criterion,
    names_a_rater,
    plain_name,
)
from core.formats.source.heading_words import ASPECTS, PREFERENCES, REMARKS, has_word
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table
from core.formats.votes.structure.named_fields import (
    NAMES,
    flat_columns,
    named_fields,
    names_a_model,
)
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import Values

_SCORES = (*NAMES["label"], "grade", "mark", "result", "passed")
#: Keys that may name a criterion.
_WEAK = ("name", "key", "question", "rubric")
#: Keys around scores that name nothing.
_AROUND = re.compile(
    r"(score|rating|grade|dimension|metric|result|evaluation|judge?ment|label|vote|assessment"
    r"|verdict|annotation|review)s?|criteria"
)
#: Longer words are no names and no answers.
_LONGEST = 40
_FIELDS = ("rater", "criterion", "score", "reason")


class _NestedScore(NamedTuple):
    """A score, the keys that lead to it, and what its record names."""

    names: tuple[str, ...]
    score: Any
    rater: str = ""
    criterion: str = ""
    reason: str = ""


def judgements_as_rows(table: Table) -> Table:
    """Return a row for each judgement of the only column, or columns, that nest them.

    Any other table is unchanged, also one that does not say which names are those of judges.
    """
    found = list[tuple[tuple[str, ...], list[list[_NestedScore]]]]()
    for columns in _nesting_columns(table):
        if (judged := _judgements_of_rows(table, columns)) and any(judged):
            found.append((columns, judged))
    if len(found) != 1 or {*_FIELDS} & {*table.columns} - {*found[0][0]}:
        return table
    columns, judged = found[0]
    every = [leaf for leaves in judged for leaf in leaves]
    named = {"rater", "score"} | {f for f in _FIELDS if any(getattr(leaf, f) for leaf in every)}
    fields = [field for field in _FIELDS if field in named]
    item = "" if named_fields(flat_columns(table), ["item"]) else "item id"
    own_id = next(iter(item_columns(Values(table))), "") if item else ""
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for at, leaves in enumerate(judged):
        kept = {c: cell for c, cell in table.rows[at].items() if c not in (*columns, own_id)}
        kept = {item: table.rows[at][own_id] if own_id else str(at + 1)} | kept if item else kept
        for leaf in leaves:
            cells = (leaf.rater or "rater", leaf.criterion, leaf.score, leaf.reason)
            judgement = dict(zip(_FIELDS, cells, strict=True))
            rows.append(kept | {field: judgement[field] for field in fields})
            lines.append(table.lines[at])
    heads = [c for c in table.columns if c not in (*columns, own_id)]
    said = Problem(f"Each judgement in {' and '.join(map(repr, columns))} is a row.")
    return replace(
        table, columns=(*filter(None, [item]), *heads, *fields), rows=tuple(rows),
        lines=tuple(lines), places=(), document=None, notices=(*table.notices, said),
    )  # fmt: skip


def _nesting_columns(table: Table) -> Iterator[tuple[str, ...]]:
    """Yield each column of objects and lists, and together those with the same keys of scores."""
    columns = [c for c in table.columns if c in table.nested]
    yield from ((column,) for column in columns)
    first = {c: parsed_cell(table.rows[0].get(c)) for c in columns}
    keys = {c: tuple(of) for c, of in first.items() if isinstance(of, dict)}
    alike = {of: tuple(c for c in keys if keys[c] == of) for of in keys.values()}
    yield from (group for group in alike.values() if len(group) > 1)


def _judgements_of_rows(table: Table, columns: tuple[str, ...]) -> list[list[_NestedScore]] | None:
    """Return the judgements of each row, or ``None`` if judge or criterion is unclear."""
    rows = list[list[_NestedScore]]()
    for row in table.rows:
        cells = {c: parsed_cell(row.get(c)) for c in columns}
        value = cells if len(columns) > 1 else next(iter(cells.values()))
        if value in (None, "", [], {}):
            rows.append([])
            continue
        leaves = list(_nested_scores(value)) if isinstance(value, dict | list) else []
        leaves = [leaf for leaf in leaves if not any(map(is_sum, leaf.names))]
        if not leaves or not all(_is_score(leaf.score) for leaf in leaves):
            return None
        rows.append(leaves)
    every = [leaf for leaves in rows for leaf in leaves]
    depth = {len(leaf.names) for leaf in every}
    if len(depth) != 1 or len({str(leaf.score) for leaf in every}) > MOST_LABELS:
        return None
    sides = _judge_and_criterion_depth(every, depth.pop())
    if sides is None:
        return None
    named = [[_with_judge_and_criterion(leaf, *sides) for leaf in leaves] for leaves in rows]
    names = {(leaf.rater, leaf.criterion) for leaves in named for leaf in leaves}
    apart = all(len({leaf[2:4] for leaf in leaves}) == len(leaves) for leaves in named)
    few = 2 * len(names) <= len(every) and len({criterion for _, criterion in names}) < MOST_LABELS
    whole = len({bool(criterion) for _, criterion in names}) == 1
    return named if apart and few and whole else None


def _nested_scores(
    value: Any, names: tuple[str, ...] = (), of: Mapping[str, str] = {}
) -> Iterator[_NestedScore]:
    """Yield the scores in objects and lists; ``of`` is what the objects around them name."""
    if isinstance(value, list):
        for entry in value:
            yield from (
                _nested_scores(entry, names, of)
                if isinstance(entry, dict)
                else [_NestedScore((), value)]
            )
        return
    texts = [k for k, c in value.items() if isinstance(c, str) and len(c) > _LONGEST]
    if any(not _fields_named(key, value) for key in texts):
        yield _NestedScore((), value)  # the record of a text
        return
    named = {field: str(value[key]) for key in value for field in _fields_named(key, value)}
    own = {**of, **{field: name for field, name in named.items() if field != "score"}}
    if weak := next(
        (k for k in value if plain_name(k) in _WEAK and isinstance(value[k], str)), None
    ):
        known = own.get("rater") or names_a_criterion(value[weak])
        own |= {"criterion": value[weak]} if known else {}
    scores = [key for key in value if "score" in _fields_named(key, value)]
    inside = {k: v for k, v in value.items() if isinstance(v, dict | list)}
    if scores:
        yield _NestedScore(names, value[scores[0]], **own)
    elif inside:
        for key, cell in inside.items():
            ours = () if _AROUND.fullmatch(plain_name(key)) else (str(key),)
            yield from _nested_scores(cell, (*names, *ours), own)
    elif "rater" in named:
        yield _NestedScore((), value)  # a list of records, whose columns are named by their paths
    else:
        free = [k for k in value if not _fields_named(k, value) and not is_quantity(k)]
        yield from (_NestedScore((*names, str(key)), value[key], **own) for key in free)


def _fields_named(key: str, record: Mapping[str, Any]) -> list[str]:
    """Return the field that a key of a record names, or []."""
    name, cell = plain_name(key), record[key]
    if isinstance(cell, dict | list):
        return []
    if isinstance(cell, str) and names_a_rater(key):
        return ["rater"]
    if isinstance(cell, str) and (has_word(key, REMARKS) or name in NAMES["reason"]):
        return ["reason"]
    if name in _SCORES or (isinstance(cell, str) and has_word(key, PREFERENCES)):
        return ["score"]
    short = isinstance(cell, str) and len(cell) <= _LONGEST
    return ["criterion"] if short and has_word(key, ASPECTS) else []


def _is_score(value: Any) -> bool:
    short = isinstance(value, str) and len(value) <= _LONGEST
    return value is None or short or isinstance(value, int | float)


def _judge_and_criterion_depth(
    leaves: Sequence[_NestedScore], depth: int
) -> tuple[int | None, int | None] | None:
    """Return which of the keys to a score is the judge's and which the criterion's."""
    rated, asked = any(leaf.rater for leaf in leaves), any(leaf.criterion for leaf in leaves)
    if depth == 0:
        return (None, None) if asked or rated else None
    levels = [{leaf.names[at] for leaf in leaves} for at in range(depth)]
    people = [at for at, names in enumerate(levels) if any(map(_names_a_judge, names))]
    criteria = [at for at, names in enumerate(levels) if any(map(names_a_criterion, names))]
    if depth == 1:
        if rated or (criteria and not people and any(leaf.reason for leaf in leaves)):
            return None if asked else (None, 0)
        return (0, None) if people and not criteria else None
    if depth > 2 or rated or asked or not (people or criteria):
        return None
    if len(people) == 1 and criteria in ([], [1 - people[0]]):
        return (people[0], 1 - people[0])
    return (1 - criteria[0], criteria[0]) if len(criteria) == 1 and not people else None


def _names_a_judge(name: str) -> bool:
    return names_a_rater(name) or names_a_model(name)


def _with_judge_and_criterion(
    leaf: _NestedScore, rater: int | None, criterion: int | None
) -> _NestedScore:
    return leaf._replace(
        rater=leaf.rater if rater is None else leaf.names[rater],
        criterion=leaf.criterion if criterion is None else leaf.names[criterion],
    )

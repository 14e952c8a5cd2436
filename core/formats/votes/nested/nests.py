"""Judgements nested in cells, by judge and criterion: each becomes a row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from core.errors import Problem
from core.formats.columns.answer_columns import MOST_LABELS, MOST_MARK
from core.formats.columns.headings import (
    is_quantity,
    is_sum,
    names_a_criterion,
    names_a_person,
    names_a_rater,
    plain_name,
)
from core.formats.source.several_answers import id_column
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table
from core.formats.votes.nested.aligned_lists import with_names_beside_scores
from core.formats.votes.nested.left_inside import Keys, leaves_of, left_inside_notice
from core.formats.votes.nested.mean_scores import grades_beside, mean_criteria
from core.formats.votes.nested.record_names import (
    CATEGORIES,
    LONGEST,
    WEAK_RATERS,
    fields_named,
    is_category,
    is_score,
    named_in_record,
)
from core.formats.votes.structure.named_fields import (
    flat_columns,
    named_fields,
    names_a_model,
)
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import values_of

#: Keys around scores that name nothing.
_AROUND = re.compile(
    r"(score|rating|grade|mark|dimension|metric|result|evaluation|judge?ment|label|vote|assessment"
    r"|verdict|annotation|review|bewertung|note|nota|voto|critere|criterio)s?"
    r"|((sub|criteria|criterion|rubric|detailed) ?)?(scores|ratings)|criteria|kriterien|bewertungen"
    r"|noten|punkte|criterios|criteri|puntajes|puntuaciones|calificaciones|pontuacoes|notas|punteggi"
)
#: Headings of columns whose keys are judges, over criteria.
_BY_JUDGE = re.compile(r"(peer )?reviews?|annotations?|gutachten|relectures|revisiones|pareceres")
_FIELDS = ("rater", "criterion", "score", "reason", "rater kind")


class _NestedScore(NamedTuple):
    """A score, the keys that lead to it, and what its record names.

    ``asked`` is the criterion of an answer by the row's own rater.
    """

    names: tuple[str, ...]
    score: Any
    rater: str = ""
    criterion: str = ""
    reason: str = ""
    kind: str = ""
    asked: str = ""


def judgements_as_rows(table: Table) -> Table:
    """Return a row for each judgement of the only column, or columns, that nest them.

    Any other table is unchanged, and so is a table that does not show which names are judges.
    """
    as_read, table = table, with_names_beside_scores(table)
    found = list[tuple[tuple[str, ...], list[list[_NestedScore]], set[Keys]]]()
    for columns in _nesting_columns(table):
        read = set[Keys]()
        if (judged := _judgements_of_rows(table, columns, read)) and any(judged):
            found.append((columns, judged, read))
    found = [of for of in found if not any({*of[0]} < {*others} for others, _, _ in found)]
    if len(found) != 1 or {*_FIELDS} & {*table.columns} - {*found[0][0]}:
        return as_read
    columns, judged, read = found[0]
    means = mean_criteria(
        [(leaf.rater, leaf.criterion, leaf.score) for leaf in leaves] for leaves in judged
    )
    judged = [[leaf for leaf in leaves if leaf.criterion not in means] for leaves in judged]
    every = [leaf for leaves in judged for leaf in leaves]
    is_rated, grades = any(leaf.rater for leaf in every), list[str]()
    if not is_rated and all(leaf.criterion for leaf in every):
        scores = [[("", leaf.criterion, leaf.score) for leaf in leaves] for leaves in judged]
        grades = grades_beside(table, columns, scores)
        for row, leaves in zip(table.rows, judged, strict=True):
            given = [c for c in grades if row.get(c) not in (None, "")]
            leaves += [_NestedScore((), row[c], criterion=c) for c in given]
    if not is_rated:
        table = _with_named_judges(table)
    asked = all(leaf.asked for leaf in every)
    beside = [] if is_rated else _raters_beside(table, table.nested, users=asked)
    named = {"score", *([] if beside else ["rater"])} | {
        f for f in _FIELDS if any(getattr(leaf, f.rpartition(" ")[2]) for leaf in every)
    }
    fields = [field for field in _FIELDS if field in named]
    item = "" if beside or named_fields(flat_columns(table), ["item"]) else "item id"
    own_id = _own_id(table) if item else ""
    heads = [c for c in table.columns if c not in (*columns, own_id, *grades)]
    rows, lines = list[dict[str, Any]](), list[int | None]()
    for at, leaves in enumerate(judged):
        kept = {c: cell for c, cell in table.rows[at].items() if c in heads}
        kept = {item: table.rows[at][own_id] if own_id else str(at + 1)} | kept if item else kept
        for leaf in leaves:
            cells = (leaf.rater or "rater", leaf.criterion, leaf.score, leaf.reason, leaf.kind)
            judgement = dict(zip(_FIELDS, cells, strict=True))
            rows.append(kept | {field: judgement[field] for field in fields})
            lines.append(table.lines[at])
    said = [Problem(f"Each judgement in {' and '.join(map(repr, columns))} is a row.")]
    if none := [line for line, leaves in zip(table.lines, judged, strict=True) if not leaves]:
        without = "1 record has" if len(none) == 1 else f"{len(none):,} records have"
        said.append(Problem(f"{without} no judgement and no row.", "", (), none[0]))
    every_leaf = (
        keys for row in table.rows for c in columns for keys in leaves_of(row.get(c), (c,))
    )
    said += left_inside_notice(keys for keys in every_leaf if keys not in read)
    said += [Problem(f"{name!r}, beside them, is one more criterion.") for name in grades]
    said += [Problem(f"{name!r} is the mean of the others and is left out.") for name in means]
    return replace(
        table, columns=(*filter(None, [item]), *heads, *fields), rows=tuple(rows),
        lines=tuple(lines), places=(), document=None, notices=(*table.notices, *said),
    )  # fmt: skip


def _own_id(table: Table) -> str:
    """Return the column that tells the records apart, or ""."""
    keys = item_columns(values_of(table))
    return keys[0] if keys else id_column(flat_columns(table), table.rows) or ""


def _raters_beside(table: Table, columns: Collection[str], *, users: bool) -> list[str]:
    """Return the columns beside others that name the row's own rater, also as a user."""
    names = names_a_person if users else names_a_rater
    return [c for c in table.columns if c not in columns and names(c)]


def _with_named_judges(table: Table) -> Table:
    """Return the table with the names of judges in cells such as `{model: NAME}` as a column."""
    for column in (c for c in table.columns if c in table.nested and names_a_rater(c)):
        cells = [parsed_cell(row.get(column)) for row in table.rows]
        records = [cell for cell in cells if isinstance(cell, dict)]
        able = (k for k in WEAK_RATERS if all(isinstance(of.get(k), str) for of in records))
        if len(records) < len(cells) or (key := next(able, None)) is None:
            continue
        head = f"{column}.{key}"
        rest = (keys for of in records for keys in leaves_of(of, (column,)))
        said = left_inside_notice(keys for keys in rest if keys != (column, key))
        rows = zip(table.rows, records, strict=True)
        table = replace(
            table, columns=tuple(head if c == column else c for c in table.columns),
            rows=tuple(
                {c: cell for c, cell in row.items() if c != column} | {head: of[key]}
                for row, of in rows
            ),
            notices=(*table.notices, *said),
        )  # fmt: skip
    return table


def _nesting_columns(table: Table) -> Iterator[tuple[str, ...]]:
    """Yield each column of objects and lists, and together those with the same keys of scores."""
    columns = [c for c in table.columns if c in table.nested]
    # Beside objects, a text that holds one is the raw answer that they were read from.
    objects = [c for c in columns if not any(isinstance(row.get(c), str) for row in table.rows)]
    columns = objects or columns
    yield from ((column,) for column in columns)
    first = {c: parsed_cell(table.rows[0].get(c)) for c in columns}
    keys = {c: tuple(of) for c, of in first.items() if isinstance(of, dict)}
    for column in columns:  # answers to a question each, of several raters
        entries = [of for row in table.rows for of in _records_in(row.get(column))]
        if entries and all(
            "rater" in _all_fields(of) and "score" in _all_fields(of) for of in entries
        ):
            keys[column] = ("[]", *entries[0])
    alike = {of: tuple(c for c in keys if keys[c] == of) for of in keys.values()}
    yield from (group for group in alike.values() if len(group) > 1)


def _records_in(cell: Any) -> list[dict[str, Any]]:
    value = parsed_cell(cell)
    return [of for of in value if isinstance(of, dict)] if isinstance(value, list) else []


def _all_fields(record: Mapping[str, Any]) -> list[str]:
    return [field for key in record for field in fields_named(key, record)]


def _judgements_of_rows(
    table: Table, columns: tuple[str, ...], read: set[Keys]
) -> list[list[_NestedScore]] | None:
    """Return the judgements of each row, or ``None`` if judge or criterion is unclear.

    Adds the places of what is read to ``read``.
    """
    rows = list[list[_NestedScore]]()
    for row in table.rows:
        cells = {c: parsed_cell(row.get(c)) for c in columns}
        value = cells if len(columns) > 1 else next(iter(cells.values()))
        if value in (None, "", [], {}):
            rows.append([])
            continue
        place = columns if len(columns) == 1 else ()
        walk = _nested_scores(value, place, read) if isinstance(value, dict | list) else ()
        leaves = list(walk)
        if not leaves or not all(is_score(leaf.score) for leaf in leaves):
            return None
        rows.append(leaves)
    every = [leaf for leaves in rows for leaf in leaves]
    plain = all(leaf.asked and not (leaf.names or leaf.rater or leaf.criterion) for leaf in every)
    if plain and _raters_beside(table, columns, users="[]" in {*chain(*read)}):
        rows = [[leaf._replace(criterion=leaf.asked) for leaf in leaves] for leaves in rows]
        every = [leaf for leaves in rows for leaf in leaves]
    depth = {len(leaf.names) for leaf in every}
    if len(depth) != 1 or not _may_be_labels({leaf.score for leaf in every}):
        return None
    sides = _judge_and_criterion_depth(every, depth.pop(), columns)
    if sides is None:
        return None
    named = [[_with_judge_and_criterion(leaf, *sides) for leaf in leaves] for leaves in rows]
    names = {(leaf.rater, leaf.criterion) for leaves in named for leaf in leaves}
    apart = all(len({leaf[2:4] for leaf in leaves}) == len(leaves) for leaves in named)
    few = 2 * len(names) <= len(every) and len({criterion for _, criterion in names}) < MOST_LABELS
    whole = len({bool(criterion) for _, criterion in names}) == 1
    return named if apart and few and whole else None


def _may_be_labels(scores: Collection[Any]) -> bool:
    """Return whether scores are few, or fractions and whole numbers up to a hundred."""
    numbers = {score for score in scores if isinstance(score, int | float)}
    wide = all(0 <= n <= 1 or (n <= MOST_MARK and n == int(n)) for n in numbers)
    few = MOST_LABELS if wide else MOST_LABELS - len(numbers)
    return len({str(score) for score in scores} - {*map(str, numbers)}) <= few


def _nested_scores(
    value: Any,
    place: Keys,
    read: set[Keys],
    names: tuple[str, ...] = (),
    of: Mapping[str, str] = {},
) -> Iterator[_NestedScore]:
    """Yield the scores in objects and lists, without sums; add the places read to ``read``.

    ``place`` has all enclosing keys, ``names`` only the keys that name a judge or a criterion.
    ``of`` has the fields of the enclosing objects.
    """
    if isinstance(value, list):
        for entry in value:
            yield from (
                _nested_scores(entry, (*place, "[]"), read, names, of)
                if isinstance(entry, dict)
                else [_NestedScore((), value)]
            )
        return
    texts = [k for k, c in value.items() if isinstance(c, str) and len(c) > LONGEST]
    if any(not fields_named(key, value) for key in texts):
        yield _NestedScore((), value)  # the record of a text
        return
    own, keys = named_in_record(value, of, place)
    read.update((*place, key) for key in keys)
    scores = [key for key in value if "score" in fields_named(key, value)]
    inside = {k: v for k, v in value.items() if isinstance(v, dict | list)}
    marks = {k: v for k, v in inside.items() if _holds_marks(k, v)}
    free = [k for k in value if k not in inside and not fields_named(k, value)]
    free = [k for k in free if not (is_quantity(k) or is_sum(k))]
    if marks:
        yield from _beside_marks(value, place, read, names, own, [*scores, *free], marks)
        inside = marks
    if scores and not marks:
        yield from _own_scores(value, place, read, names, own, scores)
    elif inside:
        for key, cell in inside.items():
            is_name = not _AROUND.fullmatch(plain_name(key))
            if not (is_name and is_sum(key)):
                inner = (*names, str(key)) if is_name else names
                yield from _nested_scores(cell, (*place, key), read, inner, own)
    elif own.get("rater") and not of.get("rater"):
        yield _NestedScore((), value)  # a list of records, whose columns are named by their paths
    else:
        read.update((*place, key) for key in free)
        yield from (_NestedScore((*names, str(key)), value[key], **own) for key in free)


def _own_scores(
    record: Mapping[str, Any],
    place: Keys,
    read: set[Keys],
    names: tuple[str, ...],
    own: Mapping[str, str],
    scores: Sequence[str],
) -> Iterator[_NestedScore]:
    """Yield the score of a record, or each one of a row's own record without a name."""
    given = [key for key in scores if record[key] not in (None, "")] or scores
    asked = [key for key in record if plain_name(key) in CATEGORIES]
    if asked and own.get("rater") and not own.get("criterion"):
        for key in (*given[:1], *asked):  # each is a question to the rater
            read.add((*place, key))
            yield _NestedScore(names, record[key], **{**own, "criterion": key})
        return
    if is_named := len(place) > 1 or bool(names) or not own.keys().isdisjoint(_FIELDS[:2]):
        # A category's word counts before the number that stands for it.
        given = [next((key for key in given if is_category(record[key])), given[0])]
    for key in given:
        read.add((*place, key))
        yield _NestedScore(names, record[key], **{**own} if is_named else {**own, "asked": key})


def _beside_marks(
    record: Mapping[str, Any],
    place: Keys,
    read: set[Keys],
    names: tuple[str, ...],
    own: Mapping[str, str],
    keys: Sequence[str],
    marks: Mapping[str, Any],
) -> Iterator[_NestedScore]:
    """Yield a verdict, or an overall mark, beside scores by criteria: it is one more criterion."""
    listed = any(isinstance(cell, list) for cell in marks.values())
    for key in keys:
        is_mark = names_a_criterion(key) or _AROUND.fullmatch(plain_name(key))
        if is_mark or "score" in fields_named(key, record):
            read.add((*place, key))
            ours = {**own, "criterion": key} if listed else own
            yield _NestedScore(names if listed else (*names, key), record[key], **ours)


def _holds_marks(key: str, cell: Any) -> bool:
    """Return whether a cell holds scores by criteria, rather than figures, spans or records."""
    if not cell or not _AROUND.fullmatch(plain_name(key)):
        return False
    entries = cell if isinstance(cell, list) else [*cell.values()]
    records = [entry for entry in entries if isinstance(entry, dict)]
    scored = all(any("score" in fields_named(k, record) for k in record) for record in records)
    marks = [entry for entry in entries if not isinstance(entry, dict)]
    whole = all(not isinstance(m, float) or (2 * m).is_integer() for m in marks)
    marked = all(map(is_score, marks)) and whole and any(mark is not None for mark in marks)
    return scored and (not marks or (marked and isinstance(cell, dict)))


def _judge_and_criterion_depth(
    leaves: Sequence[_NestedScore], depth: int, columns: Sequence[str]
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
    if depth > 2 or rated or asked:
        return None
    if not (people or criteria):
        heading = plain_name(columns[0])
        by_judge = names_a_rater(heading) or _BY_JUDGE.fullmatch(heading)
        return (0, 1) if by_judge and len(columns) == 1 else None
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

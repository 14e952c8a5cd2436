"""Read tables of votes, long or wide, and votes.csv of the common layout, as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.domain.base import hint_for
from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.columns.headings import sentences_asked
from core.formats.columns.label_words import AWAY, holds_no_answer, option_named
from core.formats.folder import read_bytes
from core.formats.source.csv_reader import records, refuse_too_many
from core.formats.source.csv_writer import unguarded
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_DATASET_BYTES, Parsed, refusal, too_many
from core.formats.tables.cells import only_entry, parsed_cell, steps_of
from core.formats.tables.table import Table, value_paths
from core.formats.votes.clean_votes import read_clean_votes
from core.formats.votes.imported import (
    KINDS,
    PROBABILITY,
    REQUIRED,
    ImportedVotes,
    VoteChecker,
    VoteLine,
    empty_answers,
)
from core.formats.votes.structure.lists import one_row_per_answer
from core.formats.votes.structure.named_fields import ABOUT_ITEM
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import values_of
from core.formats.votes.tools.messages import conversation_text
from core.formats.votes.vote_mapping import VoteMapping
from core.text.names import fold

_WHAT = "file of votes"
_MEND = f"The first line must name at least {', '.join(REQUIRED)}."


def read_votes(path: Path, rubric: Rubric, items: Sequence[Item]) -> Parsed[ImportedVotes]:
    """Return the votes of a folder or file, checked against rubric and items.

    Repeated answers are listed in the result's notices.

    Raises:
        InputError: no such file, missing columns, unknown items, criteria or labels; every problem
            with its line.
    """
    return parse_votes(votes_data(path), str(path), rubric, items)


def votes_data(path: Path) -> Opened:
    """Return a folder's votes.csv, or the file."""
    file = path / "votes.csv" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        mend = f"Put the votes there; its first line names {', '.join(REQUIRED)}."
        raise InputError(f"This folder has no votes.csv. {mend}", (), str(path))
    return Opened(read_bytes(file, MAX_DATASET_BYTES), str(file))


def parse_votes(
    data: str | bytes | Opened, name: str, rubric: Rubric, items: Sequence[Item]
) -> Parsed[ImportedVotes]:
    """Return the votes in the content of a votes.csv."""
    opened = Opened.of(data, name)
    if not any(item.rubric for item in items):
        ids = [item.id for item in items]
        clean = read_clean_votes(opened.data, rubric, ids, whole=True)
        if clean is not None:
            blank = int(clean.failed.sum())
            return Parsed(ImportedVotes(clean, {}), empty_answers({"": blank} if blank else {}))
    return parse_rows(opened, rubric, items)


def parse_rows(opened: Opened, rubric: Rubric, items: Sequence[Item]) -> Parsed[ImportedVotes]:
    """Return the votes read row by row, which gives the line of every problem."""
    name, text = opened.name, opened.text(_WHAT, MAX_DATASET_BYTES)
    columns = [cell.strip() for cell in opened.columns]
    if gone := [column for column in REQUIRED if column not in columns]:
        problem = Problem(f"lacks the columns {', '.join(gone)}.", _MEND, (), 1)
        raise refusal(_WHAT, [problem], name)
    if twice := [column for column in REQUIRED if columns.count(column) > 1]:
        problem = Problem(f"names {', '.join(twice)} twice.", "Keep one of the two.", (), 1)
        raise refusal(_WHAT, [problem], name)
    checker = VoteChecker(rubric, items, name)
    rows = _vote_lines(text, opened.delimiter, columns, checker.problems, name)
    return Parsed(checker.read(rows), checker.notices)


def _vote_lines(
    text: str, delimiter: str, columns: Sequence[str], problems: list[Problem], name: str
) -> Iterator[VoteLine]:
    header = True
    refuse_too_many(text, delimiter, name)
    for line, cells in records(text, delimiter, problems):
        if not any(cell.strip() for cell in cells):
            continue
        if header:
            header = False
        elif len(cells) != len(columns):
            message = f"has {len(cells)} cells, but the first line names {len(columns)} columns."
            mend = "Put cells that hold the delimiter or a line break in double quotes."
            problems.append(Problem(message, mend, (), line))
        else:
            yield line, dict(zip(columns, cells, strict=True))


#: Other words for the kinds of raters.
KIND_WORDS = {
    **dict.fromkeys(("person", "people", "annotator", "expert"), "human"),
    **dict.fromkeys(("model", "judge", "ai", "machine"), "llm"),
    "classifier": "offline",
}
#: The maximum length of a rater's name.
_NAME = 100
#: Columns that only our own export has together; its texts are escaped for spreadsheets.
_EXPORTED = frozenset({"submission_id", "rubric_version", "rater_type", "inclusion_prob"})
_COPIED = ("reason", "weight", "replicate", "order")


class TableVotes(NamedTuple):
    """A table's votes, its gold labels, and its fields of items.

    ``gold`` has the gold answer by item and criterion, ``texts`` the item's columns. ``blank``
    counts the empty cells of a wide table.
    """

    lines: list[VoteLine]
    gold: dict[tuple[str, str], VoteLine]
    texts: dict[str, dict[str, str]]
    blank: list[int]


def votes_in(table: Table, mapping: VoteMapping) -> TableVotes:
    """Return the votes of a table. Raises ``InputError``.

    An empty answer is a failure in a long table, and means "not asked" in a wide table.
    """
    if mapping.layout in ("long", "criteria"):
        answers = [c for c in (mapping.label, *(c.column for c in mapping.columns)) if c]
        table, rater = one_row_per_answer(table, answers, mapping.rater)
        mapping = mapping.model_copy(update={"rater": rater})
    repeated = 0.0 if mapping.rater else _share_repeated(table, mapping)
    _require_columns(table, mapping, repeated)
    votes, problems = TableVotes([], {}, {}, [0]), list[Problem]()
    unnamed = mapping.item is not None and repeated >= 0.5
    for line, row in _vote_fields_of_rows(table, mapping, votes, problems, unnamed=unnamed):
        if mapping.words:
            row["label"] = mapping.option_for(row["criterion"], row["label"])
        if row.pop("gold"):
            if row["label"]:
                votes.gold[row["item_id"], row["criterion"]] = line, row
        else:
            votes.lines.append((line, row))
        if too_many(problems):
            break
    votes.texts.update(_texts_of_columns(table, mapping))
    if not votes.lines and not problems:
        problems.append(Problem("holds no answers.", "Check which column is what.", (), 1))
    if problems:
        raise refusal("table of votes", problems, table.name)
    return votes


def _texts_of_columns(table: Table, mapping: VoteMapping) -> dict[str, dict[str, str]]:
    """Return the texts of items that have columns: a survey's questions, or their sentences."""
    items = {c.column: c.item for c in mapping.columns if c.item}
    texts = {items[column]: text for column, text in sentences_asked([*items]).items()}
    texts |= {item: table.questions[item] for item in {*items.values()} & table.questions.keys()}
    return {item: {"submission": text} if text else {} for item, text in texts.items()}


def _require_columns(table: Table, mapping: VoteMapping, repeated: float) -> None:
    problems = [
        Problem(
            f"names the column {column!r}, which is not there.",
            hint_for(column, set(table.columns)) or f"There are {', '.join(table.columns[:20])}.",
            ("mapping", field),
        )
        for field, column in mapping.used().items()
        if column not in table.columns
    ]
    required = ["item", "label"] if mapping.layout == "long" else []
    required += ["rater"] if required and 0 < repeated < 0.5 else []
    if not any(c.item for c in mapping.columns):
        ids = item_columns(values_of(table)) if mapping.item is None else ()
        free_ids = [c for c in ids if c not in mapping.used().values()]
        required = required or (["item"] if mapping.rater or free_ids else [])
    free = [c for c in table.columns if c not in mapping.used().values()]
    mend = f"Say which it is: {', '.join(map(repr, free[:20])) or 'none is left'}."
    problems += [
        Problem(f"has no column for the {name}.", mend, ("mapping", name))
        for name in required
        if getattr(mapping, name) is None
    ]
    rated = table.rows if mapping.rater else ()
    if (longest := max((len(cell_text(r, mapping.rater)) for r in rated), default=0)) > _NAME:
        message = (
            f"{mapping.rater!r} holds texts of up to {longest:,} characters, not raters' names."
        )
        problems.append(Problem(message, "Name the column that says who rated.", ("rater",)))
    if mapping.layout != "long" and not mapping.columns:
        kind = "raters" if mapping.layout == "wide" else "criteria"
        problems.append(
            Problem("has no column of answers.", f"Say which columns are {kind}.", ("mapping",))
        )
    if problems:
        raise refusal("table of votes", problems, table.name)


def _share_repeated(table: Table, mapping: VoteMapping) -> float:
    """Return the share of items with several rows for one criterion, so that raters must differ."""
    asked = [c for c in (mapping.item, mapping.criterion, mapping.system) if c in table.columns]
    keys = Counter(tuple(str(row.get(column)) for column in asked) for row in table.rows)
    return sum(times > 1 for times in keys.values()) / max(1, len(keys))


def _vote_fields_of_rows(
    table: Table,
    mapping: VoteMapping,
    votes: TableVotes,
    problems: list[Problem],
    *,
    unnamed: bool,
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    numbers, times = dict[str, str](), Counter[tuple[str, str]]()
    exported = table.flat and set(table.columns) >= _EXPORTED
    for at, written in enumerate(table.rows):
        cells = {name: unguarded(text) for name, text in written.items()} if exported else written
        line = table.line_of(at)
        item = cell_text(cells, mapping.item) if mapping.item else f"item-{at + 1:04d}"
        if item and mapping.item == mapping.submission:
            item = numbers.setdefault(item, f"item-{len(numbers) + 1:04d}")
        if item and mapping.by_system:
            item = f"{item} / {cell_text(cells, mapping.system)}"
        criterion = cell_text(cells, mapping.criterion) or mapping.only
        if not item or (not criterion and mapping.layout == "long"):
            column = mapping.criterion or "criterion" if item else mapping.item or "item"
            mend = f"Say which {'criterion' if item else 'item'} was rated."
            problems.append(Problem("is empty.", mend, (column,), line))
            continue
        if inside := _nested_column(cells, mapping):
            _add_object_problem(problems, table, inside, line)
            continue
        if not any(c.item for c in mapping.columns):
            _keep_texts(votes, mapping, cells, item)
        base = {"item_id": item, "criterion": criterion}
        times[item, criterion] += 1
        numbered = {"rater_id": f"rater {times[item, criterion]}"} if unnamed else {}
        if mapping.layout == "long":
            yield line, base | _answer_of_long_row(cells, mapping, table, problems, line) | numbered
            continue
        of_row = (
            _rater_of_row(cells, mapping, problems, line) if mapping.layout == "criteria" else {}
        )
        of_row |= numbered if of_row else {}
        if mapping.rater is None and any(c.item for c in mapping.columns):
            of_row["rater_id"] = f"row {at + 1}"
        copied = (("reason", mapping.reason), ("replicate", mapping.replicate))
        of_row |= {field: cell_text(cells, column) for field, column in copied if column}
        for answer in _answers_of_row(cells, mapping, votes, of_row):
            yield line, base | answer


def _add_object_problem(
    problems: list[Problem], table: Table, column: str, line: int | None
) -> None:
    """Add the problem of a column that holds objects or lists, once for all rows."""
    if not any(problem.path == (column,) for problem in problems):
        inside = (path for path in value_paths(table) if steps_of(path)[0] == column)
        mend = f"Name what is in it, as in {next(inside, 'annotations[0].value')}."
        problems.append(Problem("holds an object or a list.", mend, (column,), line))


def _answers_of_row(
    cells: dict[str, Any], mapping: VoteMapping, votes: TableVotes, of_row: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the answers in a row's columns; count empty ones."""
    for voter in mapping.columns:
        criterion = voter.criterion or cell_text(cells, mapping.criterion) or mapping.only
        label = cell_text(cells, voter.column) or mapping.option_for(criterion, "")
        if not label:
            votes.blank[0] += 1
            continue
        if voter.item:
            votes.texts.setdefault(voter.item, {})
        whose = _rater_fields(voter.rater, _kind_of_rater(voter.rater, mapping)) | of_row
        extra = {"item_id": voter.item} if voter.item else {}
        why = cell_text(cells, voter.reason) if voter.reason else ""
        extra |= {"reason": why} if why else {}
        yield whose | extra | {"criterion": criterion, "label": label}


def _nested_column(cells: dict[str, Any], mapping: VoteMapping) -> str | None:
    """Return the first rater or item column that holds more than a word."""
    fields = (mapping.item, mapping.criterion, mapping.rater, mapping.kind, mapping.label)
    named = (*fields, *(voter.column for voter in mapping.columns))
    return next(
        (c for c in named if c and isinstance(only_entry(parsed_cell(cells.get(c))), dict | list)),
        None,
    )


def _answer_of_long_row(
    cells: dict[str, Any],
    mapping: VoteMapping,
    table: Table,
    problems: list[Problem],
    line: int | None,
) -> dict[str, Any]:
    row = _rater_of_row(cells, mapping, problems, line) | {"label": cell_text(cells, mapping.label)}
    row |= {name: cell_text(cells, getattr(mapping, name)) for name in _COPIED}
    return row | {c: cell_text(cells, c) for c in table.columns if c.startswith(PROBABILITY)}


def _rater_of_row(
    cells: dict[str, Any], mapping: VoteMapping, problems: list[Problem], line: int | None
) -> dict[str, Any]:
    """Return the rater of a row."""
    rater = cell_text(cells, mapping.rater) or ("" if mapping.rater else "rater")
    kind_word = cell_text(cells, mapping.kind).casefold()
    kind = KIND_WORDS.get(kind_word, kind_word) or _kind_of_rater(rater, mapping)
    if kind not in (*KINDS, "gold"):
        mend = f"Use one of {', '.join(KINDS)}."
        problems.append(Problem(f"is {kind_word!r}.", mend, (mapping.kind or "kind",), line))
    return _rater_fields(rater, kind)


def _rater_fields(rater: str, kind: str) -> dict[str, Any]:
    return {"rater_id": rater, "rater_kind": kind, "gold": kind == "gold"}


def _kind_of_rater(rater: str, mapping: VoteMapping) -> str:
    return mapping.kinds.get(rater, mapping.others)


def _keep_texts(votes: TableVotes, mapping: VoteMapping, cells: dict[str, Any], item: str) -> None:
    """Store the row's fields of its item; the first nonempty row counts."""
    texts = votes.texts.setdefault(item, {})
    for name in ABOUT_ITEM:
        column = getattr(mapping, name)
        told = parsed_cell(cells.get(column)) if column else None
        nested = isinstance(told, list | dict) and (len(told) > 1 or not isinstance(told[0], str))
        text = conversation_text(told) if nested else cell_text(cells, column)
        if text:
            texts.setdefault(name, text)


def cell_text(cells: dict[str, Any], column: str | None) -> str:
    """Return a cell as a label: ``3.0`` is ``3``, JSON's booleans are words."""
    value = None if column is None else only_entry(cells.get(column))
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def unknown_words(rubric: Rubric, lines: Sequence[VoteLine]) -> dict[str, list[str]]:
    """Return unknown words by criterion, most frequent first."""
    criteria = {fold(c.name): c for c in rubric.criteria}
    strange: dict[str, Counter[str]] = {}
    for _, row in lines:
        criterion, word = criteria.get(fold(row["criterion"])), row["label"]
        if criterion is None or holds_no_answer(criterion, word) or fold(word) in AWAY:
            continue
        if option_named(criterion, word) is None:
            strange.setdefault(criterion.name, Counter())[word] += 1
    return {name: [word for word, _ in counts.most_common()] for name, counts in strange.items()}

"""The layouts closest to an unknown table, each with the options that select it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal

from core.domain.rubric import Rubric
from core.errors import InputError
from core.formats.columns.headings import (
    is_question,
    names_a_person,
    names_a_rater,
    sentences_asked,
)
from core.formats.columns.name_grids import NameGrid, answers_in_grid, likely_items, likely_sides
from core.formats.columns.text_columns import (
    heads_a_prompt,
    is_remark,
    prompt_beside,
    proposed_texts,
)
from core.formats.datasets.dataset_file import dataset_of
from core.formats.datasets.labels import WORD, is_word_change, words_in_changes
from core.formats.datasets.mapping import guess_mapping
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, RATERS, has_word, plain_heading
from core.formats.tables.cells import steps_of
from core.formats.tables.table import Table, first_of_table, with_paths
from core.formats.votes.derived_rubric import derive_rubric
from core.formats.votes.item_texts import rival_labels, why_unreadable
from core.formats.votes.pairs.contests import pairs_in
from core.formats.votes.pairs.pair_tables import guess_pairs, near_pairs
from core.formats.votes.pairs.rankings import are_ranks
from core.formats.votes.proposals.answers_in_cells import answers_in_cells
from core.formats.votes.proposals.long_rows import flags_of, long_rows, rows_without_header
from core.formats.votes.proposals.near_shape import Kind, NearShape
from core.formats.votes.proposals.raters_beside_criterion import raters_beside_criterion
from core.formats.votes.structure.key_answers import RowKeys
from core.formats.votes.structure.lists import list_answer_changes, with_object_keys
from core.formats.votes.structure.marks import columns_of_marks, raters_agree, tick_changes
from core.formats.votes.structure.named_fields import ABOUT_ITEM, judges_with_reasons
from core.formats.votes.structure.rater_columns import (
    RaterColumns,
    item_columns,
    names_a_respondent,
    rater_columns,
    raters_by_rows,
)
from core.formats.votes.structure.row_keys import heads_raters, keys_named, row_keys
from core.formats.votes.structure.texts import best_texts, may_hold_texts, quiz_columns
from core.formats.votes.structure.values import TRAITS, Values, values_of
from core.formats.votes.structure.vote_headings import item_changes
from core.formats.votes.vote_changes import change_votes
from core.formats.votes.vote_layouts import kind_of_table, unnamed_raters, with_sparse_raters
from core.formats.votes.vote_mapping import VoteMapping, guess_vote_mapping
from core.formats.votes.vote_tables import votes_in

_TRIED = 500
#: The most readings to propose.
_MOST = 3
#: Headings with more words hold what was judged, or a statement.
_SENTENCE = 8
#: Headings of how far raters are apart.
_SPREAD = re.compile(
    r"sd|std( ?dev)?|stdev|standard deviation|standardabweichung|ecart type|desviacion estandar"
    r"|deviazione standard|desvio padrao|standaardafwijking"
)
TableKind = Literal["long", "wide", "criteria", "pairs", "dataset", "unknown"]


def nearest_shapes(table: Table) -> tuple[NearShape, ...]:
    """Return the layouts that a table could have, each with the changes that select it."""
    return table.once(_nearest_shapes)


def _nearest_shapes(table: Table) -> tuple[NearShape, ...]:
    return tuple(islice(_likely_readings(first_of_table(table, _TRIED)), _MOST))


def only_reading(table: Table, rubric: Rubric | None) -> VoteMapping | None:
    """Return the votes of an unknown table if headings and values allow only one reading."""
    shapes = () if why_unreadable(table) else nearest_shapes(table)
    if len(shapes) != 1 or not shapes[0].sure or shapes[0].kind == "dataset":
        return None
    mapping = _apply_shape(guess_vote_mapping(table, shapes[0].kind, rubric), shapes[0], table)
    return with_sparse_raters(mapping, table)


def likely_mapping(table: Table, guess: VoteMapping, rubric: Rubric | None) -> VoteMapping:
    """Return the guess for a layout, replaced by its nearest shape if names are not conclusive."""
    if kind_of_table(table, rubric) != "unknown":
        return guess
    shape = next((s for s in nearest_shapes(table) if s.kind == guess.layout), None)
    return guess if shape is None else _apply_shape(guess, shape, table)


def first_reading(
    table: Table, kind: TableKind, rubric: Rubric | None, changes: Sequence[str] = ()
) -> VoteMapping | None:
    """Return the reading of a table before ``changes`` assign its columns, as votes.

    For an unknown table this is the first proposal; if the changes name item and rater, these
    replace the proposed ones. For a table of items, it has their columns and texts.
    """
    if kind == "dataset":
        items = guess_mapping(table, rubric)
        named = {name: getattr(items, name) for name in ABOUT_ITEM}
        return VoteMapping(layout="wide", item=items.id, **named)
    if kind == "pairs":
        return guess_pairs(table)
    if kind != "unknown":
        return guess_vote_mapping(table, kind, rubric)
    shape = next(
        iter(_chosen_readings(first_of_table(table, _TRIED), changes) or nearest_shapes(table)),
        None,
    )
    if shape is None or shape.kind == "dataset":
        return None
    return _apply_shape(guess_vote_mapping(table, shape.kind, rubric), shape, table)


def kept_reading(guess: VoteMapping, first: VoteMapping) -> VoteMapping:
    """Return the first reading; from one in another layout keep only its items and texts."""
    if guess.layout == first.layout and (first.columns or first.layout == "long"):
        return first
    fields = {name: getattr(first, name) for name in ("item", *ABOUT_ITEM)}
    return guess.model_copy(update={name: column for name, column in fields.items() if column})


def _apply_shape(guess: VoteMapping, shape: NearShape, table: Table) -> VoteMapping:
    labels = words_in_changes([c.removeprefix(WORD) for c in shape.changes if is_word_change(c)])
    mapping = change_votes(guess, [c for c in shape.changes if not is_word_change(c)], table)
    return mapping.model_copy(update={"words": labels}) if labels else mapping


def _is_readable(table: Table, shape: NearShape) -> bool:
    try:
        if shape.kind == "dataset":
            dataset_of(table, table.name, changes=shape.changes)
            return True
        mapping = _apply_shape(guess_vote_mapping(table, shape.kind), shape, table).with_criterion()
        if shape.kind == "pairs":
            pairs_in(table, mapping)
            return True
        votes = votes_in(with_paths(table, mapping.used().values()), mapping)
        derive_rubric(votes.lines, [*votes.gold.values()], table.name)
    except InputError:
        return False
    return True


def _likely_readings(table: Table) -> Iterator[NearShape]:
    """Yield the likeliest readings; a weaker reading is not proposed if a stronger one passes."""
    for readings in (
        _ambiguous_readings,
        _readings_with_raters,
        _long_readings,
        _cell_readings,
        _readings_of_neighbours,
        _weak_readings,
        _readings_of_numbered_raters,
    ):
        if ambiguous := [shape for shape in readings(table) if _is_readable(table, shape)]:
            yield from ambiguous
            return
    yield from filter(lambda shape: _is_readable(table, shape), _item_readings(table))


def _item_readings(table: Table) -> Iterator[NearShape]:
    """Yield each likely column of texts, with a person's marks of them as labels, and without."""
    guess = guess_mapping(table)
    texts = [text for text in proposed_texts(table) if may_hold_texts(table, text)]
    judged = best_texts(values := values_of(table), values.text_columns(), item_columns(values))
    texts = [judged.text, judged.second] if judged.second and len(texts) < 2 else texts
    texts = [guess.submission] if guess.submission else [*quiz_columns(table)] or texts
    texts.sort(key=heads_a_prompt)
    marks = columns_of_marks(values, [c for c in table.columns if c not in texts])
    marks += [c for c in guess.labels.values() if c not in marks]
    for text in texts:
        lacks = "no column is named for the submission"
        if len(texts) > 1:
            lacks = f"{len(texts)} columns are equally likely to hold the submission"
        prompt = "" if guess.prompt else prompt_beside(table, text, table.columns)
        changes = (f"submission={text}", *([f"prompt={prompt}"] if prompt else []))
        if marks and guess.submission:
            lacks = f"{_join_names(marks)} could be a person's marks of its texts"
        yield NearShape("dataset", lacks, (*changes, *(f"labels={c}" for c in marks)))
        if marks and guess.submission:
            yield NearShape("dataset", "they could be notes that no judge is shown", changes)


def _readings_with_raters(table: Table) -> Iterator[NearShape]:
    """Yield readings with a row for each item and rater, judged by the values."""
    whole = with_object_keys(table)
    yield from _readings_by_keys(whole, row_keys(whole))
    for changes, sure in list_answer_changes(table):
        kind: Kind = "criteria" if any(c.startswith("criteria=") for c in changes) else "long"
        yield NearShape(kind, "cells hold the answers of several raters", changes, sure)


def _long_readings(table: Table) -> Iterator[NearShape]:
    """Yield rows of one mark each, by what their values tell apart."""
    for keys in long_rows(table):
        lacks = f"each row is one mark, of {keys.item[0]!r}, {keys.rater!r} and {keys.criterion!r}"
        yield NearShape("long", lacks + keys.texts.columns_phrase, keys.changes())
    for keys in rows_without_header(table):
        lacks = f"{keys.rater!r} could name who gave {keys.answers[0]!r}, whose texts repeat"
        if flags := flags_of(table, keys.item):
            lacks += f"; {', '.join(flags)}: look whether some rows are a check of the raters"
        yield NearShape("long", lacks, keys.changes())


def _weak_readings(table: Table) -> Iterator[NearShape]:
    """Yield items and raters with little evidence."""
    yield from _readings_by_keys(table, row_keys(table, sure=False))


def _readings_of_numbered_raters(table: Table) -> Iterator[NearShape]:
    """Yield an id that repeats as the item of raters without names, and each row as an item."""
    items = guess_mapping(table)
    if not (item := unnamed_raters(table, items)):
        return
    labels = [*items.labels.values()]
    lacks = f"{item!r} repeats, and no column names who rated: raters are numbered in order"
    kind: Kind = "long" if len(labels) == 1 else "criteria"
    field = "label" if kind == "long" else "criteria"
    text = [f"submission={items.submission}"] if item != items.submission else []
    yield NearShape(kind, lacks, (f"item={item}", *text, *(f"{field}={c}" for c in labels)))
    changes = (f"submission={items.submission}", *(f"labels={c}" for c in labels))
    yield NearShape("dataset", "each row could be an item of its own", changes)


def _readings_by_keys(table: Table, candidates: Iterable[RowKeys]) -> Iterator[NearShape]:
    for keys in candidates:
        lacks = "a column of people repeats over its items"
        if not heads_raters([keys]):
            lacks = f"each row is another pair of {keys.item[0]!r} and {keys.rater!r}"
        marks, judged = tick_changes(table, keys.answers), keys.texts
        if not judged.text:
            text = _text_inside_cells(table, (keys.rater, *keys.answers, keys.reason))
            judged = judged._replace(text=text)
        for texts in judged.readings():
            changes = (*keys._replace(texts=texts).changes(), *marks)
            kind: Kind = "criteria" if keys.has_criterion_columns else "long"
            yield NearShape(kind, lacks + texts.columns_phrase, changes, keys.sure and not marks)


def _text_inside_cells(table: Table, answers: Sequence[str]) -> str:
    """Return the likeliest place of the texts inside cells, apart from the answers."""
    roots = {steps_of(column)[:1] for column in answers}
    paths = (t for t in proposed_texts(table) if t not in table.columns)
    return next((path for path in paths if steps_of(path)[:1] not in roots), "")


def _chosen_readings(table: Table, changes: Sequence[str]) -> list[NearShape]:
    """Return the votes for the item and the rater that changes name, if they name both."""
    fields = [change.partition("=") for change in changes]
    item = [column for field, _, column in fields if field in ("item", "id")]
    raters = [column for field, _, column in fields if field == "rater"]
    keys = keys_named(table, item, raters[0]) if len(raters) == 1 else None
    return [r for r in _readings_by_keys(table, [keys] if keys else []) if _is_readable(table, r)]


def _cell_readings(table: Table) -> Iterator[NearShape]:
    if changes := answers_in_cells(table):
        yield NearShape("long", "no columns are named for item, rater and answer", changes)


def _readings_of_neighbours(table: Table) -> Iterator[NearShape]:
    """Yield readings of neighbouring answer columns: as raters, as criteria, or as labels of texts.

    Raters come last if no heading names them or their spread, and the columns do not agree.
    """
    table = with_object_keys(table)
    wide = rater_columns(table)
    if wide is not None:
        spread = any(_SPREAD.fullmatch(plain_heading(c)) for c in table.columns)
        last = not (wide.are or spread or raters_agree(values_of(table), wide.columns))
        yield from sorted(_neighbour_readings(table, wide), key=lambda s: last and s.kind == "wide")


def _neighbour_readings(table: Table, wide: RaterColumns) -> Iterator[NearShape]:
    marks, listed, named = tick_changes(table, wide.columns), _join_names(wide.columns), False
    if not wide.texts.text:
        text = _text_inside_cells(table, wide.columns)
        wide = wide._replace(texts=wide.texts._replace(text=text))
    if wide.summaries:
        listed += f" (without {_join_names(wide.summaries)}, which sums them up)"
    is_survey = wide.is_numbered and not wide.is_gradebook and all(map(is_question, wide.columns))
    asked = {} if any(has_word(i, ITEMS) for i in wide.item) else sentences_asked(wide.columns)
    people = wide.item[:1] if is_survey or asked else tuple(filter(names_a_respondent, wide.item))
    person = next(iter(people), "") if not wide.texts.text else ""
    about = [c for c in table.columns if names_a_person(c) and TRAITS.search(plain_heading(c))]
    if person or (about and not wide.item):
        lacks = f"a row is a person ({person or about[0]!r}), and {listed} could be the items"
        arguments = (*(f"rater={p}" for p in people[:1]), *(f"items={c}" for c in wide.columns))
        yield NearShape("criteria", lacks, (*arguments, *marks))
    elif wide.are != "criteria":
        titled = wide.titled or all(map(names_a_rater, wide.columns))
        named = titled and bool(wide.item) and not (marks or wide.texts.second)
        lacks = f"{listed} share labels, and nothing says whether they are raters"
        lacks = f"{listed} look like the answers of raters" if wide.are else lacks
        ranks = ("only=rank",) if are_ranks(values_of(table), wide.columns) else ()
        lacks += "; each gave the places 1 to n once, of which 1 is best" if ranks else ""
        for texts in wide.texts.readings():
            changes = wide._replace(texts=texts).changes("raters")
            yield NearShape("wide", lacks + texts.columns_phrase, (*changes, *marks, *ranks), named)
    if wide.texts.text and not named:
        lacks = "columns that share labels could be labels of criteria"
        values, beside = values_of(table), [c for c in table.columns if c not in wide.summaries]
        also = [c for c in columns_of_marks(values, beside) if len(values.distinct[c]) > 2]
        also = [c for c in also if not _is_of_person(values, c, wide.columns)]
        labels = dict.fromkeys((*wide.columns, *also))
        changes = (f"submission={wide.texts.text}", *(f"labels={c}" for c in labels), *marks)
        yield NearShape("dataset", lacks, changes)
    elif wide.are != "raters" or (person and not has_word(person, RATERS)):
        lacks = "its columns could be criteria, answered by one rater" + wide.texts.columns_phrase
        sure = wide.is_gradebook or {*wide.columns} <= table.maxima
        sure = sure and bool(wide.item) and not marks
        stems = tuple(c.partition(" (")[0] for c in wide.columns)  # a remark on one criterion
        remarks = [c for c in values_of(table).remarks if not c.startswith(stems)]
        remarks = remarks if wide.are == "criteria" else []
        reason = [f"reason={c}" for c in remarks if len(remarks) == 1]
        yield NearShape("criteria", lacks, (*wide.changes("criteria"), *reason, *marks), sure)


def _is_of_person(values: Values, column: str, marks: Sequence[str]) -> bool:
    """Return whether numbers beside an attribute of people, such as a school year, are no marks.

    All of them are above or below the marks.
    """
    at = values.table.columns.index(column)
    beside = values.table.columns[max(0, at - 1) : at + 2]
    about = any(TRAITS.search(plain_heading(c)) for c in beside if c != column)
    own, others = (
        [n for c in of for word in values.distinct.get(c, ()) if (n := number_of(word)) is not None]
        for of in ([column], marks)
    )
    apart = bool(own and others) and (min(own) > max(others) or max(own) < min(others))
    return about and apart and column not in marks


def _ambiguous_readings(table: Table) -> Iterator[NearShape]:
    """Yield the readings of a table with a known layout that is ambiguous."""
    items = guess_mapping(table)
    if changes := judges_with_reasons(table):
        item = item_columns(values := values_of(table))
        judged = best_texts(values, values.text_columns(), item)
        roles = (*item_changes(item), *judged.changes(item), *changes)
        yield NearShape("wide", "each judge could have a score and a reason", roles)
        return
    for label in rival_labels(table, items):
        lacks = f"{label!r} could be the label of its texts"
        yield NearShape("dataset", lacks, (f"submission={items.submission}", f"labels={label}"))
    for changes in near_pairs(table):
        yield NearShape("pairs", "two answers are next to what could compare them", changes)
    if changes := raters_by_rows(table) or raters_beside_criterion(table):
        yield NearShape("wide", "a row could be an item's criterion, with its raters", changes)
    if grid := answers_in_grid(table):
        yield from _grid_readings(table, grid)


def _grid_readings(table: Table, grid: NameGrid) -> Iterator[NearShape]:
    """Yield the options for headings that are two names by two."""
    item = item_columns(values := values_of(table))
    parts = (*grid.raters, *grid.criteria)
    person = next(filter(names_a_respondent, item), "")
    judged = best_texts(values, values.text_columns(), item)
    told = [way for way in (grid, grid.swapped) if {*way.raters} <= table.questions.keys()]
    long = [part for part in parts if len(part.split()) > _SENTENCE]
    named = [c for c in item if (told or long) and not is_remark(c)]
    person = person or next(iter(named), "")
    if told or (person and not any(map(names_a_rater, parts)) and not judged.text):
        ways = sorted(likely_items(table, grid), key=lambda way: not {*way.raters} & {*long})
        for way in told or ways:
            lacks = f"a row is a person ({person!r}), and {_join_names(way.raters)} could be"
            changes = [f"items={r}" for r in way.raters] + [f"criteria={c}" for c in way.criteria]
            lacks += f" the items, {_join_names(way.criteria)} the criteria"
            changes = [*([f"rater={person}"] if person else []), *changes]
            yield NearShape("criteria", lacks, tuple(changes), bool(told))
        return
    sure = grid.has_titled_raters and bool(item) and not judged.second
    for way in likely_sides(table, grid):
        lacks = f"{_join_names(way.raters)} could be raters, {_join_names(way.criteria)} criteria"
        roles = (*item_changes(item), *judged.changes(item), *way.changes)
        yield NearShape("wide", lacks, roles, sure)
    if sure:
        return
    texts = [text for text in proposed_texts(table) if not is_remark(text)]
    for text in [judged.text] if judged.text else texts[:1]:
        labels = (f"labels={column}" for column in grid.columns.values())
        yield NearShape("dataset", "its columns could be labels", (f"submission={text}", *labels))


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))

"""Ids with more than one text: an item becomes an id and a system, or the table is refused."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from core.errors import Problem
from core.formats.columns.answer_columns import could_answer, words_in
from core.formats.columns.headings import (
    COUNTS,
    is_sum,
    lower_heading,
    names_a_person,
    plain_name,
    stem_of,
)
from core.formats.columns.text_columns import text_shape
from core.formats.datasets.mapping import ColumnMapping
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import plain_heading
from core.formats.tables.cells import steps_of
from core.formats.tables.table import Table, first_of_table, value_paths, with_paths
from core.formats.votes.pairs.leaderboards import why_leaderboard_unread
from core.formats.votes.pairs.rankings import why_ranking_unread
from core.formats.votes.structure.named_fields import NAMES
from core.formats.votes.structure.values import values_of
from core.formats.votes.structure.vote_headings import names_a_system
from core.formats.votes.structure.word_scales import is_scale
from core.formats.votes.vote_mapping import VoteMapping, guess_vote_mapping


def has_text_per_system(table: Table, mapping: VoteMapping) -> bool:
    """Return whether an id has several texts: one for each system.

    In a table without texts, the raters show it: they answered once on each system of an id,
    instead of once on each id.
    """
    item, text, system = mapping.item, mapping.submission, mapping.system
    if item is None or system is None or item == text:
        return False
    if text is None:
        values, asked = values_of(table), (mapping.rater, mapping.criterion, mapping.replicate)
        keys = [c for c in (item, *asked) if c in values.columns]
        known = {item, system} <= {*values.columns} and mapping.layout != "wide"
        return known and values.uniqueness(keys) < 1 == values.uniqueness([*keys, system])
    return _has_several_texts(table, [item], text) and not _has_several_texts(
        table, [item, system], text
    )


def merges_texts(table: Table, mapping: VoteMapping) -> bool:
    """Return whether an item would merge rows with different texts.

    If no heading names the text, some rater must have answered twice on an item, about different
    sentences.
    """
    if (
        mapping.item is None
        or mapping.item == mapping.submission
        or has_text_per_system(table, mapping)
    ):
        return False
    if mapping.submission:
        return _has_several_texts(table, [mapping.item], mapping.submission)
    fields = (mapping.item, mapping.rater, mapping.criterion, mapping.replicate, mapping.order)
    keys = [column for column in fields if column]
    return any(_has_several_texts(table, keys, text) for text in _sentence_columns(table, mapping))


def text_notices(table: Table, mapping: VoteMapping) -> list[Problem]:
    """Return notices about ids with several texts."""
    item, text = mapping.item or "", mapping.submission or ""
    if mapping.by_system:
        message = f"One {item!r} has a text for each {mapping.system!r}: an item is both together."
        return [Problem(message)]
    if not text or not merges_texts(table, mapping):
        return []
    message = f"Rows of one {item!r} have different texts in {text!r}; the first is kept."
    return [Problem(message, f"If each text is an item: {_MAP.format(text)}.", ("mapping", "item"))]


_MAP = "--map 'item={}'"


#: `support@v3`, `v1.2`, `prompt-v2`: a version of what wrote a text.
_VERSION = re.compile(r"(.*[@_\-/ :])?v\d+([._-]\w+)*", re.I)
_MOST_VERSIONS = 12


def version_place(table: Table, columns: Collection[str]) -> str:
    """Return the only column, or place in cells, of a few versions that repeat, or ""."""
    inside = [p for p in value_paths(table) if steps_of(p)[0] in columns and p not in columns]
    places, found = [*(c for c in columns if c not in table.nested), *inside], list[str]()
    table = with_paths(first_of_table(table, 1000), inside)
    for place in places:
        words = words_in(table, place)
        few = 1 < len(words) <= min(_MOST_VERSIONS, len(table.rows) // 2)
        found += [place] if few and all(map(_VERSION.fullmatch, words)) else []
    return found[0] if len(found) == 1 else ""


def why_unreadable(table: Table) -> str:
    """Return why the rows of a table are neither items nor votes, or ""."""
    if why := why_ranking_unread(table) or why_leaderboard_unread(values_of(table)):
        return why
    if column := _count_column(table):
        return (
            f"{column!r} counts votes. It takes a row for each vote, with a column for its rater."
        )
    if scores := _system_score_columns(table):
        listed = ", ".join(map(repr, scores))
        return (
            f"{listed} could be scores of a system each. It takes a row for each answer, with a "
            "column for the system."
        )
    if pairs := [] if table.questions else _texts_with_scores(table):
        listed = ", ".join(f"{text!r} with {score!r}" for text, score in pairs)
        return (
            f"A row holds several texts, each with answers of its own: {listed}. It takes a row "
            "for each answer, with a column for the system."
        )
    return ""


def rival_labels(table: Table, mapping: ColumnMapping) -> tuple[str, ...]:
    """Return the labels, and the unused answers of people next to them."""
    people = {"human", "people", "manual", "expert"}
    beside = [c for c in mapping.meta if people & {*lower_heading(c).split()}]
    beside = [c for c in beside if could_answer(table, c) and not is_sum(c)]
    return (*mapping.labels.values(), *beside) if beside and mapping.labels else ()


def _count_column(table: Table) -> str:
    """Return the column that counts how often an item with several answers got a row's answer."""
    named = [c for c in table.columns if plain_name(c) in COUNTS]
    if not named:
        return ""
    mapping = guess_vote_mapping(table, "long")
    key = mapping.item or mapping.submission
    if mapping.rater or key is None or len(words_in(table, key)) == len(table.rows):
        return ""
    counted = (c for c in named if c != key)
    return next((c for c in counted if all(w.isdecimal() for w in words_in(table, c))), "")


def _system_score_columns(table: Table) -> list[str]:
    """Return columns of numbers whose headings name systems, in the same form."""
    named = [c for c in table.columns if names_a_system(c) and c not in table.nested]
    marks = [
        c for c in named if (words := words_in(table, c)) and None not in map(number_of, words)
    ]
    alike = [
        c
        for c in marks
        if sum(
            stem_of(plain_heading(c)) == stem_of(plain_heading(column)) != "" for column in marks
        )
        > 1
    ]
    return alike if len(alike) > 1 else []


def _texts_with_scores(table: Table) -> list[tuple[str, str]]:
    """Pair columns of texts with columns of answers whose headings begin or end the same."""
    plains = {column: plain_name(column) for column in table.columns}
    words = {column: name.split(" ") for column, name in plains.items() if " " in name}
    texts = [c for c in words if (shape := text_shape(table, c)) is not None and shape.sentences]
    texts = [c for c in texts if not (names_a_person(c) or is_scale(words_in(table, c), c))]
    able = [c for c in words if c not in texts and could_answer(table, c)]
    able = [c for c in able if not names_a_system(c)]
    for same, rest_of_name in ((slice(1), slice(1, None)), (slice(-1, None), slice(-1))):
        pairs = [(t, a) for t in texts for a in able if words[t][same] == words[a][same]]
        kinds = [tuple(" ".join(words[c][rest_of_name]) for c in pair) for pair in pairs]
        alike = [pair for pair, kind in zip(pairs, kinds, strict=True) if kinds.count(kind) > 1]
        alike = [
            (t, a) for t, a in alike if " ".join(words[t][rest_of_name]) not in NAMES["reason"]
        ]
        if alike:
            return alike
    return []


def _sentence_columns(table: Table, mapping: VoteMapping) -> list[str]:
    """Return the unused columns of sentences, without those for reasons."""
    used = {*mapping.used().values()}
    free = [c for c in table.columns if c not in used and plain_name(c) not in NAMES["reason"]]
    return [c for c in free if (shape := text_shape(table, c)) is not None and shape.sentences]


def _has_several_texts(table: Table, keys: Sequence[str], text: str) -> bool:
    """Return whether rows with the same keys have different texts."""
    first: dict[tuple[str, ...], str] = {}
    rows = (row for row in table.rows if row.get(text) not in (None, ""))
    return any(
        first.setdefault(tuple(str(row.get(key)) for key in keys), str(row[text])) != str(row[text])
        for row in rows
    )

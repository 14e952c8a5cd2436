"""Rows and ids of more than one text: an item is an id and a system, or the table is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from core.errors import Problem
from core.formats.datasets.answer_columns import (
    COUNTS,
    could_answer,
    is_index,
    names_a_person,
    nested,
    plain,
    plain_head,
    says_no_label,
    sharing,
    sums_up,
    unique_words,
    words_in,
)
from core.formats.datasets.mapping import ColumnMapping
from core.formats.datasets.table import Table
from core.formats.datasets.text_columns import proposed_texts, texts_in
from core.formats.votes.vote_mapping import NAMES, VoteMapping, guess_vote_mapping


def by_system(table: Table, mapping: VoteMapping) -> bool:
    """Return whether ids have several texts, and one for each system."""
    item, text, system = mapping.item, mapping.submission, mapping.system
    if item is None or text is None or system is None or item == text:
        return False
    return _several(table, [item], text) and not _several(table, [item, system], text)


def merges_texts(table: Table, mapping: VoteMapping) -> bool:
    """Return whether an item would be made of rows with different texts.

    Where no column is named for the text, a rater must answer twice about different sentences.
    """
    if mapping.item is None or mapping.item == mapping.submission or by_system(table, mapping):
        return False
    if mapping.submission:
        return _several(table, [mapping.item], mapping.submission)
    fields = (mapping.item, mapping.rater, mapping.criterion, mapping.replicate, mapping.order)
    asked = [column for column in fields if column]
    return any(_several(table, asked, text) for text in _sentences(table, mapping))


def texts_told_apart(table: Table, mapping: VoteMapping) -> Iterator[tuple[str, ...]]:
    """Yield changes under which an item has one text: by another id and system, or by the text."""
    texts = [mapping.submission] if mapping.submission else _sentences(table, mapping)
    taken = {mapping.rater, mapping.label, mapping.criterion, mapping.system, *texts}
    ids = [c for c in table.columns if c not in taken and _is_id(table, c)]
    for text in texts:
        for item in ids:
            said = mapping.model_copy(update={"item": item, "submission": text})
            if by_system(table, said):
                yield (f"item={item}", f"submission={text}", f"system={mapping.system}")
                return
    for text in texts:
        yield (f"item={text}",)


def said_of_texts(table: Table, mapping: VoteMapping) -> list[Problem]:
    """Return what is to be known where an id has several texts."""
    item, text = mapping.item or "", mapping.submission or ""
    if mapping.by_system:
        message = f"One {item!r} has a text for each {mapping.system!r}: an item is both together."
        return [Problem(message)]
    if not text or not merges_texts(table, mapping):
        return []
    message = f"Rows of one {item!r} have different texts in {text!r}; the first is kept."
    return [Problem(message, f"If each text is an item: {_MAP.format(text)}.", ("mapping", "item"))]


_MAP = "--map 'item={}'"


def not_to_be_read(table: Table) -> str:
    """Return why the rows of a table are neither items nor votes, or an empty text."""
    if column := _counts(table):
        return (
            f"{column!r} counts votes. It takes a row for each vote, with a column for its rater."
        )
    if pairs := _texts_with_scores(table):
        listed = ", ".join(f"{text!r} with {score!r}" for text, score in pairs)
        return (
            f"A row holds several texts, each with answers of its own: {listed}. It takes a row "
            "for each answer, with a column for the system."
        )
    return ""


def rival_labels(table: Table, mapping: ColumnMapping) -> tuple[str, ...]:
    """Return the labels, and the answers of people that stand beside them and were not taken."""
    people = {"human", "people", "manual", "expert"}
    beside = [c for c in mapping.meta if people & {*plain_head(c).split()}]
    beside = [c for c in beside if could_answer(table, c) and not sums_up(c)]
    return (*mapping.labels.values(), *beside) if beside and mapping.labels else ()


def _counts(table: Table) -> str:
    """Return the column that says how often a row's answer was given to an item with several."""
    mapping = guess_vote_mapping(table, "long")
    key = mapping.item or mapping.submission
    if mapping.rater or key is None or len(words_in(table, key)) == len(table.rows):
        return ""
    named = (c for c in table.columns if plain(c) in COUNTS and c != key)
    return next((c for c in named if all(w.isdecimal() for w in words_in(table, c))), "")


def _texts_with_scores(table: Table) -> list[tuple[str, str]]:
    """Return columns of texts with columns of answers whose headings begin or end alike."""
    plains = {column: plain(column) for column in table.columns}
    words = {column: name.split(" ") for column, name in plains.items() if " " in name}
    texts = [c for c in words if (of := texts_in(table, c)) is not None and of.sentences]
    able = [c for c in words if c not in texts and could_answer(table, c)]
    for same, other in ((slice(1), slice(1, None)), (slice(-1, None), slice(-1))):
        found = [(t, a) for t in texts for a in able if words[t][same] == words[a][same]]
        kinds = [tuple(" ".join(words[c][other]) for c in pair) for pair in found]
        alike = [pair for pair, kind in zip(found, kinds, strict=True) if kinds.count(kind) > 1]
        alike = [(t, a) for t, a in alike if " ".join(words[t][other]) not in NAMES["reason"]]
        if alike:
            return alike
    return []


def _sentences(table: Table, mapping: VoteMapping) -> list[str]:
    """Return the columns of sentences that no field has, without those for reasons."""
    used = {*mapping.used().values()}
    free = [c for c in table.columns if c not in used and plain(c) not in NAMES["reason"]]
    return [c for c in free if (of := texts_in(table, c)) is not None and of.sentences]


def _is_id(table: Table, column: str) -> bool:
    if nested(table, column) or any(word in plain(column) for word in ("time", "date")):
        return False
    of = texts_in(table, column)
    named = plain(column).endswith((" id", " no", " nr")) or plain(column) in NAMES["item"]
    return (of is None or not of.sentences) and (named or not could_answer(table, column))


def _several(table: Table, keys: Sequence[str], text: str) -> bool:
    """Return whether rows with the same keys have different texts."""
    first: dict[tuple[str, ...], str] = {}
    rows = (row for row in table.rows if row.get(text) not in (None, ""))
    return any(
        first.setdefault(tuple(str(row.get(key)) for key in keys), str(row[text])) != str(row[text])
        for row in rows
    )


#: Words for what is asked, in some languages; only to ask with.
_ASPECT = re.compile(r"crit[eè]r|kriteri|aspe[ck]t|dimens|merkmal|metric|基準|观点", re.I)


def by_structure(table: Table) -> Iterator[tuple[Literal["long", "criteria"], tuple[str, ...]]]:
    """Yield a layout and changes where a column of people repeats over items, in any language."""
    short = [c for c in table.columns if _is_short(table, c)]
    people = [c for c in short if names_a_person(c)]
    people = [c for c in people if 1 < len(words_in(table, c)) < len(table.rows)]
    if sharing(table, people):
        return  # a rater a column
    for rater in people[:1]:
        asked = [c for c in short if c != rater and _ASPECT.search(c)][:1]
        able = [c for c in short if c not in (rater, *asked) and could_answer(table, c)]
        able = [c for c in able if not (sums_up(c) or unique_words(table, c))]
        for item in _repeated(table, [c for c in short if c not in (rater, *asked)]):
            answers = [c for c in able if c != item and _several(table, [item], c)]
            if not answers or not _tell_rows(table, [item, rater, *asked]):
                continue
            text = next((c for c in proposed_texts(table) if not _several(table, [item], c)), "")
            said = (f"item={item}", *([f"submission={text}"] if text else []), f"rater={rater}")
            group = next(iter(sharing(table, answers)), [])
            if group and not asked:
                yield "criteria", (*said, *(f"criteria={c}" for c in group))
            else:
                criterion = [f"criterion={c}" for c in asked]
                yield "long", (*said, *criterion, f"label={answers[0]}")
            return


def _is_short(table: Table, column: str) -> bool:
    words = () if nested(table, column) else words_in(table, column)
    if not words or is_index(table, column) or says_no_label(set(words)):
        return False
    of = texts_in(table, column)
    return could_answer(table, column) or of is None or not of.sentences


def _repeated(table: Table, columns: Sequence[str]) -> list[str]:
    """Return columns of ids that repeat, those named for one first."""
    found = [c for c in columns if 1 < len(words_in(table, c)) < len(table.rows)]
    return sorted(found, key=lambda column: not re.search(r"\bid\b|ident", plain(column)))


def _tell_rows(table: Table, columns: Sequence[str]) -> bool:
    keys = [tuple(str(row.get(column)) for column in columns) for row in table.rows]
    return len(set(keys)) == len(keys)

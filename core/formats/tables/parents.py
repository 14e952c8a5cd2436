"""Rows that name the row they answer: its text is what was asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.errors import Problem
from core.formats.source.heading_words import plain_heading
from core.formats.source.one_hot import Folded, Row

#: Headings of the id of the row that a row answers.
_PARENTS = frozenset(
    {"parent", "parent id", "parent message id", "parent message", "parentid", "parent uuid"}
    | {"in reply to", "in reply to id", "reply to", "reply to id", "parent comment id"}
    | {"parent post id", "parent turn id", "responds to"}
)
_TEXTS = frozenset({"text", "content", "message", "body", "comment", "post", "utterance", "reply"})
_IDS = frozenset({"id", "uid", "uuid", "key", "number", "nr", "no"})
_PROMPT = "prompt"
#: What Reddit puts before the ids of comments and posts.
_KIND = re.compile(r"\At[13]_")


def with_text_of_parents(columns: Sequence[str], rows: Sequence[Row]) -> Folded:
    """Return columns and rows with the text of the row that each answers as its prompt.

    >>> rows = [{"id": "7", "parent_id": "", "text": "Why?"}, {"id": "8", "text": "So."}]
    >>> answers = [rows[0], {**rows[1], "parent_id": "7"}]
    >>> with_text_of_parents(["id", "parent_id", "text"], answers)[1][1]["prompt"]
    'Why?'
    """
    by_heading = {plain_heading(c): c for c in columns}
    named = [c for heading, c in by_heading.items() if heading in _PARENTS]
    texts = [c for heading, c in by_heading.items() if heading in _TEXTS]
    if len(named) != 1 or len(texts) != 1 or _PROMPT in by_heading:
        return tuple(columns), tuple(rows), ()
    parent, text = named[0], texts[0]
    told = [_bare_id(row.get(parent)) for row in rows]
    ids = [c for heading, c in by_heading.items() if heading.rpartition(" ")[2] in _IDS]
    by_id = (_texts_by_id(rows, c, text) for c in ids if c != parent)
    answered = len([*filter(None, told)])
    able = (of for of in by_id if 2 * sum(name in of for name in told if name) > answered)
    if not (text_of := next(able, {})):
        return tuple(columns), tuple(rows), ()
    absent = sum(name not in text_of for name in told if name)
    message = f"'prompt' is the {text!r} of the row that {parent!r} names, which is left out."
    message += f" Rows named that the file lacks: {absent:,}." if absent else ""
    kept = [c for c in columns if c != parent]
    longer = tuple(
        {c: row[c] for c in kept if c in row} | {_PROMPT: text_of.get(name)}
        for row, name in zip(rows, told, strict=True)
    )
    return (*kept, _PROMPT), longer, (Problem(message),)


def _texts_by_id(rows: Sequence[Row], id: str, text: str) -> dict[str, Any]:
    """Return the text of each id, or {} if an id has several."""
    text_of = {_bare_id(row.get(id)): row.get(text) for row in rows}
    return text_of if all(text_of[_bare_id(r.get(id))] == r.get(text) for r in rows) else {}


def _bare_id(cell: Any) -> str:
    return "" if cell is None else _KIND.sub("", str(cell))

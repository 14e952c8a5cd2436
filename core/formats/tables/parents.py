"""Rows that name the row they answer: its text is what was asked."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import Problem
from core.formats.source.heading_words import plain_heading
from core.formats.source.one_hot import Folded, Row
from core.formats.source.several_answers import id_column

#: Headings of the id of the row that a row answers.
_PARENTS = frozenset(
    {"parent", "parent id", "parent message id", "parent message", "parentid", "parent uuid"}
    | {"in reply to", "in reply to id", "reply to", "reply to id", "parent comment id"}
    | {"parent post id", "parent turn id", "responds to"}
)
_TEXTS = frozenset({"text", "content", "message", "body", "comment", "post", "utterance", "reply"})
_PROMPT = "prompt"


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
    is_told = len(named) == len(texts) == 1 and _PROMPT not in by_heading
    id = id_column([c for c in columns if c not in named], rows) if is_told else None
    if id is None:
        return tuple(columns), tuple(rows), ()
    parent, text = named[0], texts[0]
    text_of = {str(row.get(id)): row.get(text) for row in rows}
    told = [str(row[parent]) for row in rows if row.get(parent) not in (None, "")]
    absent = sum(name not in text_of for name in told)
    if 2 * absent >= len(told):
        return tuple(columns), tuple(rows), ()
    message = f"'prompt' is the {text!r} of the row that {parent!r} names."
    message += f" Rows named that the file lacks: {absent:,}." if absent else ""
    asked = (text_of.get(str(row.get(parent))) for row in rows)
    longer = tuple(row | {_PROMPT: of} for row, of in zip(rows, asked, strict=True))
    return (*columns, _PROMPT), longer, (Problem(message),)

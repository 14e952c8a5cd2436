"""Where the sentences of a text are, so that one can point at them by number."""

from __future__ import annotations

import re

# A sentence ends after its mark and closing quotes, before a space or the line's end; a line is
# never part of two. What is cut once too often ("e.g. this") can be chosen as two. Nothing is
# given back (++, *+): a text of marks alone takes time linear in its length.
_MARKS, _CLOSING = r"[.!?…]++", r"[\"'”’)\]]*+"
_SENTENCE = re.compile(
    rf"\S(?:[^\n.!?…]++|{_MARKS}(?!{_CLOSING}(?:\s|\Z)))*+(?:{_MARKS}{_CLOSING})?"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans ``(start, end)`` of the sentences, in order; white space is in none.

    >>> text = 'One. "Two!" Three'
    >>> [text[a:b] for a, b in sentences(text)]
    ['One.', '"Two!"', 'Three']
    """
    return [match.span() for match in _SENTENCE.finditer(text) if match.group().strip()]

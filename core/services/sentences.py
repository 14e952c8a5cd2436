"""Where the sentences of a text are, so that one can point at them by number."""

from __future__ import annotations

import re
from itertools import pairwise

# A sentence ends after its marks and closing quotes, before a space or the line's end; a line is
# never part of two. What is cut once too often ("e.g. this") can be chosen as two. What may end a
# sentence is found first and looked at afterwards, so that a text of marks alone takes time linear
# in its length (a possessive pattern would do, but Python 3.11.2, Debian's, misreads those).
_END = re.compile(r"\n|[.!?…]+[\"'”’)\]]*")


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans ``(start, end)`` of the sentences, in order; white space is in none.

    >>> text = 'One. "Two!" Three'
    >>> [text[a:b] for a, b in sentences(text)]
    ['One.', '"Two!"', 'Three']
    """
    ends = [m.end() for m in _END.finditer(text) if _is_end(text, m.end())]
    cuts = [0, *ends, len(text)]
    trimmed = (_trimmed(text, start, end) for start, end in pairwise(cuts))
    return [(start, end) for start, end in trimmed if start < end]


def _is_end(text: str, at: int) -> bool:
    return at == len(text) or text[at].isspace() or text[at - 1] == "\n"


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())

"""Two texts word by word: which words of each the other has not, in its place."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import NamedTuple

#: Words of either text beyond which nothing is compared: the time grows with their product.
MOST_WORDS = 3000
_WORD = re.compile(r"\w+|[^\w\s]")

Span = tuple[int, int]


class WordDiff(NamedTuple):
    """Spans ``(start, end)`` of each text that differ. ``common`` is the share of words that both
    have, in [0, 1]; ``None``, with no spans, where the texts are too long to compare.
    """

    first: tuple[Span, ...]
    second: tuple[Span, ...]
    common: float | None


def word_diff(first: str, second: str, word: re.Pattern[str] = _WORD) -> WordDiff:
    """What differs between two texts, by words and marks of punctuation (Ratcliff, Obershelp 1988).

    ``word`` matches what is compared. Neighbouring words that differ are one span. White space
    alone is no difference.

    >>> found = word_diff("a red cat", "a blue cat")
    >>> found.first, found.second
    (((2, 5),), ((2, 6),))
    """
    one, other = list(word.finditer(first)), list(word.finditer(second))
    if max(len(one), len(other)) > MOST_WORDS:
        return WordDiff((), (), None)
    words = [m.group() for m in one], [m.group() for m in other]
    matcher = SequenceMatcher(None, *words, autojunk=False)
    mine, theirs = list[Span](), list[Span]()
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            continue
        if j > i:
            mine.append((one[i].start(), one[j - 1].end()))
        if m > k:
            theirs.append((other[k].start(), other[m - 1].end()))
    return WordDiff(tuple(mine), tuple(theirs), matcher.ratio())

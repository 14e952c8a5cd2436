"""Text to words, and words to the letter sequences that make spellings comparable. No numbers."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

#: Longer texts are cut to their beginning and end, so that one huge text cannot stall a run.
HEAD_CHARS, TAIL_CHARS = 5_000, 1_000
_WORD = re.compile(r"\w+")
_SIZES = (3, 4, 5)


def words_of(text: str) -> list[str]:
    """The words of ``text`` in order: case folded, Unicode composed, punctuation dropped.

    >>> words_of("The Earth's axis, tilted.")
    ['the', 'earth', 's', 'axis', 'tilted']
    """
    if len(text) > HEAD_CHARS + TAIL_CHARS:
        text = f"{text[:HEAD_CHARS]} {text[-TAIL_CHARS:]}"
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def grams_of(word: str) -> list[str]:
    """The sequences of 3 to 5 characters of ``word``, its two edges marked by a space.

    >>> grams_of("axis")
    [' ax', 'axi', 'xis', 'is ', ' axi', 'axis', 'xis ', ' axis', 'axis ']
    """
    marked = f" {word} "
    return [marked[i : i + k] for k in _SIZES for i in range(len(marked) - k + 1)]


def terms_of(words: list[str]) -> list[str]:
    """Words and pairs of neighbouring words, with repeats.

    >>> terms_of(["tilted", "axis"])
    ['tilted', 'axis', 'tilted axis']
    """
    return [*words, *(f"{a} {b}" for a, b in pairwise(words))]


def excerpt(text: str, limit: int = 80) -> str:
    """The beginning of ``text`` on one line, cut at a word.

    >>> excerpt("one two three", 8)
    'one two…'
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[:limit].rsplit(" ", 1)[0] if " " in line[:limit] else line[:limit]
    return f"{cut}…"

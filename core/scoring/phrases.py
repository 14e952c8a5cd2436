"""Finding phrases in text however they are written: case, accents, quotes and look-alikes aside.

``fold_text`` brings a text to a plain form and remembers where each character came from, so that
what was found can be shown as it stands in the original. Every pattern built here takes time
linear in the text: gaps and wildcards are bounded, and separators never overlap with words.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        # Cyrillic and Greek letters that look like Latin ones.
        **dict(zip("асеорхуіѕјԁкмтвн", "aceopxyisjdkmtbh", strict=True)),
        **dict(zip("αορτικν", "aoptikv", strict=True)),
    }
)
#: What may stand between two words of a phrase, and a word that a gap skips.
SEPARATOR = r"[^\w.!?;]{1,6}"
_WORD = r"\w{1,40}"
# A run of marks is looked at from its beginning only, or ten thousand of them would take seconds.
_BREAK = re.compile(r"(?<![.!?])[.!?]+[\"')\]]*(?=\s|$)|\n\s*\n|\n(?=\s*(?:[-*•]|\d{1,3}[.)])\s)")


class FoldedText:
    """A text in plain form: lower case, no accents, plain quotes, nothing invisible."""

    def __init__(self, original: str) -> None:
        self.original = original
        self._at: list[int] | None = None
        if original.isascii():
            self.text = original.lower()
            return
        parts, at = list[str](), list[int]()
        for index, character in enumerate(original):
            plain = _fold(character)
            parts.append(plain)
            at.extend([index] * len(plain))
        self.text, self._at = "".join(parts), at

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the plain form (not empty) lies in the original."""
        if self._at is None:
            return start, end
        return self._at[start], self._at[end - 1] + 1

    @cached_property
    def _breaks(self) -> list[int]:
        return [match.end() for match in _BREAK.finditer(self.text)]

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """The bounds, in the plain form, of the sentences that a stretch lies in.

        A sentence ends with its mark, at an empty line, and before a point of a list.
        """
        before = bisect_right(self._breaks, start)
        after = bisect_left(self._breaks, end)
        low = self._breaks[before - 1] if before else 0
        return low, self._breaks[after] if after < len(self._breaks) else len(self.text)


@lru_cache(maxsize=8192)
def _fold(character: str) -> str:
    plain = unicodedata.normalize("NFKD", character.casefold().translate(_PLAIN))
    kept = (c for c in plain if unicodedata.category(c) not in ("Mn", "Cf"))
    return "".join(kept).translate(_PLAIN)


def compiled(template: str) -> re.Pattern[str]:
    r"""The pattern of a template: a regular expression in which a space parts words.

    ``<n>`` after a space stands for up to ``n`` further words.

    >>> compiled("make <2> (?:bomb|gun)s?").search("to make a very small bomb") is None
    True
    >>> compiled("make <2> (?:bomb|gun)s?").search("to make a small-bomb").group()
    'make a small-bomb'
    """
    gapped = re.sub(r" <(\d)>", lambda m: f"(?:{SEPARATOR}{_WORD}){{0,{m.group(1)}}}?", template)
    return re.compile(rf"(?<!\w)(?:{gapped.replace(' ', SEPARATOR)})(?!\w)")


@lru_cache(maxsize=1024)
def phrase(words: str) -> re.Pattern[str]:
    """The pattern of an author's phrase (``core.domain.prechecks``).

    >>> phrase("explos* ... <number>").search("explosives, of which 30").group()
    'explosives, of which 30'
    """
    gap = f"(?:{SEPARATOR}{_WORD}){{0,8}}?"
    parts = list[str]()
    for word in FoldedText(words).text.split():
        if word == "...":
            parts.append(gap)
            continue
        pattern = re.escape(word).replace(r"\*", r"\w{0,40}").replace("<number>", r"\d{1,40}")
        parts.append((SEPARATOR if parts else "") + pattern)
    whole = "".join(parts)
    left = r"(?<!\w)" if re.match(r"[\w*<]", words.strip()) else ""
    right = r"(?!\w)" if re.search(r"[\w*>]$", words.strip()) else ""
    return re.compile(f"{left}{whole}{right}")

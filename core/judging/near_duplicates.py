"""Items that say the same: what one teaches about the other is no evidence about new texts.

Two items are twins if their texts are the same in letters and digits, or nearly: texts that share
``NEAR`` of their three-word sequences (Jaccard; Broder 1997). A text of fewer than ``NEAR_WORDS``
words is a twin under the same prompt only (a "yes" says another thing to every question), and only
of the same text but for case, spaces and marks at its ends. Twins of twins are one group. An item
without a text is nobody's twin.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from core.domain.dataset import Item

NEAR, NEAR_WORDS = 0.8, 10
#: Of more sequences than this, all texts together, a share is compared, the same of every text.
MOST_SEQUENCES = 2_000_000
#: How many times two texts may turn out alike, and by how many orders of sequences each time.
_BANDS, _IN_A_BAND = 32, 4
# Scripts that put no spaces between words: every sign counts as one.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")

Sequences = frozenset[tuple[str, str, str]]


class Print(NamedTuple):
    """What of an item is compared: its ``key`` (``None`` without a text) and its sequences."""

    key: tuple[str, str] | None
    sequences: Sequences

    def twin_of(self, other: Print) -> bool:
        """Whether the two say the same, or nearly.

        >>> a, b = (Item(id=i, submission=s) for i, s in (("a", "Two words."), ("b", "two WORDS")))
        >>> print_of(a).twin_of(print_of(b))
        True
        """
        if self.key is not None and self.key == other.key:
            return True
        return _near(self.sequences, other.sequences)


def print_of(item: Item) -> Print:
    """The print of an item."""
    words = _words(item.text)
    long = len(words) >= NEAR_WORDS
    # In a short answer a sign can be all the difference ("-1").
    short = _short(item.text), "".join(_words(item.prompt))
    key = ("".join(words), "") if long else short
    sequences = frozenset(zip(words, words[1:], words[2:], strict=False) if long else ())
    return Print(key if key[0] else None, sequences)


def group_numbers(items: Sequence[Item]) -> list[int]:
    """A number per item, equal for twins, counted in order of first appearance.

    >>> group_numbers([Item(id=i, submission=s) for i, s in (("a", "x"), ("b", "y"), ("c", "X."))])
    [0, 1, 0]
    """
    groups = _Groups(len(items))
    first: dict[tuple[str, str], int] = {}
    firsts = list[Sequences]()
    at_of = list[int]()
    for at, item in enumerate(items):
        found = print_of(item)
        if found.key is None:
            continue
        same = first.setdefault(found.key, at)
        groups.join(same, at)
        if same == at and found.sequences:
            firsts.append(found.sequences)
            at_of.append(at)
    for one, other in _near_pairs(_sampled(firsts)):
        groups.join(at_of[one], at_of[other])
    return groups.numbers()


class _Groups:
    """Which items belong together; a group is known by its earliest item."""

    def __init__(self, count: int) -> None:
        self._of = list(range(count))

    def _root(self, at: int) -> int:
        while self._of[at] != at:
            self._of[at] = at = self._of[self._of[at]]
        return at

    def together(self, one: int, other: int) -> bool:
        """Whether two items are in one group already."""
        return self._root(one) == self._root(other)

    def join(self, one: int, other: int) -> None:
        """Put the groups of two items together."""
        low, high = sorted((self._root(one), self._root(other)))
        self._of[high] = low

    def numbers(self) -> list[int]:
        """The groups' numbers, by item."""
        seen: dict[int, int] = {}
        return [seen.setdefault(self._root(at), len(seen)) for at in range(len(self._of))]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words(text: str) -> list[str]:
    return _WORD.findall(_plain(text))


def _short(text: str) -> str:
    return "".join(_plain(text).split()).strip(".,;:!?\"'")


def _near(one: Sequences, other: Sequences) -> bool:
    if not one or not other:
        return False
    shared = len(one & other)
    return shared >= NEAR * (len(one) + len(other) - shared)


def _sampled(texts: Sequence[Sequences]) -> list[Sequences]:
    """The same share of every text's sequences, so that comparing them stays quick."""
    total = sum(map(len, texts))
    if total <= MOST_SEQUENCES:
        return list(texts)
    limit = 2**32 * MOST_SEQUENCES // total
    return [frozenset(s for s in text if crc32(" ".join(s).encode()) < limit) for text in texts]


def _near_pairs(texts: Sequence[Sequences]) -> Iterator[tuple[int, int]]:
    """Pairs that are near, enough of them to join all that are.

    Two sets agree in the least member under a random order with the chance of their Jaccard
    similarity, so in all of ``_IN_A_BAND`` such orders often if they are near, and hardly ever
    otherwise (Broder 1997; Leskovec, Rajaraman and Ullman 2014, section 3.4). Only sets that do so
    in some band are compared, whatever words the texts are made of. At a similarity of ``NEAR`` a
    pair is missed with the chance (1 - .8^4)^32 < 5e-8.
    """
    alike = _Groups(len(texts))
    for bucket in _buckets(texts):
        for place, at in enumerate(bucket):
            for other in bucket[:place]:
                if not alike.together(at, other) and _near(texts[at], texts[other]):
                    alike.join(at, other)
                    yield other, at


def _buckets(texts: Sequence[Sequences]) -> Iterator[list[int]]:
    """Texts whose least members are the same throughout a band, two or more at a time."""
    import numpy as np

    at = np.array([place for place, text in enumerate(texts) if text], np.int64)
    if len(at) < 2:
        return
    number: dict[tuple[str, str, str], int] = {}
    members = [[number.setdefault(s, len(number)) for s in texts[place]] for place in at]
    sizes = np.array([0, *map(len, members)])
    starts = np.cumsum(sizes)[:-1]
    mixed = _mixed(np.array([one for text in members for one in text], np.uint64), 0)
    for band in range(_BANDS):
        key = np.zeros(len(at), np.uint64)
        for order in range(1 + band * _IN_A_BAND, 1 + (band + 1) * _IN_A_BAND):
            key = _mixed(key ^ np.minimum.reduceat(_mixed(mixed, order), starts), order)
        by_key = np.argsort(key, kind="stable")
        edges = np.flatnonzero(np.diff(key[by_key], prepend=~key[by_key[:1]])).tolist()
        for start, end in zip(edges, [*edges[1:], len(at)], strict=True):
            if end - start > 1:
                yield at[by_key[start:end]].tolist()


def _mixed(numbers: Any, seed: int) -> Any:
    """Numbers of 64 bits, mixed so that their order looks random (splitmix64; Steele 2014)."""
    mixed = numbers + (seed + 1) * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
    return mixed ^ (mixed >> 31)

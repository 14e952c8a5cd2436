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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import NamedTuple
from zlib import crc32

from core.domain.dataset import Item

NEAR, NEAR_WORDS = 0.8, 10
#: Of more sequences than this, all texts together, a share is compared, the same of every text.
MOST_SEQUENCES = 2_000_000
#: So many bits has a text's signature.
_BITS = 1024
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
    """Every pair that is near.

    Two sets that share ``NEAR`` of their members share one of the rarest few of each (prefix
    filtering; Chaudhuri, Ganti and Kaushik 2006), so only texts with such a one in common are
    compared. What stands in one text only cannot be shared, and is left out of the index. Where
    texts are made of few words nearly all have one in common: their signatures tell most apart.
    """
    count = Counter(sequence for text in texts for sequence in text)
    number = {sequence: at for at, sequence in enumerate(count)}
    signed = [_signature(number[sequence] for sequence in text) for text in texts]
    holders: dict[tuple[str, str, str], list[int]] = {}
    for at in sorted(range(len(texts)), key=lambda at: len(texts[at])):
        mine = sorted(texts[at], key=lambda sequence: (count[sequence], sequence))
        compared = set[int]()
        for sequence in mine[: len(mine) - ceil(NEAR * len(mine)) + 1]:
            if count[sequence] == 1:
                continue
            found = holders.setdefault(sequence, [])
            for other in found:
                if other not in compared:
                    compared.add(other)
                    # No more can be shared than bits in common, and what shares a bit in one text.
                    bits, hidden = signed[at]
                    theirs, more = signed[other]
                    most = (bits & theirs).bit_count() + min(hidden, more)
                    least = NEAR * (len(mine) + len(texts[other]) - most)
                    if most >= least and _near(texts[at], texts[other]):
                        yield at, other
            found.append(at)


def _signature(numbers: Iterable[int]) -> tuple[int, int]:
    """A bit for each member, many to a bit, and how many members have none of their own."""
    bits, members = 0, 0
    for number in numbers:
        bits |= 1 << number % _BITS
        members += 1
    return bits, members - bits.bit_count()

"""Find items with the same text, which are no independent evidence.

Two items are duplicates if their texts have the same letters and digits, or nearly: they share
``NEAR`` of their three-word sequences (Jaccard; Broder 1997). Texts of fewer than ``NEAR_WORDS``
words also need the same prompt ("yes" answers every question differently), and may differ only in
case, spaces and punctuation at the ends. Duplicates of duplicates form one group. An item without a
text has no duplicates.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

from core.domain.dataset import Item

NEAR, NEAR_WORDS = 0.8, 10
#: If there are more sequences in total, an equal share of each text's is used.
MOST_SEQUENCES = 2_000_000
#: The number of bands, and of orders of sequences per band.
_BANDS, _IN_A_BAND = 32, 4
#: Two texts are compared if they agree in this share of orders. With this share, fewer than 1 in 10
#: million near pairs are missed.
_LIKELY = 0.6
#: The number of texts whose sequences are cached as sets.
_SETS = 10_000
# Scripts without spaces between words: every character counts as a word.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")
#: Translation of ASCII characters: letters and digits become lower case, everything else becomes a
#: space.
_ASCII = {sign: chr(sign).lower() if chr(sign).isalnum() else " " for sign in range(128)}

Sequences = frozenset[tuple[str, str, str]]


class TextFingerprint(NamedTuple):
    """The fingerprint of an item: its ``key`` (``None`` without text) and its sequences."""

    key: tuple[str, str] | None
    sequences: Sequences

    def is_near(self, other: TextFingerprint) -> bool:
        """Return whether two items have the same text, or nearly.

        >>> a, b = (Item(id=i, submission=s) for i, s in (("a", "Two words."), ("b", "two WORDS")))
        >>> fingerprint_of(a).is_near(fingerprint_of(b))
        True
        """
        if self.key is not None and self.key == other.key:
            return True
        return _are_near(self.sequences, other.sequences)


def fingerprint_of(item: Item) -> TextFingerprint:
    """Return the fingerprint of an item."""
    words = _words(item.text)
    key = _text_key(item.text, item.prompt, words)
    long = len(words) >= NEAR_WORDS
    sequences = frozenset(zip(words, words[1:], words[2:], strict=False) if long else ())
    return TextFingerprint(key if key[0] else None, sequences)


#: The number of each text's group, and of its exact text. Exact texts are equal except for
#: punctuation and spaces. Numbers follow first appearance.
TwinNumbers = tuple[Sequence[int], Sequence[int]]


def group_numbers(items: Iterable[Item]) -> list[int]:
    """Return a number per item, equal for duplicates, by first appearance.

    >>> group_numbers([Item(id=i, submission=s) for i, s in (("a", "x"), ("b", "y"), ("c", "X."))])
    [0, 1, 0]
    """
    groups, _ = twin_numbers((item.text, item.prompt) for item in items)
    return list(groups)


def twin_numbers(texts: Iterable[tuple[str, str]]) -> TwinNumbers:
    """Return the group numbers of these texts, each given with its prompt.

    Words become numbers and sequences become hashes, so that columns of numbers are compared:
    100,000 texts of 60 words take 2 to 3 s.
    """
    import numpy as np

    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    first: dict[object, int] = {}
    same, firsts = list[int](), list[int]()
    words_of, sizes = array("q"), list[int]()
    for at, (text, prompt) in enumerate(texts):
        words = _words(text)
        key = _text_key(text, prompt, words)
        same.append(first.setdefault(key if key[0] else at, at))
        if same[at] == at and len(words) >= NEAR_WORDS:
            firsts.append(at)
            words_of.extend(map(numbers.__getitem__, words))
            sizes.append(len(words))
    groups = _Groups(same)
    for left, right in _near_pairs(
        _Hashed.of(np.array(words_of, np.int64), np.array(sizes, np.int64))
    ):
        groups.join(firsts[left], firsts[right])
    return groups.numbers(), _number_marks(same)


def _number_marks(marks: Iterable[int]) -> list[int]:
    """Return numbers for the marks, by first appearance."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(mark, len(numbers)) for mark in marks]


class _Groups:
    """Groups of texts, each identified by its earliest text."""

    def __init__(self, numbers: Sequence[int]) -> None:
        import numpy as np

        self._of = np.array(numbers, np.int64)

    def roots(self, texts: Any) -> Any:
        """Return the earliest text in the group of each of these texts."""
        roots = self._of[texts]
        while ((further := self._of[roots]) != roots).any():
            roots = further
        return roots

    def in_different_groups(self, left: int, right: int) -> bool:
        """Return whether two texts are still in different groups."""
        return self._root(left) != self._root(right)

    def join(self, left: int, right: int) -> None:
        """Merge the groups of two texts."""
        low, high = sorted((self._root(left), self._root(right)))
        self._of[high] = low

    def _root(self, at: int) -> int:
        while self._of[at] != at:
            self._of[at] = at = int(self._of[self._of[at]])
        return at

    def numbers(self) -> list[int]:
        """Return the group number of each text."""
        return _number_marks(self.roots(slice(None)).tolist())


def _plain_text(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_ASCII).split()
    return _WORD.findall(_plain_text(text))


def _text_key(text: str, prompt: str, words: Sequence[str]) -> tuple[str, str]:
    """Return a key shared by equal texts; its first part is empty for a missing text."""
    if len(words) >= NEAR_WORDS:
        return "".join(words), ""
    # Punctuation may be the only difference between short answers ("-1").
    short = "".join(_plain_text(text).split()).strip(".,;:!?\"'")
    return short, "".join(_words(prompt))


def _are_near(left: frozenset[Any], right: frozenset[Any]) -> bool:
    if not left or not right:
        return False
    shared = len(left & right)
    return shared >= NEAR * (len(left) + len(right) - shared)


class _Hashed:
    """The three-word sequences of texts as 64-bit numbers, text after text."""

    def __init__(self, sequences: Any, starts: Any) -> None:
        self._sequences, self._starts = sequences, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @classmethod
    def of(cls, words: Any, sizes: Any) -> _Hashed:
        """Return sequences from words as numbers, ``sizes`` words (3 or more) per text."""
        import numpy as np

        hashed = _mixed_numbers(np.arange(words.max(initial=0) + 1, dtype=np.uint64), 0)[words]
        sequences = hashed[:-2] * _odd_number(0) + hashed[1:-1] * _odd_number(1) + hashed[2:]
        ends = np.cumsum(sizes)
        is_valid = np.ones(len(sequences), np.bool_)
        # Drop sequences that start in the last two words of a text, because they would end in the
        # next text.
        for offset in (1, 2):
            is_valid[ends[:-1] - offset] = False
        return cls(_mixed_numbers(sequences[is_valid], 1), np.append(0, np.cumsum(sizes - 2)))

    def sampled(self) -> _Hashed:
        """Return an equal share of every text's sequences, to limit the work."""
        import numpy as np

        total = len(self._sequences)
        if total <= MOST_SEQUENCES:
            return self
        sampled = _mixed_numbers(self._sequences, 2) < 2**64 // total * MOST_SEQUENCES
        return _Hashed(self._sequences[sampled], np.append(0, np.cumsum(sampled))[self._starts])

    def least(self, order: int) -> Any:
        """Return each text's least sequence in a random order; a unique number if it has none.

        The numbers are well mixed, so multiplying by an odd number orders them as randomly as
        mixing them again.
        """
        import numpy as np

        sizes = np.diff(self._starts)
        there, least = np.flatnonzero(sizes), np.arange(len(sizes), dtype=np.uint64)
        multiples = self._sequences * _odd_number(order)
        least[there] = np.minimum.reduceat(multiples, self._starts[there])
        return least

    def set_of(self, at: int) -> frozenset[int]:
        """Return the sequences of a text."""
        return frozenset(self._sequences[self._starts[at] : self._starts[at + 1]].tolist())


def _odd_number(seed: int) -> Any:
    """Return an odd number of 64 bits."""
    import numpy as np

    return _mixed_numbers(np.array([seed + 1], np.uint64), 3) | np.uint64(1)


def _near_pairs(texts: _Hashed) -> Iterator[tuple[int, int]]:
    """Yield enough near pairs to join all near texts.

    Two sets agree in the least member of a random order with a probability equal to their Jaccard
    similarity. So near sets often agree in all ``_IN_A_BAND`` orders of a band, and other sets
    hardly ever (Broder 1997; Leskovec, Rajaraman and Ullman 2014, section 3.4). Only sets that
    agree in some band are compared, whatever their words. At a similarity of ``NEAR`` a pair is
    missed with probability (1 - .8^4)^32 < 5e-8.
    """
    if len(texts) < 2:
        return
    keys, sketch = _band_keys(texts.sampled())
    set_of = lru_cache(maxsize=_SETS)(texts.set_of)
    groups = _Groups(range(len(texts)))
    for key in keys:
        for left, right in _candidate_pairs(key, groups):
            alike_enough = (sketch[left] == sketch[right]).mean(axis=1) >= _LIKELY
            for a, b in zip(left[alike_enough].tolist(), right[alike_enough].tolist(), strict=True):
                if groups.in_different_groups(a, b) and _are_near(set_of(a), set_of(b)):
                    groups.join(a, b)
                    yield a, b


def _band_keys(texts: _Hashed) -> tuple[Any, Any]:
    """Return each text's key in every band, and some of its least sequences."""
    import numpy as np

    keys = np.zeros((_BANDS, len(texts)), np.uint64)
    sketch = np.zeros((len(texts), _BANDS * _IN_A_BAND), np.uint16)
    for order in range(_BANDS * _IN_A_BAND):
        least, band = texts.least(order), order // _IN_A_BAND
        keys[band] = _mixed_numbers(keys[band] ^ least, order)
        sketch[:, order] = least >> np.uint64(48)
    return keys, sketch


def _candidate_pairs(keys: Any, groups: _Groups) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of texts with the same key that are still in different groups.

    Texts next to each other by key come first, then those two apart, and so on. Texts that share a
    group by then are skipped.
    """
    import numpy as np

    texts = np.argsort(keys, kind="stable")
    same_key = np.diff(keys[texts]) == 0
    texts = texts[np.append(False, same_key) | np.append(same_key, False)]
    step = 1
    while step < len(texts):
        key, group = keys[texts], groups.roots(texts)
        starts = np.flatnonzero(np.diff(key, prepend=~key[:1]))
        sizes = np.diff(np.append(starts, len(key)))
        differ = np.minimum.reduceat(group, starts) != np.maximum.reduceat(group, starts)
        kept_pairs = np.repeat(differ & (sizes > step), sizes)
        texts, key, group = texts[kept_pairs], key[kept_pairs], group[kept_pairs]
        candidates = (key[step:] == key[:-step]) & (group[step:] != group[:-step])
        yield texts[:-step][candidates], texts[step:][candidates]
        step += 1


def _mixed_numbers(numbers: Any, seed: int) -> Any:
    """Return 64-bit numbers mixed into a random order (splitmix64; Steele 2014)."""
    mixed = numbers + (seed + 1) * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
    return mixed ^ (mixed >> 31)

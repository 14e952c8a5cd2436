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
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

from core.domain.dataset import Item

NEAR, NEAR_WORDS = 0.8, 10
#: Of more sequences than this, all texts together, a share is sketched, the same of every text.
MOST_SEQUENCES = 2_000_000
#: How many times two texts may turn out alike, and by how many orders of sequences each time.
_BANDS, _IN_A_BAND = 32, 4
#: In this share of all orders two must agree to be compared: of pairs that are near fewer than 1 in
#: 10 million do not.
_LIKELY = 0.6
#: How many texts' sequences are at hand as sets.
_SETS = 10_000
# Scripts that put no spaces between words: every sign counts as one.
_SIGNS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")
#: What becomes of plain signs: letters and digits small, all else a space.
_ASCII = {sign: chr(sign).lower() if chr(sign).isalnum() else " " for sign in range(128)}

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
    key = _key(item.text, item.prompt, words)
    long = len(words) >= NEAR_WORDS
    sequences = frozenset(zip(words, words[1:], words[2:], strict=False) if long else ())
    return Print(key if key[0] else None, sequences)


class TwinNumbers(NamedTuple):
    """Of each of some texts: a number that twins share, and one that is shared by those whose texts
    are the same but for signs and spaces; both counted in order of first appearance.
    """

    group: Sequence[int]
    same: Sequence[int]


def group_numbers(items: Iterable[Item]) -> list[int]:
    """A number per item, equal for twins, counted in order of first appearance.

    >>> group_numbers([Item(id=i, submission=s) for i, s in (("a", "x"), ("b", "y"), ("c", "X."))])
    [0, 1, 0]
    """
    return list(twin_numbers((item.text, item.prompt) for item in items).group)


def twin_numbers(texts: Iterable[tuple[str, str]]) -> TwinNumbers:
    """Which of these texts, each with its prompt, say the same.

    Words become numbers and sequences hashes as they are read, so that what is compared are columns
    of numbers: of 100,000 texts of 60 words in 2 to 3 s.
    """
    import numpy as np

    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    first: dict[object, int] = {}
    same, firsts = list[int](), list[int]()
    words_of, sizes = array("q"), list[int]()
    for at, (text, prompt) in enumerate(texts):
        words = _words(text)
        key = _key(text, prompt, words)
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
    return TwinNumbers(groups.numbers(), _counted(same))


def _counted(marks: Iterable[int]) -> list[int]:
    """The marks' numbers, in order of first appearance."""
    seen: dict[int, int] = {}
    return [seen.setdefault(mark, len(seen)) for mark in marks]


class _Groups:
    """Which texts belong together; a group is known by its earliest one."""

    def __init__(self, of: Sequence[int]) -> None:
        import numpy as np

        self._of = np.array(of, np.int64)

    def roots(self, texts: Any) -> Any:
        """The earliest of the group of each of these texts."""
        roots = self._of[texts]
        while ((further := self._of[roots]) != roots).any():
            roots = further
        return roots

    def apart(self, left: int, right: int) -> bool:
        """Whether two texts are in different groups as yet."""
        return self._root(left) != self._root(right)

    def join(self, left: int, right: int) -> None:
        """Put the groups of two texts together."""
        low, high = sorted((self._root(left), self._root(right)))
        self._of[high] = low

    def _root(self, at: int) -> int:
        while self._of[at] != at:
            self._of[at] = at = int(self._of[self._of[at]])
        return at

    def numbers(self) -> list[int]:
        """The groups' numbers, by text."""
        return _counted(self.roots(slice(None)).tolist())


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _words(text: str) -> list[str]:
    if text.isascii():
        return text.translate(_ASCII).split()
    return _WORD.findall(_plain(text))


def _key(text: str, prompt: str, words: Sequence[str]) -> tuple[str, str]:
    """What texts have in common that are the same; its first part is empty without a text."""
    if len(words) >= NEAR_WORDS:
        return "".join(words), ""
    # In a short answer a sign can be all the difference ("-1").
    return _short(text), "".join(_words(prompt))


def _short(text: str) -> str:
    return "".join(_plain(text).split()).strip(".,;:!?\"'")


def _near(left: frozenset[Any], right: frozenset[Any]) -> bool:
    if not left or not right:
        return False
    shared = len(left & right)
    return shared >= NEAR * (len(left) + len(right) - shared)


class _Hashed:
    """The three-word sequences of texts as numbers of 64 bits, one text after the other."""

    def __init__(self, sequences: Any, starts: Any) -> None:
        self._sequences, self._starts = sequences, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    @classmethod
    def of(cls, words: Any, sizes: Any) -> _Hashed:
        """Of words as numbers; ``sizes`` says how many each text has (three or more)."""
        import numpy as np

        hashed = _mixed(np.arange(words.max(initial=0) + 1, dtype=np.uint64), 0)[words]
        sequences = hashed[:-2] * _odd(0) + hashed[1:-1] * _odd(1) + hashed[2:]
        ends = np.cumsum(sizes)
        inside = np.ones(len(sequences), np.bool_)
        # Sequences that begin with the last two words of a text would end in the next one.
        for back in (1, 2):
            inside[ends[:-1] - back] = False
        return cls(_mixed(sequences[inside], 1), np.append(0, np.cumsum(sizes - 2)))

    def sampled(self) -> _Hashed:
        """The same share of every text's sequences, so that sketching them stays quick."""
        import numpy as np

        total = len(self._sequences)
        if total <= MOST_SEQUENCES:
            return self
        sampled = _mixed(self._sequences, 2) < 2**64 // total * MOST_SEQUENCES
        return _Hashed(self._sequences[sampled], np.append(0, np.cumsum(sampled))[self._starts])

    def least(self, order: int) -> Any:
        """The least sequence of every text under a random order; what has none has one of its own.

        Numbers are mixed well, so that multiples of them by an odd number are in an order that
        looks as random as another mixing of them would make it.
        """
        import numpy as np

        sizes = np.diff(self._starts)
        there, least = np.flatnonzero(sizes), np.arange(len(sizes), dtype=np.uint64)
        multiples = self._sequences * _odd(order)
        least[there] = np.minimum.reduceat(multiples, self._starts[there])
        return least

    def set_of(self, at: int) -> frozenset[int]:
        """The sequences of a text."""
        return frozenset(self._sequences[self._starts[at] : self._starts[at + 1]].tolist())


def _odd(seed: int) -> Any:
    """An odd number of 64 bits."""
    import numpy as np

    return _mixed(np.array([seed + 1], np.uint64), 3) | np.uint64(1)


def _near_pairs(texts: _Hashed) -> Iterator[tuple[int, int]]:
    """Pairs that are near, enough of them to join all that are.

    Two sets agree in the least member under a random order with the chance of their Jaccard
    similarity, so in all of ``_IN_A_BAND`` such orders often if they are near, and hardly ever
    otherwise (Broder 1997; Leskovec, Rajaraman and Ullman 2014, section 3.4). Only sets that do so
    in some band are compared, whatever words the texts are made of. At a similarity of ``NEAR`` a
    pair is missed with the chance (1 - .8^4)^32 < 5e-8.
    """
    if len(texts) < 2:
        return
    keys, sketch = _sketched(texts.sampled())
    set_of = lru_cache(maxsize=_SETS)(texts.set_of)
    alike = _Groups(range(len(texts)))
    for key in keys:
        for left, right in _pairs(key, alike):
            likely = (sketch[left] == sketch[right]).mean(axis=1) >= _LIKELY
            for a, b in zip(left[likely].tolist(), right[likely].tolist(), strict=True):
                if alike.apart(a, b) and _near(set_of(a), set_of(b)):
                    alike.join(a, b)
                    yield a, b


def _sketched(texts: _Hashed) -> tuple[Any, Any]:
    """A key of every text for every band; and for every text a part of its least members."""
    import numpy as np

    keys = np.zeros((_BANDS, len(texts)), np.uint64)
    sketch = np.zeros((len(texts), _BANDS * _IN_A_BAND), np.uint16)
    for order in range(_BANDS * _IN_A_BAND):
        least, band = texts.least(order), order // _IN_A_BAND
        keys[band] = _mixed(keys[band] ^ least, order)
        sketch[:, order] = least >> np.uint64(48)
    return keys, sketch


def _pairs(keys: Any, alike: _Groups) -> Iterator[tuple[Any, Any]]:
    """Two texts each that have the same key, and are in different groups as yet.

    First all that stand next to each other by key, then those one further apart, and so on; of
    texts that are in one group by then, none.
    """
    import numpy as np

    texts = np.argsort(keys, kind="stable")
    again = np.diff(keys[texts]) == 0
    texts = texts[np.append(False, again) | np.append(again, False)]
    step = 1
    while step < len(texts):
        key, group = keys[texts], alike.roots(texts)
        starts = np.flatnonzero(np.diff(key, prepend=~key[:1]))
        sizes = np.diff(np.append(starts, len(key)))
        apart = np.minimum.reduceat(group, starts) != np.maximum.reduceat(group, starts)
        kept_pairs = np.repeat(apart & (sizes > step), sizes)
        texts, key, group = texts[kept_pairs], key[kept_pairs], group[kept_pairs]
        two = (key[step:] == key[:-step]) & (group[step:] != group[:-step])
        yield texts[:-step][two], texts[step:][two]
        step += 1


def _mixed(numbers: Any, seed: int) -> Any:
    """Numbers of 64 bits, mixed so that their order looks random (splitmix64; Steele 2014)."""
    mixed = numbers + (seed + 1) * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB
    return mixed ^ (mixed >> 31)

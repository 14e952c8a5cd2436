"""What two sides answered, cell by cell, and the items of all criteria drawn together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics.intervals.draws import MANY, OFTEN, resample_items
from core.metrics.measure import NEAR, Array

Levels = npt.NDArray[np.int64]

#: So many counts are drawn at once.
MOST_WEIGHTS = 4_000_000
#: Beyond so many counts in all, items are drawn in random blocks of equal size.
MOST_DRAWN = 20_000_000
#: At least so many blocks: the spread of a figure is then known to 1.6 % (1 / sqrt(2 * 2,000)).
LEAST_BLOCKS = 2_000
#: Counts of more cells than these are not drawn from one normal distribution.
MOST_CELLS = 1_000


class Picked(Sequence[str]):
    """Some of a source's items: names are looked up only when somebody asks for them."""

    def __init__(self, ids: Sequence[str], rows: Levels) -> None:
        self.ids, self.rows = ids, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return tuple(self.ids[row] for row in self.rows[at].tolist())
        return self.ids[int(self.rows[at])]

    def __iter__(self) -> Iterator[str]:
        return map(self.ids.__getitem__, self.rows.tolist())


@dataclass(frozen=True)
class AnswerPairs:
    """What two sides answered to one criterion, as levels; only items that both answered."""

    name: str
    labels: tuple[str, ...]
    ordinal: bool
    items: Sequence[str]
    reference: Levels
    answers: Levels

    def counts(self, blocks: Levels, number: int) -> Array:
        """Counts (reference by answer) in each of ``number`` blocks, shape (k * k, blocks).

        ``blocks`` says in which block each of the items is.
        """
        k = len(self.labels)
        at = (self.reference * k + self.answers) * number + blocks
        found = np.bincount(at, minlength=k * k * number).reshape(k * k, number)
        return found.astype(np.float64)


#: A figure of the tables of all criteria, for each draw.
Figure = Callable[[Sequence[Array], Sequence[AnswerPairs]], Array]


class Resampled:
    """Pairs of one source or two whose items are drawn together, for all criteria at once.

    Items are drawn one by one. Where these are too many counts (``MOST_DRAWN``), all counts of
    ``MANY`` items together are drawn from a normal distribution with their mean and covariance;
    with fewer, or where a level is rare, items in random blocks of equal size, which are as many
    independent draws of as many sums. A figure spreads as much over either, but for what the blocks
    happen to be (``LEAST_BLOCKS``).
    """

    def __init__(self, items: Iterable[str]) -> None:
        self.items: Sequence[str] = tuple(dict.fromkeys(items))
        self._row: Mapping[str, int] = {item: row for row, item in enumerate(self.items)}
        self._place: Levels | None = None

    @classmethod
    def of_pairs(cls, sides: Sequence[Sequence[AnswerPairs]]) -> Resampled:
        """The items of all these pairs; of many items of one source nobody looks up the names."""
        picked = [one.items for pairs in sides for one in pairs]
        first = next(iter(picked), None)
        if not isinstance(first, Picked) or len(first.ids) < MANY:
            return cls(item for one in picked for item in one)
        there = np.zeros(len(first.ids), np.bool_)
        for one in picked:
            if not isinstance(one, Picked) or one.ids is not first.ids:
                return cls(item for one in picked for item in one)
            there[one.rows] = True
        found = cls(())
        found.items, found._place = Picked(first.ids, np.flatnonzero(there)), np.cumsum(there) - 1
        return found

    def once(self, pairs: Sequence[AnswerPairs]) -> list[Array]:
        """The tables of all criteria, every item counted once."""
        together = np.zeros(len(self.items), np.int64)
        counts = self._counts(pairs, together, 1)
        return [_square(one, table) for one, table in zip(pairs, counts, strict=True)]

    def without_each(self, pairs: Sequence[AnswerPairs]) -> list[Array]:
        """The tables of all criteria without one item, for each item, shape (k, k, items)."""
        number = len(self.items)
        counts = self._counts(pairs, np.arange(number), number)
        left = (table.sum(axis=1, keepdims=True) - table for table in counts)
        return [_square(one, table) for one, table in zip(pairs, left, strict=True)]

    def values(
        self,
        figures: Mapping[str, Figure],
        sides: Sequence[Sequence[AnswerPairs]],
        draws: int,
        seed: int,
        *,
        joined: bool = True,
    ) -> dict[str, list[Array]]:
        """Per figure and side its value in every draw; the sides see the same items drawn.

        They need not where nobody puts them together: then many are drawn sooner (``joined``).
        """
        rng = np.random.default_rng(seed)
        sizes = [len(one.labels) ** 2 for pairs in sides for one in pairs]
        found: dict[str, list[list[Array]]] = {name: [[] for _ in sides] for name in figures}
        for counts in self._drawn(sides, draws, rng, joined=joined):
            drawn = iter(np.split(counts, np.cumsum(sizes)[:-1]))
            for at, pairs in enumerate(sides):
                tables = [_square(one, next(drawn)) for one in pairs]
                for name, figure in figures.items():
                    found[name][at].append(figure(tables, pairs))
        return {name: [np.concatenate(parts) for parts in each] for name, each in found.items()}

    def _drawn(
        self,
        sides: Sequence[Sequence[AnswerPairs]],
        draws: int,
        rng: np.random.Generator,
        *,
        joined: bool,
    ) -> Iterator[Array]:
        """The counts of all cells, shape (cells, draws), in portions, so that many draws fit."""
        groups = [[one for pairs in sides for one in pairs]] if joined else sides
        if self._even(groups, draws):
            spreads = [self._spread(group) for group in groups]
            portion = max(1, MOST_WEIGHTS // max(1, sum(len(mean) for mean, _ in spreads)))
            for start in range(0, draws, portion):
                number = min(portion, draws - start)
                noise = (
                    root @ rng.standard_normal((root.shape[1], number), np.float32)
                    for _, root in spreads
                )
                parts = [mean[:, None] + one for (mean, _), one in zip(spreads, noise, strict=True)]
                yield np.concatenate(parts)
            return
        blocks, number = self._blocks(draws, rng)
        # One product for all tables. Sums of whole numbers below 2 ** 24 are exact in 32 bits.
        kind = np.float32 if len(self.items) < 2**24 else np.float64
        counts = [one for pairs in sides for one in self._counts(pairs, blocks, number)]
        every = np.concatenate([np.empty((0, number)), *counts]).astype(kind)
        portion = max(1, MOST_WEIGHTS // max(1, number))
        for start in range(0, draws, portion):
            times = resample_items(number, min(portion, draws - start), rng)
            yield every @ times.astype(kind)

    def _even(self, groups: Sequence[Sequence[AnswerPairs]], draws: int) -> bool:
        """Whether counts are drawn from a normal distribution: of many items and no rare level."""
        items = len(self.items)
        if items < MANY or items <= self._most(draws):
            return False
        for pairs in groups:
            levels = [
                np.bincount(side, minlength=1)
                for one in pairs
                for side in (one.reference, one.answers)
            ]
            if sum(len(one.labels) ** 2 for one in pairs) > MOST_CELLS:
                return False
            if any(((each > 0) & (each < OFTEN)).any() for each in levels):
                return False
        return True

    def _spread(self, pairs: Sequence[AnswerPairs]) -> tuple[Array, npt.NDArray[np.float32]]:
        """The counts of all cells, and a root of their covariance where items are drawn."""
        items, columns = len(self.items), list[Levels]()
        for one in pairs:
            # The first stands for an item that is not in the pair.
            column = np.zeros(items, np.int64)
            column[self._rows(one)] = 1 + one.reference * len(one.labels) + one.answers
            columns.append(column)
        sizes = [len(one.labels) ** 2 + 1 for one in pairs]
        starts = [0, *np.cumsum([size - 1 for size in sizes]).tolist()]
        both = np.zeros((starts[-1], starts[-1]))
        for a, b in combinations_with_replacement(range(len(pairs)), 2):
            counts = np.bincount(columns[a] * sizes[b] + columns[b], minlength=sizes[a] * sizes[b])
            part = counts.reshape(sizes[a], sizes[b])[1:, 1:]
            both[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = part
            both[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = part.T
        mean = both.diagonal().copy()
        # Cells that nobody is in stay empty.
        seen = np.flatnonzero(mean)
        spread = both[np.ix_(seen, seen)] - np.outer(mean[seen], mean[seen]) / items
        values, vectors = np.linalg.eigh(spread)
        there = values > NEAR * values.max(initial=0.0)
        root = np.zeros((len(mean), int(there.sum())), np.float32)
        root[seen] = vectors[:, there] * np.sqrt(values[there])
        return mean, root

    def _blocks(self, draws: int, rng: np.random.Generator) -> tuple[Levels, int]:
        """The block of every item, and how many blocks there are; one for each item if they fit."""
        items, most = len(self.items), self._most(draws)
        if items <= most:
            return np.arange(items), items
        return rng.permutation(items) % most, most

    def _most(self, draws: int) -> int:
        """So many items are drawn one by one."""
        return max(LEAST_BLOCKS, MOST_DRAWN // draws)

    def _counts(self, pairs: Sequence[AnswerPairs], blocks: Levels, number: int) -> list[Array]:
        return [one.counts(blocks[self._rows(one)], number) for one in pairs]

    def _rows(self, one: AnswerPairs) -> Levels:
        if self._place is not None and isinstance(one.items, Picked):
            return self._place[one.items.rows]
        return np.fromiter(map(self._row.__getitem__, one.items), np.int64, len(one.items))


def _square(one: AnswerPairs, counts: Array) -> Array:
    """A criterion's table (k, k, draws) from the counts of its cells."""
    k = len(one.labels)
    return counts.astype(np.float64).reshape(k, k, -1)

"""Two sides' answers, cell by cell, and joint draws of the items of all criteria."""

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

#: The most counts drawn per batch.
MOST_WEIGHTS = 4_000_000
#: With more counts in total, items are drawn in random blocks of equal size.
MOST_DRAWN = 20_000_000
#: The least number of blocks: the spread of a figure is then known to 1.6% (1 / sqrt(2 * 2,000)).
LEAST_BLOCKS = 2_000
#: With more cells, counts are not drawn from one normal distribution.
MOST_CELLS = 1_000


class ItemSubset(Sequence[str]):
    """Some of a source's items, whose names are looked up only when used."""

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
    """Two sides' answers to a criterion, as levels, for items that both answered."""

    name: str
    labels: tuple[str, ...]
    ordinal: bool
    items: Sequence[str]
    reference: Levels
    answers: Levels

    def counts(self, blocks: Levels, number: int) -> Array:
        """Return counts (reference by answer) in each of ``number`` blocks, shape (k * k, blocks).

        ``blocks`` holds each item's block.
        """
        k = len(self.labels)
        at = (self.reference * k + self.answers) * number + blocks
        counts = np.bincount(at, minlength=k * k * number).reshape(k * k, number)
        return counts.astype(np.float64)


#: A figure computed from the tables of all criteria, for each draw.
Figure = Callable[[Sequence[Array], Sequence[AnswerPairs]], Array]


class Resampled:
    """Pairs of one or two sources whose items are drawn jointly for all criteria.

    Items are drawn one by one. If that makes too many counts (``MOST_DRAWN``), the counts of at
    least ``MANY`` items are drawn jointly from a normal distribution with their mean and
    covariance. With fewer items, or with a rare level, items are put in random blocks of equal
    size, which are independent draws of their sums. A figure spreads the same over either, except
    for the blocks' own randomness (``LEAST_BLOCKS``).
    """

    def __init__(self, items: Iterable[str]) -> None:
        self.items: Sequence[str] = tuple(dict.fromkeys(items))
        self._row: Mapping[str, int] = {item: row for row, item in enumerate(self.items)}
        self._place: Levels | None = None

    @classmethod
    def of_pairs(cls, sides: Sequence[Sequence[AnswerPairs]]) -> Resampled:
        """Return the items of all these pairs; many items of one source need no look-up of
        names.
        """
        picked = [pair.items for pairs in sides for pair in pairs]
        first = next(iter(picked), None)
        if not isinstance(first, ItemSubset) or len(first.ids) < MANY:
            return cls(item for some in picked for item in some)
        used = np.zeros(len(first.ids), np.bool_)
        for some in picked:
            if not isinstance(some, ItemSubset) or some.ids is not first.ids:
                return cls(item for some in picked for item in some)
            used[some.rows] = True
        resampled = cls(())
        resampled.items, resampled._place = (
            ItemSubset(first.ids, np.flatnonzero(used)),
            np.cumsum(used) - 1,
        )
        return resampled

    def unweighted_tables(self, pairs: Sequence[AnswerPairs]) -> list[Array]:
        """Return the tables of all criteria, each item counted once."""
        together = np.zeros(len(self.items), np.int64)
        counts = self._counts(pairs, together, 1)
        return [_square_table(pair, table) for pair, table in zip(pairs, counts, strict=True)]

    def leave_one_out_tables(self, pairs: Sequence[AnswerPairs]) -> list[Array]:
        """Return the tables of all criteria without each item, shape (k, k, items) each."""
        number = len(self.items)
        counts = self._counts(pairs, np.arange(number), number)
        remaining = (table.sum(axis=1, keepdims=True) - table for table in counts)
        return [_square_table(pair, table) for pair, table in zip(pairs, remaining, strict=True)]

    def values(
        self,
        figures: Mapping[str, Figure],
        sides: Sequence[Sequence[AnswerPairs]],
        draws: int,
        seed: int,
        *,
        joined: bool = True,
    ) -> dict[str, list[Array]]:
        """Return each figure's values in all draws, by side; both sides see the same drawn items.

        If no figure combines the sides, ``joined`` may be false: many draws are then faster.
        """
        rng = np.random.default_rng(seed)
        sizes = [len(pair.labels) ** 2 for pairs in sides for pair in pairs]
        drawn_values: dict[str, list[list[Array]]] = {name: [[] for _ in sides] for name in figures}
        for counts in self._drawn(sides, draws, rng, joined=joined):
            drawn = iter(np.split(counts, np.cumsum(sizes)[:-1]))
            for at, pairs in enumerate(sides):
                tables = [_square_table(pair, next(drawn)) for pair in pairs]
                for name, figure in figures.items():
                    drawn_values[name][at].append(figure(tables, pairs))
        return {
            name: [np.concatenate(parts) for parts in each] for name, each in drawn_values.items()
        }

    def _drawn(
        self,
        sides: Sequence[Sequence[AnswerPairs]],
        draws: int,
        rng: np.random.Generator,
        *,
        joined: bool,
    ) -> Iterator[Array]:
        """Yield the counts of all cells, shape (cells, draws), in portions that fit in memory."""
        groups = [[pair for pairs in sides for pair in pairs]] if joined else sides
        if self._draws_normal(groups, draws):
            spreads = [self._spread(group) for group in groups]
            portion = max(1, MOST_WEIGHTS // max(1, sum(len(mean) for mean, _ in spreads)))
            for start in range(0, draws, portion):
                number = min(portion, draws - start)
                noise = (
                    root @ rng.standard_normal((root.shape[1], number), np.float32)
                    for _, root in spreads
                )
                parts = [
                    mean[:, None] + part for (mean, _), part in zip(spreads, noise, strict=True)
                ]
                yield np.concatenate(parts)
            return
        blocks, number = self._blocks(draws, rng)
        # A single matrix product serves all tables. Sums of integers below 2 ** 24 are exact in 32
        # bits.
        kind = np.float32 if len(self.items) < 2**24 else np.float64
        counts = [counted for pairs in sides for counted in self._counts(pairs, blocks, number)]
        all_counts = np.concatenate([np.empty((0, number)), *counts]).astype(kind)
        portion = max(1, MOST_WEIGHTS // max(1, number))
        for start in range(0, draws, portion):
            times = resample_items(number, min(portion, draws - start), rng)
            yield all_counts @ times.astype(kind)

    def _draws_normal(self, groups: Sequence[Sequence[AnswerPairs]], draws: int) -> bool:
        """Return whether to draw from a normal distribution: many items and no rare level."""
        items = len(self.items)
        if items < MANY or items <= self._most_single_draws(draws):
            return False
        for pairs in groups:
            levels = [
                np.bincount(side, minlength=1)
                for pair in pairs
                for side in (pair.reference, pair.answers)
            ]
            if sum(len(pair.labels) ** 2 for pair in pairs) > MOST_CELLS:
                return False
            if any(((counts > 0) & (counts < OFTEN)).any() for counts in levels):
                return False
        return True

    def _spread(self, pairs: Sequence[AnswerPairs]) -> tuple[Array, npt.NDArray[np.float32]]:
        """Return the counts of all cells, and a root of their covariance over resampled items."""
        items, columns = len(self.items), list[Levels]()
        for pair in pairs:
            # 0 stands for an item that is not in the pair.
            column = np.zeros(items, np.int64)
            column[self._rows(pair)] = 1 + pair.reference * len(pair.labels) + pair.answers
            columns.append(column)
        sizes = [len(pair.labels) ** 2 + 1 for pair in pairs]
        starts = [0, *np.cumsum([size - 1 for size in sizes]).tolist()]
        products = np.zeros((starts[-1], starts[-1]))
        for a, b in combinations_with_replacement(range(len(pairs)), 2):
            counts = np.bincount(columns[a] * sizes[b] + columns[b], minlength=sizes[a] * sizes[b])
            part = counts.reshape(sizes[a], sizes[b])[1:, 1:]
            products[starts[a] : starts[a + 1], starts[b] : starts[b + 1]] = part
            products[starts[b] : starts[b + 1], starts[a] : starts[a + 1]] = part.T
        mean = products.diagonal().copy()
        # Cells without an item stay empty.
        filled = np.flatnonzero(mean)
        spread = products[np.ix_(filled, filled)] - np.outer(mean[filled], mean[filled]) / items
        values, vectors = np.linalg.eigh(spread)
        large = values > NEAR * values.max(initial=0.0)
        root = np.zeros((len(mean), int(large.sum())), np.float32)
        root[filled] = vectors[:, large] * np.sqrt(values[large])
        return mean, root

    def _blocks(self, draws: int, rng: np.random.Generator) -> tuple[Levels, int]:
        """Return the block of every item, and the number of blocks; one per item if they fit."""
        items, most = len(self.items), self._most_single_draws(draws)
        if items <= most:
            return np.arange(items), items
        return rng.permutation(items) % most, most

    def _most_single_draws(self, draws: int) -> int:
        """Return the number of items that can be drawn one by one."""
        return max(LEAST_BLOCKS, MOST_DRAWN // draws)

    def _counts(self, pairs: Sequence[AnswerPairs], blocks: Levels, number: int) -> list[Array]:
        return [pair.counts(blocks[self._rows(pair)], number) for pair in pairs]

    def _rows(self, pair: AnswerPairs) -> Levels:
        if self._place is not None and isinstance(pair.items, ItemSubset):
            return self._place[pair.items.rows]
        return np.fromiter(map(self._row.__getitem__, pair.items), np.int64, len(pair.items))


def _square_table(pair: AnswerPairs, counts: Array) -> Array:
    """Return a criterion's table (k, k, draws) from the counts of its cells."""
    k = len(pair.labels)
    return counts.astype(np.float64).reshape(k, k, -1)

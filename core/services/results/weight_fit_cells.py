"""What the rule ``calibrated`` learns from: a run's cells with the votes that count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.domain.votes import BallotRow
from core.scoring.verdict import Ballot
from core.services.datasets.twins import twin_numbers
from core.services.results.run_columns import (
    NO_LABEL,
    items_of_run,
    label_columns,
    own_rubrics,
)
from core.services.results.scored_items import scored_rubric
from core.services.results.verdicts import counting_of
from core.services.results.weight_fit_kinds import LabelledCell
from core.store.store import Store

#: So many cells of a criterion without a label are learned from at most.
MOST_OTHERS = 2_000
#: So many items without a label are read at once.
_AT_ONCE = 1_000


class VotedCells(NamedTuple):
    """The cells of a criterion whose truth is known, and the votes on those of which it is not."""

    known: list[LabelledCell]
    others: list[Sequence[Ballot]]


def cells_of_run(store: Store, run_id: int) -> dict[str, VotedCells]:
    """The cells of a run by criterion, with the votes that count.

    An item with a rubric of its own takes part where its criterion has the same options. Of cells
    without a label at most ``MOST_OTHERS`` are looked at, the first of the run.
    """
    return _Reader(store, store.runs.get(run_id)).read()


class _Reader:
    """Reads the votes of items that teach."""

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._run = store, run
        self._rubric = scored_rubric(store, run)
        self._own = own_rubrics(store, run)
        self._labels = label_columns(store, run)
        self._ids, self._places = items_of_run(store, run)
        self._counting = counting_of(run.plan)
        self._labelled = np.zeros(len(self._ids), np.bool_)
        for column in self._labels.values():
            self._labelled |= column >= 0
        # Cells of items that say the same are in one fold.
        several = bool(self._labelled.any())
        self._twins = twin_numbers(store, run.dataset_version_id).group if several else ()
        self._cells = {criterion.name: VotedCells([], []) for criterion in self._rubric.criteria}

    def read(self) -> dict[str, VotedCells]:
        """Whoever is labelled, and so many others that more would teach nothing."""
        self._take(np.flatnonzero(self._labelled).tolist())
        others = np.flatnonzero(~self._labelled).tolist()
        for start in range(0, len(others), _AT_ONCE):
            if all(map(_enough, self._cells.values())):
                break
            self._take(others[start : start + _AT_ONCE])
        return self._cells

    def _take(self, rows: Sequence[int]) -> None:
        ids = [self._ids[row] for row in rows]
        for row, votes in zip(rows, self._store.votes.ballots(self._run.id, ids), strict=True):
            own, by_name = self._own.get(self._ids[row]), dict[str, list[BallotRow]]()
            for ballot in votes.ballots:
                by_name.setdefault(ballot.criterion, []).append(ballot)
            for criterion in self._rubric.criteria:
                name = criterion.name
                if name in by_name and (own is None or _alike(own.criterion(name), criterion)):
                    self._learn(name, row, by_name[name])

    def _learn(self, name: str, row: int, votes: Sequence[BallotRow]) -> None:
        """A cell with its truth; or without, as long as there are not enough of those."""
        truth = int(self._labels[name][row]) if name in self._labels else NO_LABEL
        known, others = self._cells[name]
        if truth >= 0:
            ballots, group = (
                self._counting.count(votes).ballots,
                str(self._twins[self._places[row]]),
            )
            known.append(LabelledCell(self._ids[row], ballots, truth, group))
        elif self._labelled[row] or not _enough(self._cells[name]):
            others.append(self._counting.count(votes).ballots)


def _enough(cells: VotedCells) -> bool:
    """Whether votes without a label would teach nothing more, or nothing at all."""
    from core.metrics.weight_fit import FEWEST

    return len(cells.known) < FEWEST or len(cells.others) >= MOST_OTHERS


def _alike(one: Criterion, other: Criterion) -> bool:
    return [o.label for o in one.choices] == [o.label for o in other.choices]

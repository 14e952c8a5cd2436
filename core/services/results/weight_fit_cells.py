"""The input of the rule ``calibrated``: a run's cells with the votes that count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.domain.votes import BallotRow
from core.metrics.agreement.ratings import patterns
from core.metrics.weight_fit import FEWEST
from core.scoring.verdict import Ballot
from core.services.datasets.twins import twin_numbers
from core.services.results.run_columns import (
    NO_LABEL,
    NO_OPTION,
    AnswerColumn,
    Numbers,
    items_of_run,
    label_columns,
    own_rubrics,
    vote_columns,
)
from core.services.results.scored_items import scored_rubric
from core.services.results.verdicts import VoteCounting, counting_of
from core.services.results.weight_fit_kinds import LabelledCell
from core.store.store import Store

#: The most unlabelled cells of a criterion to learn from.
MOST_OTHERS = 2_000
_NOBODY = -3


#: The labelled cells of a criterion, and the votes on the others.
VotedCells = tuple[list[LabelledCell], list[Sequence[Ballot]]]


def cells_of_run(store: Store, run_id: int) -> dict[str, VotedCells]:
    """Return the cells of a run by criterion, with the votes that count.

    An item with its own rubric counts if its criterion has the same options. Of the unlabelled
    cells the first ``MOST_OTHERS`` of the run are used.
    """
    return _Reader(store, store.runs.get(run_id)).read()


class _Reader:
    """Reads the votes of items to learn from, as columns if these contain everything that
    counts.
    """

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
        # Cells of items with the same text share a fold.
        self._twins: Sequence[int] = ()
        if self._labelled.any():
            self._twins, _ = twin_numbers(store, run.dataset_version_id)

    def read(self) -> dict[str, VotedCells]:
        """Return the labelled cells, and other cells up to the number beyond which more do not
        help.
        """
        votes = _VotesOfCells(self._store, self._run, self._ids, own=bool(self._own))
        return {c.name: self._voted_cells(c, votes) for c in self._rubric.criteria}

    def _voted_cells(self, criterion: Criterion, votes: _VotesOfCells) -> VotedCells:
        truth = self._labels.get(criterion.name, np.full(len(self._ids), NO_LABEL))
        unknown = [
            row
            for row, item_id in enumerate(self._ids if self._own else ())
            if item_id in self._own and not _has_same_options(self._own[item_id], criterion)
        ]
        voted = votes.items_with_vote(criterion.name)
        voted[unknown] = False
        labelled = np.flatnonzero(voted & (truth >= 0))
        unlabelled = np.flatnonzero(voted & (truth < 0) & self._labelled)
        # Keep unlabelled cells only up to the limit.
        places_left = MOST_OTHERS - len(unlabelled) if len(labelled) >= FEWEST else 0
        further = np.flatnonzero(voted & ~self._labelled)[: max(places_left, 0)]
        ballots = votes.of(
            criterion, np.concatenate([labelled, unlabelled, further]), self._counting
        )
        groups = (str(self._twins[place]) for place in self._places[labelled].tolist())
        rows = zip(labelled.tolist(), ballots, truth[labelled].tolist(), groups, strict=False)
        cells = [LabelledCell(self._ids[row], *cell) for row, *cell in rows]
        return cells, ballots[len(labelled) :]


class _VotesOfCells:
    """The votes of a run; cells with equal votes are counted once and share the result."""

    def __init__(self, store: Store, run: Run, ids: Sequence[str], *, own: bool) -> None:
        self._store, self._run, self._ids = store, run, ids
        #: Whether the options of these votes may differ from the criterion's options.
        self._apart = own or run.scored_version_id != run.rubric_version_id
        self._columns: dict[str, list[AnswerColumn]] = {}
        for column in vote_columns(store, run):
            self._columns.setdefault(column.criterion, []).append(column)

    def items_with_vote(self, name: str) -> npt.NDArray[np.bool_]:
        """Return which items have a vote on a criterion."""
        voted = np.zeros(len(self._ids), np.bool_)
        for column in self._columns.get(name, ()):
            voted[column.rows] = True
        return voted

    def of(
        self, criterion: Criterion, rows: Numbers, counting: VoteCounting
    ) -> list[Sequence[Ballot]]:
        """Return the ballots that count in the cells of these rows."""
        rules = self._run.plan.panel.rules
        if (criterion.aggregation or getattr(rules, criterion.scale)) == "soft_mean" or self._apart:
            return self._cells_one_by_one(criterion.name, rows, counting)
        columns = self._columns.get(criterion.name, [])
        options = np.full((len(self._ids), len(columns)), _NOBODY)
        for index, column in enumerate(columns):
            options[column.rows, index] = column.options
        distinct = patterns(options[rows])
        ballots = []
        for row in distinct.rows.tolist():
            voted = [
                _ballot_row(criterion, column, option)
                for column, option in zip(columns, row, strict=True)
                if option != _NOBODY
            ]
            ballots.append(counting.count(voted))
        return [ballots[index] for index in distinct.of_item.tolist()]

    def _cells_one_by_one(
        self, name: str, rows: Numbers, counting: VoteCounting
    ) -> list[Sequence[Ballot]]:
        """Return the same as ``of``, vote by vote: only votes have probabilities and abstentions in
        other options.
        """
        ids = [self._ids[row] for row in rows.tolist()]
        return [
            counting.count([ballot for ballot in votes.ballots if ballot.criterion == name])
            for votes in self._store.votes.ballots(self._run.id, ids)
        ]


def _ballot_row(criterion: Criterion, column: AnswerColumn, option: int) -> BallotRow:
    chosen = None if option == NO_OPTION else option
    abstained = chosen is None or criterion.choices[chosen].na
    return BallotRow("", criterion.name, column.judge, column.replicate, chosen, abstained)


def _has_same_options(own: Rubric, criterion: Criterion) -> bool:
    """Return whether a rubric has the criterion with the same options."""
    candidates = [
        candidate.choices for candidate in own.criteria if candidate.name == criterion.name
    ]
    return any(
        [option.label for option in choices] == [option.label for option in criterion.choices]
        for choices in candidates
    )

"""The kinds of rule to learn from labelled cells, each as weights over judges' votes.

``core.services.results.weight_fit`` chooses one of them; this module fits each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, NamedTuple

from core.domain.rubric import Criterion
from core.domain.weight_fit import Kind, Weights
from core.scoring.verdict import Ballot

if TYPE_CHECKING:
    from core.metrics.weight_fit import Flags, Floats, Levels

#: The number of labels that each prior of the line is worth, towards the plain mean: for its
#: height, and for its slope.
HEIGHT, SLOPE = 10.0, 20.0
#: The least variance around the line, in squared levels, whatever a few labels suggest.
LEAST_SPREAD = 0.25
#: With at least this share of missing votes, judges count as having seen different items.
SEEN_APART = 0.1


class LabelledCell(NamedTuple):
    """A cell with a known label: ``truth`` is the index of a scored choice.

    Cells of a ``group`` are of items with the same text (``core.judging.near_duplicates``).
    """

    item_id: str
    ballots: Sequence[Ballot]
    truth: int
    group: str = ""


#: A kind of rule, and the folds without whose cells it is fitted; ``None`` means the plain rule.
FoldRule = tuple[Kind | None, frozenset[int]]

PLAIN: FoldRule = None, frozenset()


class LearnedCells:
    """Labelled cells of a criterion as arrays, and the rules learnt from any part of them."""

    def __init__(
        self,
        criterion: Criterion,
        cells: Sequence[LabelledCell],
        others: Sequence[Sequence[Ballot]] = (),
    ) -> None:
        import numpy as np

        self.criterion, self.cells, self.others = criterion, cells, others
        #: The distinct ballots of cells, and the index of each cell's ballots in them.
        self.said, self.alike = unique_ballots([c.ballots for c in cells])
        self.judges, self.owner, levels = _vote_matrix(criterion, self.said)
        self.votes = levels[self.alike]
        places = {option: index for index, option in enumerate(criterion.scored)}
        self.truth = np.array([places[cell.truth] for cell in cells])

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Return the kinds that can be fitted here; the first, most cautious one wins a tie."""
        ordered: tuple[Kind, ...] = ("line",) if self.ordinal else ()
        severe: tuple[Kind, ...] = ("severity",) if self.ordinal and self._judge_shifts else ()
        latent: tuple[Kind, ...] = ("latent",) if len(self.judges) > 2 else ()
        only_judge: tuple[Kind, ...] = ("judge",) if len(self.judges) > 1 else ()
        return (*ordered, *severe, "weights", *latent, *only_judge)

    @property
    def ordinal(self) -> bool:
        """Return whether a verdict near the truth is better than a distant one."""
        return self.criterion.scale == "ordinal"

    @cached_property
    def places(self) -> Floats:
        """Return the position of each scored option in levels: its value scaled to 0 .. number -
        1.
        """
        import numpy as np

        values = np.array([self.criterion.values[i] or 0.0 for i in self.criterion.scored])
        span = float(values.max() - values.min())
        if not span:
            return np.arange(len(values), dtype=float)
        positions: Floats = (values - values.min()) / span * (len(values) - 1)
        return positions

    def loss(self, option: int | None, true_option: int) -> float:
        """Return the loss of a verdict: its distance to the truth in levels if ordered, else 0 or
        1.

        A missing verdict, or an abstention, counts like the worst verdict.
        """
        scored = self.criterion.scored
        if not self.ordinal:
            return float(option != true_option)
        true_place = self.places[scored.index(true_option)]
        if option not in scored:
            return float(abs(self.places - true_place).max())
        return float(abs(self.places[scored.index(option)] - true_place))

    def fit(self, kind: Kind, keep: Levels) -> Weights:
        """Return a rule of this kind from the cells at ``keep``."""
        if kind in ("line", "severity"):
            return self._line_weights(keep, self._judge_shifts if kind == "severity" else {})
        if kind == "latent":
            return self._latent_weights
        return self._weights_without(keep) if kind == "weights" else self._judge_weights(keep)

    def reliance(self) -> dict[str, float]:
        """Return how much each judge counts under ``weights``."""
        from core.metrics import weight_fit

        fitted = weight_fit.fit_weights(self.votes, self.truth, len(self.places), self.owner)
        return {j: float(r) for j, r in zip(self.judges, fitted.reliance, strict=True)}

    def _weights_without(self, keep: Levels) -> Weights:
        from core.metrics import weight_fit

        k = len(self.places)
        fitted = weight_fit.fit_weights(self.votes[keep], self.truth[keep], k, self.owner)
        tables = (tuple(tuple(map(float, row)) for row in table) for table in fitted.evidence)
        return Weights(
            prior=tuple(map(float, fitted.prior)),
            judges=dict(zip(self.judges, tables, strict=True)),
            nearest=self.ordinal,
            overrules=len(self.judges) == 1,
        )

    @cached_property
    def _all_first_votes(self) -> tuple[list[str], Levels]:
        """Return the judges, and each judge's first vote on all cells, labelled or not."""
        distinct_ballots, index_of_ballots = unique_ballots(
            [*(cell.ballots for cell in self.cells), *self.others]
        )
        judges, owner, votes = _vote_matrix(self.criterion, distinct_ballots)
        return judges, votes[index_of_ballots][
            :, [owner.index(index) for index in range(len(judges))]
        ]

    @cached_property
    def _judge_shifts(self) -> dict[str, float]:
        """Return how many levels each judge gives above an average judge for the same work, from
        all votes. The result is empty if all judges saw the same items, because verdicts then do
        not depend on these shifts.
        """
        import numpy as np

        from core.metrics.facets import facets

        judges, votes = self._all_first_votes
        if len(judges) < 2 or (votes < 0).mean() < SEEN_APART:
            return {}
        rank = np.argsort(np.argsort(self.places))
        severity = facets([np.where(votes >= 0, rank[votes], -1)], [len(self.places)])
        steps = len(self.places) - 1
        return {
            judge: steps * (rater.shift.value or 0.0)
            for judge, rater in zip(judges, severity.raters, strict=False)
        }

    @cached_property
    def _latent_weights(self) -> Weights:
        """Return the meaning of votes inferred from agreement alone (Dawid and Skene 1979), without
        labels.
        """
        import numpy as np

        from core.metrics.dawid_skene import dawid_skene

        judges, votes = self._all_first_votes
        prior, chances, _ = dawid_skene(votes, len(self.places))
        logs = np.log(chances).transpose(0, 2, 1)
        return Weights(
            prior=tuple(map(float, np.log(prior))),
            judges={
                judge: tuple(tuple(map(float, row)) for row in table)
                for judge, table in zip(judges, logs, strict=True)
            },
            nearest=self.ordinal,
        )

    def _line_weights(self, keep: Levels, shifts: Mapping[str, float]) -> Weights:
        """Return the level as a + b times the mean vote, shrunk towards a = 0 and b = 1 (ridge),
        after subtracting each judge's ``shifts`` from its votes.
        """
        import numpy as np

        middle = (len(self.places) - 1) / 2
        means = (self._fair_means if shifts else self._mean_votes)[keep]
        truth = self.places[self.truth[keep]]
        x = np.column_stack([np.ones(len(means)), means - middle])
        precision = x.T @ x + np.diag([HEIGHT, SLOPE])
        height, slope = np.linalg.solve(precision, x.T @ (truth - means))
        spread = max(float(np.var(truth - means - x @ [height, slope])), LEAST_SPREAD)
        a, b = float(height - slope * middle), float(1 + slope)

        # -(level - a - b x)^2 / 2 spread, without the terms shared by all levels.
        def rows_of_weights(other_weight: float) -> tuple[tuple[float, ...], ...]:
            centre = self.places - other_weight
            return tuple(
                tuple(float((to - a) * b * worth / spread) for to in self.places)
                for worth in centre
            )

        prior = tuple(float(-((to - a) ** 2) / (2 * spread)) for to in self.places)
        judges = {
            judge: rows_of_weights(shifts.get(judge, 0.0)) for judge in {*self.judges, *shifts}
        }
        return Weights(prior=prior, judges=judges, pooled=True, overrules=True)

    def _judge_weights(self, keep: Levels) -> Weights:
        """Return the weights of the single judge whose votes were closest to these labels."""
        k, best = len(self.places), ("", 0.0, float("inf"))
        for judge, (judged, right, abstention_share) in zip(
            self.judges, self._voices_by_judge, strict=True
        ):
            votes = judged[keep]
            if votes.any(axis=1).sum() * 2 < len(keep):
                continue  # The judge voted on too few of these items for a fit.
            mean_abstention = float(abstention_share[keep][votes].mean())
            if mean_abstention < best[2]:
                best = judge, float(right[keep][votes].mean()), mean_abstention
        judge, accuracy, _ = best
        n = len(keep)
        accuracy_estimate = max((accuracy * n + 1 / k) / (n + 1), 1 / k + 0.01)
        log_right, wrong = log(accuracy_estimate), log((1 - accuracy_estimate) / (k - 1))
        table = tuple(tuple(log_right if t == v else wrong for t in range(k)) for v in range(k))
        return Weights(prior=(0.0,) * k, judges={judge: table} if judge else {})

    @cached_property
    def _voices_by_judge(self) -> list[tuple[Flags, Flags, Floats]]:
        """Return, by judge, a row per cell: which have votes, which are right, and each vote's
        distance.
        """
        import numpy as np

        voices = []
        for place in range(len(self.judges)):
            votes = self.votes[:, np.asarray(self.owner) == place]
            right = votes == self.truth[:, None]
            distance = abs(self.places[votes] - self.places[self.truth][:, None])
            voices.append((votes >= 0, right, distance if self.ordinal else 1.0 - right))
        return voices

    @cached_property
    def _mean_votes(self) -> Floats:
        return self._means_less({})

    @cached_property
    def _fair_means(self) -> Floats:
        return self._means_less(self._judge_shifts)

    def _means_less(self, shifts: Mapping[str, float]) -> Floats:
        """Return the mean of the judges' mean votes by cell, in levels, after subtracting
        ``shifts``.
        """
        import numpy as np

        voices = []
        for place, judge in enumerate(self.judges):
            votes = self.votes[:, np.asarray(self.owner) == place]
            voted = votes >= 0
            shift = shifts.get(judge, 0.0)
            sums = np.where(voted, self.places[votes] - shift, 0.0).sum(axis=1)
            voices.append(
                np.where(voted.any(axis=1), sums / np.maximum(voted.sum(axis=1), 1), np.nan)
            )
        means: Floats = np.nanmean(np.array(voices), axis=0)
        return means


def votes_of(criterion: Criterion, ballots: Sequence[Ballot]) -> list[tuple[str, int]]:
    """Return the judge and level of every vote other than abstentions."""
    return [
        (b.judge, criterion.scored.index(b.option))
        for b in ballots
        if not b.abstained and b.option in criterion.scored
    ]


def usable_cells(criterion: Criterion, cells: Sequence[LabelledCell]) -> list[LabelledCell]:
    """Return the usable cells: labelled with a scored option, and with a vote for one."""
    ballots_of, index_of_ballots = unique_ballots([cell.ballots for cell in cells])
    voted, scored = [votes_of(criterion, ballots) for ballots in ballots_of], set(criterion.scored)
    pairs = zip(cells, index_of_ballots.tolist(), strict=True)
    return [cell for cell, at in pairs if voted[at] and cell.truth in scored]


def unique_ballots(given: Sequence[Sequence[Ballot]]) -> tuple[list[Sequence[Ballot]], Levels]:
    """Return the distinct ballots in order of appearance, and the index of each in them."""
    import numpy as np

    # Identical objects are compared once; they live longer than their ids are used.
    first = {id(ballots): ballots for ballots in given}
    numbers: dict[tuple[Ballot, ...], int] = {}
    number = {
        key: numbers.setdefault(tuple(key_ballots), len(numbers))
        for key, key_ballots in first.items()
    }
    index_of_ballots = np.array([number[id(ballots)] for ballots in given], np.int64)
    return list(numbers), index_of_ballots


def _vote_matrix(
    criterion: Criterion, given: Sequence[Sequence[Ballot]]
) -> tuple[list[str], list[int], Levels]:
    """Return judges, the judge of every column, and levels; each judge has as many columns as
    votes.
    """
    import numpy as np

    cast = [votes_of(criterion, ballots) for ballots in given]
    most: dict[str, int] = {}
    for votes in cast:
        for judge, _ in votes:
            most[judge] = max(most.get(judge, 0), sum(name == judge for name, _ in votes))
    judges = sorted(most)
    first, owner = dict[str, int](), list[int]()
    for place, judge in enumerate(judges):
        first[judge] = len(owner)
        owner += [place] * most[judge]
    levels = np.full((len(given), len(owner)), -1)
    for row, votes in enumerate(cast):
        x: dict[str, int] = {}
        for judge, level in votes:
            levels[row, first[judge] + x.get(judge, 0)] = level
            x[judge] = x.get(judge, 0) + 1
    return judges, owner, levels

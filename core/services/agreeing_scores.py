"""Whole items: the score that each rater's own answers give, beside the score of a reference.

One function scores everybody under the rubric's own policy, so that a perfect judge shows no bias.
An item counts for a rater who gave a verdict on every criterion of it: an answer, or "cannot
assess", which the rubric's policy scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.metrics import scores as metrics
from core.metrics.estimate import Estimate
from core.metrics.figure import Figure
from core.metrics.ratings import Means
from core.metrics.scores import Pairs, pair_up
from core.services.agreeing_pairs import RESAMPLES, SEED
from core.services.agreeing_sheet import FEW, PEOPLE, Sheet
from core.services.measuring_figures import Draws, score_intervals
from core.services.measuring_scores import Answers, Scorer
from core.services.preparing import resolved_items
from core.services.rated_matrix import FAILED, NOT_ASKED, TIED, Rated
from core.services.results import rubric_lookup
from core.services.scored import scored_rubric
from core.store.store import Store

#: Codes of cells that no answer came from: asked in vain, never, or judges who tie.
_NOTHING = (NOT_ASKED, FAILED, TIED)


@dataclass(frozen=True)
class Scores:
    """The score of every item by column; ``place`` gives an item's row in the arrays.

    ``away`` says by column on which items something could not be assessed.
    """

    place: Mapping[str, int]
    columns: Mapping[str, Means]
    away: Mapping[str, npt.NDArray[np.bool_]]

    def of(self, sheet: Sheet, column: str, other: str) -> Means:
        """A column's scores of the sheet's items; for ``PEOPLE`` the mean, without ``other``."""
        rows = np.array([self.place[item] for item in sheet.items], np.int64)
        if column != PEOPLE:
            found = self.columns[column]
            return Means(found.values[rows], found.known[rows])
        people = [self.columns[one] for one in sheet.people if one != other]
        known = np.array([one.known[rows] for one in people])
        total = np.array([one.values[rows] * one.known[rows] for one in people]).sum(axis=0)
        number = known.sum(axis=0)
        return Means(total / np.maximum(number, 1), number > 0)

    def abstained(self, sheet: Sheet, *sides: str) -> npt.NDArray[np.bool_]:
        """On which of the sheet's items one of these columns could not assess something."""
        rows = np.array([self.place[item] for item in sheet.items], np.int64)
        found = np.zeros(len(rows), np.bool_)
        for name in sides:
            for column in sheet.people if name == PEOPLE else (name,):
                found |= self.away[column][rows]
        return found


@dataclass(frozen=True)
class ScorePair:
    """Scores of a rater beside a reference's, over ``n`` items that both have.

    On ``abstained`` of these one of the two could not assess some criterion.

    ``points`` are distinct pairs (reference, rated, items); ``figures`` those of
    ``core.metrics.scores``: bias is rated minus reference, ``limit_low`` and
    ``limit_high`` are the limits of agreement (Bland and Altman 1986).
    """

    n: int
    abstained: int
    points: tuple[tuple[float, float, int], ...]
    figures: Mapping[str, Estimate]

    @property
    def small(self) -> bool:
        """Whether so few items say little."""
        return 0 < self.n < FEW


@dataclass(frozen=True)
class ScoreLine:
    """One rater's scores against the reference's, without intervals."""

    column: str
    figures: Mapping[str, Figure]


def scores_of(store: Store, run_id: int, sheet: Sheet) -> Scores:
    """The scores of everybody in the whole sheet of a run, from their own answers."""
    run = store.runs.get(run_id)
    items = resolved_items(store, run.dataset_version_id, sheet.items)
    rubric = scored_rubric(store, run)
    scorer = Scorer(Rated(items, rubric_lookup(rubric, items), (), (), {}, {}))
    names = dict.fromkeys(name for one in sheet.criteria for name in one.columns if name != PEOPLE)
    answers = {name: _answers(sheet, name, items) for name in names}
    return Scores(
        {item.id: at for at, item in enumerate(items)},
        {name: scorer.column(one) for name, one in answers.items()},
        {name: scorer.away(one) for name, one in answers.items()},
    )


def _answers(sheet: Sheet, column: str, items: tuple[Item, ...]) -> dict[str, Answers]:
    """What a column answered, as ``core.scoring`` takes it."""
    found: dict[str, dict[str, int | None]] = {}
    for asked in sheet.criteria:
        levels = asked.column(column, len(items)).tolist()
        options = dict(enumerate(asked.options))
        for item, level in zip(items, levels, strict=True):
            if level not in _NOTHING:
                found.setdefault(item.id, {})[asked.source] = options.get(level)
    return dict(found)


def score_pair(
    scores: Scores,
    sheet: Sheet,
    reference: str,
    rater: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> ScorePair:
    """The scores of a pair over the sheet's items, with intervals."""
    pairs = _pairs(scores, sheet, reference, rater)
    times = pairs.times()
    n = int(times.sum())
    found = metrics.figures(pairs, times)
    ci = score_intervals(pairs, Draws(len(sheet.items), resamples, seed) if n else None)
    figures = {}
    for name, one in found.items():
        low, high, _, why = ci.get(name, (None, None, "", ""))
        figures[name] = Estimate(one.value, low, high, one.reason or why, n)
    points = zip(pairs.reference.tolist(), pairs.rated.tolist(), times.tolist(), strict=True)
    gone = int((scores.abstained(sheet, reference, rater) & (pairs.of_item >= 0)).sum())
    return ScorePair(n, gone, tuple((x, y, int(count)) for x, y, count in points), figures)


def score_lines(scores: Scores, sheet: Sheet, reference: str) -> list[ScoreLine]:
    """Every rater's scores against the reference's."""
    found = []
    for rater in sheet.raters(reference):
        if rater != PEOPLE:
            pairs = _pairs(scores, sheet, reference, rater)
            found.append(ScoreLine(rater, metrics.figures(pairs, pairs.times())))
    return found


def _pairs(scores: Scores, sheet: Sheet, reference: str, rater: str) -> Pairs:
    true, given = scores.of(sheet, reference, rater), scores.of(sheet, rater, reference)
    return pair_up(true.values, given.values, true.known & given.known)

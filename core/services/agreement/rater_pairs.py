"""Two raters compared: their agreement by criterion, and the direction in which one is biased."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from core.domain.rubric import MET, Scale
from core.metrics.agreement.accuracy import LEVEL
from core.metrics.agreement.kappa import Weights, pair_cells
from core.metrics.agreement.known_figures import KNOWN, group_measures
from core.metrics.agreement.ratings import patterns
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.measure import Array, weight_sums
from core.services.agreement.group_figures import NO_ORDER, Draws, group_intervals
from core.services.agreement.pair_figures import LevelPair
from core.services.agreement.rating_sheet import FEW, Sheet, levels_of_sides
from core.services.agreement.ratings import ABSTAINED, FAILED, TIED, CriterionRatings, Levels

# Which way a rater leans, named by the option and never by the sign of a level.
#
# A level is a place in a list: in a binary criterion MET comes first, so a rater who always says
# MET has a *negative* bias in levels. ``metrics --json`` keeps that number, by its contract; texts
# for people name the option that the rater gives more often.


def positive_level(labels: Sequence[str]) -> int:
    """Return the index of a binary criterion's positive level: MET if there, else the first.

    >>> positive_level(["UNMET", "met"]), positive_level(["a", "b"])
    (1, 0)
    """
    folded = [label.casefold() for label in labels]
    return folded.index(MET.casefold()) if MET.casefold() in folded else 0


def bias_direction(
    name: str, scale: Scale, labels: Sequence[str], bias: Estimate
) -> tuple[str, str, Estimate] | None:
    """Return the direction of a bias in words, its unit, and its size.

    The interval of a negative bias is negated, too. Its lower end may still be negative: it then
    lies in the other direction. ``None`` for undefined figures and those without a direction.

    >>> bias_direction("bias_levels", "binary", ["MET", "UNMET"], Estimate(-0.5))[:2]
    ('says MET more often', 'as a share of the items')
    >>> levels, bias = ["low", "mid", "high"], Estimate(0.5, -0.1, 0.9)
    >>> bias_direction("bias_levels", "ordinal", levels, bias)[:2]
    ('leans towards high', 'in options')
    """
    value, low, high = bias[:3]
    units, binary = KNOWN[name].lean, scale == "binary"
    if units is None or value is None:
        return None
    unit = units[binary]
    if not value:
        level = positive_level(labels) if binary else len(labels) - 1
        text = f"says {labels[level]} as often" if binary else "leans neither way"
    else:
        level = 0 if value < 0 else len(labels) - 1
        text = f"says {labels[level]} more often" if binary else f"leans towards {labels[level]}"
    if level == 0 and low is not None and high is not None:
        low, high = 0.0 - high, 0.0 - low
    return text, unit, bias._replace(value=abs(value), low=low, high=high)


RESAMPLES, SEED = 1000, 0

#: The figures shown first for a scale; others are shown on demand.
FIRST: dict[Scale, tuple[str, ...]] = {
    "binary": (
        "accuracy",
        "cohen_kappa",
        "gwet_ac1",
        "krippendorff_alpha_nominal",
        "f1_macro",
        "false_positive_rate",
        "false_negative_rate",
    ),
    "ordinal": (
        "accuracy",
        "adjacent_accuracy",
        "kappa_quadratic",
        "krippendorff_alpha_ordinal",
        "gwet_ac2_quadratic",
        "spearman",
        "mae_levels",
        "bias_levels",
    ),
    "nominal": (
        "accuracy",
        "cohen_kappa",
        "gwet_ac1",
        "krippendorff_alpha_nominal",
        "f1_macro",
        "precision_macro",
        "recall_macro",
    ),
}


@dataclass(frozen=True)
class PairLine:
    """A criterion's figures for a rater against a reference.

    Both answered ``n`` items. On ``abstained`` items only the reference answered and the rater
    abstained; on ``unassessed`` items the reference says that the item cannot be assessed; on
    ``tied`` ones a side is a tied majority. ``commonest`` is the accuracy of always giving the
    reference's commonest answer on the same ``n`` items.
    """

    name: str
    scale: Scale
    n: int
    abstained: int
    accuracy: Estimate
    commonest: Estimate
    kappa: Estimate
    weights: Weights
    unassessed: int = 0
    tied: int = 0

    @property
    def too_few(self) -> bool:
        """Return whether there are too few items for a conclusion."""
        return 0 < self.n < FEW


class OptionLine(NamedTuple):
    """An option: its counts by reference and rater, and the agreement on it."""

    label: str
    true: int
    given: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True)
class PairDetails:
    """All figures of a pair on a criterion; ``first`` are those that fit the scale best.

    ``n``, ``abstained`` and ``tied`` are as in ``PairLine``. On ``failed`` items the reference
    answered but the rater's calls failed.
    """

    n: int
    abstained: int
    tied: int
    failed: int
    first: tuple[tuple[str, Estimate], ...]
    rest: tuple[tuple[str, Estimate], ...]
    options: tuple[OptionLine, ...]


class CrossedRatings(NamedTuple):
    """Two columns with their table of counts, shape (k, k), and its resamples, (k, k,
    resamples).
    """

    true: Levels
    given: Levels
    table: Array
    drawn: Array

    @property
    def abstained(self) -> int:
        """Return on how many items the rater abstained and the reference answered."""
        return int(((self.true >= 0) & (self.given == ABSTAINED)).sum())

    @property
    def unassessed(self) -> int:
        """Return on how many items the reference abstained and the rater answered."""
        return int(((self.true == ABSTAINED) & (self.given >= 0)).sum())

    @property
    def n(self) -> int:
        """Return the number of items that both answered."""
        return int(self.table.sum())

    @property
    def tied(self) -> int:
        """Return the number of items that one side answered and on which the other is a tied
        majority.
        """
        reference_levels, rated = self.true, self.given
        return int(
            (
                ((reference_levels == TIED) & (rated >= 0))
                | ((rated == TIED) & (reference_levels >= 0))
            ).sum()
        )

    @property
    def failed(self) -> int:
        """Return on how many items the rater's calls failed and the reference answered."""
        return int(((self.true >= 0) & (self.given == FAILED)).sum())


def paired_columns(
    sheet: Sheet, ratings: CriterionRatings, reference: str, rater: str, draws: Draws
) -> CrossedRatings:
    """Return both columns of a criterion with their counts, made once for all figures."""
    reference_levels, rated = levels_of_sides(sheet, ratings, reference, rater)
    distinct = patterns(np.column_stack([reference_levels, rated]))
    k = len(ratings.labels)
    cells = pair_cells(distinct.rows[:, 0], distinct.rows[:, 1], k)
    table = weight_sums(cells, k * k, distinct.times[:, None].astype(np.float64)).reshape(k, k)
    drawn = draws.sums(distinct.of_item, distinct.times).tally(cells, k * k).reshape(k, k, -1)
    return CrossedRatings(reference_levels, rated, table, drawn)


def compare_pair(
    sheet: Sheet,
    reference: str,
    rater: str,
    *,
    confidence: Confidence = USUAL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[PairLine]:
    """Return a line per criterion; intervals come from ``resamples`` resamples of items."""
    draws = Draws(len(sheet.items), resamples, seed)
    return [
        _pair_line(ratings, paired_columns(sheet, ratings, reference, rater, draws), confidence)
        for ratings in sheet.criteria
    ]


def _pair_figures(
    ratings: CriterionRatings,
    crossed: CrossedRatings,
    confidence: Confidence,
    only: Collection[str] = (),
) -> dict[str, Estimate]:
    is_reversed = positive_level(ratings.labels)
    pair = LevelPair(
        crossed.table,
        ordered=ratings.ordered,
        positive=is_reversed,
        confidence=confidence,
        only=only,
    )
    return pair.estimates(crossed.drawn)


def _pair_line(
    ratings: CriterionRatings, crossed: CrossedRatings, confidence: Confidence
) -> PairLine:
    figures = _pair_figures(
        ratings, crossed, confidence, only=("accuracy", "majority_share", ratings.kappa)
    )
    return PairLine(
        name=ratings.name,
        scale=ratings.scale,
        n=crossed.n,
        abstained=crossed.abstained,
        accuracy=figures["accuracy"],
        commonest=figures["majority_share"],
        kappa=figures[ratings.kappa],
        weights=ratings.weights,
        unassessed=crossed.unassessed,
        tied=crossed.tied,
    )


def pair_details(
    sheet: Sheet,
    criterion: str,
    reference: str,
    rater: str,
    *,
    confidence: Confidence = USUAL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> PairDetails:
    """Return every figure of a pair on a criterion, with the same intervals as ``compare_pair``."""
    ratings = sheet.criterion(criterion)
    crossed = paired_columns(
        sheet, ratings, reference, rater, Draws(len(sheet.items), resamples, seed)
    )
    figures = _pair_figures(ratings, crossed, confidence)
    shown = {name: figure for name, figure in figures.items() if "." not in name}
    shown |= _group_figures_of_two(crossed, ratings, confidence)
    first = FIRST[ratings.scale]
    return PairDetails(
        n=crossed.n,
        abstained=crossed.abstained,
        tied=crossed.tied,
        failed=crossed.failed,
        first=tuple((name, shown[name]) for name in first),
        rest=tuple((name, figure) for name, figure in shown.items() if name not in first),
        options=tuple(_option_lines(crossed.table, ratings.labels, figures)),
    )


def _option_lines(
    table: Array, labels: Sequence[str], figures: Mapping[str, Estimate]
) -> list[OptionLine]:
    return [
        OptionLine(
            label,
            int(table[index].sum()),
            int(table[:, index].sum()),
            *(figures[f"{index}.{name}"] for name in LEVEL),
        )
        for index, label in enumerate(labels)
    ]


def _group_figures_of_two(
    crossed: CrossedRatings, ratings: CriterionRatings, confidence: Confidence
) -> dict[str, Estimate]:
    """Return the group coefficients of the pair as a group of two."""
    k = len(crossed.table)
    rows, times = np.array(list(product(range(k), repeat=2))), crossed.table.ravel()
    measures = group_measures()
    values = {}
    for name in (ratings.alpha, "gwet_ac1", "gwet_ac2_quadratic"):
        if KNOWN[name].ordered and not ratings.ordered:
            values[name] = Estimate.undefined(NO_ORDER, int(times.sum()))
        else:
            values[name] = measures[name](rows, k, times)
    defined = [name for name, figure in values.items() if figure.value is not None]
    ci = group_intervals(defined, rows, times, crossed.drawn.reshape(k * k, -1), k, confidence)
    return {name: figure.with_interval(ci.get(name)) for name, figure in values.items()}

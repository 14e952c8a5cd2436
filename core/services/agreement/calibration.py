"""Raters who say how sure they are, and whether they are right as often as that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.metrics.calibration import Calibration, calibration, sure_answers
from core.metrics.estimate import Estimate, Interval
from core.metrics.measure import Array
from core.services.agreement.group_figures import Draws, rendered
from core.services.agreement.load_ratings import sure_votes
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, sides
from core.services.agreement.ratings import CriterionRatings, Levels, SureVote
from core.store.store import Store


class RaterCalibration(NamedTuple):
    """One rater on one criterion. ``without`` counts its answers with a reference that do not say
    how sure they are.
    """

    column: str
    found: Calibration
    without: int

    @property
    def n(self) -> int:
        """How many answers with a reference say how sure they are."""
        return self.found.right.n


class Sureness(NamedTuple):
    """How sure a rater is, item by item, NaN where nothing says so; ``chances`` of each level."""

    sure: Array
    chances: Array


def of_run(
    store: Store,
    run_id: int,
    sheet: Sheet,
    criterion: str,
    reference: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[RaterCalibration]:
    """Every rater of a run's sheet who says how sure it is, against a reference."""
    asked = sheet.criterion(criterion)
    votes = sure_votes(store, run_id, asked.source)
    found = sureness(asked, sheet.items, votes)
    draws = Draws(len(sheet.items), resamples, seed)
    return [
        against(column, *sides(sheet, asked, reference, column), told, draws)
        for column, told in found.items()
        if column != reference
    ]


def sureness(
    asked: CriterionRatings, items: Iterable[str], votes: Sequence[SureVote]
) -> dict[str, Sureness]:
    """By column what its answers say of how sure they are; raters who never say are left out.

    It is the confidence stated, else the chance of the option chosen.
    """
    place = {item: at for at, item in enumerate(items)}
    columns = dict(zip(asked.raters, asked.columns, strict=False))
    found: dict[str, Sureness] = {}
    for vote in votes:
        column, at = columns.get(vote.rater), place.get(vote.item)
        if vote.criterion != asked.source or column is None or at is None:
            continue
        level = int(asked.columns[column][at])
        if level < 0:
            continue
        if column not in found:
            found[column] = _nothing_said(len(place), len(asked.options))
        _note(found[column], at, level, asked.options, vote)
    return found


def _nothing_said(items: int, levels: int) -> Sureness:
    return Sureness(np.full(items, np.nan), np.full((items, levels), np.nan))


def _note(told: Sureness, at: int, level: int, options: tuple[int, ...], vote: SureVote) -> None:
    sure = vote.confidence
    # An item's own rubric may ask something else under the same name.
    if vote.chances is not None and max(options) < len(vote.chances):
        along = [vote.chances[option] for option in options]
        sure = along[level] if sure is None else sure
        if sum(along) > 0:
            told.chances[at] = along
    told.sure[at] = np.nan if sure is None else sure


def against(
    column: str, truth: Levels, rated: Levels, told: Sureness, draws: Draws | None
) -> RaterCalibration:
    """How well one rater's being sure tells its being right."""
    answers = sure_answers(told.sure, told.chances, rated, truth)
    without = int(((rated >= 0) & (truth >= 0) & np.isnan(told.sure)).sum())
    drawn = None
    if draws is not None and len(answers.times):
        # Items without such an answer are drawn, too, and then count for nothing.
        kinds, out = len(answers.times), int((answers.of_item < 0).sum())
        of_item = np.where(answers.of_item < 0, kinds, answers.of_item)
        times = np.append(answers.times, out)[: kinds + (out > 0)]
        drawn = draws.of(of_item, times)[:kinds]
    return RaterCalibration(column, calibration(answers, drawn), without)


def as_data(one: RaterCalibration, reference: str, *, drawn: bool) -> dict[str, Any]:
    """The key ``calibration`` of a rater in ``metrics --json``; intervals only where ``drawn``."""
    nothing, sure = Estimate.undefined(one.found.ece.reason, one.n), one.found.sure
    figures = {
        "ece": one.found.ece,
        "brier": one.found.brier,
        "accuracy": one.found.right if one.n else nothing,
        "confidence": nothing if sure is None else Estimate.defined(sure, one.n),
    }
    ci: Mapping[str, Interval] = {}
    if drawn:
        ci = {
            name: Interval(figure.low, figure.high, "percentile", figure.reason)
            for name, figure in figures.items()
            if name != "confidence"
        }
    return {
        "reference": reference,
        "n": one.n,
        "without": one.without,
        **rendered(figures, ci),
        **({} if one.found.by_chance is None else {"ece_by_chance": one.found.by_chance}),
        "bins": [
            {
                "from": b.low,
                "to": b.high,
                "n": b.right.n,
                "confidence": b.sure,
                "accuracy": b.right.value,
                "ci": None if b.right.low is None else [b.right.low, b.right.high],
            }
            for b in one.found.bins
        ],
    }

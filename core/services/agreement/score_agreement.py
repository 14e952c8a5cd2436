"""Agreement of scores: the item scores by each rater's answers, against people and labels.

A single function scores all raters under the rubric's own policy, so that a perfect judge shows no
bias. An item counts for a rater with a verdict on each of its criteria: an answer, or "cannot
assess", which the rubric's policy scores. A missing or failed vote excludes the item, and so does
an answer that covers less than the rubric's ``min_coverage``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Rubric
from core.metrics.agreement import scores as metrics
from core.metrics.agreement.ratings import Means, patterns
from core.metrics.agreement.scores import Pairs, pair_up
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.measure import Array, ratio_or_nan
from core.scoring import Texts, score_item
from core.scoring.points import parts_of
from core.scoring.score import EPSILON
from core.services.agreement.group_figures import Draws, score_figures, score_intervals
from core.services.agreement.load_ratings import items_of
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import FEW, Sheet
from core.services.agreement.ratings import (
    ABSTAINED,
    LABELS,
    OWN_LABELS,
    PANEL,
    PEOPLE,
    REVIEWED,
    SETTLED,
    Levels,
    Options,
    Rated,
    RatedItems,
    answers_at,
    merge_answers,
    options_of,
)
from core.store.store import Store

Answers = Mapping[str, int | None]


def score_report(rated: Rated, reference: str | None, draws: Draws | None) -> dict[str, Any]:
    """Return the report's key ``score``: raters and panel, each with ``vs_human_mean`` and
    ``vs_gold``.

    People are compared with the mean of the other people, reviewers with the labels from before the
    review.
    """
    scorer = Scorer(rated.of)
    columns = [scorer.column(rated.given[rater]) for rater in rated.raters]
    humans = [i for i, rater in enumerate(rated.raters) if rater.kind == "human"]
    versus = _Versus(columns, humans, scorer.column(rated.labelled), reference, draws)
    if any(rater.kind == REVIEWED for rater in rated.raters):
        versus.own_gold = scorer.column(options_of(rated, OWN_LABELS))
        versus.reviewers = [i for i, r in enumerate(rated.raters) if r.kind == REVIEWED]
    names = [rater.name for rater in rated.raters]
    versus.of_people = any(rater.kind == "human" for rater in rated.members)
    versus.of_reference = columns[names.index(reference)] if reference in names else None
    raters = {
        name if names.count(name) == 1 else f"{name} ({rater.kind})": versus.column(index)
        for index, (name, rater) in enumerate(zip(names, rated.raters, strict=True))
        if name != reference
    }
    return {"raters": raters, "panel": versus.of(scorer.column(options_of(rated, PANEL)), None)}


class _Versus:
    """Compares columns of scores with the requested references."""

    def __init__(
        self,
        columns: list[Means],
        humans: list[int],
        gold: Means,
        reference: str | None,
        draws: Draws | None,
    ) -> None:
        self._columns, self._humans, self._gold = columns, humans, gold
        self._reference, self._draws = reference, draws
        self.of_reference: Means | None = None
        self.of_people = False
        self.own_gold = gold
        self.reviewers: list[int] = []

    def column(self, index: int) -> dict[str, Any]:
        """Return a rater's figures."""
        return self.of(self._columns[index], index)

    def of(self, scored: Means, index: int | None) -> dict[str, Any]:
        """Return a column's figures; ``index`` is the rater to leave out of the people's mean.

        Without an index the column is the panel; a panel of people is not compared with people.
        """
        figures = {}
        if self._reference in (None, "human"):
            humans = [] if index is None and self.of_people else self._humans
            people = [self._columns[h] for h in humans if h != index]
            figures["vs_human_mean"] = self._pair(
                _mean_of_people(people, len(scored.known)), scored
            )
        if self._reference in (None, "gold"):
            reviewed = index in self.reviewers
            figures["vs_gold"] = self._pair(self.own_gold if reviewed else self._gold, scored)
        if self.of_reference is not None:
            figures["vs_reference"] = self._pair(self.of_reference, scored)
        return figures

    def _pair(self, reference: Means, scored: Means) -> dict[str, Any]:
        pairs = pair_up(reference.values, scored.values, reference.known & scored.known)
        return score_figures(pairs, self._draws)


def _mean_of_people(people: list[Means], items: int) -> Means:
    if not people:
        return Means(np.zeros(items), np.zeros(items, bool))
    scored = np.array([person.known for person in people])
    total = np.array([person.values for person in people]).sum(axis=0)
    return Means(
        total / np.maximum(scored.sum(axis=0), 1), np.asarray(scored.any(axis=0), np.bool_)
    )


class Scorer:
    """Scores answers to items; equal answers under the same rubric are scored once."""

    def __init__(self, items: RatedItems) -> None:
        self._items = items
        # If length counts, or rubrics differ, every item is scored separately.
        penalised = items.rubric.scoring.length_penalty is not None
        scored_alone = [penalised or item_id in items.own for item_id in items.ids]
        self._alone = np.flatnonzero(scored_alone)
        self._alike = np.flatnonzero(~np.array(scored_alone, np.bool_))

    def column(self, options: Options) -> Means:
        """Return every item's score, and which items have a score."""
        scores_of_items = np.full(len(self._items.ids), np.nan)
        criteria = [c.name for c in self._items.rubric.criteria]
        if len(self._alike) and all(name in options for name in criteria):
            distinct = patterns(np.column_stack([options[name][self._alike] for name in criteria]))
            scores = _scores_of(self._items.rubric, distinct.rows)
            scores_of_items[self._alike] = scores[distinct.of_item]
        for at in self._alone:
            scores_of_items[at] = self._score_alone(options, int(at))
        return Means(np.nan_to_num(scores_of_items), ~np.isnan(scores_of_items))

    def cannot_assess(self, options: Options) -> npt.NDArray[np.bool_]:
        """Return which items have an answer of the column that a criterion cannot be assessed."""
        not_applicable = np.zeros(len(self._items.ids), np.bool_)
        has_own_rubric = np.array(
            [item_id in self._items.own for item_id in self._items.ids], np.bool_
        )
        for criterion in self._items.rubric.criteria:
            if criterion.name in options:
                column = options[criterion.name]
                na = [index for index, option in enumerate(criterion.choices) if option.na]
                not_applicable |= ~has_own_rubric & np.isin(column, [ABSTAINED, *na])
        for index in np.flatnonzero(has_own_rubric):
            answers = answers_at(options, int(index))
            criteria = self._items.own[self._items.ids[index]].criteria
            not_applicable[index] = any(
                (o := answers[c.name]) is None or c.choices[o].na
                for c in criteria
                if c.name in answers
            )
        return not_applicable

    def _score_alone(self, options: Options, at: int) -> float:
        rubric = self._items.rubric_of(self._items.ids[at])
        texts = None
        if rubric.scoring.length_penalty is not None:
            item = self._items.items_with_texts[at]
            texts = Texts(output=item.output, thinking=item.thinking)
        return _score_of_answers(rubric, answers_at(options, at), texts)


def _score_of_answers(rubric: Rubric, answers: Answers, texts: Texts | None = None) -> float:
    """Return the score; NaN if a criterion has no answer or the item no score."""
    if any(criterion.name not in answers for criterion in rubric.criteria):
        return np.nan
    score = score_item(rubric, answers, texts=texts).score
    return np.nan if score is None else score


#: Plain sums of at least this many distinct answers are scored by columns.
MANY = 200


def _scores_of(rubric: Rubric, rows: Levels) -> Array:
    """Return the score of each row of answers to all criteria; NaN without a score."""
    if len(rows) >= MANY and not (rubric.gates or rubric.prechecks):
        return summed_scores(rubric, rows)
    columns = dict(zip((c.name for c in rubric.criteria), rows.T, strict=True))
    return np.array(
        [_score_of_answers(rubric, answers_at(columns, index)) for index in range(len(rows))]
    )


def summed_scores(rubric: Rubric, rows: Levels) -> Array:
    """Return ``score_item`` for each row, for a rubric without gates, pre-checks and penalty."""
    complete = ((rows >= 0) | (rows == ABSTAINED)).all(axis=1)
    raw, plus, minus, counts, covered = np.zeros((5, len(rows)))
    # As in ``core.scoring.trace.assessed_of``: without any weights all criteria count equally.
    unweighted = not any(criterion.weight for criterion in rubric.criteria)
    for index, criterion in enumerate(rubric.criteria):
        one_criterion = rubric.model_copy(update={"criteria": (criterion,)})
        # The last part belongs to an abstention.
        parts = [
            parts_of(one_criterion, {criterion.name: option})[0]
            for option in (*range(len(criterion.choices)), None)
        ]
        counted = np.array([part.counted for part in parts], np.float64)
        points = np.array([part.points for part in parts]) * counted
        assessed = np.array([part.value is not None for part in parts], np.float64)
        place = np.where(rows[:, index] >= 0, rows[:, index], len(parts) - 1)
        raw, counts = raw + points[place], counts + counted[place]
        covered += (1.0 if unweighted else abs(criterion.weight)) * assessed[place]
        if criterion.weight > 0:
            plus += criterion.weight * counted[place]
        else:
            minus -= criterion.weight * counted[place]
    score = raw
    if rubric.scoring.normalize:
        unit = np.where(
            plus > 0,
            ratio_or_nan(raw, plus),
            np.where(minus > 0, 1 + ratio_or_nan(raw, minus), 0.0),
        )
        score = np.clip(unit, 0.0, 1.0)
    total_weight = (
        len(rubric.criteria) if unweighted else fsum(abs(c.weight) for c in rubric.criteria)
    )
    graded = covered / total_weight >= rubric.scoring.min_coverage - EPSILON
    return np.where(complete & graded & (counts > 0), score, np.nan)


@dataclass(frozen=True)
class RaterScores:
    """The score of every item by column; ``place`` has an item's row in the arrays.

    ``away`` marks, by column, the items with a criterion that could not be assessed.
    """

    place: Mapping[str, int]
    columns: Mapping[str, Means]
    away: Mapping[str, npt.NDArray[np.bool_]]

    def of(self, sheet: Sheet, column: str, other_column: str) -> Means:
        """Return a column's scores of the sheet's items; the mean for ``PEOPLE``. A group that
        includes ``other_column`` is the mean of its other members; for a reviewer, labels are those
        from before the review.
        """
        rows = np.array([self.place[item] for item in sheet.items], np.int64)
        members = sheet.other_columns(column, other_column)
        if column == LABELS and other_column in sheet.reviewers:
            column = OWN_LABELS
        if column != PEOPLE and members is None:
            scores = self.columns[column]
            return Means(scores.values[rows], scores.known[rows])
        people = [self.columns[name] for name in (sheet.people if members is None else members)]
        if not people:
            return Means(np.zeros(len(rows)), np.zeros(len(rows), np.bool_))
        scored = np.array([person.known[rows] for person in people])
        total = np.array([p.values[rows] * p.known[rows] for p in people]).sum(axis=0)
        number = scored.sum(axis=0)
        return Means(total / np.maximum(number, 1), number > 0)

    def abstained(self, sheet: Sheet, *sides: str) -> npt.NDArray[np.bool_]:
        """Return which of the sheet's items have a criterion that one of these columns could not
        assess.
        """
        rows = np.array([self.place[item] for item in sheet.items], np.int64)
        abstains = np.zeros(len(rows), np.bool_)
        for name in sides:
            for column in sheet.people if name == PEOPLE else (name,):
                abstains |= self.away[column][rows]
        return abstains


@dataclass(frozen=True)
class ScorePair:
    """A rater's scores against a reference's, over the ``n`` items that both scored.

    On ``abstained`` of these items one of the two could not assess some criterion.

    ``points`` are distinct pairs (reference, rated, items); ``figures`` those of
    ``core.metrics.agreement.scores``: bias is rated minus reference, ``limit_low`` and
    ``limit_high`` are the limits of agreement (Bland and Altman 1986).
    """

    n: int
    abstained: int
    points: tuple[tuple[float, float, int], ...]
    figures: Mapping[str, Estimate]

    @property
    def too_few(self) -> bool:
        """Return whether there are too few items for a conclusion."""
        return 0 < self.n < FEW


def scores_of(store: Store, run_id: int, sheet: Sheet) -> RaterScores:
    """Return the scores of all columns in the whole sheet of a run, by each rater's own answers."""
    items = items_of(store, store.runs.get(run_id), sheet.items)
    scorer = Scorer(items)
    names = dict.fromkeys(
        name
        for column in sheet.criteria
        for name in column.columns
        if name not in (PEOPLE, SETTLED)
    )
    options = {name: _column_answers(sheet, name) for name in names}
    return RaterScores(
        items.place,
        {name: scorer.column(answers) for name, answers in options.items()},
        {name: scorer.cannot_assess(answers) for name, answers in options.items()},
    )


def _column_answers(sheet: Sheet, column: str) -> dict[str, Levels]:
    """Return a column's answers, by criterion."""
    levels: dict[str, Levels] = {}
    for criterion in sheet.criteria:
        merge_answers(levels, criterion, column, len(sheet.items))
    return levels


def score_pair(
    scores: RaterScores,
    sheet: Sheet,
    reference: str,
    rater: str,
    *,
    confidence: Confidence = USUAL,
) -> ScorePair:
    """Return the scores of a pair over the sheet's items, with intervals."""
    pairs = _score_pairs(scores, sheet, reference, rater)
    times = pairs.times()
    n = int(times.sum())
    figures_of = metrics.figures(pairs, times)
    ci = score_intervals(pairs, Draws(len(sheet.items), RESAMPLES, SEED, confidence) if n else None)
    figures = {name: figure.with_interval(ci.get(name)) for name, figure in figures_of.items()}
    points = zip(pairs.reference.tolist(), pairs.rated.tolist(), times.tolist(), strict=True)
    abstained = int((scores.abstained(sheet, reference, rater) & (pairs.of_item >= 0)).sum())
    return ScorePair(n, abstained, tuple((x, y, int(count)) for x, y, count in points), figures)


def score_lines(
    scores: RaterScores, sheet: Sheet, reference: str
) -> dict[str, Mapping[str, Estimate]]:
    """Return the figures of every rater's scores against the reference's, without intervals."""
    lines = dict[str, Mapping[str, Estimate]]()
    for rater in sheet.raters(reference):
        if rater != PEOPLE:
            pairs = _score_pairs(scores, sheet, reference, rater)
            lines[rater] = metrics.figures(pairs, pairs.times())
    return lines


def _score_pairs(scores: RaterScores, sheet: Sheet, reference: str, rater: str) -> Pairs:
    reference_levels, rated = scores.of(sheet, reference, rater), scores.of(sheet, rater, reference)
    return pair_up(reference_levels.values, rated.values, reference_levels.known & rated.known)

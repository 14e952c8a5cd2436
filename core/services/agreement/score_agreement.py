"""Agreement of scores: what each rater's answers give an item, against people and labels.

One function scores everybody under the rubric's own policy, so that a perfect judge shows no
bias. An item counts for a rater who gave a verdict on every criterion of it: an answer, or
"cannot assess", which the rubric's policy scores. A missing or failed vote leaves the item out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.metrics.agreement import scores as metrics
from core.metrics.agreement.ratings import Means
from core.metrics.agreement.scores import Pairs, pair_up
from core.metrics.estimate import Estimate
from core.scoring import Texts, score_item
from core.services.agreement.group_figures import Draws, score_figures, score_intervals
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import FEW, Sheet
from core.services.agreement.ratings import FAILED, NOT_ASKED, PEOPLE, TIED, Rated, panel_answers
from core.services.results.scored_items import resolved_items, scored_rubric
from core.services.results.verdicts import rubric_lookup
from core.store.store import Store

Answers = Mapping[str, int | None]


def score_report(rated: Rated, reference: str | None, draws: Draws | None) -> dict[str, Any]:
    """``score`` of the contract: raters and panel, each ``vs_human_mean`` and ``vs_gold``.

    People are compared with the mean of the other people.
    """
    scorer = Scorer(rated)
    columns = [scorer.column(rated.answers[rater]) for rater in rated.raters]
    humans = [i for i, rater in enumerate(rated.raters) if rater.kind == "human"]
    gold = scorer.column(scorer.labels())
    versus = _Versus(columns, humans, gold, reference, draws)
    names = [rater.name for rater in rated.raters]
    versus.of_reference = columns[names.index(reference)] if reference in names else None
    raters = {
        name if names.count(name) == 1 else f"{name} ({rater.kind})": versus.column(index)
        for index, (name, rater) in enumerate(zip(names, rated.raters, strict=True))
        if name != reference
    }
    return {"raters": raters, "panel": versus.of(scorer.column(panel_answers(rated)), None)}


class _Versus:
    """Compares columns of scores with the references that were asked for."""

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

    def column(self, index: int) -> dict[str, Any]:
        """One rater's figures."""
        return self.of(self._columns[index], index)

    def of(self, scored: Means, index: int | None) -> dict[str, Any]:
        """The figures of a column; ``index`` is the rater to leave out of the people's mean."""
        found = {}
        if self._reference in (None, "human"):
            people = [self._columns[h] for h in self._humans if h != index]
            found["vs_human_mean"] = self._pair(_mean(people, len(scored.known)), scored)
        if self._reference in (None, "gold"):
            found["vs_gold"] = self._pair(self._gold, scored)
        if self.of_reference is not None:
            found["vs_reference"] = self._pair(self.of_reference, scored)
        return found

    def _pair(self, reference: Means, scored: Means) -> dict[str, Any]:
        pairs = pair_up(reference.values, scored.values, reference.known & scored.known)
        return score_figures(pairs, self._draws)


def _mean(people: list[Means], items: int) -> Means:
    if not people:
        return Means(np.zeros(items), np.zeros(items, bool))
    known = np.array([one.known for one in people])
    total = np.array([one.values for one in people]).sum(axis=0)
    return Means(total / np.maximum(known.sum(axis=0), 1), np.asarray(known.any(axis=0), np.bool_))


class Scorer:
    """Scores answers to items; equal answers under one rubric are scored once."""

    def __init__(self, rated: Rated) -> None:
        self._rated = rated
        self._known: dict[tuple[int, str, tuple[int | None, ...]], float | None] = {}

    def column(self, answers: Mapping[str, Answers]) -> Means:
        """The score of every item, and for which items there is one."""
        found = [
            self._score(item, given) if (given := answers.get(item.id)) else None
            for item in self._rated.items
        ]
        return Means(
            np.array([0.0 if s is None else s for s in found]),
            np.array([s is not None for s in found], dtype=bool),
        )

    def away(self, answers: Mapping[str, Answers]) -> npt.NDArray[np.bool_]:
        """On which items it could not assess something."""
        return np.array([self._away(item, answers.get(item.id, {})) for item in self._rated.items])

    def _away(self, item: Item, given: Answers) -> bool:
        asked = (c for c in self._rated.rubric_of(item.id).criteria if c.name in given)
        return any((at := given[c.name]) is None or c.choices[at].na for c in asked)

    def labels(self) -> dict[str, Answers]:
        """The items' labels as answers."""
        return {
            item.id: {
                c.name: item.truth(c)
                for c in self._rated.rubric_of(item.id).criteria
                if c.name in item.labels
            }
            for item in self._rated.items
        }

    def _score(self, item: Item, given: Answers) -> float | None:
        rubric = self._rated.rubric_of(item.id)
        if any(c.name not in given for c in rubric.criteria):
            return None
        penalised = rubric.scoring.length_penalty is not None
        answers = tuple(given[c.name] for c in rubric.criteria)
        key = (id(rubric), item.id if penalised else "", answers)
        if key not in self._known:
            texts = Texts(output=item.output, thinking=item.thinking) if penalised else None
            self._known[key] = _scored(rubric, given, texts)
        return self._known[key]


def _scored(rubric: Rubric, given: Answers, texts: Texts | None) -> float | None:
    return score_item(rubric, given, texts=texts).score


#: Codes of cells that no answer came from: asked in vain, never, or judges who tie.
_NOTHING = (NOT_ASKED, FAILED, TIED)


@dataclass(frozen=True)
class RaterScores:
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
    ``core.metrics.agreement.scores``: bias is rated minus reference, ``limit_low`` and
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
    figures: Mapping[str, Estimate]


def scores_of(store: Store, run_id: int, sheet: Sheet) -> RaterScores:
    """The scores of everybody in the whole sheet of a run, from their own answers."""
    run = store.runs.get(run_id)
    items = resolved_items(store, run.dataset_version_id, sheet.items)
    rubric = scored_rubric(store, run)
    scorer = Scorer(Rated(items, rubric_lookup(rubric, items), (), (), {}))
    names = dict.fromkeys(name for one in sheet.criteria for name in one.columns if name != PEOPLE)
    answers = {name: _answers(sheet, name, items) for name in names}
    return RaterScores(
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
    scores: RaterScores,
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
    figures = {name: one.within(ci.get(name)) for name, one in found.items()}
    points = zip(pairs.reference.tolist(), pairs.rated.tolist(), times.tolist(), strict=True)
    gone = int((scores.abstained(sheet, reference, rater) & (pairs.of_item >= 0)).sum())
    return ScorePair(n, gone, tuple((x, y, int(count)) for x, y, count in points), figures)


def score_lines(scores: RaterScores, sheet: Sheet, reference: str) -> list[ScoreLine]:
    """Every rater's scores against the reference's."""
    found = []
    for rater in sheet.raters(reference):
        if rater != PEOPLE:
            pairs = _pairs(scores, sheet, reference, rater)
            found.append(ScoreLine(rater, metrics.figures(pairs, pairs.times())))
    return found


def _pairs(scores: RaterScores, sheet: Sheet, reference: str, rater: str) -> Pairs:
    true, given = scores.of(sheet, reference, rater), scores.of(sheet, rater, reference)
    return pair_up(true.values, given.values, true.known & given.known)

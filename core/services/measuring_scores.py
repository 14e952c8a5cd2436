"""Score-level agreement: the score each rater's answers give an item, against people and labels.

One function scores everybody under the rubric's own policy, so that a perfect judge shows no bias.
An item counts for a rater who gave a verdict on every criterion of it: an answer, or "cannot
assess", which the rubric's policy scores. A missing or failed vote leaves the item out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.domain.rubric import Rubric
from core.metrics.ratings import Means
from core.metrics.scores import pair_up
from core.scoring import Texts, score_item
from core.services.measuring_figures import Draws, score_figures
from core.services.rated_matrix import Rated, panel_answers

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

"""A trained judge of one criterion: encoded answers in, predictions with reasons out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.judging.offline.calibration import probabilities
from core.judging.offline.corpus import Floats, texts_of
from core.judging.offline.encoding import Encoded, Encoder, Nearness
from core.judging.offline.explain import Explainer
from core.judging.offline.methods import Dual, FittedMethod, Method, Neighbourhood
from core.judging.offline.report import Prediction, TrainingReport, percent
from core.judging.offline.words import excerpt

#: Neighbours named in a reason.
NAMED = 3
HELD_OUT = "This item was among the labelled ones, so it was judged without its own label."


class Learnt(NamedTuple):
    """What training found, as numbers. ``out_of_fold``: probabilities (n, k) of the examples."""

    examples: tuple[Item, ...]
    labels: tuple[int, ...]
    encoded: Encoded
    fitted: FittedMethod
    temperature: float
    threshold: float
    out_of_fold: Floats


class Trained:
    """Answers for one criterion. The same items give the same predictions, always.

    Asked about an item it learnt from, it answers with its out-of-fold prediction: a model that
    has seen the label would only repeat it.
    """

    def __init__(
        self,
        criterion: Criterion,
        method: Method,
        encoder: Encoder,
        learnt: Learnt,
        report: TrainingReport,
    ) -> None:
        self.criterion, self.encoder, self.report = criterion, encoder, report
        self._method, self._learnt = method, learnt
        self._place = {(i.id, texts_of(i)): place for place, i in enumerate(learnt.examples)}
        self._explainer: Explainer | None = None
        if isinstance(learnt.fitted, Dual):
            labels = np.array(learnt.labels)
            self._explainer = Explainer(encoder.lexicon, learnt.fitted, learnt.encoded, labels)

    def predict(self, items: Sequence[Item], encoded: Encoded | None = None) -> list[Prediction]:
        """A prediction per item. ``encoded`` spares the encoding where it was done before."""
        if not items:
            return []
        encoded = self.encoder.encode(items) if encoded is None else encoded
        products = self._method.products(Nearness.between(encoded, self._learnt.encoded))
        chances = probabilities(self._learnt.fitted.scores(products), self._learnt.temperature)
        places = [self._place.get((item.id, texts_of(item))) for item in items]
        return [
            self._fresh(encoded.take(i), products[i : i + 1], chances[i])
            if place is None
            else self._held_out(place)
            for i, place in enumerate(places)
        ]

    def _fresh(self, item: Encoded, products: Floats, chances: Floats) -> Prediction:
        best = int(np.argmax(chances))
        if self._explainer is not None:
            reason = self._explainer.reason(item, best, self._label(best))
            return self._prediction(chances, best, reason)
        nearest = self._nearest(products)
        prediction = self._prediction(chances, best, self._neighbours_sentence(nearest))
        ids = tuple(self._learnt.examples[i].id for i, _ in nearest)
        return prediction._replace(neighbours=ids)

    def _held_out(self, place: int) -> Prediction:
        chances = self._learnt.out_of_fold[place]
        best = int(np.argmax(chances))
        return self._prediction(chances, best, HELD_OUT)._replace(held_out=True)

    def _prediction(self, chances: Floats, best: int, reason: str) -> Prediction:
        # Rounded, so that a last digit that differs between machines changes no vote.
        along = [0.0] * len(self.criterion.choices)
        for index, chance in zip(self.criterion.scored, chances, strict=True):
            along[index] = round(float(chance), 6)
        confidence = along[self.criterion.scored[best]]
        abstained = confidence < self._learnt.threshold
        said = f'{percent(confidence)} sure of "{self._label(best)}"'
        if abstained:
            said += f", below the {percent(self._learnt.threshold)} it needs to answer"
        return Prediction(
            tuple(along),
            self.criterion.scored[best],
            abstained,
            confidence,
            f"{said[0].upper()}{said[1:]}. {reason}",
        )

    def _nearest(self, products: Floats) -> list[tuple[int, float]]:
        assert isinstance(self._learnt.fitted, Neighbourhood)
        columns = self._learnt.fitted.nearest(products)[0].tolist()
        return [(i, float(products[0, i])) for i in columns if products[0, i] > 0][:NAMED]

    def _neighbours_sentence(self, nearest: list[tuple[int, float]]) -> str:
        if not nearest:
            return "No labelled answer resembles it; this is how common the labels are."
        told = "; ".join(
            f'{self._learnt.examples[i].id} ("{self._label(self._learnt.labels[i])}", similarity '
            f"{near:.2f}): {excerpt(self._learnt.examples[i].output)}"
            for i, near in nearest
        )
        return f"Nearest labelled answers: {told}"

    def _label(self, scored: int) -> str:
        return self.criterion.choices[self.criterion.scored[scored]].label

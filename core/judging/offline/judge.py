"""The public interface of the offline judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.domain.votes import AskedOutcome, Vote
from core.judging.offline.report import Prediction, TrainingReport
from core.judging.protocol import Question

if TYPE_CHECKING:
    from core.judging.offline.features import Encoded, Encoder
    from core.judging.offline.trained import Trained

#: With fewer distinct labelled answers, no judge was useful in our measurements.
LEAST_LABELS = 10


@dataclass(frozen=True)
class AppliedModel:
    """Predictions for a run's items, by id, from a model trained in another process."""

    criterion: Criterion
    report: TrainingReport
    said: Mapping[str, Prediction]

    def predict(self, items: Sequence[Item]) -> list[Prediction]:
        """Return the predictions for these items, which must belong to the run."""
        return [self.said[item.id] for item in items]


SWITCHED_OFF = "Switched off: "
WHAT_IT_IS = {
    "classifier": "logistic regression on labelled answers",
    "neighbours": "nearest labelled answers",
}


class OfflineJudge:
    """One trained model per criterion; abstains with the reason on criteria without a model.

    This abstention is not a failure: asking again would change nothing (docs/decisions/0003).
    """

    def __init__(
        self, spec: Judge, models: Mapping[str, Trained | AppliedModel | TrainingReport]
    ) -> None:
        self.spec = spec
        self._models = dict(models)
        self._ready = dict[tuple[str, str], tuple[Item, Prediction]]()

    def prepare(self, items: Sequence[Item]) -> None:
        """Predict all items at once, so that ``ask`` only looks predictions up.

        Takes seconds for thousands of items; call it in a worker thread.
        """
        if not items:
            return
        encodings: dict[Encoder, Encoded] = {}
        for name, model in self._models.items():
            if isinstance(model, TrainingReport):
                continue
            if isinstance(model, AppliedModel):
                predictions = model.predict(items)
            else:
                if model.encoder not in encodings:
                    encodings[model.encoder] = model.encoder.encode(items)
                predictions = model.predict(items, encodings[model.encoder])
            for item, prediction in zip(items, predictions, strict=True):
                self._ready[item.id, name] = item, prediction

    async def ask(self, question: Question) -> AskedOutcome:
        """Return a vote on the question's cell, never a failure, without a call, cost or order."""
        model = self._models.get(question.criterion.name)
        if model is None:
            return _abstention(question, "it was not trained on this criterion.")
        if isinstance(model, TrainingReport):
            return _abstention(question, model.reason, model.to_dict())
        if _labels_and_abstentions(model.criterion) != _labels_and_abstentions(question.criterion):
            return _abstention(question, "it was trained on other options of this criterion.")
        ready = self._ready.get((question.item.id, question.criterion.name))
        if ready is not None and (ready[0] is question.item or ready[0] == question.item):
            return self._vote_outcome(question, ready[1])
        predictions = await asyncio.to_thread(model.predict, [question.item])
        return self._vote_outcome(question, predictions[0])

    def reports(self) -> dict[str, dict[str, object]]:
        """Return the result of training as plain data, by criterion."""
        return {
            name: (model if isinstance(model, TrainingReport) else model.report).to_dict()
            for name, model in self._models.items()
        }

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _vote_outcome(self, question: Question, prediction: Prediction) -> AskedOutcome:
        detail: dict[str, object] = {
            "method": WHAT_IT_IS[self.spec.kind],
            "likeliest": question.criterion.choices[prediction.best].label,
        }
        if prediction.neighbours:
            detail["neighbours"] = list(prediction.neighbours)
        if prediction.held_out:
            detail["held_out"] = True
        abstained = prediction.abstained
        vote = Vote(
            cell=question.cell,
            option=question.criterion.na_index if abstained else prediction.best,
            abstained=abstained,
            reason=prediction.reason,
            confidence=prediction.confidence,
            probabilities=prediction.probabilities,
            detail=detail,
        )
        return AskedOutcome((vote,))


def _labels_and_abstentions(criterion: Criterion) -> list[tuple[str, bool]]:
    return [(option.label, option.na) for option in criterion.choices]


def _abstention(
    question: Question, reason: str, report: Mapping[str, object] | None = None
) -> AskedOutcome:
    detail: dict[str, object] = {"switched_off": True}
    if report is not None:
        detail["report"] = dict(report)
    vote = Vote(
        cell=question.cell,
        option=question.criterion.na_index,
        abstained=True,
        reason=f"{SWITCHED_OFF}{reason}",
        detail=detail,
    )
    return AskedOutcome((vote,))

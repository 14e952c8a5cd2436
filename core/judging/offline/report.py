"""What training a judge of a criterion reports, and what the trained judge predicts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class TrainingReport:
    """The result of cross-validation; figures are ``None`` with too few labels.

    Without a trained judge, ``trained`` is false and ``reason`` says why, with the figures.

    ``n`` counts labelled items (abstentions left out), ``classes`` the labels and their counts.
    ``accuracy`` and ``kappa`` are out of fold, if every item were answered. ``majority`` is the
    accuracy of the best simple rule: always the most common label, of all or of the item's prompt
    (``baseline`` says which). ``gain_error`` is the standard error of the difference. With
    ``threshold``, a share ``coverage`` of items is answered, with ``accuracy_answering``. ``used``
    is smaller than ``n`` if a sample was enough. For ordered labels, ``weighted_kappa`` is
    quadratic and ``order`` the rank correlation with the labels. ``kappa_range`` is the 95%
    interval of the kappa that fits the scale. ``features``: ``words`` or ``numbers``, whichever did
    better, or ``neighbours``.
    """

    method: str
    criterion: str
    seed: int
    n: int
    classes: tuple[tuple[str, int], ...]
    trained: bool
    reason: str = ""
    used: int = 0
    accuracy: float | None = None
    majority: float | None = None
    baseline: str = ""
    gain_error: float | None = None
    kappa: float | None = None
    weighted_kappa: float | None = None
    order: float | None = None
    kappa_range: tuple[float, float] | None = None
    features: str = ""
    temperature: float | None = None
    target: float | None = None
    threshold: float | None = None
    coverage: float | None = None
    accuracy_answering: float | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain data; ``classes`` becomes a mapping of label to count."""
        return {**asdict(self), "classes": dict(self.classes)}


class Prediction(NamedTuple):
    """A trained judge's prediction for an item.

    ``probabilities`` are in the order of ``Criterion.choices`` (0 for abstentions and unseen
    labels). ``best`` is the likeliest choice, even if the judge abstains; ``confidence`` is its
    probability. ``neighbours`` are ids of labelled items.
    """

    probabilities: tuple[float, ...]
    best: int
    abstained: bool
    confidence: float
    reason: str
    neighbours: tuple[str, ...] = ()
    held_out: bool = False

"""What is said of a trained judge, and of one that switched itself off. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class TrainingReport:
    """What cross-validation found. Figures are ``None`` where there were too few labels to ask.

    ``n`` counts labelled items (abstentions left out), ``classes`` the labels and their counts.
    ``accuracy`` and ``kappa`` are out of fold, if every item were answered; ``majority`` is the
    accuracy of the best simple rule: always the commonest label, of all or of the item's prompt
    (``baseline`` says which); ``gain_error`` is the standard error of the difference. With
    ``threshold``, a share ``coverage`` of items is answered, and those with
    ``accuracy_answering``. ``used`` is smaller than ``n`` where a sample was enough.
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
    temperature: float | None = None
    target: float | None = None
    threshold: float | None = None
    coverage: float | None = None
    accuracy_answering: float | None = None

    def to_dict(self) -> dict[str, object]:
        """The same as plain data; ``classes`` becomes a mapping of label to count."""
        return {**asdict(self), "classes": dict(self.classes)}


@dataclass(frozen=True)
class Unfit:
    """No judge: it would not have been worth asking. ``reason`` is a sentence with the figures."""

    reason: str
    report: TrainingReport


class Prediction(NamedTuple):
    """What a trained judge says of one item.

    ``probabilities`` run along ``Criterion.choices`` (0 for abstentions and labels never seen),
    ``best`` is the likeliest choice, given even where it abstains; ``confidence`` is its
    probability; ``neighbours`` are ids of labelled items.
    """

    probabilities: tuple[float, ...]
    best: int
    abstained: bool
    confidence: float
    reason: str
    neighbours: tuple[str, ...] = ()
    held_out: bool = False


def percent(share: float) -> str:
    """A share in words.

    >>> percent(0.734)
    '73 %'
    """
    return f"{100 * share:.0f} %"

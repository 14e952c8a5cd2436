"""Offline judges, which learn from labelled items without a model or network.

``train`` returns a ``Trained`` judge of a criterion, or a ``TrainingReport`` with the reason.
``OfflineJudge`` combines those of all criteria behind the common protocol. NumPy, SciPy and
scikit-learn are imported when ``train`` is first called.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.judging.offline.judge import LEAST_LABELS, AppliedModel, OfflineJudge
from core.judging.offline.report import TrainingReport

if TYPE_CHECKING:
    from core.judging.offline.trained import Trained

__all__ = [
    "LEAST_LABELS",
    "AppliedModel",
    "OfflineJudge",
    "TrainingReport",
    "load",
    "train",
]


def load() -> None:
    """Import what ``train`` needs (takes seconds) ahead of the first run."""
    for name in ("sklearn.linear_model", "core.judging.offline.training"):
        import_module(name)


def train(
    spec: Judge,
    criterion: Criterion,
    labelled: Sequence[tuple[Item, int]],
    unlabelled: Sequence[Item],
    *,
    seed: int,
) -> Trained | TrainingReport:
    """Train a judge of a criterion; see ``core.judging.offline.training.train``."""
    from core.judging.offline.training import train as run

    return run(spec, criterion, labelled, unlabelled, seed=seed)

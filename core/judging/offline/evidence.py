"""What cross-validation says for and against a judge, as figures."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.judging.offline.calibration import fit_temperature, probabilities
from core.judging.offline.corpus import Floats
from core.judging.offline.folds import Ints
from core.judging.offline.report import TrainingReport, percent
from core.judging.offline.validation import (
    ERRORS_ABOVE,
    BaselineGain,
    Validation,
    gain_of,
    prompt_majority,
)
from core.metrics.accuracy import confusion
from core.metrics.agreement import cohen_kappa


@dataclass(frozen=True)
class OutOfFold:
    """Out-of-fold probabilities, who was right, and what the baseline was.

    ``right`` has shape (repeats, n), ``chances`` (n, k), the mean over repeats.
    """

    chances: Floats
    right: Floats
    temperature: float
    gain: BaselineGain
    majority: float
    baseline: str


def weigh(found: Validation, labels: Ints, prompts: Ints, groups: Ints) -> OutOfFold:
    """Calibrates the out-of-fold scores and compares them with the better simple rule."""
    temperature = fit_temperature(found.scores, labels)
    chances = probabilities(found.scores, temperature)
    right = (chances.argmax(axis=2) == labels).astype(np.float64)
    k = chances.shape[2]
    commonest = np.broadcast_to(labels == np.bincount(labels).argmax(), right.shape)
    by_prompt = prompt_majority(labels, prompts, found.folds, k)
    better = by_prompt.mean() > commonest.mean()
    base = by_prompt if better else commonest.astype(np.float64)
    return OutOfFold(
        chances=chances.mean(axis=0),
        right=right,
        temperature=temperature,
        gain=gain_of(right, base, groups),
        majority=float(base.mean()),
        baseline="the commonest label of each prompt" if better else "the commonest label",
    )


def with_figures(
    report: TrainingReport, evidence: OutOfFold, labels: Ints, k: int
) -> TrainingReport:
    """``report`` with the figures of cross-validation filled in."""
    return replace(
        report,
        used=len(labels),
        accuracy=float(evidence.right.mean()),
        majority=evidence.majority,
        baseline=evidence.baseline,
        gain_error=evidence.gain.error,
        kappa=cohen_kappa(confusion(labels, evidence.chances.argmax(axis=1), k)).value,
        temperature=evidence.temperature,
    )


def not_better(report: TrainingReport) -> str:
    """A sentence: what was reached, what had to be beaten, by how much."""
    assert report.accuracy is not None
    assert report.majority is not None
    assert report.gain_error is not None
    return (
        f"In cross-validation on {report.used} labels it was right in {percent(report.accuracy)}, "
        f"always giving {report.baseline} in {percent(report.majority)}; that is not better by "
        f"{ERRORS_ABOVE} standard errors (of {100 * report.gain_error:.1f} points)."
    )

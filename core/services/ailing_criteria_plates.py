"""The evidence behind findings about criteria: options that nobody picks, or cannot tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from core.metrics.ailments.findings import Finding
from core.services.ailing_criteria import raters_of
from core.services.ailing_plate import Plate
from core.services.evidence import Asked, Evidence


def _asked(evidence: Evidence, name: str) -> Asked:
    return next(asked for asked in evidence.criteria if asked.name == name)


def _both(asked: Asked, pair: tuple[int, int]) -> str:
    """How a finding names two options."""
    return " + ".join(asked.labels[level] for level in pair)


def unused_plate(evidence: Evidence, finding: Finding) -> Plate:
    """How often judges, and the truth, have each option of the criterion."""
    asked = _asked(evidence, finding.subject)
    k = len(asked.labels)
    given = asked.levels[:, :, : evidence.own]
    picked = np.bincount(given[given >= 0], minlength=k)
    truth = np.bincount(asked.truth[asked.truth >= 0], minlength=k)
    judges = ("Judges", tuple((picked / max(picked.sum(), 1)).tolist()))
    said = evidence.truth[0].upper() + evidence.truth[1:]
    known = ((said, tuple((truth / truth.sum()).tolist())),) if truth.any() else ()
    return Plate(
        axes=("Option", "Share of answers"),
        places=asked.labels,
        series=(judges, *known),
        counts=tuple(picked.tolist()),
        share=True,
    )


def merge_plate(evidence: Evidence, finding: Finding) -> Plate:
    """How often two raters meet in either option, beside how often they would by chance."""
    asked = _asked(evidence, finding.subject)
    pair = next(
        two
        for two in combinations(range(len(asked.labels)), 2)
        if _both(asked, two) == finding.other
    )
    first, second = (asked.labels[level] for level in pair)
    ratings, _ = raters_of(asked, evidence.truth)
    a, b = ((ratings == level).sum(axis=1).astype(np.float64) for level in pair)
    counts = np.array([(a * (a - 1) / 2).sum(), (a * b).sum(), (b * (b - 1) / 2).sum()])
    # Chance: both options are given at their own rates, whatever the item.
    share = (2 * counts[0] + counts[1]) / max(2 * counts.sum(), 1.0)
    chance = (share**2, 2 * share * (1 - share), (1 - share) ** 2)
    whole = max(float(counts.sum()), 1.0)
    return Plate(
        axes=("Two raters who both gave one of these options", "Share of pairs of answers"),
        places=(f"both {first}", "one of each", f"both {second}"),
        series=(
            ("Given", tuple((counts / whole).tolist())),
            ("If nobody could tell them apart", chance),
        ),
        counts=tuple(int(n) for n in counts),
        share=True,
    )


def redundancy_plate(evidence: Evidence, finding: Finding) -> Plate:
    """For every verdict on the first criterion, the shares of verdicts on the second."""
    first, second = _asked(evidence, finding.subject), _asked(evidence, finding.other)
    both = (first.verdicts >= 0) & (second.verdicts >= 0)
    table = np.zeros((len(first.labels), len(second.labels)))
    np.add.at(table, (first.verdicts[both], second.verdicts[both]), 1)
    rows = [row for row in range(len(table)) if table[row].any()]
    shares = table[rows] / table[rows].sum(axis=1, keepdims=True)
    return Plate(
        axes=(f"Verdict on {first.name}", f"Share of verdicts on {second.name}"),
        places=tuple(first.labels[row] for row in rows),
        series=tuple(
            (f"{second.name}: {label}", tuple(shares[:, at].tolist()))
            for at, label in enumerate(second.labels)
        ),
        counts=tuple(int(table[row].sum()) for row in rows),
        share=True,
    )

"""What judges say too often where options have no order: there is no severity, only a lean.

Asked which of two answers is better, a judge that leans to "the first" is neither kind nor strict:
it may look at places. All judges that ask one model share such a lean, so it is told once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from core.domain.panel import Judge
from core.metrics.ailments.findings import BOUNDS, Finding
from core.services import ailing_words as words
from core.services.ailing_judges import Candidate, against_of, measured, own_only
from core.services.ailing_plate import Plate
from core.services.evidence import Asked, Evidence


def option_candidates(evidence: Evidence) -> list[Candidate]:
    """How often each judge gives each option without an order; of two options the first says it."""
    found = []
    for asked in evidence.criteria:
        if asked.ordered:
            continue
        own, k = own_only(asked, evidence.own), len(asked.labels)
        for level in range(1 if k == 2 else k):
            cells = [measured(np.eye(k)[level], own)]
            for at, name in enumerate(evidence.names):
                effect, versus = against_of(cells, at, BOUNDS["leaning"].null, evidence.truth)
                sentence = words.leaning(name, asked.name, asked.labels, level, effect, versus)
                other = _option(asked, level)
                found.append(Candidate("leaning", "judge", name, effect, sentence, other))
    return found


def _option(asked: Asked, level: int) -> str:
    """How a finding names an option."""
    return f"“{asked.labels[level]}” of {asked.name}"


def told_by_model(findings: Sequence[Finding], evidence: Evidence) -> list[Finding]:
    """The findings, those of one lean and one model as one: that of the judge that leans most."""
    judges = {judge.name: judge for judge in evidence.judges}
    groups: dict[tuple[str, str, bool], list[Finding]] = {}
    for one in findings:
        if one.kind == "leaning":
            key = (_model(judges[one.subject]), one.other, one.estimate > 0)
            groups.setdefault(key, []).append(one)
    told: dict[int, Finding] = {}
    for (model, _, _), same in groups.items():
        most = max(same, key=lambda one: abs(one.estimate))
        asking = sum(_model(judge) == model for judge in evidence.judges)
        told[id(same[0])] = most if len(same) == 1 else _together(most, same, model, asking)
    return [told.get(id(one), one) for one in findings if one.kind != "leaning" or id(one) in told]


def _together(most: Finding, same: Sequence[Finding], model: str, asking: int) -> Finding:
    sizes = [abs(one.estimate) for one in same]
    sentence = words.leaning_together(most.sentence, model, len(same), asking, sizes)
    return replace(most, sentence=sentence)


def _model(judge: Judge) -> str:
    """The model that a judge asks; of an imported one what its name begins with, up to a slash."""
    return judge.model or judge.name.split("/")[0]


def leaning_plate(evidence: Evidence, finding: Finding) -> Plate:
    """How often the judge, and the truth, have each option, on the items that both answered."""
    asked = next(
        asked
        for asked in evidence.criteria
        if finding.other in (_option(asked, level) for level in range(len(asked.labels)))
    )
    at, k = evidence.names.index(finding.subject), len(asked.labels)
    mine, truth = asked.levels[:, at, 0], asked.truth
    both = (mine >= 0) & (truth >= 0)
    series = [(evidence.names[at], mine[both if both.any() else mine >= 0])]
    if both.any():
        series.append((evidence.truth[0].upper() + evidence.truth[1:], truth[both]))
    counts = [np.bincount(levels, minlength=k) for _, levels in series]
    return Plate(
        axes=("Option", "Share of answers"),
        places=asked.labels,
        series=tuple(
            (name, tuple((count / max(count.sum(), 1)).tolist()))
            for (name, _), count in zip(series, counts, strict=True)
        ),
        counts=tuple(counts[0].tolist()),
        share=True,
    )

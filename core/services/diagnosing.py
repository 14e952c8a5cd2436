"""What ails the judges and criteria of a run, told only where it is sure and large enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.metrics.ailments.effect import BiasEffect
from core.metrics.ailments.findings import (
    BOUNDS,
    FALSE_ALARMS,
    OBSERVED,
    PROMISED,
    Finding,
    Kind,
    severity,
    significant,
)
from core.metrics.ailments.paired import clustered_mean
from core.services import ailing_words as words
from core.services.ailing_criteria import criterion_candidates
from core.services.ailing_judges import Candidate, judge_candidates, own_only, worth
from core.services.ailing_options import option_candidates, told_by_model
from core.services.ailing_plates import Shown, shown
from core.services.evidence import Evidence, evidence_of
from core.store.store import Store


@dataclass(frozen=True)
class Diagnosis:
    """``findings``, the serious first, the observed last; ``checks`` are all that were looked at.

    A check whose effect has no ``p`` could not be made: ``effect.reason`` says why.
    """

    findings: tuple[Finding, ...]
    checks: tuple[Candidate, ...]

    @property
    def made(self) -> int:
        """How many checks could be made; the findings' p are corrected for all of them."""
        return sum(check.effect.p is not None for check in self.checks)

    @property
    def promise(self) -> str:
        """How many checks were made, and how often they raise a false alarm."""
        checks = "1 check was" if self.made == 1 else f"{self.made} checks were"
        return f"{checks} made. {PROMISED}"


def diagnose(store: Store, run_id: int, *, earlier: int | None = None) -> Diagnosis:
    """What ails the judges and criteria of a run.

    ``earlier`` is a run whose judges are compared with themselves, where judge, criterion and item
    are unchanged. Raises ``NotFound`` for an unknown run.
    """
    evidence = evidence_of(store, run_id)
    if earlier is None:
        return examine(evidence)
    before = evidence_of(store, earlier)
    return examine(evidence, before, f"run {earlier}")


@dataclass(frozen=True)
class Look:
    """A diagnosis with the evidence behind every finding, in the findings' order.

    ``unmade`` says what could not be examined: what, why, and of how many subjects.
    """

    findings: tuple[Shown, ...]
    made: int
    promise: str
    unmade: tuple[tuple[Kind, str, int], ...]


def look(store: Store, run_id: int) -> Look:
    """What ails the judges and criteria of a run, and why it is said. Raises ``NotFound``."""
    evidence = evidence_of(store, run_id)
    diagnosis = examine(evidence)
    unmade = Counter(
        (check.kind, check.effect.reason) for check in diagnosis.checks if check.effect.p is None
    )
    return Look(
        findings=tuple(shown(evidence, one, diagnosis.checks) for one in diagnosis.findings),
        made=diagnosis.made,
        promise=diagnosis.promise,
        unmade=tuple((kind, why, times) for (kind, why), times in unmade.items()),
    )


def examine(
    evidence: Evidence, before: Evidence | None = None, earlier: str = "the earlier run"
) -> Diagnosis:
    """What ails the judges and criteria of this evidence."""
    checks = [
        *judge_candidates(evidence),
        *option_candidates(evidence),
        *criterion_candidates(evidence),
    ]
    if before is not None:
        checks += _drifts(evidence, before, earlier)
    corrected = significant([(check.kind, check.effect) for check in checks])
    findings = [
        _finding(check, p)
        for check, p in zip(checks, corrected, strict=True)
        if p is not None and not check.held
    ]
    findings.sort(key=lambda f: (f.kind in OBSERVED, f.severity != "serious", f.p))
    return Diagnosis(tuple(told_by_model(findings, evidence)), tuple(checks))


def _finding(check: Candidate, p: float) -> Finding:
    effect = check.effect
    assert effect.estimate is not None
    return Finding(
        kind=check.kind,
        role=check.role,
        subject=check.subject,
        sentence=check.sentence,
        estimate=effect.estimate,
        low=effect.low,
        high=effect.high,
        n=effect.n,
        p=p,
        severity=severity(check.kind, effect),
        other=check.other,
        false_alarms=None if check.kind in OBSERVED else FALSE_ALARMS,
    )


def _drifts(evidence: Evidence, before: Evidence, earlier: str) -> list[Candidate]:
    known = {judge.name: judge for judge in before.judges}
    found = []
    for judge in evidence.judges:
        if known.get(judge.name) == judge:
            effect = _drift(evidence, before, judge.name)
        else:
            effect = BiasEffect.undefined(f"{earlier} did not ask this judge with these settings.")
        sentence = words.drift(judge.name, effect, earlier)
        found.append(Candidate("drift", "judge", judge.name, effect, sentence))
    return found


def _drift(evidence: Evidence, before: Evidence, judge: str) -> BiasEffect:
    """How much more a judge's answers to the same cells are worth now than they were."""
    now, then = evidence.names.index(judge), before.names.index(judge)
    place = {item.id: row for row, item in enumerate(before.items)}
    shared = [
        (row, place[item.id])
        for row, item in enumerate(evidence.items)
        if item.id in place and item.output == before.items[place[item.id]].output
    ]
    rows, olds = np.array(shared, np.int64).reshape(-1, 2).T
    earlier = {asked.name: asked for asked in before.criteria}
    differences: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = [np.zeros(0)]
    items: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = [np.zeros(0, np.int64)]
    for asked in evidence.criteria:
        other = earlier.get(asked.name)
        if other is None or other.criterion != asked.criterion:
            continue
        mine, _ = worth(own_only(asked, evidence.own))
        old, _ = worth(own_only(other, before.own))
        differences.append(mine[rows, now] - old[olds, then])
        items.append(rows)
    null = BOUNDS["drift"].null
    return clustered_mean(np.concatenate(differences), np.concatenate(items), null)


def as_text(findings: Sequence[Finding]) -> str:
    """A line per finding; says so where there is none."""
    return "\n".join(f.sentence for f in findings) or "Nothing ails these judges and criteria."

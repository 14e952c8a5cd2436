"""Diagnose the judges and criteria of a run, and list the faults of a draft's criteria."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from core.domain.rubric import Criterion
from core.domain.runs import RunRow
from core.errors import InputError
from core.metrics.bias.effects import (
    FALSE_ALARMS,
    OBSERVED,
    PROMISED,
    Finding,
    Kind,
    corrected_if_significant,
    severity,
)
from core.services.diagnostics import finding_words as words
from core.services.diagnostics.criterion_faults import criterion_candidates
from core.services.diagnostics.evidence import RunEvidence, evidence_of
from core.services.diagnostics.evidence_charts import ShownEvidence, shown_evidence
from core.services.diagnostics.judge_bias import (
    FindingCandidate,
    judge_candidates,
    merge_findings,
    option_candidates,
)
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.prompt_preview import criterion_from
from core.store.store import Store


@dataclass(frozen=True)
class Diagnosis:
    """The result of all checks. ``findings`` begin with the serious ones and end with mere
    associations.

    A check that could not be made has an effect without ``p``; ``effect.reason`` says why. If
    asked for, ``evidence`` is that of every finding, in their order, and ``causes`` have the
    indices of findings by cause and subject.
    """

    findings: tuple[Finding, ...]
    checks: tuple[FindingCandidate, ...]
    evidence: tuple[ShownEvidence, ...] = ()
    causes: Mapping[tuple[str, str], list[int]] = field(default_factory=dict)

    @property
    def check_count(self) -> int:
        """Return how many checks were possible; p-values of findings are corrected for this
        number.
        """
        return sum(check.effect.p is not None for check in self.checks)

    @property
    def summary(self) -> str:
        """Return a sentence on the number of checks and their false alarm rate."""
        checks = "1 check was" if self.check_count == 1 else f"{self.check_count} checks were"
        return f"{checks} made. {PROMISED}"

    @property
    def unmade(self) -> dict[tuple[Kind, str], int]:
        """Return the number of subjects of impossible checks, by kind and reason."""
        missing = (check for check in self.checks if check.effect.p is None)
        return Counter((check.kind, check.effect.reason) for check in missing)


def diagnose(store: Store, run_id: int) -> Diagnosis:
    """Diagnose the judges and criteria of a run. Raises ``NotFound`` for an unknown run."""
    return diagnose_evidence(evidence_of(store, run_id))


def examination_of_run(store: Store, run_id: int) -> Diagnosis:
    """Diagnose a run's judges and criteria, with the evidence. Raises ``NotFound``."""
    evidence = evidence_of(store, run_id)
    diagnosis = diagnose_evidence(evidence)
    return replace(
        diagnosis,
        evidence=tuple(
            shown_evidence(evidence, finding, diagnosis.checks) for finding in diagnosis.findings
        ),
        causes=words.group_by_cause(
            diagnosis.findings, {judge.name: judge.model for judge in evidence.judges}
        ),
    )


def diagnose_evidence(evidence: RunEvidence) -> Diagnosis:
    """Diagnose the judges and criteria of this evidence."""
    checks = [
        *judge_candidates(evidence),
        *option_candidates(evidence),
        *criterion_candidates(evidence),
    ]
    corrected = corrected_if_significant([(check.kind, check.effect) for check in checks])
    findings = [
        _finding_of_check(check, p)
        for check, p in zip(checks, corrected, strict=True)
        if p is not None and not check.held
    ]
    findings.sort(key=lambda f: (f.kind in OBSERVED, f.severity != "serious", f.p))
    return Diagnosis(tuple(merge_findings(findings, evidence)), tuple(checks))


def _finding_of_check(check: FindingCandidate, p: float) -> Finding:
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


#: The number of runs searched for the newest of a rubric.
RECENT = 200
#: The most of these runs that are diagnosed.
LOOKED = 5


@dataclass(frozen=True, slots=True)
class RunFindings:
    """A run's findings on criteria, and the criteria of ``unknown`` agreement, with the reason.

    ``answers``: the run measures agreement. ``passed`` is a newer run of the rubric that does not,
    and ``why`` the reason.
    """

    run: RunRow
    findings: tuple[Finding, ...]
    unknown: Mapping[str, str]
    answers: bool
    passed: RunRow | None = None
    why: str = ""


def newest_runs(store: Store, rubric_id: int) -> Iterator[RunRow]:
    """Yield the rubric's runs with votes, newest first, among the ``RECENT`` newest runs."""
    for row in store.runs.list(limit=RECENT):
        if row.rubric_id == rubric_id and row.votes:
            yield row


def newest_answer(
    store: Store, rubric_id: int, hear: Callable[[RunRow], RunFindings] | None = None
) -> RunFindings | None:
    """Return the findings of the newest run that measures agreement; ``None`` without a run.

    Without any such run, they are the newest run's. It considers ``LOOKED`` runs. ``hear`` is
    called instead of ``run_findings``, e.g. a cached version.
    """
    first: RunFindings | None = None
    for row in islice(newest_runs(store, rubric_id), LOOKED):
        findings = hear(row) if hear else run_findings(store, row.id)
        if findings.answers:
            return findings if first is None else replace(findings, passed=first.run, why=first.why)
        if first is None:
            reason = next(iter(findings.unknown.values()), "no votes to compare")
            first = replace(findings, why=reason)
    return first


def run_findings(store: Store, run_id: int) -> RunFindings:
    """Return a run's findings on criteria, serious first, and the unknown ones. Raises
    ``NotFound``.
    """
    diagnosis = diagnose(store, run_id)
    findings = tuple(finding for finding in diagnosis.findings if finding.role == "criterion")
    checks_made = [
        check
        for check in diagnosis.checks
        if (check.role, check.kind) == ("criterion", "agreement")
    ]
    run = store.runs.row(run_id)
    voting = [judge for judge in run.panel.judges if not judge.shadow]
    is_single = len(voting) == 1
    unknown = {
        check.subject: "one judge" if is_single else check.effect.reason.rstrip(".").lower()
        for check in checks_made
        if check.effect.p is None
    }
    return RunFindings(run, findings, unknown, answers=len(unknown) < len(checks_made))


def has_changed_question(store: Store, run: RunRow, draft: RubricDraft, uid: str) -> bool:
    """Return whether judges would see the criterion differently than in that run."""
    version = store.rubrics.version(run.rubric_version_id).rubric
    try:
        current = criterion_from(draft, uid)
    except InputError:
        return True
    return _parts_seen_by_judges(current) not in [
        _parts_seen_by_judges(c) for c in version.criteria
    ]


def _parts_seen_by_judges(criterion: Criterion) -> tuple[object, ...]:
    options = [(option.label, option.description, option.na) for option in criterion.choices]
    return criterion.name, criterion.requirement, criterion.scale, options


def findings_on_criterion(findings: Sequence[Finding], name: str) -> list[Finding]:
    """Return the findings on the criterion of that name."""
    return [finding for finding in findings if finding.subject == name]

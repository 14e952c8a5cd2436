"""What ails the judges and criteria of a run, shown where it is sure; also beside a draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from core.domain.rubric import Criterion
from core.domain.runs import RunRow
from core.errors import InputError
from core.metrics.bias.effects import (
    BOUNDS,
    FALSE_ALARMS,
    OBSERVED,
    PROMISED,
    BiasEffect,
    Finding,
    Kind,
    severity,
    significant,
)
from core.metrics.bias.judge_bias import clustered_mean
from core.services.diagnostics import finding_words as words
from core.services.diagnostics.criterion_faults import criterion_candidates
from core.services.diagnostics.evidence import RunEvidence, evidence_of
from core.services.diagnostics.evidence_charts import ShownEvidence, shown
from core.services.diagnostics.judge_bias import (
    FindingCandidate,
    judge_candidates,
    option_candidates,
    own_only,
    told_together,
    worth,
)
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.prompt_preview import criterion_from
from core.store.store import Store


@dataclass(frozen=True)
class Diagnosis:
    """``findings``, the serious first, the observed last; ``checks`` are all that were looked at.

    A check whose effect has no ``p`` could not be made: ``effect.reason`` says why.
    """

    findings: tuple[Finding, ...]
    checks: tuple[FindingCandidate, ...]

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
class Examination:
    """A diagnosis with the evidence behind every finding, in the findings' order.

    ``unmade`` says what could not be examined: what, why, and of how many subjects. ``causes``
    group the findings.
    """

    findings: tuple[ShownEvidence, ...]
    made: int
    promise: str
    unmade: tuple[tuple[Kind, str, int], ...]
    causes: tuple[words.CauseGroup, ...] = ()


def look(store: Store, run_id: int) -> Examination:
    """What ails the judges and criteria of a run, and why it is said. Raises ``NotFound``."""
    evidence = evidence_of(store, run_id)
    diagnosis = examine(evidence)
    unmade = Counter(
        (check.kind, check.effect.reason) for check in diagnosis.checks if check.effect.p is None
    )
    return Examination(
        findings=tuple(shown(evidence, one, diagnosis.checks) for one in diagnosis.findings),
        made=diagnosis.made,
        promise=diagnosis.promise,
        unmade=tuple((kind, why, times) for (kind, why), times in unmade.items()),
        causes=words.by_cause(
            diagnosis.findings, {judge.name: judge.model for judge in evidence.judges}
        ),
    )


def examine(
    evidence: RunEvidence, before: RunEvidence | None = None, earlier: str = "the earlier run"
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
    return Diagnosis(tuple(told_together(findings, evidence)), tuple(checks))


def _finding(check: FindingCandidate, p: float) -> Finding:
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


def _drifts(evidence: RunEvidence, before: RunEvidence, earlier: str) -> list[FindingCandidate]:
    known = {judge.name: judge for judge in before.judges}
    found = []
    for judge in evidence.judges:
        if known.get(judge.name) == judge:
            effect = _drift(evidence, before, judge.name)
        else:
            effect = BiasEffect.undefined(f"{earlier} did not ask this judge with these settings.")
        sentence = words.drift(judge.name, effect, earlier)
        found.append(FindingCandidate("drift", "judge", judge.name, effect, sentence))
    return found


def _drift(evidence: RunEvidence, before: RunEvidence, judge: str) -> BiasEffect:
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
    nothing = "Nothing was found wrong with these judges and criteria."
    return "\n".join(f.sentence for f in findings) or nothing


#: So many runs are looked through for the newest of a rubric.
RECENT = 200
#: Of these, so many are asked at most what they say.
LOOKED = 5


@dataclass(frozen=True, slots=True)
class CriterionFinding:
    """What the data of a run say of one criterion, in a sentence with its figures."""

    criterion: str
    sentence: str
    serious: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """What a run can say: what ails its criteria, and on which agreement is unknown, and why."""

    findings: tuple[CriterionFinding, ...]
    unknown: Mapping[str, str]
    answers: bool


@dataclass(frozen=True, slots=True)
class Says:
    """What is known of a rubric's criteria by ``run``, the newest that can tell of agreement.

    ``passed`` is a newer run that cannot, and ``why``; where none can, ``run`` is the newest.
    """

    run: RunRow
    heard: Heard
    passed: RunRow | None = None
    why: str = ""


def newest_runs(store: Store, rubric_id: int) -> Iterator[RunRow]:
    """The runs with votes that asked a version of this rubric, newest first, of the last so many
    (``RECENT``).
    """
    for row in store.runs.list(limit=RECENT):
        if row.rubric_id == rubric_id and row.votes:
            yield row


def newest_answer(
    store: Store, rubric_id: int, hear: Callable[[RunRow], Heard] | None = None
) -> Says | None:
    """What the newest run says that can say anything of agreement; ``None`` without a run.

    Looks at ``LOOKED`` runs. ``hear`` replaces ``heard``, for whoever keeps what it found.
    """
    first: Says | None = None
    for row in islice(newest_runs(store, rubric_id), LOOKED):
        found = hear(row) if hear else heard(store, row.id)
        if found.answers:
            if first is None:
                return Says(row, found)
            return Says(row, found, first.run, first.why)
        if first is None:
            first = Says(row, found, why=next(iter(found.unknown.values()), "no votes to compare"))
    return first


def heard(store: Store, run_id: int) -> Heard:
    """What ails the criteria of a run, the serious first, and what it cannot tell; ``NotFound``."""
    found = diagnose(store, run_id)
    findings = tuple(
        CriterionFinding(one.subject, one.sentence, one.severity == "serious")
        for one in found.findings
        if one.role == "criterion"
    )
    asked = [one for one in found.checks if (one.role, one.kind) == ("criterion", "agreement")]
    voting = [judge for judge in store.runs.get(run_id).panel.judges if not judge.shadow]
    alone = len(voting) == 1
    unknown = {
        one.subject: "one judge" if alone else one.effect.reason.rstrip(".").lower()
        for one in asked
        if one.effect.p is None
    }
    return Heard(findings, unknown, answers=len(unknown) < len(asked))


def asked_otherwise(store: Store, run: RunRow, draft: RubricDraft, uid: str) -> bool:
    """Whether the criterion has changed in what judges are shown since that run asked it."""
    version = store.rubrics.version(run.rubric_version_id).rubric
    try:
        now = criterion_from(draft, uid)
    except InputError:
        return True
    return _shown(now) not in [_shown(c) for c in version.criteria]


def _shown(criterion: Criterion) -> tuple[object, ...]:
    options = [(o.label, o.description, o.na) for o in criterion.choices]
    return criterion.name, criterion.requirement, criterion.scale, options


def of_criterion(found: Sequence[CriterionFinding], name: str) -> list[CriterionFinding]:
    """Those that are about the criterion of that name."""
    return [one for one in found if one.criterion == name]

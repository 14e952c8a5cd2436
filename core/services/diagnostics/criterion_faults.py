"""Faults of criteria: unused or confused options, redundancy, abstention, with their evidence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from core.metrics.agreement.accuracy import Counts
from core.metrics.agreement.ratings import patterns
from core.metrics.bias.criteria import (
    Association,
    agreement,
    correlation_of,
    cramers_v,
    item_rest,
    merges,
    redundancy,
)
from core.metrics.bias.effects import BOUNDS, FEW, BiasEffect, Finding, Kind, share_of_rare_option
from core.services.agreement.group_figures import Draws, group_intervals
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.ratings import Levels
from core.services.diagnostics import finding_words as words
from core.services.diagnostics.evidence import Chart, CriterionEvidence, RunEvidence
from core.services.diagnostics.judge_bias import FindingCandidate


def criterion_candidates(evidence: RunEvidence) -> list[FindingCandidate]:
    """Return all checks of criteria and of pairs of criteria."""
    checks = [
        c for criterion in evidence.criteria for c in _candidates_of_criterion(criterion, evidence)
    ]
    return [*checks, *_discrimination_candidates(evidence), *_redundancy_candidates(evidence)]


def _finding_candidate(
    kind: Kind, subject: str, effect: BiasEffect, sentence: str
) -> FindingCandidate:
    return FindingCandidate(kind, "criterion", subject, effect, sentence)


def _candidates_of_criterion(
    criterion: CriterionEvidence, evidence: RunEvidence
) -> Iterator[FindingCandidate]:
    ratings, raters = raters_of(criterion, evidence)
    k = len(criterion.labels)
    name = criterion.name
    agreed = agreement(ratings, k, criterion.ordered, BOUNDS["agreement"])
    agreed = agreed._replace(effect=_with_one_interval(agreed.effect, ratings, criterion))
    check = _finding_candidate(
        "agreement", name, agreed.effect, words.agreement_words(name, agreed, raters)
    )
    # The sentence claims no more than the shown interval; without an interval it claims nothing.
    high, withheld = agreed.effect.high, bool(agreed.effect.reason)
    above = high is not None and high >= BOUNDS["agreement"].value
    yield check._replace(held=withheld or above)
    yield from _unused_option_candidates(criterion, evidence)
    judges = criterion.levels.shape[1]
    null = BOUNDS["merge"]
    for what_if in merges(ratings, criterion.truth, k, criterion.ordered, null, judges=judges):
        yield FindingCandidate(
            kind="merge",
            role="criterion",
            subject=name,
            effect=what_if.apart,
            sentence=words.merge_words(name, criterion.labels, what_if, raters),
            other=f"{criterion.labels[what_if.first]} + {criterion.labels[what_if.second]}",
            held=withheld or not what_if.helps,
        )


def _with_one_interval(
    effect: BiasEffect, ratings: Levels, criterion: CriterionEvidence
) -> BiasEffect:
    """Return the effect with alpha's interval as other pages show it; p stays that of the check.

    The Agreement page, the report and ``metrics`` use the same resamples.
    """
    if effect.low is None:
        return effect
    distinct, k = patterns(ratings), len(criterion.labels)
    name = f"krippendorff_alpha_{'ordinal' if criterion.ordered and k > 2 else 'nominal'}"
    drawn = Draws(len(ratings), RESAMPLES, SEED).of(distinct.of_item, distinct.times)
    times = distinct.times.astype(np.float64)
    ci = group_intervals([name], distinct.rows, times, drawn, k)[name]
    return effect._replace(low=ci.low, high=ci.high, reason=ci.reason)


def raters_of(criterion: CriterionEvidence, evidence: RunEvidence) -> tuple[Levels, str]:
    """Return the judges' first replicates as columns; a single judge is paired with the truth."""
    first = criterion.levels[:, :, 0]
    if first.shape[1] > 1:
        return first, f"{evidence.rater.capitalize()}s"
    raters = f"The {evidence.rater} and {evidence.truth}"
    return np.column_stack([first, criterion.truth]), raters


def _unused_option_candidates(
    criterion: CriterionEvidence, evidence: RunEvidence
) -> Iterator[FindingCandidate]:
    called = (evidence.truth, evidence.rater)
    levels = criterion.levels[:, :, : evidence.own].reshape(len(criterion.levels), -1)
    n = int((levels >= 0).any(axis=1).sum())
    for level, label in enumerate(criterion.labels):
        picked = int((levels == level).any(axis=1).sum())
        effect = share_of_rare_option(picked, n, BOUNDS["unused"].value)
        labelled = int((criterion.truth == level).sum())
        sentence = words.unused_option_words(
            criterion.name, label, picked, effect, labelled, called
        )
        yield _finding_candidate("unused", criterion.name, effect, sentence)._replace(other=label)


def _discrimination_candidates(evidence: RunEvidence) -> Iterator[FindingCandidate]:
    ordered = [criterion for criterion in evidence.criteria if criterion.ordered]
    values = np.full((len(evidence.words), len(ordered)), np.nan)
    for column, criterion in enumerate(ordered):
        decided = criterion.verdicts >= 0
        values[decided, column] = criterion.values[criterion.verdicts[decided]]
    for column, criterion in enumerate(ordered):
        effect = item_rest(values, column, BOUNDS["discrimination"])
        yield _finding_candidate(
            "discrimination",
            criterion.name,
            effect,
            words.discrimination_words(criterion.name, effect),
        )


def _redundancy_candidates(evidence: RunEvidence) -> Iterator[FindingCandidate]:
    for first, second in combinations(evidence.criteria, 2):
        table = _pair_counts(first.verdicts, second.verdicts, first, second)
        association = _association_of_pair(first, second)
        effect = redundancy(table, association, BOUNDS["redundancy"].value)
        truth = _pair_counts(first.truth, second.truth, first, second)
        in_labels = float(association(truth.astype(np.float64))) if truth.sum() >= FEW else np.nan
        in_truth = in_labels if np.isfinite(in_labels) else None
        sentence = words.redundancy_words(first.name, second.name, effect, in_truth, evidence.truth)
        yield _finding_candidate("redundancy", first.name, effect, sentence)._replace(
            other=second.name
        )


def _association_of_pair(first: CriterionEvidence, second: CriterionEvidence) -> Association:
    if first.ordered and second.ordered:
        return correlation_of(first.values, second.values)
    return cramers_v


def _pair_counts(
    a: Levels, b: Levels, first: CriterionEvidence, second: CriterionEvidence
) -> Counts:
    """Return the number of items with each pair of levels, shape (levels, levels)."""
    rows, columns = len(first.labels), len(second.labels)
    answered = (a >= 0) & (b >= 0)
    cells = np.bincount(a[answered] * columns + b[answered], minlength=rows * columns)
    return cells.reshape(rows, columns)


def _evidence_of(evidence: RunEvidence, name: str) -> CriterionEvidence:
    return next(criterion for criterion in evidence.criteria if criterion.name == name)


def _option_names(criterion: CriterionEvidence, pair: tuple[int, int]) -> str:
    """Return the name of two options in a finding."""
    return " + ".join(criterion.labels[level] for level in pair)


def unused_chart(evidence: RunEvidence, finding: Finding) -> Chart:
    """Chart how often judges, and the truth, have each option of the criterion."""
    criterion = _evidence_of(evidence, finding.subject)
    k = len(criterion.labels)
    levels = criterion.levels[:, :, : evidence.own]
    picked = np.bincount(levels[levels >= 0], minlength=k)
    truth = np.bincount(criterion.truth[criterion.truth >= 0], minlength=k)
    judges = (f"{evidence.rater.capitalize()}s", tuple((picked / max(picked.sum(), 1)).tolist()))
    label = evidence.truth[0].upper() + evidence.truth[1:]
    labelled = ((label, tuple((truth / truth.sum()).tolist())),) if truth.any() else ()
    return Chart(
        axes=("Option", "Share of answers"),
        places=criterion.labels,
        series=(judges, *labelled),
        counts=tuple(picked.tolist()),
        share=True,
    )


def merge_chart(evidence: RunEvidence, finding: Finding) -> Chart:
    """Chart how often two raters who chose either option chose the same one, and how often by
    chance.
    """
    criterion = _evidence_of(evidence, finding.subject)
    pair = next(
        two
        for two in combinations(range(len(criterion.labels)), 2)
        if _option_names(criterion, two) == finding.other
    )
    first, second = (criterion.labels[level] for level in pair)
    ratings, _ = raters_of(criterion, evidence)
    a, b = ((ratings == level).sum(axis=1).astype(np.float64) for level in pair)
    counts = np.array([(a * (a - 1) / 2).sum(), (a * b).sum(), (b * (b - 1) / 2).sum()])
    # The agreement expected by chance, if both options are chosen at their own rates whatever the
    # item is.
    share = (2 * counts[0] + counts[1]) / max(2 * counts.sum(), 1.0)
    chance = (share**2, 2 * share * (1 - share), (1 - share) ** 2)
    total = max(float(counts.sum()), 1.0)
    return Chart(
        axes=("Two raters who both gave one of these options", "Share of pairs of answers"),
        places=(f"both {first}", "one of each", f"both {second}"),
        series=(
            ("Given", tuple((counts / total).tolist())),
            ("If raters could not tell them apart", chance),
        ),
        counts=tuple(int(n) for n in counts),
        share=True,
    )


def redundancy_chart(evidence: RunEvidence, finding: Finding) -> Chart:
    """Chart the shares of verdicts on the second criterion by verdict on the first."""
    first, second = _evidence_of(evidence, finding.subject), _evidence_of(evidence, finding.other)
    answered = (first.verdicts >= 0) & (second.verdicts >= 0)
    table = np.zeros((len(first.labels), len(second.labels)))
    np.add.at(table, (first.verdicts[answered], second.verdicts[answered]), 1)
    rows = [row for row in range(len(table)) if table[row].any()]
    shares = table[rows] / table[rows].sum(axis=1, keepdims=True)
    return Chart(
        axes=(f"Verdict on {first.name}", f"Share of verdicts on {second.name}"),
        places=tuple(first.labels[row] for row in rows),
        series=tuple(
            (f"{second.name}: {label}", tuple(shares[:, index].tolist()))
            for index, label in enumerate(second.labels)
        ),
        counts=tuple(int(table[row].sum()) for row in rows),
        share=True,
    )

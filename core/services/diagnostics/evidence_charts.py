"""The evidence of a finding as a few series of numbers, for a plot and a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.metrics.bias.effects import BOUNDS, Finding
from core.metrics.bias.judge_bias import halo, mean_of_others
from core.services.diagnostics.criterion_faults import merge_chart, redundancy_chart, unused_chart
from core.services.diagnostics.evidence import Chart, CriterionEvidence, RunEvidence, mean_of
from core.services.diagnostics.judge_bias import (
    FindingCandidate,
    Measured,
    abstentions,
    answer_values,
    changed_pairs,
    is_at_scale_end,
    leaning_chart,
    without_flipped_copies,
)

#: The number of groups, of about equal size, into which texts are split by length.
_BINS = 5


@dataclass(frozen=True)
class ShownEvidence:
    """A finding with its evidence. ``chart`` is ``None`` if the estimates are enough.

    ``among`` is the same check of all subjects; ``bound`` is the limit of a healthy subject.
    """

    finding: Finding
    chart: Chart | None
    among: tuple[FindingCandidate, ...]
    bound: float


def shown_evidence(
    evidence: RunEvidence, finding: Finding, checks: Sequence[FindingCandidate]
) -> ShownEvidence:
    """Return the evidence of one finding."""
    of_judge = _OF_JUDGE.get(finding.kind)
    of_criterion = _OF_CRITERION.get(finding.kind)
    chart = None
    if of_judge is not None:
        chart = of_judge(evidence, evidence.names.index(finding.subject))
    elif of_criterion is not None:
        chart = of_criterion(evidence, finding)
    same_checks = tuple(c for c in checks if c.kind == finding.kind and c.effect.p is not None)
    return ShownEvidence(finding, chart, same_checks, BOUNDS[finding.kind].value)


def _position_chart(evidence: RunEvidence, judge: int) -> Chart | None:
    """Chart how often each place was chosen, for the most frequent number of options."""
    by_size = evidence.places.get(evidence.names[judge], {})
    if not by_size:
        return None
    counts = max(by_size.values(), key=sum)
    size, chosen = len(counts), np.array(counts)
    total = int(chosen.sum())
    return Chart(
        axes=("Place at which an option was shown", "Share of answers"),
        places=tuple(f"{place + 1}." for place in range(size)),
        series=(
            ("Chosen", tuple((chosen / total).tolist())),
            ("If the place did not matter", (1 / size,) * size),
        ),
        counts=tuple(chosen.tolist()),
        share=True,
    )


def _verbosity_chart(evidence: RunEvidence, index: int) -> Chart:
    """Chart mean values of judge and truth over groups of texts of similar length."""
    worths = [
        answer_values(without_flipped_copies(criterion, evidence.own))
        for criterion in evidence.criteria
    ]
    values_given = np.concatenate([np.zeros(0), *(values[:, index] for values, _ in worths)])
    truth = np.concatenate([np.zeros(0), *(values for _, values in worths)])
    lengths = np.tile(evidence.words, len(worths))
    complete = ~np.isnan(values_given) & ~np.isnan(truth) & (lengths > 0)
    values_given, truth, lengths = values_given[complete], truth[complete], lengths[complete]
    edges = np.unique(np.quantile(lengths, np.linspace(0, 1, _BINS + 1)))
    group = np.clip(np.searchsorted(edges, lengths, side="right") - 1, 0, max(len(edges) - 2, 0))
    groups = [index for index in range(max(len(edges) - 1, 1)) if (group == index).any()]
    in_group = [group == number for number in groups]
    return Chart(
        axes=("Words", "Mean value"),
        places=tuple(
            f"{lengths[rows].min():.0f} to {lengths[rows].max():.0f}" for rows in in_group
        ),
        series=(
            (evidence.names[index], tuple(float(values_given[rows].mean()) for rows in in_group)),
            (_reference_name(evidence), tuple(float(truth[rows].mean()) for rows in in_group)),
        ),
        counts=tuple(int(rows.sum()) for rows in in_group),
        kind="lines",
    )


def _reference_name(evidence: RunEvidence) -> str:
    return evidence.truth[0].upper() + evidence.truth[1:]


def _comparison_chart(
    measure: Callable[[CriterionEvidence], Measured], axis: str, *, share: bool = False
) -> Callable[[RunEvidence, int], Chart]:
    """Return a function that charts, per criterion, a measure's mean for the judge and for the
    truth or other judges.
    """

    def chart_of_judge(evidence: RunEvidence, judge: int) -> Chart:
        names, judge_means, reference_means, counts, versus = (
            [],
            [],
            [],
            [],
            _reference_name(evidence),
        )
        measured_criteria = [
            (criterion, measure(without_flipped_copies(criterion, evidence.own)))
            for criterion in evidence.criteria
        ]
        if not any(
            (~np.isnan(values[:, judge] - truth)).any() for _, (values, truth) in measured_criteria
        ):
            versus = f"The other {evidence.rater}s"
        for criterion, (values, truth) in measured_criteria:
            comparison = (
                truth if versus == _reference_name(evidence) else mean_of_others(values)[:, judge]
            )
            answered = ~np.isnan(values[:, judge]) & ~np.isnan(comparison)
            if answered.any():
                names.append(criterion.name)
                judge_means.append(mean_of(values[answered, judge]))
                reference_means.append(mean_of(comparison[answered]))
                counts.append(int(answered.sum()))
        return Chart(
            axes=("Criterion", axis),
            places=tuple(names),
            series=((evidence.names[judge], tuple(judge_means)), (versus, tuple(reference_means))),
            counts=tuple(counts),
            share=share,
            kind="bars" if share else "dots",
        )

    return chart_of_judge


def _halo_chart(evidence: RunEvidence, judge: int) -> Chart:
    """Chart the correlation of each pair of ordered criteria: the judge's, and the expected one."""
    worths = [
        (criterion, answer_values(without_flipped_copies(criterion, evidence.own)))
        for criterion in evidence.criteria
    ]
    ordered = [(criterion.name, values) for criterion, values in worths if criterion.ordered]
    names, judged, reference_means, counts = [], [], [], []
    for (a, (first, first_truth)), (b, (second, second_truth)) in combinations(ordered, 2):
        sides = [(first[:, judge], second[:, judge]), (first_truth, second_truth)]
        if first.shape[1] > 1:
            sides.append((mean_of_others(first)[:, judge], mean_of_others(second)[:, judge]))
        mine_of, truth_of, *other_sides = (np.column_stack(side) for side in sides)
        result = halo(mine_of, truth_of, other_levels=other_sides[0] if other_sides else None)
        if result.own is not None:
            names.append(f"{a} and {b}")
            judged.append(result.own)
            reference_means.append(result.reference)
            counts.append(result.effect.n)
    return Chart(
        axes=("Criteria", "Correlation"),
        places=tuple(names),
        series=(
            (evidence.names[judge], tuple(judged)),
            (_reference_name(evidence), tuple(reference_means)),
        ),
        counts=tuple(counts),
        kind="dots",
    )


def _changes_chart(twin_of: Callable[[RunEvidence], int]) -> Callable[[RunEvidence, int], Chart]:
    """Return a function that charts, per criterion, the share of answers that changed."""

    def chart_of_judge(evidence: RunEvidence, judge: int) -> Chart:
        changes = [
            (criterion.name, changed_pairs(evidence, [criterion], judge, twin_of(evidence)))
            for criterion in evidence.criteria
        ]
        answered = [(name, hits) for name, (hits, _) in changes if len(hits)]
        return Chart(
            axes=("Criterion", "Share of answers that changed"),
            places=tuple(name for name, _ in answered),
            series=(("Changed", tuple(float(np.mean(hits)) for _, hits in answered)),),
            counts=tuple(len(hits) for _, hits in answered),
            share=True,
        )

    return chart_of_judge


_OF_JUDGE: dict[str, Callable[[RunEvidence, int], Chart | None]] = {
    "position": _position_chart,
    "verbosity": _verbosity_chart,
    "leniency": _comparison_chart(answer_values, "Mean value of the answers"),
    "extremes": _comparison_chart(
        is_at_scale_end, "Share of lowest and highest options", share=True
    ),
    "abstention": _comparison_chart(abstentions, "Share of abstentions", share=True),
    "halo": _halo_chart,
    "inconsistency": _changes_chart(lambda _: 0),
    "flips": _changes_chart(lambda evidence: evidence.own),
}
_OF_CRITERION: dict[str, Callable[[RunEvidence, Finding], Chart | None]] = {
    "leaning": leaning_chart,
    "unused": unused_chart,
    "merge": merge_chart,
    "redundancy": redundancy_chart,
}

"""Biases of judges (position, length, leniency, halo, leaning): each effect and its sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from core.domain.panel import Judge
from core.metrics.bias.effects import (
    BOUNDS,
    FEW,
    BiasEffect,
    Finding,
    Kind,
    NullValue,
    share_above_limit,
)
from core.metrics.bias.judge_bias import (
    PositionPull,
    clustered_mean,
    halo,
    length_slope,
    mean_of_others,
    position_effect,
)
from core.services.agreement.ratings import Levels
from core.services.diagnostics import finding_words as words
from core.services.diagnostics.evidence import Chart, CriterionEvidence, Flags, RunEvidence, Values
from core.text.model_names import relation_of

#: More levels than any criterion has, used to number strata by criterion and level.
_LEVELS = 10_000
NO_LABELS = "It takes labels: without them what the judge sees and what is there look alike."

NO_ORDER = "Options without an order are worth neither more nor less."
#: The reason given if no answer of a judge has the quantity that a check compares.
_NEVER: dict[Kind, str] = {
    "leniency": NO_ORDER,
    "extremes": "No criterion has three ordered options or more.",
    "abstention": "No criterion has an option to abstain.",
}


class FindingCandidate(NamedTuple):
    """A check with its result. ``sentence`` is shown together with the effect; a ``held`` check is
    never shown.
    """

    kind: Kind
    role: Literal["judge", "criterion"]
    subject: str
    effect: BiasEffect
    sentence: str = ""
    other: str = ""
    held: bool = False

    @property
    def subjects(self) -> str:
        """Return the subject, and the other one if the check compares two."""
        return f"{self.subject} and {self.other}" if self.other else self.subject


#: The values of each judge's answers to a criterion, shape (items, judges), and of the label.
Measured = tuple[Values, Values]
#: A comparison with the labels or other judges: its kind, its measure per criterion, its sentence.
Against = tuple[Kind, list[Measured], Callable[[str, BiasEffect, str], str]]


def judge_candidates(evidence: RunEvidence) -> list[FindingCandidate]:
    """Return all checks of all judges."""
    criteria = [without_flipped_copies(criterion, evidence.own) for criterion in evidence.criteria]
    against: list[Against] = [
        ("leniency", [answer_values(criterion) for criterion in criteria], words.leniency_words),
        ("extremes", [is_at_scale_end(criterion) for criterion in criteria], words.extremes_words),
        ("abstention", [abstentions(criterion) for criterion in criteria], words.abstention_words),
    ]
    judges = range(len(evidence.judges))
    return [check for judge in judges for check in _findings_of_judge(evidence, judge, against)]


def _findings_of_judge(
    evidence: RunEvidence, judge: int, against: Sequence[Against]
) -> Iterator[FindingCandidate]:
    name = evidence.names[judge]

    def make_finding(kind: Kind, effect: BiasEffect, sentence: str) -> FindingCandidate:
        return FindingCandidate(kind, "judge", name, effect, sentence)

    pull = position_effect(evidence.shown.get(name, ()))
    if isinstance(pull, PositionPull):
        yield make_finding("position", pull.effect, words.position_words(name, pull))
    else:
        yield make_finding("position", pull, "")
    repeats = _change_effect(evidence, judge, 0, BOUNDS["inconsistency"].value)
    yield make_finding("inconsistency", repeats, words.inconsistency_words(name, repeats))
    # Flips count only beyond the rate at which the judge contradicts itself in the same order.
    limit = max(BOUNDS["flips"].value, repeats.high or 0.0)
    flipped = _change_effect(evidence, judge, evidence.own, limit)
    yield make_finding("flips", flipped, words.flip_words(name, flipped))
    for kind, measures, say in against:
        if all(np.isnan(judge_values).all() for judge_values, _ in measures):
            yield make_finding(kind, BiasEffect.undefined(_NEVER[kind]), "")
            continue
        names = (evidence.truth, evidence.rater)
        effect, versus = against_of(measures, judge, BOUNDS[kind], *names)
        yield make_finding(kind, effect, say(name, effect, versus))
    values = next(measures for kind, measures, _ in against if kind == "leniency")
    slope = _verbosity(evidence, values, judge)
    yield make_finding("verbosity", slope, words.verbosity_words(name, slope))
    same_maker = _made_by_same_maker(evidence, judge)
    if 0 < np.nansum(same_maker) < np.isfinite(same_maker).sum():
        own_effect = _value_slope(evidence, values, judge, same_maker, BOUNDS["own_maker"])
        yield make_finding("own_maker", own_effect, words.own_maker_words(name, own_effect))
    judge_values, truth, other_means = _side_by_side(evidence, values, judge)
    coloured = halo(judge_values, truth, BOUNDS["halo"], other_means)
    yield make_finding("halo", coloured.effect, words.halo_words(name, coloured, evidence.truth))


def answer_values(criterion: CriterionEvidence) -> Measured:
    """Return the value of each answer, and of the label; NaN if missing.

    Options without an order have no value: a judge that picks one of them too often is not lenient.
    """
    return answer_measure(
        criterion.values if criterion.ordered else np.full(len(criterion.labels), np.nan), criterion
    )


def answer_measure(of_level: Values, criterion: CriterionEvidence) -> Measured:
    """Return the measure of each answer, and of the label, by its level; NaN without a level."""
    return _mean_of(of_level, criterion), _at_level(of_level, criterion.truth)


def is_at_scale_end(criterion: CriterionEvidence) -> Measured:
    """Return 1 for the lowest or highest of three or more ordered levels, else 0."""
    k = len(criterion.labels)
    ends = np.full(k, np.nan)
    if criterion.ordered and k > 2:
        ends[:] = 0.0
        ends[[0, -1]] = 1.0
    return answer_measure(ends, criterion)


def abstentions(criterion: CriterionEvidence) -> Measured:
    """Return 1 for an abstention of a judge (or label), 0 for an answer; NaN if not graded."""
    if criterion.criterion.na_index is None:
        return _mean_of(np.full(len(criterion.labels), np.nan), criterion), np.full(
            len(criterion.truth), np.nan
        )
    replies = (criterion.levels >= 0) | criterion.abstained
    abstained = np.where(replies, criterion.abstained * 1.0, np.nan)
    return _mean(abstained), np.where(criterion.labelled, (criterion.truth < 0) * 1.0, np.nan)


def _at_level(of_level: Values, levels: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Values:
    measures: Values = np.where(levels >= 0, of_level[levels], np.nan)
    return measures


def _mean_of(of_level: Values, criterion: CriterionEvidence) -> Values:
    return _mean(_at_level(of_level, criterion.levels))


def _mean(values: Values) -> Values:
    """Return the mean over replicates; NaN without any."""
    present = ~np.isnan(values)
    number = present.sum(axis=2)
    total = np.where(present, values, 0.0).sum(axis=2)
    means: Values = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return means


def against_of(
    cells: Sequence[Measured], judge: int, null: NullValue, reference: str, rater: str
) -> tuple[BiasEffect, str]:
    """Compare the judge with the truth or, if that is known for too few items, with other judges.

    ``reference`` and ``rater`` are their names in sentences.
    """
    if not cells:
        return BiasEffect.undefined("Nothing was asked."), ""
    number, judges = cells[0][0].shape
    items = np.tile(np.arange(number), len(cells))
    to_labels = np.concatenate([judged[:, judge] - reference for judged, reference in cells])
    labelled = np.unique(items[~np.isnan(to_labels)])
    if len(labelled) >= FEW or judges < 2:
        return clustered_mean(to_labels, items, null), reference
    to_others = np.concatenate(
        [judged[:, judge] - mean_of_others(judged)[:, judge] for judged, _ in cells]
    )
    versus = f"the other {rater}s" if judges > 2 else f"the other {rater}"
    return clustered_mean(to_others, items, null), versus


def without_flipped_copies(criterion: CriterionEvidence, replicates: int) -> CriterionEvidence:
    """Return the answers without flipped copies."""
    if criterion.levels.shape[2] == replicates:
        return criterion
    changes = {
        "levels": criterion.levels[:, :, :replicates],
        "abstained": criterion.abstained[:, :, :replicates],
    }
    return CriterionEvidence(**{**vars(criterion), **changes})


def _change_effect(evidence: RunEvidence, judge: int, twin: int, limit: float) -> BiasEffect:
    """Return the share of pairs of answers to one cell that differ, compared with ``limit``.

    A pair is an answer and the answer ``twin`` replicates later; with 0, any two own replicates.
    """
    if not _replicate_pairs(evidence, twin):
        needed = "both orders" if twin else "several replicates"
        return BiasEffect.undefined(f"It was not asked in {needed}.")
    hits, items = changed_pairs(evidence, evidence.criteria, judge, twin)
    return share_above_limit(hits, items, limit)


def changed_pairs(
    evidence: RunEvidence, criteria: Sequence[CriterionEvidence], judge: int, twin: int
) -> tuple[Flags, Levels]:
    """Return which pairs of answers to one cell differ, and each pair's item."""
    hits, items = [np.zeros(0, np.bool_)], [np.zeros(0, np.int64)]
    for criterion in criteria:
        # An abstention counts as an answer, encoded as an extra level.
        answers = np.where(criterion.abstained, len(criterion.labels), criterion.levels)[:, judge]
        for a, b in _replicate_pairs(evidence, twin):
            rows = np.flatnonzero((answers[:, a] >= 0) & (answers[:, b] >= 0))
            hits.append(answers[rows, a] != answers[rows, b])
            items.append(rows)
    return np.concatenate(hits), np.concatenate(items)


def _replicate_pairs(evidence: RunEvidence, twin: int) -> list[tuple[int, int]]:
    n_replicates = evidence.own
    replicates = max((a.levels.shape[2] for a in evidence.criteria), default=0)
    if twin:
        return [(r, r + twin) for r in range(n_replicates) if r + twin < replicates]
    return list(combinations(range(n_replicates), 2))


def _verbosity(evidence: RunEvidence, worths: Sequence[Measured], judge: int) -> BiasEffect:
    lengths = np.where(evidence.words > 0, np.log2(np.maximum(evidence.words, 1.0)), np.nan)
    return _value_slope(evidence, worths, judge, lengths, BOUNDS["verbosity"])


def _made_by_same_maker(evidence: RunEvidence, at: int) -> Values:
    """Return 1 for answers by models of the judge's own maker, 0 for other known systems."""
    judge = evidence.judges[at]
    systems = [traits.system for traits in evidence.of.traits]
    name = judge.model or judge.name
    same_maker = {
        system: float(bool(relation_of(name, system))) if system else np.nan
        for system in set(systems)
    }
    return np.array([same_maker[system] for system in systems], np.float64)


def _value_slope(
    evidence: RunEvidence, worths: Sequence[Measured], judge: int, of_item: Values, null: NullValue
) -> BiasEffect:
    """Return how much more value a judge gives per unit of an item's property, at the same
    label.
    """
    parts = []
    for number, (criterion, (levels, _)) in enumerate(zip(evidence.criteria, worths, strict=True)):
        rows = np.flatnonzero(
            ~np.isnan(levels[:, judge]) & (criterion.truth >= 0) & ~np.isnan(of_item)
        )
        stratum = number * _LEVELS + criterion.truth[rows]
        parts.append(np.stack([levels[rows, judge], of_item[rows], stratum * 1.0, rows * 1.0]))
    values, lengths, strata, items = np.concatenate([np.zeros((4, 0)), *parts], axis=1)
    if not len(values):
        ordered = any(criterion.ordered for criterion in evidence.criteria)
        return BiasEffect.undefined(NO_LABELS if ordered else NO_ORDER)
    return length_slope(values, lengths, strata, items, null)


def _side_by_side(
    evidence: RunEvidence, worths: Sequence[Measured], judge: int
) -> tuple[Values, Values, Values | None]:
    """Return the judge's, the labels' and the other judges' values of ordered criteria.

    Each has shape (items, criteria); the last is ``None`` without other judges.
    """
    empty = np.zeros((len(evidence.words), 0))
    pairs = [w for w, criterion in zip(worths, evidence.criteria, strict=True) if criterion.ordered]
    judged = np.column_stack([empty, *(values[:, judge] for values, _ in pairs)])
    labelled = np.column_stack([empty, *(truth for _, truth in pairs)])
    if len(evidence.judges) < 2:
        return judged, labelled, None
    other_means = np.column_stack(
        [empty, *(mean_of_others(values)[:, judge] for values, _ in pairs)]
    )
    return judged, labelled, other_means


# Options that judges give too often where options have no order: a lean, not leniency.
#
# Asked which of two answers is better, a judge that leans toward "the first" is neither lenient nor
# strict: it may react to the position. All judges of one model share such a lean, so it is shown
# once per model.


def option_candidates(evidence: RunEvidence) -> list[FindingCandidate]:
    """Check how often judges give each unordered option; of two options, only the first."""
    checks = []
    for criterion in evidence.criteria:
        if criterion.ordered:
            continue
        own_answers, k = without_flipped_copies(criterion, evidence.own), len(criterion.labels)
        for level in range(1 if k == 2 else k):
            cells = [answer_measure(np.eye(k)[level], own_answers)]
            for index, name in enumerate(evidence.names):
                names = (evidence.truth, evidence.rater)
                effect, versus = against_of(cells, index, BOUNDS["leaning"], *names)
                sentence = words.option_bias_words(
                    name, criterion.name, criterion.labels, level, effect, versus
                )
                other_option = _option(criterion, level)
                checks.append(
                    FindingCandidate("leaning", "judge", name, effect, sentence, other_option)
                )
    return checks


def _option(criterion: CriterionEvidence, level: int) -> str:
    """Return the name of an option in a finding."""
    return f"“{criterion.labels[level]}” of {criterion.name}"


def merge_findings(findings: Sequence[Finding], evidence: RunEvidence) -> list[Finding]:
    """Return the findings; findings of the same kind are merged into the strongest.

    It merges equal leanings of one model's judges, and findings of judges that all give longer
    answers more, or all less.
    """
    judges = {judge.name: judge for judge in evidence.judges}
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        model = _model_name(judges[finding.subject]) if finding.kind == "leaning" else ""
        if finding.kind in ("leaning", "verbosity"):
            direction = "more" if finding.estimate > 0 else "less"
            groups.setdefault((finding.kind, model, finding.other, direction), []).append(finding)
    merged: dict[int, Finding] = {}
    for (kind, model, _, direction), same in groups.items():
        most = max(same, key=lambda finding: abs(finding.estimate))
        sizes = [abs(finding.estimate) for finding in same]
        if len(same) == 1:
            sentence = most.sentence
        elif kind == "leaning":
            asking = sum(_model_name(judge) == model for judge in evidence.judges)
            sentence = words.leaning_together(most.sentence, model, len(same), asking, sizes)
        else:
            names = sorted(finding.subject for finding in same)
            sentence = words.joint_verbosity_words(
                names, len(judges), f"{evidence.rater}s", direction, sizes
            )
        merged[id(same[0])] = replace(most, sentence=sentence)
    merged_kinds = ("leaning", "verbosity")
    return [
        merged.get(id(finding), finding)
        for finding in findings
        if finding.kind not in merged_kinds or id(finding) in merged
    ]


def _model_name(judge: Judge) -> str:
    """Return a judge's model; for imported judges, the part of the name before a slash."""
    return judge.model or judge.name.split("/")[0]


def leaning_chart(evidence: RunEvidence, finding: Finding) -> Chart:
    """Chart how often the judge and the truth have each option, on items that both answered."""
    criterion = next(
        criterion
        for criterion in evidence.criteria
        if finding.other in (_option(criterion, level) for level in range(len(criterion.labels)))
    )
    judge, k = evidence.names.index(finding.subject), len(criterion.labels)
    levels, truth = criterion.levels[:, judge, 0], criterion.truth
    answered = (levels >= 0) & (truth >= 0)
    series = [(evidence.names[judge], levels[answered if answered.any() else levels >= 0])]
    if answered.any():
        series.append((evidence.truth[0].upper() + evidence.truth[1:], truth[answered]))
    counts = [np.bincount(levels, minlength=k) for _, levels in series]
    return Chart(
        axes=("Option", "Share of answers"),
        places=criterion.labels,
        series=tuple(
            (name, tuple((count / max(count.sum(), 1)).tolist()))
            for (name, _), count in zip(series, counts, strict=True)
        ),
        counts=tuple(counts[0].tolist()),
        share=True,
    )

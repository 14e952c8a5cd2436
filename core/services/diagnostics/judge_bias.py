"""Biases of judges (position, length, leniency, halo, leaning): effect and sentence of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from core.domain.panel import Judge
from core.metrics.bias.effects import BOUNDS, FEW, BiasEffect, Finding, Kind, Null, share_above
from core.metrics.bias.judge_bias import (
    Pull,
    clustered_mean,
    halo,
    length_slope,
    others_mean,
    position_effect,
)
from core.services.agreement.ratings import Levels
from core.services.diagnostics import finding_words as words
from core.services.diagnostics.evidence import Chart, CriterionEvidence, Flags, RunEvidence, Values
from core.text.model_names import related

#: More levels than any criterion has, to number strata by criterion and level.
_LEVELS = 10_000
NO_LABELS = "It takes labels: without them what the judge sees and what is there look alike."

NO_ORDER = "Options without an order are worth neither more nor less."
#: Why a check of a judge cannot be made where no answer has its measure.
_NEVER: dict[Kind, str] = {
    "leniency": NO_ORDER,
    "extremes": "No criterion has three ordered options or more.",
    "abstention": "No criterion has an option to abstain.",
}


class FindingCandidate(NamedTuple):
    """A check with its outcome; ``sentence`` is shown if the effect is. ``held``: never."""

    kind: Kind
    role: Literal["judge", "criterion"]
    subject: str
    effect: BiasEffect
    sentence: str = ""
    other: str = ""
    held: bool = False


#: What each judge's answers to a criterion are worth, shape (items, judges), and the label's.
Measured = tuple[Values, Values]
#: A comparison with the labels or the others: what it finds, its measure per criterion, its words.
Against = tuple[Kind, list[Measured], Callable[[str, BiasEffect, str], str]]


def judge_candidates(evidence: RunEvidence) -> list[FindingCandidate]:
    """Every check of every judge."""
    own = [own_only(asked, evidence.own) for asked in evidence.criteria]
    against: list[Against] = [
        ("leniency", [worth(asked) for asked in own], words.leniency),
        ("extremes", [at_an_end(asked) for asked in own], words.extremes),
        ("abstention", [silence(asked) for asked in own], words.abstention),
    ]
    judges = range(len(evidence.judges))
    return [check for at in judges for check in _of_judge(evidence, at, against)]


def _of_judge(
    evidence: RunEvidence, at: int, against: Sequence[Against]
) -> Iterator[FindingCandidate]:
    name = evidence.names[at]

    def made(kind: Kind, effect: BiasEffect, sentence: str) -> FindingCandidate:
        return FindingCandidate(kind, "judge", name, effect, sentence)

    pull = position_effect(evidence.shown.get(name, ()))
    if isinstance(pull, Pull):
        yield made("position", pull.effect, words.position(name, pull))
    else:
        yield made("position", pull, "")
    again = _changed(evidence, at, 0, BOUNDS["inconsistency"].null.value)
    yield made("inconsistency", again, words.inconsistency(name, again))
    # A judge that contradicts itself anyway is not swayed by the order.
    limit = max(BOUNDS["flips"].null.value, again.high or 0.0)
    flipped = _changed(evidence, at, evidence.own, limit)
    yield made("flips", flipped, words.flips(name, flipped))
    for kind, measures, say in against:
        if all(np.isnan(mine).all() for mine, _ in measures):
            yield made(kind, BiasEffect.undefined(_NEVER[kind]), "")
            continue
        called = (evidence.truth, evidence.rater)
        effect, versus = against_of(measures, at, BOUNDS[kind].null, *called)
        yield made(kind, effect, say(name, effect, versus))
    worths = next(measures for kind, measures, _ in against if kind == "leniency")
    slope = _verbosity(evidence, worths, at)
    yield made("verbosity", slope, words.verbosity(name, slope))
    kin = _kin(evidence, at)
    if 0 < np.nansum(kin) < np.isfinite(kin).sum():
        own = _slope(evidence, worths, at, kin, BOUNDS["own_maker"].null)
        yield made("own_maker", own, words.own_maker(name, own))
    mine, theirs, others = _side_by_side(evidence, worths, at)
    coloured = halo(mine, theirs, BOUNDS["halo"].null, others)
    yield made("halo", coloured.effect, words.halo(name, coloured, evidence.truth))


def worth(asked: CriterionEvidence) -> Measured:
    """The value of each answer, and of the label; NaN where there is none.

    Options without an order are worth neither more nor less: who picks one too often is not kind.
    """
    return measured(asked.values if asked.ordered else np.full(len(asked.labels), np.nan), asked)


def measured(of_level: Values, asked: CriterionEvidence) -> Measured:
    """The measure of each answer, and of the label, where each level has one; NaN without it."""
    return _mean_of(of_level, asked), _at_level(of_level, asked.truth)


def at_an_end(asked: CriterionEvidence) -> Measured:
    """1 where the lowest or highest of three or more ordered levels was picked, else 0."""
    k = len(asked.labels)
    ends = np.full(k, np.nan)
    if asked.ordered and k > 2:
        ends[:] = 0.0
        ends[[0, -1]] = 1.0
    return measured(ends, asked)


def silence(asked: CriterionEvidence) -> Measured:
    """1 where a judge (or the label) abstained, 0 where it answered; NaN if it was not asked."""
    if asked.criterion.na_index is None:
        return _mean_of(np.full(len(asked.labels), np.nan), asked), np.full(
            len(asked.truth), np.nan
        )
    replies = (asked.levels >= 0) | asked.abstained
    given = np.where(replies, asked.abstained * 1.0, np.nan)
    return _mean(given), np.where(asked.labelled, (asked.truth < 0) * 1.0, np.nan)


def _at_level(of_level: Values, levels: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Values:
    found: Values = np.where(levels >= 0, of_level[levels], np.nan)
    return found


def _mean_of(of_level: Values, asked: CriterionEvidence) -> Values:
    return _mean(_at_level(of_level, asked.levels))


def _mean(given: Values) -> Values:
    """The mean over replicates; NaN where there is none."""
    known = ~np.isnan(given)
    number = known.sum(axis=2)
    total = np.where(known, given, 0.0).sum(axis=2)
    found: Values = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return found


def against_of(
    cells: Sequence[Measured], at: int, null: Null, truth: str, rater: str
) -> tuple[BiasEffect, str]:
    """The judge against the truth, or against the other judges where it is known of too few.

    ``truth`` and ``rater`` are what these are called.
    """
    if not cells:
        return BiasEffect.undefined("Nothing was asked."), ""
    number, judges = cells[0][0].shape
    items = np.tile(np.arange(number), len(cells))
    to_labels = np.concatenate([mine[:, at] - truth for mine, truth in cells])
    labelled = np.unique(items[~np.isnan(to_labels)])
    if len(labelled) >= FEW or judges < 2:
        return clustered_mean(to_labels, items, null), truth
    to_others = np.concatenate([mine[:, at] - others_mean(mine)[:, at] for mine, _ in cells])
    versus = f"the other {rater}s" if judges > 2 else f"the other {rater}"
    return clustered_mean(to_others, items, null), versus


def own_only(asked: CriterionEvidence, own: int) -> CriterionEvidence:
    """The answers without flipped twins."""
    if asked.levels.shape[2] == own:
        return asked
    changes = {"levels": asked.levels[:, :, :own], "abstained": asked.abstained[:, :, :own]}
    return CriterionEvidence(**{**vars(asked), **changes})


def _changed(evidence: RunEvidence, at: int, twin: int, limit: float) -> BiasEffect:
    """The share of pairs of answers to one cell that differ, against ``limit``.

    Pairs are an answer and its twin ``twin`` replicates on; with 0, any two own replicates.
    """
    if not _pairs(evidence, twin):
        what = "both orders" if twin else "several replicates"
        return BiasEffect.undefined(f"It was not asked in {what}.")
    hits, items = changed(evidence, evidence.criteria, at, twin)
    return share_above(hits, items, limit)


def changed(
    evidence: RunEvidence, criteria: Sequence[CriterionEvidence], at: int, twin: int
) -> tuple[Flags, Levels]:
    """Which pairs of answers to one cell differ, and the item of each pair; see ``_changed``."""
    hits, items = [np.zeros(0, np.bool_)], [np.zeros(0, np.int64)]
    for asked in criteria:
        # An abstention is an answer, too; one level more stands for it.
        given = np.where(asked.abstained, len(asked.labels), asked.levels)[:, at]
        for a, b in _pairs(evidence, twin):
            rows = np.flatnonzero((given[:, a] >= 0) & (given[:, b] >= 0))
            hits.append(given[rows, a] != given[rows, b])
            items.append(rows)
    return np.concatenate(hits), np.concatenate(items)


def _pairs(evidence: RunEvidence, twin: int) -> list[tuple[int, int]]:
    own = evidence.own
    replicates = max((a.levels.shape[2] for a in evidence.criteria), default=0)
    if twin:
        return [(r, r + twin) for r in range(own) if r + twin < replicates]
    return list(combinations(range(own), 2))


def _verbosity(evidence: RunEvidence, worths: Sequence[Measured], at: int) -> BiasEffect:
    lengths = np.where(evidence.words > 0, np.log2(np.maximum(evidence.words, 1.0)), np.nan)
    return _slope(evidence, worths, at, lengths, BOUNDS["verbosity"].null)


def _kin(evidence: RunEvidence, at: int) -> Values:
    """1 for answers by models of the judge's own maker, 0 for others of known systems."""
    judge = evidence.judges[at]
    systems = [one.system for one in evidence.of.traits]
    name = judge.model or judge.name
    kin = {one: float(bool(related(name, one))) if one else np.nan for one in set(systems)}
    return np.array([kin[one] for one in systems], np.float64)


def _slope(
    evidence: RunEvidence, worths: Sequence[Measured], at: int, of_item: Values, null: Null
) -> BiasEffect:
    """How much more a judge gives per unit of something of the items, at the same label."""
    parts = []
    for number, (asked, (mine, _)) in enumerate(zip(evidence.criteria, worths, strict=True)):
        rows = np.flatnonzero(~np.isnan(mine[:, at]) & (asked.truth >= 0) & ~np.isnan(of_item))
        stratum = number * _LEVELS + asked.truth[rows]
        parts.append(np.stack([mine[rows, at], of_item[rows], stratum * 1.0, rows * 1.0]))
    values, lengths, strata, items = np.concatenate([np.zeros((4, 0)), *parts], axis=1)
    if not len(values):
        ordered = any(asked.ordered for asked in evidence.criteria)
        return BiasEffect.undefined(NO_LABELS if ordered else NO_ORDER)
    return length_slope(values, lengths, strata, items, null)


def _side_by_side(
    evidence: RunEvidence, worths: Sequence[Measured], at: int
) -> tuple[Values, Values, Values | None]:
    """The judge's, the labels' and the other judges' values of ordered criteria, shape (items,
    criteria) each; none of others where there are none.
    """
    empty = np.zeros((len(evidence.words), 0))
    pairs = [w for w, asked in zip(worths, evidence.criteria, strict=True) if asked.ordered]
    mine = np.column_stack([empty, *(own[:, at] for own, _ in pairs)])
    theirs = np.column_stack([empty, *(truth for _, truth in pairs)])
    if len(evidence.judges) < 2:
        return mine, theirs, None
    others = np.column_stack([empty, *(others_mean(own)[:, at] for own, _ in pairs)])
    return mine, theirs, others


# What judges say too often where options have no order: there is no severity, only a lean.
#
# Asked which of two answers is better, a judge that leans to "the first" is neither kind nor
# strict: it may look at places. All judges that ask one model share such a lean, so it is shown
# once.


def option_candidates(evidence: RunEvidence) -> list[FindingCandidate]:
    """How often each judge gives each option without an order; of two options the first says it."""
    found = []
    for asked in evidence.criteria:
        if asked.ordered:
            continue
        own, k = own_only(asked, evidence.own), len(asked.labels)
        for level in range(1 if k == 2 else k):
            cells = [measured(np.eye(k)[level], own)]
            for at, name in enumerate(evidence.names):
                called = (evidence.truth, evidence.rater)
                effect, versus = against_of(cells, at, BOUNDS["leaning"].null, *called)
                sentence = words.leaning(name, asked.name, asked.labels, level, effect, versus)
                other = _option(asked, level)
                found.append(FindingCandidate("leaning", "judge", name, effect, sentence, other))
    return found


def _option(asked: CriterionEvidence, level: int) -> str:
    """How a finding names an option."""
    return f"“{asked.labels[level]}” of {asked.name}"


def told_together(findings: Sequence[Finding], evidence: RunEvidence) -> list[Finding]:
    """The findings; those of one lean and one model as one, that of the judge that leans most, and
    likewise those of judges that all give longer answers more, or all less.
    """
    judges = {judge.name: judge for judge in evidence.judges}
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for one in findings:
        model = _model(judges[one.subject]) if one.kind == "leaning" else ""
        if one.kind in ("leaning", "verbosity"):
            way = "more" if one.estimate > 0 else "less"
            groups.setdefault((one.kind, model, one.other, way), []).append(one)
    told: dict[int, Finding] = {}
    for (kind, model, _, way), same in groups.items():
        most = max(same, key=lambda one: abs(one.estimate))
        sizes = [abs(one.estimate) for one in same]
        if len(same) == 1:
            sentence = most.sentence
        elif kind == "leaning":
            asking = sum(_model(judge) == model for judge in evidence.judges)
            sentence = words.leaning_together(most.sentence, model, len(same), asking, sizes)
        else:
            names = sorted(one.subject for one in same)
            sentence = words.verbosity_together(
                names, len(judges), f"{evidence.rater}s", way, sizes
            )
        told[id(same[0])] = replace(most, sentence=sentence)
    alone = ("leaning", "verbosity")
    return [told.get(id(one), one) for one in findings if one.kind not in alone or id(one) in told]


def _model(judge: Judge) -> str:
    """The model that a judge asks; of an imported one what its name begins with, up to a slash."""
    return judge.model or judge.name.split("/")[0]


def leaning_chart(evidence: RunEvidence, finding: Finding) -> Chart:
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
    return Chart(
        axes=("Option", "Share of answers"),
        places=asked.labels,
        series=tuple(
            (name, tuple((count / max(count.sum(), 1)).tolist()))
            for (name, _), count in zip(series, counts, strict=True)
        ),
        counts=tuple(counts[0].tolist()),
        share=True,
    )

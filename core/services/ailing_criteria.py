"""What to ask of every criterion: each check as an effect with the sentence that would tell it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from core.metrics.accuracy import Counts
from core.metrics.ailments.agreement import agreement, merges
from core.metrics.ailments.association import (
    Association,
    correlation_of,
    cramers_v,
    item_rest,
    redundancy,
)
from core.metrics.ailments.effect import FEW, BiasEffect
from core.metrics.ailments.findings import BOUNDS, Kind
from core.metrics.ailments.shares import hardly_used
from core.metrics.group import alpha_nominal, alpha_ordinal
from core.metrics.ratings import patterns
from core.services import ailing_words as words
from core.services.agreeing_pairs import RESAMPLES, SEED
from core.services.ailing_judges import Candidate
from core.services.evidence import Asked, Evidence
from core.services.measuring_figures import Draws
from core.services.measuring_groups import group_intervals
from core.services.rated_matrix import Levels


def criterion_candidates(evidence: Evidence) -> list[Candidate]:
    """Every check of every criterion, and of every two of them."""
    found = [c for asked in evidence.criteria for c in _of_criterion(asked, evidence)]
    return [*found, *_discrimination(evidence), *_redundancy(evidence)]


def _made(kind: Kind, subject: str, effect: BiasEffect, sentence: str) -> Candidate:
    return Candidate(kind, "criterion", subject, effect, sentence)


def _of_criterion(asked: Asked, evidence: Evidence) -> Iterator[Candidate]:
    ratings, who = raters_of(asked, evidence.truth)
    k = len(asked.labels)
    name = asked.name
    agreed = agreement(ratings, k, asked.ordered, BOUNDS["agreement"].null)
    agreed = agreed._replace(effect=_with_one_interval(agreed.effect, ratings, asked))
    yield _made("agreement", name, agreed.effect, words.agreement(name, agreed, who))
    yield from _unused(asked, evidence.own, evidence.truth)
    judges = asked.levels.shape[1]
    null = BOUNDS["merge"].null
    for what_if in merges(ratings, asked.truth, k, asked.ordered, null, judges=judges):
        yield Candidate(
            kind="merge",
            role="criterion",
            subject=name,
            effect=what_if.apart,
            sentence=words.merge(name, asked.labels, what_if, who),
            other=f"{asked.labels[what_if.first]} + {asked.labels[what_if.second]}",
            held=not what_if.helps,
        )


def _with_one_interval(effect: BiasEffect, ratings: Levels, asked: Asked) -> BiasEffect:
    """The effect with the interval that alpha has everywhere else; its p stays that of the check.

    The Agreement page, the report and ``metrics`` make theirs of the same resamples.
    """
    if effect.low is None:
        return effect
    seen, k = patterns(ratings), len(asked.labels)
    measure = alpha_ordinal if asked.ordered and k > 2 else alpha_nominal
    drawn = Draws(len(ratings), RESAMPLES, SEED).of(seen.of_item, seen.times)
    times = seen.times.astype(np.float64)
    ci = group_intervals({"alpha": measure}, seen.rows, times, drawn, k)["alpha"]
    return effect._replace(low=ci.low, high=ci.high)


def raters_of(asked: Asked, truth: str) -> tuple[Levels, str]:
    """The judges' first replicates side by side; with one judge, it beside the truth."""
    first = asked.levels[:, :, 0]
    if first.shape[1] > 1:
        return first, "Judges"
    return np.column_stack([first, asked.truth]), f"The judge and {truth}"


def _unused(asked: Asked, own: int, truth: str) -> Iterator[Candidate]:
    given = asked.levels[:, :, :own].reshape(len(asked.levels), -1)
    n = int((given >= 0).any(axis=1).sum())
    for level, label in enumerate(asked.labels):
        picked = int((given == level).any(axis=1).sum())
        effect = hardly_used(picked, n, BOUNDS["unused"].null.value)
        labelled = int((asked.truth == level).sum())
        sentence = words.unused(asked.name, label, picked, effect, labelled, truth)
        yield _made("unused", asked.name, effect, sentence)._replace(other=label)


def _discrimination(evidence: Evidence) -> Iterator[Candidate]:
    ordered = [asked for asked in evidence.criteria if asked.ordered]
    values = np.full((len(evidence.items), len(ordered)), np.nan)
    for column, asked in enumerate(ordered):
        there = asked.verdicts >= 0
        values[there, column] = asked.values[asked.verdicts[there]]
    for column, asked in enumerate(ordered):
        effect = item_rest(values, column, BOUNDS["discrimination"].null)
        yield _made("discrimination", asked.name, effect, words.discrimination(asked.name, effect))


def _redundancy(evidence: Evidence) -> Iterator[Candidate]:
    for first, second in combinations(evidence.criteria, 2):
        table = _together(first.verdicts, second.verdicts, first, second)
        association = _association(first, second)
        effect = redundancy(table, association, BOUNDS["redundancy"].null.value)
        truth = _together(first.truth, second.truth, first, second)
        in_labels = float(association(truth.astype(np.float64))) if truth.sum() >= FEW else np.nan
        known = in_labels if np.isfinite(in_labels) else None
        sentence = words.redundancy(first.name, second.name, effect, known, evidence.truth)
        yield _made("redundancy", first.name, effect, sentence)._replace(other=second.name)


def _association(first: Asked, second: Asked) -> Association:
    if first.ordered and second.ordered:
        return correlation_of(first.values, second.values)
    return cramers_v


def _together(a: Levels, b: Levels, first: Asked, second: Asked) -> Counts:
    """How many items have each pair of levels, shape (levels, levels)."""
    rows, columns = len(first.labels), len(second.labels)
    both = (a >= 0) & (b >= 0)
    cells = np.bincount(a[both] * columns + b[both], minlength=rows * columns)
    return cells.reshape(rows, columns)

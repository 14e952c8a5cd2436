"""What to ask of every judge: each check as an effect with the sentence that would tell it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from core.metrics.ailments.effect import FEW, BiasEffect, Null
from core.metrics.ailments.findings import BOUNDS, Kind
from core.metrics.ailments.halo import halo
from core.metrics.ailments.length import length_slope
from core.metrics.ailments.paired import clustered_mean, others_mean
from core.metrics.ailments.position import Pull, position_effect
from core.metrics.ailments.shares import share_above
from core.services import ailing_words as words
from core.services.evidence import Asked, Evidence, Flags, Values
from core.services.rated_matrix import Levels

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


class Candidate(NamedTuple):
    """A check with its outcome; ``sentence`` is told if the effect is. ``held``: never told."""

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


def judge_candidates(evidence: Evidence) -> list[Candidate]:
    """Every check of every judge."""
    own = [own_only(asked, evidence.own) for asked in evidence.criteria]
    against: list[Against] = [
        ("leniency", [worth(asked) for asked in own], words.leniency),
        ("extremes", [at_an_end(asked) for asked in own], words.extremes),
        ("abstention", [silence(asked) for asked in own], words.abstention),
    ]
    judges = range(len(evidence.judges))
    return [check for at in judges for check in _of_judge(evidence, at, against)]


def _of_judge(evidence: Evidence, at: int, against: Sequence[Against]) -> Iterator[Candidate]:
    name = evidence.names[at]

    def made(kind: Kind, effect: BiasEffect, sentence: str) -> Candidate:
        return Candidate(kind, "judge", name, effect, sentence)

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
        effect, versus = against_of(measures, at, BOUNDS[kind].null, evidence.truth)
        yield made(kind, effect, say(name, effect, versus))
    worths = next(measures for kind, measures, _ in against if kind == "leniency")
    slope = _verbosity(evidence, worths, at)
    yield made("verbosity", slope, words.verbosity(name, slope))
    coloured = halo(*_side_by_side(evidence, worths, at), BOUNDS["halo"].null)
    yield made("halo", coloured.effect, words.halo(name, coloured, evidence.truth))


def worth(asked: Asked) -> Measured:
    """The value of each answer, and of the label; NaN where there is none.

    Options without an order are worth neither more nor less: who picks one too often is not kind.
    """
    return measured(asked.values if asked.ordered else np.full(len(asked.labels), np.nan), asked)


def measured(of_level: Values, asked: Asked) -> Measured:
    """The measure of each answer, and of the label, where each level has one; NaN without it."""
    return _mean_of(of_level, asked), _at_level(of_level, asked.truth)


def at_an_end(asked: Asked) -> Measured:
    """1 where the lowest or highest of three or more ordered levels was picked, else 0."""
    k = len(asked.labels)
    ends = np.full(k, np.nan)
    if asked.ordered and k > 2:
        ends[:] = 0.0
        ends[[0, -1]] = 1.0
    return measured(ends, asked)


def silence(asked: Asked) -> Measured:
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


def _mean_of(of_level: Values, asked: Asked) -> Values:
    return _mean(_at_level(of_level, asked.levels))


def _mean(given: Values) -> Values:
    """The mean over replicates; NaN where there is none."""
    known = ~np.isnan(given)
    number = known.sum(axis=2)
    total = np.where(known, given, 0.0).sum(axis=2)
    found: Values = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return found


def against_of(
    cells: Sequence[Measured], at: int, null: Null, truth: str
) -> tuple[BiasEffect, str]:
    """The judge against the truth, or against the other judges where it is known of too few."""
    if not cells:
        return BiasEffect.undefined("Nothing was asked."), ""
    number, judges = cells[0][0].shape
    items = np.tile(np.arange(number), len(cells))
    to_labels = np.concatenate([mine[:, at] - truth for mine, truth in cells])
    labelled = np.unique(items[~np.isnan(to_labels)])
    if len(labelled) >= FEW or judges < 2:
        return clustered_mean(to_labels, items, null), truth
    to_others = np.concatenate([mine[:, at] - others_mean(mine)[:, at] for mine, _ in cells])
    versus = "the other judges" if judges > 2 else "the other judge"
    return clustered_mean(to_others, items, null), versus


def own_only(asked: Asked, own: int) -> Asked:
    """The answers without flipped twins."""
    if asked.levels.shape[2] == own:
        return asked
    changes = {"levels": asked.levels[:, :, :own], "abstained": asked.abstained[:, :, :own]}
    return Asked(**{**vars(asked), **changes})


def _changed(evidence: Evidence, at: int, twin: int, limit: float) -> BiasEffect:
    """The share of pairs of answers to one cell that differ, against ``limit``.

    Pairs are an answer and its twin ``twin`` replicates on; with 0, any two own replicates.
    """
    if not _pairs(evidence, twin):
        what = "both orders" if twin else "several replicates"
        return BiasEffect.undefined(f"It was not asked in {what}.")
    hits, items = changed(evidence, evidence.criteria, at, twin)
    return share_above(hits, items, limit)


def changed(
    evidence: Evidence, criteria: Sequence[Asked], at: int, twin: int
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


def _pairs(evidence: Evidence, twin: int) -> list[tuple[int, int]]:
    own = evidence.own
    replicates = max((a.levels.shape[2] for a in evidence.criteria), default=0)
    if twin:
        return [(r, r + twin) for r in range(own) if r + twin < replicates]
    return list(combinations(range(own), 2))


def _verbosity(evidence: Evidence, worths: Sequence[Measured], at: int) -> BiasEffect:
    parts = []
    for number, (asked, (mine, _)) in enumerate(zip(evidence.criteria, worths, strict=True)):
        rows = np.flatnonzero(~np.isnan(mine[:, at]) & (asked.truth >= 0) & (evidence.words > 0))
        stratum = number * _LEVELS + asked.truth[rows]
        parts.append(
            np.stack([mine[rows, at], np.log2(evidence.words[rows]), stratum * 1.0, rows * 1.0])
        )
    values, lengths, strata, items = np.concatenate([np.zeros((4, 0)), *parts], axis=1)
    if not len(values):
        ordered = any(asked.ordered for asked in evidence.criteria)
        return BiasEffect.undefined(NO_LABELS if ordered else NO_ORDER)
    return length_slope(values, lengths, strata, items, BOUNDS["verbosity"].null)


def _side_by_side(evidence: Evidence, worths: Sequence[Measured], at: int) -> tuple[Values, Values]:
    """The judge's and the labels' values of ordered criteria, shape (items, criteria) each."""
    empty = np.zeros((len(evidence.items), 0))
    pairs = [w for w, asked in zip(worths, evidence.criteria, strict=True) if asked.ordered]
    mine = np.column_stack([empty, *(own[:, at] for own, _ in pairs)])
    return mine, np.column_stack([empty, *(truth for _, truth in pairs)])

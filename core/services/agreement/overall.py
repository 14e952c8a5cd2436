"""Compare a rater with a reference over all criteria: the share of right cells, and mean kappa."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from core.metrics.agreement.kappa import kappa_quadratic, kappa_unweighted
from core.metrics.estimate import USUAL, Confidence, Estimate, Interval, ci_and_undefined
from core.metrics.intervals.bootstrap import SMALL, basic, percentile
from core.metrics.intervals.clustered_share import clustered_share
from core.metrics.intervals.in_force import ALL_PICKED, VerdictsInForce, verdicts_in_force
from core.metrics.intervals.joint_draws import AnswerPairs, Figure, ItemSubset, Resampled
from core.metrics.intervals.means import jackknife_error, t_interval
from core.metrics.measure import Array
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, levels_of_sides, name_of
from core.services.agreement.ratings import (
    ABSTAINED,
    JUDGE_KINDS,
    LABELS,
    OWN_LABELS,
    PANEL,
    PEOPLE,
    SETTLED,
    TIED,
    CriterionRatings,
    LabelSource,
    Levels,
    Rated,
    columns_of,
)
from core.text.names import visible
from core.text.numbers import count, percent, plural

NO_CELLS = "No item has an answer of both."
SAME_PEOPLE = "The panel is these people: that would be agreement of a group with itself."
NO_KAPPA = "No criterion has a kappa: both sides would have to use more than one option."


def answer_pairs(rated: Rated, reference: str, column: str = PANEL) -> list[AnswerPairs]:
    """Return the answer pairs of two columns (`core.services.agreement.ratings`), by criterion."""
    ids = rated.of.ids
    return [_answer_pairs(criterion, ids, reference, column) for criterion in rated.criteria]


def _answer_pairs(
    criterion: CriterionRatings, ids: Sequence[str], reference: str, column: str
) -> AnswerPairs:
    sides = [
        criterion.panel if name == PANEL else criterion.column(name, len(ids))
        for name in (reference, column)
    ]
    answered = np.flatnonzero((sides[0] >= 0) & (sides[1] >= 0))
    return AnswerPairs(
        criterion.name,
        criterion.labels,
        criterion.scale == "ordinal",
        ItemSubset(ids, answered),
        sides[0][answered],
        sides[1][answered],
    )


def accuracy(tables: Sequence[Array], pairs: Sequence[AnswerPairs]) -> Array:
    """Return the share of right cells over all criteria, for each draw; NaN without cells."""
    hits = sum(np.trace(table, axis1=0, axis2=1) for table in tables)
    return np.asarray(hits / _or_nan(sum(table.sum(axis=(0, 1)) for table in tables)))


def mean_kappa(tables: Sequence[Array], pairs: Sequence[AnswerPairs]) -> Array:
    """Return, per draw, the mean of the criteria's defined kappas (quadratic if ordered)."""
    each = [
        (kappa_quadratic if pair.ordinal else kappa_unweighted).many(table)
        for pair, table in zip(pairs, tables, strict=True)
    ]
    kappas = np.array(each).reshape(len(pairs), -1)
    defined = np.isfinite(kappas)
    return np.asarray(np.where(defined, kappas, 0).sum(axis=0) / _or_nan(defined.sum(axis=0)))


OVERALL: Mapping[str, Figure] = {"accuracy": accuracy, "mean_kappa": mean_kappa}


def _or_nan(count: Any) -> Array:
    weights = np.asarray(count, dtype=np.float64)
    return np.where(weights > 0, weights, np.nan)


def overall_data(
    rated: Rated,
    reference: str | None = None,
    resamples: int = 0,
    seed: int = 0,
    confidence: Confidence = USUAL,
) -> dict[str, Any]:
    """Return ``overall`` of ``metrics --json``: panel and judges, each against labels and people.

    With ``resamples`` there are intervals; resampled ones share their draws of items over all
    criteria and raters.
    """
    against = {"vs_gold": ("gold", LABELS), "vs_human_majority": ("human", PEOPLE)}
    chosen = [(key, at) for key, (name, at) in against.items() if reference in (None, name)]
    columns = columns_of(rated.raters)
    if reference not in (None, "gold", "human"):
        named = [at for rater, at in columns.items() if rater.name == reference]
        chosen = [("vs_reference", at) for at in named[:1]]
    judges = {
        r.name: at for r, at in columns.items() if r.kind in JUDGE_KINDS and r.name != reference
    }
    pairs = {
        (column, key): answer_pairs(rated, at, column)
        for column in (PANEL, *judges.values())
        for key, at in chosen
    }
    overalls = _overall_figures([*pairs.values()], resamples, seed, confidence)
    figures = {pair: agreement.as_data() for pair, agreement in zip(pairs, overalls, strict=True)}
    if (PANEL, "vs_human_majority") in figures and any(r.kind == "human" for r in rated.members):
        same = Estimate.undefined(SAME_PEOPLE)
        figures[PANEL, "vs_human_majority"] = Overall(0, 0, same, same).as_data()
    decided = sum(criterion.decided for criterion in rated.criteria)
    return {
        "panel": {key: {**figures[PANEL, key], "decided": decided} for key, _ in chosen},
        "raters": {
            name: {key: figures[at, key] for key, _ in chosen} for name, at in judges.items()
        },
    }


@dataclass(frozen=True)
class Overall:
    """Agreement over all criteria: ``cells`` that both answered, on this many criteria."""

    criteria: int
    cells: int
    accuracy: Estimate
    mean_kappa: Estimate

    def as_data(self) -> dict[str, Any]:
        """Return the figures over all criteria (``O`` in ``metrics --json``)."""
        figures = {"accuracy": self.accuracy, "mean_kappa": self.mean_kappa}
        return {
            "criteria": self.criteria,
            "cells": self.cells,
            **{name: estimate.value for name, estimate in figures.items()},
            **ci_and_undefined(figures),
        }


def overall_of_sheet(
    sheet: Sheet,
    reference: str,
    rater: str,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: Confidence = USUAL,
) -> Overall:
    """Return a rater's agreement with a reference over all criteria of a sheet."""
    pairs = list[AnswerPairs]()
    for ratings in sheet.criteria:
        reference_levels, rated = levels_of_sides(sheet, ratings, reference, rater)
        answered = np.flatnonzero((reference_levels >= 0) & (rated >= 0))
        ids = ItemSubset(sheet.items, answered)
        ordinal = ratings.scale == "ordinal"
        answers = reference_levels[answered], rated[answered]
        pairs.append(AnswerPairs(ratings.name, ratings.labels, ordinal, ids, *answers))
    return next(_overall_figures([pairs], resamples, seed, confidence))


def right_cells(pairs: Sequence[AnswerPairs], level: float) -> Estimate:
    """Return the share of cells on which both agree; cells of an item are correlated."""
    hits = np.concatenate([pair.reference == pair.answers for pair in pairs])
    place: dict[str, int] = {}
    rows = [
        pair.items.rows
        if isinstance(pair.items, ItemSubset)
        else np.array([place.setdefault(item, len(place)) for item in pair.items], np.int64)
        for pair in pairs
    ]
    return clustered_share(hits, np.concatenate(rows), level=level)


def _jackknife(
    pairs: Sequence[AnswerPairs], figure: Figure, value: float, level: float
) -> Interval:
    """Return a figure's interval for few items: leave out each item in turn, and use t."""
    resampled = Resampled.of_pairs([pairs])
    values = figure(resampled.leave_one_out_tables(pairs), pairs)
    if not np.isfinite(values).all():
        return Interval(None, None, "t", "Without some item it is undefined.")
    error = float(jackknife_error(values))
    return t_interval(value, error, len(resampled.items), level, ends=(-1.0, 1.0))


def _overall_figures(
    sides_: Sequence[Sequence[AnswerPairs]], resamples: int, seed: int, confidence: Confidence
) -> Iterator[Overall]:
    resampled, (level, method) = Resampled.of_pairs(sides_), confidence
    drawn = None
    if resamples and resampled.items:
        drawn = resampled.values(OVERALL, sides_, resamples, seed, joined=False)
    for index, pairs in enumerate(sides_):
        once, cells = resampled.unweighted_tables(pairs), sum(len(pair.items) for pair in pairs)
        reasons = {"accuracy": NO_CELLS, "mean_kappa": NO_KAPPA if cells else NO_CELLS}
        estimates = dict[str, Estimate]()
        for name, figure in OVERALL.items():
            value = float(figure(once, pairs)[0])
            if not isfinite(value):
                estimates[name] = Estimate.undefined(reasons[name], cells)
                continue
            estimate = Estimate.defined(value, cells)
            if drawn is not None and name == "accuracy" and method == "auto":
                estimate = right_cells(pairs, level)
            elif drawn is not None and method == "auto" and len(resampled.items) < SMALL:
                estimate = estimate.with_interval(_jackknife(pairs, figure, value, level))
            elif drawn is not None and method == "basic":
                estimate = estimate.with_interval(basic(drawn[name][index], value, level))
            elif drawn is not None:
                estimate = estimate.with_interval(percentile(drawn[name][index], level))
            estimates[name] = estimate
        number = sum(bool(pair.items) for pair in pairs)
        yield Overall(number, cells, estimates["accuracy"], estimates["mean_kappa"])


# The share of right verdicts among those in force. All screens and reports use only this statement
# about it.


@dataclass(frozen=True)
class Trust:
    """How often the verdicts in force are right. ``reference`` is a column, or empty.

    ``found.right`` is about the verdicts in force, ``found.before`` about the votes' own verdicts,
    both over all ``cells``. ``drawn`` says how the labels were drawn. On ``both`` cells a label
    existed before people settled the cell; they settled another option on ``differ`` of them.
    Criteria without labels are ``unlabelled``, and ``elsewhere`` counts their verdicts in force.
    Neither share includes these, nor cells where the reference is ``tied`` or ``silent``.
    """

    found: VerdictsInForce
    reference: str
    cells: int
    drawn: str
    both: int = 0
    differ: int = 0
    unlabelled: tuple[str, ...] = ()
    elsewhere: int = 0
    unlike: str = ""
    tied: int = 0
    silent: int = 0

    @property
    def decided(self) -> float | None:
        """Return the share of cells with a verdict in force."""
        return (self.found.decided + self.elsewhere) / self.cells if self.cells else None

    @property
    def sentence(self) -> str:
        """Return the statement in words."""
        right, before = self.found.right, self.found.before
        decided = f"{percent(self.decided)} of {plural(self.cells, 'cell')} are decided."
        measured = bool(self.reference) and right.value is not None
        reason = right.reason if self.reference else _NOTHING_KNOWN
        unknown = f"How right the verdicts are is unknown: {reason}"
        parts = [f"{self._worded(right.words(percent).inline)};" if measured else unknown, decided]
        if measured and self.unlabelled:
            names = ", ".join(map(visible, self.unlabelled[:3]))
            others = f" and {len(self.unlabelled) - 3} more" if self.unlabelled[3:] else ""
            parts.append(f"That leaves out {names}{others} (no reference).")
        if self.found.settled and before.value is not None:
            had = before.words(percent).inline
            parts.append(f"Before people settled {count(self.found.settled)} of them: {had}.")
        if self.both:
            share = f"{percent(self.differ / self.both)} of {plural(self.both, 'cell')} with both"
            so = ", so a verdict that differs from its label may be right" if self.differ else ""
            parts.append(f"Labels and people differ on {share}{so}.")
        return " ".join(parts)

    def _worded(self, share: str) -> str:
        """Return the share of right verdicts in words, and what it was measured on."""
        right = "are right" if self.reference == LABELS else "are what most people say"
        if self.reference not in (LABELS, PEOPLE):
            right = f"are what {visible(name_of(self.reference))} says"
        number = plural(self.found.labels, "label" if self.reference == LABELS else "cell")
        if self.reference != LABELS:
            number += " on which most people agree" if self.tied else " that people rated"
        if self.drawn or self._covers_all_cells:
            origin = ", measured on" if self.reference == LABELS else ", from"
            return f"{share} of the verdicts {right}{origin} {number} ({self._drawn()})"
        if self.unlike:
            basis = "By" if self.found.settled else "On"
            return (
                f"How right the verdicts are is unknown: the {number} are not a fair sample "
                f"({self.unlike}). {basis} these {share} {right}"
            )
        fair = "is a fair sample" if self.found.labels == 1 else "are a fair sample"
        return f"If the {number} {fair} ({self._drawn()}), {share} of the verdicts {right}"

    @property
    def _covers_all_cells(self) -> bool:
        return self.found.labels + self.silent >= self.found.decided

    def _drawn(self) -> str:
        if self.drawn:
            return self.drawn
        if not self._covers_all_cells:
            tie = f"people tie on {count(self.tied)} more" if self.tied else ""
            unrated = self.found.labels + self.tied + self.silent < self.found.decided
            return "; ".join(filter(None, (tie, "how they were chosen is unknown" * unrated)))
        if self.reference != LABELS:
            return "all decided cells"
        but = f" but {count(self.silent)} that cannot be assessed" if self.silent else ""
        return f"one on every decided cell{' of labelled criteria' * bool(self.unlabelled)}{but}"

    def as_data(self) -> dict[str, Any]:
        """Return the key ``trust`` of ``metrics --json``."""
        estimates = {
            "right": self.found.right,
            "before": self.found.before,
            "decided": Estimate(self.decided, reason="There is no cell."),
        }
        name = {LABELS: "gold", PEOPLE: "human"}.get(self.reference, name_of(self.reference))
        return {
            "in_words": self.sentence,
            **{name: estimate.value for name, estimate in estimates.items()},
            **({"differ": self.differ / self.both, "rechecked": self.both} if self.both else {}),
            "cells": self.cells,
            "settled": self.found.settled,
            "labels": self.found.labels,
            **({"reference": name, "drawn": self._drawn()} if self.reference else {}),
            **({"unlike": self.unlike} if self.unlike else {}),
            **ci_and_undefined(estimates),
        }


_NOTHING_KNOWN = "no cell has a label. Label 20 items, or review a random audit."


def trust_of(rated: Rated, reference: str = "", level: float = USUAL.level) -> Trust:
    """Return how often a source's verdicts are right by labels, or by people, or ``reference``."""
    people = [at for rater, at in columns_of(rated.raters).items() if rater.kind == "human"]
    if not reference:
        labelled = any((c.gold >= 0).any() for c in rated.criteria)
        of_people = any(rater.kind == "human" for rater in rated.members)
        reference = LABELS if labelled else ""
        if not labelled and people and not of_people:
            reference = PEOPLE if len(people) > 1 else people[0]
    ids, items = rated.of.ids, len(rated.of.ids)
    settled = [c.column(SETTLED, items) for c in rated.criteria]
    labels = [c.column(reference, items) for c in rated.criteria]
    own_labels = _joined_columns([c.column(OWN_LABELS, items) for c in rated.criteria])
    people_said = _joined_columns(settled)
    twice = (own_labels >= 0) & (people_said >= 0) & (reference == LABELS)
    n_twice, differ = int(twice.sum()), int((twice & (own_labels != people_said)).sum())
    draw = rated.sample(level) if reference == LABELS else LabelSource()
    known = [i for i in range(len(labels)) if (labels[i] >= 0).any() or (settled[i] >= 0).any()]
    if draw.words or not known:
        known = [*range(len(labels))]
    chances = draw.chances
    weights = None if chances is None else np.tile([1 / chances[i] for i in ids], len(known))
    decided = _joined_columns([c.panel for c in rated.criteria]) >= 0
    tied, unanswered = ((_joined_columns(labels) == code) & decided for code in (TIED, ABSTAINED))
    unlabelled = [c for i, c in enumerate(rated.criteria) if i not in known and c.decided]
    figures = verdicts_in_force(
        _joined_columns([rated.criteria[i].panel for i in known]),
        _joined_columns([labels[i] for i in known]),
        _joined_columns([settled[i] for i in known]),
        np.tile(np.arange(items), len(known)),
        weights=weights,
        audited=draw.audited,
        reason=draw.why or ALL_PICKED,
        level=level,
    )
    names, elsewhere = tuple(c.name for c in unlabelled), sum(c.decided for c in unlabelled)
    extras = (names, elsewhere, next(iter(draw.unlike.values()), ""))
    sides = (n_twice, differ, *extras, int(tied.sum()), int(unanswered.sum()))
    return Trust(figures, reference, rated.of.cells, draw.words, *sides)


def trust_against(rated: Rated, name: str | None, level: float = USUAL.level) -> Trust | None:
    """Return ``trust_of`` for the reference of this name: ``gold``, ``human`` or a rater.

    It is ``None`` if the reference's own votes are among the panel's.
    """
    if name in (None, "gold"):
        return trust_of(rated, LABELS if name else "", level)
    columns = columns_of(rated.raters)
    kinds = [rater for rater in rated.raters if rater.kind == "human"]
    chosen = kinds if name == "human" else [r for r in rated.raters if r.name == name][:1]
    if not chosen or rated.members & set(chosen):
        return None
    return trust_of(rated, columns[chosen[0]] if len(chosen) == 1 else PEOPLE, level)


def _joined_columns(columns: Sequence[Levels]) -> Levels:
    return np.concatenate([np.empty(0, np.int64), *columns])

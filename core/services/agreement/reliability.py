"""Whole groups of raters: how reliable each is, how near every rater comes to people, and whether
a judge may stand in for one of them.

People's agreement with each other is what a judge can hope for; so both stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from core.metrics.agreement import reliability
from core.metrics.agreement.alt_test import (
    EPSILON,
    AltTest,
    Kind,
    Q,
    Wins,
    alt_test,
    over_criteria,
    wins,
)
from core.metrics.agreement.kappa import KAPPAS, NOTHING, SINGLE, pair_cells
from core.metrics.agreement.ratings import majority, patterns
from core.metrics.estimate import Estimate
from core.metrics.intervals.bootstrap import intervals
from core.metrics.measure import Array, ratio, tally
from core.services.agreement.group_figures import Draws, group_intervals, rendered
from core.services.agreement.pair_figures import kappa_interval
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, name_of, of_each_others, sides
from core.services.agreement.ratings import PANEL, CriterionRatings, Levels
from core.text.numbers import percent, plural, score

HUMAN = "human"
KINDS = (HUMAN, "llm", "offline")
_ALPHA = {"nominal": reliability.alpha_nominal, "ordinal": reliability.alpha_ordinal}


class Matrix(NamedTuple):
    """Kappa of every two columns, and on how many items; symmetric. ``None``: undefined."""

    columns: tuple[str, ...]
    values: list[list[float | None]]
    counts: list[list[int]]

    def figure(self, a: int, b: int) -> Estimate:
        """Kappa of two columns, with the reason where it is undefined."""
        value, n = self.values[a][b], self.counts[a][b]
        if value is not None:
            return Estimate.defined(value, n)
        return Estimate.undefined(SINGLE if n else NOTHING, n)


@dataclass(frozen=True)
class RaterStanding:
    """One rater beside the majority of people (of the others, for one of them)."""

    column: str
    kind: str
    kappa: Estimate

    @property
    def n(self) -> int:
        """On how many items."""
        return self.kappa.n


@dataclass(frozen=True)
class Ceiling:
    """Every rater's standing, and the mean kappa of each kind of raters.

    ``ties`` counts items without a majority of people.
    """

    standings: tuple[RaterStanding, ...]
    means: Mapping[str, Estimate]
    ties: int


def alphas(
    sheet: Sheet, kind: str = "", *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[Estimate]:
    """Krippendorff's alpha among raters per criterion of the sheet, by its scale.

    ``kind``: ``human`` for people, else among all judges.
    """
    columns = sheet.people if kind == HUMAN else sheet.judges
    if len(columns) < 2:
        who = {HUMAN: ("person", "people")}.get(kind, ("judge", "judges"))
        none = f"There is only one {who[0]}." if columns else f"There are no {who[1]}."
        return [Estimate(None, reason=none) for _ in sheet.criteria]
    draws = Draws(len(sheet.items), resamples, seed)
    return [_alpha(sheet.matrix(asked, columns), asked, draws) for asked in sheet.criteria]


def _alpha(ratings: Levels, asked: CriterionRatings, draws: Draws) -> Estimate:
    seen, k = patterns(np.maximum(ratings, -1)), len(asked.labels)
    times = seen.times.astype(np.float64)
    figure = _ALPHA[asked.alpha](seen.rows, k, times)
    if figure.value is None:
        return figure
    drawn = draws.of(seen.of_item, seen.times)
    ci = group_intervals({"alpha": _ALPHA[asked.alpha]}, seen.rows, times, drawn, k)
    return figure.within(ci["alpha"])


def kappas(sheet: Sheet, criterion: str, columns: Sequence[str]) -> Matrix:
    """Kappa of every two of these columns, from all tables of counts at once."""
    asked = sheet.criterion(criterion)
    k, levels = len(asked.labels), sheet.matrix(asked, tuple(columns))
    chosen = (levels[:, :, None] == np.arange(k)).astype(np.float64)
    # (items, raters, k) with itself: the table of every two raters, shape (k, k, raters, raters).
    tables = np.einsum("iak,ibl->klab", chosen, chosen, optimize=True)
    values = KAPPAS[asked.weights].many(tables).tolist()
    counts = tables.sum(axis=(0, 1)).astype(np.int64).tolist()
    known = [[None if isnan(one) else one for one in row] for row in values]
    return Matrix(tuple(columns), known, counts)


def ceiling(
    sheet: Sheet, criterion: str, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Ceiling:
    """How near every rater comes to the majority of people, beside how near people come themselves.

    Kappa goes by the scale. A person is compared with the majority of the others, so that nobody
    meets an own answer. A kind's mean leaves out raters whose kappa is undefined.
    """
    asked = sheet.criterion(criterion)
    k = len(asked.labels)
    people = sheet.matrix(asked, sheet.people)
    others, everyone = of_each_others(people, k), majority(people, k)
    columns = (*sheet.people, *sheet.judges)
    cells = np.stack(
        [
            *(pair_cells(others[:, at], people[:, at], k) for at in range(len(sheet.people))),
            *(
                pair_cells(everyone, asked.column(judge, len(sheet.items)), k)
                for judge in sheet.judges
            ),
        ],
        axis=1,
    )
    kinds = [sheet.kind(column) for column in columns]
    draws = Draws(len(sheet.items), resamples, seed)
    standings = _standings(cells, columns, kinds, asked, draws)
    ties = int(((people >= 0).any(axis=1) & (everyone < 0)).sum())
    return Ceiling(*standings, ties)


def ranked(
    sheet: Sheet, criterion: str, reference: str, *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[tuple[RaterStanding, ...], Mapping[str, Estimate]]:
    """Every rater beside one reference, the nearest first, and the mean of each kind of raters.

    Intervals are those of the pair alone. Who has no kappa comes last.
    """
    asked = sheet.criterion(criterion)
    k = len(asked.labels)
    columns = [one for one in (*sheet.judges, *sheet.people) if one != reference]
    cells = np.stack(
        [pair_cells(*sides(sheet, asked, reference, one), k) for one in columns], axis=1
    )
    kinds = [sheet.kind(column) for column in columns]
    draws = Draws(len(sheet.items), resamples, seed)
    found, means = _standings(cells, columns, kinds, asked, draws)
    order = sorted(found, key=lambda one: (one.kappa.value is None, -(one.kappa.value or 0.0)))
    return tuple(order), means


def _standings(
    cells: Levels,
    columns: Sequence[str],
    kinds: Sequence[str],
    asked: CriterionRatings,
    draws: Draws,
) -> tuple[tuple[RaterStanding, ...], dict[str, Estimate]]:
    k, of = len(asked.labels), KAPPAS[asked.weights]
    seen = patterns(cells)
    times = seen.times.astype(np.float64)

    def tables(weights: Array) -> list[Array]:
        return [tally(column, k * k, weights).reshape(k, k, -1) for column in seen.rows.T]

    whole = [table[:, :, 0] for table in tables(times[:, None])]
    figures = [of(table) for table in whole]
    defined = [at for at, figure in enumerate(figures) if figure.value is not None]

    def bundle(weights: Array) -> dict[str, Array]:
        found = tables(weights)
        values = {at: of.many(found[at]) for at in defined}
        means = {kind: _mean([values[at] for at in defined if kinds[at] == kind]) for kind in KINDS}
        return {kind: mean for kind, mean in means.items() if mean is not None}

    points = bundle(times[:, None]) if defined else {}
    drawn = draws.of(seen.of_item, seen.times)
    ci = intervals(bundle, drawn, times, n=len(cells)) if defined else {}
    resampled = tables(drawn)
    own = {at: kappa_interval(of, whole[at], resampled[at]) for at in defined}
    standings = tuple(
        RaterStanding(column, kinds[at], figures[at].within(own.get(at)))
        for at, column in enumerate(columns)
    )
    means = {}
    for kind in KINDS:
        there = [figures[at] for at in defined if kinds[at] == kind]
        if there:
            mean = Estimate.defined(float(points[kind][0]), sum(one.n for one in there))
            means[kind] = mean.within(ci.get(kind))
    return standings, means


def _mean(values: Sequence[Array]) -> Array | None:
    if not values:
        return None
    stacked = np.stack(values)
    known = ~np.isnan(stacked)
    return ratio(np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0))


# May a judge stand in for a person? People alone are the measure: labels are not asked.


def stand_in(sheet: Sheet, column: str, epsilon: float, criterion: str | None = None) -> AltTest:
    """The alternative annotator test of a judge or the panel against the people of the sheet.

    An abstention or a failure is no answer; an item without the judge's counts for nobody. Ordinal
    levels are apart by their squared difference, others by being different.

    Args:
        sheet: the ratings.
        column: the judge's, or ``PANEL``.
        epsilon: how far people may be ahead (``core.metrics.agreement.alt_test.EPSILON``).
        criterion: one alone; ``None`` for all, where an item counts once.

    Raises:
        ValueError: ``epsilon`` is outside [0, 1].
    """
    return alt_test(_wins(sheet, column, criterion), epsilon)


def _wins(sheet: Sheet, column: str, criterion: str | None) -> Wins:
    asked = sheet.criteria if criterion is None else (sheet.criterion(criterion),)
    each = [
        wins(
            one.column(column, len(sheet.items)),
            sheet.matrix(one, sheet.people),
            len(one.labels),
            ordered=one.scale == "ordinal",
        )
        for one in asked
    ]
    return over_criteria(each)


def alt_test_data(sheet: Sheet) -> dict[str, Any] | None:
    """The key ``alt_test`` of ``metrics --json``; ``None`` without a judge, people or criteria."""
    if not (sheet.judges and sheet.people and sheet.criteria):
        return None

    def tested(criterion: str | None) -> dict[str, Any]:
        return {
            "panel": _tested(sheet, PANEL, criterion),
            "raters": {name_of(one): _tested(sheet, one, criterion) for one in sheet.judges},
        }

    overall = tested(None)
    name, one = _PANEL, overall["panel"]
    if len(sheet.judges) == 1:
        name, one = next(iter(overall["raters"].items()))
    return {
        "q": Q,
        "epsilon": dict(EPSILON),
        "overall": overall,
        "criteria": {asked.name: tested(asked.name) for asked in sheet.criteria},
        "in_words": stand_in_words(name, one),
    }


def stand_in_of_panel(sheet: Sheet) -> dict[str, Any] | None:
    """The panel's part of ``alt_test`` over all criteria, with a sentence; ``None`` as there."""
    if not (sheet.judges and sheet.people and sheet.criteria):
        return None
    found = _tested(sheet, PANEL, None)
    return {**found, "in_words": stand_in_words(_PANEL, found)}


_PANEL = "The panel"
#: What the people may be, in words, those whom a judge may be furthest behind first.
PEOPLE_ARE: dict[Kind, str] = {
    "expert": "experts",
    "skilled": "trained people",
    "crowd": "crowd workers",
}
#: For whom a judge may stand in that passes with the epsilon of a kind and with none below.
_WHOM: dict[Kind, str] = {
    "expert": " if they are experts, but not if they are cheaper than that",
    "skilled": " if they are experts or trained people, but not if they are crowd workers",
    "crowd": ", whoever they are",
}


def stand_in_words(name: str, told: Mapping[str, Any]) -> str:
    """Whether a judge may stand in for one of the people, from its part of ``alt_test``."""
    rho = told["advantage"]
    if rho is None:
        why = told["undefined"]["advantage"]
        name = "the panel" if name == _PANEL else name
        return f"Whether {name} may stand in for a person cannot be said: {why}"
    kind: Kind = next((of for of in reversed(tuple(EPSILON)) if told[of]["passes"]), "expert")
    one = told[kind]
    may = f"may stand in for one of these people{_WHOM[kind]}"
    if not one["passes"]:
        may = "may not stand in for one of these people, whoever they are"
    said = (
        f"{name} {may}: beside {beaten(told, kind)} it surely comes as near to what the others "
        f"say, or falls behind by less than {percent(EPSILON[kind])} of the items; it takes half "
        f"of them. It is as near as a person or nearer on {percent(rho)} of the items."
    )
    needed = one["items_needed"]
    if not one["passes"] and needed is not None:
        said += f" If they are experts it would from about {plural(needed, 'item')} on."
    return said


def beaten(told: Mapping[str, Any], kind: Kind) -> str:
    """How many people the judge beats if they are of that kind."""
    return f"{round(told[kind]['winning_rate'] * told['people'])} of {told['people']}"


def stand_in_lines(told: Mapping[str, Any] | None) -> Iterator[str]:
    """``alt_test`` in lines: of all criteria together, and of each where there are several."""
    yield "May a judge stand in for a person? (alternative annotator test)"
    if told is None:
        yield "  Cannot be said: that takes ratings by people beside those of judges."
        return
    yield f"  {told['in_words']}"
    parts = {"All criteria": told["overall"]}
    if len(told["criteria"]) > 1:
        parts |= told["criteria"]
    for name, part in parts.items():
        panel = {"panel": part["panel"]} if len(part["raters"]) > 1 else {}
        for rater, one in {**part["raters"], **panel}.items():
            if one["advantage"] is not None:
                beats = (f"{beaten(one, kind)} as {words}" for kind, words in PEOPLE_ARE.items())
                near = score(one["advantage"])
                yield f"  {name}, {rater}: as near {near}; beats {', '.join(beats)}"


def _tested(sheet: Sheet, column: str, criterion: str | None) -> dict[str, Any]:
    found = _wins(sheet, column, criterion)
    kinds = {kind: alt_test(found, epsilon) for kind, epsilon in EPSILON.items()}
    first = next(iter(kinds.values()))
    return {
        "people": first.advantage.n,
        **rendered({"advantage": first.advantage}, {}),
        **{kind: _outcome(one) for kind, one in kinds.items()},
        "annotators": {
            name_of(person): {
                "n": first.annotators[at].n,
                "judge": first.annotators[at].judge,
                "person": first.annotators[at].person,
                "p": {kind: one.annotators[at].p for kind, one in kinds.items()},
            }
            for at, person in enumerate(sheet.people)
            if first.annotators[at].p is not None
        },
    }


def _outcome(one: AltTest) -> dict[str, Any]:
    found = {
        "winning_rate": one.winning_rate.value,
        "passes": one.passes,
        "items_needed": one.items_needed,
    }
    why = one.winning_rate.reason or "Too many people are further ahead: no number would do."
    missing = {name: why for name, value in found.items() if value is None}
    return {**found, **({"undefined": missing} if missing else {})}

"""Severity of raters, fair scores of items, and raters with surprising answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.metrics.estimate import USUAL, Estimate
from core.metrics.facets import RaterSeverity, facets, fair_scores
from core.services.rating_models.rater_table import RaterTable, ascending_levels, column_judges
from core.text.numbers import percent

#: With more raters the model is not fitted: the list is too long, and few rated enough.
MOST_RATERS = 200
#: With more items the model is fitted on a part, drawn by a fixed seed.
MOST_ITEMS = 4_000
ONE_LEVEL = "No criterion has levels with an order."
UNRATED = "None of these raters rated it."


#: Half of the last digit of displayed scores.
SHOWN = 0.005


class FairScore(NamedTuple):
    """An average rater's score of an item, as a share of the scale, from ``fair.n`` ratings.

    ``mean`` is the mean of its ratings and ``raters`` their number; unrated items have neither.
    """

    item: str
    fair: Estimate
    mean: float | None
    raters: int

    @property
    def surely_changed(self) -> bool:
        """Return whether the interval of the fair score excludes the mean of the ratings.

        A fair score never reaches an end of the scale, so the interval counts as displayed: half a
        hundredth wider.
        """
        low, high = self.fair.low, self.fair.high
        if self.mean is None or low is None or high is None:
            return False
        return not low - SHOWN <= self.mean <= high + SHOWN


class SeverityStudy(NamedTuple):
    """The raters, from significantly strict to significantly mild, with all others between in their
    own order; and the items, those to check first at the front.

    ``reason`` says why they are missing. ``spread`` is the standard deviation of qualities in
    logits, the units of severities.
    """

    raters: tuple[tuple[str, RaterSeverity], ...]
    items: tuple[FairScore, ...]
    spread: float
    reason: str = ""

    @property
    def surely_changed(self) -> tuple[FairScore, ...]:
        """Return the items whose score surely changes once severity is removed.

        It is empty if no rater is surely strict or mild: scores then only shrink towards their
        mean.
        """
        if not any(rater.surely for _, rater in self.raters):
            return ()
        return tuple(item for item in self.items if item.surely_changed)


def severity_study(
    table: RaterTable, criterion: str = "", level: float = USUAL.level, *, items: bool = True
) -> SeverityStudy:
    """Return the severities of a table's raters, on one criterion or on all together.

    Columns of one rater (``NAME|NUMBER``) answer the same question, so only the first is used. With
    very many items the model is fitted on a part; with ``items``, every item gets a fair score.
    """
    chosen = table.of(criterion)
    questions = [q for q in chosen.questions if len(q.values) > 1]
    if not questions:
        return SeverityStudy((), (), 0.0, ONE_LEVEL)
    names, columns = _first_answers(chosen)
    if len(names) > MOST_RATERS:
        return SeverityStudy((), (), 0.0, f"There are more than {MOST_RATERS} raters.")
    part = chosen.drawn_items(MOST_ITEMS, "severity")
    learned = [ascending_levels(q)[:, columns] for q in part.questions if len(q.values) > 1]
    rated = np.any([(matrix >= 0).any(axis=0) for matrix in learned], axis=0)
    names = [name for name, is_rated in zip(names, rated.tolist(), strict=True) if is_rated]
    sizes = [len(question.values) for question in questions]
    model = facets([matrix[:, rated] for matrix in learned], sizes, level)
    if model.reason:
        return SeverityStudy((), (), 0.0, model.reason)
    raters = sorted(zip(names, model.raters, strict=True), key=_significant_shift)
    if not items:
        return SeverityStudy(tuple(raters), (), model.spread)
    levels = [ascending_levels(question)[:, columns][:, rated] for question in questions]
    fair = fair_scores(model, levels, sizes, level)
    return SeverityStudy(
        tuple(raters), _fair_items(chosen.items, levels, sizes, fair), model.spread
    )


def _significant_shift(rater: tuple[str, RaterSeverity]) -> float:
    return (rater[1].shift.value or 0.0) if rater[1].surely else 0.0


def _first_answers(table: RaterTable) -> tuple[list[str], list[int]]:
    first: dict[str, int] = {}
    for index, (judge, _) in enumerate(column_judges(table.raters)):
        first.setdefault(judge, index)
    return list(first), list(first.values())


def _fair_items(
    items: tuple[str, ...],
    levels: list[np.ndarray[Any, Any]],
    sizes: list[int],
    fair: np.ndarray[Any, Any],
) -> tuple[FairScore, ...]:
    """Return every item: first items with unusually severe or mild raters, last unrated items."""
    shares = np.concatenate(
        [
            np.where(matrix >= 0, matrix / (k - 1), np.nan)
            for matrix, k in zip(levels, sizes, strict=True)
        ],
        axis=1,
    )
    number = (~np.isnan(shares)).sum(axis=1)
    mean = np.nansum(shares, axis=1) / np.maximum(number, 1)
    raters = np.any([matrix >= 0 for matrix in levels], axis=0).sum(axis=1)
    rows = zip(items, fair.tolist(), number.tolist(), mean.tolist(), raters.tolist(), strict=True)
    scores = [
        FairScore(item, Estimate(value, low, high, n=n), gave, raters_of_item)
        if n
        else FairScore(item, Estimate.undefined(UNRATED), None, 0)
        for item, (value, low, high), n, gave, raters_of_item in rows
    ]
    return tuple(sorted(scores, key=_unadjusted_score))


def _unadjusted_score(score: FairScore) -> float:
    if score.fair.value is None or score.mean is None:
        return 1.0
    return -abs(score.fair.value - score.mean)


def severity_summary(study: SeverityStudy) -> str:
    """Return which raters are surely strict or mild and by how much, and whose answers are
    unexpected.
    """
    if study.reason:
        return f"Who is severe is unknown: {study.reason}"
    surely = _surely_different(study.raters)
    strict = [rater for rater in surely if rater[1].surely < 0]
    mild = [rater for rater in reversed(surely) if rater[1].surely > 0]
    parts = [
        _severity_words(raters, degree)
        for raters, degree in ((strict, "stricter"), (mild, "milder"))
        if raters
    ]
    sentence = (
        f"{'; '.join(parts)}."
        if parts
        else "No rater is significantly stricter or milder than the others."
    )
    odd = [name for name, rater in study.raters if rater.odd]
    if odd:
        names = ", ".join(odd[:3]) + (f" and {len(odd) - 3} more" if odd[3:] else "")
        verb = "answers" if len(odd) == 1 else "answer"
        sentence += f" {names} {verb} in ways that the others' ratings do not explain."
    return sentence[:1].upper() + sentence[1:]


def _surely_different(
    raters: Sequence[tuple[str, RaterSeverity]],
) -> list[tuple[str, RaterSeverity]]:
    """Return the raters that surely differ from the remaining ones, after removing those that
    differ more: one strict rater makes all others milder than the average. Of two, each differs
    from the other.
    """
    if len(raters) == 2:
        return [named for named in raters if named[1].surely]
    remaining, remaining_raters = list(raters), list[tuple[str, RaterSeverity]]()
    while remaining:
        shifts = [named.shift.value or 0.0 for _, named in remaining]
        middle = sum(shifts) / len(shifts)
        extreme = max(range(len(remaining)), key=lambda place: abs(shifts[place] - middle))
        rater, difference = remaining[extreme][1], shifts[extreme] - middle
        half_width = abs((rater.shift.high or 0.0) - (rater.shift.low or 0.0)) / 2
        if (
            not rater.surely
            or abs(difference) <= half_width
            or (difference > 0) != (rater.surely > 0)
        ):
            break
        remaining_raters.append(remaining.pop(extreme))
    return sorted(remaining_raters, key=lambda named: named[1].shift.value or 0.0)


def _severity_words(raters: list[tuple[str, RaterSeverity]], words: str) -> str:
    name, rater = raters[0]
    others = f", and {len(raters) - 1} more are {words}" if raters[1:] else ""
    value = abs(rater.shift.value or 0.0)
    less = "less" if words == "stricter" else "more"
    return (
        f"{name} is {words} than the average rater and gives {percent(value)} of the scale {less} "
        f"for the same work{others}"
    )


#: With more items, ``metrics --json`` does not list items; the export lists all.
MOST_LISTED = 4_000
TOO_MANY = f"More than {MOST_LISTED:,} items: `export RUN --format fair` lists them all."


def severity_data(table: RaterTable, level: float = USUAL.level) -> dict[str, Any]:
    """Return the key ``severity`` of ``metrics --json``."""
    listed = len(table.items) <= MOST_LISTED
    part = table if listed else table.drawn_items(MOST_ITEMS, "severity")
    return {
        "overall": _study_data(severity_study(part, level=level, items=listed), listed=listed),
        "criteria": {
            name: _study_data(severity_study(part, name, level, items=listed), listed=listed)
            for name in _separate_criteria(part)
        },
    }


def _separate_criteria(table: RaterTable) -> list[str]:
    """Return the criteria to study separately; empty if there is only one."""
    names = [question.name for question in table.questions]
    return names if len(names) > 1 else []


def _study_data(study: SeverityStudy, *, listed: bool) -> dict[str, Any]:
    if study.reason:
        return {"raters": None, "fair": None, "undefined": dict.fromkeys(NONE, study.reason)}
    return {
        "spread": study.spread,
        "raters": {
            name: {
                "severity": rater.logits.value,
                "severity_ci": rater.logits.ci,
                "shift": rater.shift.value,
                "shift_ci": rater.shift.ci,
                "misfit": rater.misfit.value,
                "misfit_ci": rater.misfit.ci,
                "odd": rater.odd,
                "n": rater.ratings,
            }
            for name, rater in study.raters
        },
        "fair": {score.item: _fair_data(score) for score in study.items} if listed else None,
        "in_words": severity_summary(study),
        **({} if listed else {"undefined": {"fair": TOO_MANY}}),
    }


#: The keys of the figures that are missing if there is no model.
NONE = ("raters", "fair")


def _fair_data(score: FairScore) -> dict[str, Any]:
    fair = score.fair
    data: dict[str, Any] = {
        "fair": fair.value,
        "fair_ci": fair.ci,
        "mean": score.mean,
        "raters": score.raters,
        "n": fair.n,
    }
    missing = dict.fromkeys(("fair", "mean"), fair.reason)
    return data if fair.value is not None else {**data, "undefined": missing}


def fair_rows(table: RaterTable, level: float = USUAL.level) -> Iterator[dict[str, Any]]:
    """Yield a row per item: on all criteria together (no name), then on each of several."""
    for criterion in ("", *_separate_criteria(table)):
        study = severity_study(table, criterion, level)
        score_of = {fair.item: fair for fair in study.items}
        for item in table.items:
            fair = score_of.get(item) or FairScore(item, Estimate.undefined(study.reason), None, 0)
            yield {
                "item_id": item,
                "criterion": criterion,
                "fair": fair.fair.value,
                "low": fair.fair.low,
                "high": fair.fair.high,
                "level": level,
                "mean": fair.mean,
                "raters": fair.raters,
                "n": fair.fair.n,
                "remark": fair.fair.reason,
            }

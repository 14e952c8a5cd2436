"""Who is severe, what an average rater would give each item, and whose answers surprise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from core.metrics.facets import Facets, RaterSeverity, facets
from core.services.rating_models.rater_table import RaterTable, answerers, ascending
from core.text.numbers import percent

#: More raters than these are not told apart: nobody would read them, and few rated enough.
MOST_RATERS = 200
#: Of more items than these a part is looked at, drawn by a fixed seed.
MOST_ITEMS = 4_000
ONE_LEVEL = "No criterion has levels with an order."


class FairScore(NamedTuple):
    """What an average rater would give an item, as a share of the scale, with its 95% interval;
    ``mean`` is what its raters gave on average, ``raters`` how many they were.
    """

    item: str
    fair: float
    low: float
    high: float
    mean: float
    raters: int


class SeverityStudy(NamedTuple):
    """The raters, the most severe first, and the items that are fairest to look at again first.

    ``reason`` says why there is nothing. ``spread`` is the standard deviation of qualities, in the
    units of severities (logits).
    """

    raters: tuple[tuple[str, RaterSeverity], ...]
    items: tuple[FairScore, ...]
    spread: float
    reason: str = ""


def severity(table: RaterTable, criterion: str = "") -> SeverityStudy:
    """The severities of the raters of a table, on one criterion or on all together.

    Columns of one rater (``NAME|NUMBER``) are the rater's answers to the same question: severity is
    the rater's, so the first of them is taken.
    """
    part = table.of(criterion).some(MOST_ITEMS, "severity")
    questions = [q for q in part.questions if len(q.values) > 1]
    if not questions:
        return SeverityStudy((), (), 0.0, ONE_LEVEL)
    names, columns = _first_answers(part)
    if len(names) > MOST_RATERS:
        return SeverityStudy((), (), 0.0, f"There are more than {MOST_RATERS} raters.")
    levels = [ascending(question)[:, columns] for question in questions]
    rated = np.any([(one >= 0).any(axis=0) for one in levels], axis=0)
    names = [name for name, there in zip(names, rated.tolist(), strict=True) if there]
    levels = [one[:, rated] for one in levels]
    found = facets(levels, [len(question.values) for question in questions])
    if found.reason:
        return SeverityStudy((), (), 0.0, found.reason)
    raters = sorted(
        zip(names, found.raters, strict=True), key=lambda one: one[1].shift.value or 0.0
    )
    sizes = [len(question.values) for question in questions]
    return SeverityStudy(tuple(raters), _items(part.items, levels, sizes, found), found.spread)


def _first_answers(table: RaterTable) -> tuple[list[str], list[int]]:
    first: dict[str, int] = {}
    for at, one in enumerate(answerers(table.raters)):
        first.setdefault(one.judge, at)
    return list(first), list(first.values())


def _items(
    items: tuple[str, ...],
    levels: list[np.ndarray[Any, Any]],
    sizes: list[int],
    found: Facets,
) -> tuple[FairScore, ...]:
    """Every rated item; those first whose raters were unlike the average in severity."""
    shares = np.concatenate(
        [np.where(one >= 0, one / (k - 1), np.nan) for one, k in zip(levels, sizes, strict=True)],
        axis=1,
    )
    raters = np.any([one >= 0 for one in levels], axis=0).sum(axis=1)
    scores = [
        FairScore(item, fair, low, high, float(np.nanmean(shares[at])), int(raters[at]))
        for at, (item, (fair, low, high)) in enumerate(zip(items, found.fair.tolist(), strict=True))
        if raters[at]
    ]
    return tuple(sorted(scores, key=lambda one: -abs(one.fair - one.mean)))


def in_words(found: SeverityStudy) -> str:
    """Who is surely strict or mild, how far, and who answers in ways the others do not explain."""
    if found.reason:
        return f"Who is severe cannot be said: {found.reason}"
    strict = [one for one in found.raters if (one[1].shift.high or 0.0) < 0]
    mild = [one for one in reversed(found.raters) if (one[1].shift.low or 0.0) > 0]
    parts = [_said(some, words) for some, words in ((strict, "stricter"), (mild, "milder")) if some]
    said = (
        f"{'; '.join(parts)}." if parts else "Nobody is surely stricter or milder than the others."
    )
    odd = [name for name, one in found.raters if one.misfit.odd]
    if odd:
        names = ", ".join(odd[:3]) + (f" and {len(odd) - 3} more" if odd[3:] else "")
        verb = "answers" if len(odd) == 1 else "answer"
        said += f" {names} {verb} in ways that the others' ratings do not explain."
    return said[:1].upper() + said[1:]


def _said(some: list[tuple[str, RaterSeverity]], words: str) -> str:
    name, one = some[0]
    more = f", and {len(some) - 1} more are {words}" if some[1:] else ""
    value = abs(one.shift.value or 0.0)
    less = "less" if words == "stricter" else "more"
    return (
        f"{name} is {words} than the average rater and gives {percent(value)} of the scale {less} "
        f"for the same work{more}"
    )


def as_data(table: RaterTable) -> dict[str, Any]:
    """The key ``severity`` of ``metrics --json``."""
    names = [question.name for question in table.questions]
    whole = _data(severity(table))
    if len(names) < 2:
        return {"overall": whole, "criteria": {}}
    return {"overall": whole, "criteria": {name: _data(severity(table, name)) for name in names}}


def _data(found: SeverityStudy) -> dict[str, Any]:
    if found.reason:
        return {"raters": None, "undefined": {"raters": found.reason}}
    return {
        "spread": found.spread,
        "raters": {
            name: {
                "severity": one.logits.value,
                "severity_ci": [one.logits.low, one.logits.high],
                "shift": one.shift.value,
                "shift_ci": [one.shift.low, one.shift.high],
                "misfit": one.misfit.value,
                "misfit_ci": [one.misfit.low, one.misfit.high],
                "odd": one.misfit.odd,
                "n": one.ratings,
            }
            for name, one in found.raters
        },
        "in_words": in_words(found),
    }

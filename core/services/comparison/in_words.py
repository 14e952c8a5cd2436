"""Which of two runs is better, criterion by criterion, in one paragraph of figures that exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.services.agreement.overall import Trust
from core.services.comparison.differences import LEVEL, CriterionDelta, DecidedCells
from core.text.names import visible
from core.text.numbers import count, percent, plural, share_points

Outcome = Literal["better", "worse", "undecided", "unknown"]
#: So many criteria of an outcome are named; the rest are counted.
NAMED = 3


def outcome(one: CriterionDelta) -> Outcome:
    """How the second run's accuracy stands to the first's: by its p, corrected for all criteria."""
    moved = one.accuracy.difference.value
    if moved is None:
        return "unknown"
    if not one.accuracy.significant:
        return "undecided"
    return "better" if moved > 0 else "worse"


def trust_words(trust: Sequence[Trust]) -> list[str]:
    """How right the verdicts of each run are, over all of its own items."""
    return [f"{side}: {one.sentence}" for side, one in zip("AB", trust, strict=True)]


def headline(criteria: Sequence[CriterionDelta]) -> str:
    """On how many criteria B is surely better or worse, in one sentence.

    >>> headline([])
    'No criterion is in both runs.'
    """
    found = [outcome(one) for one in criteria]
    if not found:
        return "No criterion is in both runs."
    whole = plural(len(found), "criterion", "criteria")
    if found.count("unknown") == len(found):
        return "No label says which run is better."
    better, worse = found.count("better"), found.count("worse")
    if not better and not worse:
        return f"B is surely neither better nor worse than A on any of {whole}."
    return f"B is surely better than A on {count(better)} of {whole}, and worse on {count(worse)}."


def in_words(criteria: Sequence[CriterionDelta], cells: DecidedCells | None = None) -> str:
    """Better, worse or undecided, with every difference and its interval; empty without criteria.

    Where a run leaves cells undecided, that comes first, counted over all labelled cells. Where
    nothing has a label it says so: then flips say what changed, and nothing what is right.
    """
    found: dict[Outcome, list[CriterionDelta]] = {}
    for one in criteria:
        found.setdefault(outcome(one), []).append(one)
    if not criteria:
        return ""
    if len(found.get("unknown", ())) == len(criteria):
        return (
            "No label says which run is better: no item has a label and an answer of both runs. "
            "What changed between them is below; labels on some of the items would decide."
        )
    whole = plural(len(criteria), "criterion", "criteria")
    parts = [
        *([] if cells is None else _decided(cells)),
        f"B is better than A on {_counted(found.get('better', ()))} of {whole}"
        f"{_named(found.get('better', ()))}.",
        f"Worse on {_counted(found.get('worse', ()))}{_named(found.get('worse', ()))}.",
    ]
    undecided = found.get("undecided", ())
    if undecided:
        parts.append(f"Undecided on {_counted(undecided)}{_named(undecided)}.")
    unknown = found.get("unknown", ())
    if unknown:
        parts.append(f"Without labels of both, nothing can be told on {_counted(unknown)}.")
    parts.append(
        "Better and worse are of the votes' accuracy on the same labelled items, where chance "
        f"alone would show as much in fewer than {percent(LEVEL)} of comparisons, all criteria "
        "together."
    )
    return " ".join(parts)


def _decided(cells: DecidedCells) -> list[str]:
    if min(cells.decided) == cells.labelled:
        return []
    sides = (
        f"{side} decides {percent(decided / cells.labelled)} of "
        f"{plural(cells.labelled, 'labelled cell')} and is right on "
        f"{percent(right / cells.labelled)} of all"
        for side, decided, right in zip("AB", cells.decided, cells.right, strict=True)
    )
    return [f"{'; '.join(sides)}. What follows is of the cells that both decide."]


def _counted(ones: Sequence[CriterionDelta]) -> str:
    return count(len(ones)) if ones else "none"


def _named(ones: Sequence[CriterionDelta]) -> str:
    if not ones:
        return ""
    largest = sorted(ones, key=lambda one: -abs(one.accuracy.difference.value or 0.0))
    names = [_with_interval(one) for one in largest[:NAMED]]
    if ones[NAMED:]:
        names.append(f"{count(len(ones) - NAMED)} more")
    return f": {', '.join(names)}"


def _with_interval(one: CriterionDelta) -> str:
    said = one.accuracy.difference.words(share_points)
    below = said.below.removesuffix(".")
    return f"{visible(one.name)} ({said.value}, {below}; {plural(one.accuracy.n, 'item')})"

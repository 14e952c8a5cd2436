"""Describe in a paragraph which of two runs is better, criterion by criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.metrics.intervals.means import LEVEL
from core.services.agreement.overall import Trust
from core.services.comparison.differences import CriterionDelta, DecidedCells
from core.text.names import visible
from core.text.numbers import count, percent, plural, share_points

Outcome = Literal["better", "worse", "undecided", "unknown"]
#: The number of criteria named per outcome; others are counted.
NAMED = 3


def outcome_of(delta: CriterionDelta) -> Outcome:
    """Return how the second run's accuracy compares: by its p, corrected for all criteria."""
    difference = delta.accuracy.difference.value
    if difference is None:
        return "unknown"
    if not delta.accuracy.significant:
        return "undecided"
    return "better" if difference > 0 else "worse"


def trust_words(trust: Sequence[Trust]) -> list[str]:
    """Return the accuracy of each run's verdicts, over all of its own items."""
    return [f"{side}: {run_trust.sentence}" for side, run_trust in zip("AB", trust, strict=True)]


def headline(criteria: Sequence[CriterionDelta]) -> str:
    """Return in one sentence on how many criteria B is surely better or worse.

    >>> headline([])
    'No criterion is in both runs.'
    """
    outcomes = [outcome_of(line) for line in criteria]
    if not outcomes:
        return "No criterion is in both runs."
    total = plural(len(outcomes), "criterion", "criteria")
    if outcomes.count("unknown") == len(outcomes):
        return "No label says which run is better."
    better, worse = outcomes.count("better"), outcomes.count("worse")
    if not better and not worse:
        return "No criterion shows a significant difference between A and B."
    return (
        f"B is significantly better than A on {count(better)} of {total}, and worse on "
        f"{count(worse)}."
    )


def comparison_words(criteria: Sequence[CriterionDelta], cells: DecidedCells | None = None) -> str:
    """Return whether B is better, worse or undecided, with every difference and its interval.

    If a run leaves cells undecided, the text begins with that, counted over all labelled cells.
    Without labels it says so: flips then show what changed, not what is right. Without criteria it
    is empty.
    """
    by_outcome: dict[Outcome, list[CriterionDelta]] = {}
    for delta in criteria:
        by_outcome.setdefault(outcome_of(delta), []).append(delta)
    if not criteria:
        return ""
    if len(by_outcome.get("unknown", ())) == len(criteria):
        return (
            "No label says which run is better: no item has a label and an answer of both runs. "
            "What changed between them is below; labels on some of the items would decide."
        )
    total = plural(len(criteria), "criterion", "criteria")
    parts = [
        *([] if cells is None else _decided_words(cells)),
        f"B is better than A on {_criteria_with_count(by_outcome.get('better', ()))} of {total}"
        f"{_criteria_with_figures(by_outcome.get('better', ()))}.",
        f"Worse on {_criteria_with_count(by_outcome.get('worse', ()))}"
        f"{_criteria_with_figures(by_outcome.get('worse', ()))}.",
    ]
    undecided = by_outcome.get("undecided", ())
    if undecided:
        parts.append(
            f"Undecided on {_criteria_with_count(undecided)}{_criteria_with_figures(undecided)}."
        )
    unknown = by_outcome.get("unknown", ())
    if unknown:
        parts.append(
            f"Without labels of both, there is no result for {_criteria_with_count(unknown)}."
        )
    parts.append(
        "Better and worse are of the votes' accuracy on the same labelled items, where chance "
        f"alone would show as much in fewer than {percent(LEVEL)} of comparisons, all criteria "
        "together."
    )
    return " ".join(parts)


def _decided_words(cells: DecidedCells) -> list[str]:
    if min(cells.decided) == cells.labelled:
        return []
    sides = (
        f"{side} decides {percent(decided / cells.labelled)} of "
        f"{plural(cells.labelled, 'labelled cell')} and is right on "
        f"{percent(right / cells.labelled)} of all"
        for side, decided, right in zip("AB", cells.decided, cells.right, strict=True)
    )
    return [f"{'; '.join(sides)}. What follows is of the cells that both decide."]


def _criteria_with_count(deltas: Sequence[CriterionDelta]) -> str:
    return count(len(deltas)) if deltas else "none"


def _criteria_with_figures(deltas: Sequence[CriterionDelta]) -> str:
    if not deltas:
        return ""
    largest = sorted(deltas, key=lambda delta: -abs(delta.accuracy.difference.value or 0.0))
    names = [_delta_with_interval(delta) for delta in largest[:NAMED]]
    if deltas[NAMED:]:
        names.append(f"{count(len(deltas) - NAMED)} more")
    return f": {', '.join(names)}"


def _delta_with_interval(delta: CriterionDelta) -> str:
    text = delta.accuracy.difference.words(share_points)
    below = text.below.removesuffix(".")
    return f"{visible(delta.name)} ({text.value}, {below}; {plural(delta.accuracy.n, 'item')})"

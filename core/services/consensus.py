"""From people's verdicts on a cell to what it is settled as; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from core.domain.review import CellState, Given, Policy, Provenance
from core.domain.review_records import VerdictRow
from core.domain.rubric import Criterion


class Agreed(NamedTuple):
    """What a cell is settled as, and by whom."""

    given: Given
    provenance: Provenance
    people: tuple[str, ...]


class Stand(NamedTuple):
    """The state of a cell, and what it is settled as where it is resolved."""

    state: CellState
    agreed: Agreed | None = None


def decide(verdicts: Sequence[VerdictRow], required: int, policy: Policy) -> Stand:
    """How a cell stands after these verdicts; only confirmed ones count.

    Two people say the same if they chose the same option, or both that it cannot be assessed. An
    adjudicator's verdict ends it, whatever others say. ``required`` people must have said what they
    think before anything follows; ``majority`` is more than half of three or more.
    """
    final = [v for v in verdicts if v.final is not None]
    ended = [v for v in final if v.part == "resolve"]
    if ended:
        last = max(ended, key=lambda v: v.final_event or 0)
        return Stand("resolved", _agreed(last, "adjudicated", [last]))
    if len(final) < required:
        return Stand("needs_others" if final else "needs_review")
    if policy == "adjudicator":
        return Stand("disagreement")
    counts = Counter(_says(v) for v in final)
    top, most = counts.most_common(1)[0]
    alike = [v for v in final if _says(v) == top]
    majority = policy == "majority" and len(final) >= 3 and 2 * most > len(final)
    if most < len(final) and not majority:
        return Stand("disagreement")
    provenance: Provenance = "human_single" if len(final) == 1 else "human_consensus"
    return Stand("resolved", _agreed(alike[0], provenance, alike))


def label_of(criterion: Criterion, given: Given) -> str | None:
    """The label of the option chosen; ``None`` where it cannot be assessed."""
    return None if given.option is None else criterion.choices[given.option].label


def _says(verdict: VerdictRow) -> int | None:
    return None if verdict.final is None else verdict.final.option


def _agreed(verdict: VerdictRow, provenance: Provenance, alike: Sequence[VerdictRow]) -> Agreed:
    assert verdict.final is not None, "only confirmed verdicts settle a cell"
    return Agreed(verdict.final, provenance, tuple(v.reviewer for v in alike))

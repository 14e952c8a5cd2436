"""How far a cell's votes lie apart, compared with votes on its criterion in general."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum

from core.domain.rubric import Criterion
from core.services.impact import Tally


def distance(criterion: Criterion, one: int, other: int) -> float:
    """How far two scored options are apart: 0 or 1; of ordered options the squared steps."""
    if criterion.scale != "ordinal":
        return float(one != other)
    steps = criterion.scored.index(one) - criterion.scored.index(other)
    return float(steps * steps)


def expected_disagreement(criterion: Criterion, cells: Iterable[Tally]) -> float | None:
    """The mean distance between any two votes on the criterion, of cells with two votes or more.

    The D_e of Krippendorff (2004), Content Analysis, section 11.3. ``None`` with fewer than two
    votes; 0 where all votes are one option.
    """
    totals = dict[int, int]()
    for cell in cells:
        if cell.votes >= 2:
            for option, count in cell.heads.items():
                totals[option] = totals.get(option, 0) + count
    return _apart(criterion, totals)


def spread(criterion: Criterion, votes: Tally, expected: float | None) -> float | None:
    """The cell's part in 1 - alpha: mean distance between two of its votes, by the expected one.

    Averaged over cells with as many votes each, it is 1 - alpha of the criterion (distances of
    ordered options are squared steps, the interval metric on positions). ``None`` with fewer than
    two votes or where ``expected`` is ``None`` or 0.
    """
    found = _apart(criterion, votes.heads)
    return None if found is None or not expected else found / expected


def _apart(criterion: Criterion, counts: Mapping[int, int]) -> float | None:
    n = sum(counts.values())
    if n < 2:
        return None
    pairs = fsum(
        a * b * distance(criterion, one, other)
        for one, a in counts.items()
        for other, b in counts.items()
    )
    return pairs / (n * (n - 1))

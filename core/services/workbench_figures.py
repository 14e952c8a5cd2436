"""What the rows of a workbench say about a criterion: agreement with what is expected, and flips.

A handful of rows says little: every share comes with its count and its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.metrics.estimate import Share
from core.services.workbench_answers import State
from core.services.workbench_standing import Cell, Standing

#: States in which an answer is one to the present question.
_CURRENT: tuple[State, ...] = ("fresh", "half")


@dataclass(frozen=True)
class Figures:
    """One criterion over the test rows.

    ``agreement`` counts rows with an expected option and a fresh verdict; ``always`` is what always
    saying the commonest expected option would reach on them. ``by_judge`` is each judge alone.
    ``flips``: of answers asked in both orders, those that differ. The counts say what is not in
    the figures: rows without an expected option, stale, failed, and not asked yet.
    """

    criterion: str
    agreement: Share
    always: Share
    by_judge: tuple[tuple[str, Share], ...]
    flips: Share
    unlabelled: int
    stale: int
    failed: int
    unasked: int


def figures(standing: Standing, criteria: Sequence[str] | None = None) -> list[Figures]:
    """The figures of each criterion (or of those named), in the rubric's order."""
    names = [n for n in standing.subject.criteria if criteria is None or n in criteria]
    return [_of(standing, name) for name in names]


def _of(standing: Standing, name: str) -> Figures:
    cells = [row[name] for row in standing.cells.values()]
    judged = [c for c in cells if c.agrees is not None and c.state in _CURRENT]
    common = Counter(c.expected for c in judged).most_common(1)
    answers = [j.answer for c in cells for j in c.judges if j.state in _CURRENT and j.answer]
    asked = [answer.flips for answer in answers if answer.flips is not None]
    return Figures(
        criterion=name,
        agreement=Share.of(sum(c.agrees is True for c in judged), len(judged)),
        always=Share.of(common[0][1] if common else 0, len(judged)),
        by_judge=tuple((j.name, _alone(cells, j.name)) for j in standing.judges),
        flips=Share.of(sum(asked), len(asked)),
        unlabelled=sum(c.expected is None for c in cells),
        stale=sum(c.state == "stale" for c in cells),
        failed=sum(c.state == "failed" for c in cells),
        unasked=sum(c.state == "never" for c in cells),
    )


def _alone(cells: Sequence[Cell], judge: str) -> Share:
    hits = list[bool]()
    for cell in cells:
        for one in cell.judges:
            if one.judge == judge and cell.expected is not None and one.state in _CURRENT:
                hits.append(one.answer is not None and one.answer.option == cell.expected)
    return Share.of(sum(hits), len(hits))

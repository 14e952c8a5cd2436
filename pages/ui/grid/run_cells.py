"""Scores and verdicts of a run as cells of the grid, alone or with other runs or systems side by
side.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from core.domain.rubric import Rubric
from core.domain.runs import RunItemRow
from core.metrics.estimate import Estimate
from core.services.results.grid import GridItem, SystemMeans
from core.text import numbers as fmt
from core.text.names import fold, visible
from pages.ui.grid import cells
from pages.ui.grid.cells import HeadCell, ShownCell
from pages.ui.text import one_line
from pages.ui.widgets import OUTCOME_WORDS

#: The mark of a cell on which the sides differ.
APART = "Δ"


def opening_name(*parts: str) -> str:
    """Return the name under which a cell opens."""
    return json.dumps(parts)


def score_cell(rubric: Rubric, graded: GridItem) -> ShownCell:
    """Return the cell of an item's score, or of the grade that a person's labels give it."""
    item = graded.row
    if graded.own is not None:
        words = fmt.score(graded.own)
        tells = f"{visible(item.item_id)}: score {words} {cells.SIGNS[cells.OWN]}; judges abstained"
        return ShownCell(words, "plain", cells.OWN, tells, opening_name(item.item_id))
    marks = [*(["✕"] if item.failures else []), *(["⚑"] if item.review else [])]
    note = f", {item_notes(item)}" if item_notes(item) else ""
    tone = cells.share_tone(item.score) if rubric.scoring.normalize else "plain"
    words = "no grade" if item.ungraded else fmt.score(item.score)
    return ShownCell(
        words,
        tone if item.score is not None else "none",
        " ".join(marks),
        f"{visible(item.item_id)}: score {words}{note}",
        opening_name(item.item_id),
    )


def verdict_cell(item: GridItem, criterion: str, side: str = "") -> ShownCell:
    """Return the cell of a verdict; `side` names its system or run if there are several."""
    place = f"{side + ', ' if side else ''}{item.row.item_id}, {criterion}"
    return cells.shown_cell(
        item.cells.get(criterion), opening_name(item.row.item_id, criterion), place=place
    )


def item_notes(item: RunItemRow) -> str:
    """Return the notable facts about an item in words."""
    parts = [OUTCOME_WORDS[item.outcome]] if item.outcome in ("pass", "fail") else []
    parts += ["needs a person"] if item.review else []
    parts += [fmt.plural(item.failures, "failure")] if item.failures else []
    parts += [fmt.plural(item.abstentions, "abstention")] if item.abstentions else []
    covered = "incomplete" if item.coverage is None else f"{fmt.percent(item.coverage)} assessed"
    was_asked = item.votes or item.failures
    parts += [] if item.complete else [covered if was_asked else "not asked yet"]
    if item.low is not None and item.high is not None and item.low < item.high:
        parts.append(f"score between {fmt.score(item.low)} and {fmt.score(item.high)}")
    return ", ".join(parts)


def share_text(mean: Estimate) -> str:
    """Return a mean share as a percentage, or a dash if it is undefined."""
    return fmt.DASH if mean.value is None else fmt.percent(mean.value)


def side_by_side_table(
    first: str,
    sides: Sequence[tuple[Rubric, SystemMeans]],
    criteria: Sequence[str],
    lines: Sequence[tuple[ShownCell, Sequence[GridItem | None]]],
    gap: Callable[[str], str] = lambda _: "",
    *,
    by_votes: bool = False,
) -> tuple[list[HeadCell], list[list[ShownCell]], list[tuple[str, int, str]]]:
    """Return heads, rows and groups: under the score and each criterion, the sides.

    Args:
        first: the head of the rows' own cells.
        sides: the systems or runs, each with its rubric.
        criteria: the criteria to show; each side may spell their names its own way.
        lines: for each row its own cell, and the item of each side that has one.
        gap: how far the sides differ on a criterion (`""`: by score), in words.
        by_votes: cells differ by the verdicts of their votes, whatever people settled.
    """
    names = [one_line(means.system, 40) for _, means in sides]
    scores = (fmt.score(means.score.value) for _, means in sides)
    shares = [
        {fold(criterion): share_text(mean) for criterion, mean in means.criteria.items()}
        for _, means in sides
    ]
    headings = [HeadCell(first), *map(HeadCell, names, scores)]
    headings += [
        HeadCell(words, of_side.get(fold(criterion), fmt.DASH))
        for criterion in criteria
        for words, of_side in zip(names, shares, strict=True)
    ]
    groups = [("", 1, "")]
    groups += [
        (one_line(criterion or "Score", 60), len(sides), gap(criterion))
        for criterion in ["", *criteria]
    ]
    rows = []
    for own_cell, items in lines:
        score_cells = (
            ShownCell("") if item is None else score_cell(rubric, item)
            for (rubric, _), item in zip(sides, items, strict=True)
        )
        verdicts = (
            cell
            for one in criteria
            for cell in _verdict_cells([means.system for _, means in sides], items, one, by_votes)
        )
        rows.append([own_cell, *score_cells, *verdicts])
    return headings, rows, groups


def _verdict_cells(
    sides: Sequence[str], items: Sequence[GridItem | None], criterion: str, by_votes: bool
) -> list[ShownCell]:
    """Return a row's cells of one criterion, marked if the sides' verdicts differ."""
    cells_ = [
        ShownCell("") if item is None else verdict_cell(item, own_spelling(item, criterion), side)
        for side, item in zip(sides, items, strict=True)
    ]
    present = [(item, cell) for item, cell in zip(items, cells_, strict=True) if item is not None]
    if (
        len(
            {_judged_verdict(i, criterion) if by_votes else fold(cell.words) for i, cell in present}
        )
        < 2
    ):
        return cells_
    return [
        cell
        if item is None
        else cell._replace(
            signs=f"{cell.signs} {APART}".strip(), tells=f"{cell.tells}, they differ"
        )
        for item, cell in zip(items, cells_, strict=True)
    ]


def _judged_verdict(item: GridItem, criterion: str) -> str:
    """Return the verdict by the votes; empty without one."""
    cell = item.cells.get(own_spelling(item, criterion))
    return "" if cell is None else fold(cell.judged)


def own_spelling(item: GridItem, criterion: str) -> str:
    """Return the item's own spelling of a criterion's name, ignoring case and spaces."""
    if criterion in item.cells:
        return criterion
    return next((name for name in item.cells if fold(name) == fold(criterion)), criterion)

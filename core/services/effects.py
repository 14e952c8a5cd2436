"""What a decision changed: the item's score and outcome, and the cells it was about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from core.domain.review import CellState
from core.domain.rubric import Rubric
from core.domain.runs import Outcome, RunItemRow
from core.store.store import Store


@dataclass(frozen=True)
class Hits:
    """Of ``n`` cells of a criterion that people settled as an option, the votes were right on
    ``right``. It says nothing of all cells: the queue's are the hard ones.
    """

    right: int
    n: int


@dataclass(frozen=True)
class CellEffect:
    """What became of one cell. Labels are ``None`` without a verdict; ``voted`` is the panel's."""

    criterion: str
    state: CellState
    voted: str | None
    before: str | None
    after: str | None
    hits_before: Hits
    hits_after: Hits


@dataclass(frozen=True)
class Effect:
    """What a decision changed on one item."""

    item_id: str
    score_before: float | None
    score_after: float | None
    outcome_before: Outcome | None
    outcome_after: Outcome | None
    cells: tuple[CellEffect, ...]
    #: What judges said must not show: what was before, scores and hits are left out.
    blind: bool = False

    @property
    def changed(self) -> bool:
        """Whether score or outcome are others than before."""
        return (self.score_before, self.outcome_before) != (self.score_after, self.outcome_after)

    def of_cells(self) -> Effect:
        """The same without the item: its score tells of cells that are still to be judged blind."""
        return replace(
            self, score_before=None, score_after=None, outcome_before=None, outcome_after=None
        )

    def blinded(self) -> Effect:
        """The same for somebody who is never shown what judges said: only what people settled."""
        none = Hits(0, 0)
        cells = tuple(
            CellEffect(
                cell.criterion,
                cell.state,
                voted=None,
                before=None,
                # Of an open cell the verdict is that of the judges.
                after=cell.after if cell.state == "resolved" else None,
                hits_before=none,
                hits_after=none,
            )
            for cell in self.cells
        )
        return Effect(self.item_id, None, None, None, None, cells, blind=True)


@dataclass(frozen=True)
class Snapshot:
    """An item as it is now: its row, the verdicts of some cells, and hits of their criteria."""

    row: RunItemRow
    labels: Mapping[str, str | None]
    voted: Mapping[str, str | None]
    hits: Mapping[str, Hits]


def snapshot(
    store: Store, run_id: int, item_id: str, rubric: Rubric, criteria: Iterable[str]
) -> Snapshot:
    """An item and some of its cells as they are now."""
    labels, voted, hits = dict[str, str | None](), dict[str, str | None](), dict[str, Hits]()
    cells = {cell.criterion: cell for cell in store.results.cells(run_id, item_id)}
    for name in criteria:
        criterion = rubric.criterion(name)
        cell = cells.get(name)
        option = None if cell is None else cell.option
        judged = option
        if cell is not None and cell.rule == "adjudicated":
            judged = cell.voted
        labels[name] = None if option is None else criterion.choices[option].label
        voted[name] = None if judged is None else criterion.choices[judged].label
        hits[name] = Hits(*store.settled.hits(run_id, name, criterion.scored))
    return Snapshot(store.results.item(run_id, item_id), labels, voted, hits)


def effect(before: Snapshot, after: Snapshot, states: Mapping[str, CellState]) -> Effect:
    """What lies between two snapshots of an item."""
    cells = tuple(
        CellEffect(
            name,
            state,
            after.voted[name],
            before.labels[name],
            after.labels[name],
            before.hits[name],
            after.hits[name],
        )
        for name, state in states.items()
    )
    return Effect(
        after.row.item_id,
        before.row.score,
        after.row.score,
        before.row.outcome,
        after.row.outcome,
        cells,
    )

"""Cells of a run that people labelled with known chances, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from core.domain.library import LabelDraw
from core.services.datasets import label_draws
from core.services.queueing.drawn_texts import DrawnTexts
from core.store.store import Store
from core.text.numbers import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from core.services.queueing.queue_table import CellTable

    Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class DrawnCells:
    """Cells with the votes' option and the people's option, as columns.

    ``cells`` are indexes into the table. Missing options are negative. ``said`` and ``value`` are
    the two options as numbers. ``value`` is NaN without a label; votes without a value take the
    people's. ``stratum`` is 0 if cells were decided completely. Cells of any other stratum had the
    same chance to be drawn; ``drawn`` marks those that were. Labels of cells that were not drawn do
    not count (``counted``).
    """

    table: CellTable
    cells: Numbers
    voted: Numbers
    option: Numbers
    said: Numbers
    value: Numbers
    stratum: Numbers
    drawn: Numbers

    def __len__(self) -> int:
        return len(self.cells)

    def take(self, kept: Numbers) -> DrawnCells:
        """Return the selected cells, given as flags or indexes."""
        columns = {field.name: getattr(self, field.name)[kept] for field in fields(self)[1:]}
        return DrawnCells(self.table, **columns)

    def and_more(self, other_cells: DrawnCells) -> DrawnCells:
        """Return these cells and others of the same table."""
        import numpy as np

        columns = {
            field.name: np.concatenate(
                [getattr(self, field.name), getattr(other_cells, field.name)]
            )
            for field in fields(self)[1:]
        }
        return DrawnCells(self.table, **columns)

    def of(self, criterion: str) -> DrawnCells:
        """Return the cells of one criterion."""
        return self.take(self.table.of(criterion)[self.cells])

    @property
    def item(self) -> Numbers:
        """Return the index of each cell's item in the run."""
        return self.table.item[self.cells]

    @property
    def question(self) -> Numbers:
        """Return the index of each cell's question in the table."""
        return self.table.question[self.cells]

    @property
    def weight(self) -> Numbers:
        """Return each cell's weight in a score."""
        return self.table.weight[self.cells]

    @property
    def counted(self) -> Numbers:
        """Return each cell's label as a number if it counts, else NaN.

        In a stratum only drawn labels count, unless all other cells also have labels: then nothing
        depends on chance.
        """
        import numpy as np

        undrawn = (self.stratum > 0) & ~self.drawn
        if not np.isnan(self.value[undrawn]).any():
            return self.value
        return np.where(undrawn, np.nan, self.value)


def cells_with_values(
    table: CellTable, option: Numbers, stratum: Numbers, drawn: Numbers, kept: Numbers
) -> DrawnCells:
    """Return the selected cells, except those without a value from votes and people.

    All columns cover the whole table.
    """
    import numpy as np

    values_by_option = table.by_option(lambda criterion: criterion.values)
    voted, value = (
        values_by_option[table.question, np.maximum(options, -1)]
        for options in (table.judged, option)
    )
    cells = np.flatnonzero(kept & ~(np.isnan(voted) & np.isnan(value)))
    voted = np.where(np.isnan(voted), value, voted)
    columns = (table.judged, option, voted, value, stratum, drawn)
    return DrawnCells(table, cells, *(column[cells] for column in columns))


def item_cells(
    store: Store, run_id: int, draw: LabelDraw | None, texts: DrawnTexts | None
) -> DrawnCells:
    """Return the cells of a run with the labels of items that were drawn at random.

    The items are those in ``texts`` and, if ``draw`` declares them to be a random draw, those that
    the dataset labels. Labels that people added to other items do not count here, since those were
    not drawn.
    """
    import numpy as np

    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import NO_LABEL, label_columns

    run = store.runs.get(run_id)
    table = CellTable(store, run)
    no_cells = np.zeros(len(table), np.bool_)
    stratum, labelled = np.ones(len(table), np.int64), no_cells
    if draw is not None:
        chances = label_draws.item_chances(store, run.dataset_version_id, draw.note)
        groups = {chance: index for index, chance in enumerate(sorted(set(chances.values())), 1)}
        groups |= {1.0: 0} if draw.note else {}
        stratum_of_item = np.array([groups[chances[item_id]] for item_id in table.ids], np.int64)
        stratum = stratum_of_item[table.item]
        labelled = _labels_on_cells(table, label_columns(store, run, settled=False)) != NO_LABEL
    if texts is not None:
        drawn, known = (
            np.array([item_id in ids for item_id in table.ids], np.bool_)[table.item]
            for ids in (texts.items, texts.known)
        )
        stratum[known & ~labelled] = 0
        labelled = labelled | drawn | known
    option = np.where(labelled, _labels_on_cells(table, label_columns(store, run)), NO_LABEL)
    values_by_option = table.by_option(lambda criterion: criterion.values)
    voted, value = (
        values_by_option[table.question, np.maximum(options, -1)]
        for options in (table.judged, option)
    )
    # A cell without a verdict cannot be compared, whether it is labelled or not.
    comparable = (
        table.has_verdict & ~(labelled & np.isnan(value)) & ((stratum == 0) | ~np.isnan(voted))
    )
    return cells_with_values(table, option, stratum, labelled & (stratum > 0), comparable)


def labelled_cells(store: Store, run_id: int) -> DrawnCells:
    """Return the cells with the labels of the dataset and of people."""
    import numpy as np

    from core.services.queueing.queue_table import CellTable
    from core.services.results.run_columns import label_columns

    run = store.runs.get(run_id)
    table = CellTable(store, run)
    option = _labels_on_cells(table, label_columns(store, run))
    nowhere = np.zeros(len(table), np.int64)
    return cells_with_values(table, option, nowhere, nowhere != 0, table.has_verdict)


def partly_labelled(cells: DrawnCells) -> str:
    """Return why items drawn with all of their cells cannot count once each; empty if they can."""
    import numpy as np

    _, item = np.unique(cells.item, return_inverse=True)
    cells_of_item, labelled = np.bincount(item), np.bincount(item, ~np.isnan(cells.value))
    partly = int(((labelled > 0) & (labelled < cells_of_item)).sum())
    if partly:
        return (
            f"{count(partly)} of the items with labels {'lacks' if partly == 1 else 'lack'} one on "
            "some criterion; of all criteria together only items labelled on each can speak."
        )
    return ""


def _labels_on_cells(table: CellTable, labels: Mapping[str, Numbers]) -> Numbers:
    """Map labels of criteria, by item, to cells."""
    import numpy as np

    from core.services.results.run_columns import NO_LABEL

    by_cell = np.full(len(table), NO_LABEL)
    for name, column in labels.items():
        cells, items = table.cells_of(name, np.arange(len(table.ids)))
        by_cell[cells] = column[items]
    return by_cell

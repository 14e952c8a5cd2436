"""A run's results in a copy of the file that its items or votes came from."""

from __future__ import annotations

from collections.abc import Mapping

from core.formats.votes.write_back import BackCell, BackItem, WrittenBack, write_back
from core.services.exports.judgement_rows import Graded, load_graded
from core.services.results.item_view import choice_label
from core.store.store import Store


def written_back(store: Store, run_id: int, data: bytes, name: str) -> WrittenBack:
    """Return the file with the run's scores and the verdicts in force.

    Raises:
        InputError: the file cannot take results, or has none of the run's items.
        NotFound: unknown run.
        NotAllowed: the person reviews it blind.
    """
    return write_back(data, name, results_of(load_graded(store, run_id)), f"run {run_id}")


def results_of(run: Graded) -> Mapping[str, BackItem]:
    """Return the results of every item, by its id."""
    settled = {(s.item_id, s.criterion): s for s in run.settled}
    items: dict[str, BackItem] = {}
    for item, row in zip(run.items, run.rows, strict=True):
        cells: dict[str, BackCell] = {}
        for criterion in run.rubric_of(item.id).criteria:
            cell = run.cells.get((item.id, criterion.name))
            label = choice_label(criterion, cell.option, cell.abstained) if cell else None
            if cell is None or label is None:
                continue
            value = None if cell.option is None else criterion.value_of(cell.option)
            decided = settled.get((item.id, criterion.name))
            people = ", ".join(decided.people) if decided else ""
            note = decided.note if decided else ""
            cells[criterion.name] = BackCell(label, value, people, note)
        items[item.id] = BackItem(row.score, cells)
    return items

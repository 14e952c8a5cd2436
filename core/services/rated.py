"""Ratings of one source, ready to be measured: a run, or a folder of the common layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from core.files import read_folder, read_votes
from core.metrics.abstention import State
from core.services.preparing import resolved_items
from core.services.rated_matrix import Answer, Rated, Rater, gather
from core.store.store import Store


def read_source(open_store: Callable[[], Store], source: str) -> Rated:
    """The ratings of a run's number or of a folder.

    Raises:
        InputError: the folder or a file in it is wrong.
        NotFound: there is no such run.
    """
    if source.isascii() and source.isdigit() and not Path(source).exists():
        return of_run(open_store(), int(source))
    return of_folder(Path(source))


def of_run(store: Store, run_id: int) -> Rated:
    """The ratings of a run: its judges, its items' labels, and its panel's verdicts.

    Items that offline judges learned from are no items of the run, so they are not in any figure.
    """
    run = store.runs.get(run_id)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    several = run.plan.replicates > 1
    kinds = {j.name: "offline" if j.offline else "llm" for j in run.panel.judges}

    def rater(judge: str, replicate: int) -> Rater:
        return Rater(f"{judge}|{replicate}" if several else judge, kinds.get(judge, "llm"))

    answers = [
        Answer(
            b.item_id,
            b.criterion,
            rater(b.judge, b.replicate),
            b.option,
            State.ABSTAINED if b.abstained else State.ANSWERED,
        )
        for b in store.votes.all_ballots(run_id)
    ]
    answers += [
        Answer(c.item, c.criterion, rater(c.judge, c.replicate), None, State.FAILED)
        for c in sorted(store.votes.failed(run_id))
    ]
    settled: dict[str, dict[str, int | None]] = {}
    for cell in store.results.all_cells(run_id):
        settled.setdefault(cell.item_id, {})[cell.criterion] = cell.option
    return gather(rubric, items, answers, settled)


def of_folder(path: Path) -> Rated:
    """The ratings of a folder in the common layout."""
    folder = read_folder(path)
    rubric, items = folder.rubric.value, folder.dataset.value.items
    votes = read_votes(path, rubric, items).value
    names = column_names(
        [(v.cell.item, v.criterion, v.rater, v.order, v.replicate) for v in votes.rows]
    )
    answers = []
    for vote, name in zip(votes.rows, names, strict=True):
        state = State.ABSTAINED if vote.abstained else State.ANSWERED
        answers.append(
            Answer(
                vote.cell.item,
                vote.criterion,
                Rater(name, vote.kind),
                vote.option,
                State.FAILED if vote.failed else state,
            )
        )
    return gather(rubric, items, answers, {})


def column_names(rows: Sequence[tuple[str, str, str, str, int]]) -> list[str]:
    """The rater's name of each row (item, criterion, rater, order, replicate).

    A rater who answered a cell several times is several columns: ``NAME|ORDER`` where the answers
    differ in the order in which options were shown, else ``NAME|REPLICATE``.

    >>> column_names([("i", "c", "A", "as is", 0), ("i", "c", "A", "swapped", 1)])
    ['A|as is', 'A|swapped']
    >>> column_names([("i", "c", "A", "", 0), ("i", "c", "A", "", 1), ("i", "c", "B", "", 0)])
    ['A|0', 'A|1', 'B']
    """
    orders: dict[tuple[str, str, str], set[str]] = {}
    for item, criterion, rater, order, _ in rows:
        orders.setdefault((item, criterion, rater), set()).add(order)
    by_order = any(len(found) > 1 for found in orders.values())
    names = [f"{r[2]}|{r[3]}" if by_order and r[3] else r[2] for r in rows]
    cells = [(row[0], row[1], name) for row, name in zip(rows, names, strict=True)]
    if len(set(cells)) == len(cells):
        return names
    seen = dict[tuple[str, str, str], int]()
    for cell in cells:
        seen[cell] = seen.get(cell, 0) + 1
    repeated = {cell[2] for cell, times in seen.items() if times > 1}
    count = dict[tuple[str, str, str], int]()
    for at, (row, cell) in enumerate(zip(rows, cells, strict=True)):
        if cell[2] in repeated:
            count[cell] = count.get(cell, -1) + 1
            names[at] = f"{cell[2]}|{count[cell] if by_order else row[4]}"
    return names

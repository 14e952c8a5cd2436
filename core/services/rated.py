"""Ratings of one source, ready to be measured: a run, or a folder of the common layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.errors import NotFound
from core.files.folder import read_folder
from core.files.vote_file import read_votes
from core.metrics.abstention import State
from core.services.preparing import resolved_items
from core.services.rated_matrix import Answer, Column, Rated, Rater, gather
from core.services.scored import scored_rubric
from core.store.store import Store

#: Hears what a person should know about a source, a sentence at a time.
Tell = Callable[[str], None]
#: What file systems allow, and what whole numbers of the data file hold.
_LONGEST_NAME, _MOST_DIGITS = 255, 18


def unheard(said: str) -> None:
    """Nobody listens."""


def read_source(open_store: Callable[[], Store], source: str, tell: Tell = unheard) -> Rated:
    """The ratings of a run's number or of a folder; ``tell`` hears what a person should know.

    Raises:
        InputError: the folder or a file in it is wrong.
        NotFound: there is no such run.
    """
    run_id = run_named(source)
    if run_id is None:
        return of_folder(Path(source), tell)
    return of_run(open_store(), run_id)


def run_named(source: str) -> int | None:
    """The run that a SOURCE of the command line names by its number; ``None``: it is a path.

    Raises:
        NotFound: a number that no run can have.

    >>> run_named("12"), run_named("folder"), run_named("\u00b2")
    (12, None, None)
    """
    if not (source.isascii() and source.isdigit()):
        return None
    if len(source) < _LONGEST_NAME and Path(source).exists():
        return None
    if len(source) > _MOST_DIGITS:
        raise NotFound(f"There is no run {source[:40]}.")
    return int(source)


def of_run(store: Store, run_id: int) -> Rated:
    """The ratings of a run: its judges, its items' labels, and its panel's verdicts.

    Items that offline judges learned from are no items of the run, so they are not in any figure.
    Answers to the options in reversed order are not, either: they check a judge, and rate nothing.
    Imported votes give the same ratings as the folder they came from: nobody here settled them.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    own = run.plan.replicates
    kinds: dict[str, str] = {j.name: j.rater_kind for j in run.panel.judges}

    @cache  # a run has few raters and many answers
    def rater(judge: str, replicate: int) -> Rater:
        return Rater(f"{judge}|{replicate}" if own > 1 else judge, kinds.get(judge, "llm"))

    columns = [
        Column(vote.criterion, rater(vote.judge, vote.replicate), vote.items, vote.options)
        for vote in store.votes.columns(run_id, own)
    ]
    failed = [
        Answer(c.item, c.criterion, rater(c.judge, c.replicate), None, State.FAILED)
        for c in sorted(store.votes.failed(run_id))
        if c.replicate < own
    ]
    settled = store.results.judged(run_id) if run.panel.askable else {}
    return gather(rubric, items, failed, settled, columns)


def of_folder(path: Path, tell: Tell = unheard) -> Rated:
    """The ratings of a folder in the common layout."""
    folder = read_folder(path)
    rubric, items = folder.rubric.value, folder.dataset.value.items
    read = read_votes(path, rubric, items)
    for notice in read.notices:
        tell(str(notice))
    votes = read.value
    names = column_names(
        [
            Row(v.cell.item, v.criterion, Rater(v.rater, v.kind), v.order, v.replicate)
            for v in votes.rows
        ]
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


class Row(NamedTuple):
    """What decides which column an answer is in."""

    item: str
    criterion: str
    rater: Rater
    order: str
    replicate: int


def column_names(rows: Sequence[Row]) -> list[str]:
    """The name of the column of each row.

    A rater who answered a cell several times is several columns: ``NAME|ORDER`` where the answers
    differ in the order in which options were shown, else ``NAME|REPLICATE``.

    >>> ann = Rater("A", "llm")
    >>> column_names([Row("i", "c", ann, "as is", 0), Row("i", "c", ann, "swapped", 1)])
    ['A|as is', 'A|swapped']
    >>> column_names([Row("i", "c", ann, "", 0), Row("i", "c", ann, "", 1)])
    ['A|0', 'A|1']
    """
    if not any(row.order or row.replicate for row in rows):
        return [row.rater.name for row in rows]
    orders: dict[tuple[str, str, Rater], set[str]] = {}
    for row in rows:
        orders.setdefault(row[:3], set()).add(row.order)
    by_order = any(len(found) > 1 for found in orders.values())
    names = [f"{r.rater.name}|{r.order}" if by_order and r.order else r.rater.name for r in rows]
    cells = [(*row[:3], name) for row, name in zip(rows, names, strict=True)]
    times = Counter(cells)
    repeated = {cell[2:] for cell, number in times.items() if number > 1}
    count = Counter[tuple[str, str, Rater, str]]()
    for at, (row, cell) in enumerate(zip(rows, cells, strict=True)):
        if cell[2:] in repeated:
            names[at] = f"{cell[3]}|{count[cell] if by_order else row.replicate}"
            count[cell] += 1
    return names

"""Ratings read from a run or a folder, by whole columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.errors import NotFound
from core.formats.folder import read_folder
from core.formats.votes.vote_tables import read_votes
from core.metrics.agreement.ratings import State
from core.services.agreement.rating_sheet import (
    JUDGE,
    LABELS,
    PANEL,
    PEOPLE,
    PERSON,
    CriterionRatings,
    Sheet,
    Traits,
    first_verdicts,
    with_reviewers,
)
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    NOT_ASKED,
    TIED,
    Column,
    Levels,
    Rated,
    RatedAnswer,
    RatedCriterion,
    Rater,
    gather,
    majority_column,
    panel_column,
    panel_levels,
)
from core.services.results.scored_items import resolved_items, scored_rubric
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
        RatedAnswer(c.item, c.criterion, rater(c.judge, c.replicate), None, State.FAILED)
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
            RatedAnswer(
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


# From the store to a sheet, by whole columns: a hundred thousand votes in a fraction of a second.
#
# Items with rubrics of their own go through ``rated``, which knows when their questions are one.


def sheet_of(store: Store, run_id: int) -> Sheet:
    """The ratings of a run, those of its reviewers among them. Raises ``NotFound``."""
    run = store.runs.get(run_id)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    own = any(item.rubric is not None for item in items)
    found = sheet(of_run(store, run_id)) if own else _Columns(store, run, items).sheet()
    ruled = replace(found, ruled=run.panel.askable)
    return with_reviewers(ruled, first_verdicts(store, run_id))


def sheet(rated: Rated) -> Sheet:
    """Ratings that are at hand, as a sheet."""
    columns = {
        rater: (PERSON if rater.kind == "human" else JUDGE) + rater.name for rater in rated.raters
    }
    people = tuple(name for name in columns.values() if name.startswith(PERSON))
    return Sheet(
        items=tuple(item.id for item in rated.items),
        judges=tuple(name for name in columns.values() if name.startswith(JUDGE)),
        criteria=tuple(
            _asked(one, {rater: columns[rater] for rater in one.raters}, people)
            for one in rated.criteria
        ),
        people=people,
        kinds={columns[r]: r.kind for r in rated.raters if r.kind != "human"},
        traits=tuple(map(_traits, rated.items)),
        whole=len(rated.items),
    )


def _asked(
    one: RatedCriterion, names: Mapping[object, str], people: tuple[str, ...]
) -> CriterionRatings:
    coded = one.coded
    columns = {names[rater]: coded[:, at] for at, rater in enumerate(one.raters)}
    columns |= {LABELS: one.coded_gold, PANEL: panel_levels(one, TIED)}
    columns |= _with_majority(columns, people, len(one.labels))
    return CriterionRatings(one.name, one.scale, one.labels, columns, one.source, one.options)


def _with_majority(
    columns: Mapping[str, Levels], people: Sequence[str], k: int
) -> dict[str, Levels]:
    found = [columns[name] for name in people if name in columns]
    return {PEOPLE: majority_column(np.column_stack(found), k)} if found else {}


def _traits(item: Item) -> Traits:
    return Traits(item.system, item.tags, item.split or "")


class _Columns:
    """Fills the columns of every criterion of the run's one rubric."""

    def __init__(self, store: Store, run: Run, items: Sequence[Item]) -> None:
        self._store, self._run, self._items = store, run, items
        self._place = {item.id: at for at, item in enumerate(items)}
        self._own = run.plan.replicates
        self._kinds = {judge.name: judge.rater_kind for judge in run.panel.judges}
        rubric = scored_rubric(store, run)
        self._criteria = {criterion.name: criterion for criterion in rubric.criteria}
        self._found: dict[str, dict[str, Levels]] = {name: {} for name in self._criteria}
        self._raters: dict[str, str] = {}

    def sheet(self) -> Sheet:
        """The whole sheet."""
        self._votes()
        self._failures()
        seats = {judge.name: at for at, judge in enumerate(self._run.panel.judges)}
        raters = sorted(self._raters, key=lambda name: (seats[self._raters[name]], name))
        judges = tuple(name for name in raters if name.startswith(JUDGE))
        people = tuple(name for name in raters if name.startswith(PERSON))
        verdicts = self._verdicts()
        criteria = []
        for name, criterion in self._criteria.items():
            columns = self._found[name]
            columns[LABELS] = self._labels(criterion)
            columns[PANEL] = verdicts[name]
            columns |= _with_majority(columns, people, len(criterion.scored))
            labels = tuple(criterion.choices[at].label for at in criterion.scored)
            asked = CriterionRatings(name, criterion.scale, labels, columns, name, criterion.scored)
            criteria.append(asked)
        return Sheet(
            items=tuple(self._place),
            judges=judges,
            criteria=tuple(criteria),
            people=people,
            kinds={column: self._kinds[self._raters[column]] for column in judges},
            traits=tuple(map(_traits, self._items)),
            whole=len(self._items),
        )

    def _column(self, criterion: str, judge: str, replicate: int) -> Levels:
        name = (PERSON if self._kinds[judge] == "human" else JUDGE) + judge
        name += f"|{replicate}" if self._own > 1 else ""
        self._raters[name] = judge
        columns = self._found[criterion]
        if name not in columns:
            columns[name] = np.full(len(self._items), NOT_ASKED)
        return columns[name]

    def _votes(self) -> None:
        for vote in self._store.votes.columns(self._run.id, self._own):
            level = _levels(self._criteria[vote.criterion])
            column = self._column(vote.criterion, vote.judge, vote.replicate)
            rows = [self._place[item] for item in vote.items]
            column[rows] = [level.get(option, ABSTAINED) for option in vote.options]

    def _failures(self) -> None:
        for cell in self._store.votes.failed(self._run.id):
            if cell.replicate < self._own:
                column = self._column(cell.criterion, cell.judge, cell.replicate)
                column[self._place[cell.item]] = FAILED

    def _labels(self, criterion: Criterion) -> Levels:
        level = _levels(criterion)
        found = np.full(len(self._items), NOT_ASKED)
        for at, item in enumerate(self._items):
            if criterion.name in item.labels:
                found[at] = level.get(item.truth(criterion), ABSTAINED)
        return found

    def _verdicts(self) -> dict[str, Levels]:
        settled = self._settled() if self._run.panel.askable else {}
        return {
            name: panel_column(
                self._by_kind(name, len(self._items)), settled.get(name), len(criterion.scored)
            )
            for name, criterion in self._criteria.items()
        }

    def _by_kind(self, criterion: str, items: int) -> dict[str, Levels]:
        found: dict[str, list[Levels]] = {}
        for name, levels in self._found[criterion].items():
            if name in self._raters:
                found.setdefault(self._kinds[self._raters[name]], []).append(levels)
        return {kind: np.column_stack(levels) for kind, levels in found.items()} or {
            "": np.full((items, 1), NOT_ASKED)
        }

    def _settled(self) -> dict[str, Levels]:
        found = {name: np.full(len(self._items), NOT_ASKED) for name in self._criteria}
        levels = {name: _levels(criterion) for name, criterion in self._criteria.items()}
        for item_id, options in self._store.results.judged(self._run.id).items():
            at = self._place[item_id]
            for name, option in options.items():
                found[name][at] = levels[name].get(option, ABSTAINED)
        return found


def _levels(criterion: Criterion) -> dict[int | None, int]:
    return {option: level for level, option in enumerate(criterion.scored)}

"""Ratings read from a run or a folder and gathered, by whole columns where it is a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric, Scale
from core.errors import NotFound
from core.formats.folder import read_folder
from core.formats.votes.vote_tables import read_votes
from core.metrics.agreement.ratings import State
from core.services.agreement.rating_sheet import Sheet, Traits, first_verdicts, with_reviewers
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    LABELS,
    NOT_ASKED,
    PANEL,
    PEOPLE,
    Column,
    CriterionRatings,
    Levels,
    Rated,
    RatedAnswer,
    Rater,
    SureVote,
    columns_of,
    majority_column,
    panel_column,
)
from core.services.results.scored_items import resolved_items, scored_rubric
from core.services.results.verdicts import RubricOf, rubric_lookup
from core.store.store import Store

#: Hears what a person should know about a source, a sentence at a time.
Tell = Callable[[str], None]
#: What file systems allow, and what whole numbers of the data file hold.
_LONGEST_NAME, _MOST_DIGITS = 255, 18
_CODES = {State.ABSTAINED: ABSTAINED, State.FAILED: FAILED}


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
        return _rater(judge, replicate, own, kinds)

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
    found = gather(rubric, items, failed, settled, columns)
    return replace(found, sure=lambda: sure_votes(store, run_id))


def sure_votes(store: Store, run_id: int, criterion: str | None = None) -> list[SureVote]:
    """How sure the answers of a run are (to one criterion, or to all), where they say so."""
    run = store.runs.get(run_id)
    own = run.plan.replicates
    kinds: dict[str, str] = {j.name: j.rater_kind for j in run.panel.judges}
    return [
        SureVote(item, name, _rater(judge, replicate, own, kinds), confidence, chances)
        for (item, name, judge, replicate), confidence, chances in store.votes.sure(
            run_id, own, criterion
        )
    ]


def _rater(judge: str, replicate: int, own: int, kinds: Mapping[str, str]) -> Rater:
    return Rater(f"{judge}|{replicate}" if own > 1 else judge, kinds.get(judge, "llm"))


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
    answers, sure = [], list[SureVote]()
    for vote, name in zip(votes.rows, names, strict=True):
        told = (vote.confidence, vote.probabilities)
        if told != (None, None):
            sure.append(SureVote(vote.cell.item, vote.criterion, Rater(name, vote.kind), *told))
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
    return replace(gather(rubric, items, answers, {}), sure=lambda: sure)


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


def gather(
    rubric: Rubric,
    items: Sequence[Item],
    answers: Sequence[RatedAnswer],
    settled: Mapping[str, Mapping[str, int | None]],
    columns: Sequence[Column] = (),
) -> Rated:
    """The answers as columns of levels, criterion by criterion.

    Answers come one by one, or as whole columns, which is several times as fast. Where items have
    rubrics of their own, criteria with the same name, scale and labels are one criterion; one that
    differs gets a name with a number. ``settled`` is empty where no panel settled anything.
    """
    rubric_of = rubric_lookup(rubric, items)
    place = {item.id: row for row, item in enumerate(items)}
    tables = _Tables(rubric, items, rubric_of)
    for column in columns:
        tables.fill(column, place)
    for item_id, criterion_name, rater, option, state in answers:
        tables.of(item_id)[criterion_name].add(place[item_id], rater, option, state)
    for row, item in enumerate(items):
        there, verdicts = tables.of(item.id), settled.get(item.id, {})
        for criterion in rubric_of(item.id).criteria:
            there[criterion.name].settle(row, item, criterion, verdicts)
    raters = tuple(dict.fromkeys([*(c.rater for c in columns), *(a.rater for a in answers)]))
    names = columns_of(raters)
    return Rated(
        items=tuple(items),
        rubric_of=rubric_of,
        criteria=tuple(table.done(names, bool(settled)) for table in tables.all),
        raters=raters,
        settled=settled,
        columns=columns,
        singles=answers,
    )


class _Table:
    """Collects one criterion's answers."""

    def __init__(self, name: str, criterion: Criterion, items: int) -> None:
        self._name, self._criterion, self._items = name, criterion, items
        # No option is at no level.
        self._level: dict[int | None, int] = {o: at for at, o in enumerate(criterion.scored)}
        self._raters: dict[Rater, Levels] = {}
        self._labels, self._verdicts = self._empty(), self._empty()

    def _empty(self) -> Levels:
        return np.full(self._items, NOT_ASKED)

    def _of(self, rater: Rater) -> Levels:
        if rater not in self._raters:
            self._raters[rater] = self._empty()
        return self._raters[rater]

    def add(self, row: int, rater: Rater, option: int | None, state: State) -> None:
        self._of(rater)[row] = self._level.get(option, _CODES.get(state, NOT_ASKED))

    def fill(self, rows: list[int], rater: Rater, options: Iterable[int | None]) -> None:
        self._of(rater)[rows] = [self._level.get(option, ABSTAINED) for option in options]

    def settle(
        self, row: int, item: Item, criterion: Criterion, settled: Mapping[str, int | None]
    ) -> None:
        """Notes the item's label and the panel's verdict."""
        if criterion.name in item.labels:
            self._labels[row] = self._level.get(item.truth(criterion), ABSTAINED)
        if criterion.name in settled:
            self._verdicts[row] = self._level.get(settled[criterion.name], ABSTAINED)

    def done(self, names: Mapping[Rater, str], has_panel: bool) -> CriterionRatings:
        criterion, k = self._criterion, len(self._level)
        columns = {names[rater]: levels for rater, levels in self._raters.items()}
        by_kind: dict[str, list[Levels]] = {}
        for rater, levels in self._raters.items():
            by_kind.setdefault(rater.kind, []).append(levels)
        kinds = {kind: np.column_stack(theirs) for kind, theirs in by_kind.items()}
        columns[LABELS] = self._labels
        columns[PANEL] = panel_column(
            kinds or {"": self._empty()[:, None]}, self._verdicts if has_panel else None, k
        )
        if "human" in kinds:
            columns[PEOPLE] = majority_column(kinds["human"], k)
        return CriterionRatings(
            name=self._name,
            scale=criterion.scale,
            labels=tuple(criterion.choices[i].label for i in criterion.scored),
            columns=columns,
            source=criterion.name,
            options=criterion.scored,
            raters=tuple(self._raters),
        )


class _Tables:
    """The table of every item's every criterion; criteria come in the rubric's order."""

    def __init__(self, rubric: Rubric, items: Sequence[Item], rubric_of: RubricOf) -> None:
        self._known: dict[tuple[str, Scale, tuple[str, ...]], _Table] = {}
        self._names: dict[str, int] = {}
        self._items = len(items)
        common = any(item.rubric is None for item in items)
        self._common = {c.name: self._table(c) for c in rubric.criteria} if common else {}
        self._own = {
            item.id: {c.name: self._table(c) for c in rubric_of(item.id).criteria}
            for item in items
            if item.rubric is not None
        }

    @property
    def all(self) -> Iterable[_Table]:
        return self._known.values()

    def of(self, item_id: str) -> Mapping[str, _Table]:
        """The tables of an item's criteria, by name."""
        return self._own.get(item_id, self._common)

    def fill(self, column: Column, place: Mapping[str, int]) -> None:
        """Write a column down; where items have rubrics of their own, on the table of each."""
        if not self._own:
            at = [place[item_id] for item_id in column.items]
            self._common[column.criterion].fill(at, column.rater, column.options)
            return
        rows: dict[_Table, list[int]] = {}
        options: dict[_Table, list[int | None]] = {}
        for item_id, option in zip(column.items, column.options, strict=True):
            table = self.of(item_id)[column.criterion]
            rows.setdefault(table, []).append(place[item_id])
            options.setdefault(table, []).append(option)
        for table, there in rows.items():
            table.fill(there, column.rater, options[table])

    def _table(self, criterion: Criterion) -> _Table:
        labels = tuple(criterion.choices[i].label for i in criterion.scored)
        key = (criterion.name, criterion.scale, labels)
        if key not in self._known:
            number = self._names[criterion.name] = self._names.get(criterion.name, 0) + 1
            name = criterion.name if number == 1 else f"{criterion.name} ({number})"
            self._known[key] = _Table(name, criterion, self._items)
        return self._known[key]


def sheet_of(store: Store, run_id: int) -> Sheet:
    """The ratings of a run, those of its reviewers among them. Raises ``NotFound``."""
    run = store.runs.get(run_id)
    seats = {judge.name: at for at, judge in enumerate(run.panel.judges)}
    several = run.plan.replicates > 1
    rated = of_run(store, run_id)

    def seat(rater: Rater) -> tuple[int, str]:
        return seats[rater.name.rpartition("|")[0] if several else rater.name], rater.name

    found = sheet(replace(rated, raters=tuple(sorted(rated.raters, key=seat))))
    return with_reviewers(replace(found, ruled=run.panel.askable), first_verdicts(store, run_id))


def sheet(rated: Rated) -> Sheet:
    """Ratings that are at hand, as a sheet."""
    columns = columns_of(rated.raters)
    return Sheet(
        items=tuple(item.id for item in rated.items),
        judges=tuple(name for rater, name in columns.items() if rater.kind != "human"),
        criteria=rated.criteria,
        people=tuple(name for rater, name in columns.items() if rater.kind == "human"),
        kinds={name: rater.kind for rater, name in columns.items() if rater.kind != "human"},
        traits=tuple(Traits(i.system, i.tags, i.split or "") for i in rated.items),
        whole=len(rated.items),
    )

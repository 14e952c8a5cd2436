"""From the store to a sheet, by whole columns: a hundred thousand votes in a fraction of a second.

Items with rubrics of their own go through ``rated``, which knows when their questions are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.domain.dataset import Item
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.services.agreeing_reviews import first_verdicts, with_reviewers
from core.services.agreeing_sheet import (
    JUDGE,
    LABELS,
    PANEL,
    PEOPLE,
    PERSON,
    Asked,
    Sheet,
    Traits,
)
from core.services.preparing import resolved_items
from core.services.rated import of_run
from core.services.rated_matrix import (
    ABSTAINED,
    FAILED,
    NOT_ASKED,
    TIED,
    Levels,
    Rated,
    RatedCriterion,
    majority_column,
    panel_column,
    panel_levels,
)
from core.services.scored import scored_rubric
from core.store.store import Store


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


def _asked(one: RatedCriterion, names: Mapping[object, str], people: tuple[str, ...]) -> Asked:
    coded = one.coded
    columns = {names[rater]: coded[:, at] for at, rater in enumerate(one.raters)}
    columns |= {LABELS: one.coded_gold, PANEL: panel_levels(one, TIED)}
    columns |= _with_majority(columns, people, len(one.labels))
    return Asked(one.name, one.scale, one.labels, columns, one.source, one.options)


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
            asked = Asked(name, criterion.scale, labels, columns, name, criterion.scored)
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

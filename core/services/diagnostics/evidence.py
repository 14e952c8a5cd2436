"""A run's answers as arrays, and the chart of a piece of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.domain.votes import OrderCount
from core.metrics.agreement.ratings import majority
from core.metrics.bias.effects import FEW
from core.metrics.bias.judge_bias import ShownOrders
from core.services.agreement import ratings
from core.services.agreement.load_ratings import items_of, run_verdicts, vote_columns
from core.services.agreement.rating_tables import PanelVotes, ratings_by_criterion
from core.services.agreement.ratings import (
    ABSTAINED,
    NOT_ASKED,
    PANEL,
    CriterionRatings,
    Levels,
    Rated,
    RatedItems,
    Rater,
)
from core.services.datasets import item_columns
from core.services.results import run_columns
from core.store.store import Store

Values = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Scored = Mapping[tuple[str, int], tuple[int, ...]]
LABELS, MAJORITIES = "the labels", "people's majorities"


@dataclass(frozen=True)
class CriterionEvidence:
    """The answers to one criterion. A level is an index among the options that are not na.

    ``levels`` and ``abstained`` have shape (items, judges, replicates), with -1 and false for a
    missing answer. Replicates from ``Evidence.own`` on are flipped copies. ``truth`` and
    ``verdicts`` have shape (items,), with -1 if missing; ``labelled`` also counts na labels.
    ``values`` are the levels' values times the sign of the weight, so that higher is always better
    for the score.
    """

    name: str
    criterion: Criterion
    labels: tuple[str, ...]
    values: Values
    levels: Levels
    abstained: Flags
    truth: Levels
    labelled: Flags
    verdicts: Levels

    @property
    def ordered(self) -> bool:
        """Return whether its levels have an order."""
        return self.criterion.scale != "nominal"


@dataclass(frozen=True)
class RunEvidence:
    """A run's data for the checks. ``words`` counts the words of each item's output.

    ``shown`` has, per judge, a table per question of the choices by the options shown first and
    last. ``places`` has, per judge and number of options, how often the option at each position was
    chosen. ``truth`` says what the criteria's ``truth`` is: the labels or, if there are too few,
    people's majorities.
    """

    judges: tuple[Judge, ...]
    of: RatedItems
    words: Values
    criteria: tuple[CriterionEvidence, ...]
    shown: Mapping[str, Sequence[ShownOrders]]
    own: int = 1
    truth: str = LABELS
    places: Mapping[str, Mapping[int, Sequence[int]]] = field(default_factory=dict)

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the items with their texts."""
        return self.of.items_with_texts

    @property
    def names(self) -> tuple[str, ...]:
        """Return the judges' names, in the order of the arrays."""
        return tuple(judge.name for judge in self.judges)

    @property
    def rater(self) -> str:
        """Return what sentences call a rater: "grader" for people, else "judge"."""
        return "grader" if all(judge.rater_kind == "human" for judge in self.judges) else "judge"


def evidence_of(store: Store, run_id: int) -> RunEvidence:
    """Return the evidence of a run. Raises ``NotFound`` for an unknown run.

    In a run with model judges, people do not count as judges. If such a run has too few labels, the
    majorities of its people are used as the truth.
    """
    run = store.runs.get(run_id)
    judges = tuple(j for j in run.panel.judges if j.rater_kind != "human") or run.panel.judges
    run_items = items_of(store, run)
    seats: dict[Rater, tuple[str, int]] = {}
    columns = vote_columns(store, run, partial(_rater_of_vote, seats))
    labelled_as = run_columns.label_columns(store, run)
    rated = ratings_by_criterion(
        run_items, columns, (), labelled_as, PanelVotes(run_verdicts(store, run, run_items))
    )
    orders = run_columns.orders_shown(store, run, run.plan.replicates)
    scored = _scored_options(rated)
    labelled = max((int((c.gold >= 0).sum()) for c in rated.criteria), default=0)
    by_people = labelled < FEW and len(judges) < len(run.panel.judges)
    names = [judge.name for judge in judges]
    return RunEvidence(
        judges=judges,
        of=run_items,
        words=item_columns.columns_of_version(store, run.dataset_version_id).words_of(
            run_items.ids
        ),
        criteria=tuple(
            _criterion_evidence(rated, c, run, seats, names, by_people) for c in rated.criteria
        ),
        shown=_choices_by_order(scored, orders),
        own=run.plan.replicates,
        truth=MAJORITIES if by_people else LABELS,
        places=_chosen_positions(scored, orders),
    )


def _rater_of_vote(seats: dict[Rater, tuple[str, int]], judge: str, replicate: int) -> Rater:
    rater = Rater(f"{judge}|{replicate}", "judge")
    seats[rater] = (judge, replicate)
    return rater


def _chosen_positions(
    scored: Scored, rows: Sequence[OrderCount]
) -> dict[str, dict[int, list[int]]]:
    """Return, per judge and number of options, how often the option at each position was chosen.

    An na option is always shown last, so only answers at earlier positions count.
    """
    counts: dict[str, dict[int, list[int]]] = {}
    for row in rows:
        size = len(scored[row.criterion, len(row.order)])
        place = row.order.index(row.option)
        if place < size:
            counts.setdefault(row.judge, {}).setdefault(size, [0] * size)[place] += row.times
    return counts


def _criterion_evidence(
    rated: Rated,
    matrix: CriterionRatings,
    run: Run,
    seats: Mapping[Rater, tuple[str, int]],
    judges: Sequence[str],
    by_people: bool,
) -> CriterionEvidence:
    place = {name: index for index, name in enumerate(judges)}
    replicates = max([run.plan.replicates, *(r + 1 for _, r in seats.values())])
    shape = (len(rated.of.ids), len(place), replicates)
    levels, abstained = np.full(shape, -1), np.zeros(shape, np.bool_)
    people = []
    for column, rater in enumerate(matrix.raters):
        name, replicate = seats[rater]
        if name not in place:
            people.append(column)
            continue
        levels[:, place[name], replicate] = matrix.levels[:, column]
        abstained[:, place[name], replicate] = matrix.coded[:, column] == ABSTAINED
    truth = majority(matrix.levels[:, people], len(matrix.labels)) if by_people else matrix.gold
    criterion = _criterion_of_matrix(rated, matrix)
    sign = -1.0 if criterion.weight < 0 else 1.0
    return CriterionEvidence(
        name=matrix.name,
        criterion=criterion,
        labels=matrix.labels,
        values=sign * np.array([criterion.values[i] for i in criterion.scored], np.float64),
        levels=levels,
        abstained=abstained,
        truth=truth,
        labelled=truth >= 0 if by_people else matrix.columns[ratings.LABELS] != NOT_ASKED,
        verdicts=matrix.columns[PANEL],
    )


def _criterion_of_matrix(rated: Rated, matrix: CriterionRatings) -> Criterion:
    """Return the criterion of a matrix; if its weight differs between rubrics, from the first
    rubric.
    """
    for rubric in rated.of.rubrics:
        for criterion in rubric.criteria:
            labels = tuple(criterion.choices[i].label for i in criterion.scored)
            numbered = f"{criterion.name} ("  # The name of a second criterion of the same name.
            same = criterion.scale == matrix.scale and labels == matrix.labels
            if same and (matrix.name == criterion.name or matrix.name.startswith(numbered)):
                return criterion
    raise KeyError(matrix.name)  # pragma: no cover - every matrix comes from a rubric in force


def _scored_options(rated: Rated) -> Scored:
    """Return the options that are answers, by criterion and number of choices."""
    return {
        (criterion.name, len(criterion.choices)): criterion.scored
        for rubric in rated.of.rubrics
        for criterion in rubric.criteria
    }


def _choices_by_order(scored: Scored, rows: Sequence[OrderCount]) -> dict[str, list[ShownOrders]]:
    """Return choices by options shown first and last: per judge, a table per question.

    A question is a criterion with a number of options.
    """
    tables: dict[tuple[str, str, int], tuple[Values, Values]] = {}
    for row in rows:
        size = len(row.order)
        level = {option: index for index, option in enumerate(scored[row.criterion, size])}
        k = len(level)
        if not {row.option, *row.order[:k]} <= level.keys():
            continue  # Items' own rubrics may use the same name for different questions.
        first, last = tables.setdefault(
            (row.judge, row.criterion, size), (np.zeros((k, k)), np.zeros((k, k)))
        )
        first[level[row.option], level[row.order[0]]] += row.times
        last[level[row.option], level[row.order[k - 1]]] += row.times
    by_judge: dict[str, list[ShownOrders]] = {}
    for (judge, _, _), (first, last) in tables.items():
        by_judge.setdefault(judge, []).append((first, last))
    return by_judge


@dataclass(frozen=True)
class Chart:
    """Series over ``places``: each is a name and a number per place (``None``: missing).

    ``axes`` are the axis titles; ``counts`` are the answers or items behind each place. ``share``:
    the numbers are shares of 1.
    """

    axes: tuple[str, str]
    places: tuple[str, ...]
    series: tuple[tuple[str, tuple[float | None, ...]], ...]
    counts: tuple[int, ...]
    kind: Literal["bars", "dots", "lines"] = "bars"
    share: bool = False


def mean_of(values: Values) -> float:
    """Return the mean as a plain number; ``values`` must not be empty."""
    return float(values.mean())

"""Answers as columns: every rater has a level for each item of a source.

Judges, people, labels and the panel are treated alike. A level is the index, from 0, of an option
among those that are not ``na``. A column names a rater: ``LABELS``, ``PEOPLE`` (their majority),
``PANEL`` (the verdicts in force before review), ``MAJORITY`` (of the panel's raters, if unique),
``judge:NAME``, ``person:NAME`` for a person who graded, or ``reviewer:NAME`` for a person who
reviewed the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.domain.rubric import Rubric, Scale
from core.metrics.agreement.kappa import Weights
from core.metrics.agreement.ratings import State, majority
from core.metrics.estimate import Estimate
from core.services.results.fair_sample import CellAgreement, UnfairLabels, unfair_labels

Levels = npt.NDArray[np.int64]
LABELS, PEOPLE, PANEL, MAJORITY = "labels", "people", "panel", "majority"
JUDGE, PERSON, REVIEWER = "judge:", "person:", "reviewer:"
#: In a reviewed run: the labels from before the review, and the labels that the review settled.
OWN_LABELS, SETTLED = "own labels", "settled"
#: Derived columns, which belong to no rater, other than ``LABELS`` and ``PANEL``.
MADE = (PEOPLE, MAJORITY, OWN_LABELS, SETTLED)
JUDGE_KINDS = ("llm", "offline")
#: The kind of people who reviewed the run. They are a group separate from graders.
REVIEWED = "reviewer"
_PREFIXES = {"human": PERSON, REVIEWED: REVIEWER}
#: Codes for a missing level, by the reason why it is missing.
NOT_ASKED, ABSTAINED, FAILED = -1, -2, -3
#: The code of a majority that is not unique, since two levels are equally common.
TIED = -4


class Rater(NamedTuple):
    """A rater, who has a column of ratings. ``kind``: human, llm, offline or reviewer."""

    name: str
    kind: str


class RatedAnswer(NamedTuple):
    """An answer from a run or a file. ``option`` indexes ``Criterion.choices``."""

    item: str
    criterion: str
    rater: Rater
    option: int | None
    state: State


class SureVote(NamedTuple):
    """The confidence that a rater states for an answer: in the answer, or in every choice."""

    item: str
    criterion: str
    rater: Rater
    confidence: float | None
    chances: tuple[float, ...] | None


class Column(NamedTuple):
    """A rater's answers to a criterion: rows of items, and options or codes for missing ones.

    An ``na`` option is an abstention.
    """

    criterion: str
    rater: Rater
    rows: Levels
    options: Levels


class Traits(NamedTuple):
    """The properties by which an item can be selected."""

    system: str = ""
    tags: tuple[str, ...] = ()
    split: str = ""


@dataclass(frozen=True)
class RatedItems:
    """The items of a source, with only what figures need; whole items are loaded on demand.

    ``own`` has the rubrics of items with their own; all others follow ``rubric``.
    """

    ids: tuple[str, ...]
    traits: tuple[Traits, ...]
    rubric: Rubric
    own: Mapping[str, Rubric]
    read: Callable[[], tuple[Item, ...]]

    @cached_property
    def items_with_texts(self) -> tuple[Item, ...]:
        """Return the items with their texts; cached."""
        return self.read()

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Return the row of every item in all columns."""
        return {item_id: row for row, item_id in enumerate(self.ids)}

    def rubric_of(self, item_id: str) -> Rubric:
        """Return the rubric in force for an item."""
        return self.own.get(item_id, self.rubric)

    @property
    def cells(self) -> int:
        """Return the number of (item, criterion) pairs."""
        with_run_rubric = len(self.ids) - len(self.own)
        own_cells = sum(len(rubric.criteria) for rubric in self.own.values())
        return with_run_rubric * len(self.rubric.criteria) + own_cells

    @cached_property
    def rubrics(self) -> tuple[Rubric, ...]:
        """Return the rubrics in force, without duplicates, in the order of the items."""
        if not self.own:
            return (self.rubric,) if self.ids else ()
        return tuple({id(rubric): rubric for rubric in map(self.rubric_of, self.ids)}.values())


def items_to_rate(rubric: Rubric, items: Sequence[Item]) -> RatedItems:
    """Return these items as ``RatedItems``."""
    loaded = tuple(items)
    return RatedItems(
        ids=tuple(item.id for item in loaded),
        traits=tuple(Traits(item.system, item.tags, item.split or "") for item in loaded),
        rubric=rubric,
        own={item.id: item.rubric for item in loaded if item.rubric is not None},
        read=lambda: loaded,
    )


@dataclass(frozen=True)
class CriterionRatings:
    """A criterion: per column a level for every item, or a code for a missing one.

    The first columns are those of ``raters``, in order; a rater who was never asked has no column.
    ``source`` is the criterion's own name, which differs from ``name`` if items' rubrics ask
    different questions under one name. ``options`` has each level's index among the choices,
    ``values`` its value.
    """

    name: str
    scale: Scale
    labels: tuple[str, ...]
    columns: Mapping[str, Levels]
    source: str = ""
    options: tuple[int, ...] = ()
    raters: tuple[Rater, ...] = ()
    values: tuple[float, ...] = ()

    @property
    def ordered(self) -> bool:
        """Return whether levels have an order, as MET and UNMET do."""
        return self.scale != "nominal"

    @property
    def weights(self) -> Weights:
        """Return the weights of disagreements in kappa on this scale."""
        return "quadratic" if self.scale == "ordinal" else "none"

    @property
    def kappa(self) -> str:
        """Return the name of the kappa for this scale."""
        return "kappa_quadratic" if self.scale == "ordinal" else "cohen_kappa"

    @property
    def alpha(self) -> str:
        """Return the name of Krippendorff's alpha for this scale."""
        return f"krippendorff_alpha_{'ordinal' if self.scale == 'ordinal' else 'nominal'}"

    @cached_property
    def coded(self) -> Levels:
        """Return the raters' answers, or codes for missing answers, shape (items, raters)."""
        rater_columns = list(self.columns.values())[: len(self.raters)]
        return np.column_stack(
            rater_columns or [np.empty((len(self.columns[LABELS]), 0), np.int64)]
        )

    @property
    def levels(self) -> Levels:
        """Return ``coded`` with -1 for every missing answer."""
        return np.maximum(self.coded, NOT_ASKED)

    @property
    def gold(self) -> Levels:
        """Return the labels, -1 if missing or not an option with a value."""
        return np.maximum(self.columns[LABELS], NOT_ASKED)

    @property
    def decided(self) -> int:
        """Return how many verdicts by the votes are an option, not an abstention or failure."""
        return int((self.panel >= 0).sum())

    @property
    def panel(self) -> Levels:
        """Return the verdicts in force before review."""
        return self.columns[PANEL]

    def reviewed(self, reference: str, items: int) -> int:
        """Return how many cells people settled, of those with a verdict and a reference."""
        settled = (self.column(SETTLED, items) >= 0) & (self.column(reference, items) >= 0)
        return int((settled & (self.panel >= 0)).sum())

    def of_kind(self, *kinds: str) -> list[int]:
        """Return the indices of columns of ``coded`` whose raters are of these kinds."""
        return [i for i, rater in enumerate(self.raters) if rater.kind in kinds]

    def column(self, name: str, items: int) -> Levels:
        """Return a column's levels; all missing if that rater was not asked."""
        return self.columns.get(name, np.full(items, NOT_ASKED))


def labels_unlike(criteria: Sequence[CriterionRatings]) -> dict[str, UnfairLabels]:
    """Return the criteria whose labels are surely not a fair sample of all their cells, with the
    reason.
    """
    cells = []
    for criterion in criteria:
        votes = criterion.coded[:, criterion.of_kind(*JUDGE_KINDS)]
        rated_twice = np.flatnonzero((votes >= 0).sum(axis=1) > 1)
        low = np.where(votes < 0, np.iinfo(np.int64).max, votes)[rated_twice].min(
            axis=1, initial=2**62
        )
        same = low == votes[rated_twice].max(axis=1, initial=-1)
        cells.append(CellAgreement(criterion.name, same, criterion.gold[rated_twice] >= 0))
    return unfair_labels(cells)


class LabelSource(NamedTuple):
    """How the labels of a source were drawn; ``words`` is empty if unknown.

    ``audited`` is how often people confirm the votes' verdicts on all cells, by a random audit;
    labels from elsewhere are of ``picked`` cells. ``why`` says why an existing audit is not used.
    ``chances`` are items' probabilities of being labelled, if unequal. ``unlike`` says by criterion
    why labels are not a fair sample; its key is "" if a declaration is refuted.
    """

    words: str = ""
    audited: Estimate | None = None
    picked: int = 0
    why: str = ""
    chances: Mapping[str, float] | None = None
    unlike: Mapping[str, str] = MappingProxyType({})


def draw_unknown(level: float) -> LabelSource:
    """Return the source of labels if their draw was not declared."""
    return LabelSource()


#: By criterion, the answer for each item: an index among its choices, or a negative code.
Options = Mapping[str, Levels]


@dataclass(frozen=True)
class Rated:
    """A source: its items, criteria in the rubric's order, and the given answers.

    ``given`` has answers by rater, ``labelled`` the items' labels. ``members`` are the raters whose
    votes count in the verdicts. ``sure`` reads the confidence of answers, which few figures need,
    and ``draw`` how labels were drawn, for intervals of a level.
    """

    of: RatedItems
    criteria: tuple[CriterionRatings, ...]
    raters: tuple[Rater, ...]
    given: Mapping[Rater, Options]
    labelled: Options
    members: frozenset[Rater]
    sure: Callable[[], Sequence[SureVote]] = tuple
    draw: Callable[[float], LabelSource] = draw_unknown

    @property
    def items(self) -> tuple[Item, ...]:
        """Return the items with their texts."""
        return self.of.items_with_texts

    @property
    def graders(self) -> tuple[Rater, ...]:
        """Return the raters of the votes, without people who only reviewed the run."""
        return tuple(rater for rater in self.raters if rater.kind != REVIEWED)

    def sample(self, level: float) -> LabelSource:
        """Return how labels were drawn; if undeclared, whether they can be a fair sample."""
        source = self.draw(level)
        if source.words or source.unlike:
            return source
        unlike = {name: words for name, (words, _) in labels_unlike(self.criteria).items()}
        return source._replace(unlike=unlike)

    def answers_of(self, rater: Rater, item_id: str) -> dict[str, int | None]:
        """Return a rater's answers to an item, in the form of ``core.scoring``."""
        row = self.of.place.get(item_id)
        return {} if row is None else answers_at(self.given.get(rater, {}), row)


def answers_at(options: Options, row: int) -> dict[str, int | None]:
    """Return the answers to the item in a row, in the form of ``core.scoring``.

    >>> answers_at({"Depth": np.array([2, -2, -1])}, 1), answers_at({"Depth": np.array([-1])}, 0)
    ({'Depth': None}, {})
    """
    codes = ((name, int(column[row])) for name, column in options.items())
    return {
        name: None if code == ABSTAINED else code
        for name, code in codes
        if code >= 0 or code == ABSTAINED
    }


def columns_of(raters: Iterable[Rater]) -> dict[Rater, str]:
    """Return the column of each rater; judges of one name but different kinds get the kind
    appended.

    >>> list(columns_of([Rater("A", "llm"), Rater("A", "human"), Rater("A", "offline")]).values())
    ['judge:A', 'person:A', 'judge:A (offline)']
    """
    named: dict[str, Rater] = {}
    for rater in raters:
        name = _PREFIXES.get(rater.kind, JUDGE) + rater.name
        named[name if name not in named else f"{name} ({rater.kind})"] = rater
    return {rater: name for name, rater in named.items()}


def majority_column(ratings: Levels, k: int) -> Levels:
    """Return the unique commonest answer of several raters per item.

    ``TIED`` if two levels are equally common, ``ABSTAINED`` if every rater who was asked abstained.

    >>> majority_column(np.array([[0, 0], [0, 1], [-2, -1], [-1, -1]]), 2).tolist()
    [0, -4, -2, -1]
    """
    if not ratings.shape[1]:
        return np.full(len(ratings), NOT_ASKED)
    mode = majority(ratings, k)
    answered = (ratings >= 0).any(axis=1)
    abstained = ~answered & (ratings == ABSTAINED).any(axis=1)
    tied = np.where(answered & (mode < 0), TIED, mode)
    return np.where(abstained, ABSTAINED, tied)


def options_of(rated: Rated, column: str) -> Options:
    """Return a column's answers as options, by criterion."""
    options: dict[str, Levels] = {}
    for criterion in rated.criteria:
        merge_answers(options, criterion, column, len(rated.of.ids))
    return options


def merge_answers(
    answers: dict[str, Levels], ratings: CriterionRatings, column: str, items: int
) -> None:
    """Add a column's answers to a criterion, as options, to its answers under the same name.

    Failed calls are missing answers.
    """
    levels = ratings.column(column, items)
    options = np.array([*ratings.options, NOT_ASKED], np.int64)
    chosen = options[np.where(levels >= 0, levels, len(options) - 1)]
    chosen = np.where(levels == ABSTAINED, ABSTAINED, chosen)
    before = answers.get(ratings.source)
    answers[ratings.source] = (
        chosen if before is None else np.where(chosen == NOT_ASKED, before, chosen)
    )

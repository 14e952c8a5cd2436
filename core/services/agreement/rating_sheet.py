"""The sheet of a run: its raters, their possible comparisons, and slices of its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.ratings import level_counts, mode_of
from core.services.agreement.ratings import (
    ABSTAINED,
    LABELS,
    MAJORITY,
    NOT_ASKED,
    OWN_LABELS,
    PANEL,
    PEOPLE,
    PERSON,
    REVIEWED,
    REVIEWER,
    Column,
    CriterionRatings,
    Levels,
    RatedItems,
    Rater,
    Traits,
    majority_column,
)
from core.services.rating_models.rater_table import RatedQuestion, RaterTable
from core.store.store import Store

#: With fewer items, a share of one half is uncertain by 14 points or more (1.96 * .5 / sqrt(50)).
FEW = 50
_WORDS = {
    LABELS: "Labels",
    PEOPLE: "Majority of people",
    PANEL: "Panel",
    MAJORITY: "Majority where there is one",
}


@dataclass(frozen=True)
class Sheet:
    """The ratings of a run. The columns of its raters are ``judges``, ``people`` (who graded) and
    ``reviewers`` (who reviewed the run here; labels include what they settled).

    ``members`` are the columns whose votes make the panel's verdicts. ``kinds`` has the kind of
    each ``offline`` judge; other judges are ``llm``. ``whole`` counts the items before slicing.
    """

    items: tuple[str, ...]
    judges: tuple[str, ...]
    criteria: tuple[CriterionRatings, ...]
    people: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    traits: tuple[Traits, ...] = ()
    whole: int = 0
    reviewers: tuple[str, ...] = ()
    members: frozenset[str] = frozenset()

    @property
    def labelled(self) -> bool:
        """Return whether any item has a label."""
        return any((criterion.column(LABELS, 0) >= 0).any() for criterion in self.criteria)

    @property
    def everybody(self) -> tuple[str, ...]:
        """Return the columns of all raters."""
        return (*self.people, *self.reviewers, *self.judges)

    @property
    def references(self) -> tuple[str, ...]:
        """Return the references available to compare raters with, the best first."""
        labels = (LABELS,) if self.labelled else ()
        people = (PEOPLE,) if len(self.people) > 1 else ()
        return (*labels, *people, PANEL, *self.people, *self.reviewers, *self.judges)

    def raters(self, reference: str) -> tuple[str, ...]:
        """Return the raters comparable with a reference; the likeliest choice comes first."""
        people = (PEOPLE,) if len(self.people) > 1 else ()
        most = (
            (MAJORITY,) if any(MAJORITY in criterion.columns for criterion in self.criteria) else ()
        )
        everyone = (PANEL, *people, *self.judges, *self.people, *self.reviewers, *most)
        return tuple(rater for rater in everyone if self._are_comparable(rater, reference))

    def _are_comparable(self, first: str, second: str) -> bool:
        """Return whether the columns differ, and neither is a group that consists of the other."""
        groups = {PANEL: self.members, PEOPLE: frozenset(self.people), MAJORITY: self.members}
        if first in groups and second in groups:
            return first != second and not groups[first] & groups[second]
        if MAJORITY in (first, second):
            return LABELS in (first, second)
        return first != second and not any(
            groups.get(group) == frozenset((member,))
            for group, member in ((first, second), (second, first))
        )

    def overlap(self, group: str, column: str) -> bool:
        """Return whether a group's column includes the other's answers, which must then be
        excluded.
        """
        if group == LABELS:
            return column in self.reviewers
        return self.other_columns(group, column) is not None or (
            (group, column) == (PEOPLE, PANEL) and bool(self.members & frozenset(self.people))
        )

    def other_columns(self, group: str, column: str) -> tuple[str, ...] | None:
        """Return the other columns of a group; ``None`` if the column is not in it.

        All columns of a judge with replicates are excluded, because they are one rater.
        """
        members = {PEOPLE: self.people, PANEL: tuple(sorted(self.members))}.get(group, ())
        if column not in members:
            return None
        return tuple(
            member for member in members if _without_replicate(member) != _without_replicate(column)
        )

    def criterion(self, name: str) -> CriterionRatings:
        """Return the criterion with this name, which must exist."""
        return next(ratings for ratings in self.criteria if ratings.name == name)

    def kind(self, column: str) -> str:
        """Return the kind of a rater's column: ``human``, ``reviewer``, ``llm`` or ``offline``."""
        if column.startswith(REVIEWER):
            return REVIEWED
        return "human" if column.startswith(PERSON) else self.kinds.get(column, "llm")

    def matrix(self, ratings: CriterionRatings, columns: tuple[str, ...]) -> Levels:
        """Return the levels of several columns, shape (items, columns)."""
        levels = np.full((len(self.items), len(columns)), NOT_ASKED)
        for index, column in enumerate(columns):
            if column in ratings.columns:
                levels[:, index] = ratings.columns[column]
        return levels


def rater_table(sheet: Sheet, columns: Sequence[str]) -> RaterTable:
    """Return the ratings of some columns as numbers, for the criteria with ordered levels."""
    return RaterTable(
        sheet.items,
        tuple(name_of(column) for column in columns),
        tuple(
            RatedQuestion(criterion.name, criterion.values, sheet.matrix(criterion, tuple(columns)))
            for criterion in sheet.criteria
            if criterion.ordered and criterion.values
        ),
    )


def name_of(column: str) -> str:
    """Return the name of a column.

    >>> name_of("labels"), name_of("judge:labels"), name_of("person:ann")
    ('Labels', 'labels', 'ann')
    """
    if column in _WORDS:
        return _WORDS[column]
    return column.partition(":")[2]


def _without_replicate(column: str) -> str:
    name, _, number = column.rpartition("|")
    return name if number.isdigit() else column


def majority_of_all_others(ratings: Levels, k: int) -> Levels:
    """Return, per column, the unique majority of all other columns, or -1; shape as ``ratings``."""
    own_votes = (ratings[:, :, None] == np.arange(k)).astype(np.int64)
    return mode_of(level_counts(ratings, k)[:, None, :] - own_votes)


def levels_of_sides(
    sheet: Sheet, ratings: CriterionRatings, reference: str, rater: str
) -> tuple[Levels, Levels]:
    """Return the levels of both raters. A rater is never compared with a group that includes it: a
    member of the panel, or of people, is compared with the unique majority of the others, a
    reviewer with the labels from outside this run's review.
    """
    return (
        _levels_against(sheet, ratings, reference, rater),
        _levels_against(sheet, ratings, rater, reference),
    )


def _levels_against(
    sheet: Sheet, ratings: CriterionRatings, column: str, other_column: str
) -> Levels:
    if column == LABELS and other_column in sheet.reviewers:
        column = OWN_LABELS
    if {column, other_column} == {PEOPLE, PANEL} and sheet.overlap(PEOPLE, PANEL):
        return np.full(len(sheet.items), NOT_ASKED)
    other_columns = sheet.other_columns(column, other_column)
    if other_columns is not None:
        return majority_column(sheet.matrix(ratings, other_columns), len(ratings.labels))
    return ratings.column(column, len(sheet.items))


def subset_of_items(sheet: Sheet, mask: npt.NDArray[np.bool_]) -> Sheet:
    """Return the sheet of only these items."""
    rows = np.flatnonzero(mask)
    return Sheet(
        items=tuple(sheet.items[at] for at in rows),
        judges=sheet.judges,
        criteria=tuple(
            replace(
                criterion,
                columns={name: levels[rows] for name, levels in criterion.columns.items()},
            )
            for criterion in sheet.criteria
        ),
        people=sheet.people,
        kinds=sheet.kinds,
        traits=tuple(sheet.traits[at] for at in rows),
        whole=sheet.whole,
        reviewers=sheet.reviewers,
        members=sheet.members,
    )


@dataclass(frozen=True)
class Slice:
    """A selection of items: with any of these tags, of any of these systems, in this split.

    An empty field selects all items.
    """

    tags: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    split: str = ""

    def __bool__(self) -> bool:
        """Return whether the slice excludes any items."""
        return bool(self.tags or self.systems or self.split)

    def holds(self, item: Traits) -> bool:
        """Return whether the slice includes an item.

        >>> Slice(tags=("long",)).holds(Traits(tags=("long", "x")))
        True
        """
        return (
            (not self.tags or bool(set(self.tags) & set(item.tags)))
            and (not self.systems or item.system in self.systems)
            and (not self.split or item.split == self.split)
        )


@dataclass(frozen=True)
class SliceChoices:
    """The properties by which items can be selected, with their numbers of items, sorted by
    name.
    """

    tags: tuple[tuple[str, int], ...]
    systems: tuple[tuple[str, int], ...]
    splits: tuple[tuple[str, int], ...]

    def known(self, asked: Slice) -> Slice:
        """Return the slice without values that items lack."""
        tags, systems = dict(self.tags), dict(self.systems)
        return Slice(
            tags=tuple(tag for tag in asked.tags if tag in tags),
            systems=tuple(value for value in asked.systems if value in systems),
            split=asked.split if asked.split in dict(self.splits) else "",
        )


def slice_choices(sheet: Sheet) -> SliceChoices:
    """Return the choices for slicing a sheet, without properties that all items share."""
    return SliceChoices(
        tags=_names_with_counts(sheet, [tag for item in sheet.traits for tag in set(item.tags)]),
        systems=_names_with_counts(sheet, [item.system for item in sheet.traits if item.system]),
        splits=_names_with_counts(sheet, [item.split for item in sheet.traits if item.split]),
    )


def _names_with_counts(sheet: Sheet, names: list[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name, n) for name, n in sorted(Counter(names).items()) if n < len(sheet.items))


def sheet_slice(sheet: Sheet, part: Slice) -> Sheet:
    """Return the sheet with only the items of a slice."""
    if not part:
        return sheet
    return subset_of_items(sheet, np.array([part.holds(item) for item in sheet.traits], np.bool_))


# Reviewers are raters, too: by their first verdicts, given before they saw the votes.
#
# Agreement uses a reviewer's first answer; the truth is what was settled in the end. Reviewers are
# a group of their own: queues select doubtful cells, unlike the graders of a file.

#: By reviewer: the option by (item id, criterion), ``None`` if it could not be assessed.
Firsts = Mapping[str, Mapping[tuple[str, str], int | None]]


def first_verdicts(store: Store, run_id: int) -> Firsts:
    """Return reviewers' first, blind verdicts in any queue of a run.

    It leaves out verdicts given with the votes visible, and those that resolve disagreements. Of
    several verdicts on a cell the earliest counts. Raises ``NotFound`` for an unknown run.
    """
    queues = store.queues.all_of_run(run_id)
    verdicts = [v for queue in queues for v in store.verdicts.of_queue(queue.id)]
    firsts: dict[str, dict[tuple[str, str], int | None]] = {}
    for verdict in sorted(verdicts, key=lambda v: v.first_event):
        if verdict.part == "review" and verdict.mode != "assisted":
            reviewer_verdicts = firsts.setdefault(verdict.reviewer, {})
            reviewer_verdicts.setdefault((verdict.item_id, verdict.criterion), verdict.first.option)
    return firsts


def reviewer_columns(
    items: RatedItems, firsts: Firsts, used_names: Collection[str] = ()
) -> list[Column]:
    """Return reviewers' first verdicts as columns, sorted by name.

    A reviewer with the name of one of the run's raters is marked "(review)".
    """
    columns = list[Column]()
    for name in sorted(firsts, key=str.casefold):
        rater = Rater(f"{name} (review)" if name in used_names else name, REVIEWED)
        by_criterion: dict[str, dict[int, int]] = {}
        for (item_id, criterion), option in firsts[name].items():
            row = items.place.get(item_id)
            if row is not None:
                answers = by_criterion.setdefault(criterion, {})
                answers[row] = ABSTAINED if option is None else option
        columns += [
            Column(criterion, rater, np.array([*cells]), np.array([*cells.values()]))
            for criterion, cells in by_criterion.items()
        ]
    return columns

"""The sheet of a run: who rated, who can be compared with whom, and a slice of its items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.ratings import level_counts, mode_of
from core.services.agreement.ratings import (
    ABSTAINED,
    JUDGE,
    LABELS,
    NOT_ASKED,
    PANEL,
    PEOPLE,
    PERSON,
    CriterionRatings,
    Levels,
    Traits,
    majority_column,
)
from core.services.rating_models.rater_table import RatedQuestion, RaterTable
from core.store.store import Store

#: With fewer items a share of one half is uncertain by 14 points or more (1.96 * .5 / sqrt(50)).
FEW = 50
_WORDS = {LABELS: "Labels", PEOPLE: "Majority of people", PANEL: "Panel"}


@dataclass(frozen=True)
class Sheet:
    """The ratings of a run. ``judges`` and ``people`` are the columns of its raters.

    ``reviewers`` are those of the people who reviewed the run here: labels hold what they settled.

    ``kinds`` says which judges are ``offline``; the others are ``llm``. ``whole`` is how many items
    there are before anything was chosen among them. ``ruled`` says whether the panel's verdicts
    follow rules that somebody chose here; of imported votes the panel is the judges' majority.
    """

    items: tuple[str, ...]
    judges: tuple[str, ...]
    criteria: tuple[CriterionRatings, ...]
    people: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    traits: tuple[Traits, ...] = ()
    whole: int = 0
    reviewers: tuple[str, ...] = ()
    ruled: bool = True

    @property
    def labelled(self) -> bool:
        """Whether any item has a label."""
        return any((asked.column(LABELS, 0) >= 0).any() for asked in self.criteria)

    @property
    def panel(self) -> tuple[str, ...]:
        """``PANEL`` where there is one: people alone are no panel (``panel_column``)."""
        return (PANEL,) if self.judges or not self.people else ()

    @property
    def references(self) -> tuple[str, ...]:
        """What a rater can be compared with, the best first."""
        labels = (LABELS,) if self.labelled else ()
        people = (PEOPLE,) if len(self.people) > 1 else ()
        return (*labels, *people, *self.panel, *self.people, *self.judges)

    def raters(self, reference: str) -> tuple[str, ...]:
        """Who can be compared with that reference, the likeliest question first."""
        people = (PEOPLE,) if len(self.people) > 1 else ()
        # Where there are only people, their majority is the likeliest question.
        first, last = ((), people) if self.panel else (people, ())
        everyone = (*self.panel, *first, *self.judges, *self.people, *last)
        return tuple(one for one in everyone if one != reference)

    def criterion(self, name: str) -> CriterionRatings:
        """The criterion of that name, which must be there."""
        return next(asked for asked in self.criteria if asked.name == name)

    def kind(self, column: str) -> str:
        """``human``, ``llm`` or ``offline`` for a rater's column."""
        return "human" if column.startswith(PERSON) else self.kinds.get(column, "llm")

    def matrix(self, asked: CriterionRatings, columns: tuple[str, ...]) -> Levels:
        """The levels of several columns, shape (items, columns)."""
        found = np.full((len(self.items), len(columns)), NOT_ASKED)
        for at, column in enumerate(columns):
            if column in asked.columns:
                found[:, at] = asked.columns[column]
        return found


def rater_table(sheet: Sheet, columns: Sequence[str]) -> RaterTable:
    """The ratings of some columns as numbers, of the criteria whose levels have an order."""
    return RaterTable(
        sheet.items,
        tuple(name_of(column) for column in columns),
        tuple(
            RatedQuestion(asked.name, asked.values, sheet.matrix(asked, tuple(columns)))
            for asked in sheet.criteria
            if asked.ordered and asked.values
        ),
    )


def name_of(column: str) -> str:
    """What a column is called.

    >>> name_of("labels"), name_of("judge:labels"), name_of("person:ann")
    ('Labels', 'labels', 'ann')
    """
    if column in _WORDS:
        return _WORDS[column]
    return column.removeprefix(JUDGE if column.startswith(JUDGE) else PERSON)


def of_others(ratings: Levels, at: int, k: int) -> Levels:
    """``majority_column`` of everybody but the rater in that column.

    >>> of_others(np.array([[0, 0, 1], [0, 1, 1]]), 0, 2).tolist()
    [-4, 1]
    """
    others = np.delete(ratings, at, axis=1)
    return majority_column(others, k)


def of_each_others(ratings: Levels, k: int) -> Levels:
    """``of_others`` for every column at once, without telling ties apart; shape as ``ratings``."""
    own = (ratings[:, :, None] == np.arange(k)).astype(np.int64)
    return mode_of(level_counts(ratings, k)[:, None, :] - own)


def sides(
    sheet: Sheet, asked: CriterionRatings, reference: str, rater: str
) -> tuple[Levels, Levels]:
    """The levels of both. Against the majority of people, a person meets that of the others."""
    items = len(sheet.items)
    return (
        _against(sheet, asked, reference, rater, items),
        _against(sheet, asked, rater, reference, items),
    )


def _against(sheet: Sheet, asked: CriterionRatings, column: str, other: str, items: int) -> Levels:
    if column == PEOPLE and other in sheet.people:
        ratings = sheet.matrix(asked, sheet.people)
        return of_others(ratings, sheet.people.index(other), len(asked.labels))
    return asked.column(column, items)


def subset(sheet: Sheet, kept: npt.NDArray[np.bool_]) -> Sheet:
    """The sheet of these items only."""
    rows = np.flatnonzero(kept)
    return Sheet(
        items=tuple(sheet.items[at] for at in rows),
        judges=sheet.judges,
        criteria=tuple(
            replace(one, columns={name: levels[rows] for name, levels in one.columns.items()})
            for one in sheet.criteria
        ),
        people=sheet.people,
        kinds=sheet.kinds,
        traits=tuple(sheet.traits[at] for at in rows),
        whole=sheet.whole,
        reviewers=sheet.reviewers,
        ruled=sheet.ruled,
    )


@dataclass(frozen=True)
class Slice:
    """Which items are looked at: with any of these tags, of any of these systems, in this split.

    An empty part lets every item pass.
    """

    tags: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    split: str = ""

    def __bool__(self) -> bool:
        """Whether anything is chosen at all."""
        return bool(self.tags or self.systems or self.split)

    def holds(self, item: Traits) -> bool:
        """Whether an item is in it.

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
    """What items can be chosen by, and how many items have it, in the order of names."""

    tags: tuple[tuple[str, int], ...]
    systems: tuple[tuple[str, int], ...]
    splits: tuple[tuple[str, int], ...]

    def known(self, asked: Slice) -> Slice:
        """The slice without what no item has."""
        tags, systems = dict(self.tags), dict(self.systems)
        return Slice(
            tags=tuple(tag for tag in asked.tags if tag in tags),
            systems=tuple(one for one in asked.systems if one in systems),
            split=asked.split if asked.split in dict(self.splits) else "",
        )


def choices(sheet: Sheet) -> SliceChoices:
    """What the items of a sheet can be chosen by; what all of them share is left out."""
    return SliceChoices(
        tags=_counted(sheet, [tag for item in sheet.traits for tag in set(item.tags)]),
        systems=_counted(sheet, [item.system for item in sheet.traits if item.system]),
        splits=_counted(sheet, [item.split for item in sheet.traits if item.split]),
    )


def _counted(sheet: Sheet, names: list[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name, n) for name, n in sorted(Counter(names).items()) if n < len(sheet.items))


def sliced(sheet: Sheet, part: Slice) -> Sheet:
    """The sheet with only the items of that part."""
    if not part:
        return sheet
    return subset(sheet, np.array([part.holds(item) for item in sheet.traits], np.bool_))


# People who review are raters, too: by their first verdicts, given before they saw the votes.
#
# Agreement uses what somebody said at first; truth is what was settled in the end.

#: By reviewer: (item id, criterion) and the option, ``None`` where it could not be assessed.
Firsts = Mapping[str, Mapping[tuple[str, str], int | None]]


def first_verdicts(store: Store, run_id: int) -> Firsts:
    """What reviewers said at first, blind, in any queue of a run.

    Verdicts given with the votes in sight are left out, and so are those that end disagreements.
    Of several on a cell the earliest counts. Raises ``NotFound`` for an unknown run.
    """
    queues = store.queues.list(run_id) + store.queues.list(run_id, archived=True)
    verdicts = [v for queue in queues for v in store.verdicts.of_queue(queue.id)]
    found: dict[str, dict[tuple[str, str], int | None]] = {}
    for verdict in sorted(verdicts, key=lambda v: v.first_event):
        if verdict.part == "review" and verdict.mode != "assisted":
            mine = found.setdefault(verdict.reviewer, {})
            mine.setdefault((verdict.item_id, verdict.criterion), verdict.first.option)
    return found


def with_reviewers(sheet: Sheet, firsts: Firsts) -> Sheet:
    """The sheet with a column per reviewer, in the order of names, and their majority.

    A reviewer who has the name of an imported person is told apart by "(review)".
    """
    if not firsts:
        return sheet
    names = {
        who: PERSON + who + (" (review)" if PERSON + who in sheet.people else "")
        for who in sorted(firsts, key=str.casefold)
    }
    people = (*sheet.people, *names.values())
    place = {item: at for at, item in enumerate(sheet.items)}
    criteria = tuple(
        _with_columns(asked, {names[who]: firsts[who] for who in names}, place, people)
        for asked in sheet.criteria
    )
    return replace(sheet, people=people, criteria=criteria, reviewers=tuple(names.values()))


def _with_columns(
    asked: CriterionRatings,
    said: Mapping[str, Mapping[tuple[str, str], int | None]],
    place: Mapping[str, int],
    people: Sequence[str],
) -> CriterionRatings:
    levels = {option: level for level, option in enumerate(asked.options)}
    was_asked = _asked_of(asked, len(place))
    columns = dict(asked.columns)
    for name, cells in said.items():
        column = np.full(len(place), NOT_ASKED)
        for (item, criterion), option in cells.items():
            at = place.get(item)
            if criterion == asked.source and at is not None and was_asked[at]:
                column[at] = ABSTAINED if option is None else levels.get(option, ABSTAINED)
        if (column != NOT_ASKED).any():
            columns[name] = column
    theirs = [columns[name] for name in people if name in columns]
    if theirs:
        columns[PEOPLE] = majority_column(np.column_stack(theirs), len(asked.labels))
    return replace(asked, columns=columns)


def _asked_of(asked: CriterionRatings, items: int) -> Levels:
    """On which items anybody was asked this: items may ask different things by one name."""
    found = np.zeros(items, np.int64)
    for column in asked.columns.values():
        found |= column != NOT_ASKED
    return found

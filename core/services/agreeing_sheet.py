"""The ratings of a run as plain data: who answered what, by columns that pages can name.

A rater is named by a column: ``LABELS``, ``PEOPLE`` (their majority), ``PANEL``, ``judge:NAME`` for
one judge and ``person:NAME`` for one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain.rules import Scale
from core.metrics.agreement import Weights
from core.metrics.ratings import level_counts, mode_of
from core.services.rated_matrix import NOT_ASKED, Levels, majority_column

LABELS, PEOPLE, PANEL = "labels", "people", "panel"
JUDGE, PERSON = "judge:", "person:"
#: With fewer items a share of one half is uncertain by 14 points or more (1.96 * .5 / sqrt(50)).
FEW = 50
_WORDS = {LABELS: "Labels", PEOPLE: "Majority of people", PANEL: "Panel"}


class Traits(NamedTuple):
    """What an item can be chosen by."""

    system: str = ""
    tags: tuple[str, ...] = ()
    split: str = ""


@dataclass(frozen=True)
class Asked:
    """One criterion: per column a level for every item of the sheet, coded as ``Rated`` does.

    ``source`` is the criterion's own name, which differs from ``name`` where items' rubrics ask
    different questions under one name. ``options`` gives each level's place among the choices.
    """

    name: str
    scale: Scale
    labels: tuple[str, ...]
    columns: Mapping[str, Levels]
    source: str = ""
    options: tuple[int, ...] = ()

    @property
    def ordered(self) -> bool:
        """Whether levels have an order. MET and UNMET count as two of them."""
        return self.scale != "nominal"

    @property
    def weights(self) -> Weights:
        """How kappa weighs a disagreement on this scale."""
        return "quadratic" if self.scale == "ordinal" else "none"

    @property
    def alpha(self) -> str:
        """The difference function of Krippendorff's alpha on this scale."""
        return "ordinal" if self.scale == "ordinal" else "nominal"

    def column(self, name: str, items: int) -> Levels:
        """A column's levels; all missing where that rater was not asked."""
        return self.columns.get(name, np.full(items, NOT_ASKED))


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
    criteria: tuple[Asked, ...]
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
        """``PANEL`` where there is one: people alone are no panel (``rated_matrix``)."""
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

    def criterion(self, name: str) -> Asked:
        """The criterion of that name, which must be there."""
        return next(asked for asked in self.criteria if asked.name == name)

    def kind(self, column: str) -> str:
        """``human``, ``llm`` or ``offline`` for a rater's column."""
        return "human" if column.startswith(PERSON) else self.kinds.get(column, "llm")

    def matrix(self, asked: Asked, columns: tuple[str, ...]) -> Levels:
        """The levels of several columns, shape (items, columns)."""
        found = np.full((len(self.items), len(columns)), NOT_ASKED)
        for at, column in enumerate(columns):
            if column in asked.columns:
                found[:, at] = asked.columns[column]
        return found


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


def sides(sheet: Sheet, asked: Asked, reference: str, rater: str) -> tuple[Levels, Levels]:
    """The levels of both. Against the majority of people, a person meets that of the others."""
    items = len(sheet.items)
    return (
        _against(sheet, asked, reference, rater, items),
        _against(sheet, asked, rater, reference, items),
    )


def _against(sheet: Sheet, asked: Asked, column: str, other: str, items: int) -> Levels:
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
            Asked(
                one.name,
                one.scale,
                one.labels,
                {name: levels[rows] for name, levels in one.columns.items()},
                one.source,
                one.options,
            )
            for one in sheet.criteria
        ),
        people=sheet.people,
        kinds=sheet.kinds,
        traits=tuple(sheet.traits[at] for at in rows),
        whole=sheet.whole,
        reviewers=sheet.reviewers,
        ruled=sheet.ruled,
    )

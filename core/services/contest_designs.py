"""Designs: which pairs of systems meet on which task, and who is shown first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import combinations
from typing import Annotated, Literal, NamedTuple

from pydantic import Field as Bounded
from pydantic import model_validator

from core.domain.base import Noun, broken
from core.errors import InputError
from core.identity import seeded
from core.services.contest_field import Field


class Design(Noun):
    """Who meets whom, and how.

    ``all`` pairs on every task; against a ``baseline``; ``sampled``: ``per_task`` pairs on every
    task, drawn so that all pairs meet about equally often; ``adaptive``: a first round of that
    kind, and then rounds of the contests that would tell most (``contests.next_round``).
    ``orders``: every two answers in both orders, or in ``one`` that is balanced over tasks.
    ``disagreement``: what a contest is whose two orders name different winners. ``summaries``: one
    more call per contest sums up the judge's reasons.
    """

    kind: Literal["all", "baseline", "sampled", "adaptive"] = "all"
    baseline: str = ""
    per_task: Annotated[int, Bounded(ge=1)] = 1
    orders: Literal["both", "one"] = "both"
    ties: bool = True
    both_bad: bool = False
    disagreement: Literal["tie", "inconclusive"] = "tie"
    summaries: bool = False

    @model_validator(mode="after")
    def _check(self) -> Design:
        if self.kind == "baseline" and not self.baseline:
            raise broken("is empty.", "Name the system that all others meet.", "baseline")
        return self


class Bout(NamedTuple):
    """Two systems that meet on a task; ``first`` is the one listed earlier."""

    task: str
    first: str
    second: str


def bouts_of(field: Field, design: Design, seed: int) -> tuple[Bout, ...]:
    """The bouts of a design, task by task. The same arguments give the same bouts.

    Raises:
        InputError: the baseline is none of the systems.
    """
    if design.kind == "baseline" and design.baseline not in field.systems:
        raise InputError(
            f"The baseline {design.baseline!r} is none of the systems: {', '.join(field.systems)}."
        )
    if design.kind in ("sampled", "adaptive"):
        return tuple(_sampled(field, design.per_task, seed))
    return tuple(
        Bout(task.id, a, b)
        for task in field.tasks
        for a, b in _pairs(field.systems, task.answers)
        if design.kind == "all" or design.baseline in (a, b)
    )


def swapped_first(bouts: Sequence[Bout], seed: int) -> list[bool]:
    """Whether each bout shows its second system first, where only one order is asked.

    Of each pair every other bout is swapped; the seed draws which ones begin.
    """
    turn: dict[tuple[str, str], bool] = {}
    found = []
    for _, first, second in bouts:
        pair = (first, second)
        if pair not in turn:
            turn[pair] = seeded("order of answers", seed, first, second).random() < 0.5
        found.append(turn[pair])
        turn[pair] = not turn[pair]
    return found


def _sampled(field: Field, per_task: int, seed: int) -> Iterator[Bout]:
    """Every task takes the pairs that have met least so far; of equals, the seed draws."""
    met: Counter[tuple[str, str]] = Counter()
    for task in field.tasks:
        rng = seeded("pairs", seed, task.id)
        pairs = list(_pairs(field.systems, task.answers))
        drawn = sorted(pairs, key=lambda pair: (met[pair], rng.random()))[:per_task]
        met.update(drawn)
        yield from (Bout(task.id, *pair) for pair in pairs if pair in drawn)


def _pairs(systems: Sequence[str], there: Container[str]) -> Iterator[tuple[str, str]]:
    present = [s for s in systems if s in there]
    return combinations(present, 2)

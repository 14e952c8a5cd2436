"""The interface of every judge: a question in, an outcome out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from core.domain.dataset import Item
from core.domain.panel import Judge, Style
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Cell, FailureKind
from core.records import record

#: Failures that no later call can fix, so the engine stops asking the judge.
FATAL: frozenset[FailureKind] = frozenset({"auth", "missing_key", "not_found"})


class Ask(NamedTuple):
    """A criterion to answer. ``order[shown position] = original index``."""

    cell: Cell
    criterion: Criterion
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled item shown to a judge: its true choice for a criterion, and the reason."""

    item: Item
    criterion: str
    option: int
    reason: str = ""


@record(frozen=True, slots=True)
class Question:
    """A criterion of an item for a judge. ``order[shown position] = original index``.

    ``item`` has its dataset's prompt and reference filled in. ``rubric`` is the item's own rubric,
    if it has one, or the run's. If one call covers the whole rubric, ``more`` holds the other
    criteria. ``examples`` are in the order shown, with mixed options. ``instructions`` are the
    judge's own, after the system text. ``summarise``: after choosing between two answers, a further
    call asks the judge to summarise its reasons.
    """

    cell: Cell
    item: Item
    rubric: Rubric
    criterion: Criterion
    order: tuple[int, ...]
    seed: int
    more: tuple[Ask, ...] = ()
    examples: tuple[Example, ...] = ()
    mode: Literal["criterion", "rubric", "two_step"] = "criterion"
    layout: Literal["item_first", "criterion_first"] = "item_first"
    style: Style = "full"
    summarise: bool = False
    instructions: str = ""

    @property
    def asks(self) -> tuple[Ask, ...]:
        """Return all criteria that this call covers."""
        return (Ask(self.cell, self.criterion, self.order), *self.more)


class AskableJudge(Protocol):
    """A judge ready to answer. ``ask`` returns failures and never raises for them."""

    spec: Judge

    async def ask(self, question: Question) -> AskedOutcome:
        """Return votes or failures for the question's asks, with the record of the call."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...

"""What every judge is, whatever stands behind it: ask it a question, get an outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Cell, FailureKind, Vote
from core.records import record

#: Failures that no second call of the same judge can mend: the engine stops asking it.
FATAL: frozenset[FailureKind] = frozenset({"auth", "missing_key", "not_found"})


#: So many of them in a row stop a judge that never answered, and one that has: one alone may be a
#: gateway's slip.
FATAL_AT_FIRST, FATAL_IN_A_ROW = 2, 10


class Lockout:
    """Whether a judge is still worth asking. ``dead`` says why not.

    ``out`` questions are on their way: one that never answered may do so yet.
    """

    def __init__(self) -> None:
        self.dead: tuple[FailureKind, str] | None = None
        self.out = 0
        self._answered, self._in_a_row = False, 0
        self._last: tuple[FailureKind, str] = ("not_found", "")

    @property
    def doubted(self) -> bool:
        """Whether nothing more should be asked before what is out has come back."""
        return not self._answered and self._in_a_row >= FATAL_AT_FIRST

    def saw(self, outcome: AskedOutcome) -> None:
        """Count what came of a question."""
        for result in outcome.results:
            if isinstance(result, Vote):
                self._answered, self._in_a_row = True, 0
            elif result.kind in FATAL:
                self._in_a_row, self._last = self._in_a_row + 1, (result.kind, result.message)
                if result.kind == "missing_key" or self._in_a_row >= FATAL_IN_A_ROW:
                    self.dead = self.dead or self._last
        if self.doubted and not self.out:
            self.dead = self.dead or self._last


class Ask(NamedTuple):
    """One criterion to be answered. ``order[shown position] = original index``."""

    cell: Cell
    criterion: Criterion
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled item shown to a judge: its true choice for one criterion, and why if known."""

    item: Item
    criterion: str
    option: int
    reason: str = ""


@record(frozen=True, slots=True)
class Question:
    """One criterion of one item for one judge. ``order[shown position] = original index``.

    ``item`` has its dataset's prompt and reference filled in; ``rubric`` is the one in force for
    this item (its own, if it has one). Where the whole rubric is asked in one call, ``more`` holds
    the further criteria. ``examples`` are shown as drawn, mixed over options. ``instructions`` are
    the judge's own, said after our system text. ``summarise``: after
    choosing between two answers, the judge is asked, in one more call, to sum up its reasons.
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
    summarise: bool = False
    instructions: str = ""

    @property
    def asks(self) -> tuple[Ask, ...]:
        """All that this call answers."""
        return (Ask(self.cell, self.criterion, self.order), *self.more)


class AskableJudge(Protocol):
    """A judge ready to answer. ``ask`` never raises for trouble with the call: it says so."""

    spec: Judge

    async def ask(self, question: Question) -> AskedOutcome:
        """A vote or a failure for the question's cell, with the call it came from, if any."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...

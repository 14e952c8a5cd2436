"""The judges that run in batches, with the state of each during the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.domain.panel import Judge, Panel
from core.domain.votes import BatchRow, Cell
from core.errors import InputError, Problem
from core.judging.asking.batch_judge import BatchJudge
from core.judging.asking.call_costs import price_of
from core.judging.protocol import Question
from core.judging.providers.base import Request
from core.judging.providers.batches import MOST_LINES, SHARE_OF_PRICE
from core.judging.providers.choice import why_no_batches

#: The plan detail which says that models run in batches.
BATCH = "batch"
#: The next check comes after a tenth of the batch's age, within these bounds in seconds.
SOONEST_LOOK, LATEST_LOOK = 5.0, 600.0
#: Assumed characters per token and tokens per reply, as in the cost estimate.
_CHARACTERS, _REPLY = 4, 150

_MEND = (
    "Ask it directly, or use one at OpenAI, Azure, Anthropic, Mistral, Groq, or an address of your "
    "own."
)


def is_batched(judge: Judge, details: Mapping[str, Any]) -> bool:
    """Return whether a judge runs in batches, given the details of its run's plan."""
    return bool(details.get(BATCH)) and not judge.offline


def without_batches(panel: Panel) -> dict[str, str]:
    """Return why models of a panel cannot run in batches, by judge name."""
    reasons = {judge.name: why_no_batches(judge) for judge in panel.judges if not judge.offline}
    return {name: reason for name, reason in reasons.items() if reason}


def require_batches(panel: Panel) -> None:
    """Raise ``InputError`` if the panel has no model, or one that cannot run in batches."""
    if all(judge.offline for judge in panel.judges):
        raise InputError("No model is asked here, and only models are asked in batches.")
    problems = tuple(
        Problem(reason, _MEND, (name, "model")) for name, reason in without_batches(panel).items()
    )
    if problems:
        raise InputError("These judges cannot be asked in batches.", problems)


def seconds_to_next_check(age: float) -> float:
    """Return the seconds until the next check of a batch of this age.

    >>> seconds_to_next_check(0), seconds_to_next_check(600), seconds_to_next_check(86400)
    (5.0, 60.0, 600.0)
    """
    return min(LATEST_LOOK, max(SOONEST_LOOK, age / 10))


@dataclass
class BatchLane:
    """One judge with its batches in flight, their questions, and limits on sending more."""

    spec: Judge
    judge: BatchJudge
    out: dict[int, BatchRow] = field(default_factory=dict)
    cells: set[Cell] = field(default_factory=set)
    unsent: bool = True
    no_room: bool = False
    most: int = field(default_factory=lambda: MOST_LINES)
    not_before: float = 0.0
    refused: int = 0

    def guess(self, request: Request) -> float:
        """Return the estimated cost of a request in US dollars; 0 without a known price."""
        price = price_of(self.spec)
        if price is None:
            return 0.0
        tokens = sum(len(message["content"]) for message in request.messages) / _CHARACTERS
        return SHARE_OF_PRICE * (tokens * price[0] + _REPLY * price[1]) / 1e6


@dataclass
class RequestFile:
    """Requests collected for the next file."""

    lines: list[tuple[str, Question]] = field(default_factory=list)
    data: list[bytes] = field(default_factory=list)
    size: int = 0
    guess: float = 0.0

    def add(self, key: str, question: Question, line: bytes, guess: float) -> None:
        """Add a request."""
        self.lines.append((key, question))
        self.data.append(line)
        self.size += len(line)
        self.guess += guess

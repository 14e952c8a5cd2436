"""What judges said about a row, in full: reason, order shown, the reversed order, the call."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import cast

from core.domain.rubric import Criterion
from core.domain.votes import Call, FailureKind, FailureRow, Vote, VoteFailure, VoteRow
from core.services.viewing import call_noun
from core.services.workbench_answers import Answer, JudgeCell
from core.services.workbench_standing import Cell
from core.store.store import Store


@dataclass(frozen=True)
class Said:
    """One judge's answer with the criterion as it was asked then; or a failure.

    ``twin`` is the answer to the reversed order. ``place`` says where the chosen option was shown,
    (number from 1, of how many), ``None`` where no order was shown.
    """

    cell: JudgeCell
    criterion: Criterion
    vote: VoteRow | None = None
    twin: VoteRow | None = None

    @property
    def place(self) -> tuple[int, int] | None:
        """Where the chosen option stood."""
        vote = self.vote
        if vote is None or vote.order is None or vote.option is None:
            return None
        return vote.order.index(vote.option) + 1, len(vote.order)


def said(store: Store, cell: Cell) -> tuple[Said, ...]:
    """What each chosen judge said about a cell, stale answers among it."""
    return tuple(_said(store, cell, one) for one in cell.judges)


def _said(store: Store, cell: Cell, one: JudgeCell) -> Said:
    answer = one.answer
    if answer is None:
        return Said(one, cell.criterion)
    run = store.runs.row(answer.run_id)
    asked = store.rubrics.version(run.rubric_version_id).rubric.criterion(answer.criterion)
    votes = {v.cell.replicate: v for v in _votes(store, answer)}
    return Said(one, asked, votes.get(0), votes.get(1))


def _votes(store: Store, answer: Answer) -> list[VoteRow]:
    place = (answer.criterion, answer.judge)
    found = store.votes.for_item(answer.run_id, answer.item)
    return [v for v in found if (v.cell.criterion, v.cell.judge) == place]


def as_vote(row: VoteRow) -> Vote:
    """The vote as the noun it is."""
    return Vote(**{f.name: getattr(row, f.name) for f in fields(Vote)})


def as_failure(row: FailureRow) -> VoteFailure:
    """The failure as the noun it is."""
    return VoteFailure(row.cell, cast("FailureKind", row.kind), row.message, row.order)


def call_for(store: Store, row: VoteRow | FailureRow) -> Call | None:
    """The call it came from, with the exact prompt and the raw reply."""
    return call_noun(store, row)

"""What the runs of a workbench say: each judge's answers, by what was asked and by where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.domain.votes import BallotRow, Cell, FailureRow
from core.services.spot import HELP
from core.services.viewing import choice_label
from core.store.store import Store

#: ``never``: not asked; ``half``: asked, but not yet in the reversed order that is wanted.
State = Literal["asking", "failed", "stale", "never", "half", "fresh"]
#: What is worst says how a row stands.
STATES: tuple[State, ...] = ("asking", "failed", "stale", "never", "half", "fresh")
#: The detail of a run that says whose it is.
WORKBENCH = "workbench"


class Answer(NamedTuple):
    """One judge's answer: the option as it was numbered and called when it was asked.

    ``twin`` is the option chosen with the order reversed, ``None`` where there is no such answer;
    ``twin_failed`` is that failure.
    """

    run_id: int
    item: str
    criterion: str
    judge: str
    option: int | None
    abstained: bool
    label: str
    twin: int | None = None
    twin_label: str = ""
    twin_failed: FailureRow | None = None

    @property
    def flips(self) -> bool | None:
        """Whether the reversed order changed the answer; ``None`` where it was not asked."""
        return None if not self.twin_label else self.twin != self.option


@dataclass(frozen=True)
class JudgeCell:
    """One judge on one criterion of a row. A stale answer is kept for comparison."""

    judge: str
    state: State
    answer: Answer | None = None
    failure: FailureRow | None = None


_Key = tuple[str, str, str]


@dataclass
class Known:
    """Answers by row, hash of the question, judge and hash of its settings; and, whatever was
    asked, the newest by row, criterion and judge.
    """

    by_hash: dict[tuple[str, str, str, str], JudgeCell] = field(default_factory=dict)
    by_place: dict[_Key, JudgeCell] = field(default_factory=dict)


def known_from(store: Store, runs: Sequence[Run]) -> Known:
    """All answers in these runs (oldest first); a newer one stands for an older one."""
    known = Known()
    for run in runs:
        details = run.plan.details.get(HELP, {})
        asked, under = details.get("asked", {}), details.get("judges", {})
        votes = {(b.item_id, b.criterion, b.judge, b.replicate): b for b in _ballots(store, run)}
        failed = {f.cell: f for f in _failures(store, run)}
        criteria = {c.name: c for c in store.rubrics.version(run.rubric_version_id).rubric.criteria}
        for row, questions in asked.items():
            for name, question in questions.items():
                for judge, its_hash in under.items():
                    found = _result(run, criteria[name], (row, name, judge), votes, failed)
                    if found is not None:
                        known.by_hash[row, question, judge, its_hash] = found
                        if found.answer is not None:
                            known.by_place[row, name, judge] = found
    return known


def _result(
    run: Run,
    criterion: Criterion,
    place: _Key,
    votes: Mapping[tuple[str, str, str, int], BallotRow],
    failed: Mapping[Cell, FailureRow],
) -> JudgeCell | None:
    judge = place[2]
    vote, failure = votes.get((*place, 0)), failed.get(Cell(*place, 0))
    if run.active and (vote is None or run.panel.asking.flip != "off"):
        return JudgeCell(judge, "asking")
    if vote is None:
        return None if failure is None else JudgeCell(judge, "failed", None, failure)
    twin, twin_failed = votes.get((*place, 1)), failed.get(Cell(*place, 1))
    answer = Answer(
        run.id,
        *place,
        vote.option,
        vote.abstained,
        _label(criterion, vote),
        None if twin is None else twin.option,
        "" if twin is None else _label(criterion, twin),
        twin_failed,
    )
    return JudgeCell(judge, "fresh", answer)


def _label(criterion: Criterion, vote: BallotRow) -> str:
    return choice_label(criterion, vote.option, vote.abstained) or "no answer"


def _ballots(store: Store, run: Run) -> list[BallotRow]:
    return store.votes.all_ballots(run.id) if run.votes else []


def _failures(store: Store, run: Run) -> list[FailureRow]:
    return store.votes.open_failures(run.id) if run.failures_open else []

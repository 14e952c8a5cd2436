"""How a workbench stands: what each judge said about each row, and whether it still answers it.

An answer is fresh while what the judge would be sent has the hash under which it was asked. So an
edit that is taken back brings its answers back, and one that nobody is shown touches none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from core.aggregate import Ballot, Verdict, settle
from core.domain import votes as votes_nouns
from core.domain.dataset import Item
from core.domain.panel import Judge, Rules
from core.domain.rubric import Criterion
from core.services.draft_types import Draft
from core.services.spot import HELP
from core.services.viewing import choice_label
from core.services.workbench_hash import Hashes, Subject, judge_hash, subject_of
from core.services.workbench_types import Bench, BenchRow, is_empty
from core.store.run_rows import Run, RunRow
from core.store.store import Store
from core.store.vote_rows import BallotRow, FailureRow

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


@dataclass(frozen=True)
class Cell:
    """One criterion of a row: what is expected, and what the chosen judges make of it.

    ``verdict`` is there where every chosen judge that answered did so under the present question.
    ``expected`` is an index into ``choices``, ``None`` where nothing (or no option) is expected.
    """

    criterion: Criterion
    expected: int | None
    expected_label: str
    judges: tuple[JudgeCell, ...]
    verdict: Verdict | None

    @property
    def state(self) -> State:
        """How it stands: the worst of its judges' states."""
        states = {one.state for one in self.judges}
        return next((state for state in STATES if state in states), "never")

    @property
    def said(self) -> str:
        """The verdict's label, or what was said before where that is stale; empty for neither."""
        if self.verdict is not None:
            label = choice_label(self.criterion, self.verdict.option, self.verdict.abstained)
            return label or ""
        labels = [one.answer.label for one in self.judges if one.answer is not None]
        return " / ".join(dict.fromkeys(labels))

    @property
    def agrees(self) -> bool | None:
        """Whether the verdict is the expected option; ``None`` where one of both is missing."""
        if self.verdict is None or self.expected is None:
            return None
        return self.verdict.option == self.expected

    @property
    def open(self) -> bool:
        """Whether there is something left to ask."""
        return self.state not in ("asking", "fresh")


@dataclass(frozen=True)
class Standing:
    """All rows, and for each test row with a text its cells by criterion. ``runs`` are at work."""

    bench: Bench
    subject: Subject
    judges: tuple[Judge, ...]
    hashes: Hashes
    cells: Mapping[str, Mapping[str, Cell]]
    questions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    offline: Mapping[tuple[str, str], str] = field(default_factory=dict)
    runs: tuple[RunRow, ...] = ()

    @property
    def active(self) -> bool:
        """Whether judges are being asked."""
        return any(run.active for run in self.runs)

    @property
    def tests(self) -> list[BenchRow]:
        """The rows that are tests."""
        return [row for row in self.bench["rows"] if not row["example"]]

    @property
    def examples(self) -> list[BenchRow]:
        """The rows that models are shown as examples."""
        return [row for row in self.bench["rows"] if row["example"]]

    @property
    def empty(self) -> list[BenchRow]:
        """Test rows without a text: nobody can be asked about them."""
        return [row for row in self.tests if is_empty(row)]


_Key = tuple[str, str, str]


@dataclass
class _Known:
    """What the runs of a workbench say, by what was asked and by where it was asked."""

    by_hash: dict[tuple[str, str, str, str], JudgeCell] = field(default_factory=dict)
    by_place: dict[_Key, JudgeCell] = field(default_factory=dict)


def standing(store: Store, bench: Bench, draft: Draft) -> Standing:
    """How the workbench stands with the draft as it is now."""
    subject = subject_of(draft)
    known_judges = {row.name: row.judge for row in store.judges.list()}
    judges = tuple(known_judges[n] for n in bench["judges"] if n in known_judges)
    hashes = Hashes(bench, subject)
    models = any(not judge.offline for judge in judges)
    questions = {(row, name): h for row, name, h in hashes.questions()} if models else {}
    learners = any(judge.offline for judge in judges)
    offline = {(row, name): h for row, name, h in hashes.offline()} if learners else {}
    runs = [store.runs.get(run_id) for run_id in bench["runs"]]
    known = _known(store, runs)
    cells = {
        item.id: {
            c.name: _cell(bench, item, c, judges, known, (questions, offline))
            for c in subject.criteria.values()
        }
        for item in hashes.tests
    }
    active = tuple(run for run in runs if run.active)
    return Standing(bench, subject, judges, hashes, cells, questions, offline, active)


def _cell(
    bench: Bench,
    item: Item,
    criterion: Criterion,
    judges: Sequence[Judge],
    known: _Known,
    hashes: tuple[Mapping[tuple[str, str], str], Mapping[tuple[str, str], str]],
) -> Cell:
    names = [criterion.name, *bench["seen"].get(criterion.name, {"former": []})["former"]]
    found = tuple(
        _judge_cell(bench, judge, item.id, names, known, hashes[judge.offline]) for judge in judges
    )
    label = item.labels.get(criterion.name)
    return Cell(
        criterion,
        item.truth(criterion),
        "" if label is None else label.label,
        found,
        _verdict(criterion, judges, found),
    )


def _judge_cell(
    bench: Bench,
    judge: Judge,
    row: str,
    names: Sequence[str],
    known: _Known,
    hashes: Mapping[tuple[str, str], str],
) -> JudgeCell:
    """``names`` are the criterion's name and those it had before."""
    asked = hashes[row, names[0]]
    under = judge_hash(judge, bench["learn_from"])
    found = known.by_hash.get((row, asked, judge.name, under))
    if found is not None:
        half = bench["flip"] and not judge.offline and found.state == "fresh"
        if half and found.answer is not None and not found.answer.twin_label:
            return JudgeCell(judge.name, "half", found.answer, found.answer.twin_failed)
        return found
    for name in names:
        before = known.by_place.get((row, name, judge.name))
        if before is not None and before.answer is not None:
            return JudgeCell(judge.name, "stale", before.answer)
    return JudgeCell(judge.name, "never")


def _verdict(
    criterion: Criterion, judges: Sequence[Judge], cells: Sequence[JudgeCell]
) -> Verdict | None:
    weights = {judge.name: judge.weight for judge in judges}
    ballots = [
        Ballot(cell.answer.option, cell.answer.abstained, weights[cell.judge], cell.judge)
        for cell in cells
        if cell.answer is not None and cell.state in ("fresh", "half")
    ]
    if any(cell.state == "stale" for cell in cells):
        return None
    failures = sum(cell.state == "failed" for cell in cells)
    return settle(criterion, ballots, Rules(), failures=failures)


def _known(store: Store, runs: Sequence[Run]) -> _Known:
    known = _Known()
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
    failed: Mapping[votes_nouns.Cell, FailureRow],
) -> JudgeCell | None:
    judge = place[2]
    vote, failure = votes.get((*place, 0)), failed.get(votes_nouns.Cell(*place, 0))
    if run.active and (vote is None or run.panel.asking.flip != "off"):
        return JudgeCell(judge, "asking")
    if vote is None:
        return None if failure is None else JudgeCell(judge, "failed", None, failure)
    twin, twin_failed = votes.get((*place, 1)), failed.get(votes_nouns.Cell(*place, 1))
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

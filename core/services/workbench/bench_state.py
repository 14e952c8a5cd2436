"""The state of a workbench: fresh and stale answers, agreement by criterion, a cell in full.

An answer is fresh while the question that the judge would get has the same hash. So undoing an edit
restores its answers, and edits that judges do not see affect none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.domain.dataset import Item
from core.domain.panel import Judge, Rules
from core.domain.rubric import Criterion
from core.domain.runs import RunRow
from core.domain.votes import Cell, FailureRow, Verdict, VoteRow
from core.metrics.estimate import Estimate
from core.scoring.verdict import Ballot, settle
from core.services.results.item_view import VoteView, choice_label, vote_view
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.workbench.bench_rows import Bench, BenchRow, is_empty
from core.services.workbench.known_answers import (
    STATES,
    AskableCriteria,
    BenchHashes,
    JudgeCell,
    KnownAnswers,
    State,
    judge_hash,
    known_answers,
    subject_of,
)
from core.store.store import Store


@dataclass(frozen=True)
class BenchCell:
    """A criterion of a row: the expected option, and the chosen judges' answers.

    It has a ``verdict`` from the answers to the current question, unless a judge's answer is stale.
    ``expected`` is an index into ``choices``, or ``None`` if no option is expected.
    """

    criterion: Criterion
    expected: int | None
    expected_label: str
    judges: tuple[JudgeCell, ...]
    verdict: Verdict | None

    @property
    def state(self) -> State:
        """Return the worst state of the cell's judges."""
        states = {judged.state for judged in self.judges}
        return next((state for state in STATES if state in states), "never")

    @property
    def judge_answers(self) -> str:
        """Return the verdict's label, or the answers if they are stale; empty without any."""
        if self.verdict is not None:
            label = choice_label(self.criterion, self.verdict.option, self.verdict.abstained)
            return label or ""
        labels = [judged.label for judged in self.judges if judged.answer is not None]
        return " / ".join(dict.fromkeys(labels))

    @property
    def agrees(self) -> bool | None:
        """Return whether the verdict is the expected option; ``None`` if either is missing."""
        if self.verdict is None or self.expected is None:
            return None
        return self.verdict.option == self.expected

    @property
    def open(self) -> bool:
        """Return whether something is left to ask."""
        return self.state not in ("asking", "fresh")


@dataclass(frozen=True)
class WorkbenchState:
    """All rows, and the cells by criterion of each test row with a text.

    ``runs`` are running; ``stopped`` are the last runs that ended with an error.
    """

    bench: Bench
    subject: AskableCriteria
    judges: tuple[Judge, ...]
    hashes: BenchHashes
    cells: Mapping[str, Mapping[str, BenchCell]]
    questions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    offline: Mapping[tuple[str, str], str] = field(default_factory=dict)
    runs: tuple[RunRow, ...] = ()
    stopped: tuple[RunRow, ...] = ()

    @property
    def active(self) -> bool:
        """Return whether judges are being asked."""
        return any(run.active for run in self.runs)

    @property
    def tests(self) -> list[BenchRow]:
        """Return the rows that are tests."""
        return [row for row in self.bench["rows"] if not row["example"]]

    @property
    def examples(self) -> list[BenchRow]:
        """Return the rows that models see as examples."""
        return [row for row in self.bench["rows"] if row["example"]]

    @property
    def empty(self) -> list[BenchRow]:
        """Return test rows without a text, which cannot be judged."""
        return [row for row in self.tests if is_empty(row)]


def workbench_state(store: Store, bench: Bench, draft: RubricDraft) -> WorkbenchState:
    """Return the state of the workbench with the current draft."""
    subject = subject_of(draft)
    known_judges = {row.name: row.judge for row in store.judges.list()}
    judges = tuple(known_judges[n] for n in bench["judges"] if n in known_judges)
    hashes = BenchHashes(bench, subject)
    models = any(not judge.offline for judge in judges)
    questions = {(row, name): h for row, name, h in hashes.questions()} if models else {}
    learners = any(judge.offline for judge in judges)
    offline = {(row, name): h for row, name, h in hashes.offline()} if learners else {}
    runs = [store.runs.get(run_id) for run_id in bench["runs"]]
    answers = known_answers(store, runs)
    under = {judge.name: judge_hash(judge, bench["learn_from"]) for judge in judges}
    cells = {
        item.id: {
            c.name: _bench_cell(bench, item, c, judges, answers, (questions, offline), under)
            for c in subject.criteria.values()
        }
        for item in hashes.tests
    }
    active = tuple(run for run in runs if run.active)
    stopped = tuple(
        r for r in runs if r.id in bench["last"] and r.status in ("failed", "interrupted")
    )
    return WorkbenchState(
        bench, subject, judges, hashes, cells, questions, offline, active, stopped
    )


def _bench_cell(
    bench: Bench,
    item: Item,
    criterion: Criterion,
    judges: Sequence[Judge],
    known_answers: KnownAnswers,
    hashes: tuple[Mapping[tuple[str, str], str], Mapping[tuple[str, str], str]],
    under: Mapping[str, str],
) -> BenchCell:
    names = [criterion.name, *bench["seen"].get(criterion.name, {"former": []})["former"]]
    judged = tuple(
        _judge_cell(
            bench,
            judge,
            names,
            known_answers,
            (item.id, hashes[judge.offline][item.id, names[0]]),
            under,
        )
        for judge in judges
    )
    label = item.labels.get(criterion.name)
    return BenchCell(
        criterion,
        item.truth(criterion),
        "" if label is None else label.label,
        judged,
        _verdict_of(criterion, judges, judged),
    )


def _judge_cell(
    bench: Bench,
    judge: Judge,
    names: Sequence[str],
    known_answers: KnownAnswers,
    asked: tuple[str, str],
    hashes: Mapping[str, str],
) -> JudgeCell:
    """Return a judge's cell in the workbench.

    ``asked`` is its row and the hash of its question; ``names`` are the criterion's name now and
    its earlier names, under which an outdated answer may be known.
    """
    by_hash, by_place = known_answers
    known_cell = by_hash.get((*asked, judge.name, hashes[judge.name]))
    if known_cell is not None:
        half = bench["flip"] and not judge.offline and known_cell.state == "fresh"
        if half and known_cell.twin is None:
            return replace(known_cell, state="half", failure=known_cell.twin_failed)
        return known_cell
    for name in names:
        before = by_place.get((asked[0], name, judge.name))
        if before is not None:
            return replace(before, state="stale")
    return JudgeCell(judge.name, "never")


def _verdict_of(
    criterion: Criterion, judges: Sequence[Judge], cells: Sequence[JudgeCell]
) -> Verdict | None:
    weights = {judge.name: judge.weight for judge in judges}
    ballots = [
        Ballot(answer.option, answer.abstained, weights[cell.judge], cell.judge, answer.chances)
        for cell in cells
        if (answer := cell.answer) is not None and cell.state in ("fresh", "half")
    ]
    if any(cell.state == "stale" for cell in cells):
        return None
    failures = sum(cell.state == "failed" for cell in cells)
    return settle(criterion, ballots, Rules(), failures=failures)


@dataclass(frozen=True)
class BenchReply:
    """A judge's answers with the criterion as it was then; or a failure.

    ``answers`` has the answer and, if asked, the answer in reversed order.
    """

    cell: JudgeCell
    criterion: Criterion
    answers: tuple[VoteView, ...] = ()

    @property
    def vote(self) -> VoteRow | None:
        """Return the answer in the first order, or ``None``."""
        return self.answers[0].vote if self.answers else None

    @property
    def place(self) -> tuple[int, int] | None:
        """Return the position of the chosen option (from 1) and their number, if known."""
        vote = self.vote
        if vote is None or vote.order is None or vote.option is None:
            return None
        return vote.order.index(vote.option) + 1, len(vote.order)


def judge_answers(store: Store, cell: BenchCell) -> tuple[BenchReply, ...]:
    """Return each chosen judge's answers about a cell, including stale ones."""
    return tuple(_replies_of(store, cell, judged) for judged in cell.judges)


def _replies_of(store: Store, cell: BenchCell, judge_cell: JudgeCell) -> BenchReply:
    if judge_cell.place is None:
        return BenchReply(judge_cell, cell.criterion)
    run_id, item, name = judge_cell.place
    version = store.runs.row(run_id).rubric_version_id
    criterion = store.rubrics.version(version).rubric.criterion(name)
    votes = {vote.cell: vote for vote in store.votes.for_item(run_id, item)}
    failures = dict[Cell, list[FailureRow]]()
    for failure in store.votes.failures_of(run_id, item):
        failures.setdefault(failure.cell, []).append(failure)
    first, twin = (
        vote_view(criterion, Cell(item, name, judge_cell.judge, replicate), votes, failures)
        for replicate in (0, 1)
    )
    answers = (first,) if twin.result is None else (first, replace(twin, repeats=0))
    return BenchReply(judge_cell, criterion, answers)


# Figures of a criterion over the workbench's rows: agreement with expected options, and flips.
#
# Few rows show little, so every share comes with its count and its interval.

#: The states of answers to the current question.
_CURRENT: tuple[State, ...] = ("fresh", "half")


@dataclass(frozen=True)
class BenchFigures:
    """The figures of a criterion over the test rows.

    ``agreement`` is over rows with an expected option and a fresh verdict; ``always`` is the
    agreement of a judge that always gives the commonest expected option. ``by_judge`` is each judge
    alone. ``flips`` is the share of answers that differ in reversed order. The counts are of rows
    outside the figures: without an expected option, stale, failed, and not asked yet.
    """

    criterion: str
    agreement: Estimate
    always: Estimate
    by_judge: tuple[tuple[str, Estimate], ...]
    flips: Estimate
    unlabelled: int
    stale: int
    failed: int
    unasked: int


def figures_of(state: WorkbenchState, criteria: Sequence[str] | None = None) -> list[BenchFigures]:
    """Return the figures of each criterion (or of those named), in the rubric's order."""
    names = [n for n in state.subject.criteria if criteria is None or n in criteria]
    return [_figures_of(state, name) for name in names]


def _figures_of(state: WorkbenchState, name: str) -> BenchFigures:
    cells = [row[name] for row in state.cells.values()]
    judged = [c for c in cells if c.agrees is not None and c.state in _CURRENT]
    common = Counter(c.expected for c in judged).most_common(1)
    current = [judged for c in cells for judged in c.judges if judged.state in _CURRENT]
    flips = [judged.flips for judged in current if judged.flips is not None]
    return BenchFigures(
        criterion=name,
        agreement=Estimate.share(sum(c.agrees is True for c in judged), len(judged)),
        always=Estimate.share(common[0][1] if common else 0, len(judged)),
        by_judge=tuple((j.name, _judge_agreement(cells, j.name)) for j in state.judges),
        flips=Estimate.share(sum(flips), len(flips)),
        unlabelled=sum(c.expected is None for c in cells),
        stale=sum(c.state == "stale" for c in cells),
        failed=sum(c.state == "failed" for c in cells),
        unasked=sum(c.state == "never" for c in cells),
    )


def _judge_agreement(cells: Sequence[BenchCell], judge: str) -> Estimate:
    hits = list[bool]()
    for cell in cells:
        for judged in cell.judges:
            if judged.judge == judge and cell.expected is not None and judged.state in _CURRENT:
                hits.append(judged.answer is not None and judged.answer.option == cell.expected)
    return Estimate.share(sum(hits), len(hits))

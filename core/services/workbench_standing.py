"""How a workbench stands: what each judge said about each row, and whether it still answers it.

An answer is fresh while what the judge would be sent has the hash under which it was asked. So an
edit that is taken back brings its answers back, and one that nobody is shown touches none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.aggregate import Ballot, Verdict, settle
from core.domain.dataset import Item
from core.domain.panel import Judge, Rules
from core.domain.rubric import Criterion
from core.domain.runs import RunRow
from core.services.draft_types import Draft
from core.services.viewing import choice_label
from core.services.workbench_answers import STATES, JudgeCell, Known, State, known_from
from core.services.workbench_hash import Hashes, Subject, judge_hash, subject_of
from core.services.workbench_types import Bench, BenchRow, is_empty
from core.store.store import Store


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
    """All rows, and for each test row with a text its cells by criterion.

    ``runs`` are at work; ``stopped`` are those of the last asking that an error ended as a whole.
    """

    bench: Bench
    subject: Subject
    judges: tuple[Judge, ...]
    hashes: Hashes
    cells: Mapping[str, Mapping[str, Cell]]
    questions: Mapping[tuple[str, str], str] = field(default_factory=dict)
    offline: Mapping[tuple[str, str], str] = field(default_factory=dict)
    runs: tuple[RunRow, ...] = ()
    stopped: tuple[RunRow, ...] = ()

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
    known = known_from(store, runs)
    under = {judge.name: judge_hash(judge, bench["learn_from"]) for judge in judges}
    cells = {
        item.id: {
            c.name: _cell(bench, item, c, judges, known, (questions, offline), under)
            for c in subject.criteria.values()
        }
        for item in hashes.tests
    }
    active = tuple(run for run in runs if run.active)
    stopped = tuple(
        r for r in runs if r.id in bench["last"] and r.status in ("failed", "interrupted")
    )
    return Standing(bench, subject, judges, hashes, cells, questions, offline, active, stopped)


def _cell(
    bench: Bench,
    item: Item,
    criterion: Criterion,
    judges: Sequence[Judge],
    known: Known,
    hashes: tuple[Mapping[tuple[str, str], str], Mapping[tuple[str, str], str]],
    under: Mapping[str, str],
) -> Cell:
    names = [criterion.name, *bench["seen"].get(criterion.name, {"former": []})["former"]]
    found = tuple(
        _judge_cell(
            bench, judge, names, known, (item.id, hashes[judge.offline][item.id, names[0]]), under
        )
        for judge in judges
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
    names: Sequence[str],
    known: Known,
    asked: tuple[str, str],
    under: Mapping[str, str],
) -> JudgeCell:
    """``names`` are the criterion's name and those it had before; ``asked`` is row and question."""
    found = known.by_hash.get((*asked, judge.name, under[judge.name]))
    if found is not None:
        half = bench["flip"] and not judge.offline and found.state == "fresh"
        if half and found.answer is not None and not found.answer.twin_label:
            return JudgeCell(judge.name, "half", found.answer, found.answer.twin_failed)
        return found
    for name in names:
        before = known.by_place.get((asked[0], name, judge.name))
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

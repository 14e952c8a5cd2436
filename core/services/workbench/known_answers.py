"""Known answers, by the hash of the question that a judge would get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.domain.base import build_model
from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.domain.votes import BallotRow, Cell, FailureRow
from core.errors import InputError, Problem
from core.identity import content_hash
from core.judging.prompts import assembly
from core.judging.prompts.few_shot import ExampleBank
from core.judging.protocol import Question
from core.services.results.item_view import choice_label
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_payload
from core.services.spot.trials import HELP
from core.services.workbench.bench_rows import Bench, item_from
from core.store.store import Store

#: The state of a cell's answer. ``stale``: the question has changed; ``never``: not asked;
#: ``half``: not yet asked in the reversed order; ``fresh``: up to date.
State = Literal["asking", "failed", "stale", "never", "half", "fresh"]
#: A row has the worst state of its cells.
STATES: tuple[State, ...] = ("asking", "failed", "stale", "never", "half", "fresh")
#: The key, among a run's details, of its workbench's name.
WORKBENCH = "workbench"


@dataclass(frozen=True)
class JudgeCell:
    """A judge's state on a criterion of a row. A stale answer is kept for comparison.

    ``label`` is the answer's option when the judge answered; ``twin`` is the answer in reversed
    order, and ``twin_failed`` the failure of that call.
    """

    judge: str
    state: State
    failure: FailureRow | None = None
    run_id: int = 0
    answer: BallotRow | None = None
    label: str = ""
    twin: BallotRow | None = None
    twin_label: str = ""
    twin_failed: FailureRow | None = None

    @property
    def flips(self) -> bool | None:
        """Return whether the reversed order changed the answer; ``None`` if it was not asked."""
        if self.answer is None or self.twin is None:
            return None
        return self.twin.option != self.answer.option

    @property
    def place(self) -> tuple[int, str, str] | None:
        """Return the run, the item and the criterion's name then; ``None`` without an
        answer or a failure.
        """
        if self.answer is not None:
            return self.run_id, self.answer.item_id, self.answer.criterion
        if self.failure is not None:
            return self.failure.run_id, self.failure.cell.item, self.failure.cell.criterion
        return None


_Key = tuple[str, str, str]
#: Answers by row, question hash, judge and settings hash; and the newest answers by row, criterion
#: and judge, whatever the question.
KnownAnswers = tuple[dict[tuple[str, str, str, str], JudgeCell], dict[_Key, JudgeCell]]


def known_answers(store: Store, runs: Sequence[Run]) -> KnownAnswers:
    """Return all answers in these runs (oldest first); newer answers replace older ones."""
    by_hash, by_place = dict[tuple[str, str, str, str], JudgeCell](), dict[_Key, JudgeCell]()
    for run in runs:
        details = run.plan.details.get(HELP, {})
        hashes, under = details.get("asked", {}), details.get("judges", {})
        ballots = store.votes.all_ballots(run.id, chances=True) if run.votes else []
        votes = {(b.item_id, b.criterion, b.judge, b.replicate): b for b in ballots}
        failures = store.votes.open_failures(run.id) if run.failures_open else []
        failed = {failure.cell: failure for failure in failures}
        criteria = {c.name: c for c in store.rubrics.version(run.rubric_version_id).rubric.criteria}
        for row, questions in hashes.items():
            for name, question in questions.items():
                for judge, its_hash in under.items():
                    cell = _cell_from_votes(run, criteria[name], (row, name, judge), votes, failed)
                    if cell is not None:
                        by_hash[row, question, judge, its_hash] = cell
                        if cell.answer is not None:
                            by_place[row, name, judge] = cell
    return by_hash, by_place


def _cell_from_votes(
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
        return None if failure is None else JudgeCell(judge, "failed", failure)
    twin = votes.get((*place, 1))
    return JudgeCell(
        judge,
        "fresh",
        None,
        run.id,
        vote,
        _option_label(criterion, vote),
        twin,
        "" if twin is None else _option_label(criterion, twin),
        failed.get(Cell(*place, 1)),
    )


def _option_label(criterion: Criterion, vote: BallotRow) -> str:
    return choice_label(criterion, vote.option, vote.abstained) or "no answer"


# The hash of what a judge would be sent about a row identifies the question.
#
# Options are in the author's order and the seed is 0, because another order is the same question.
# The hash leaves out what is never sent: names of criteria, values, size of weights, gates, tags,
# dismissed checks. It includes the sign of a weight, because judges are told about penalties.

#: The most examples that a model sees for a criterion.
MOST_EXAMPLES = 20
_SHORT = 24


@dataclass(frozen=True)
class AskableCriteria:
    """The ``criteria`` of a draft that can be asked: the valid ones, by name, in their order.

    ``broken`` has the problems of the others.
    """

    guidelines: str
    criteria: Mapping[str, Criterion]
    broken: Mapping[str, tuple[Problem, ...]]

    def rubric(self, names: Sequence[str], name: str) -> Rubric:
        """Return a rubric with only these criteria."""
        chosen = tuple(self.criteria[criterion_name] for criterion_name in names)
        return Rubric(name=name, guidelines=self.guidelines, criteria=chosen)


def subject_of(draft: RubricDraft) -> AskableCriteria:
    """Return the criteria of a draft that can be asked, even if others are invalid."""
    criteria, broken = dict[str, Criterion](), dict[str, tuple[Problem, ...]]()
    for data in draft_payload(draft)["criteria"]:
        name = str(data["name"])
        if name in criteria:
            twin = Problem(f"Two criteria are called {name!r}.", "Rename one of them.")
            broken[f"{name} (again)"] = (twin,)
            continue
        try:
            criteria[name] = build_model(Criterion, data, "criterion")
        except InputError as error:
            broken[name or "Unnamed"] = error.problems
    return AskableCriteria(draft["guidelines"], criteria, broken)


@dataclass(frozen=True)
class BenchHashes:
    """The hashes of a workbench's questions."""

    bench: Bench
    subject: AskableCriteria

    def questions(self) -> Iterator[tuple[str, str, str]]:
        """Yield row, criterion and hash of the model's question, for every test row with text."""
        for item in self.tests:
            for name in self.subject.criteria:
                yield item.id, name, self._sent_text(item, name)

    def offline(self) -> Iterator[tuple[str, str, str]]:
        """Yield the same for offline judges, which read texts and labels but no requirement."""
        for item in self.tests:
            texts = content_hash([item.output, item.prompt, item.reference])
            for criterion in self.subject.criteria.values():
                yield item.id, criterion.name, _short_hash([texts, _labels_of(criterion)])

    @cached_property
    def tests(self) -> tuple[Item, ...]:
        """Return the items of test rows that are not empty."""
        rows = [item_from(row) for row in self.bench["rows"] if not row["example"]]
        return tuple(item for item in rows if item.text.strip())

    @cached_property
    def examples(self) -> tuple[Item, ...]:
        """Return the items of rows that are examples."""
        rows = [item_from(row) for row in self.bench["rows"] if row["example"]]
        return tuple(item for item in rows if item.text.strip())

    @cached_property
    def few_shot(self) -> int:
        """Return the most examples shown for a criterion; 0 if none fits any criterion."""
        counts = [len(self._labelled_items(name)) for name in self.subject.criteria]
        return min(MOST_EXAMPLES, max(counts, default=0))

    def _sent_text(self, item: Item, name: str) -> str:
        criterion = self.subject.criteria[name]
        question = Question(
            Cell(item.id, name, ""),
            item,
            self._rubrics_by_name[name],
            criterion,
            tuple(range(len(criterion.choices))),
            seed=0,
            examples=self._example_banks[name].for_item(item) if self.few_shot else (),
        )
        prompt = assembly.build_prompt(question)
        # All questions of a wording share the system text, which the version identifies.
        texts = [s.text for s in prompt.segments if s.role != "system"]
        return _short_hash([prompt.version, texts])

    @cached_property
    def _rubrics_by_name(self) -> dict[str, Rubric]:
        return {name: self.subject.rubric([name], "w") for name in self.subject.criteria}

    @cached_property
    def _example_banks(self) -> dict[str, ExampleBank]:
        return {
            name: ExampleBank(criterion, self._labelled_items(name), self.few_shot, seed=0)
            for name, criterion in self.subject.criteria.items()
        }

    def _labelled_items(self, name: str) -> list[tuple[Item, int, str]]:
        criterion = self.subject.criteria[name]
        labels = [(item, item.truth(criterion)) for item in self.examples]
        return [(i, at, i.labels[name].reason) for i, at in labels if at is not None]


def judge_hash(judge: Judge, learn_from: int | None) -> str:
    """Return the hash of everything about a judge that affects its answers."""
    if judge.checks:
        checks = {
            name: checks_of.model_dump(mode="json") for name, checks_of in judge.checks.items()
        }
        return _short_hash([judge.kind, checks])
    if judge.offline:
        return _short_hash([judge.kind, judge.params, learn_from])
    return _short_hash(
        [
            judge.model.removeprefix("openai/"),
            judge.api_base.rstrip("/"),
            judge.temperature,
            judge.max_tokens,
            judge.thinking,
            judge.params,
        ]
    )


def _labels_of(criterion: Criterion) -> list[object]:
    # Offline judges learn labels under the criterion's name.
    return [
        criterion.name,
        criterion.scale,
        [[option.label, option.na] for option in criterion.choices],
    ]


def _short_hash(value: object) -> str:
    return content_hash(value).removeprefix("sha256:")[:_SHORT]

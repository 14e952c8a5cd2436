"""Groups of similar answers in a run, to review and settle together."""

from __future__ import annotations

from typing import NamedTuple

from core.domain.review import Closeness
from core.domain.runs import Run
from core.judging.offline.answers_alike import similar_groups
from core.metrics.estimate import Estimate
from core.services.labelling.settle_at_sight import BY_GROUPS, SINGLY
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.review import adjudication, queues
from core.store.store import Store


class GroupedAnswer(NamedTuple):
    """An answer of a group, and the index of the option that people settled, if any."""

    item_id: str
    text: str
    settled: bool
    option: int | None


class AnswerGroup(NamedTuple):
    """Similar answers to a question."""

    prompt: str
    answers: tuple[GroupedAnswer, ...]

    @property
    def open(self) -> bool:
        """Return whether some answer is not settled yet."""
        return not all(answer.settled for answer in self.answers)


def answer_groups(
    store: Store, run: Run, criterion: str, closeness: Closeness
) -> list[AnswerGroup]:
    """Return a run's answers in groups, the largest first, including groups of one answer.

    It covers only items with this criterion and a text; answers to different questions are never in
    one group.
    """
    rubric, settled = scored_rubric(store, run), adjudication.settled_cells(store, run.id)
    items = [
        item
        for item in resolved_items(store, run.dataset_version_id, store.runs.item_ids(run.id))
        if criterion in {question.name for question in rubric_in_force(item, rubric).criteria}
        and item.output.strip()
    ]
    result = []
    for together in similar_groups(items, closeness):
        answers = []
        for item in together:
            verdict = settled.get((item.id, criterion))
            option = None if verdict is None else verdict.option
            answers.append(GroupedAnswer(item.id, item.output, verdict is not None, option))
        result.append(AnswerGroup(together[0].prompt, tuple(answers)))
    return sorted(result, key=lambda group: -len(group.answers))


def check_against_group(
    store: Store, run_id: int, criterion: str
) -> tuple[int, Estimate, tuple[str, ...]]:
    """Return how many members of settled groups were drawn to be judged singly, how often their
    single verdicts agree with the group's, and the items on which they differ.
    """
    of_groups, singly = (
        _final_options(store, run_id, name, criterion) for name in (BY_GROUPS, SINGLY)
    )
    compared = [item for item in singly if item in of_groups and singly[item] is not None]
    different = tuple(item for item in compared if singly[item] != of_groups[item])
    drawn = sum(
        cell.criterion == criterion
        for row in queues.queues_of_run(store, run_id)
        if row.name == SINGLY
        for cell in store.queues.cells(row.id)
    )
    return drawn, Estimate.share(len(compared) - len(different), len(compared)), different


def _final_options(store: Store, run_id: int, name: str, criterion: str) -> dict[str, int | None]:
    """Return the final options in the queue with this name, by item."""
    return {
        verdict.item_id: verdict.final.option
        for row in queues.queues_of_run(store, run_id)
        if row.name == name
        for verdict in store.verdicts.of_queue(row.id)
        if verdict.criterion == criterion and verdict.final is not None
    }

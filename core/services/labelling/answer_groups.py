"""Groups of similar answers in a run, to review and settle together."""

from __future__ import annotations

from core.domain.dataset import Item
from core.domain.review import Closeness
from core.domain.runs import Run
from core.judging.offline.answers_alike import similar_groups
from core.metrics.estimate import Estimate
from core.services.labelling.settle_at_sight import BY_GROUPS, SINGLY
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.review import adjudication, queues
from core.store.store import Store


def answer_groups(
    store: Store, run: Run, criterion: str, closeness: Closeness
) -> tuple[list[list[Item]], dict[str, int | None]]:
    """Return a run's answers in groups, the largest first, including groups of one answer; and the
    index of the option that people settled, by item.

    It covers only items with this criterion and a text; answers to different questions are never in
    one group.
    """
    rubric = scored_rubric(store, run)
    settled = {
        item_id: verdict.option
        for (item_id, name), verdict in adjudication.settled_cells(store, run.id).items()
        if name == criterion
    }
    items = [
        item
        for item in resolved_items(store, run.dataset_version_id, store.runs.item_ids(run.id))
        if criterion in {question.name for question in rubric_in_force(item, rubric).criteria}
        and item.output.strip()
    ]
    return sorted(similar_groups(items, closeness), key=len, reverse=True), settled


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

"""Ten more texts of a run: whole, drawn at random, and what their labels say of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.review import QueueRule
from core.errors import InputError
from core.metrics.intervals.sampling import powered_mean
from core.services.agreement import load_ratings
from core.services.agreement.overall import trust_of
from core.services.datasets import label_draws
from core.services.guided import judging, ten_more
from core.services.guided.own_grades import in_draw_order
from core.services.review import random_labels
from core.services.review.corrected_estimates import (
    corrected_data,
    corrected_means_of_run,
    selection_of,
    selection_warning,
)
from core.services.runs import cost_estimate
from core.store.store import Store
from tests.services import reviewed
from tests.services.comparison.world import CLEAR, ONE, RUBRIC, run_with
from tests.services.reviewed import sit

N = 30
_rng = np.random.default_rng(7)
#: The truth of each text (0 is MET), and what the judge says: MET on every third whatever is true.
TRUTH = _rng.integers(0, 2, N)
SAYS: list[int | None] = [0 if at % 3 == 0 else int(t) for at, t in enumerate(TRUTH)]
ONLY_CLEAR = RUBRIC.model_copy(update={"criteria": (CLEAR,)})


def made(store: Store, labelled: frozenset[int] = frozenset(), **more: Any) -> int:
    """A run of one criterion; the dataset labels some texts."""
    items = tuple(
        Item(
            id=f"i{at}",
            submission=f"Reply {at}",
            labels={"clear": Label(label=("MET", "UNMET")[TRUTH[at]])} if at in labelled else {},
        )
        for at in range(N)
    )
    data = Dataset(name="Replies", items=items)
    return run_with(store, data, {"one": {"clear": SAYS}}, rubric=ONLY_CLEAR, **more)


def order_of(store: Store, run_id: int) -> list[str]:
    version = store.datasets.version(store.runs.row(run_id).dataset_version_id)
    return in_draw_order([f"i{at}" for at in range(N)], version)


def grade(store: Store, queue_id: int, most: int = N) -> None:
    """Settle texts of a queue as they truly are."""
    for item in store.queues.items(queue_id)[:most]:
        truth = int(TRUTH[int(item.item_id[1:])])
        reviewed.settle(store, sit(store, "Lea"), queue_id, item.item_id, truth, note="So.")


def ten(store: Store, run_id: int) -> tuple[str, ...]:
    """Take up the next ten and grade them all."""
    queue = ten_more.take_up(store, sit(store, "Lea"), run_id)
    grade(store, queue.id)
    return queue.rule.items or ()


def test_ten_more_are_the_next_of_one_order_and_an_unfinished_ten_is_taken_up_again(
    store: Store,
) -> None:
    run_id = made(store)
    order = order_of(store, run_id)
    queue = ten_more.take_up(store, sit(store, "Lea"), run_id)
    assert queue.rule.items == tuple(order[:10])
    assert (queue.settings.mode, queue.rule.only_draws) == ("until_commit", True)
    grade(store, queue.id, 4)
    assert ten_more.take_up(store, sit(store, "Lea"), run_id) == queue
    graded, _, unfinished = ten_more.progress(store, run_id)
    assert (graded, unfinished) == (0, queue)
    # What was decided first of ten is not a random sample.
    assert (
        corrected_means_of_run(store, run_id)[1].reason
        == random_labels.labels_of_run(store, run_id).reason
        != ""
    )

    for item in store.queues.items(queue.id)[4:]:
        truth = int(TRUTH[int(item.item_id[1:])])
        reviewed.settle(store, sit(store, "Lea"), queue.id, item.item_id, truth, note="So.")
    assert ten(store, run_id) == tuple(order[10:20])
    assert ten_more.progress(store, run_id) == (20, 10, None)
    assert ten(store, run_id) == tuple(order[20:])
    with pytest.raises(InputError, match="Every text of this run has a label"):
        ten_more.take_up(store, sit(store, "Lea"), run_id)


def test_their_labels_speak_for_all_texts_and_those_of_doubtful_ones_do_not(store: Store) -> None:
    run_id = made(store)
    drawn = set(ten(store, run_id))
    # Afterwards somebody settles every text on which the judge is wrong: nobody drew these.
    wrong = [f"i{at}" for at in range(N) if SAYS[at] != TRUTH[at]]
    rule = QueueRule.only(everything=True, items=tuple(wrong))
    grade(store, reviewed.make_queue(store, store.runs.get(run_id), rule))

    labels = random_labels.labels_of_run(store, run_id)
    cells = labels.cells
    assert not labels.reason
    assert labels.by_item
    counted = {cells.table.ids[item] for item in cells.item[~np.isnan(cells.counted)].tolist()}
    assert counted == drawn
    known = np.array([f"i{at}" in drawn for at in range(N)])
    said = np.array([1.0 - (option or 0) for option in SAYS])
    expected = powered_mean(said, (1.0 - TRUTH)[known], known)
    (whole,), _ = corrected_means_of_run(store, run_id)
    assert whole.powered is not None
    assert whole.powered.mean[:3] == pytest.approx(expected.mean[:3])
    told = corrected_data(store, run_id)
    assert told is not None
    assert told["score"]["corrected"]["value"] == pytest.approx(expected.mean.value)

    # The ten, with those that were settled otherwise among the next ten: not skipped, so no bias.
    order = order_of(store, run_id)
    assert ten_more.take_up(store, sit(store, "Lea"), run_id).rule.items == tuple(order[10:20])


def test_the_statement_on_the_run_rests_on_them(store: Store) -> None:
    run_id = made(store)
    drawn = ten(store, run_id)
    right = sum(SAYS[int(i[1:])] == TRUTH[int(i[1:])] for i in drawn)

    statement = trust_of(load_ratings.run_ratings(store, run_id))
    assert statement.found.before.value == pytest.approx(right / 10)
    assert "10 of them drawn at random" in statement.sentence
    review = selection_of(store, run_id)
    assert review is not None
    assert (
        selection_warning(review)
        == "People settled 10 cells of 10 texts drawn at random in review."
    )


def test_texts_with_labels_are_not_drawn_and_speak_for_themselves_alone(store: Store) -> None:
    labelled = frozenset(range(12))
    run_id = made(store, labelled)
    drawn = ten(store, run_id)
    assert not {f"i{at}" for at in labelled} & {*drawn}
    cells = random_labels.labels_of_run(store, run_id).cells
    certain = {cells.table.ids[item] for item in cells.item[cells.stratum == 0].tolist()}
    assert certain == {f"i{at}" for at in labelled}
    assert int((~np.isnan(cells.counted)).sum()) == 12 + 10


def test_labels_that_were_declared_a_random_draw_count_with_them(store: Store) -> None:
    run_id = made(store, frozenset(_rng.choice(N, 10, replace=False).tolist()))
    label_draws.declare(store, store.runs.row(run_id).dataset_version_id)
    ten(store, run_id)
    labels = random_labels.labels_of_run(store, run_id)
    assert int(labels.cells.drawn.sum()) == 20
    assert set(labels.cells.stratum.tolist()) == {1}


def test_a_cell_without_a_verdict_is_graded_and_compared_with_nothing(store: Store) -> None:
    # The judge was switched off on the second criterion of every text.
    data = Dataset(items=tuple(Item(id=f"i{at}", submission=f"Reply {at}") for at in range(N)))
    run_id = run_with(store, data, {"one": {"clear": SAYS}})
    queue = ten_more.take_up(store, sit(store, "Lea"), run_id)
    assert store.queues.size(queue.id) == 20
    for item in store.queues.items(queue.id):
        reviewed.settle(store, sit(store, "Lea"), queue.id, item.item_id, 0, note="So.")
    _, clear, tone = corrected_means_of_run(store, run_id)[0]
    assert (clear.labelled, tone.cells) == (10, 0)


def test_it_says_what_a_judge_that_learns_would_learn(store: Store) -> None:
    learner = Judge(name="one", kind="classifier")
    run_id = made(store, panel=Panel(judges=(learner,)))
    ten(store, run_id)
    run = store.runs.get(run_id)
    so_far = ten_more.current_learning(store, run)
    assert so_far is not None
    assert [one.labels for one in so_far.criteria] == [10]
    told = ten_more.as_data(ten_more.progress(store, run_id), so_far)
    assert (told["graded"], told["texts"], told["learnt"]["enough"]) == (10, 10, False)
    assert told["learnt"]["criteria"]["clear"]["labels"] == 10
    # The form of a new run offers them, and so does the path.
    version, rubric = run.dataset_version_id, store.rubrics.version(run.rubric_version_id).rubric
    assert cost_estimate.teaching_items(store, version) == (10, 0)
    assert judging.count_labelled(store, version, rubric) == 10
    # Nothing learns here.
    other = store.runs.get(made(store, panel=Panel(judges=(ONE,))))
    assert ten_more.current_learning(store, other) is None

"""Systems as people would grade all their answers, from labels that were drawn at random.

Forty tasks, two systems, one question. The judge says MET of all answers of "bold" and of half of
those of "calm"; people say MET of all of "calm" and of none of "bold".
"""

from __future__ import annotations

import pytest

from core.domain.dataset import Dataset, Item, Label
from core.domain.review import QueueRule
from core.domain.rubric import Rubric
from core.services.pairwise.system_gaps import corrected_systems, in_words
from core.services.reports import rank_report
from core.services.review import random_labels
from core.services.review.corrected_estimates import corrected_data
from core.store.store import Store
from tests.services import reviewed
from tests.services.comparison.world import CLEAR, run_with
from tests.services.reviewed import MET, UNMET, sit

TASKS = 40
RUBRIC = Rubric(name="Answers", criteria=(CLEAR,))
#: Nothing but a random draw of half of the cells.
DRAW = QueueRule.only(audit_share=0.5)


def truth(item: str) -> int:
    return MET if item.startswith("calm") else UNMET


def graded(store: Store, labelled: int = 0) -> int:
    """The run; of that many items the dataset knows the truth."""
    ids = [f"{system}{at}" for at in range(TASKS) for system in ("calm", "bold")]
    items = tuple(
        Item(
            id=item,
            submission=f"Answer {item}",
            prompt=f"Task {item[4:]}",
            system=item[:4],
            labels={"clear": Label(label=("MET", "UNMET")[truth(item)])} if at < labelled else {},
        )
        for at, item in enumerate(ids)
    )
    said = [MET if i.startswith("bold") or int(i[4:]) % 2 else UNMET for i in ids]
    return run_with(store, Dataset(items=items), {"one": {"clear": said}}, rubric=RUBRIC)


def reviewed_whole(store: Store, run_id: int, rule: QueueRule = DRAW, seed: int = 1) -> int:
    queue = reviewed.make_queue(store, store.runs.get(run_id), rule, seed=seed)
    for cell in store.queues.cells(queue):
        reviewed.settle(
            store, sit(store, "Ada"), queue, cell.item_id, truth(cell.item_id), note="So."
        )
    return queue


def test_random_labels_turn_round_who_is_ahead_and_say_so(store: Store) -> None:
    run_id = graded(store)
    reviewed_whole(store, run_id)

    found = corrected_systems(store, store.runs.get(run_id))

    calm, bold = found.systems
    assert (calm.system, calm.mean.said, bold.mean.said) == ("calm", 0.5, 1.0)
    assert calm.mean.powered is not None
    # Judges are heard at most as much as they are right; people say MET wherever they looked.
    assert calm.mean.powered.mean.value == pytest.approx(1.0)
    assert (calm.places, bold.places) == ((1, 1), (2, 2))
    (gap,) = found.gaps
    assert (gap.first, gap.second, gap.better_system) == ("calm", "bold", "calm")
    assert gap.found.raw == pytest.approx(0.5)
    assert gap.found.mean.value == pytest.approx(-1.0)
    words = in_words(found)
    assert words.startswith("By the labels calm is ahead with a mean score of 100% (")
    assert "not bold, whom the votes alone put first (100% against 50%)" in words
    report, _ = rank_report.rank_answers(lambda: store, str(run_id), resamples=0)
    told = report["corrected"]
    assert told["systems"][0]["corrected"]["value"] == pytest.approx(1.0)
    assert told["gaps"][0]["better"] == "calm"


def test_a_share_by_labels_on_every_cell_says_what_it_is_of(store: Store) -> None:
    words = in_words(corrected_systems(store, store.runs.get(graded(store, labelled=80))))
    assert words.startswith(
        "By the labels calm is ahead with a mean score of 100%, counted on all of its 40 cells, "
        "not bold, whom the votes alone put first (100% against 50%)."
    )


def test_labels_that_nobody_drew_are_refused_with_the_reason(store: Store) -> None:
    run_id = graded(store, labelled=30)

    found = corrected_systems(store, store.runs.get(run_id))

    assert found.gaps == ()
    assert found.systems[0].mean.powered is None
    assert "30 of 80 cells have a label, and how likely each was to be picked" in in_words(found)
    report, _ = rank_report.rank_answers(lambda: store, str(run_id), resamples=0)
    told = report["corrected"]
    assert told["systems"][0]["corrected"]["value"] is None
    assert told["undefined"]["corrected"] == found.reason


def test_a_queue_that_is_open_yet_is_no_random_draw(store: Store) -> None:
    run_id = graded(store)
    assert random_labels.labels_of_run(store, run_id).reason == random_labels.NOBODY
    assert corrected_data(store, run_id) is None
    queue = reviewed.make_queue(store, store.runs.get(run_id), DRAW)
    cells = len(store.queues.cells(queue))
    reason = random_labels.labels_of_run(store, run_id).reason
    assert f"{cells} cells of the queue are still open (“Q”)" in reason
    assert "not a random draw" in reason
    told = corrected_data(store, run_id)
    assert told is not None
    assert told["score"]["corrected"] is None
    assert told["undefined"]["corrected"] == reason


def test_labels_of_every_cell_need_no_draw(store: Store) -> None:
    run_id = graded(store, labelled=2 * TASKS)
    found = corrected_systems(store, store.runs.get(run_id))
    assert [one.system for one in found.systems] == ["calm", "bold"]
    assert found.systems[0].mean.powered is not None
    assert found.systems[0].mean.powered.mean[:3] == (1.0, 1.0, 1.0)
    # All of calm's answers are right, none of bold's: nothing is left to doubt.
    assert found.gaps[0].found.mean[:3] == (-1.0, -1.0, -1.0)


def test_metrics_tell_the_corrected_share_and_the_hit_rates(store: Store) -> None:
    run_id = graded(store)
    queue = reviewed_whole(store, run_id)
    told = corrected_data(store, run_id)
    assert told is not None
    assert told["queue"] == queue
    score = told["score"]
    assert score["raw"] == 0.75
    # The judge says MET the more, the less people do, so that it is not listened to: what is left
    # is the share of calm's answers, all MET by people, among those drawn.
    drawn = store.queues.cells(queue)
    calm = sum(cell.item_id.startswith("calm") for cell in drawn)
    assert score["listened"] == 0.0
    assert score["corrected"]["value"] == pytest.approx(calm / len(drawn))
    assert score["by_hit_rates"]["specificity"]["value"] == 0.0
    assert (
        "do not significantly distinguish" in score["by_hit_rates"]["share"]["undefined"]["value"]
    )

"""A report says what reviewing says of all verdicts, and nothing more than that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.blocks.markdown import markdown_paper
from core.domain.review import QueueRule
from core.domain.rubric import Rubric
from core.services.datasets import label_draws
from core.services.reports.paper import report_as_paper
from core.services.reports.report_values import RunReport
from core.services.reports.run_report import report_run, report_state
from core.services.review import corrected_estimates
from core.store.store import Store
from core.text.numbers import score
from tests.services import reviewed
from tests.services.comparison.world import CLEAR, dataset, run_with
from tests.services.reviewed import DOUBTFUL, MET, sit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = reviewed.open_store(tmp_path)
    yield made
    made.close()


def written(found: RunReport) -> str:
    return markdown_paper(report_as_paper(found)).replace("\\", "")


def test_without_an_audit_nothing_is_said_of_all_cells(store: Store) -> None:
    run = reviewed.graded(store, 8)
    assert report_run(store, run.id, resamples=10).reviews == ()
    reviewed.make_queue(store, run, DOUBTFUL)
    found = report_run(store, run.id, resamples=10)
    assert found.reviews == ()
    assert "Reviewed by people" not in written(found)


def test_the_weighted_accuracy_stands_beside_that_of_the_hard_cells(store: Store) -> None:
    run = reviewed.graded(store, 40)
    before = report_state(store, run.id)
    queue = reviewed.make_queue(store, run, QueueRule(near_mark=None, audit_share=1.0))
    assert report_state(store, run.id) != before
    open_yet = report_run(store, run.id, resamples=10)
    assert "80 cells of the queue are still open" in open_yet.reviews[0].weighted.reason
    assert "People confirm" not in written(open_yet)
    for n in range(40):
        reviewed.settle(store, sit(store, "Ada"), queue, f"i{n}", MET)

    found = report_run(store, run.id, resamples=10)
    (line,) = found.reviews
    # Of every four items, one was unanimous (and audited: 10 items, 20 cells), three were split.
    # People say MET; the votes did on two of four, and on one of the three that were split.
    assert (line.audited, line.queued, line.missing) == (20, 60, 0)
    assert line.weighted.value == pytest.approx(0.5)
    assert line.hard.value == pytest.approx(1 / 3)
    text = written(found)
    # Everything was looked at, so that the estimate is the share itself.
    assert "100% of the verdicts are right, measured on 80 labels (20 of" in text
    assert "Before people settled 80 of them: 50% (50% to 50%)." in text
    assert "People confirm 33% of the 60 verdicts that a rule picked as doubtful." in text
    assert found.to_dict()["reviews"][0]["weighted"]["value"] == pytest.approx(0.5)


def test_the_doubtful_cells_of_several_queues_count_together(store: Store) -> None:
    run = reviewed.graded(store, 40)
    # A cap lets some of the 60 doubtful cells in, its audit draws some, the second has the rest.
    for seed, rule in enumerate((QueueRule(near_mark=None, audit_share=0.4, most=40), None), 1):
        last = QueueRule(near_mark=None, audit_share=0.9)
        queue = reviewed.make_queue(store, run, rule or last, seed=seed)
        for item in dict.fromkeys(cell.item_id for cell in store.queues.cells(queue)):
            reviewed.settle(store, sit(store, "Ada"), queue, item, MET)

    found = report_run(store, run.id, resamples=10)
    first, second = (line.hard for line in found.reviews)
    # 8 of 24 and 8 of 22.
    assert (first.n, second.n) == (24, 22)
    assert first.value != second.value
    text = written(found)
    assert "People confirm 35% of the 46 verdicts that rules picked as doubtful." in text
    review = corrected_estimates.selection_of(store, run.id)
    assert review is not None
    assert "; of the 46 doubtful ones 35%." in corrected_estimates.selection_warning(review)


def test_the_mean_that_labels_refute_has_theirs_beside_it(store: Store) -> None:
    # The judge says MET to all; of 50 labelled texts, declared to be drawn, every other is UNMET.
    labels = [("MET", "", "UNMET", "")[at % 4] for at in range(100)]
    rubric = Rubric(name="One", criteria=(CLEAR,))
    data = dataset({"clear": labels})
    run = run_with(store, data, {"one": {"clear": [0] * 100}}, rubric=rubric)
    assert "As people's labels have it" not in written(report_run(store, run, resamples=100))
    label_draws.declare(store, store.runs.row(run).dataset_version_id)
    found = report_run(store, run, resamples=100)

    mean = found.corrected[0].mean.words(score).inline
    assert mean.startswith("0.50 (")
    assert (
        f"the median 1.00. As people's labels have it, the mean differs significantly: {mean}, by "
        "weight and before gates and penalties."
    ) in written(found)


def test_a_mean_near_that_of_all_labels_has_nothing_beside_it(store: Store) -> None:
    # The judge differs from one of 100 labels: .49 against .5, and chance would move it further.
    labels = ["MET", "UNMET"] * 50
    rubric = Rubric(name="One", criteria=(CLEAR,))
    votes = {"one": {"clear": [1, *([0, 1] * 50)[1:]]}}
    run = run_with(store, dataset({"clear": labels}), votes, rubric=rubric)

    assert "As people's labels have it" not in written(report_run(store, run, resamples=100))

"""Labels from a review queue speak of doubtful cells; `metrics` and `compare` say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.services.agreement.metrics_report import metrics_source
from core.services.review.corrected_estimates import selection_of
from core.services.review.random_audit import verdict_accuracy
from core.store.store import Store
from tests.services import reviewed
from tests.services.review.test_corrected_estimates import HALF, settle_all
from tests.services.reviewed import EVERYTHING, MET


def test_a_run_nobody_reviewed_has_no_such_labels(store: Store) -> None:
    run = reviewed.graded(store)
    assert selection_of(store, run.id) is None
    said: list[str] = []
    assert "review" not in metrics_source(lambda: store, str(run.id), tell=said.append)
    assert said == []


def test_metrics_of_a_reviewed_run_give_the_weighted_share_beside_that_of_the_hard_cells(
    store: Store,
) -> None:
    run = reviewed.graded(store, 48)
    queue = reviewed.make_queue(store, run, HALF)
    audited = settle_all(store, queue)
    said: list[str] = []
    found = metrics_source(lambda: store, str(run.id), tell=said.append)
    # 72 cells of the rule and the audited ones; i0 and i1 were labelled on Right before: i1 is in
    # the queue (split), i0 is labelled whether it was audited or not.
    drawn = {(c.item_id, c.criterion) for c in store.queues.cells(queue) if c.audit}
    labels = 72 + audited + (("i0", "Right") not in drawn)
    review = found["review"]
    assert (review["labels"], review["settled_in_review"]) == (labels, 72 + audited)
    (one,) = review["queues"]
    truth = verdict_accuracy(store, queue)
    assert one["right_weighted"]["value"] == truth.weighted.value
    assert one["right_weighted"]["ci"] == [truth.weighted.low, truth.weighted.high]
    assert one["right_on_hard"]["value"] == pytest.approx(24 / 72)
    # Against the labels alone the panel looks worse than it is on all cells.
    naive = found["criteria"]["Short"]["panel"]["vs_gold"]["accuracy"]
    assert naive < one["right_weighted"]["value"]
    words, corrected = said
    assert corrected.startswith(f"Corrected by people's labels of {labels} cells, the mean score")
    assert f"Of the {labels} labelled cells people settled {72 + audited} in review" in words
    assert (
        "the random audit of queue “Q” stands for cells that no rule picked; of the 72 doubtful"
        in words
    )


def test_without_an_audit_nothing_is_said_of_all_cells(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    reviewed.settle(store, reviewed.sit(store, "Ada"), queue, "i1", MET)
    said: list[str] = []
    found = metrics_source(lambda: store, str(run.id), tell=said.append)
    assert found["review"]["queues"] == []
    assert said[0].endswith("A queue with a random audit, reviewed to its end, can speak of all.")


def test_compare_says_it_of_each_run_on_stderr_and_its_json_stays_whole(
    store: Store, tmp_path: Path
) -> None:
    first, second = reviewed.graded(store, 4), reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, first, EVERYTHING)
    reviewed.settle(store, reviewed.sit(store, "Ada"), queue, "i1", MET)
    words = ["compare", str(first.id), str(second.id), "--bootstrap", "0", "--json"]
    done = CliRunner().invoke(main, [*words, "--db", str(store.path)])
    assert done.exit_code == 0, done.output
    json.loads(done.stdout)
    assert f"note: run {first.id}: Of the 3 labelled cells people settled 2" in done.stderr

"""How right the verdicts in force are, said once: planted runs whose every share is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.review import QueueRule
from core.metrics.estimate import Estimate
from core.metrics.intervals.clustered_share import clustered_share
from core.metrics.intervals.in_force import UNSETTLED, verdicts_in_force
from core.services.agreement import load_ratings, overall
from core.services.agreement.metrics_report import metrics_source
from core.services.agreement.overall import Trust
from core.services.comparison.run_comparison import compare_runs
from core.services.gate.bounds import GateBound, GateRequest
from core.services.gate.checking import check_source
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.services.review import random_labels
from core.store.store import Store
from tests.new_store import new_store
from tests.services import reviewed
from tests.services.comparison.world import ONE, TWO, dataset, run_with
from tests.services.reviewed import MET, UNMET


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


def shares(
    verdicts: list[int], labels: list[int], settled: list[int], audited: Estimate | None = None
) -> tuple[float | None, float | None]:
    columns = (np.array(one) for one in (verdicts, labels, settled))
    made = verdicts_in_force(*columns, np.arange(len(verdicts)), audited=audited)
    return made.right.value, made.before.value


def test_what_people_settled_counts_as_right_and_the_rest_is_measured() -> None:
    # Of 400 cells people settled 40. Votes are right on 318 of the 360 others and on 37 of these,
    # people on all: 355 of 400 before, 358 of 400 in force.
    verdicts = [0] * 400
    labels = [0] * 318 + [1] * 42 + [0] * 37 + [1] * 3
    settled = [UNSETTLED] * 360 + labels[360:]

    assert shares(verdicts, labels, settled) == pytest.approx((358 / 400, 355 / 400))


def test_without_review_both_shares_are_the_plain_one() -> None:
    right, before = shares([0, 0, 1, -1], [0, 1, 1, 1], [UNSETTLED] * 4)

    assert right == before == pytest.approx(2 / 3)


def test_where_every_label_is_a_reviewers_nothing_is_known_of_the_rest() -> None:
    made = verdicts_in_force(
        np.array([0, 0, 1]), np.array([0, -1, -1]), np.array([0, -1, -1]), np.arange(3)
    )

    assert made.right.value is None
    assert made.right.reason.startswith("Every label came from a review, which picks doubtful")


def test_an_audit_speaks_of_all_cells_and_what_review_corrected_comes_on_top() -> None:
    # Of 100 cells people settled 30, of which they corrected 6; the audit says that 85% were right
    # before. In force 85 + 6 = 91 of 100.
    verdicts, settled = [0] * 100, [1] * 6 + [0] * 24 + [UNSETTLED] * 70
    before = Estimate(0.85, 0.75, 0.92, n=30)

    assert shares(verdicts, settled, settled, before) == pytest.approx((0.91, 0.85))


def test_what_people_settled_is_right_however_little_an_audit_knows() -> None:
    # 30 of 100 settled, so at least 30 are right: not 0.05 + 6 of 100.
    verdicts, settled = np.zeros(100, int), np.array([1] * 6 + [0] * 24 + [UNSETTLED] * 70)
    before = Estimate(0.5, 0.05, 0.95, n=30)
    made = verdicts_in_force(verdicts, settled, settled, np.arange(100), audited=before)

    assert made.right.low == pytest.approx(0.30)


@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.integers(0, 2), st.integers(-1, 2)),
        min_size=2,
        max_size=30,
    )
)
def test_with_a_label_on_every_cell_the_share_in_force_is_counted(
    cells: list[tuple[int, int, int]],
) -> None:
    verdicts, labels, settled = (np.array(one) for one in zip(*cells, strict=True))
    made = verdicts_in_force(verdicts, labels, settled, np.arange(len(cells)))
    decided = (verdicts >= 0) | (settled >= 0)
    right = (settled >= 0) | (verdicts == labels)

    assert made.decided == decided.sum()
    if decided.any():
        assert made.right.value == pytest.approx((right & decided).sum() / decided.sum())
    else:
        assert made.right.value is None


def test_a_share_holds_with_few_items_and_where_all_hit() -> None:
    # 20 of 20 with t on 19, as Wilson (1927): high 1, low 1 / (1 + 2.093^2 / 20) = .8203.
    every = clustered_share([1] * 20, range(20))
    assert every.low is not None
    assert (every.value, every.high) == (1.0, 1.0)
    assert every.low == pytest.approx(1 / (1 + 2.0930**2 / 20), abs=1e-4)
    # Four cells of an item that are always alike count as one.
    alike = clustered_share([1] * 15 * 4 + [0] * 5 * 4, np.repeat(np.arange(20), 4))
    alone = clustered_share([1] * 15 + [0] * 5, range(20))
    assert (alike.low, alike.high) == pytest.approx((alone.low, alone.high))


def of(store: Store, run: int) -> Trust:
    return overall.trust_of(load_ratings.run_ratings(store, run))


def test_one_statement_is_shown_everywhere(store: Store) -> None:
    """Eight items with two criteria; i0 and i1 have labels of Right, which the votes confirm."""
    run = reviewed.graded(store)
    ada = reviewed.sit(store, "Ada")
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    for n in range(2, 6):
        reviewed.settle(store, ada, queue, f"i{n}", MET if n % 2 else UNMET)

    sentence = of(store, run.id).sentence
    found = metrics_source(lambda: store, str(run.id))
    gate = check_source(lambda: store, str(run.id), GateRequest((GateBound("right", "min", 0.5),)))
    assert found["trust"]["in_words"] == gate.trust == sentence
    assert report_run(store, run.id, created="then").trust["in_words"] == sentence
    assert sentence in list(report_as_paper(report_run(store, run.id, created="then")).texts())
    assert gate.checks[0]["value"] == found["trust"]["right"]
    # A figure over labelled cells says how many of them a review picked.
    plain = GateRequest((GateBound("accuracy", "min", 0.5),), min_n=1)
    (check,) = check_source(lambda: store, str(run.id), plain).checks
    assert "8 of 10 labels come from a review, which picks doubtful cells" in check["why"]
    assert not check["ok"]
    # People settled 8 of 16 cells; Short of i0 and i1, and i6 and i7 have no label.
    assert (found["trust"]["settled"], found["trust"]["cells"]) == (8, 16)


def test_a_gate_says_what_people_settled_after_an_audit_too(store: Store) -> None:
    run = reviewed.graded(store, 60)
    rule = QueueRule(near_mark=None, audit_share=1.0)
    queue = reviewed.make_queue(store, run, rule)
    items = {cell.item_id for cell in store.queues.cells(queue)}
    for item in items:
        reviewed.settle(store, reviewed.sit(store, "Ada"), queue, item, MET)

    assert load_ratings.run_ratings(store, run.id).draw(0.95).audited is not None
    plain = GateRequest((GateBound("accuracy", "min", 0.5),), min_n=1)
    (check,) = check_source(lambda: store, str(run.id), plain).checks
    assert "n = 120, 120 of them settled in review" in check["why"]


def test_an_audit_that_is_too_small_says_so_instead_of_what_is_not_true(store: Store) -> None:
    run = reviewed.graded(store, 12)
    # 18 cells are doubtful; this seed draws two of the other six, among them the one that the
    # dataset labels, so that no label is left but those from review.
    rule = QueueRule(near_mark=None, audit_share=0.5)
    queue = reviewed.make_queue(store, run, rule, seed=1)
    for item in {cell.item_id for cell in store.queues.cells(queue)}:
        reviewed.settle(store, reviewed.sit(store, "Ada"), queue, item, MET)

    assert store.queues.drawn(queue, "audit") == 2
    assert of(store, run.id).sentence.startswith(
        "How right the verdicts are is unknown: Only 2 cells were drawn at random; 10 are needed"
    )


DRAW = QueueRule.only(audit_share=0.2)


@pytest.mark.parametrize(
    ("second", "counted"),
    [
        (DRAW, lambda first, second: first + second),
        # All of what the rule wants is known; of the rest, i0, i4, ..., both draws speak.
        (QueueRule(flip=False, audit_share=0.05), lambda first, second: _alike(first + second)),
        # Which wanted cells a cap lets in hangs on those settled before: the surer draw alone.
        (QueueRule(audit_share=0.1, most=20), lambda first, second: first),
    ],
)
def test_two_draws_one_after_the_other_count_together(
    store: Store, second: QueueRule, counted: Callable[[list[str], list[str]], list[str]]
) -> None:
    run = reviewed.graded(store, 200)
    drawn = []
    for seed, rule in enumerate((DRAW, second), 1):
        queue = reviewed.make_queue(store, run, rule, seed=seed)
        cells = store.queues.cells(queue)
        drawn.append([cell.item_id for cell in cells if cell.audit])
        for item in {cell.item_id for cell in cells}:
            reviewed.settle(store, reviewed.sit(store, "Ada"), queue, item, MET)

    number = len(counted(*drawn))
    assert number >= 10
    assert f"({number} of them drawn at random" in of(store, run.id).sentence
    assert random_labels.number_drawn(store, run.id) == number


def _alike(items: list[str]) -> list[str]:
    return [item for item in items if int(item[1:]) % 4 == 0]


def test_two_runs_compared_begin_with_the_statement_of_each(store: Store) -> None:
    data = dataset({"clear": ["MET", "MET", "MET", "UNMET"]})
    first, second = (
        run_with(store, data, {"one": {"clear": votes}}) for votes in ([0, 0, 1, 1], [1, 0, 1, 1])
    )

    found = compare_runs(store, first, second, bootstrap=0)

    assert [one.sentence for one in found.trust] == [
        of(store, first).sentence,
        of(store, second).sentence,
    ]


def test_labels_on_the_easy_cells_are_said_to_be_no_fair_sample(store: Store) -> None:
    # Judges agree on the 30 labelled answers, and on none of the 30 others.
    data = dataset({"clear": ["MET"] * 30 + [""] * 30})
    votes = {"one": {"clear": [0] * 60}, "two": {"clear": [0] * 30 + [1] * 30}}
    run = run_with(store, data, votes, judges=(ONE, TWO))

    said = of(store, run).sentence
    # Right on all 30 with a label; that is no figure of the run, so it does not lead.
    assert said.startswith(
        "How right the verdicts are is unknown: the 30 labels are not a fair sample (all judges "
        "agree on 100% of cells with a label, and on 0% of the others). On these 100% ("
    )
    assert said.endswith("are right; 50% of 120 cells are decided.")
    gate = GateRequest((GateBound("right", "min", 0.5), GateBound("accuracy", "min", 0.5)))
    checks = check_source(lambda: store, str(run), gate).checks
    assert [one["ok"] for one in checks] == [False, False]
    assert all("not enough to tell: labels are not a fair sample" in one["why"] for one in checks)


def test_labels_that_people_correct_are_not_blamed_on_the_judges(store: Store) -> None:
    run = reviewed.graded(store)
    ada = reviewed.sit(store, "Ada")
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    # Both are labelled MET on Right.
    reviewed.settle(store, ada, queue, "i0", MET)
    assert of(store, run.id).sentence.endswith(
        "Labels and people differ on 0% of 1 cell with both."
    )
    reviewed.settle(store, ada, queue, "i1", UNMET)

    assert (
        "Labels and people differ on 50% of 2 cells with both, so a verdict that differs from its "
        "label may be right."
    ) in of(store, run.id).sentence
    found = report_run(store, run.id, created="then")
    assert (
        "Labels are taken as the truth; people who settled 2 cells with a label differ from it on "
        "50%."
    ) in found.limits

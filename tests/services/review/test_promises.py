"""What a queue promises of the cells that nobody looked at, when others settle a part of them."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.metrics.intervals.finite import upper_bound_of_rest
from core.services.reports.run_report import review_lines
from core.services.review import queues
from core.services.review.adjudication import mark
from core.services.review.corrected_estimates import (
    corrected_means,
    selection_data,
    selection_of,
    selection_warning,
)
from core.services.review.random_audit import unaudited_cells, verdict_accuracy
from core.store.store import Store
from core.text.numbers import percent
from tests.services import promised, reviewed
from tests.services.promised import Trial
from tests.services.reviewed import sit

#: Half of all verdicts are surely right; of the others three in ten are wrong.
SHARES = {"easy": 0.0, "hard": 0.3}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a graded run of 300 cells."""
    return promised.base(tmp_path_factory.mktemp("promised"), 150)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    """A run of 120 cells and a truth."""
    store = Store(promised.base(tmp_path, 60))
    yield Trial(store, random.Random(4), SHARES)
    store.close()


@pytest.mark.parametrize("name", ["then the easy criterion", "three queues"])
def test_promises_hold_whoever_settles_a_part_of_what_is_left(graded: Path, name: str) -> None:
    # Promised: at most a quarter wrong, broken in at most 5% of trials; an interval may miss as
    # often. 10 trials with these seeds broke none. Before, 8 of 10 that accepted broke it.
    for found in promised.tallies(graded, promised.WORKLOADS[name], 0.25, SHARES, 10):
        assert found.promises == 10
        assert found.given >= 9
        assert found.broken == 0
        assert found.missed <= 1


def test_what_others_settled_stays_in_what_the_audit_was_drawn_from(trial: Trial) -> None:
    first = trial.queue(0.4)
    drawn = trial.places(first)
    trial.settle(first, drawn)
    alone = unaudited_cells(trial.store, first)
    before = corrected_means(trial.store, first)[0]
    easy = trial.queue(0.0, ("easy",), everything=True)
    besides = trial.places(easy)
    trial.settle(easy, besides)
    found = unaudited_cells(trial.store, first)
    # 120 cells are the audit, what the second queue took, and the rest: hard ones, none of it easy.
    assert (found.audited, found.right) == (alone.audited, alone.right)
    assert (found.elsewhere, found.elsewhere_right) == (len(besides), len(besides))
    assert found.rest == 120 - len(drawn) - len(besides) == alone.rest - len(besides)
    # All wrong ones that the audit stands for are in the rest now: 120 / audited times those seen.
    share = alone.audited - alone.right
    assert found.accuracy.value == pytest.approx(
        1 - (share * 120 / alone.audited - share) / found.rest
    )
    # The corrected mean rests on the audit as before: cells settled elsewhere were not drawn.
    after = corrected_means(trial.store, first)[0]
    assert after.powered == before.powered
    assert after.labelled == before.labelled + len(besides)


def test_a_criterion_that_is_settled_to_its_end_has_its_true_mean(trial: Trial) -> None:
    first = trial.queue(0.4)
    trial.settle(first, trial.places(first))
    trial.settle(
        trial.queue(0.0, ("hard",), everything=True), [c for c in trial.cells if c[1] == "hard"]
    )
    line = next(one for one in corrected_means(trial.store, first) if one.criterion == "hard")
    assert line.powered is not None
    mean = line.powered.mean
    true = 1 - sum(place[1] == "hard" for place in trial.wrong) / 60
    assert (mean.value, mean.low, mean.high) == pytest.approx((true, true, true))


def test_what_was_settled_before_the_draw_was_not_drawn_from(trial: Trial) -> None:
    first = trial.queue(0.0, ("hard",), everything=True)
    hard = trial.places(first)
    trial.settle(first, hard[:30])
    time.sleep(0.002)
    second = trial.queue(0.5)
    drawn = trial.places(second)
    assert not {*drawn} & {*hard[:30]}
    trial.settle(second, drawn)
    found = unaudited_cells(trial.store, second)
    assert (found.audited, found.rest, found.elsewhere) == (len(drawn), 90 - len(drawn), 0)


def test_what_is_not_settled_any_more_is_unseen_again(trial: Trial) -> None:
    first = trial.queue(0.4)
    drawn = trial.places(first)
    trial.settle(first, drawn)
    second = trial.queue(0.0, ("easy",), everything=True)
    besides = trial.places(second)
    trial.settle(second, besides)
    lead = sit(trial.store, "Lea")
    mark(trial.store, lead, 1, [besides[0]], "retired", "Nobody knows.")
    found = unaudited_cells(trial.store, first)
    assert (found.elsewhere, found.missing) == (len(besides) - 1, 0)
    assert found.rest == 120 - len(drawn) - len(besides) + 1
    mark(trial.store, lead, 1, [drawn[0]], "stale", "The question changed.")
    assert unaudited_cells(trial.store, first).missing == 1
    assert "still to be decided" in unaudited_cells(trial.store, first).accuracy.reason


def test_a_cell_with_a_known_label_is_known_once_it_is_decided(store: Store) -> None:
    # Labelled are both first items on "Right"; the share of one draws all that the audit leaves.
    run = reviewed.graded(store, 40)
    rule = reviewed.DOUBTFUL.model_copy(
        update={"split": False, "abstention": False, "audit_share": 0.5, "gold_share": 1.0}
    )
    queue = reviewed.make_queue(store, run, rule)
    gold = [c.item_id for c in store.queues.cells(queue) if c.gold]
    assert gold
    audit = sum(c.audit for c in store.queues.cells(queue))
    before = unaudited_cells(store, queue)
    assert (before.elsewhere, before.rest) == (0, 80 - audit)
    reviewed.settle(store, sit(store, "Ada"), queue, gold[0], reviewed.MET)
    found = unaudited_cells(store, queue)
    assert (found.elsewhere, found.elsewhere_right, found.rest) == (1, 1, 80 - audit - 1)


def test_verdicts_that_came_after_the_draw_wait_for_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reviewed.queued(store, 80)
    some = reviewed.items(80)
    reviewed.record(store, run, some[:40])
    rule = reviewed.DOUBTFUL.model_copy(
        update={"audit_share": 0.5, "split": False, "abstention": False, "flip": False}
    )
    queue = reviewed.make_queue(store, run, rule)
    old = {(c.item_id, c.criterion) for c in store.queues.cells(queue)}
    monkeypatch.setattr(reviewed, "NOW", "2999-01-01T00:00:00.000Z")
    reviewed.record(store, run, some[40:])
    late = unaudited_cells(store, queue)
    fresh = queues.refresh(store, sit(store, "Lea"), queue)
    assert fresh > 0
    assert late.behind == fresh
    assert late.missing == len(old) + fresh
    assert late.rest == 160 - len(old) - fresh
    assert (unaudited_cells(store, queue).behind, unaudited_cells(store, queue).missing) == (
        0,
        len(old) + fresh,
    )


def test_all_cells_hold_what_was_settled_before_the_queue_was_made(trial: Trial) -> None:
    first = trial.queue(0.0, ("hard",), everything=True)
    trial.settle(first, trial.places(first))
    time.sleep(0.002)
    second = trial.queue(1.0)
    trial.settle(second, trial.places(second))
    found = verdict_accuracy(trial.store, second)
    # Every cell is decided, 60 of them before: the share is that of all 120, without any doubt.
    true = 1 - len(trial.wrong) / 120
    assert (found.audited, found.queued, found.others) == (60, 0, 60)
    assert found.weighted.value == pytest.approx(true)
    assert found.weighted.low == pytest.approx(true)


def test_words_of_all_cells_are_those_of_a_queue_that_looked_at_all(trial: Trial) -> None:
    first = trial.queue(0.5)
    trial.settle(first, trial.places(first))
    second = trial.queue(0.5, ("easy",))
    trial.settle(second, trial.places(second))
    found = selection_of(trial.store, 1)
    assert found is not None
    share = percent(verdict_accuracy(trial.store, first).weighted.value)
    assert f"Of all cells people confirm an estimated {share} (" in selection_warning(found)
    narrow = replace(found, queues=found.queues[1:])
    assert "Of all cells (“easy” only) people confirm an estimated 100%" in selection_warning(
        narrow
    )
    queues = selection_data(found)["queues"]
    assert [one["narrowed_to"] for one in queues] == [None, "“easy” only"]
    # The report's sentence is of the same queue, and its table says what the other is about.
    lines = review_lines(trial.store, 1)
    assert [one.only for one in lines] == ["", "“easy” only"]


def test_nothing_is_said_of_a_rest_that_is_not_there(trial: Trial) -> None:
    queue = trial.queue(1.0)
    trial.settle(queue, trial.places(queue))
    found = unaudited_cells(trial.store, queue)
    assert (found.rest, found.acceptance) == (0, None)
    assert found.accuracy.reason == "No cells are left to review."
    assert found.accuracy.low is None


def test_every_further_random_draw_of_a_run_may_break_its_promise_less_often(trial: Trial) -> None:
    first = trial.queue(0.4)
    trial.settle(first, trial.places(first))
    trial.store.queues.archive(first, now=promised.NOW)
    trial.queue(0.0, ("easy",), everything=True)
    second = trial.queue(0.6)
    trial.settle(second, trial.places(second))
    # 4 % and .8 % of the 5 % that all draws may use together (4 / 5, 4 / 25, ...). One put away
    # counts, and one without a random audit draws nothing.
    for place, (queue, delta) in enumerate(((first, 0.04), (second, 0.008)), 1):
        found = unaudited_cells(trial.store, queue, 0.3)
        assert found.draw == place
        assert found.delta == pytest.approx(delta)
        assert found.acceptance is not None
        (step,) = found.acceptance.steps
        assert step.unseen is not None
        assert step.bound == upper_bound_of_rest(
            step.wrong, step.labels, step.unseen, found.delta, step.known
        )

"""Runs, in verbs: looking at one, listing them, and what is counted of their items."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from core import clock
from core.domain.panel import Judge, Panel
from core.domain.runs import WAITING, RunItemFilter
from core.services.results import browsing
from core.services.runs import cost_estimate, lifecycle
from core.services.runs.lifecycle import RunLook
from core.services.runs.planning import RunRequest, plan_run
from core.store.store import Store
from tests.pages.graded import DATASET, FIRST, NOW, RUBRIC, graded, planned

LEARNERS = Panel(judges=(Judge(name="text", kind="classifier"),))


def request(store: Store, panel: Panel | None = None, **options: object) -> RunRequest:
    return RunRequest(
        rubric_version=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version=store.datasets.create(DATASET, now=NOW).id,
        panel=panel or Panel(judges=(Judge(name="bob", model="m", price_in=1, price_out=10),)),
        **options,  # type: ignore[arg-type]
    )


def test_a_rate_is_votes_gained_over_seconds_gone(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now())
    now = lifecycle.run_progress(store, run_id)
    assert (now.settled, now.rate, now.seconds_left) == (12, None, None)

    # Two seconds ago 4 of the 12 cells were settled: 8 in 2 s, and none is left.
    later = lifecycle.run_progress(store, run_id, RunLook(run_id, 4, now.seen - 2.0))

    assert later.rate == pytest.approx(4.0, rel=0.2)
    assert later.seconds_left == 0


def test_a_rate_keeps_some_of_the_one_before(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now())
    seen = lifecycle.run_progress(store, run_id).seen

    look = lifecycle.run_progress(store, run_id, RunLook(run_id, 2, seen - 10.0, rate=11.0))

    # 10 in 10 s is 1 a second; 0.7 x 11 + 0.3 x 1 = 8.
    assert look.rate == pytest.approx(8.0, rel=0.05)


def test_a_run_without_a_new_vote_is_measured_from_its_last_one(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now())
    seen = lifecycle.run_progress(store, run_id).seen

    # All 12 were settled 100 s ago: the next one comes at 0.01 a second at best.
    look = lifecycle.run_progress(store, run_id, RunLook(run_id, 12, seen - 100.0, rate=0.5))
    assert look.rate == pytest.approx(0.01, rel=0.05)
    assert look.look.seen == seen - 100.0

    # The 12th came after 100 s without any pace known yet.
    first = lifecycle.run_progress(store, run_id, RunLook(run_id, 11, seen - 100.0))
    assert first.rate == pytest.approx(0.01, rel=0.05)


def test_what_is_out_for_long_is_told_in_words(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now())
    assert lifecycle.waiting_words(lifecycle.run_progress(store, run_id)) == ""

    store.runs.set_notes(run_id, {WAITING: {"since": clock.seconds_now() - 65, "judge": "bob"}})
    words = lifecycle.waiting_words(lifecycle.run_progress(store, run_id))
    assert re.fullmatch(r"1 call has been out for 1 min [56] s \(bob\)", words)
    store.runs.set_notes(run_id, {WAITING: {}})
    assert lifecycle.waiting_words(lifecycle.run_progress(store, run_id)) == ""


def test_a_look_at_another_run_or_too_soon_says_nothing_new(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now())
    seen = lifecycle.run_progress(store, run_id).seen

    assert lifecycle.run_progress(store, run_id, RunLook(run_id + 1, 0, seen - 9.0)).rate is None
    assert lifecycle.run_progress(store, run_id, RunLook(run_id, 0, seen, rate=3.0)).rate == 3.0


def test_a_run_at_rest_has_no_rate_and_is_not_stalled(store: Store) -> None:
    run_id = graded(store)

    look = lifecycle.run_progress(store, run_id, RunLook(run_id, 0, 0.0))

    assert (look.rate, look.stalled, look.share) == (None, False, 1.0)


def test_a_run_is_stalled_when_its_lease_ran_out(store: Store) -> None:
    run_id = graded(store, "running", at=clock.seconds_now() - 120)

    assert lifecycle.run_progress(store, run_id).stalled


def test_runs_are_found_by_the_names_of_run_rubric_and_dataset(store: Store) -> None:
    for name in ("Spring", "Autumn", "100%"):
        planned(store, name)

    def names(search: str) -> list[str]:
        return [row.name for row in lifecycle.runs_page(store, search=search)[0]]

    assert names("AUT") == ["Autumn"]
    assert names("starred") == ["100%", "Autumn", "Spring"]  # the rubric of all three
    assert names("%") == ["100%"]
    assert lifecycle.runs_page(store, search="r", limit=1)[1] == 3


def test_means_leave_out_what_has_no_value(store: Store) -> None:
    score, agreement, _ = lifecycle.run_means(store, graded(store))

    # Scores .5, 1 and .25. Agreement: a .75; b 1 (its abstention has none); c 1.
    assert score == pytest.approx(1.75 / 3)
    assert agreement == pytest.approx(2.75 / 3)
    assert lifecycle.run_means(store, planned(store)) == (None, None, 0)


def test_scores_are_counted_in_bins_that_hold_their_lower_edge(store: Store) -> None:
    run_id = graded(store)

    # .25, .5 and 1 in quarters: the last bin holds its upper edge, too.
    assert store.results.score_bins(run_id, 4) == [
        (0.0, 0.25, 0),
        (0.25, 0.5, 1),
        (0.5, 0.75, 1),
        (0.75, 1.0, 1),
    ]
    assert browsing.score_distribution(store, planned(store)) == []


def test_verdicts_are_counted_per_option_and_abstentions_apart(store: Store) -> None:
    counts = browsing.verdict_counts(store, graded(store), RUBRIC)

    # Clear: UNMET by a tie, MET, UNMET. Depth: Deep, an abstention, Some.
    assert [(c.criterion.name, c.settled, c.abstained) for c in counts] == [
        ("Clear", (1, 2), 0),
        ("Depth", (0, 1, 1), 1),
    ]


def test_labels_are_read_without_their_items_unless_these_have_a_rubric_of_their_own(
    store: Store,
) -> None:
    first, *others = DATASET.items
    own = first.model_copy(update={"rubric": RUBRIC})
    version = store.datasets.create(
        DATASET.model_copy(update={"items": (own, *others)}), now=NOW
    ).id

    assert list(store.datasets.labels(version)) == [("b", "Clear", "MET"), ("c", "Clear", "MET")]


def test_neighbours_follow_filter_and_order(store: Store) -> None:
    run_id = graded(store)

    def around(item: str, where: RunItemFilter) -> tuple[str | None, str | None, int | None, int]:
        return browsing.neighbours_of(store, run_id, item, where, "score", False)

    everything = RunItemFilter()
    assert around(FIRST, everything) == ("c", "b", 2, 3)
    assert around("b", everything) == (FIRST, None, 3, 3)
    # An item that the filter leaves out has no place; the list's first item is next.
    assert around(FIRST, RunItemFilter(has_failures=True)) == (None, "c", None, 1)


def test_a_limit_keeps_the_first_items_that_would_be_graded(store: Store) -> None:
    first = plan_run(store, request(store, limit=2, seed=1))
    learned = plan_run(store, request(store, LEARNERS, limit=1, seed=1, label_share=0.4))

    assert [i.id for i in first.items] == [FIRST, "b"]
    # 0.4 of 3 labelled items is 1.2: one is learned from, and one of the other two is graded.
    assert (len(learned.calibration), len(learned.items)) == (1, 1)
    assert learned.calibration[0].id != learned.items[0].id


def test_drawn_items_depend_on_the_seed_alone_and_keep_their_order(store: Store) -> None:
    def drawn(seed: int) -> list[str]:
        planned = plan_run(store, request(store, limit=2, drawn=True, seed=seed))
        return [i.id for i in planned.items]

    order = [i.id for i in DATASET.items]
    assert drawn(3) == drawn(3)
    assert {tuple(drawn(seed)) for seed in range(40)} == {
        tuple(i for i in order if i != left_out) for left_out in order
    }


def test_an_estimate_prices_prompts_and_answers(store: Store) -> None:
    found = cost_estimate.estimate_request(store, request(store, replicates=2, seed=1))

    # 3 items x 2 criteria x 2 times; 150 tokens for each answer, at 1 and 10 dollars a million.
    (judge,) = found.judges
    assert (found.items, found.votes, judge.calls, judge.tokens_out) == (3, 12, 12, 1800)
    assert judge.cost == pytest.approx((judge.tokens_in * 1 + 1800 * 10) / 1e6)
    # It was never tested, so its pace is not known.
    assert found.seconds is None


def test_offline_judges_take_no_calls_and_no_money(store: Store) -> None:
    found = cost_estimate.estimate_request(store, request(store, LEARNERS, seed=1))

    # A fifth of 3 labelled items rounds to one.
    assert (found.calibration, found.items, found.votes) == (1, 2, 4)
    assert (found.calls, found.cost, found.seconds) == (0, 0.0, 0.0)
    assert cost_estimate.teaching_items(store, 1) == (3, 0)


def test_a_run_whose_process_was_killed_is_cancelled_at_once(
    store: Store, request_: RunRequest
) -> None:
    run_id = lifecycle.start(store, request_)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    owner = f"{socket.gethostname()}:{ended.pid}:1"
    assert store.leases.claim(owner, at=clock.seconds_now(), seconds=60, run_id=run_id) is not None
    assert lifecycle.cancel(store, run_id) == "cancelled"


def test_what_a_run_at_work_waits_for_is_said_in_words(store: Store) -> None:
    run_id = lifecycle.start(store, request(store, LEARNERS))
    queued = store.runs.row(run_id)
    assert lifecycle.phase_words(queued) == "waiting to start"
    # NOW, when the older run was queued, is months ago.
    assert "RUBRIC_STUDIO_RUNNER" in lifecycle.phase_words(replace(queued, created=NOW))
    store.leases.claim("m:1:a", at=clock.seconds_now(), seconds=60, run_id=run_id)
    running = store.runs.row(run_id)
    assert "are learning" in lifecycle.phase_words(running)
    models = replace(running, panel=Panel(judges=(Judge(name="bob", model="m"),)))
    assert lifecycle.phase_words(models) == "asking the judges"
    assert "is gone" in lifecycle.phase_words(replace(running, lease_until=clock.seconds_now() - 1))


def test_a_run_of_a_rubric_and_a_dataset_of_one_name_has_that_name(store: Store) -> None:
    first = request(store)
    name = store.rubrics.version(first.rubric_version).rubric.name
    same = store.datasets.create(DATASET.model_copy(update={"name": name}), now=NOW)

    plans = [plan_run(store, one) for one in (first, replace(first, dataset_version=same.id))]

    assert [one.plan.name for one in plans] == [f"{name} on {DATASET.name}", name]

"""Runs through a provider's batch interface: the votes are those of direct calls, for half the
price, whatever happens to the process, the batch or a line of it.

The run is that of the fixture: 4 items x 3 criteria, so 12 questions; 1000 tokens in a question at
$100 a million are $0.10 asked directly and $0.05 in a batch.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli.requests_from_files import batches_note
from core.domain.panel import Asking, Judge, Panel
from core.errors import Conflict, InputError
from core.services.access.permits import allow_sendings
from core.services.runs import cost_estimate, lifecycle, runner
from core.services.runs.batches import lanes, sending
from core.services.runs.planning import RunRequest
from core.store.store import Store
from tests.command_line import cli
from tests.judging.wire import KEY
from tests.provider import Answer, Provider, refusal, said, status
from tests.provider_batches import STEPS
from tests.services.runs.batch_world import PLANNED, killed_at, work, worked_until
from tests.services.runs.world import by_request, until, votes_of, write_files

pytestmark = pytest.mark.usefixtures("soon")


@pytest.fixture
def batched(request_: RunRequest) -> RunRequest:
    return replace(request_, batch=True)


def asked_as(request: RunRequest, **asking: Any) -> RunRequest:
    panel = request.panel.model_copy(update={"asking": Asking(**asking)})
    return replace(request, panel=panel)


@pytest.mark.parametrize("mode", ["criterion", "rubric", "two_step"])
def test_the_votes_are_those_of_direct_calls_at_half_the_price(
    store: Store, request_: RunRequest, provider: Provider, mode: str
) -> None:
    provider.rule = of_any_mode
    runs = []
    for batch in (False, True):
        request = asked_as(replace(request_, batch=batch), mode=mode, cache=False)
        runs.append(work(store, request))
    direct, batched = (store.runs.row(run) for run in runs)
    assert (batched.status, batched.votes, batched.failures_open) == ("done", PLANNED, 0)
    assert votes_of(store, batched.id) == votes_of(store, direct.id)
    assert (batched.calls, batched.tokens_in) == (direct.calls, direct.tokens_in)
    assert (batched.out, batched.lost) == (0, 0)
    assert batched.cost == pytest.approx(direct.cost / 2) == pytest.approx(direct.calls * 0.05)
    assert set(provider.batches.bought.values()) == {1}
    assert sum(provider.batches.bought.values()) == batched.calls
    # Nothing that anybody wrote stays at the provider.
    assert not any(provider.batches.files.values())


def of_any_mode(body: dict[str, Any]) -> Answer:
    """As ``by_request``, also to a whole rubric and to the first of two steps."""
    form = body.get("response_format")
    if form is None:
        return said(f"An assessment of {len(json.dumps(body))} characters.")
    properties = form["json_schema"]["schema"]["properties"]
    if "option" in properties:
        return by_request(body)
    whole = {"evidence": [], "reason": "It fits.", "option": 1}
    return said(json.dumps(dict.fromkeys(properties, whole)))


def test_a_panel_that_stops_early_asks_the_same_in_batches(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    (ada,) = request_.panel.judges
    judges = tuple(ada.model_copy(update={"name": name, "model": name}) for name in "abc")
    asking = Asking(cache=False)
    panel = Panel(judges=judges, early_stop=True, asking=asking)
    direct, batched = (
        work(store, replace(request_, panel=panel, batch=batch)) for batch in (False, True)
    )
    # Where the first two agree the third is not asked.
    assert votes_of(store, batched) == votes_of(store, direct)
    assert 2 * PLANNED < store.runs.row(batched).votes < 3 * PLANNED
    assert {one.judge for one in store.batches.of_run(batched)} == {"a", "b", "c"}


def test_a_key_that_a_provider_shows_in_its_answers_is_not_kept(
    store: Store, request_: RunRequest, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", KEY)
    provider.rule = lambda body: said(f"I was sent {KEY}.")
    (ada,) = request_.panel.judges
    panel = Panel(judges=(ada.model_copy(update={"key_env": "OWN_KEY"}),))
    allow_sendings(panel.judges)
    run_id = lifecycle.start(store, asked_as(replace(request_, panel=panel, batch=True)))
    with monkeypatch.context() as patch:
        # Some answers wait in the data file for another request.
        killed_at("between two steps", patch)
        with pytest.raises(SystemError):
            runner.work_here(store, run_id)
    assert store.batches.answers(run_id, "ada")
    store.checkpoint()
    assert KEY.encode() not in store.path.read_bytes()


def test_a_refusal_an_unreadable_reply_and_an_error_fail_as_direct_calls_do(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    def rule(body: dict[str, Any]) -> Answer:
        text = json.dumps(body["messages"])
        if "Reply number 0" in text:
            return refusal()
        if "Reply number 1" in text:
            return said("I choose the second option.")
        if "Reply number 2" in text:
            return status(400, "This model does not take that.")
        return by_request(body)

    provider.rule = rule
    kinds = []
    for batch in (False, True):
        run = work(store, asked_as(replace(request_, batch=batch), cache=False))
        found = {kind.kind: (kind.times, kind.message) for kind in store.votes.failure_kinds(run)}
        kinds.append((found, store.runs.row(run).calls, store.runs.row(run).votes))
    assert kinds[0] == kinds[1]
    # An unreadable reply is asked once more, in a batch that follows.
    assert set(kinds[1][0]) == {"refusal", "malformed", "bad_request"}
    assert kinds[1][1:] == (PLANNED + 3, 3)


def test_lines_of_an_expired_batch_fail_and_a_retry_asks_them_alone(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    provider.batches.share, provider.batches.end = 0.5, "expired"
    run = work(store, batched)
    row = store.runs.row(run)
    assert (row.status, row.votes, row.failures_open) == ("done", 6, 6)
    (kind,) = store.votes.failure_kinds(run)
    assert (kind.kind, kind.message) == (
        "expired",
        "The provider did not answer this question before its batch ended.",
    )
    provider.batches.share, provider.batches.end = 1.0, "completed"
    assert lifecycle.retry(store, run) == 6
    runner.work_here(store, run)
    row = store.runs.row(run)
    assert (row.votes, row.failures_open, row.calls) == (PLANNED, 0, PLANNED)
    assert [one.lines for one in store.batches.of_run(run)] == [12, 6]
    assert set(provider.batches.bought.values()) == {1}


def test_files_stay_within_the_limits_of_the_provider(
    store: Store, batched: RunRequest, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "MOST_LINES", 5)
    first = work(store, batched)
    assert [one.lines for one in store.batches.of_run(first)] == [5, 5, 2]
    monkeypatch.setattr(sending, "MOST_OF_FILE", 1)
    second = work(store, replace(asked_as(batched, cache=False), limit=1))
    assert [one.lines for one in store.batches.of_run(second)] == [1, 1, 1]


def test_a_batch_that_is_too_much_for_now_is_sent_again_in_smaller_ones(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    provider.batches.fault = ("token_limit_exceeded", "Enqueued token limit reached.")
    made = provider.batches.made
    # The first is turned down; when another comes, there is room.
    provider.rule = by_request
    run_id = lifecycle.start(store, batched)

    def look() -> None:
        if len(made) > 1:
            provider.batches.fault = None

    runner.work_here(store, run_id, on_tick=look, tick=0.01)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.failures_open) == ("done", PLANNED, 0)
    sizes = [one.lines for one in store.batches.of_run(run_id)]
    assert (sizes[0], sizes[1] <= 6) == (12, True)
    assert set(provider.batches.bought.values()) == {1}


def test_a_batch_that_is_turned_down_says_why_in_every_question(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    provider.batches.fault = ("model_not_found", "The model ada does not exist.")
    run = work(store, batched)
    (kind,) = store.votes.failure_kinds(run)
    assert (kind.kind, kind.times) == ("not_found", PLANNED)
    assert "The model ada does not exist." in kind.message


def test_an_address_without_batches_fails_plainly_and_is_asked_once(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    provider.batches.refuse = 404
    run = work(store, batched)
    (kind,) = store.votes.failure_kinds(run)
    assert (kind.kind, kind.times) == ("not_found", PLANNED)
    assert provider.batches.asked == ["POST /v1/files"]


def test_a_batch_whose_purchase_was_not_heard_of_is_found_and_not_bought_again(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    provider.batches.lose = True
    run = work(store, batched)
    assert (store.runs.row(run).votes, len(provider.batches.made)) == (PLANNED, 1)


@pytest.mark.parametrize(
    "moment", ["planned", "uploaded", "bought", "sent", "taking", "between two steps"]
)
def test_whoever_goes_on_after_a_kill_buys_nothing_twice(
    store: Store,
    batched: RunRequest,
    provider: Provider,
    moment: str,
) -> None:
    steps = 2 if moment == "between two steps" else 1
    provider.rule = of_any_mode
    mode = "two_step" if steps == 2 else "criterion"
    run_id = lifecycle.start(store, asked_as(batched, mode=mode))
    worked_until(moment, store, run_id)
    # A process that was killed says nothing of it.
    assert lifecycle.resume(store, run_id) == "queued"
    runner.work_here(store, run_id)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.failures_open) == ("done", PLANNED, 0)
    assert (row.calls, row.cost) == (steps * PLANNED, pytest.approx(steps * PLANNED * 0.05))
    assert set(provider.batches.bought.values()) == {1}
    assert len(provider.batches.made) == steps


def test_cancelling_stops_the_batch_takes_what_was_answered_and_resuming_asks_the_rest(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    # It would take its time.
    provider.batches.steps = ("validating", *(f"in_progress_{n}" for n in range(10_000)))
    provider.batches.share = 0.25
    run_id = lifecycle.start(store, batched)

    def look() -> None:
        if store.batches.of_run(run_id) and provider.batches.made:
            lifecycle.cancel(store, run_id)

    runner.work_here(store, run_id, on_tick=look, tick=0.05)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.failures_open) == ("cancelled", 3, 0)
    assert provider.batches.made["batch_1"]["status"] == "cancelled"
    provider.batches.steps, provider.batches.share = STEPS, 1.0
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.calls) == ("done", PLANNED, PLANNED)
    assert set(provider.batches.bought.values()) == {1}


def test_a_run_that_nobody_works_on_is_cancelled_at_the_provider_by_whoever_takes_it(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    run_id = lifecycle.start(store, batched)
    worked_until("sent", store, run_id)
    figures = lifecycle.run_summary(store, run_id)
    assert figures["batches_out"] == 1
    with pytest.raises(Conflict, match="has batches at the provider"):
        lifecycle.retry(store, run_id)
    assert batches_note(figures).startswith("1 batch out; the provider is still working.")
    assert "1 batch out (0 of 12 answered)" in cli("show", run_id, "--db", store.path).stdout
    told = json.loads(cli("cancel", run_id, "--db", store.path, "--json").stdout)
    assert (told["status"], told["batches_out"]) == ("cancelled", 0)
    assert provider.batches.made["batch_1"]["status"] == "cancelled"
    # Cancelled once, it is at rest.
    assert lifecycle.cancel(store, run_id) == "cancelled"


def test_a_budget_bounds_what_is_sent(
    store: Store, batched: RunRequest, provider: Provider
) -> None:
    # By the estimate a question costs some hundredths of a dollar; it then costs $0.05.
    guess = cost_estimate.estimate_request(store, batched).cost
    assert guess is not None
    run = work(store, replace(batched, budget=guess / 2))
    row = store.runs.row(run)
    assert row.status == "budget"
    assert 0 < row.votes < PLANNED
    assert row.votes == sum(provider.batches.bought.values())


def test_the_estimate_shows_half_the_price_and_what_it_would_be_otherwise(
    store: Store, request_: RunRequest
) -> None:
    direct = cost_estimate.estimate_request(store, request_)
    batched = cost_estimate.estimate_request(store, replace(request_, batch=True))
    assert direct.cost is not None
    assert batched.cost is not None
    assert batched.cost == direct.cost / 2
    assert (batched.direct, batched.calls, batched.seconds) == (direct.cost, direct.calls, None)


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        (Judge(name="g", model="gemini/gemini-2.0-flash"), "has no batch interface"),
        (Judge(name="o", kind="classifier"), "No model is asked here"),
    ],
)
def test_who_cannot_be_asked_in_batches_is_named_before_anything_starts(
    store: Store, request_: RunRequest, judge: Judge, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        lifecycle.start(store, replace(request_, panel=Panel(judges=(judge,)), batch=True))


def test_runs_that_wait_for_batches_leave_room_for_others(
    store: Store, batched: RunRequest, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "AT_ONCE", 1)
    monkeypatch.setattr(lanes, "SOONEST_LOOK", 30.0)
    waiting = lifecycle.start(store, batched)
    working_off = runner.Runner(store).start()
    try:
        until(lambda: any(one.batch for one in store.batches.of_run(waiting)))
        other = lifecycle.start(store, replace(batched, batch=False))
        until(lambda: store.runs.row(other).status == "done")
        assert store.runs.row(waiting).status == "running"
    finally:
        working_off.stop()
    assert store.runs.row(waiting).status == "queued"


def test_the_command_line_estimates_batches_and_sends_nothing(
    provider: Provider, tmp_path: Path
) -> None:
    rubric, dataset = write_files(tmp_path, items=2)
    given = ("--judge", "openai/ada", "--api-base", provider.url, "--batch", "--json")
    estimate = cli("grade", rubric, dataset, *given, "--estimate", "--db", tmp_path / "a.db")
    told = json.loads(estimate.stdout)
    assert (told["batch"], told["calls"], provider.batches.asked) == (True, 6, [])

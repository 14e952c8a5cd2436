"""Runs in batches at each provider whose interface is its own: whole ways, and odd answers.

The run is that of the fixture: 4 items x 3 criteria, so 12 questions.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.panel import Panel
from core.services.runs import cost_estimate, lifecycle, runner
from core.store.store import Store
from tests.judging.wire import KEY
from tests.provider import Answer, plain
from tests.provider_batches import STEPS
from tests.services.runs.batch_world import ELSEWHERE, KEYS, MODELS, PLANNED, There, work
from tests.services.runs.world import votes_of

pytestmark = pytest.mark.usefixtures("soon")


@pytest.mark.parametrize("there", MODELS, indirect=True)
def test_the_votes_are_those_of_direct_calls_at_half_the_price(store: Store, there: There) -> None:
    runs = [work(store, request) for request in (there.request, there.asked())]
    direct, batched = (store.runs.row(run) for run in runs)
    assert (batched.status, batched.votes, batched.failures_open) == ("done", PLANNED, 0)
    assert votes_of(store, batched.id) == votes_of(store, direct.id)
    assert (batched.calls, batched.tokens_in) == (direct.calls, direct.tokens_in)
    assert batched.cost == pytest.approx(direct.cost / 2)
    assert batched.cost > 0
    assert list(there.batches.bought.values()) == [1] * PLANNED
    # The same is asked, whichever way it goes.
    directly = [one.body for one in there.provider.requests]
    assert sorted(map(json.dumps, directly)) == sorted(map(json.dumps, there.batches.bodies))
    betas = {one.headers.get("anthropic-beta") for one in there.provider.requests}
    assert {headers.get("anthropic-beta") for headers in there.batches.headers} == betas
    # The key goes where this provider looks for it, with each request, and is kept nowhere.
    header, value = KEYS[there.name]
    assert {headers.get(header) for headers in there.batches.headers} == {value}
    store.checkpoint()
    assert KEY.encode() not in store.path.read_bytes()
    # Nothing that anybody wrote stays at the provider.
    assert not there.batches.left


@pytest.mark.parametrize("there", ["azure"], indirect=True)
def test_batches_are_not_signed_for_in_another_way_than_by_a_key(
    store: Store, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_AD_TOKEN", KEY)
    monkeypatch.delenv("AZURE_API_KEY", raising=False)
    (judge,) = there.request.panel.judges
    panel = Panel(judges=(judge.model_copy(update={"key_env": ""}),))
    run = work(store, there.asked(panel=panel))
    (kind,) = store.votes.failure_kinds(run)
    assert (kind.kind, kind.times, there.batches.asked) == ("missing_key", PLANNED, [])
    assert "AZURE_API_KEY is not set" in kind.message


@pytest.mark.parametrize("there", ELSEWHERE, indirect=True)
def test_lines_of_an_expired_batch_fail_and_a_retry_asks_them_alone(
    store: Store, there: There
) -> None:
    there.batches.share, there.batches.end = 0.5, "expired"
    run = work(store, there.asked())
    row = store.runs.row(run)
    assert (row.status, row.votes, row.failures_open) == ("done", 6, 6)
    (kind,) = store.votes.failure_kinds(run)
    assert kind.kind == "expired"
    there.batches.share, there.batches.end = 1.0, "completed"
    assert lifecycle.retry(store, run) == 6
    runner.work_here(store, run)
    row = store.runs.row(run)
    assert (row.votes, row.failures_open, row.calls) == (PLANNED, 0, PLANNED)
    assert [one.lines for one in store.batches.of_run(run)] == [12, 6]
    assert list(there.batches.bought.values()) == [1] * PLANNED


@pytest.mark.parametrize("there", ELSEWHERE, indirect=True)
def test_errors_of_lines_fail_as_those_of_direct_calls_do(store: Store, there: There) -> None:
    def rule(body: dict[str, Any]) -> Answer:
        text = json.dumps(body["messages"])
        if "Reply number 1" in text:
            error = {"type": "invalid_request_error", "message": "This model does not take that."}
            return plain({"type": "error", "error": error}, 400)
        return there.answer(body)

    there.provider.rule = rule
    kinds = []
    for request in (there.request, there.asked()):
        run = work(store, request)
        found = {kind.kind: (kind.times, kind.message) for kind in store.votes.failure_kinds(run)}
        kinds.append((found, store.runs.row(run).calls, store.runs.row(run).votes))
    assert kinds[0] == kinds[1]
    assert set(kinds[1][0]) == {"bad_request"}
    assert kinds[1][1:] == (PLANNED, 9)


def test_a_key_that_is_refused_fails_all_and_is_asked_once(store: Store, there: There) -> None:
    there.batches.refuse = 401
    run = work(store, there.asked())
    (kind,) = store.votes.failure_kinds(run)
    assert (kind.kind, kind.times) == ("auth", PLANNED)
    assert len(there.batches.asked) == 1


@pytest.mark.parametrize("there", ["azure", "mistral"], indirect=True)
def test_a_batch_that_is_turned_down_says_why_in_every_question(store: Store, there: There) -> None:
    there.batches.fault = ("invalid_request", "This file is not welcome.")
    run = work(store, there.asked())
    (kind,) = store.votes.failure_kinds(run)
    assert (kind.kind, kind.times) == ("bad_request", PLANNED)
    assert "This file is not welcome." in kind.message


@pytest.mark.parametrize("there", ELSEWHERE, indirect=True)
def test_cancelling_stops_the_batch_takes_what_was_answered_and_resuming_asks_the_rest(
    store: Store, there: There
) -> None:
    there.batches.steps = ("validating", *(f"in_progress_{n}" for n in range(10_000)))
    there.batches.share = 0.25
    run_id = lifecycle.start(store, there.asked())

    def look() -> None:
        if there.batches.made and any(one.batch for one in store.batches.of_run(run_id)):
            lifecycle.cancel(store, run_id)

    runner.work_here(store, run_id, on_tick=look, tick=0.05)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.failures_open) == ("cancelled", 3, 0)
    there.batches.steps, there.batches.share = STEPS, 1.0
    lifecycle.resume(store, run_id)
    runner.work_here(store, run_id)
    row = store.runs.row(run_id)
    assert (row.status, row.votes, row.calls) == ("done", PLANNED, PLANNED)
    assert list(there.batches.bought.values()) == [1] * PLANNED


def test_odd_lines_among_the_answers_change_none(
    store: Store, there: There, caplog: pytest.LogCaptureFixture
) -> None:
    there.batches.garbage = [
        b"not JSON",
        b"[" * 100_000,
        b'{"custom_id": {"of": "nobody"}}',
        b'{"custom_id": "another", "response": {"status_code": 200, "body": {}}}',
        b"{" + b" " * 5 * 1024**2 + b"}",
        b"",
        # At some depth a line can just be read, or just not.
        *(
            b'{"custom_id": "a-b", "result": {"type": "succeeded", "message": %b}}'
            % (b"[" * deep + b"]" * deep)
            for deep in range(700, 1000, 2)
        ),
    ]
    with caplog.at_level("INFO"):
        run = work(store, there.asked())
    row = store.runs.row(run)
    assert (row.status, row.votes, row.failures_open) == ("done", PLANNED, 0)
    assert "could not be removed" not in caplog.text


def test_what_is_said_twice_of_a_question_counts_once(store: Store, there: There) -> None:
    def twice(line: bytes) -> list[bytes]:
        name = json.loads(line)["custom_id"]
        other = {"error": {"code": "x", "message": "No."}, "result": {"type": "errored"}}
        return [line, json.dumps({"custom_id": name, **other}).encode(), line]

    there.batches.becomes = twice
    run = work(store, there.asked())
    row = store.runs.row(run)
    assert (row.votes, row.failures_open, row.calls) == (PLANNED, 0, PLANNED)


@pytest.mark.parametrize(
    "odd",
    [
        None,
        "x",
        [],
        {},
        {"type": 7},
        {"type": "succeeded"},
        {"type": "succeeded", "message": []},
        {"type": "errored", "error": "x"},
        {"type": "errored", "error": {"error": []}},
    ],
)
@pytest.mark.parametrize("there", ["anthropic"], indirect=True)
def test_a_result_that_is_none_fails_its_question_alone(
    store: Store, there: There, odd: Any
) -> None:
    names = list[str]()

    def one_is_odd(line: bytes) -> list[bytes]:
        name = json.loads(line)["custom_id"]
        names.append(name)
        return [
            json.dumps({"custom_id": name, "result": odd}).encode() if len(names) == 1 else line
        ]

    there.batches.becomes = one_is_odd
    run = work(store, there.asked())
    row = store.runs.row(run)
    assert (row.status, row.votes, row.failures_open) == ("done", PLANNED - 1, 1)
    (kind,) = store.votes.failure_kinds(run)
    assert kind.kind == "server"


@pytest.mark.parametrize("there", ["azure"], indirect=True)
def test_azure_is_asked_for_a_batch_when_it_has_read_the_file(store: Store, there: There) -> None:
    there.batches.unread = 3
    run = work(store, there.asked())
    assert (store.runs.row(run).votes, len(there.batches.made)) == (PLANNED, 1)
    asked = [line.partition("?")[0] for line in there.batches.asked]
    assert asked.count("GET /v1/openai/files/file-1") == 4
    assert asked.count("POST /v1/openai/batches") == 1


@pytest.mark.parametrize("there", ELSEWHERE, indirect=True)
def test_the_estimate_is_half_of_the_listed_price_and_bounds_what_is_sent(
    store: Store, there: There
) -> None:
    (judge,) = there.request.panel.judges
    panel = Panel(judges=(judge.model_copy(update={"price_in": None, "price_out": None}),))
    estimate = cost_estimate.estimate_request(store, there.asked(panel=panel))
    assert estimate.cost is not None
    assert estimate.direct is not None
    assert estimate.cost == pytest.approx(estimate.direct / 2)
    run = work(store, there.asked(panel=panel, budget=estimate.cost / 2))
    # What is out counts by the estimate, until it has come back and cost what it cost.
    assert 0 < store.batches.of_run(run)[0].lines < PLANNED
    assert store.runs.row(run).cost <= estimate.cost / 2


@pytest.mark.parametrize("there", ["anthropic"], indirect=True)
def test_the_key_goes_to_no_other_address_that_answers_are_said_to_be_at(
    store: Store, there: There
) -> None:
    claude = there.provider.message_batches
    claude.results = "http://127.0.0.1:9"
    run = work(store, there.asked())
    assert store.runs.row(run).votes == PLANNED
    assert "GET /v1/messages/batches/msgbatch_1/results" in claude.asked

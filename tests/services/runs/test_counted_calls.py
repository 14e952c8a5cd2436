"""What a run counts as its calls is what went over the wire, and what was announced.

A call is one exchange: an assessment, an answer, a repair, a summary. Tries of it stay apart.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli.reports_as_text import run_as_text
from core.cli.requests_from_files import summary_as_text
from core.domain.panel import Asking, Judge
from core.domain.votes import CallRow
from core.services.runs import cost_estimate, lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import Runner, work_here
from core.store.store import Store
from tests.provider import Answer, Provider, malformed, refusal, said, stall, status
from tests.services.runs.test_kept_answers import run, with_judge
from tests.services.runs.world import asked_of, by_request, until


def any_mode(body: dict[str, Any]) -> Answer:
    """Words where words are asked for, an answer per criterion where all are asked at once."""
    if "response_format" not in body:
        return malformed()
    asked = body["response_format"]["json_schema"]["schema"]["properties"]
    if "option" in asked:
        return by_request(body)
    reply = {"evidence": [], "reason": "So.", "option": 1}
    return said(json.dumps(dict.fromkeys(asked, reply)))


def asking(request: RunRequest, mode: str) -> RunRequest:
    panel = request.panel.model_copy(update={"asking": Asking.model_validate({"mode": mode})})
    return replace(request, panel=panel)


def calls(store: Store, run_id: int) -> list[CallRow]:
    """Every call row of the run, once."""
    votes = [v for i in store.runs.item_ids(run_id) for v in store.votes.for_item(run_id, i)]
    lost = store.votes.open_failures(run_id)
    ids = {one.call_id for one in (*votes, *lost) if one.call_id is not None}
    return [store.votes.call(one) for one in sorted(ids)]


# 4 items x 3 criteria: a call each, one per item, or two each.
@pytest.mark.parametrize(("mode", "expected"), [("criterion", 12), ("rubric", 4), ("two_step", 24)])
def test_calls_announced_made_and_counted_are_the_same(
    mode: str, expected: int, store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.rule = any_mode
    asked = asking(request_, mode)
    assert cost_estimate.estimate_request(store, asked).calls == expected
    first = run(store, asked)
    assert provider.count == expected
    figures = lifecycle.run_summary(store, first)
    assert (figures["calls"], figures["cached"], figures["failures"]) == (expected, 0, {})
    made = calls(store, first)
    assert sum(one.asked or 0 for one in made) == sum(one.tries for one in made) == expected
    # Again: all of them are known, and none is made.
    again = lifecycle.run_summary(store, run(store, asked))
    assert provider.count == expected
    assert (again["calls"], again["cached"]) == (0, expected)


def test_a_repair_is_a_call_and_a_try_again_is_none(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    # The first question: busy, out of order, an answer that cannot be read, and its repair.
    provider.say(status(429, headers={"Retry-After": "0"}), status(500), malformed())
    found = run(store, with_judge(request_, concurrency=1))
    assert provider.count == 15  # 12 questions, a repair, and two that were tried again
    assert lifecycle.run_summary(store, found)["calls"] == 13
    made = sorted(((one.asked, one.tries) for one in calls(store, found)), reverse=True)
    assert made == [(2, 4), *[(1, 1)] * 11]


def test_a_call_that_fails_is_a_call(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.rule = lambda body: status(500)
    found = run(store, with_judge(request_, tries=1))
    row = store.runs.row(found)
    assert provider.count == row.calls == row.cost_unknown == row.failures_open == 12
    provider.rule = any_mode
    # The assessment is refused, so nobody is asked for an answer.
    provider.say(*[refusal()] * 12)
    half = run(store, with_judge(asking(request_, "two_step"), tries=1))
    assert provider.count == 24
    assert (store.runs.row(half).calls, store.runs.row(half).failures_open) == (12, 12)


def test_of_two_steps_of_which_one_is_known_one_is_counted(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.rule = any_mode
    two = with_judge(asking(request_, "two_step"), concurrency=1)
    first = run(store, two)
    # The answers are lost; the assessments are still there.
    with store.write() as db:
        db.execute("DELETE FROM response WHERE completion LIKE '%evidence%'")
    second = run(store, two)
    assert store.responses.count() == 24
    row = store.runs.row(second)
    assert (row.calls, row.cached, provider.count) == (12, 12, 36)
    assert {(one.asked, one.kept, one.cached) for one in calls(store, second)} == {(1, 1, False)}
    assert store.runs.row(first).calls == 24


def test_calls_of_a_run_that_is_resumed_add_up(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.rule = any_mode
    provider.say(*[status(400)] * 3)
    two = with_judge(asking(request_, "two_step"), concurrency=1, tries=1)
    found = run(store, two)
    assert store.runs.row(found).failures_open == 3
    assert (store.runs.row(found).calls, provider.count) == (3 + 9 * 2, 3 + 9 * 2)
    lifecycle.retry(store, found)
    work_here(store, found)
    assert (store.runs.row(found).calls, provider.count) == (3 + 12 * 2, 3 + 12 * 2)


@pytest.mark.parametrize("door", ["openai", "litellm"])
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"params": {"stream": True}}, "bad_request"),  # refused by us
        ({"api_base": "http://127.0.0.1:9/v1"}, "connection"),  # the discard port: nobody listens
    ],
    ids=["params", "refused"],
)
def test_what_never_reached_the_wire_is_no_call_and_costs_nothing(
    change: dict[str, Any],
    kind: str,
    door: str,
    store: Store,
    request_: RunRequest,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As in a run that was planned before such settings were looked for.
    monkeypatch.setattr(lifecycle, "require_ready", lambda judges: None)
    found = run(store, with_judge(request_, door=door, tries=1, **change))
    figures = lifecycle.run_summary(store, found)
    assert provider.count == 0
    assert figures["failures"] == {kind: 12}
    assert (figures["calls"], figures["lost_calls"], figures["cost_usd"]) == (0, 0, 0.0)


def test_what_litellm_refuses_itself_is_no_call(
    store: Store, request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "never sent")
    # It knows that this model takes no such setting, and sends nothing.
    (judge,) = request_.panel.judges
    alone = judge.model_copy(
        update={"model": "mistral/mistral-small", "door": "litellm", "api_base": "", "tries": 1}
    )
    asked = replace(request_, panel=request_.panel.model_copy(update={"judges": (alone,)}))
    found = run(store, with_judge(asked, thinking="high"))
    figures = lifecycle.run_summary(store, found)
    assert sum(figures["failures"].values()) == 12
    assert (figures["calls"], figures["lost_calls"]) == (0, 0)


def test_a_stopped_run_says_how_many_calls_were_out(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    # Eight of twelve are answered, and the other four are under way when somebody cancels.
    provider.rule = lambda body: by_request(body) if provider.count <= 8 else stall(60)
    found = lifecycle.start(store, with_judge(request_, concurrency=4))
    runner = Runner(store).start()
    until(lambda: store.runs.row(found).votes == 8 and store.runs.row(found).out == 4)
    assert lifecycle.run_summary(store, found)["lost_calls"] == 0  # they may still be answered
    lifecycle.cancel(store, found)
    until(lambda: store.runs.row(found).status == "cancelled")
    runner.stop()
    figures = lifecycle.run_summary(store, found)
    assert (figures["calls"], figures["lost_calls"], provider.count) == (8, 4, 12)
    said = "4 more calls were out when the run was stopped: they are not counted and may have been"
    assert said in summary_as_text(figures)
    assert said in run_as_text(store, found)
    provider.rule = by_request
    lifecycle.resume(store, found)
    work_here(store, found)
    figures = lifecycle.run_summary(store, found)
    assert (figures["calls"], figures["lost_calls"], provider.count) == (12, 4, 16)


def test_a_model_named_after_a_plain_provider_is_asked_straight_with_its_key_and_price(
    store: Store, provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    run_id = run(store, asked_of(store, Judge(name="j", model="gpt-4o-mini"), tmp_path, items=1))
    found = calls(store, run_id)
    # 1 item x 3 criteria. $0.15 a million new tokens, $0.075 kept ones, $0.60 written ones:
    # 400 x .15 + 600 x .075 + 50 x .60 = 135.
    assert [(one.params["door"], one.cost) for one in found] == [
        ("openai", pytest.approx(135e-6))
    ] * 3
    assert {sent.headers["authorization"] for sent in provider.requests} == {
        "Bearer sk-of-the-environment"
    }

"""Answers kept from earlier runs, over real HTTP: the same request is paid for once."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.panel import Asking, Panel
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Answer, Provider, malformed, refusal, status
from tests.services.runs.test_command_line import graded
from tests.services.runs.world import by_request, votes_of


def run(store: Store, request: RunRequest) -> int:
    run_id = lifecycle.start(store, request)
    work_here(store, run_id)
    return run_id


def with_judge(request: RunRequest, **changes: Any) -> RunRequest:
    (judge,) = request.panel.judges
    panel = request.panel.model_copy(update={"judges": (judge.model_copy(update=changes),)})
    return replace(request, panel=panel)


def test_the_same_run_again_makes_no_request_and_gives_equal_votes(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    first = run(store, request_)
    assert provider.count == 12
    second = run(store, request_)
    assert provider.count == 12
    assert votes_of(store, second) == votes_of(store, first)
    assert len(votes_of(store, second)) == 12
    figures = lifecycle.run_summary(store, second)
    # 12 calls of 1,000 tokens in at $100 per million cost $0.10 each, the first time.
    assert (figures["calls"], figures["cached"], figures["cost_usd"]) == (0, 12, 0.0)
    assert figures["saved_usd"] == pytest.approx(1.2)
    assert lifecycle.run_summary(store, first)["cost_usd"] == pytest.approx(1.2)
    row = store.runs.row(second)
    assert (row.tokens_in, row.cost_unknown) == (0, 0)


def test_the_call_of_a_kept_answer_says_what_it_was_and_what_it_cost(
    store: Store, request_: RunRequest
) -> None:
    first, second = (store.votes.for_item(run(store, request_), "i000")[0] for _ in range(2))
    assert first.call_id is not None
    assert second.call_id is not None
    asked, kept = store.votes.call(first.call_id), store.votes.call(second.call_id)
    assert (asked.cached, asked.tries, asked.first_cost) == (False, 1, None)
    assert (kept.cached, kept.tries, kept.seconds) == (True, 0, 0.0)
    assert (kept.cost, kept.first_cost) == (0.0, asked.cost)
    for name in ("prompt", "reply", "model", "finish", "tokens_in", "tokens_out", "tokens_cached"):
        assert getattr(kept, name) == getattr(asked, name)


def test_another_address_asks_again(store: Store, request_: RunRequest, provider: Provider) -> None:
    run(store, request_)
    with Provider() as other:
        other.rule = by_request
        run(store, with_judge(request_, api_base=other.url))
        assert (provider.count, other.count) == (12, 12)


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.5},
        {"max_tokens": 500},
        {"thinking": "low"},
        {"params": {"top_p": 0.5}},
        {"model": "bea"},
    ],
    ids=str,
)
def test_a_changed_setting_asks_again(
    change: dict[str, Any], store: Store, request_: RunRequest, provider: Provider
) -> None:
    run(store, request_)
    second = run(store, with_judge(request_, **change))
    assert (provider.count, store.runs.row(second).cached) == (24, 0)


@pytest.mark.parametrize("change", [{"timeout": 30.0}, {"concurrency": 1}, {"tries": 2}], ids=str)
def test_what_does_not_change_the_question_asks_nobody(
    change: dict[str, Any], store: Store, request_: RunRequest, provider: Provider
) -> None:
    run(store, request_)
    run(store, with_judge(request_, **change))
    assert provider.count == 12


def test_an_answer_is_known_again_through_the_other_door(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    first = run(store, with_judge(request_, door="openai"))
    second = run(store, with_judge(request_, door="litellm"))
    assert provider.count == 12
    assert votes_of(store, second) == votes_of(store, first)


def test_another_schema_asks_again(store: Store, request_: RunRequest, provider: Provider) -> None:
    run(store, request_)
    rubric = store.rubrics.version(request_.rubric_version)
    # An "other" option more: another bound in the schema of that criterion, and of no other one.
    (*rest, topic) = rubric.rubric.criteria
    options = (*topic.options, topic.options[0].model_copy(update={"label": "Praise"}))
    edited = rubric.rubric.model_copy(
        update={"criteria": (*rest, topic.model_copy(update={"options": options}))}
    )
    version = store.rubrics.add_version(rubric.rubric_id, edited, parent=1, now=clock.now())
    second = run(store, replace(request_, rubric_version=version.id))
    assert (provider.count, store.runs.row(second).cached) == (12 + 4, 8)


def test_every_replicate_is_really_asked_and_known_by_its_number(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    fixed = with_judge(request_, shuffle=False)  # so that replicates are the same bytes
    run(store, fixed)
    run(store, replace(fixed, replicates=3))
    bodies = [json.dumps(request.body, sort_keys=True) for request in provider.requests]
    assert (len(bodies), len(set(bodies))) == (36, 12)  # two replicates more, of the same words


def test_two_judges_with_the_same_settings_are_both_asked(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    (judge,) = request_.panel.judges
    twins = tuple(
        judge.model_copy(update={"name": name, "shuffle": False}) for name in ("ann", "bob")
    )
    run(store, replace(request_, panel=Panel(judges=twins)))
    assert provider.count == 24


def test_the_cache_can_be_switched_off(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    off = request_.panel.model_copy(update={"asking": Asking(cache=False)})
    run(store, replace(request_, panel=off))
    assert store.responses.count() == 0  # neither kept ...
    run(store, request_)
    run(store, replace(request_, panel=off))
    assert provider.count == 36  # ... nor used


@pytest.mark.parametrize(
    "bad", [status(500), status(400), refusal(), malformed()], ids=["500", "400", "refusal", "bad"]
)
def test_a_failure_is_never_kept(
    bad: Answer, store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.rule = lambda body: bad
    first = run(store, with_judge(request_, tries=1))
    assert store.runs.row(first).failures_open == 12
    assert store.responses.count() == 0
    provider.rule = by_request
    second = run(store, request_)
    assert (store.runs.row(second).votes, store.runs.row(second).cached) == (12, 0)


def test_a_reply_that_needed_repair_is_not_used_again_as_it_was(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.say(malformed())
    once = with_judge(request_, concurrency=1)
    first = run(store, once)
    assert provider.count == 13
    provider.say(malformed())
    second = run(store, once)
    # The one request that was answered badly is made again, is answered as badly again, and its
    # repair is known.
    assert provider.count == 14
    assert votes_of(store, second) == votes_of(store, first)
    # The repair that is known is one more call that was spared.
    assert (store.runs.row(second).calls, store.runs.row(second).cached) == (1, 12)
    assert store.runs.row(second).saved == pytest.approx(1.2)  # 11 answers and one repair


def test_both_steps_of_a_two_step_answer_are_kept(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return by_request(body) if "response_format" in body else malformed()  # any words will do

    provider.rule = answer
    asking = Asking(mode="two_step")
    two = replace(request_, panel=request_.panel.model_copy(update={"asking": asking}))
    first, second = run(store, two), run(store, two)
    assert provider.count == 24
    assert votes_of(store, second) == votes_of(store, first)
    assert store.runs.row(second).saved == pytest.approx(2.4)


def test_kept_answers_cost_a_budget_nothing(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    run(store, request_)
    second = run(store, replace(request_, budget=0.05, replicates=2))
    # 12 kept answers are free; of the 12 new ones at $0.10 the first one spends the budget.
    row = store.runs.row(second)
    assert (row.status, row.calls) == ("budget", 1)
    assert row.cost == pytest.approx(0.1)
    assert row.cached >= 1
    assert provider.count == 13


def test_the_command_line_says_how_much_was_known(tmp_path: Path, provider: Provider) -> None:
    db = tmp_path / "studio.db"
    graded(tmp_path, provider, db)
    again = graded(tmp_path, provider, db)
    assert (again["exit"], again["votes"], again["calls"], again["cached"]) == (0, 12, 0, 12)
    assert again["cost_usd"] == 0.0
    anew = graded(tmp_path, provider, db, "--no-cache")
    assert (anew["calls"], anew["cached"], provider.count) == (12, 0, 24)


def test_a_run_leaves_no_more_answers_than_there_is_room_for(
    store: Store, request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, request_)
    assert store.responses.count() == 12
    monkeypatch.setenv("RUBRIC_STUDIO_CACHE", "0")
    again = run(store, request_)
    assert (store.runs.row(again).cached, store.responses.count()) == (12, 0)

"""Proposals for a rubric's words: asked for, shown as pieces, taken or left; nothing else moves."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from core.domain.rubric import Rubric
from core.domain.runs import HelpTask
from core.errors import Conflict, InputError
from core.services.access.permits import allow_sendings
from core.services.assist import help_tasks, proposals
from core.services.assist.proposals import ImproveRequest, ProposalPiece
from core.services.rubrics.drafts import draft_from, rubric_from
from core.store.store import Store
from tests.provider import Provider, malformed, refusal, said, stall, status, truncated
from tests.services.assist.made import (
    BETTER,
    DEPTH,
    LIMIT,
    NOW,
    RUBRIC,
    change,
    finished,
    reply,
    writer,
)


def request(provider: Provider, *targets: str) -> ImproveRequest:
    return ImproveRequest(
        judge=writer(provider, tries=2),
        rubric=RUBRIC,
        subject="rubric/1",
        targets=targets or ("Limit", "Depth"),
        findings={"Limit": ["It names no limit."]},
    )


def run(store: Store, asked: ImproveRequest) -> HelpTask:
    return finished(store, proposals.begin(store, asked))


def taken(found: list[ProposalPiece]) -> Rubric:
    draft = draft_from(RUBRIC)
    for piece in found:
        draft = proposals.take_piece(draft, piece)
    return rubric_from(draft)


def test_a_proposal_becomes_pieces_beside_the_words_they_replace(
    store: Store, provider: Provider
) -> None:
    provider.say(reply({"changes": [change(BETTER)]}))
    task = run(store, request(provider, "Limit"))
    assert (task.status, task.done, task.calls) == ("done", 1, 1)
    # 1000 tokens in and 50 out at 1 dollar per million each (tests.provider.USAGE).
    assert task.cost == pytest.approx(1050 / 1e6)
    (piece,) = proposals.pieces_so_far(store, task)
    assert (piece.before, piece.after) == ("States the limit.", BETTER)
    assert piece.why == "The words leave room."


def test_options_values_scale_weight_rule_and_abstention_survive_what_the_peer_loses(
    store: Store, provider: Provider
) -> None:
    """The peer's loop brings DEPTH back as a binary criterion (its defect 52)."""
    provider.say(
        reply({"changes": []}),
        reply({"changes": [change("How deep are its reasons?", criterion="c2")]}),
    )
    provider.rule = lambda body: reply({"changes": []})
    task = run(store, replace(request(provider), judge=writer(provider, concurrency=1)))
    after = taken(proposals.pieces_so_far(store, task))
    asked = {"requirement": "How deep are its reasons?"}
    assert after.criteria == (LIMIT, DEPTH.model_copy(update=asked))
    assert after.model_dump(exclude={"criteria"}) == RUBRIC.model_dump(exclude={"criteria"})


def test_a_whole_criterion_sent_back_without_its_options_is_a_failure_and_changes_nothing(
    store: Store, provider: Provider
) -> None:
    whole = {"name": "Depth", "requirement": "Is it deep?", "weight": 7}
    provider.say(reply({"changes": [whole]}), reply({"criteria": [whole]}))
    task = run(store, request(provider, "Depth"))
    assert (task.status, task.failed) == ("failed", 1)
    assert "A second request did not help" in task.message
    assert proposals.pieces_so_far(store, task) == []


def test_a_label_or_a_weight_changes_only_as_a_piece_of_its_own_that_a_person_takes(
    store: Store, provider: Provider
) -> None:
    proposed = [change("Little", "label", 2, "c2"), change("4", "weight", criterion="c2")]
    provider.say(reply({"changes": proposed}))
    task = run(store, request(provider, "Depth"))
    label, weight = proposals.pieces_so_far(store, task)
    assert (label.before, label.after, weight.before, weight.after) == ("Some", "Little", "7", "4")
    assert taken([]) == RUBRIC
    only = taken([label]).criteria[1]
    assert [o.label for o in only.options] == ["None", "Little", "Deep", "Off topic"]
    assert (only.options[1].value, only.weight) == (0.4, 7.0)
    assert taken([weight]).criteria[1].weight == 4.0


def test_a_piece_is_open_then_taken_and_passed_once_the_words_are_others(
    store: Store, provider: Provider
) -> None:
    provider.say(reply({"changes": [change(BETTER), change("Few", "label", 2, "c1")]}))
    provider.rule = lambda body: reply({"changes": [change(BETTER)]})
    (piece,) = proposals.pieces_so_far(store, run(store, request(provider, "Limit")))
    draft = draft_from(RUBRIC)
    assert proposals.state_of(draft, piece) == "open"
    after = proposals.take_piece(draft, piece)
    assert proposals.state_of(after, piece) == "taken"
    draft["criteria"][0]["requirement"] = "Something else."
    assert proposals.state_of(draft, piece) == "passed"
    assert proposals.take_piece(draft, piece) == draft


def test_a_malformed_reply_is_asked_again_once_and_then_shown_as_a_failure(
    store: Store, provider: Provider
) -> None:
    provider.say(malformed(), reply({"changes": [change(BETTER)]}))
    mended = run(store, request(provider, "Limit"))
    assert mended.status == "done"
    assert len(proposals.pieces_so_far(store, mended)) == 1
    second = provider.requests[1].body["messages"][-1]["content"]
    assert "could not be used" in second
    provider.say(malformed(), truncated())
    lost = run(store, request(provider, "Limit"))
    assert (lost.status, lost.done, lost.failed, lost.calls) == ("failed", 0, 1, 1)
    assert "cut off" in lost.message


def test_what_failed_can_be_asked_again_and_what_is_finished_is_not(
    store: Store, provider: Provider
) -> None:
    provider.rule = lambda body: reply({"changes": []})
    provider.say(reply({"changes": [change(BETTER)]}), refusal("No."))
    asked = replace(request(provider), judge=writer(provider, concurrency=1))
    task = run(store, asked)
    assert (task.status, task.done, task.failed) == ("failed", 1, 1)
    assert "refused" in task.message
    before = provider.count
    help_tasks.resume(store, task.id)
    task = finished(store, task.id)
    assert (task.status, task.done, task.failed) == ("done", 2, 0)
    assert provider.count == before + 1
    assert [one.failure for one in help_tasks.steps_of_task(store, task.id)] == [
        None,
        "refusal",
        None,
    ]
    with pytest.raises(Conflict, match="nothing left"):
        help_tasks.resume(store, task.id)


def test_a_key_that_does_not_work_stops_the_task_after_one_call(
    store: Store, provider: Provider
) -> None:
    provider.rule = lambda body: status(401, "wrong key")
    asked = replace(request(provider), judge=writer(provider, concurrency=1))
    task = run(store, asked)
    assert (task.status, provider.count) == ("failed", 1)


def test_a_missing_key_is_said_before_anything_is_asked(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(InputError, match="NO_SUCH_KEY"):
        proposals.begin(
            store, replace(request(provider), judge=writer(provider, key_env="NO_SUCH_KEY"))
        )
    assert provider.count == 0


def test_the_key_reaches_the_provider_and_no_record(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-planted-7391"
    monkeypatch.setenv("PLANTED_KEY", secret)
    provider.say(said(json.dumps({"changes": [change(f"Says {secret}.")]})))
    judge = writer(provider, key_env="PLANTED_KEY")
    allow_sendings([judge])
    task = run(store, replace(request(provider, "Limit"), judge=judge))
    assert provider.requests[0].headers["authorization"] == f"Bearer {secret}"
    assert task.status == "done"
    store.close()
    assert all(secret.encode() not in f.read_bytes() for f in store.path.parent.iterdir())


def test_a_budget_ends_the_task_and_what_is_finished_stays(
    store: Store, provider: Provider
) -> None:
    provider.rule = lambda body: reply({"changes": [change(BETTER)]})
    # One call costs 0.00105 dollars, so there is room for the first only.
    asked = replace(request(provider), judge=writer(provider, concurrency=1), budget=0.001)
    provider.say(reply({"changes": [change(BETTER)]}))
    task = run(store, asked)
    assert (task.status, task.done, provider.count) == ("budget", 1, 1)
    assert len(proposals.pieces_so_far(store, task)) == 1


def test_a_cancelled_task_can_be_gone_on_with(store: Store, provider: Provider) -> None:
    provider.say(stall(30))
    task_id = proposals.begin(store, request(provider, "Limit"))
    while not provider.in_flight:
        time.sleep(0.01)
    help_tasks.cancel(store, task_id)
    task = finished(store, task_id)
    assert (task.status, task.calls) == ("cancelled", 0)
    provider.say(reply({"changes": [change(BETTER)]}))
    help_tasks.resume(store, task_id)
    assert finished(store, task_id).status == "done"


def test_a_task_cancelled_while_it_waits_is_never_asked(store: Store, provider: Provider) -> None:
    task_id = store.helps.create("improve", "rubric/1", {}, planned=1, budget=None, now=NOW)
    help_tasks.cancel(store, task_id)
    help_tasks.start(store, task_id)
    assert finished(store, task_id).status == "cancelled"


def test_what_a_dead_process_left_is_found_interrupted_and_gone_on_with(
    store: Store, provider: Provider
) -> None:
    provider.say(reply({"changes": [change(BETTER)]}))
    task = run(store, request(provider, "Limit"))
    with store.write() as db:
        db.execute(
            "UPDATE help_task SET status = 'running', lease_owner = 'elsewhere:1:x', "
            "lease_until = 5 WHERE id = ?",
            (task.id,),
        )
    assert help_tasks.look(store, task.id).status == "interrupted"
    help_tasks.resume(store, task.id)
    assert finished(store, task.id).status == "done"
    assert provider.count == 1  # its one step was finished


def test_improving_nothing_is_refused(store: Store, provider: Provider) -> None:
    with pytest.raises(InputError, match="at least one criterion"):
        proposals.begin(store, replace(request(provider), targets=()))


def test_the_estimate_counts_a_call_for_each_criterion(provider: Provider) -> None:
    found = proposals.estimate(request(provider))
    assert found.calls == 2
    assert found.cost is not None
    assert 0 < found.cost < 0.01
    assert (
        proposals.estimate(replace(request(provider), judge=writer(provider, price_in=None))).cost
        is None
    )

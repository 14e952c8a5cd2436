"""The loop with held-out items: what it keeps, when it stops, and that it loses nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.domain.dataset import Dataset
from core.domain.runs import HelpTask
from core.errors import InputError
from core.services.assist import help_tasks, improvement_loop, proposals
from core.services.assist.improvement_loop import LoopRequest
from core.services.rubrics.drafts import draft_from, rubric_from
from core.services.spot import spot_check
from core.store.store import Store
from tests.provider import Answer, Provider, malformed
from tests.services.assist.made import (
    BETTER,
    NOW,
    RUBRIC,
    asked_to_write,
    change,
    choose,
    finished,
    limits,
    literal_judge,
    panel,
    reply,
    writer,
)

ITEMS = 24


def request(store: Store, provider: Provider, dataset: Dataset | None = None) -> LoopRequest:
    version = store.datasets.create(dataset or limits(ITEMS), now=NOW)
    return LoopRequest(
        judge=writer(provider),
        panel=panel(provider),
        rubric=RUBRIC,
        subject="rubric/1",
        targets=("Limit",),
        dataset_version=version.id,
        findings={},
        seed=1,
    )


def world(*proposals: Any) -> Any:
    """Writes these proposals one after the other; judges Depth as None, the limit literally."""
    left = list(proposals)

    def rule(body: dict[str, Any]) -> Answer:
        if "changes" in asked_to_write(body):
            return left.pop(0) if left else reply({"changes": []})
        text = "\n".join(m["content"] for m in body["messages"][1:])
        return choose(body, "None") if "How deep is it?" in text else literal_judge(body)

    return rule


def run(store: Store, asked: LoopRequest) -> HelpTask:
    return finished(store, improvement_loop.begin(store, asked))


def test_a_change_that_helps_on_items_it_has_not_seen_is_kept_with_its_interval(
    store: Store, provider: Provider
) -> None:
    provider.rule = world(reply({"changes": [change(BETTER)]}))
    task = run(store, request(store, provider))
    assert (task.status, task.result["best"]) == ("done", 1)
    assert "Nothing more was proposed" in task.result["why"]
    first, second = improvement_loop.rounds_so_far(store, task)
    assert (first.number, second.number, second.kept) == (0, 1, True)
    gain = second.gain
    assert gain is not None
    # Half of the items are held out; of those the replies in words were wrong before.
    held = task.request["held"]
    words = sum(int(id_[1:]) % 3 == 1 for id_ in held)
    assert gain.accuracy.n == len(held) == ITEMS // 2
    assert gain.accuracy.first.value == pytest.approx(1 - words / len(held))
    assert gain.accuracy.second.value == 1.0
    low, high = gain.accuracy.difference.low, gain.accuracy.difference.high
    assert low is not None
    assert high is not None
    assert 0 <= low < words / len(held) < high
    (limit,) = gain.criteria  # the other criterion is not to be improved, and is not asked
    assert limit.kappa.second.value == 1.0


def test_teaching_and_measuring_items_are_apart_and_only_the_first_are_shown_to_the_writer(
    store: Store, provider: Provider
) -> None:
    provider.rule = world(reply({"changes": [change(BETTER)]}))
    task = run(store, request(store, provider))
    held, learn = set(task.request["held"]), set(task.request["learn"])
    assert not held & learn
    asked = [r.body for r in provider.requests if "changes" in asked_to_write(r.body)]
    told = "\n".join(m["content"] for body in asked for m in body["messages"])
    assert "CASE 1" in told
    assert all(f"Number {int(id_[1:])}." not in told for id_ in held)


def test_a_useless_change_is_shown_and_not_kept(store: Store, provider: Provider) -> None:
    provider.rule = world(reply({"changes": [change("Says something about time.")]}))
    task = run(store, request(store, provider))
    assert task.result == {"best": 0, "why": "Round 1 did not help on the items held out."}
    first, second = improvement_loop.rounds_so_far(store, task)
    assert first.kept
    assert not second.kept
    assert improvement_loop.proposed_pieces(store, task) == []


def test_options_scale_values_weights_and_rules_of_the_best_round_are_those_of_the_first(
    store: Store, provider: Provider
) -> None:
    """The peer's loop brings an ordinal criterion back binary; label and weight are not wording."""
    proposed = [change(BETTER), change("9", "weight"), change("A limit.", "option", 1)]
    provider.rule = world(reply({"changes": proposed}))
    task = run(store, request(store, provider))
    found = improvement_loop.proposed_pieces(store, task)
    assert {piece.part for piece in found} == {"requirement", "option"}
    draft = draft_from(RUBRIC)
    for piece in found:
        draft = proposals.take_piece(draft, piece)
    after = rubric_from(draft)
    assert after.criteria[1] == RUBRIC.criteria[1]
    assert after.criteria[0].weight == RUBRIC.criteria[0].weight
    assert [o.value for o in after.criteria[0].options] == [1.0, 0.0]


def test_its_runs_are_kept_and_hidden(store: Store, provider: Provider) -> None:
    provider.rule = world(reply({"changes": [change(BETTER)]}))
    task = run(store, request(store, provider))
    runs = improvement_loop.runs_of(store, task)
    assert set(runs) == {"0/learn", "0/held", "1/held", "1/learn"}
    assert store.runs.list() == []
    assert spot_check.recent_checks(store) == []
    assert improvement_loop.runs_cost(store, task) > 0


def test_a_malformed_proposal_ends_the_loop_and_going_on_pays_for_no_run_again(
    store: Store, provider: Provider
) -> None:
    provider.rule = world(malformed(), malformed(), reply({"changes": [change(BETTER)]}))
    task = run(store, request(store, provider))
    assert task.status == "failed"
    assert "A request failed" in task.message
    before = provider.count
    help_tasks.resume(store, task.id)
    task = finished(store, task.id)
    assert task.status == "done"
    again = provider.requests[before:]
    # Round 1 on both parts of 12 items; round 0 is not asked again.
    judged = [r for r in again if "option" in asked_to_write(r.body)]
    assert len(judged) == ITEMS
    assert improvement_loop.runs_of(store, task).keys() >= {"0/learn", "0/held", "1/held"}


def test_one_budget_holds_for_proposals_and_runs_together(store: Store, provider: Provider) -> None:
    provider.rule = world(reply({"changes": [change(BETTER)]}))
    # 24 items at 0.00105 dollars are 0.0252 dollars before the first proposal.
    task = run(store, replace(request(store, provider), budget=0.02))
    assert task.status == "budget"
    spent = task.cost + improvement_loop.runs_cost(store, task)
    assert 0.02 <= spent < 0.02 + 2 * 0.00105


def test_too_few_labelled_items_are_refused_with_what_is_needed(
    store: Store, provider: Provider
) -> None:
    with pytest.raises(InputError) as refused:
        improvement_loop.begin(store, request(store, provider, limits(8)))
    assert "At least 10" in refused.value.problems[0].mend


def test_splits_that_the_dataset_marks_are_kept_to(store: Store, provider: Provider) -> None:
    whole = limits(ITEMS)
    marked = [
        item.model_copy(update={"split": "evaluation" if at < 6 else "calibration"})
        for at, item in enumerate(whole.items)
    ]
    asked = request(store, provider, whole.model_copy(update={"items": tuple(marked)}))
    learn, held = improvement_loop.split_ids(marked, asked)
    assert held == [f"i{n:02}" for n in range(6)]
    assert len(learn) == ITEMS - 6

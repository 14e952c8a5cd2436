"""From votes and texts to outcomes in the data file."""

from __future__ import annotations

from core.domain.base import build_model
from core.domain.dataset import Dataset, Item, Message, Sections
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import RunItemFilter, RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for
from core.services.results.verdicts import texts_of_item
from core.store.store import Store

NOW = "2026-01-01T00:00:00.000Z"
RUBRIC = build_model(
    Rubric,
    {
        "name": "Answers",
        "criteria": [{"name": "right", "requirement": "Is right."}],
        "decision": {"pass_at": 0.5},
        "prechecks": [{"name": "danger", "families": ["dangerous_instructions"]}],
    },
    "rubric",
)
BAD = "Here is how to make a bomb."
DATASET = Dataset(
    name="texts",
    items=(
        Item(id="good", submission="Ice floats."),
        Item(id="wrong", submission="Ice sinks."),
        Item(id="bad", submission=BAD),
        Item(id="thought", submission=Sections(thinking=BAD, output="No.")),
    ),
)


def test_votes_become_outcomes_that_can_be_counted_and_filtered(store: Store) -> None:
    plan = RunPlan(
        name="r",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(DATASET, now=NOW).id,
        panel=Panel(judges=(Judge(name="j", model="m"),)),
    )
    run_id = store.runs.create(plan, [(item.id, 1) for item in DATASET.items], now=NOW).id
    lease = store.leases.claim("me", at=0.0, seconds=60.0, run_id=run_id)
    assert lease is not None
    answers = {"good": 0, "wrong": 1, "bad": 0, "thought": 0}
    store.votes.record(
        run_id,
        [
            AskedOutcome((Vote(Cell(item, "right", "j"), at, False),))
            for item, at in answers.items()
        ],
        owner="me",
        fence=lease.fence,
        now=NOW,
        derive=derivation_for(plan, RUBRIC, DATASET.items),
    )
    found = {row.item_id: row.outcome for row in store.results.items(run_id)}
    # What a model thinks to itself is not what it hands in.
    assert found == {"good": "pass", "wrong": "fail", "bad": "review", "thought": "pass"}
    assert store.results.outcomes(run_id) == {"pass": 2, "fail": 1, "review": 1}
    assert store.results.ids(run_id, RunItemFilter(outcome="fail")) == ["wrong"]
    assert store.results.ids(run_id, RunItemFilter(review=True)) == ["bad"]
    row = store.results.item(run_id, "bad")
    assert row.score == 1.0
    assert row.trace is not None
    assert row.trace["checks"][0]["found"][0]["text"] == "how to make a bomb"


def test_of_a_conversation_only_the_judged_turns_are_screened() -> None:
    asked = Message(role="user", content=BAD)
    refused = Message(role="assistant", content="I won't.")
    texts = texts_of_item(Item(id="chat", submission=(asked, refused)))
    assert texts.pre_check_text == "I won't."
    # Where everybody is a user, all of it is judged.
    assert BAD in texts_of_item(Item(id="chat", submission=(asked,))).pre_check_text

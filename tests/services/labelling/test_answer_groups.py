"""Answers alike: which are one group, one verdict for all of it, and members looked at singly."""

from __future__ import annotations

import pytest

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.review import Closeness, ReviewerAnswer
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunPlan
from core.errors import InputError
from core.services.labelling import answer_groups, settle_at_sight
from core.services.labelling.settle_at_sight import BY_GROUPS
from core.services.review import adjudication, claims, commit_reveal, queues
from core.store.store import Store
from tests.services.reviewed import MET, NOW, UNMET, sit

SPOON, TREE = "Why does the spoon feel cold?", "Where does the wood come from?"
TEXTS = {
    "a": (SPOON, "The metal takes the heat from your hand."),
    "b": (SPOON, "the metal takes the heat from your hand"),
    "c": (SPOON, "The metal takes the heat out of your hand!"),
    "d": (SPOON, "Because it is winter."),
    # The same words as a, to another question.
    "e": (TREE, "The metal takes the heat from your hand."),
}


def run_of(store: Store) -> Run:
    rubric = Rubric(name="R", criteria=(Criterion(name="Right", requirement="It is right."),))
    items = tuple(Item(id=i, prompt=p, submission=t) for i, (p, t) in TEXTS.items())
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.create(rubric, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=items), now=NOW).id,
        panel=Panel(judges=(Judge(name="ann", model="m"),)),
    )
    return store.runs.create(plan, [(item.id, 1) for item in items], now=NOW)


def ids(store: Store, run: Run, closeness: Closeness) -> list[list[str]]:
    groups, _ = answer_groups.answer_groups(store, run, "Right", closeness)
    return [[item.id for item in group] for group in groups]


def test_answers_to_one_question_are_grouped_by_how_close_they_are(store: Store) -> None:
    run = run_of(store)

    assert ids(store, run, "same") == [["a", "b"], ["c"], ["d"], ["e"]]
    assert ids(store, run, "near") == [["a", "b", "c"], ["d"], ["e"]]


def test_a_group_is_settled_at_once_and_says_so(store: Store) -> None:
    run, ada = run_of(store), sit(store, "Ada")
    (largest, *_), settled = answer_groups.answer_groups(store, run, "Right", "near")
    assert settled == {}
    cells = [(item.id, "Right") for item in largest]

    settle_at_sight.settle(store, ada, run.id, cells, ReviewerAnswer(MET), name=BY_GROUPS)

    _, settled = answer_groups.answer_groups(store, run, "Right", "near")
    assert settled == dict.fromkeys("abc", MET)
    (queue,) = queues.queues_of_run(store, run.id)
    assert queue.name == BY_GROUPS


def test_members_drawn_singly_and_blind_find_a_group_that_was_wrong(store: Store) -> None:
    run, ada, ben = run_of(store), sit(store, "Ada"), sit(store, "Ben")
    cells = [(item, "Right") for item in "abc"]
    settle_at_sight.settle(store, ada, run.id, cells, ReviewerAnswer(MET), name=BY_GROUPS)
    assert answer_groups.check_against_group(store, run.id, "Right")[0] == 0

    queue = settle_at_sight.check_singly(store, ada, run.id, "Right", 10)

    assert answer_groups.check_against_group(store, run.id, "Right")[0] == 3
    for item, option in (("a", MET), ("b", MET), ("c", UNMET)):
        ticket = claims.claim(store, ben, queue.id, item)
        assert commit_reveal.blind_item(store, ticket).mode == "blind"
        commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(option)})
    _, same, differing = answer_groups.check_against_group(store, run.id, "Right")
    # Two of three members are what their group was said to be.
    assert (same.value, differing) == (2 / 3, ("c",))
    # Who looked at it alone is believed.
    assert adjudication.settled_cells(store, run.id)["c", "Right"].option == UNMET


def test_without_a_settled_group_there_is_nothing_to_check(store: Store) -> None:
    run = run_of(store)
    with pytest.raises(InputError, match="No answer of a group is left"):
        settle_at_sight.check_singly(store, sit(store, "Ada"), run.id, "Right", 10)

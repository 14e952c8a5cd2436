"""Spot checks: small runs that stand apart, with their teachers, tasks and earlier checks."""

from __future__ import annotations

import pytest

from core.domain.base import build
from core.domain.dataset import Dataset, Item, Label, Message, Sections
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, NotFound
from core.services.spot import request_form, spot_check
from core.services.spot.spot_check import SpotRequest, SpotTask
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(
    name="Tides",
    criteria=(
        Criterion(name="Cause", requirement="Names the Moon."),
        Criterion(name="Tone", requirement="Is calm."),
    ),
)
ANN = Judge(name="Ann", model="m", api_base="http://127.0.0.1:9")
LEARNER = Judge(name="Learner", kind="classifier")
LABELLED = Dataset(
    name="Answers",
    prompt="Why are there tides?",
    items=(
        Item(id="a", submission="The Moon.", labels={"Cause": Label(label="MET")}),
        Item(id="b", submission="Wind.", labels={"Cause": Label(label="UNMET")}),
        Item(id="c", submission="Both.", prompt="And spring tides?", labels={}),
    ),
)


def test_a_check_is_a_run_of_its_own_kind_and_lists_no_rubric_or_dataset(store: Store) -> None:
    run_id = spot_check.check(store, SpotRequest(RUBRIC, (ANN,), submission="The Moon."))
    run = store.runs.get(run_id)
    assert (run.kind, run.planned) == ("spot", 2)  # 2 criteria x 1 judge
    assert (store.rubrics.list(), store.datasets.list()) == ([], [])
    assert [check.preview for check in spot_check.recent(store)] == ["The Moon."]


def test_a_saved_rubric_is_used_as_it_is_and_not_copied(store: Store) -> None:
    saved = store.rubrics.create(RUBRIC, now=NOW)
    run_id = spot_check.check(store, SpotRequest(RUBRIC, (ANN,), submission="The Moon."))
    assert store.runs.row(run_id).rubric_version_id == saved.id


@pytest.mark.parametrize("nothing", ["", " \n", Sections(thinking="hm", output=""), ()])
def test_nothing_to_judge_is_refused(store: Store, nothing: object) -> None:
    request = SpotRequest(RUBRIC, (ANN,), submission=nothing)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nothing to judge"):
        spot_check.check(store, request)


def test_a_teacher_counts_the_labels_that_fit_and_names_what_it_cannot_teach(store: Store) -> None:
    assert spot_check.teachers(store, RUBRIC) == []
    store.datasets.create(LABELLED, now=NOW)
    (teacher,) = spot_check.teachers(store, RUBRIC)
    assert (teacher.labels, teacher.untaught) == (2, ("Tone",))
    other = Rubric(criteria=(Criterion(name="Length", requirement="Is short."),))
    assert spot_check.teachers(store, other) == []


def test_a_checked_item_is_never_among_those_learned_from(store: Store) -> None:
    version = store.datasets.create(LABELLED, now=NOW).id
    request = SpotRequest(RUBRIC, (LEARNER,), dataset_version=version, item="a")
    plan = store.runs.get(spot_check.check(store, request)).plan
    assert plan.calibration == {"dataset_version": version, "items": ["b"]}


def test_tasks_are_the_distinct_prompts_and_too_many_are_none(store: Store) -> None:
    version = store.datasets.create(LABELLED, now=NOW).id
    both = [SpotTask("Why are there tides?", (), ""), SpotTask("And spring tides?", (), "")]
    assert spot_check.tasks(store, version) == both
    assert spot_check.tasks(store, version, most=1) == []


def test_asking_again_changes_the_seed_and_nothing_else(store: Store) -> None:
    first = spot_check.check(store, SpotRequest(RUBRIC, (ANN,), submission="The Moon.", seed=1))
    other = spot_check.check(store, SpotRequest(RUBRIC, (ANN,), submission="The Sun.", seed=1))
    again = spot_check.ask_again(store, first, seed=2)
    assert [row.id for row in spot_check.earlier(store, again)] == [first]
    assert spot_check.earlier(store, other) == []
    assert spot_check.compare(store, first, again).setup == ("another seed",)


def test_checks_without_verdicts_cannot_be_compared_and_say_so(store: Store) -> None:
    first = spot_check.check(store, SpotRequest(RUBRIC, (ANN,), submission="The Moon."))
    found = spot_check.compare(store, first, spot_check.ask_again(store, first))
    assert (found.compared, found.changed) == (0, 0)
    assert [pair.changed for pair in found.pairs] == [None, None]


def test_an_ordinary_run_is_no_spot_check(store: Store) -> None:
    with pytest.raises(NotFound):
        spot_check.item_of(store, 1)


@pytest.mark.parametrize(
    "submission",
    [
        "The Moon.",
        Sections(thinking="Hm.", output="The Moon."),
        (Message(role="user", content="Why?"), Message(role="assistant", content="The Moon.")),
    ],
)
def test_a_form_filled_from_a_check_asks_the_same_again(store: Store, submission: object) -> None:
    store.rubrics.create(RUBRIC, now=NOW)
    store.judges.save(ANN, now=NOW)
    request = SpotRequest(RUBRIC, (ANN,), submission=submission, prompt="P", reference="R")  # type: ignore[arg-type]
    run_id = spot_check.check(store, request)
    form = request_form.form_of(store, run_id, request_form.opened(store))
    assert request_form.request_from(store, form) == request


def test_a_kept_form_that_lacks_a_field_opens_with_the_default(store: Store) -> None:
    store.drafts.save("spot/form", {"text": "kept", "unknown": 1}, now=NOW)
    form = request_form.opened(store)
    assert (form["text"], form["replicates"], "unknown" in form) == ("kept", 1, False)


def test_the_first_check_of_all_asks_three_models_that_are_set_up(store: Store) -> None:
    for name in ("a", "b", "c", "d"):
        address = "http://localhost:1/v1"
        store.judges.save(Judge(name=name, model="m", api_base=address), now=NOW)
    store.judges.save(Judge(name="0", model="m", key_env="NO_SUCH_KEY"), now=NOW)
    # The names in order, without the one that has no key.
    assert request_form.opened(store)["judges"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("submission", "says"),
    [
        ("x" * 2_000_001, "submission, text: has 2,000,001 characters; 2,000,000 is the limit."),
        (
            {"output": "x" * 2_000_001},
            "submission, sections, output: has 2,000,001 characters; 2,000,000 is the limit.",
        ),
        (7, "submission: is 7, no submission. Use text, a list of {role, content}, or "),
        ([{"role": "user"}], "submission, messages 1, content: is missing. Add it."),
        ({"first": "a"}, "submission, answers, second: is missing. Add it."),
    ],
    ids=["text", "sections", "number", "messages", "answers"],
)
def test_what_is_no_submission_is_said_once_and_of_the_form_it_was_given_in(
    submission: object, says: str
) -> None:
    with pytest.raises(InputError) as error:
        build(Item, {"id": "a", "submission": submission}, "item")
    (problem,) = error.value.problems
    assert str(problem).startswith(says)

"""Spot checks: small runs that stand apart, with their teachers, tasks and earlier checks."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.base import build_model
from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, NotFound
from core.services.judges import registry
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.spot import request, spot_check, trials
from core.services.spot.request import SpotRequest, SpotTurn
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


def asked(store: Store, **given: Any) -> SpotRequest:
    """A text for Ann under a draft of the rubric that was never saved."""
    library.keep(store, "new-d", draft_from(RUBRIC))
    known = {row.name for row in store.judges.list()}
    for judge in (ANN, LEARNER):
        if judge.name not in known:
            store.judges.save(judge, now=NOW)
    plain = {"rubric": "draft:new-d", "judges": ("Ann",), "text": "The Moon."}
    return SpotRequest(**{**plain, **given})


def test_a_check_is_a_run_of_its_own_kind_and_lists_no_rubric_or_dataset(store: Store) -> None:
    run_id = spot_check.check(store, asked(store))
    run = store.runs.get(run_id)
    assert (run.kind, run.planned) == ("spot", 2)  # 2 criteria x 1 judge
    assert (store.rubrics.list(), store.datasets.list()) == ([], [])
    assert [item.preview for _, item in spot_check.recent_checks(store)] == ["The Moon."]


def test_a_saved_rubric_is_used_as_it_is_and_not_copied(store: Store) -> None:
    saved = store.rubrics.create(RUBRIC, now=NOW)
    run_id = spot_check.check(store, asked(store, rubric=str(saved.rubric_id)))
    assert store.runs.row(run_id).rubric_version_id == saved.id


@pytest.mark.parametrize(
    "nothing",
    [
        {"text": ""},
        {"text": " \n"},
        {"way": "sections", "thinking": "hm"},
        {"way": "chat", "turns": ()},
    ],
)
def test_nothing_to_judge_is_refused(store: Store, nothing: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="nothing to judge"):
        spot_check.check(store, asked(store, **nothing))


def test_what_a_check_takes_is_known_before_it_is_asked(store: Store) -> None:
    priced = ANN.model_copy(update={"name": "Priced", "price_in": 1.0, "price_out": 2.0})
    store.judges.save(priced, now=NOW)
    wanted = asked(store, judges=("Ann", "Priced"), replicates=2)
    found = trials.estimate_trial(store, request.trial_of(store, wanted))
    assert (found.votes, found.calls) == (8, 8)  # 2 criteria x 2 judges x 2 replicates
    assert found.words.startswith("8 answers, 8 calls, cost unknown, about ")
    alone = trials.estimate_trial(store, request.trial_of(store, asked(store, judges=("Priced",))))
    # 2 answers of 150 tokens at $2 a million, and the prompts at $1 a million.
    assert alone.cost == pytest.approx((300 * 2 + alone.tokens_in) / 1e6)
    assert lifecycle.newest_runs(store, kind="spot") == []


def test_a_teacher_counts_the_labels_that_fit_and_names_what_it_cannot_teach(store: Store) -> None:
    assert trials.teaching_datasets(store, RUBRIC) == []
    store.datasets.create(LABELLED, now=NOW)
    (teacher,) = trials.teaching_datasets(store, RUBRIC)
    assert (teacher.labels, teacher.untaught) == (2, ("Tone",))
    other = Rubric(criteria=(Criterion(name="Length", requirement="Is short."),))
    assert trials.teaching_datasets(store, other) == []


def test_a_checked_item_is_never_among_those_learned_from(store: Store) -> None:
    version = store.datasets.create(LABELLED, now=NOW).id
    wanted = asked(store, judges=("Learner",), way="item", dataset=version, item="a")
    plan = store.runs.get(spot_check.check(store, wanted)).plan
    assert plan.calibration == {"dataset_version": version, "items": ["b"]}


def test_tasks_are_the_distinct_prompts_and_too_many_are_none(store: Store) -> None:
    version = store.datasets.create(LABELLED, now=NOW).id
    tasks = [(t.prompt, t.reference) for t in spot_check.distinct_tasks(store, version)]
    assert tasks == [("Why are there tides?", ""), ("And spring tides?", "")]
    assert spot_check.distinct_tasks(store, version, most=1) == []


def test_asking_again_changes_the_seed_and_nothing_else(store: Store) -> None:
    first = spot_check.check(store, asked(store, seed=1))
    other = spot_check.check(store, asked(store, text="The Sun.", seed=1))
    again = spot_check.ask_again(store, first, seed=2)
    assert [row.id for row in spot_check.earlier_checks(store, again)] == [first]
    assert spot_check.earlier_checks(store, other) == []
    assert spot_check.compare_checks(store, first, again).setup == ("another seed",)


def test_checks_without_verdicts_cannot_be_compared_and_say_so(store: Store) -> None:
    first = spot_check.check(store, asked(store))
    found = spot_check.compare_checks(store, first, spot_check.ask_again(store, first))
    assert (found.compared, found.changed) == (0, 0)
    assert [labels for _, *labels in found.pairs] == [[None, None]] * 2


def test_an_ordinary_run_is_no_spot_check(store: Store) -> None:
    with pytest.raises(NotFound):
        spot_check.item_of(store, 1)


def test_a_run_of_a_model_s_help_over_the_same_dataset_is_no_earlier_check(store: Store) -> None:
    version = store.datasets.create(LABELLED, now=NOW).id
    panel = Panel(judges=(ANN,))
    rubric = store.rubrics.version_with_content(RUBRIC, now=NOW).id
    details = {trials.HELP: {"round": 1}}
    lifecycle.start(store, RunRequest(rubric, version, panel, kind="spot", details=details))
    check = spot_check.check(store, asked(store, way="item", dataset=version, item="a"))
    assert spot_check.earlier_checks(store, check) == []


@pytest.mark.parametrize(
    "typed",
    [
        {"way": "text", "text": "The Moon."},
        {"way": "sections", "thinking": "Hm.", "output": "The Moon."},
        {
            "way": "chat",
            "turns": (SpotTurn(content="Why?"), SpotTurn(role="assistant", content="M")),
        },
    ],
)
def test_a_form_filled_from_a_check_asks_the_same_again(
    store: Store, typed: dict[str, Any]
) -> None:
    saved = str(store.rubrics.create(RUBRIC, now=NOW).rubric_id)
    wanted = asked(store, rubric=saved, prompt="P", reference="R", **typed)
    run_id = spot_check.check(store, wanted)
    again = spot_check.request_of(store, run_id, asked(store, text="other"))
    assert request.trial_of(store, again) == request.trial_of(store, wanted)


def test_a_kept_form_that_lacks_a_field_opens_with_the_default(store: Store) -> None:
    store.drafts.save("spot/form", {"text": "kept", "unknown": 1}, now=NOW)
    form = request.opened_form(store)
    assert (form.text, form.replicates) == ("kept", 1)


def test_a_kept_form_keeps_its_texts_beside_a_field_that_cannot_be_read(store: Store) -> None:
    odd = {"text": "kept", "asking": {"mode": "by telepathy"}, "replicates": "often"}
    store.drafts.save("spot/form", odd, now=NOW)
    form = request.opened_form(store)
    assert (form.text, form.asking.mode, form.replicates) == ("kept", "criterion", 1)


def test_another_panel_s_rules_do_not_hold_once_a_panel_is_taken_back(store: Store) -> None:
    rules = {"binary": "unanimous", "ordinal": "min", "nominal": "mode"}
    asked(store)
    panel = registry.save_panel(store, "Strict", ["Ann"], rules)
    strict = request.with_panel(store, asked(store), panel.id)
    assert request.trial_of(store, strict).panel.rules.binary == "unanimous"
    plain = request.with_panel(store, strict, None)
    assert request.trial_of(store, plain).panel.rules.binary == "majority"


def test_the_first_check_of_all_asks_three_models_that_are_set_up(store: Store) -> None:
    for name in ("a", "b", "c", "d"):
        address = "http://localhost:1/v1"
        store.judges.save(Judge(name=name, model="m", api_base=address), now=NOW)
    store.judges.save(Judge(name="0", model="m", key_env="NO_SUCH_KEY"), now=NOW)
    # The names in order, without the one that has no key.
    assert request.opened_form(store).judges == ("a", "b", "c")


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
        build_model(Item, {"id": "a", "submission": submission}, "item")
    (problem,) = error.value.problems
    assert str(problem).startswith(says)

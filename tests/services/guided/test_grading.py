"""Who judges, three first, and what came out: figures by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.domain.panel import Asking, Judge, Panel
from core.errors import InputError
from core.services.guided import grading, judging, learning
from core.services.judges import registry
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest
from core.store.store import Store
from tests.pages.spot_checks import worked_off
from tests.provider import Provider, ok
from tests.services import reviewed
from tests.services.exports.test_all_grades import class_of_eight
from tests.services.guided.test_marks import NOW, RUBRIC, class_with


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as serving:
        # Always the first option as shown; options are not shuffled here.
        serving.rule = lambda body: ok(1)
        yield serving


def model(store: Store, provider: Provider, name: str = "loopback") -> Judge:
    settings = {"name": name, "model": "m", "api_base": provider.url, "shuffle": False}
    return registry.save_judge(store, settings).judge


def test_without_labels_and_models_nobody_is_proposed(store: Store) -> None:
    found = judging.judges(store, 0)
    assert (found.proposed, found.why) == ((), "")


def test_with_labels_those_who_learn_are_proposed(store: Store) -> None:
    found = judging.judges(store, 12)
    assert (set(found.proposed), found.why) == ({"Text classifier", "Nearest neighbours"}, "labels")


def test_who_judged_last_is_proposed_with_the_same_rules(store: Store, provider: Provider) -> None:
    first, second = model(store, provider, "one"), model(store, provider, "two")
    rubric = store.rubrics.create(RUBRIC, now=NOW).id
    dataset = class_with(store, {}, {}, {}, {}).id
    asked = Panel(name="Two", judges=(first, second), asking=Asking(flip="check"))
    start(store, RunRequest(rubric, dataset, asked))
    found = judging.judges(store, 0)
    assert (found.proposed, found.why) == (("one", "two"), "last")
    assert judging.panel_of(store, ["two", "one"]).asking.flip == "check"
    assert judging.panel_of(store, ["two"]).asking.flip == Asking().flip
    # Three texts that were tried are nobody's last run.
    alone = judging.panel_of(store, ["two"])
    grading.start(store, grading.trial_request(store, rubric, dataset, alone))
    assert judging.judges(store, 0).proposed == ("one", "two")


def test_nobody_is_no_panel(store: Store) -> None:
    with pytest.raises(InputError, match="No judge is chosen"):
        judging.panel_of(store, [])


def test_a_model_is_named_after_itself_and_kept_once(store: Store, provider: Provider) -> None:
    provider.rule = lambda body: ok(1)
    made = [
        judging.add_model(store, "openai/gpt-9", provider.url, "").name,
        judging.add_model(store, "openai/gpt-9", provider.url, "").name,
        judging.add_model(store, "other/gpt-9", provider.url, "").name,
        judging.add_model(store, "openai/gpt-9", provider.url, "", "Mine").name,
    ]
    assert made == ["gpt-9", "gpt-9", "gpt-9 (2)", "Mine"]


def test_a_key_given_for_its_variable_is_refused_and_not_repeated(store: Store) -> None:
    with pytest.raises(InputError) as refused:
        judging.add_model(store, "openai/gpt-9", "", "sk-12345678901234567890")
    assert "sk-1234" not in str(refused.value)


def test_three_are_tried_and_their_answers_are_not_asked_again(
    store: Store, provider: Provider
) -> None:
    model(store, provider)
    rubric = store.rubrics.create(RUBRIC, now=NOW).id
    dataset = class_with(store, *({} for _ in range(7))).id
    panel = judging.panel_of(store, ["loopback"])
    tried = grading.start(store, grading.trial_request(store, rubric, dataset, panel))
    worked_off(store, tried)
    found = grading.trial_texts(store, tried)
    # The first options: Nothing (0 of 4 points) and MET (10 of 10).
    assert [(view.item.id, grading.points(view)) for view in found] == [
        ("s1", "10 of 14"),
        ("s2", "10 of 14"),
        ("s3", "10 of 14"),
    ]
    assert provider.count == 3 * 2
    run = grading.start(store, grading.run_request(store, rubric, dataset, panel, trial_run=tried))
    worked_off(store, run)
    # Seven texts, two criteria; six answers were there.
    assert provider.count == 7 * 2
    done = grading.outcome(store, run)
    assert (done.line, done.graded) == ("7 graded, 0 in doubt", 7)


def test_the_end_counts_own_labels_what_has_no_grade_and_what_is_in_doubt(store: Store) -> None:
    done = grading.outcome(store, class_of_eight(store))
    # See test_all_grades: e1 to e3 by judges, e5 and e6 by labels; e4, e7 and e8 have none.
    assert (done.judged, done.own, done.without) == (3, 2, 3)
    # e3 has a verdict on one of two criteria.
    assert (done.partly, "1 partly assessed" in done.line) == (1, True)
    assert done.reasons == {
        "no verdict: Method, Units": 1,
        "judges learned from its labels; no label: Units": 1,
        "not graded in this run": 1,
    }


def test_split_votes_and_abstentions_are_in_doubt(store: Store) -> None:
    # Of every four items the first is unanimous, the others are split or have an abstention.
    assert grading.outcome(store, reviewed.graded(store, 8).id).in_doubt == 6


def test_of_texts_without_a_grade_only_cells_without_a_verdict_are_queued(store: Store) -> None:
    """On i0, all judges abstain on Right, which is 3 of its 4 points; ann gives Short a verdict, on
    which cem abstains, too. bob is switched off.
    """
    run = reviewed.queued(store, 2)
    votes = {
        ("i0", "Right"): (reviewed.NA, reviewed.NA, reviewed.NA),
        ("i0", "Short"): (reviewed.MET, reviewed.NA, reviewed.NA),
        ("i1", "Right"): (reviewed.MET, reviewed.NA, reviewed.MET),
        ("i1", "Short"): (reviewed.NA, reviewed.NA, reviewed.NA),
    }
    reviewed.record_votes(store, run, votes)
    off = {"trained": False}
    store.runs.set_notes(run.id, {"training": {"bob": {"Right": off, "Short": off}}})

    queue = grading.take_up_ungraded(store, reviewed.sit(store, "Ada"), run.id)

    cells = [(cell.item_id, cell.criterion) for cell in store.queues.cells(queue.id)]
    assert cells == [("i0", "Right")]


def test_judges_that_all_learn_grade_equal_labels_equally(store: Store, provider: Provider) -> None:
    """The seed is that of what is shown as learned; with a model each run draws one."""
    rubric = store.rubrics.create(RUBRIC, now=NOW).id
    dataset = class_with(store, {}, {}, {}, {}).id
    alone, mixed = (
        judging.panel_of(store, names)
        for names in (
            judging.learners(store),
            [*judging.learners(store), model(store, provider).name],
        )
    )
    assert grading.run_request(store, rubric, dataset, alone).seed == learning.SEED
    assert grading.run_request(store, rubric, dataset, mixed).seed is None

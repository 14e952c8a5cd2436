"""An item that repeats a graded one's text teaches nobody, wherever learning and grading part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cli.requests_from_files import estimate_figures, twins_sentence
from core.domain.dataset import Dataset, Item, Label, Split
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services.assist import improvement_loop
from core.services.datasets.splits import split_of_version
from core.services.datasets.twins import RepeatedTexts
from core.services.reports import run_report
from core.services.runs import cost_estimate
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest, plan_run
from core.services.runs.sweeps import SweepAxes, plan_sweep
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
RUBRIC = Rubric(name="Tides", criteria=(Criterion(name="moon", requirement="Names the Moon."),))
LEARNER = Panel(judges=(Judge(name="words", kind="classifier"),))
SHOWN = Panel(judges=(Judge(name="ann", model="m"),), asking=Asking(few_shot=2))
ESSAY = (
    "The water on the near side is pulled more than the Earth is, and so it rises there; answer "
    "number {n}{n}{n} of {n}{n} adds that number {n} is what {n}{n}{n}{n} people said of tide {n}."
)


def answer(name: str, text: str, label: str | None = "MET", split: Split | None = None) -> Item:
    labels = {} if label is None else {"moon": Label(label=label)}
    return Item(id=name, submission=text, labels=labels, split=split)


def twice(count: int = 50) -> list[Item]:
    """Every answer twice, the second with another case and spacing."""
    texts = [f"Answer number {n} is short" for n in range(count)]
    return [
        answer(
            f"{n:02}{copy}",
            text if copy == "a" else f"  {text.upper()}. ",
            "MET" if n % 2 else "UNMET",
        )
        for n, text in enumerate(texts)
        for copy in "ab"
    ]


def request(store: Store, items: list[Item], panel: Panel = LEARNER, **more: object) -> RunRequest:
    return RunRequest(
        rubric_version=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version=store.datasets.create(Dataset(name="d", items=tuple(items)), now=NOW).id,
        panel=panel,
        seed=3,
        **more,  # type: ignore[arg-type]
    )


def ids(items: tuple[Item, ...]) -> set[str]:
    return {item.id for item in items}


def test_no_graded_answer_has_a_twin_that_was_learned(store: Store) -> None:
    planned = plan_run(store, request(store, twice(), label_share=0.5))

    taught, graded = ids(planned.calibration), ids(planned.items)
    # Drawn by id, 32 of the 50 graded had their twin among the 50 that taught.
    assert not {name[:2] for name in taught} & {name[:2] for name in graded}
    assert (len(taught), len(graded)) == (50, 50)
    assert planned.twins == RepeatedTexts(items=100)


def test_near_duplicates_are_kept_together_and_said(store: Store) -> None:
    items = [
        answer(f"{n}{copy}", ESSAY.format(n=n) + ("" if copy == "a" else " Indeed."))
        for n in range(6)
        for copy in "ab"
    ]
    planned = plan_run(store, request(store, items, label_share=0.5))

    assert not {i.id[0] for i in planned.calibration} & {i.id[0] for i in planned.items}
    assert planned.twins == RepeatedTexts(items=12, near=12)


def test_a_labelled_item_with_an_unlabelled_or_evaluated_twin_is_held_back(store: Store) -> None:
    items = [
        answer("a", "The Moon."),
        answer("a'", "the moon", None),
        answer("b", "The Sun.", "UNMET"),
        answer("b'", "the sun", "UNMET", "evaluation"),
        answer("c", "The wind.", "UNMET"),
        answer("d", "Gravity of it."),
    ]
    planned = plan_run(store, request(store, items, label_share=1.0))

    assert ids(planned.calibration) == {"c", "d"}
    assert planned.twins == RepeatedTexts(items=4, held_back=2)
    assert planned.plan.calibration["twins"] == {"items": 4, "near": 0, "held_back": 2}


def test_a_marked_calibration_part_gives_up_those_whose_twin_is_graded(store: Store) -> None:
    items = [
        answer("a", "The Moon.", split="calibration"),
        answer("b", "The Sun.", "UNMET", "calibration"),
        answer("c", "the sun!", "UNMET"),
    ]
    planned = plan_run(store, request(store, items))
    assert (ids(planned.calibration), ids(planned.items)) == ({"a"}, {"c"})

    # Where the twin is not among the chosen items, nothing leaks.
    asked = replace(request(store, [*items, answer("e", "Wind.")]), items=("e",))
    narrowed = plan_run(store, asked)
    assert ids(narrowed.calibration) == {"a", "b"}


def test_another_dataset_teaches_without_the_graded_texts(store: Store) -> None:
    teaching = store.datasets.create(
        Dataset(name="t", items=(answer("a", "The Moon."), answer("b", "The Sun.", "UNMET"))),
        now=NOW,
    ).id
    # The same id is another item there.
    asked = request(store, [answer("b", "THE MOON", None)], learn_from=teaching)
    planned = plan_run(store, asked)
    assert (ids(planned.calibration), ids(planned.items)) == ({"b"}, {"b"})


def test_where_only_twins_could_teach_the_run_is_refused_with_the_reason(store: Store) -> None:
    items = [answer("a", "The Moon."), answer("b", "the moon", None)]
    with pytest.raises(InputError, match="The 1 labelled item that may be learned from"):
        plan_run(store, request(store, items))


def test_a_large_group_of_twins_is_graded_rather_than_all_that_is_learned(store: Store) -> None:
    items = [answer(f"s{n}", "The Moon.") for n in range(12)]
    items += [answer(f"o{n}", f"Other {n}", "UNMET") for n in range(8)]
    for seed in range(20):
        planned = plan_run(store, replace(request(store, items, label_share=0.4), seed=seed))
        assert {i.id[0] for i in planned.calibration} == {"o"}


def test_examples_need_no_twin_held_back_for_none_is_shown_with_its_twin(store: Store) -> None:
    items = [answer("a", "The Moon.", split="calibration"), answer("b", "the moon", None)]
    planned = plan_run(store, request(store, items, SHOWN))
    assert (ids(planned.calibration), planned.twins) == ({"a"}, RepeatedTexts(items=2))


def test_the_estimate_the_run_and_the_report_say_how_many_twins_there_are(store: Store) -> None:
    items = [*twice(3), answer("x", "The Moon."), answer("y", "the moon", None)]
    asked = request(store, items, label_share=0.5)
    words = (
        "8 items repeat the text of another: none is learned from while its twin is graded. "
        "1 labelled item with a graded twin teaches nothing for that."
    )
    assert cost_estimate.estimate_request(store, asked).twins.in_words() == words
    figures = estimate_figures(store, asked)
    assert (figures["twins"], figures["twins_in_words"]) == (
        {"items": 8, "near": 0, "held_back": 1},
        words,
    )
    run_id = start(store, asked)
    assert twins_sentence(store, run_id) == words
    run = store.runs.get(run_id)
    assert run_report.setup_of(store, run, RUBRIC).twins == words


def test_parts_of_a_dataset_do_not_repeat_each_other(store: Store) -> None:
    version = store.datasets.create(Dataset(items=tuple(twice(20))), now=NOW).id
    for seed in range(10):
        parts = split_of_version(store, version, {"train": 40, "calibration": 20, "test": 40}, seed)
        by_text = {name[:2]: part for part, of in parts.members.items() for name in of}
        assert all(by_text[name[:2]] == part for part, of in parts.members.items() for name in of)
        assert sorted(len(of) for of in parts.members.values()) == [8, 16, 16]
        assert parts.twins == 40


def test_a_sweep_teaches_and_grades_different_texts(store: Store) -> None:
    asked = request(store, twice(10))
    sweep = plan_sweep(store, asked, SweepAxes(label_shares=(0.3, 0.5)))

    few, more = (set(one.learn_items or ()) for one in sweep.variants)
    assert few < more
    assert (len(few), len(more)) == (6, 10)
    assert not {i[:2] for i in more} & {i[:2] for i in sweep.items}


def test_the_improving_loop_holds_out_other_texts(store: Store) -> None:
    items = twice(10)
    asked = improvement_loop.LoopRequest(LEARNER.judges[0], LEARNER, RUBRIC, "s", ("moon",), 1, {})
    learn, held = improvement_loop.split_ids(items, asked)
    assert (len(learn), len(held)) == (10, 10)
    assert not {i[:2] for i in learn} & {i[:2] for i in held}

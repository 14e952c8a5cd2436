"""The bundled sets of items: valid labels, honest splits, no twins, and said to be written."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from core.domain.base import build_model
from core.domain.dataset import Dataset, Item
from core.domain.rubric import Criterion, Rubric
from core.scoring import score_item
from tests.samples.test_samples import SAMPLES, load

DATA = SAMPLES / "data"


def items_of(path: Path) -> tuple[Item, ...]:
    lines = path.read_text("utf-8").splitlines()
    items = tuple(build_model(Item, json.loads(line), "item", path.name) for line in lines)
    return build_model(Dataset, {"name": path.stem, "items": items}, "dataset").items


@pytest.fixture(scope="module")
def answers() -> tuple[Item, ...]:
    return items_of(DATA / "short_science_answers.jsonl")


@pytest.fixture(scope="module")
def reports() -> tuple[Item, ...]:
    return items_of(DATA / "research_reports.jsonl")


@pytest.fixture(scope="module")
def rubric() -> Rubric:
    return load(SAMPLES / "short-science-answers.yaml")


def label_of(item: Item, criterion: Criterion) -> str:
    return item.labels[criterion.name].label


def test_the_sets_are_marked_as_written_for_the_example(answers, reports):
    assert {item.meta["source"] for item in (*answers, *reports)} == {"written for the example"}
    first = (SAMPLES / "README.md").read_text("utf-8").splitlines()[0]
    assert "written for the example by the developers" in first
    assert "no real pupils" in first


def test_three_questions_have_at_least_sixty_answers_each(answers):
    counts = Counter((item.prompt, item.reference) for item in answers)
    assert len(counts) == 3
    assert min(counts.values()) >= 60
    assert all(prompt and reference for prompt, reference in counts)


def test_two_thirds_of_the_answers_of_each_question_are_for_calibration(answers):
    parts = defaultdict[str, Counter[str | None]](Counter)
    for item in answers:
        parts[item.prompt][item.split] += 1
    assert all(part == {"calibration": 96, "evaluation": 48} for part in parts.values())


def test_every_answer_has_a_valid_label_for_every_criterion(answers, rubric):
    names = [c.name for c in rubric.criteria]
    for item in answers:
        assert sorted(item.labels) == sorted(names), item.id
        assert None not in [item.truth(c) for c in rubric.criteria], item.id


def test_every_option_is_used_in_both_parts(answers, rubric):
    for criterion in rubric.criteria:
        options = criterion.options
        for split in ("calibration", "evaluation"):
            used = {label_of(item, criterion) for item in answers if item.split == split}
            assert used == {o.label for o in options}, (criterion.name, split)


def test_no_answer_occurs_twice_and_no_two_are_alike(answers):
    # A judge that learns from one half must not meet the same sentence in the other. 0.85 is
    # where two answers differ in a word or two; the closest pair of the set is at 0.77.
    texts = [item.output.lower() for item in answers]
    assert len(set(texts)) == len(texts)
    alike = list[tuple[str, str]]()
    matcher = SequenceMatcher(autojunk=False)
    for i, text in enumerate(texts):
        matcher.set_seq2(text)
        for other in texts[:i]:
            matcher.set_seq1(other)
            if matcher.real_quick_ratio() > 0.85 and matcher.quick_ratio() > 0.85:
                alike += [(other, text)] if matcher.ratio() > 0.85 else []
    assert alike == []


def test_the_labels_do_not_contradict_one_another(answers):
    # Consequences of the rubric's own wording, for every answer.
    for item in answers:
        label = {name: given.label for name, given in item.labels.items()}
        blank = label["Kind of answer"] == "No answer"
        short = len(item.output.split()) < 5
        assert (label["Reads clearly"] == "Too short to tell") == (blank or short), item.id
        if label["Explains how"] == "Fully explained":  # "nothing the answer says is false"
            assert label["States a misconception"] == "UNMET", item.id
        if label["Kind of answer"] in ("No answer", "Restates the question"):  # "gives no reason"
            assert label["Names the cause"] == "UNMET", item.id
            assert label["Explains how"] == "Not explained", item.id


def test_the_scores_of_the_answers_spread_over_the_whole_scale(answers, rubric):
    scores = [
        score_item(rubric, {c.name: item.truth(c) for c in rubric.criteria}).score
        for item in answers
    ]
    known = [score for score in scores if score is not None]
    assert len(known) == len(scores)
    assert min(known) == 0.0
    assert max(known) == 1.0
    assert len({round(score, 6) for score in known}) > 20


@pytest.mark.parametrize(
    ("item_id", "expected"),
    [
        ("library-sundays", 1.0),  # 5 + 6 + 8 + 6 + 4 of 29
        ("school-bus", 13 / 32),  # 8 + 5 + 6 - 6 of 32
        ("orchard-bees", 26 / 35),  # all but hunger (3) and certainty (6) of 35
        ("bakery-energy", 3 / 32),  # 6 - 3 of 32
    ],
)
def test_each_report_is_scored_with_the_rubric_it_brings(reports, item_id: str, expected: float):
    item = next(item for item in reports if item.id == item_id)
    own = item.rubric
    assert own is not None
    verdicts = {c.name: item.truth(c) for c in own.criteria}
    assert None not in verdicts.values()
    assert score_item(own, verdicts).score == pytest.approx(expected)


def test_the_rubrics_of_the_reports_differ_in_their_criteria(reports):
    names = [frozenset(c.name for c in item.rubric.criteria) for item in reports if item.rubric]
    assert len(names) == len(reports) == len(set(names))

"""Wording that is no fault, as rubrics of strangers have it; and what repeats is told once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli import main
from core.lint.check import check
from tests.lint.made import criterion, levels, rubric

#: rule, what it must not say anything about, and what it must still find.
TABLE = [
    # Both of a pair that is one thing; a pair that a judge is told to ignore.
    ("double-barrelled", "The mask is used during both training and testing.",
     "It explains both the cause of the fault and the way to mend it."),
    ("double-barrelled", "Ignore differences in style and punctuation.",
     "Judge style and punctuation."),
    # A set-up, no condition; a list with an end; a number of the set-up; a tolerance.
    ("no-not-applicable", "When training the small model, the rate is 0.01.",
     "When a source is quoted, the page is given."),
    ("open-list", "The sizes are 1, 2, ..., 9.", "Names red, green, blue..."),
    ("open-list", "The text is split into [s_1, ..., s_n].", "Names salt, pepper, ..."),
    ("needs-counting", "The model writes 20 tokens for each prompt.",
     "The answer has at most 200 tokens."),
    ("hedged", "The curve ends at roughly 0.8.", "The answer is roughly right."),
    ("relative", "The new method is compared to the other methods.",
     "The essay is clearer compared to the others."),
    # A word of blame that names a subject.
    ("reversed-sign", "The toxic vectors of the model are computed.",
     "The reply contains toxic language."),
    ("reversed-sign", "The toxicity score is reported.", "The reply is toxic."),
    # What is enough is said.
    ("undefined-threshold", "The code is complete enough to run.", "There are enough examples."),
    ("vague", "The effective batch size is 128.", "The answer is effective."),
    ("vague", "All robust models use ten steps.", "The answer is robust."),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "fine", "fault"), TABLE, ids=lambda text: text[:30])
def test_a_check_is_silent_where_nothing_is_wrong(rule: str, fine: str, fault: str) -> None:
    def found(text: str) -> set[str]:
        return {finding.rule for finding in check(rubric(criterion(text)))}

    assert rule not in found(fine)
    assert rule in found(fault)


@pytest.mark.parametrize(
    "labels", [("No", "Yes"), ("No", "Unsure", "Yes"), ("no", "partly", "yes")]
)
def test_yes_and_no_answer_a_question(labels: tuple[str, ...]) -> None:
    options = tuple((label, "") for label in labels)
    asked = levels(*options, requirement="Does the text rhyme in every stanza?")
    assert "adjective-levels" not in {f.rule for f in check(rubric(asked))}
    # Without a question that takes them, they still say how good, not what is there.
    graded = levels(*options, requirement="The rhyme of the text in every stanza")
    assert "adjective-levels" in {f.rule for f in check(rubric(graded))}


def test_criteria_of_one_make_about_different_things_do_not_overlap() -> None:
    made = [
        criterion(f"The score of {model} on {data} is computed as the paper describes it.")
        for model in ("ResNet-18", "ViT-B32")
        for data in ("CIFAR10", "SVHN")
    ]
    pair = [
        criterion(f"Code for {what} the small network on the whole data set has been written.")
        for what in ("training", "evaluating")
    ]
    assert "overlap" not in {f.rule for f in check(rubric(*made, *pair))}


def test_criteria_that_ask_the_same_are_told_once_for_all() -> None:
    same = [
        criterion("The answer names the source of every figure in the text."),
        criterion("In the text the answer names the source of every figure."),
        criterion("Names every source of the figures in the text."),
    ]
    findings = [f for f in check(rubric(*same)) if f.rule == "overlap"]
    # Three pairs, one finding: at the second, with the first and the third beside it.
    assert [(f.criterion, f.also) for f in findings] == [(1, (("criteria", 0), ("criteria", 2)))]
    assert "“K” and “K 2”" in findings[0].sentence


def test_weights_that_cannot_show_are_told_once() -> None:
    small = [criterion(f"Names the year {year}.", weight=0.001) for year in range(1900, 1905)]
    findings = check(rubric(criterion("Names the author.", weight=100), *small))
    (found,) = [f for f in findings if f.rule == "drowned-weight"]
    assert "of all weight (as little as 4 others)" in found.sentence
    assert found.also == tuple(("criteria", at) for at in (2, 3, 4, 5))


def test_the_terminal_shows_five_of_a_kind_and_counts_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    texts = [f"The answer about topic {n} is helpful." for n in range(9)]
    file.write_text("criteria:\n" + "".join(f"- {{name: n{n}, requirement: {t}}}\n"
                                            for n, t in enumerate(texts)))  # fmt: skip
    done = CliRunner().invoke(main, ["lint", str(file)])
    assert done.stdout.count("[vague]") == 5
    assert "and 4 more of this kind: n5, n6, n7, n8" in done.stdout
    # Nine vague words, and nothing that takes points away.
    assert "9 to fix" in done.stdout


def test_remarks_of_a_kind_and_all_rubrics_of_a_file_are_told(tmp_path: Path) -> None:
    def node(text: str, *parts: object) -> dict[str, object]:
        return {"requirements": text, "weight": 1, "sub_tasks": list(parts)}

    tasks = [node(f"Number {n} is printed, not shown.") for n in range(600)]
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(node("The paper is reproduced.", *tasks)))
    said = CliRunner().invoke(main, ["lint", str(file)]).output
    # 500 and 100 leaves; five remarks that a leaf has no name stand in full.
    assert (said.count("valid, 500 criteria"), said.count("valid, 100 criteria")) == (1, 1)
    assert (said.count("has no name"), said.count("and 495 more of this kind")) == (10, 1)

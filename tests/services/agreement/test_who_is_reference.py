"""Whom the statement on the verdicts speaks of, and what it may not say."""

from __future__ import annotations

import json
from pathlib import Path

from core.metrics.estimate import Estimate
from core.metrics.intervals.in_force import VerdictsInForce
from core.services.agreement.overall import SAME_PEOPLE, Trust
from core.services.agreement.ratings import LABELS, PEOPLE
from tests.services.measured import measured, written

CRITERIA = ("right", "depth")


def said(labels: int, reference: str, drawn: str = "") -> str:
    """The statement on 40 decided cells, 90% of them right; so many have a label."""
    share = Estimate(0.9, 0.6, 0.998, n=labels)
    return Trust(VerdictsInForce(share, share, 40, 0, labels, 40), reference, 40, drawn).sentence


def test_labels_on_a_part_speak_for_all_only_if_they_are_a_fair_sample() -> None:
    share = "90% (60% to 99.8%)"
    assert said(12, LABELS).startswith(
        "If the 12 labels are a fair sample (how they were chosen is unknown), "
        f"{share} of the verdicts are right; 100% of 40 cells are decided."
    )
    assert said(12, LABELS, "drawn at random").startswith(
        f"{share} of the verdicts are right, measured on 12 labels (drawn at random)"
    )
    assert "(one on every decided cell)" in said(40, LABELS)


def test_people_say_something_and_are_no_labels() -> None:
    many, one = said(12, PEOPLE), said(12, "person:Ada")
    assert many.startswith("If the 12 cells that people rated are a fair sample (how they were")
    assert "of the verdicts are what most people say;" in many
    assert "label" not in many + one
    assert "are what Ada says" in one


def test_cells_on_which_people_tie_are_said_and_not_called_unrated(tmp_path: Path) -> None:
    # Ada and Bob rate all three texts, and differ on the last; the judge is right on both others.
    by = {"a": ("MET", "MET"), "b": ("UNMET", "UNMET"), "d": ("MET", "UNMET")}
    people = [
        (item, "right", who, "human", label)
        for item, labels in by.items()
        for who, label in zip(("ada", "bob"), labels, strict=True)
    ]
    judge = [(item, "right", "J", "llm", labels[0]) for item, labels in by.items()]
    found = measured(written(tmp_path / "answers", people + judge), "human")

    assert found["trust"]["in_words"].startswith(
        "If the 2 cells on which most people agree are a fair sample (people tie on 1 more), 100% "
    )


def test_people_are_no_reference_for_their_own_majority(tmp_path: Path) -> None:
    said_by = {"a": ("MET", "MET", "UNMET"), "b": ("UNMET", "UNMET", "MET"), "d": ("MET",) * 3}
    votes = [
        (item, "right", who, "human", label)
        for item, labels in said_by.items()
        for who, label in zip("xyz", labels, strict=True)
    ]
    found = measured(written(tmp_path / "answers", votes))
    panel = found["overall"]["panel"]["vs_human_majority"]
    assert (panel["cells"], panel["accuracy"]) == (0, None)
    assert panel["undefined"]["accuracy"] == SAME_PEOPLE
    assert found["score"]["panel"]["vs_human_mean"]["n"] == 0
    # Labels are one: MET, UNMET, UNMET against MET, UNMET, MET.
    assert found["overall"]["panel"]["vs_gold"]["accuracy"] == 2 / 3


def test_a_criterion_without_labels_is_left_out_and_named(tmp_path: Path) -> None:
    votes = [(i, c, "J", "llm", "MET" if c == "right" else "low") for i in "abd" for c in CRITERIA]
    folder = written(tmp_path / "answers", votes)
    items = (folder / "items.jsonl").read_text()
    (folder / "items.jsonl").write_text(items.replace(', "depth": "high"', ""))
    found = measured(folder)["trust"]
    # Right on a of three; of eight cells six are decided, c has no vote.
    assert (found["right"], found["labels"], found["decided"]) == (1 / 3, 3, 0.75)
    assert (
        "measured on 3 labels (one on every decided cell of labelled criteria)" in found["in_words"]
    )
    assert "That leaves out depth (no reference)." in found["in_words"]


def test_a_label_that_nothing_can_be_assessed_is_no_missing_label(tmp_path: Path) -> None:
    # The judge decides both criteria of all three; on the right of d the label is an abstention.
    votes = [(i, c, "J", "llm", "MET" if c == "right" else "low") for i in "abd" for c in CRITERIA]
    folder = written(tmp_path / "answers", votes)
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    for item in items:
        item["labels"] = {"right": "CANNOT_ASSESS" if item["id"] == "d" else "MET", "depth": "low"}
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)))

    found = measured(folder)["trust"]

    assert found["labels"] == 5
    assert (
        "measured on 5 labels (one on every decided cell but 1 that cannot be assessed)"
        in found["in_words"]
    )

"""A stored run is read as it was voted: orders, twins, labels, rubrics of items' own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.judging.prompts.parts import shown_order
from core.metrics.bias.effects import BOUNDS, Finding, Kind
from core.services.diagnostics.diagnosis import diagnose
from core.services.diagnostics.evidence import evidence_of
from core.services.diagnostics.finding_words import CAUSES, group_by_cause, joint_verbosity_words
from core.services.results.scored_items import derivation_for
from core.store.store import Store
from tests.new_store import new_store
from tests.services.comparison.world import ONE, TWO, dataset, run_with
from tests.store.making import AT, NOW, claimed

SCALE = tuple(Option(label=word, value=i / 2) for i, word in enumerate(("Cold", "Mild", "Warm")))
CITES = Criterion(name="cites", requirement="Cites the policy.")
TONE = Criterion(name="tone", requirement="How warm?", scale="ordinal", options=SCALE, weight=-2)
RUBRIC = Rubric(criteria=(CITES, TONE))
OWN = Rubric(criteria=(Criterion(name="tone", requirement="Any warmth?"),))
JUDGES = (Judge(name="ann", model="m"), Judge(name="bob", model="m"))
ITEMS = 150


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = new_store(tmp_path / "studio.db")
    yield store
    store.close()


def items() -> tuple[Item, ...]:
    """150 items with labels in turn, of one to eight words, and one with a rubric of its own."""
    usual = [
        Item(
            id=f"i{n}",
            submission=" ".join(["word"] * (1 + n % 8)),
            labels={
                "cites": Label(label=("MET", "UNMET")[n % 2]),
                "tone": Label(label=("Cold", "Mild", "Warm")[n % 3]),
            },
        )
        for n in range(ITEMS)
    ]
    return (*usual, Item(id="own", submission="", rubric=OWN, labels={"tone": Label(label="MET")}))


def run(
    store: Store,
    first: float = 0.0,
    *,
    flip: bool = False,
    replicates: int = 1,
    judges: tuple[Judge, ...] = JUDGES,
    rubric_version: int = 0,
    labelled: bool = True,
) -> int:
    """A run in which both judges are right, and ann takes the first option in a share of cells.

    ``rubric_version``: one that is there, else a new rubric is made.
    """
    version = rubric_version or store.rubrics.create(RUBRIC, now=NOW).id
    given = items() if labelled else tuple(i.model_copy(update={"labels": {}}) for i in items())
    dataset = store.datasets.create(Dataset(items=given), now=NOW)
    panel = Panel(judges=judges, asking=Asking(flip="check" if flip else "off"))
    plan = RunPlan("made", version, dataset.id, panel, replicates=replicates)
    lease = claimed(store, store.runs.create(plan, [(i.id, 4) for i in items()], now=NOW).id, at=AT)
    rng = np.random.default_rng(3)
    outcomes = [
        AskedOutcome((_vote(item, c, judge.name, r, first if judge.name == "ann" else 0.0, rng),))
        for item in items()
        for c in (item.rubric or RUBRIC).criteria
        for judge in judges
        for r in range(replicates * (2 if flip else 1))
    ]
    store.votes.record(
        lease.run_id,
        outcomes,
        owner=lease.owner,
        fence=lease.fence,
        now=NOW,
        derive=derivation_for(plan, RUBRIC, items()),
    )
    return lease.run_id


def _vote(
    item: Item, c: Criterion, judge: str, r: int, first: float, rng: np.random.Generator
) -> Vote:
    order = shown_order(c, seed=1, item=item.id, judge=judge, replicate=r)
    truth = item.truth(c)
    option = order[0] if rng.random() < first else truth
    return Vote(Cell(item.id, c.name, judge, r), option, False, order=order)


def test_the_evidence_has_every_answer_at_its_place(store: Store) -> None:
    evidence = evidence_of(store, run(store, flip=True, replicates=2))
    assert evidence.names == ("ann", "bob")
    assert evidence.own == 2
    assert evidence.words[:9].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 1]
    assert [a.name for a in evidence.criteria] == ["cites", "tone", "tone (2)"]
    cites, tone, own = evidence.criteria
    assert tone.levels.shape == (ITEMS + 1, 2, 4)
    assert tone.levels[:4, 1, 3].tolist() == [0, 1, 2, 0]
    assert tone.values.tolist() == [0.0, -0.5, -1.0]  # more warmth costs points
    assert (tone.levels[ITEMS] == -1).all()
    assert own.levels[:, 0, 0].tolist() == [-1] * ITEMS + [0]
    assert cites.verdicts[:4].tolist() == [0, 1, 0, 1]
    # Only own replicates count for places: 2 of 150 items per judge and criterion.
    assert sum(first.sum() for first, _ in evidence.shown["bob"]) == 2 * (2 * ITEMS + 1)


def test_right_judges_have_no_fault(store: Store) -> None:
    diagnosis = diagnose(store, run(store))
    assert diagnosis.findings == ()
    assert diagnosis.check_count > 15


def test_a_judge_that_takes_the_first_option_is_named(store: Store) -> None:
    run_id = run(store, first=0.3)
    finding = next(f for f in diagnose(store, run_id).findings if f.kind == "position")
    assert (finding.role, finding.subject) == ("judge", "ann")
    assert finding.low is not None
    assert finding.high is not None
    assert finding.low <= 0.3 <= finding.high
    assert finding.n == 2 * ITEMS  # the one item with its own rubric says nothing by itself
    assert finding.false_alarms is not None
    assert finding.p <= finding.false_alarms


def test_a_run_without_votes_has_nothing_to_check(store: Store) -> None:
    rubric = store.rubrics.create(RUBRIC, now=NOW)
    dataset = store.datasets.create(Dataset(items=items()), now=NOW)
    plan = RunPlan("empty", rubric.id, dataset.id, Panel(judges=JUDGES))
    run_id = store.runs.create(plan, [(i.id, 4) for i in items()], now=NOW).id
    diagnosis = diagnose(store, run_id)
    assert (diagnosis.findings, diagnosis.check_count) == ((), 0)
    assert all(check.effect.reason for check in diagnosis.checks)


def test_findings_stand_together_by_cause_and_model() -> None:
    def one(kind: Kind, subject: str, role: Literal["judge", "criterion"] = "judge") -> Finding:
        return Finding(kind, role, subject, "s", 0.5, 0.4, 0.6, 50, 0.001, "serious")

    findings = [
        one("flips", "a"),
        one("agreement", "Clear", "criterion"),
        one("position", "b"),
        one("position", "words"),
    ]

    # Judges a and b ask one model; the judge of words has none.
    assert group_by_cause(findings, {"a": "m", "b": "m", "words": ""}) == {
        ("The order in which options stand", "m"): [0, 2],
        ("Words that raters understand differently", "Criteria"): [1],
        ("The order in which options stand", "words"): [3],
    }
    assert set(CAUSES) == set(BOUNDS)


def test_nothing_is_said_of_agreement_whose_interval_is_withheld(store: Store) -> None:
    # Two judges who say Warm to nearly all, and else anything: the other options are too rare for
    # an interval of alpha, and the answers are not the same on all.
    rng = np.random.default_rng(4)
    said = {
        name: {"tone": np.where(rng.random(250) < 0.985, 2, rng.integers(0, 3, 250)).tolist()}
        for name in ("one", "two")
    }
    made = run_with(store, dataset({"tone": ["Warm"] * 250}), said, judges=(ONE, TWO))

    assert not {"agreement", "merge"} & {one.kind for one in diagnose(store, made).findings}


def test_several_judges_that_reward_length_are_named_as_what_they_are() -> None:
    two = joint_verbosity_words(["ann", "bob"], 2, "judges", "more", [0.1, 0.2])

    assert two.startswith("Both judges (ann, bob) give longer answers more")
    assert "the more so as several judges see it" in two

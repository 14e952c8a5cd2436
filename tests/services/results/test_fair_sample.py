"""Labels that are no fair sample are found by how often judges agree on them, and one rule holds
for all that is said by them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.services.agreement import load_ratings, overall
from core.services.agreement.conclusion import conclusion_on
from core.services.datasets import label_draws
from core.services.gate.bounds import GateBound, GateRequest
from core.services.gate.checking import check_source
from core.services.reports.run_report import report_run
from core.services.results import fair_sample
from core.services.results.fair_sample import CellAgreement, unfair_labels
from core.services.review import corrected_estimates, random_labels
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.services.comparison.world import ONE, TWO, dataset, run_with

#: On the first 30 of 60 answers both judges say MET, on the others they differ.
EASY = {"one": [0] * 60, "two": [0] * 30 + [1] * 30}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


def easy(store: Store, labels: list[str], tone: list[int | None] | None = None) -> int:
    answers = {name: {"clear": given} for name, given in EASY.items()}
    for given in answers.values():
        if tone is not None:
            given["tone"] = tone
    return run_with(store, dataset({"clear": labels}), answers, judges=(ONE, TWO))


def declared(store: Store, run: int) -> int:
    version = store.runs.row(run).dataset_version_id
    label_draws.declare(store, version)
    return version


def said(store: Store, run: int) -> str:
    return overall.trust_of(load_ratings.run_ratings(store, run)).sentence


def concluded(store: Store, run: int) -> str:
    return conclusion_on(
        load_ratings.sheet_of_ratings(load_ratings.run_ratings(store, run))
    ).sentence


def test_what_is_trusted_by_some_labels_is_so_if_they_are_like_the_others(store: Store) -> None:
    labels = ["MET", "UNMET"] * 40
    said = {name: {"clear": [0, 1] * 40} for name in ("one", "two")}
    some, every = (
        run_with(store, dataset({"clear": given}), said, judges=(ONE, TWO))
        for given in (labels[:60] + [""] * 20, labels)
    )

    assert concluded(store, some).startswith(
        "Trust the panel's verdicts on 1 of 2 criteria, if the labelled items are like the "
        "others: clear ("
    )
    assert "Trust the panel's verdicts on 1 of 2 criteria: clear (" in concluded(store, every)


def test_a_criterion_without_labels_makes_those_of_others_no_unfair_sample(store: Store) -> None:
    # Every answer is labelled on "clear", none on "tone", where judges agree on all.
    run = easy(store, ["MET"] * 60, tone=[2] * 60)

    assert "not a fair sample" not in said(store, run)
    assert "not a fair sample" not in concluded(store, run)


def test_a_bound_on_one_criterion_asks_for_its_own_labels_only(store: Store) -> None:
    labels = {"clear": ["MET"] * 30 + [""] * 30, "tone": ["Warm", ""] * 30}
    answers = {name: {"clear": given, "tone": [2] * 60} for name, given in EASY.items()}
    run = run_with(store, dataset(labels), answers, judges=(ONE, TWO))
    bounds = (GateBound("accuracy", "min", 0.5),)

    checks = check_source(lambda: store, str(run), GateRequest(bounds, per_criterion=True)).checks

    assert [one["ok"] for one in checks] == [False, True]
    assert "on clear all judges agree on 100% of cells with a label" in checks[0]["why"]


def test_labels_on_the_hard_cells_are_no_fair_sample_either(store: Store) -> None:
    run = easy(store, [""] * 30 + ["MET"] * 30)

    assert (
        "the 30 labels are not a fair sample (all judges agree on 0% of cells with a label, and "
        "on 100% of the others)"
    ) in said(store, run)
    sentence = concluded(store, run)
    assert "Do not trust them" not in sentence
    assert "not a fair sample" in sentence


def test_a_declaration_that_votes_refute_is_believed_nowhere(store: Store) -> None:
    run = easy(store, ["MET"] * 30 + [""] * 30)
    version = declared(store, run)
    draw = label_draws.declared_draw(store, version)
    assert draw is not None
    why = (
        f"{draw.by} declared them drawn at random, but all judges agree on 100% of cells with a "
        "label, and on 0% of the others"
    )

    assert f"the 30 labels are not a fair sample ({why})" in said(store, run)
    checks = check_source(lambda: store, str(run), GateRequest((GateBound("right", "min", 0.5),)))
    assert why in checks.checks[0]["why"]
    found = report_run(store, run, created="then")
    assert not found.corrected
    assert any(why in limit for limit in found.limits)
    assert why in random_labels.labels_of_run(store, run).reason
    lines, _ = corrected_estimates.corrected_means_of_run(store, run)
    assert all(one.powered is None for one in lines)
    # The declaration itself warns.
    assert why in fair_sample.declaration_contradiction(store, version)
    told = cli("labels", "Replies", "--db", str(store.path))
    assert why in told.stdout


def test_a_declaration_that_votes_do_not_refute_is_believed(store: Store) -> None:
    # Labelled is every other answer, easy and hard alike.
    run = easy(store, ["MET", ""] * 30)
    version = declared(store, run)

    assert "30 labels (drawn at random, as" in said(store, run)
    assert fair_sample.declaration_contradiction(store, version) == ""


@pytest.mark.parametrize("criteria", [1, 6])
def test_fair_samples_are_hardly_ever_called_unlike(criteria: int) -> None:
    # 1% by design over all criteria; of 1,000 samples more than 20 were chance in 1 of 1,000.
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(1000):
        labelled = rng.permutation(200) < 30
        cells = [CellAgreement(f"c{i}", rng.random(200) < 0.7, labelled) for i in range(criteria)]
        wrong += bool(unfair_labels(cells))
    assert wrong <= 20


def test_labels_drawn_with_unlike_chances_are_weighed_by_them() -> None:
    # Hard cells were labelled in nine of ten cases, easy ones in one of ten, and that is known.
    rng = np.random.default_rng(8)
    easy_ = np.arange(400) < 200
    chance = np.where(easy_, 0.1, 0.9)
    labelled = rng.random(400) < chance

    assert unfair_labels([CellAgreement("c", easy_, labelled)])
    assert not unfair_labels([CellAgreement("c", easy_, labelled, chance)])


def test_a_bound_on_what_is_decided_needs_no_labels(store: Store) -> None:
    # Each answer has a verdict on "clear"; "tone" was not asked: 60 of 120.
    run = easy(store, [""] * 60)
    fewer = GateRequest((GateBound("decided", "min", 0.4), GateBound("decided", "min", 0.6)))

    checks = check_source(lambda: store, str(run), fewer).checks

    assert [(one["ok"], one["n"]) for one in checks] == [(True, None), (False, None)]
    assert checks[1]["why"] == "0.5, at least 0.6 is asked"


def test_unfair_labels_say_nothing_against_what_is_decided(store: Store) -> None:
    run = easy(store, ["MET"] * 30 + [""] * 30)
    asked = GateRequest((GateBound("decided", "min", 0.2),))

    assert check_source(lambda: store, str(run), asked).ok

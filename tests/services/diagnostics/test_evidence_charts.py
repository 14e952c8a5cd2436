"""The evidence behind a finding shows what was planted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.diagnostics.diagnosis import diagnose_evidence, examination_of_run
from core.services.diagnostics.evidence import MAJORITIES, Chart, evidence_of
from core.services.diagnostics.evidence_charts import ShownEvidence, shown_evidence
from core.services.results.scored_items import derivation_for
from core.store.store import Store
from tests.new_store import new_store
from tests.services.diagnostics import test_diagnosis as stored
from tests.services.diagnostics.planted import Plant, made
from tests.store.making import NOW, claimed


def evidence(plant: Plant, kind: str, subject: str, other: str = "") -> ShownEvidence:
    """The evidence for that finding among those that the plant raises."""
    world = made(1, 300, plant)
    diagnosis = diagnose_evidence(world)
    finding = next(
        f
        for f in diagnosis.findings
        if (f.kind, f.subject) == (kind, subject) and other in ("", f.other)
    )
    return shown_evidence(world, finding, diagnosis.checks)


def chart_of(one: ShownEvidence) -> Chart:
    assert one.chart is not None
    for _, values in one.chart.series:
        assert len(values) == len(one.chart.places) == len(one.chart.counts)
    return one.chart


def values(chart: Chart, series: int) -> list[float]:
    return [0.0 if value is None else value for value in chart.series[series][1]]


def test_length_that_pays_shows_in_long_texts_beside_their_labels() -> None:
    chart = chart_of(evidence(Plant(longer=0.35), "verbosity", "ann"))

    gaps = [a - b for a, b in zip(values(chart, 0), values(chart, 1), strict=True)]
    assert chart.series[1][0] == "The labels"
    assert gaps[0] < 0 < gaps[-1]  # moved down in short texts, up in long ones
    assert gaps[-1] - gaps[0] > 0.05
    assert sum(chart.counts) <= 300 * 5


def test_a_kind_judge_lies_above_the_labels() -> None:
    one = evidence(Plant(kinder=0.4), "leniency", "ann")

    chart = chart_of(one)
    at = chart.places.index("clear")
    assert values(chart, 0)[at] > values(chart, 1)[at] + 0.05
    # All three judges are beside each other, and ann is the farthest from 0.
    assert [a.subject for a in one.among] == ["ann", "bob", "cyd"]
    estimates = [abs(a.effect.estimate or 0) for a in one.among]
    assert max(estimates) == estimates[0]
    assert one.bound == 0


def test_a_judge_that_keeps_to_the_middle_uses_the_ends_less() -> None:
    chart = chart_of(evidence(Plant(middle=0.6), "extremes", "ann"))

    assert chart.places == ("clear", "warm")  # ordered, with three options or more
    assert all(a < b for a, b in zip(values(chart, 0), values(chart, 1), strict=True))


def test_one_impression_for_all_shows_in_every_pair_of_criteria() -> None:
    chart = chart_of(evidence(Plant(halo=0.6), "halo", "ann"))

    mine, labels = values(chart, 0), values(chart, 1)
    assert sum(mine) / len(mine) > sum(labels) / len(labels) + 0.1


def test_abstentions_and_changed_answers_are_shares_of_each_criterion() -> None:
    silent = chart_of(evidence(Plant(silent=0.3), "abstention", "ann"))
    again = chart_of(evidence(Plant(again=0.6), "inconsistency", "ann"))
    flips = chart_of(evidence(Plant(flipped=0.6), "flips", "ann"))

    assert all(0.15 < share < 0.45 for share in values(silent, 0))  # planted: .3 of 300 each
    assert min(values(again, 0)) > 0.1
    assert min(values(flips, 0)) > 0.1


def test_a_dead_option_has_no_answers_though_the_labels_have_it() -> None:
    chart = chart_of(evidence(Plant(dead=True), "unused", "clear", "Poor"))

    assert chart.places == ("Poor", "Fair", "Good", "Top")
    assert values(chart, 0)[0] == 0 < values(chart, 1)[0]
    assert sum(values(chart, 0)) == pytest.approx(1)


def test_options_told_apart_by_a_coin_meet_as_often_as_chance_has_it() -> None:
    chart = chart_of(evidence(Plant(blurred=True), "merge", "warm", "Fair + Good"))

    assert chart.places == ("both Fair", "one of each", "both Good")
    for given, chance in zip(values(chart, 0), values(chart, 1), strict=True):
        assert given == pytest.approx(chance, abs=0.08)


def test_verdicts_on_twin_criteria_go_together() -> None:
    chart = chart_of(evidence(Plant(twin=True), "redundancy", "clear", "warm"))

    for at, _ in enumerate(chart.places):
        assert values(chart, at)[at] > 0.8  # one in a hundred was not copied
        assert sum(values(chart, series)[at] for series in range(4)) == pytest.approx(1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = new_store(tmp_path / "studio.db")
    yield opened
    opened.close()


def test_the_first_place_is_chosen_more_often_than_its_share(store: Store) -> None:
    found = examination_of_run(store, stored.run(store, first=0.6)).evidence

    chart = chart_of(next(one for one in found if one.finding.kind == "position"))
    assert chart.axes[0] == "Place at which an option was shown"
    assert values(chart, 0)[0] > values(chart, 1)[0] == 1 / len(chart.places)
    assert sum(values(chart, 0)) == pytest.approx(1)


def imported(store: Store) -> int:
    """60 items without labels: three people, and a model that always says MET."""
    kinds = {"ann": "person", "ben": "person", "cat": "person", "gpt": "imported"}
    judges = tuple(Judge.model_validate({"name": n, "kind": k}) for n, k in kinds.items())
    rubric = Rubric(criteria=(Criterion(name="cites", requirement="Cites?"),))
    items = tuple(Item(id=f"i{n}", submission="x") for n in range(60))
    plan = RunPlan(
        "imported",
        store.rubrics.create(rubric, now=NOW).id,
        store.datasets.create(Dataset(items=items), now=NOW).id,
        Panel(judges=judges),
    )
    run = store.runs.create(plan, [(item.id, 4) for item in items], now=NOW).id
    outcomes = [
        AskedOutcome((Vote(Cell(item.id, "cites", name), 0 if name == "gpt" else n % 2, False),))
        for n, item in enumerate(items)
        for name in kinds
    ]
    lease = claimed(store, run)
    derive = derivation_for(store.runs.get(run).plan, rubric, items)
    store.votes.record(run, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive)
    return run


def test_of_imported_votes_people_are_the_truth_and_only_the_model_is_examined(
    store: Store,
) -> None:
    run = imported(store)

    world, found = evidence_of(store, run), examination_of_run(store, run)

    assert (world.names, world.truth) == (("gpt",), MAJORITIES)
    assert world.criteria[0].truth.tolist() == [n % 2 for n in range(60)]
    leniency = next(one for one in found.evidence if one.finding.kind == "leniency")
    # Half the items are UNMET, and all are called MET: .50 of an option's value too kind.
    assert leniency.finding.estimate == pytest.approx(0.5)
    assert "more lenient than people's majorities" in leniency.finding.sentence
    reasons = dict(found.unmade.keys())
    assert reasons["position"] == ("No order in which options were shown is known of its answers.")

"""What the panel is, and what it measures, is the same wherever it is told (issue 12, A10).

Three kinds of run: judged here and partly settled by people; imported, with judges who tie; and
imported with nobody but people, who are no panel.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.services.agreement import confusion, load_ratings, rater_pairs, score_agreement
from core.services.agreement.metrics_report import metrics_source
from core.services.agreement.ratings import LABELS, PANEL, PEOPLE
from core.services.reports.run_report import report
from core.store.store import Store
from tests.new_store import new_store
from tests.pages.agreement.test_views import PEOPLE as ONLY_PEOPLE
from tests.pages.agreement.test_views import imported
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET

FOUR = {"one": "imported", "two": "imported", "three": "imported", "four": "imported"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


def settled(store: Store) -> int:
    """Eight items, of which people settled the first six: half of them against the votes."""
    run = reviewed.graded(store)
    ada = reviewed.sit(store, "Ada")
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING)
    for n in range(2, 6):
        reviewed.settle(store, ada, queue, f"i{n}", MET if n % 2 else UNMET)
    return run.id


def measured(store: Store, run: int) -> dict[str, Any]:
    return metrics_source(lambda: store, str(run), None, 1000, 0)


def told(store: Store, run: int, rater: str) -> dict[str, tuple[int, float | None, float | None]]:
    """On the Agreement page: items, accuracy and kappa against the labels by criterion."""
    lines = rater_pairs.compare(load_ratings.sheet_of(store, run), LABELS, rater)
    return {line.name: (line.n, line.accuracy.value, line.kappa.value) for line in lines}


def reported(store: Store, run: int) -> dict[str, tuple[int, float | None, float | None]]:
    """The same in the report."""
    lines = report(store, run, made="then").criteria
    return {line.name: (line.labelled, line.accuracy.value, line.kappa.value) for line in lines}


def in_json(pairs: dict[str, Any], scales: dict[str, str]) -> dict[str, Any]:
    kappa = {"ordinal": "kappa_quadratic"}
    return {
        name: (pair["n"], pair["accuracy"], pair[kappa.get(scales[name], "cohen_kappa")])
        for name, pair in pairs.items()
    }


@pytest.mark.parametrize("make", [settled, lambda store: imported(store, FOUR, labelled=True)])
def test_the_panel_has_one_accuracy_on_page_report_and_command_line(store: Store, make) -> None:  # type: ignore[no-untyped-def]
    run = make(store)
    criteria = measured(store, run)["criteria"]
    scales = {name: found["scale"] for name, found in criteria.items()}
    wanted = in_json({n: found["panel"]["vs_gold"] for n, found in criteria.items()}, scales)

    assert told(store, run, PANEL) == wanted
    assert {n: one for n, one in reported(store, run).items() if one[0]} == {
        n: one for n, one in wanted.items() if one[0]
    }


def test_the_panels_scores_are_compared_alike_on_page_and_command_line(store: Store) -> None:
    run = settled(store)
    sheet = load_ratings.sheet_of(store, run)

    found = score_agreement.score_pair(
        score_agreement.scores_of(store, run, sheet), sheet, LABELS, PANEL
    )

    wanted = measured(store, run)["score"]["panel"]["vs_gold"]
    assert found.n == wanted["n"] > 0
    assert found.figures["bias"].value == wanted["bias"]


def test_people_alone_are_no_panel_anywhere_but_have_their_majority(store: Store) -> None:
    run = imported(store, ONLY_PEOPLE, labelled=True)
    sheet, criteria = load_ratings.sheet_of(store, run), measured(store, run)["criteria"]

    assert PANEL not in sheet.references
    assert all(PANEL not in sheet.raters(one) for one in sheet.references)
    assert sheet.raters(LABELS)[0] == PEOPLE
    assert PANEL not in confusion.spread_of_groups(sheet, "Tone")
    assert {one["panel"]["vs_gold"]["n"] for one in criteria.values()} == {0}
    scales = {name: found["scale"] for name, found in criteria.items()}
    wanted = in_json(
        {n: found["groups"]["human"]["majority"]["vs_gold"] for n, found in criteria.items()},
        scales,
    )
    assert wanted["Tone"][0] > 0
    assert told(store, run, PEOPLE) == wanted
    assert reported(store, run)["Tone"] == wanted["Tone"]


def test_judges_who_tie_are_said_to_tie_and_not_to_have_failed(store: Store) -> None:
    run = imported(store, FOUR, labelled=True)
    close = rater_pairs.closely(load_ratings.sheet_of(store, run), "Tone", LABELS, PANEL)
    whole = measured(store, run)["criteria"]["Tone"]["panel"]["vs_gold"]["n"]

    assert (close.failed, close.n) == (0, whole)
    assert close.n + close.tied == 60

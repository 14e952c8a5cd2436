"""Calibration of raters who say how sure they are, in the report, from a folder and from a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cli.reports_as_text import metrics_as_text
from core.formats.known import kind_of
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_path
from core.services.agreement import calibration, load_ratings, metrics_report
from core.services.agreement.ratings import LABELS
from core.services.gate.figures import named_figures
from core.services.imports.vote_import import bring_in
from core.store.store import Store

RUBRIC = """criteria:
- {name: c, requirement: R, weight: 1}
- {name: d, requirement: R, weight: 1, scale: ordinal, forced_choice: true, options: [
    {label: low, value: 0}, {label: mid, value: 0.5}, {label: high, value: 1}]}
"""
#: Label, what J says, and the chances it gives MET and UNMET; of e it gives none.
ANSWERS = {
    "a": ("MET", "MET", 0.8, 0.2),
    "b": ("UNMET", "MET", 0.75, 0.25),
    "c": ("UNMET", "UNMET", 0.05, 0.95),
    "d": ("MET", "UNMET", 0.45, 0.55),
    "e": ("MET", "MET", "", ""),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sure"
    made.mkdir()
    (made / "rubric.yaml").write_text(RUBRIC)
    (made / "items.jsonl").write_text(
        "".join(
            f'{{"id": "{i}", "submission": "x", "labels": {{"c": "{label}"}}}}\n'
            for i, (label, *_) in ANSWERS.items()
        )
    )
    lines = ["item_id,criterion,rater_id,rater_kind,label,p_MET,p_UNMET"]
    for i, (_, said, met, unmet) in ANSWERS.items():
        lines += [f"{i},c,J,llm,{said},{met},{unmet}", f"{i},c,K,llm,{said},,"]
        lines += [f"{i},c,ann,human,MET,,"]
    (made / "votes.csv").write_text("\n".join(lines))
    return made


def of(report: dict[str, Any], rater: str = "J") -> dict[str, Any]:
    found: dict[str, Any] = report["criteria"]["c"]["raters"][rater]
    return found


def test_a_rater_with_chances_has_calibration_figures_and_others_have_none(folder: Path) -> None:
    report = metrics_report.metrics_report(load_ratings.folder_ratings(folder))
    found = of(report)["calibration"]
    # Right .8, wrong .75, right .95, wrong .55: bins .7-.8 hold the first two.
    # |1/2 - .775| * 2/4 + |1 - .95| / 4 + |0 - .55| / 4 = .1375 + .0125 + .1375
    assert found["ece"] == pytest.approx(0.2875)
    # 2 * (.2^2 + .75^2 + .05^2 + .55^2) / 4
    assert found["brier"] == pytest.approx(2 * (0.04 + 0.5625 + 0.0025 + 0.3025) / 4)
    assert (found["n"], found["without"], found["reference"]) == (4, 1, "gold")
    assert (found["accuracy"], found["confidence"]) == (0.5, pytest.approx(3.05 / 4))
    by_bin = {b["to"]: (b["n"], b["accuracy"]) for b in found["bins"] if b["n"]}
    assert by_bin == {0.6: (1, 0.0), 0.8: (2, 0.5), 1.0: (1, 1.0)}
    assert "ci" not in found
    assert "calibration" not in of(report, "K")
    assert "calibration" not in report["criteria"]["d"]["raters"].get("J", {})


def test_intervals_are_made_where_they_are_asked_for(folder: Path) -> None:
    found = of(metrics_report.metrics_report(load_ratings.folder_ratings(folder), bootstrap=500))[
        "calibration"
    ]
    for name in ("ece", "brier", "accuracy"):
        low, high = found["ci"][name]
        assert low <= found[name] <= high


def test_it_is_measured_against_the_reference_asked_for(folder: Path) -> None:
    rated = load_ratings.folder_ratings(folder)
    found = of(metrics_report.metrics_report(rated, "human"))["calibration"]
    # ann says MET of all: J agrees on a and b (and e, which says nothing of how sure it is).
    assert (found["reference"], found["accuracy"], found["without"]) == ("human", 0.5, 1)
    assert of(metrics_report.metrics_report(rated, "K"))["calibration"]["accuracy"] == 1.0


def test_an_imported_run_says_the_same_as_its_folder_and_as_its_page(
    store: Store, folder: Path
) -> None:
    source = open_path(folder)
    run = bring_in(store, read_bundle(source, kind_of(source))).run
    assert run is not None
    there = metrics_report.metrics_report(load_ratings.run_ratings(store, run), bootstrap=1000)
    here = metrics_report.metrics_report(load_ratings.folder_ratings(folder), bootstrap=1000)
    assert of(there)["calibration"] == of(here)["calibration"]

    sheet = load_ratings.sheet_of_run(store, run)
    ((column, shown),) = calibration.calibrations_of_run(store, run, sheet, "c", LABELS).items()
    assert (column, shown.n, shown.without) == ("judge:J", 4, 1)
    told = of(there)["calibration"]
    assert (shown.ece.value, shown.brier.value) == (told["ece"], told["brier"])
    assert [shown.ece.low, shown.ece.high] == told["ci"]["ece"]


def test_a_gate_can_ask_for_it(folder: Path) -> None:
    report = metrics_report.metrics_report(load_ratings.folder_ratings(folder))
    figures = named_figures(report)
    assert figures["criteria.c.raters.J.calibration.ece"].value == pytest.approx(0.2875)


def test_a_criterion_nobody_labelled_says_why_there_is_nothing(store: Store, folder: Path) -> None:
    (folder / "items.jsonl").write_text('{"id": "a", "submission": "x"}\n')
    votes = (folder / "votes.csv").read_text().splitlines()
    (folder / "votes.csv").write_text("\n".join([votes[0], votes[1]]))
    found = of(metrics_report.metrics_report(load_ratings.folder_ratings(folder)))["calibration"]
    assert (found["ece"], found["n"]) == (None, 0)
    why = "No answer that says how sure it is has a reference."
    assert {found["undefined"][one] for one in ("ece", "brier", "accuracy", "confidence")} == {why}


def test_the_figures_are_said_in_words_too(folder: Path) -> None:
    text = metrics_as_text(metrics_report.metrics_report(load_ratings.folder_ratings(folder)))
    assert "  J, sure and right by the labels:\n    n = 4 (few), sure 0.76, right 50%" in text
    assert "ECE 0.29, Brier score 0.45" in text
    assert "K, sure" not in text

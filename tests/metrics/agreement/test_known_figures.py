"""One table of the known figures: no calculation, surface or document has one that it lacks."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from core.cli import reports_as_text
from core.metrics.agreement import accuracy, correlation_distance, kappa, reliability, scores
from core.metrics.agreement.known_figures import KNOWN, KnownFigure, Place
from core.metrics.measure import GroupMeasure, Measure
from core.services.agreement.overall import OVERALL
from core.services.agreement.rater_pairs import FIRST
from core.services.gate.baseline import figure_of
from tests.places import ROOT
from tests.services.measured import VOTES, measured, written

DOCUMENT = ROOT / "docs" / "figures.md"
#: What stands beside figures in ``metrics --json`` and counts something.
COUNTS = {"n", "items", "raters", "ratings", "items_with_2plus", "abstained", "failed"}
BESIDE = {"ci", "undefined", "confusion", "more", "label_distribution", "majority"}
#: Keys of ``more`` with figures of their own: of options, and of the choice to abstain.
PARTS = {"per_level", "abstention"}


@pytest.mark.parametrize("module", [accuracy, correlation_distance, kappa, reliability])
def test_every_calculation_has_an_entry(module: Any) -> None:
    made = {one for one in vars(module).values() if isinstance(one, Measure | GroupMeasure)}
    # Of the choice to abstain, in ``abstention``: no option takes part.
    made -= {kappa.percent_agreement}
    assert made - {one.measure for one in KNOWN.values()} == set()


@pytest.mark.parametrize(
    ("name", "known"), [(n, k) for n, k in KNOWN.items() if isinstance(k.measure, Measure)]
)
def test_the_source_is_that_of_the_calculation(name: str, known: KnownFigure) -> None:
    author, year = known.source.split()[0], known.source.split()[-1]
    text = inspect.getdoc(known.measure) or ""
    assert author in text
    assert year in text


def test_what_surfaces_choose_to_show_is_known() -> None:
    chosen = {name for names in FIRST.values() for name in names}
    on_a_terminal = {
        name
        for names in ("_GROUP", "_PAIR", "_MEAN", "_SCORE", "_SURE")
        for name in getattr(reports_as_text, names)
    }
    assert chosen | on_a_terminal | set(OVERALL) | set(scores.NAMES) <= set(KNOWN)
    assert all(KNOWN[name].short for name in on_a_terminal)


def figures_in(part: dict[str, Any]) -> set[str]:
    """The names of figures in a part of ``metrics --json``; in a part of it, with a dot."""
    found = set()
    for name, value in part.items():
        if name in COUNTS | BESIDE | PARTS:
            continue
        found |= {f"{name}.{one}" for one in value} if isinstance(value, dict) else {name}
    return found - {"mean_pairwise_cohen.ci", "mean_pairwise_cohen.undefined"}


def known_at(*places: Place) -> set[str]:
    return {name for name, one in KNOWN.items() if one.place in places}


def test_metrics_has_the_known_figures_and_no_others(tmp_path: Path) -> None:
    found = measured(written(tmp_path / "votes", VOTES))
    for criterion in found["criteria"].values():
        pair = criterion["panel"]["vs_gold"]
        assert figures_in(pair) == known_at("pair")
        assert figures_in(pair["more"]) == known_at("more")
        for option in pair["more"]["per_level"].values():
            assert figures_in(option) - {"support"} == known_at("option")
        for group in criterion["groups"].values():
            assert figures_in(group) == known_at("group")
    score = found["score"]["panel"]["vs_gold"]
    assert figures_in(score) == set(scores.NAMES)
    assert known_at("scores") <= set(scores.NAMES)
    overall = found["overall"]["panel"]["vs_gold"]
    assert figures_in(overall) - {"criteria", "cells", "decided"} == {"accuracy", "mean_kappa"}


def line_of(name: str, known: KnownFigure) -> str:
    """The line of a figure in the document."""
    better = {1: "higher", -1: "lower", 0: ""}[known.better]
    options = "with an order" if known.ordered else "any"
    return f"| `{name}` | {known.title}: {known.meaning} | {better} | {options} | {known.source} |"


def test_the_document_has_a_line_for_every_figure_and_no_other() -> None:
    wanted = [line_of(*one) for one in KNOWN.items()]
    there = re.findall(r"^\| `.*\|$", DOCUMENT.read_text(), re.M)
    assert [line for line in wanted if line not in there] == [], "docs/figures.md lacks these"
    assert [line for line in there if line not in wanted] == [], "these are no known figures"
    assert there == wanted, "in another order"


@pytest.mark.parametrize(("name", "sign"), [("cohen_kappa", 1.0), ("mae_levels", -1.0)])
def test_the_gate_asks_the_table_which_way_is_better(name: str, sign: float) -> None:
    known = figure_of(f"criteria.c.panel.vs_gold.{name}", ["c"], "vs_gold")
    assert known is not None
    assert known[2] == sign


@pytest.mark.parametrize("name", ["bias_p", "ks_p", "bias_levels", "majority_share"])
def test_what_is_neither_better_nor_worse_cannot_fall(name: str) -> None:
    """A p value falls with more items alone; that is no drop of a judge."""
    for path in (f"criteria.c.panel.vs_gold.{name}", f"criteria.c.panel.vs_gold.more.{name}"):
        assert figure_of(path, ["c"], "vs_gold") is None

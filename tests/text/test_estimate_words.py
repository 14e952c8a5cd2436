"""A value, its interval, and why either is missing: put into words and into JSON in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from core.metrics.estimate import Estimate
from core.text.numbers import percent, score, share_points
from core.text.parser import parsed
from pages.ui.widgets import figure_cell
from tests.places import ROOT

HOME = "core/metrics/estimate.py"
#: Ends that are no interval of an estimate: bins, bounds, limits of control.
OTHER_ENDS = {
    "core/domain/checks.py",
    "core/formats/rubrics/unitxt.py",
    "core/formats/votes/scales.py",
    "core/services/gate/drift.py",
    "core/services/reports/paper.py",
    "core/services/reports/paper_criteria.py",
    "core/text/numbers.py",
    "pages/agreement/asked_again/over_time.py",
    "pages/agreement/calibration.py",
    "pages/review_findings/all_cells.py",
    "pages/rubric/form/rules.py",
}
#: Ends in JSON that are none of an estimate: limits of control, a figure of the gate, an infit.
OTHER_LISTS = {
    "core/services/gate/bounds.py",
    "core/services/gate/drift.py",
    "core/services/rating_models/severity.py",
}


def literals(text: str) -> Iterator[ast.expr]:
    """Every text of a module but its docstrings."""
    tree = parsed(ast.parse, text)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in docs:
            yield node


def lists_ends(node: ast.AST) -> bool:
    """Whether a list holds the low and the high end of the same thing, and nothing else."""
    return isinstance(node, ast.List) and [
        one.attr for one in node.elts if isinstance(one, ast.Attribute)
    ] == ["low", "high"]


def test_no_other_module_lists_the_ends_of_an_interval() -> None:
    found = set()
    for path in sorted((ROOT / "core").rglob("*.py")):
        text = path.read_text()
        nodes = ast.walk(parsed(ast.parse, text)) if ".high]" in text else ()
        if any(map(lists_ends, nodes)):
            found.add(str(path.relative_to(ROOT)))
    assert found - OTHER_LISTS == {HOME}


def says_ends(node: ast.expr) -> bool:
    """Whether a text holds the low end of something, then `to`, then its high end."""
    return isinstance(node, ast.JoinedStr) and any(
        isinstance(first, ast.FormattedValue)
        and isinstance(to, ast.Constant)
        and to.value == " to "
        and "low" in ast.dump(first)
        for first, to in zip(node.values, node.values[1:], strict=False)
    )


def test_no_other_module_writes_the_ends_of_an_interval_or_that_there_is_none() -> None:
    files = [p for part in ("core", "pages") for p in sorted((ROOT / part).rglob("*.py"))]
    missing, ends = set(), set()
    for path in files:
        name = str(path.relative_to(ROOT))
        text = path.read_text()
        for node in literals(text) if " to {" in text or "no interval" in text else ():
            if isinstance(node, ast.Constant) and str(node.value).startswith("no interval"):
                missing.add(name)
            if says_ends(node):
                ends.add(name)
    assert missing == {HOME}
    assert ends - OTHER_ENDS == {HOME}


NOBODY = "No item was rated by both."


@pytest.mark.parametrize(
    ("one", "inline", "below"),
    [
        (Estimate(0.5, 0.25, 0.75), "0.50 (0.25 to 0.75)", "0.25 to 0.75"),
        (Estimate(0.5), "0.50", "no interval"),
        (
            Estimate(0.5, reason=NOBODY),
            f"0.50 (no interval: {NOBODY[:-1]})",
            f"no interval: {NOBODY}",
        ),
        (Estimate.undefined(NOBODY), f"undefined ({NOBODY[:-1]})", NOBODY),
        (Estimate.share(0, 0), "–", ""),
    ],
)
def test_what_is_missing_is_said_with_its_reason(one: Estimate, inline: str, below: str) -> None:
    words = one.words(score)
    assert (words.inline, words.below) == (inline, below)


def test_a_difference_of_shares_is_said_in_points() -> None:
    assert Estimate(0.05, -0.01, 0.11).words(share_points).inline == (
        "+5.0 points (−1.0 points to +11.0 points)"
    )


def test_a_cell_of_a_page_has_the_same_words_below_each_other() -> None:
    # Only reasons are broken into lines: ends are short, and many columns stand side by side.
    assert figure_cell(Estimate(0.5, 0.25, 0.75), percent) == (
        '50%<br><span class="rs-quiet">25% to 75%</span>'
    )
    assert "No item &lt;b&gt;" in figure_cell(Estimate.undefined("No item <b>."))
    assert figure_cell(Estimate(0.5), interval=False) == "0.50"
    assert figure_cell(Estimate.share(0, 0), percent) == "–"

"""Figures of agreement: every number is drawn where it belongs, every name as it is written."""

from __future__ import annotations

import pytest

from core.figures import (
    MOST_NAMES,
    agreement_map,
    bland_altman,
    forest,
    rater_strips,
    reliability_diagram,
    series_plot,
)
from core.metrics.estimate import Estimate


def test_a_forest_has_a_dot_a_whisker_and_what_is_to_be_beaten() -> None:
    figure = forest(
        [("<b>x</b>", Estimate(0.5, 0.4, 0.7, n=12)), ("y", Estimate(None))],
        "Accuracy",
        "Most common",
        [0.6, None],
        "<b>x</b>",
    )

    base, dots = figure.data
    assert (list(base.x), list(dots.x)) == ([0.6], [0.5])
    assert list(dots.error_x.array) == [pytest.approx(0.2)]
    assert list(dots.error_x.arrayminus) == [pytest.approx(0.1)]
    assert list(dots.customdata) == ["<b>x</b>"]
    assert dots.hovertext[0] == "&lt;b&gt;x&lt;/b&gt;: 0.50 (0.40 to 0.70), 12 items"
    assert figure.layout.annotations[0].text == "undefined"


def test_a_strip_has_every_rater_and_their_mean() -> None:
    figure = rater_strips([("People", [("ann", 0.2), ("ben", -0.1)], 0.05)], "Kappa", "ben")

    (strip,) = figure.data
    assert list(strip.x) == [0.2, -0.1]
    assert list(strip.hovertext) == ["ann: 0.20", "ben: −0.10"]
    assert list(strip.marker.line.width) == [1, 3]
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (0.05, 0.05)


def test_a_map_shows_every_pair_once_and_its_cells_can_be_clicked() -> None:
    values = [[1.0, None, 0.5], [None, 1.0, -0.2], [0.5, -0.2, 1.0]]

    figure = agreement_map(
        ["a", "<i>", "c"], values, [[3, 0, 2], [0, 3, 2], [2, 2, 3]], [("x", 1), ("y", 2)]
    )

    cells, marks = figure.data
    assert [tuple(cell) for cell in marks.customdata] == [(2, 0), (2, 1)]
    assert marks.hovertext[1] == "c and &lt;i&gt;: −0.20 on 2 items"
    assert [at for at in range(3) if cells.z[at][at] == cells.z[at][at]] == []  # NaN: blank
    assert cells.z[2][0] == 0.5


def test_a_map_of_very_many_raters_marks_the_first_group_only() -> None:
    size = MOST_NAMES + 5
    values = [[0.5] * size for _ in range(size)]

    figure = agreement_map(
        [f"r{at}" for at in range(size)],
        values,
        [[9] * size] * size,
        [("first", 2), ("rest", size)],
    )

    assert {column for _, column in map(tuple, figure.data[1].customdata)} == {0, 1}
    assert figure.layout.dragmode == "select"
    assert not figure.layout.yaxis.showticklabels


def test_differences_of_scores_are_drawn_against_their_means() -> None:
    figure = bland_altman([(0.4, 0.6, 3), (1.0, 0.5, 1)], 0.025, (-0.5, None), ("<r>", "j"))

    (dots,) = figure.data
    assert list(dots.x) == pytest.approx([0.5, 0.75])
    assert list(dots.y) == pytest.approx([0.2, -0.5])
    assert [one.text for one in figure.layout.annotations] == ["bias 0.03", "limit −0.50"]
    assert "&lt;r&gt;" in figure.layout.yaxis.title.text


def test_series_of_a_chart_differ_in_more_than_colour() -> None:
    series = [("one", [0.1, None]), ("two", [0.3, 0.4])]

    bars = series_plot(["a", "b"], series, ("Place", "Share"), share=True)
    # A slanted name that reaches past the plot is shown all the same.
    assert bars.layout.xaxis.ticklabeloverflow == "allow"
    dots = series_plot(["a", "b"], series, ("Place", "Value"), kind="dots")

    assert [bar.marker.pattern.shape for bar in bars.data] == ["", "/"]
    assert [dot.marker.symbol for dot in dots.data] == ["circle", "diamond"]
    assert list(bars.data[0].y) == [0.1, None]
    assert bars.layout.yaxis.tickformat == ".0%"


def test_a_reliability_diagram_has_a_dot_a_bin_and_its_interval() -> None:
    figure = reliability_diagram(
        [(0.72, Estimate(0.5, 0.2, 0.8, n=4)), (0.95, Estimate.share(9, 9))]
    )

    line, dots = figure.data
    assert (list(line.x), list(line.y)) == ([0, 1], [0, 1])
    assert (list(dots.x), list(dots.y)) == ([0.72, 0.95], [0.5, 1.0])
    assert next(iter(dots.error_y.array)) == pytest.approx(0.3)
    assert list(dots.customdata) == [4, 9]
    assert dots.marker.size[0] < dots.marker.size[1]

"""Figures: what is counted is drawn, and labels are never read as markup."""

from __future__ import annotations

from core.blocks.palette import shade
from core.figures import (
    agreement_cells,
    confusion_cells,
    score_histogram,
    verdict_bars,
    win_cells,
)


def test_the_histogram_keeps_the_counts_and_the_edges_of_its_bins() -> None:
    figure = score_histogram([(0.0, 0.5, 3), (0.5, 1.0, 0)], mean=0.2)

    (bars,) = figure.data
    assert list(bars.x) == [0.25, 0.75]
    assert list(bars.y) == [3, 0]
    assert [tuple(edges) for edges in bars.customdata] == [(0.0, 0.5), (0.5, 1.0)]
    assert figure.layout.annotations[0].text == "mean 0.20"


def test_every_piece_of_a_bar_is_a_share_with_its_words_and_its_option() -> None:
    figure = verdict_bars(
        [("Clear", [("MET", 0, 1.0, 3), ("UNMET", 1, 0.0, 0), ("abstained", None, None, 1)])]
    )

    # A choice that nobody got has no piece.
    met, abstained = figure.data
    assert (met.x[0], met.text[0], list(met.customdata[0])) == (0.75, "MET 75%", ["Clear", 0])
    assert (abstained.x[0], list(abstained.customdata[0])) == (0.25, ["Clear", -1])
    assert "3 of 4 items" in met.hovertemplate


def test_markup_in_names_is_shown_as_it_is_written() -> None:
    figure = verdict_bars([("<b>x</b>", [('<a href="http://e">y</a>', 0, 0.5, 1)])])

    (bar,) = figure.data
    assert "<" not in bar.y[0] + bar.text[0]
    assert bar.customdata[0][0] == "<b>x</b>"


def test_long_labels_are_cut() -> None:
    (bar,) = verdict_bars([("c", [("y" * 100, 0, 0.5, 1)])]).data

    assert bar.text[0] == "y" * 39 + "… 100%"


def test_a_cell_of_a_confusion_matrix_is_a_whole_bar_that_knows_its_place() -> None:
    figure = confusion_cells(
        ("<b>x</b>", "y"), ("x", "y", "abstained"), [(1200, 0, 4), (0, 3, 0)], ("Labels", "ann")
    )

    _, second, third = figure.data
    assert [tuple(one) for one in second.customdata] == [(0, 1), (1, 1)]
    assert (list(second.text), list(third.text)) == (["0", "3"], ["4", "0"])
    assert figure.data[0].text[0] == "1,200"
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;"
    # The first name differs from its column's by its markup, the second is the same answer.
    # Nothing has the paper's colour on light and on dark, and the theme's ink.
    assert third.marker.color[1] == shade(0) == "rgba(27,133,126,0.00)"
    assert {one.font.color for one in figure.layout.annotations} == {None}
    assert set(third.textposition) == {"none"}
    assert [one.text for one in figure.layout.annotations[2:4]] == ["0", "3"]
    same, inner = figure.layout.shapes
    assert (same.line.color, inner.line.color) == ("#FFFFFF", "#000000")
    assert (same.x0, same.x1) == (1.01, 1.99)


def test_a_confusion_matrix_can_be_read_in_shares_of_its_rows() -> None:
    figure = confusion_cells(("x", "y"), ("x", "y"), [(1, 3), (0, 0)], ("a", "b"), as_shares=True)

    # One of four, three of four; a row without items has no share above 0.
    assert [list(bar.text) for bar in figure.data] == [["25%", "0%"], ["75%", "0%"]]


def test_the_chosen_cell_is_framed() -> None:
    figure = confusion_cells(("x", "y"), ("x", "y"), [(1, 0), (0, 3)], ("a", "b"), (1, 0))

    *same, frame = figure.layout.shapes
    assert [one.y0 for one in same] == [-0.48, -0.48, 0.52, 0.52]
    assert 0 < frame.x0 < frame.x1 < 1
    assert 0.5 < frame.y0 < frame.y1 < 1.5


def test_an_undefined_agreement_is_said_and_none_is_made_up() -> None:
    figure = agreement_cells(("a", "b"), [[1.0, None], [None, -0.25]])

    assert [list(bar.text) for bar in figure.data] == [
        ["1.00", "undefined"],
        ["undefined", "−0.25"],
    ]


def test_a_win_matrix_has_a_cell_for_every_two_and_none_for_who_never_met() -> None:
    figure = win_cells(
        ["a", "b"], [[None, 0.75], [0.25, None]], [["", "75% of 8"], ["25% of 8", ""]], (0, 1)
    )
    # A bar per cell, column by column; a click gives its row and column.
    assert [list(map(tuple, bar.customdata)) for bar in figure.data] == [
        [(0, 0), (1, 0)],
        [(0, 1), (1, 1)],
    ]
    assert figure.data[1].text[0] == "75% of 8"
    # Half-way between level and winning: (244+1)/2, (241+118)/2, (234+106)/2, halves to even.
    assert figure.data[1].marker.color[0] == "#7AB4AA"
    assert len(figure.layout.shapes) == 1

"""What the pictures of a comparison say."""

from __future__ import annotations

from core.figures import DifferenceDot, Priced, differences, frontier


def test_what_its_test_calls_significant_is_filled_and_an_interval_alone_is_not() -> None:
    gaps = [
        DifferenceDot("told apart", 0.2, 0.1, 0.3, "up", significant=True),
        DifferenceDot("clear by its own interval", 0.2, 0.01, 0.3, "corrected p 0.057"),
        DifferenceDot("open", 0.1, -0.1, 0.3, "unsure"),
        DifferenceDot("bare", 0.1, None, None, "no interval"),
        DifferenceDot("none", None, None, None, ""),
    ]
    figure = differences(gaps, "Accuracy")

    assert list(figure.data[0].marker.symbol) == ["circle", *["circle-open"] * 3]
    assert [note.text for note in figure.layout.annotations] == ["undefined"]
    # As wide to both sides: the furthest end is .3, with a margin of 12%.
    assert [round(end, 3) for end in figure.layout.xaxis.range] == [-0.336, 0.336]


def test_names_of_others_are_never_markup() -> None:
    figure = differences([DifferenceDot("<b>x</b>", 0.1, 0.0, 0.2, "<i>%{x}")], "A")

    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;"
    assert figure.data[0].hovertext[0] == "&lt;i&gt;%&#123;x}"


def test_costs_that_span_much_take_a_logarithmic_axis_and_free_runs_never() -> None:
    def run(cost: float, efficient: bool = False) -> Priced:
        return Priced("r", cost, 0.8, 0.7, 0.9, efficient)

    assert frontier([run(1, True), run(30)]).layout.xaxis.type == "log"
    assert frontier([run(1, True), run(15)]).layout.xaxis.type == "linear"
    assert frontier([run(0, True), run(30)]).layout.xaxis.type == "linear"
    names = [trace.name for trace in frontier([run(1, True), run(2)]).data]
    assert names[1:] == ["efficient", "another run is as good for less"]

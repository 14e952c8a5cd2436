"""What the pictures of a comparison say."""

from __future__ import annotations

from core.figures import frontier
from core.metrics.estimate import Estimate

ACCURACY = Estimate(0.8, 0.7, 0.9)


def test_costs_that_span_much_take_a_logarithmic_axis_and_free_runs_never() -> None:
    def axis(first: float, second: float) -> str:
        runs = {"one": (first, ACCURACY), "two": (second, ACCURACY)}
        return str(frontier(runs, ["one"]).layout.xaxis.type)

    assert [axis(1, 30), axis(1, 15), axis(0, 30)] == ["log", "linear", "linear"]
    figure = frontier({"one": (1, ACCURACY), "two": (2, ACCURACY)}, ["one"])
    names = [trace.name for trace in figure.data]
    assert names[1:] == ["efficient", "another run is as good for less"]

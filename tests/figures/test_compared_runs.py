"""What the pictures of a comparison say."""

from __future__ import annotations

from core.figures import RunCost, frontier


def test_costs_that_span_much_take_a_logarithmic_axis_and_free_runs_never() -> None:
    def run(cost: float, efficient: bool = False) -> RunCost:
        return RunCost("r", cost, 0.8, 0.7, 0.9, efficient)

    assert frontier([run(1, True), run(30)]).layout.xaxis.type == "log"
    assert frontier([run(1, True), run(15)]).layout.xaxis.type == "linear"
    assert frontier([run(0, True), run(30)]).layout.xaxis.type == "linear"
    names = [trace.name for trace in frontier([run(1, True), run(2)]).data]
    assert names[1:] == ["efficient", "another run is as good for less"]

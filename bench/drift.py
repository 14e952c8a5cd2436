"""Anchors asked again every week for a year: alarms without any drift, and how soon one is found.

    python -m bench.drift [SERIES]

Items with four yes-or-no cells; each week a judge answers anew: one wavers (a fifth of its answers
are drawn anew), one hardly (a fiftieth). Three judges, two measures, 52 looks. Prints the share of
series in which anybody is ever said to have drifted; then, where one judge turns a no into a yes
with a chance of .2 from the fifth week on (a tenth of the best), how many looks it takes, and the
share of series found within four and twelve weeks.
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.drift import look_at
from core.metrics.intervals.joint_draws import AnswerPairs
from core.services.agreement.overall import OVERALL
from core.services.gate.baseline import fall

CELLS, WEEKS, JUDGES, MEASURES, FROM = 4, 52, 3, 2, 5


def alarms(
    generator: np.random.Generator, items: int, error: float, kinder: float
) -> list[tuple[int, int]]:
    """The looks that raise an alarm, as (week, judge); judge 0 is the one that turns kinder."""
    of = np.repeat(np.arange(items), CELLS)
    deserved = generator.random(len(of)) < 0.5
    found = []
    for judge in range(JUDGES):
        first = _answers(generator, deserved, error)
        for week in range(1, WEEKS + 1):
            given = _answers(generator, deserved, error)
            if not judge and week >= FROM:
                given |= generator.random(len(of)) < kinder
            measures = [
                ((given == deserved) * 1.0, (first == deserved) * 1.0),
                (given * 1.0, first * 1.0),
            ]
            for now, before in measures:
                if look_at(now, before, of, week, JUDGES * MEASURES).out:
                    found.append((week, judge))
    return found


def _answers(generator: np.random.Generator, deserved: np.ndarray, error: float) -> np.ndarray:
    anew = generator.random(len(deserved)) < error
    return np.where(anew, generator.random(len(deserved)) < 0.5, deserved)


def failed(generator: np.random.Generator, items: int, weeks: int, *, watch: bool) -> bool:
    """Whether `check --baseline` ever fails in so many weeks in which nothing has fallen."""
    ids = tuple(map(str, range(items)))
    truth = generator.integers(0, 2, items)

    def pairs() -> list[AnswerPairs]:
        given = np.where(_answers(generator, truth == 1, 0.4), 1, 0)
        return [AnswerPairs("c", ("no", "yes"), False, ids, truth, given)]

    first = pairs()
    for week in range(1, weeks + 1):
        found = fall(first, pairs(), OVERALL["accuracy"], look=week if watch else 0)
        if (found.low or 0.0) > 0:
            return True
    return False


def main() -> None:
    """Print a line for each judge and number of items."""
    series = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    generator = np.random.default_rng(7)
    for watch in (False, True):
        times = sum(failed(generator, 60, 26, watch=watch) for _ in range(series // 3))
        said = "with --watch" if watch else "without"
        print(f"a gate asked in 26 weeks, {said}: fails in {times / (series // 3):.0%}", flush=True)
    for name, error in (("wavering", 0.2), ("steady", 0.02)):
        for items in (30, 100, 300):
            ever = sum(bool(alarms(generator, items, error, 0.0)) for _ in range(series))
            waits = []
            for _ in range(max(1, series // 10)):
                hits = [w for w, j in alarms(generator, items, error, 0.2) if not j and w >= FROM]
                waits.append(min(hits) - FROM + 1 if hits else WEEKS)
            soon = [f"{np.mean(np.array(waits) <= most):.0%}" for most in (4, 12)]
            print(
                f"{name}, {items} items: alarm without drift in {ever / series:.2%}; kinder by .1: "
                f"found after {np.median(waits):.0f} looks, within 4 in {soon[0]}, 12 in {soon[1]}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""Anchors asked again every week for a year: alarms without any drift, and how soon one is found.

    python -m bench.drift [SERIES]

Items with four yes-or-no cells, or one; each week a judge answers anew: one wavers (a fifth of its
answers are drawn anew), one hardly (a fiftieth). Three judges, two measures, 52 looks. Prints the
share of series in which anybody is ever said to have drifted; then, where one judge turns a no into
a yes with a chance of .2 from the fifth week on and stays so (a tenth of the best), how many looks
it takes, and the share of series found within one, four and twelve weeks: by each look alone
beside the first one, and by means of the last looks beside the first ones.
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.drift import FIRST, WINDOWS, comparisons_of_cells
from core.metrics.intervals.joint_draws import AnswerPairs
from core.services.agreement.overall import OVERALL
from core.services.gate.baseline import figure_fall

WEEKS, JUDGES, MEASURES, FROM = 52, 3, 2, 5


def alarms(
    generator: np.random.Generator,
    size: tuple[int, int],
    error: float,
    kinder: float,
    *,
    means: bool = True,
    weeks: int = WEEKS,
) -> list[tuple[int, int]]:
    """The looks that raise an alarm, as (week, judge); judge 0 is the one that turns kinder."""
    items, cells = size
    of = np.repeat(np.arange(items), cells)
    deserved = generator.random(len(of)) < 0.5
    found = []
    for judge in range(JUDGES):
        given = np.array([_answers(generator, deserved, error) for _ in range(1 + weeks)])
        if not judge:
            given[FROM:] |= generator.random((weeks - FROM + 1, len(of))) < kinder
        for answers in ((given == deserved) * 1.0, given * 1.0):
            tests = JUDGES * MEASURES
            looks = comparisons_of_cells(
                answers, of, tests, *((WINDOWS, FIRST) if means else ((1,), 1))
            )
            found += [(week, judge) for week, one in enumerate(looks, 1) if any(w.out for w in one)]
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
        found = figure_fall(first, pairs(), OVERALL["accuracy"], look=week if watch else 0)
        if (found.drop.low or 0.0) > 0:
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
        for size in ((30, 4), (60, 4), (100, 1), (100, 4), (300, 4)):
            said = [f"{name}, {size[0]} items of {size[1]}"]
            for words, means in (
                ("alone, to the first", False),
                ("means, to the first ones", True),
            ):
                ever = sum(
                    bool(alarms(generator, size, error, 0.0, means=means)) for _ in range(series)
                )
                waits = [
                    _wait(generator, size, error, means=means) for _ in range(max(20, series // 4))
                ]
                soon = [f"{np.mean(np.array(waits) <= most):.0%}" for most in (1, 4, 12)]
                said.append(
                    f"{words}: alarm without drift in {ever / series:.2%}, kinder by .1 found "
                    f"within 1, 4, 12 looks in {', '.join(soon)}"
                )
            print("; ".join(said), flush=True)


def _wait(
    generator: np.random.Generator, size: tuple[int, int], error: float, *, means: bool
) -> int:
    """After how many looks a judge that turned kinder is found; many where it never is."""
    found = alarms(generator, size, error, 0.2, means=means, weeks=FROM + 12)
    hits = [week for week, judge in found if not judge and week >= FROM]
    return min(hits) - FROM + 1 if hits else WEEKS


if __name__ == "__main__":
    main()

"""Whether promises about unseen verdicts are kept when several queues settle a run.

    python -m bench.promises [trials]

Workload: 300 cells, 150 of each of two criteria, two judges who agree on all of them or differ on
the last fifth; which verdicts are wrong is drawn anew in every trial, for each criterion with its
share. Queues are made and read by the services; people's decisions are written as the services
write them, without tickets. What is done is said in `tests/services/promised.py`: one, two and
three queues, narrowed ones, orders that follow what was found. A line per promise: how often
something was accepted, how often more of it was wrong than was allowed (promised: 5 % of trials),
and how often the 95 % interval of what nobody looked at missed its share. Nothing is timed.

Then the metric alone, at its worst: five confidences, 500 verdicts of which a fifth or a little
more is wrong at every confidence, so that each threshold is a false one that nearly holds; others
settle a twentieth at a time and the promise (at most 20 %) is read each time, until something is
accepted: twenty looks at one draw. Last, fresh draws instead of looks: 1,000 verdicts, up to eight
random draws of 40, 60 or 100 from what is left, until one accepts something; each with the whole
5 %, as it was, and with what the k-th draw of a run may spend.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from core.metrics.intervals.acceptance import acceptance
from core.services.review.random_audit import may_break
from tests.services.promised import WORKLOADS, base, tallies

TRIALS, ALPHA = 1000, 0.25
#: Which share of each criterion's verdicts is wrong; on how many items the judges differ.
SETTINGS = (
    ("0 % and 30 %", {"easy": 0.0, "hard": 0.3}, 0),
    ("5 % and 45 %", {"easy": 0.05, "hard": 0.45}, 30),
    ("both 22 %", {"easy": 0.22, "hard": 0.22}, 0),
)


def main(trials: int = TRIALS) -> None:
    print(f"{trials} trials a line; at most {ALPHA:.0%} of what is accepted may be wrong")
    print("wrong | judges differ on | what people do | promise of | accepted | broken | missed")
    with tempfile.TemporaryDirectory() as folder:
        for said, shares, split in SETTINGS:
            place = Path(folder) / said
            place.mkdir()
            path = base(place, 150, split)
            for name, work in WORKLOADS.items():
                for n, found in enumerate(tallies(path, work, ALPHA, shares, trials), 1):
                    row = (
                        *(said, f"{2 * split} cells", name, f"queue {n}"),
                        f"{found.accepted / found.promises:.1%}",
                        f"{found.broken / found.promises:.1%}",
                        f"{found.missed / found.promises:.1%}",
                    )
                    print(" | ".join(row), flush=True)
    at_its_worst(trials)
    drawn_afresh(trials)


Floats = npt.NDArray[np.float64]
ORDERS = ("nobody settles anything", "at random", "surest first", "right ones first")


def looks(order: str, wrong: float, drawn: float, trials: int) -> tuple[float, float]:
    """How often something was accepted, and how often the promise was then broken."""
    rng = np.random.default_rng(17)
    accepted = broken = 0
    for _ in range(trials):
        sure = np.tile(np.linspace(1, 0.6, 5), 100)
        right = rng.random(500) >= wrong
        seen = rng.random(500) < drawn
        firsts: dict[str, Floats] = {"surest first": -sure, "right ones first": ~right * 1.0}
        turn = np.lexsort((rng.random(500), firsts.get(order, np.zeros(500))))
        for step in range(1 if order == ORDERS[0] else 20):
            known = np.zeros(500, np.bool_)
            known[turn[: step * 25]] = True
            others, rest = known & ~seen, ~known & ~seen
            known_cells = (sure[others], right[others])
            at = acceptance(
                sure[seen], right[seen], 0.2, unseen=sure[rest], known=known_cells
            ).threshold
            if at is not None:
                accepted += 1
                broken += bool((~right[rest & (sure >= at)]).mean() > 0.2)
                break
    return accepted / trials, broken / trials


def at_its_worst(trials: int) -> None:
    print("\nwrong | drawn | others settle | accepted | broken")
    for wrong in (0.2, 0.22):
        for drawn in (0.2, 0.5):
            for order in ORDERS:
                accepted, broken = looks(order, wrong, drawn, trials)
                print(
                    f"{wrong:.0%} | {drawn:.0%} | {order} | {accepted:.1%} | {broken:.1%}",
                    flush=True,
                )


def fresh(levels: int, wrong: float, size: int, trials: int, *, spend: bool) -> tuple[float, float]:
    """How often one of eight fresh draws accepted something, and the promise was then broken."""
    rng = np.random.default_rng(19)
    accepted = broken = 0
    for _ in range(trials):
        sure = np.tile(np.linspace(1, 0.6, levels), 1000)[:1000]
        right, known = rng.random(1000) >= wrong, np.zeros(1000, np.bool_)
        for k in range(1, 9):
            drawn = rng.choice(np.flatnonzero(~known), size, replace=False)
            known[drawn] = True
            risk = may_break(k) if spend else 0.05
            found = acceptance(sure[drawn], right[drawn], 0.2, unseen=sure[~known], delta=risk)
            if found.threshold is not None:
                accepted += 1
                broken += bool((~right[~known & (sure >= found.threshold)]).mean() > 0.2)
                break
    return accepted / trials, broken / trials


def drawn_afresh(trials: int) -> None:
    print("\nlevels | wrong | labels a draw | 5 % each: accepted, broken | spent: accepted, broken")
    for levels in (1, 5):
        for wrong in (0.1, 0.2, 0.22, 0.25):
            for size in (40, 60, 100):
                each, shared = (
                    "{:.1%}, {:.1%}".format(*fresh(levels, wrong, size, trials, spend=spend))
                    for spend in (False, True)
                )
                print(f"{levels} | {wrong:.0%} | {size} | {each} | {shared}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

"""Queues of at most so many cells: what is in them, whether chances and intervals hold.

    python -m bench.queue_cap [trials]

Workload: the run of `tests/services/promised.py`, 300 cells of two criteria, 200 of them in doubt
(two judges differ). 5 % of the verdicts on one criterion are wrong, 30 % on the other, drawn anew
in every trial. A queue of at most 60 cells with an audit of 20 % is made and decided in its order,
by whichever verdicts it hands out. A line per order: cells in doubt and random ones in the queue;
how far the number of times each cell was drawn is from the sum of its recorded chances, in standard
deviations (root mean square over cells; 1 is what chance alone gives); how often the 95 % interval
of what nobody looked at missed its share, how often the promise (at most 25 % wrong) was broken;
how many random cells were decided half-way, and how often the range given then missed that share.
Nothing is timed.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from shutil import copyfile

import numpy as np

from core.domain.review import Order, QueueRule, QueueSettings
from core.services.review import claims, queues
from core.store.store import Store
from tests.services.promised import Place, Trial, base
from tests.services.reviewed import sit

TRIALS, ALPHA, MOST, AUDIT = 400, 0.25, 60, 0.2
SHARES = {"easy": 0.05, "hard": 0.3}
ORDERS: tuple[Order, ...] = ("entropy", "impact", "dataset", "random")


class Tally:
    """What came out of the trials of one order."""

    def __init__(self) -> None:
        self.doubtful, self.random, self.half = [list[int]() for _ in range(3)]
        self.drawn = Counter[Place]()
        self.due, self.spread = [defaultdict[Place, float](float) for _ in range(2)]
        self.given = self.missed = self.accepted = self.broken = 0
        self.early = self.early_missed = 0

    def add(self, trial: Trial, order: Order) -> None:
        """Make a queue, decide half of it, then all, and compare what it says with the truth."""
        queue = made(trial, order)
        self._draw(trial, queue)
        order_of = handed_out(trial.store, queue, order)
        half = [place for item in order_of[: len(order_of) // 2] for place in item]
        trial.settle(queue, half)
        audit = set(trial.places(queue, audit=True))
        self.half.append(len(audit & set(half)))
        outside = [place for place in trial.cells if place not in set(trial.places(queue))]
        right = sum(place not in trial.wrong for place in outside) / len(outside)
        so_far = getattr(trial.read(queue, ALPHA).found, "so_far", None)
        if so_far is not None:
            self.early += 1
            self.early_missed += not so_far[0] <= right <= so_far[1]
        trial.settle(queue, trial.places(queue))
        said = trial.read(queue, ALPHA)
        self.given += said.found.accuracy.value is not None
        self.missed += said.missed
        self.accepted += said.accepted is not None
        self.broken += said.broken(ALPHA)

    def _draw(self, trial: Trial, queue: int) -> None:
        cells = trial.store.queues.cells(queue)
        audit = [(cell.item_id, cell.criterion) for cell in cells if cell.audit]
        kept = {(cell.item_id, cell.criterion) for cell in cells if not cell.audit}
        self.doubtful.append(len(kept))
        self.random.append(len(audit))
        self.drawn.update(audit)
        chances = {cell.chance for cell in cells if cell.audit}
        (chance,) = chances or {0.0}
        for place in trial.cells:
            if place not in kept:
                self.due[place] += chance
                self.spread[place] += chance * (1 - chance)

    def __str__(self) -> str:
        off = [
            (self.drawn[place] - due) ** 2 / self.spread[place]
            for place, due in self.due.items()
            if self.spread[place]
        ]
        trials = len(self.random)
        away = f"{np.sqrt(np.mean(off)):.2f}" if off else "-"
        parts = (
            f"{np.mean(self.doubtful):.1f} doubtful, {np.mean(self.random):.1f} random",
            f"{away} sd",
            f"{self.missed} of {self.given} missed",
            f"{self.broken} of {trials} broken, {self.accepted} accepted",
            f"{np.mean(self.half):.1f} random ones half-way",
            f"{self.early_missed} of {self.early} missed then",
        )
        return " | ".join(parts)


def made(trial: Trial, order: Order) -> int:
    """The queue."""
    rule = QueueRule.only(split=True, audit_share=AUDIT, most=MOST)
    seat, seed = sit(trial.store, "Lea"), trial.dice.randrange(2**31)
    return queues.make_queue(
        trial.store, seat, 1, "Q", rule, QueueSettings(), order=order, seed=seed
    ).id


def handed_out(store: Store, queue: int, order: Order) -> list[list[Place]]:
    """The cells of each item, in the order in which a reviewer gets the items."""
    cells: dict[str, list[Place]] = {}
    for cell in store.queues.cells(queue):
        cells.setdefault(cell.item_id, []).append((cell.item_id, cell.criterion))
    turns = claims.next_items(store, sit(store, "Ada"), queue, limit=MOST * 10)
    return [cells[turn.item_id] for turn in turns]


def main(trials: int = TRIALS) -> None:
    print(f"{trials} trials a line; at most {MOST} cells, audit {AUDIT:.0%}")
    with tempfile.TemporaryDirectory() as folder:
        path = base(Path(folder), 150, 100)
        for order in ORDERS:
            tally = Tally()
            for n in range(trials):
                for old in path.parent.glob("trial.db*"):
                    old.unlink()
                fresh = path.with_name("trial.db")
                copyfile(path, fresh)
                store = Store(fresh)
                tally.add(Trial(store, random.Random(f"{order}:{n}"), SHARES), order)
                store.close()
            print(f"{order} | {tally}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trials", type=int, nargs="?", default=TRIALS)
    main(parser.parse_args().trials)

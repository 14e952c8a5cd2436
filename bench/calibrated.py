"""What labels do for a panel of recorded judges: ``calibrated`` against the plain rule.

    python -m bench.calibrated [seeds]

For each seed, 20 or 50 of the items are labelled at random, the rule is fitted on them as the
product does, and the verdicts of all other items are compared with the truth. Prints the mean
accuracy over the seeds with its standard error, the plain rule's (the mode) and the best single
judge's on all items, how often the fit was offered, and what its own out-of-fold accuracy promised
on average, which must not flatter.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from typing import NamedTuple

from bench.recorded import Recorded, dices, found, llmbar
from core.aggregate import settle
from core.domain.fitted import Fitted
from core.domain.panel import Rules
from core.identity import seeded
from core.services.fitting import Labelled, fit_criterion

SEEDS, LABELS = 20, (20, 50)


class Trial(NamedTuple):
    """One seed: accuracy on the items that were not labelled, and what the fit said of itself."""

    accuracy: float
    plain: float
    promised: float
    offered: bool


def trial(recorded: Recorded, labels: int, seed: int) -> Trial:
    """Label ``labels`` items at random, fit, and settle all others."""
    cells = list(recorded.cells)
    seeded("calibrated", labels, seed).shuffle(cells)
    fitted = fit_criterion(recorded.criterion, cells[:labels], Rules())
    rest = cells[labels:]
    plain = accuracy(recorded, rest, None)
    if isinstance(fitted, str):
        return Trial(plain, plain, plain, offered=False)
    return Trial(
        accuracy(recorded, rest, fitted), plain, fitted.right / fitted.labels, fitted.better
    )


def accuracy(recorded: Recorded, cells: list[Labelled], fitted: Fitted | None) -> float:
    """The share of these cells whose verdict is the truth; no verdict is wrong."""
    right = 0
    for cell in cells:
        weights = fitted.for_item(cell.item_id) if fitted else None
        verdict = settle(recorded.criterion, cell.ballots, Rules(), weights=weights)
        right += verdict is not None and verdict.option == cell.truth
    return right / len(cells)


def best_single(recorded: Recorded) -> float:
    """The share of right votes of the best judge alone, over all items."""
    hits: defaultdict[str, list[bool]] = defaultdict(list)
    for cell in recorded.cells:
        for ballot in cell.ballots:
            hits[ballot.judge].append(ballot.option == cell.truth)
    return max(statistics.fmean(each) for each in hits.values())


def main(seeds: int = SEEDS) -> None:
    if not found():
        print("the recorded votes are not there (../shared/data): nothing measured")
        return
    both = ("original", "swapped")
    sets = [
        llmbar("Vanilla"),
        llmbar("CoT"),
        llmbar("CoT", orders=both, name="LLMBar, five models, CoT, two orders"),
        llmbar("Metrics_Reference"),
        dices(range(5)),
        dices(range(11)),
    ]
    print(f"{'votes':40} plain best | {seeds} seeds: labels accuracy (s.e.) out of fold, offered")
    for recorded in sets:
        plain = accuracy(recorded, list(recorded.cells), None)
        print(f"{recorded.name:40} {plain:.3f} {best_single(recorded):.3f}", end="")
        for labels in LABELS:
            trials = [trial(recorded, labels, seed) for seed in range(seeds)]
            got = [t.accuracy for t in trials]
            error = statistics.stdev(got) / seeds**0.5
            promised = statistics.fmean(t.promised for t in trials)
            offered = sum(t.offered for t in trials)
            print(
                f" | {labels} {statistics.fmean(got):.3f} ({error:.3f}) {promised:.3f} "
                f"{offered}/{seeds}",
                end="",
            )
        print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

"""Whether the learning curve of the path keeps its word: how often its intervals hold.

    python bench/learning_curve.py [../shared/data] [saf_en|mohler|...]
        [--labels 20 30] [--draws 100]

Workload: in each draw (seeds 0, 1, ...) the labels are a simple random sample of a folder's answers
and 300 others are the test. What the path says after so many labels ("kappa .48 (.. to ..) with 20,
between .. and .. with 40") is held against judges that learn from these labels, and from twice as
many, and judge the test, without the rule that would switch them off.

    now      the interval holds the kappa of this judge on the test
    twice    the interval holds the kappa on the test of the judge that learns from twice as many
    off      draws without a judge, which promise nothing

The kappa on 300 others has an error of its own (.03 to .05), which counts against the intervals.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
from few_labels import DATA, FOLDERS, TESTED, Task, tasks_of
from threadpoolctl import threadpool_limits

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.judging.offline import Unfit, train, worth
from core.judging.offline.calibration import is_ordered
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import cohen_kappa
from core.services.guided.learning import LearntCriterion, curve_of

_ENOUGH = worth.OutOfFold.enough


def real_kappa(task: Task, learn: list[Item], test: list[Item], seed: int) -> float | None:
    """The kappa on the test of a judge that learnt, whatever cross-validation says of it."""
    worth.OutOfFold.enough = property(lambda found: True)
    try:
        pairs = [(item, task.truth[item.id]) for item in learn]
        judge = Judge(name="c", kind="classifier")
        model = train(judge, task.criterion, pairs, test, seed=seed)
    finally:
        worth.OutOfFold.enough = _ENOUGH
    if isinstance(model, Unfit):
        return None
    truth = [task.truth[item.id] for item in test]
    best = [said.best for said in model.predict(test)]
    counts = confusion(np.array(truth), np.array(best), len(task.criterion.choices))
    weights = "quadratic" if is_ordered(task.criterion) else "none"
    return cohen_kappa(counts, weights).value or 0.0


def draw(task: Task, labels: int, seed: int) -> tuple[LearntCriterion, float | None, float | None]:
    """What the path says, and the kappas that came with these labels and with twice as many."""
    order = random.Random(f"curve {seed}").sample(task.items, len(task.items))
    learn, more = order[:labels], order[: 2 * labels]
    test = order[2 * labels : 2 * labels + TESTED]
    curve = curve_of(task.criterion, [(i, task.truth[i.id]) for i in learn], [*learn, *test])
    if curve.kappa is None:
        return curve, None, None
    return curve, real_kappa(task, learn, test, seed), real_kappa(task, more, test, seed)


def shown(task: Task, labels: int, draws: int) -> str:
    """A line of figures of a task."""
    with threadpool_limits(1):
        drawn = [draw(task, labels, seed) for seed in range(draws)]
    held: dict[str, list[bool]] = {"now": [], "twice": []}
    said, came, width = [], [], []
    for curve, now, later in drawn:
        if curve.low is not None and now is not None:
            held["now"].append(curve.low <= now <= curve.high)
        if curve.twice is not None and later is not None:
            low, high = curve.twice
            held["twice"].append(low <= later <= high)
            said.append(curve.kappa)
            came.append((now, later))
            width.append(high - low)
    parts = [
        f"{name} {np.mean(of):.0%} of {len(of)}" if of else f"{name} none"
        for name, of in held.items()
    ]
    if said:
        first, second = np.mean(came, axis=0)
        parts.append(f"kappa said {np.mean(said):.2f}, came {first:.2f}, then {second:.2f}")
        parts.append(f"width {np.mean(width):.2f}")
    off = sum(curve.kappa is None for curve, *_ in drawn)
    return f"{task.name} n={labels}: {', '.join(parts)}, off {off}/{draws}"


def main() -> None:
    """Runs the folders named on the command line, or all that have texts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("names", nargs="*", default=list(FOLDERS))
    parser.add_argument("--labels", type=int, nargs="*", default=[20, 30, 50])
    parser.add_argument("--draws", type=int, default=100)
    args = parser.parse_args()
    if not args.data.is_dir():
        print(f"Not measured: this needs the labelled answers in {args.data}.")
        return
    for name in args.names:
        for task in tasks_of(args.data / name, False):
            for labels in args.labels:
                if 2 * labels + 100 <= len(task.items):
                    print(shown(task, labels, args.draws), flush=True)


if __name__ == "__main__":
    main()

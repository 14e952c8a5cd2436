"""Whether the learning curve of the path keeps its word: how often its intervals hold.

    python bench/learning_curve.py [../shared/data] [saf_en|mohler|...]
        [--labels 20 30] [--draws 100]

Workload: in each draw (seeds 0, 1, ...) the labels are a simple random sample of a folder's answers
and 300 others are the test. What the path says after so many labels ("kappa .48 (.. to ..) with 20
labels. With 40 you would know it more exactly: .. to ..") is held against judges that learn from
these labels and judge the test, without the rule that would switch them off, and against the
interval that comes with twice as many.

    now      the interval holds the kappa of this judge on the test
    width    of the interval now, as foretold for twice as many, and as it came with them
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
from core.judging.offline import TrainingReport, train, worth
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
    if isinstance(model, TrainingReport):
        return None
    truth = [task.truth[item.id] for item in test]
    best = [said.best for said in model.predict(test)]
    counts = confusion(np.array(truth), np.array(best), len(task.criterion.choices))
    weights = "quadratic" if is_ordered(task.criterion) else "none"
    return cohen_kappa(counts, weights).value or 0.0


def draw(
    task: Task, labels: int, seed: int
) -> tuple[LearntCriterion, float | None, LearntCriterion]:
    """What the path says with these labels, the kappa that came, and what it says with twice."""
    order = random.Random(f"curve {seed}").sample(task.items, len(task.items))
    learn, more = order[:labels], order[: 2 * labels]
    test = order[2 * labels : 2 * labels + TESTED]
    curves = [
        curve_of(task.criterion, [(i, task.truth[i.id]) for i in taught], [*taught, *test])
        for taught in (learn, more)
    ]
    came = None if curves[0].kappa is None else real_kappa(task, learn, test, seed)
    return curves[0], came, curves[1]


def shown(task: Task, labels: int, draws: int) -> str:
    """A line of figures of a task."""
    with threadpool_limits(1):
        drawn = [draw(task, labels, seed) for seed in range(draws)]
    held, said, came, widths = list[bool](), [], [], []
    for curve, now, later in drawn:
        if curve.low is None or now is None:
            continue
        held.append(curve.low <= now <= curve.high)
        said.append(curve.kappa)
        came.append(now)
        if later.low is not None:
            low, high = curve.twice
            widths.append((curve.high - curve.low, high - low, later.high - later.low))
    parts = [f"now {np.mean(held):.0%} of {len(held)}" if held else "now none"]
    if said:
        parts.append(f"kappa said {np.mean(said):.2f}, came {np.mean(came):.2f}")
    if widths:
        now, foretold, then = np.mean(widths, axis=0)
        parts.append(f"width {now:.2f}, foretold {foretold:.2f}, then {then:.2f}")
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

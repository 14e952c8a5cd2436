"""Which ten answers to grade next: at random, spread out, or those a judge is least sure of.

    python bench/which_next.py [../shared/data] [saf_en|mohler|...] [--draws 20] [--most 100]

Workload: of each folder, 300 answers wait for grades and 300 others are the test, drawn anew in
each draw (seeds 0, 1, ...). Ten are graded at a time, by their true labels, until ``--most`` are.

    random   a simple random sample
    spread   one at random from each tenth of the answers in order of nearness to the reference
             (without references, of length): each has the same chance of being drawn
    unsure   the ten of which the judge that learnt from the graded ones is least sure
    half     five at random, five of those

Each judge is the classifier, without the test that would switch it off, so that all draws count,
and cross-validated once rather than five times, which is quicker and chooses a little worse.
"needed" is the least number of labels with which the mean over draws reaches what random labels
reach at 50: quadratic kappa where labels have an order, else kappa.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
from few_labels import DATA, FOLDERS, TESTED, Task, tasks_of
from threadpoolctl import threadpool_limits

from core.domain.panel import Judge
from core.judging.offline import TrainingReport, calibration, train, worth
from core.judging.offline.features import Encoder, texts_of
from core.metrics.agreement.accuracy import confusion
from core.metrics.agreement.kappa import cohen_kappa

WAYS = ("random", "spread", "unsure", "half")
TEN = 10


def graded_in_turn(task: Task, way: str, seed: int, most: int) -> list[float]:
    """The kappa on the test after every ten labels."""
    generator = random.Random(f"next {seed}")
    drawn = generator.sample(task.items, min(len(task.items), 2 * TESTED))
    half = min(TESTED, len(drawn) // 2)
    test, open_ = drawn[:half], list(drawn[half:])
    encoded = Encoder(tuple(sorted({texts_of(item) for item in open_}))).encode(open_)
    by = encoded.closeness if all(encoded.has_reference) else encoded.raw[:, 8]
    tenth = {
        item.id: int(place) * TEN // len(open_)
        for item, place in zip(open_, by.argsort().argsort(), strict=True)
    }
    known, found, model = [], [], None
    truth = np.array([task.truth[item.id] for item in test])
    while len(known) < most and len(open_) >= TEN:
        sure = {}
        if model is not None and way in ("unsure", "half"):
            sure = {
                i.id: max(p.probabilities) for i, p in zip(open_, model.predict(open_), strict=True)
            }
        if way == "spread":
            ten = [
                generator.choice([i for i in open_ if tenth[i.id] == part]) for part in range(TEN)
            ]
        elif sure:
            least = sorted(open_, key=lambda item: sure[item.id])[: TEN if way == "unsure" else 5]
            rest = [item for item in open_ if item not in least]
            ten = [*least, *generator.sample(rest, TEN - len(least))]
        else:
            ten = generator.sample(open_, TEN)
        chosen = {item.id for item in ten}
        open_ = [item for item in open_ if item.id not in chosen]
        known += ten
        pairs = [(item, task.truth[item.id]) for item in known]
        model = train(
            Judge(name="c", kind="classifier"), task.criterion, pairs, [*test, *open_], seed=seed
        )
        if isinstance(model, TrainingReport):  # too few labels of a second kind
            model = None
            found.append(0.0)
            continue
        counts = confusion(
            truth, np.array([p.best for p in model.predict(test)]), len(task.criterion.choices)
        )
        ordered = task.criterion.scale == "ordinal"
        found.append(cohen_kappa(counts, "quadratic" if ordered else "none").value or 0.0)
    return found


def main() -> None:
    """Runs the folders named on the command line, or all that have texts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("names", nargs="*", default=list(FOLDERS))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--most", type=int, default=100)
    args = parser.parse_args()
    if not args.data.is_dir():
        print(f"Not measured: this needs the labelled answers in {args.data}.")
        return
    worth.OutOfFold.enough = property(lambda found: True)
    calibration.repeats_for = lambda n: 1
    for name in args.names:
        for task in tasks_of(args.data / name, False):
            curves = {}
            for way in WAYS:
                with threadpool_limits(1):
                    runs = [graded_in_turn(task, way, s, args.most) for s in range(args.draws)]
                length = min(map(len, runs))
                curves[way] = np.mean([run[:length] for run in runs], axis=0)
            goal = curves["random"][min(4, len(curves["random"]) - 1)]
            for way, curve in curves.items():
                reached = np.flatnonzero(curve >= goal - 1e-9)
                needed = TEN * (int(reached[0]) + 1) if len(reached) else "more"
                print(
                    f"{task.name} {way}: needed {needed} | " + " ".join(f"{k:.2f}" for k in curve),
                    flush=True,
                )


if __name__ == "__main__":
    main()

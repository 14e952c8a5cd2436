"""What labels do for a panel of recorded judges: ``calibrated`` against the plain rule.

    python -m bench.calibrated [seeds]
    python -m bench.calibrated --planted [seeds]

For each seed, 10, 20 or 50 of the items are labelled at random, the rule is fitted on them as the
product does, and the verdicts of all other items are compared with the truth: used where it is
offered, else the plain rule. Prints, as means over the seeds, what came against the plain rule and
against the judge that was best on the same labels; how often the fit was offered; and, of those
fits alone, what it promised of itself on labels that its choice had not seen, against what came.
Where levels have an order, the figure is by how many levels verdicts missed (less is better), else
the share that is right (more is better).

``--planted``: made judges of a yes-or-no question, 120 items, 20 to 50 labels: all alike, so that
the plain rule is best; one good among poor ones; and one judge where a single answer is common.
Prints how often a rule is offered, how often it then was a constant, and how often it was worse on
the items without a label.
"""

from __future__ import annotations

import statistics
import sys
from typing import NamedTuple

import numpy as np

from bench.recorded import Recorded, dices, found, hanna, llm_rubric, llmbar
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.domain.weight_fit import Fitted, Weights
from core.identity import seeded_random
from core.scoring.verdict import Ballot, settle
from core.services.results.weight_fit import fit_criterion
from core.services.results.weight_fit_kinds import LabelledCell, LearnedCells

SEEDS, LABELS = 20, (10, 20, 50)
RULES = Rules(ordinal="mean")


class Trial(NamedTuple):
    """One seed: figures on the items that were not labelled, and what the fit said of itself.

    ``right`` is the share of right verdicts, ``far`` the mean of levels missed; ``plain`` ones are
    the plain rule's. ``best`` is what the judge that was best on the labels comes to alone, in the
    measure that counts. ``promised`` and ``promised_far`` are the fit's own estimates.
    """

    accuracy: float
    plain: float
    far: float
    plain_far: float
    best: float
    promised: float
    promised_far: float
    offered: bool


def trial(recorded: Recorded, labels: int, seed: int) -> Trial:
    """Label ``labels`` items at random, fit, and settle all others."""
    cells = list(recorded.cells)
    seeded_random("calibrated", labels, seed).shuffle(cells)
    taught, rest = cells[:labels], cells[labels:]
    fitted = fit_criterion(recorded.criterion, taught, RULES, [cell.ballots for cell in rest])
    lesson = LearnedCells(recorded.criterion, taught)
    plain = _figures(lesson, rest, None)
    best = _figures(lesson, rest, lesson.fit("judge", np.arange(labels)))[int(lesson.ordinal)]
    if isinstance(fitted, str):
        return Trial(plain[0], plain[0], plain[1], plain[1], best, *plain, offered=False)
    used = _figures(lesson, rest, fitted.weights) if fitted.better else plain
    return Trial(
        used[0],
        plain[0],
        used[1],
        plain[1],
        best,
        fitted.right / fitted.labels,
        _far_of(fitted),
        fitted.better,
    )


def _far_of(fitted: Fitted) -> float:
    return 1 - fitted.right / fitted.labels if fitted.far is None else fitted.far


def _figures(
    lesson: LearnedCells, cells: list[LabelledCell], weights: Weights | None
) -> tuple[float, float]:
    """The share of these cells whose verdict is the truth, and what they cost on average."""
    right, cost = 0, 0.0
    for cell in cells:
        verdict = settle(lesson.criterion, cell.ballots, RULES, weights=weights)
        option = verdict.option if verdict else None
        right += option == cell.truth
        cost += lesson.loss(option, cell.truth)
    return right / len(cells), cost / len(cells)


def line(recorded: Recorded, labels: int, seeds: int) -> str:
    """One row of the table."""
    trials = [trial(recorded, labels, seed) for seed in range(seeds)]
    ordinal = recorded.criterion.scale == "ordinal"
    came = [t.far if ordinal else t.accuracy for t in trials]
    plain = statistics.fmean(t.plain_far if ordinal else t.plain for t in trials)
    offered = [t for t in trials if t.offered]
    error = statistics.stdev(came) / seeds**0.5
    row = (
        f"{recorded.name:52} {labels:3} {plain:.3f} "
        f"{statistics.fmean(t.best for t in trials):.3f} {statistics.fmean(came):.3f} "
        f"({error:.3f}) {len(offered):3}/{seeds}"
    )
    if not offered:
        return row
    pairs = [((t.promised, t.accuracy), (t.promised_far, t.far)) for t in offered]
    exact = [statistics.fmean(p[0][at] for p in pairs) for at in (0, 1)]
    far = [statistics.fmean(p[1][at] for p in pairs) for at in (0, 1)]
    row += f" right {exact[0]:.3f} came {exact[1]:.3f}"
    return row + (f" far {far[0]:.3f} came {far[1]:.3f}" if ordinal else "")


PLANTED = {
    "three alike, right in .75": (0.5, (0.75,) * 3),
    "five alike, right in .7": (0.5, (0.7,) * 5),
    "three alike, right in .8, a fifth MET": (0.2, (0.8,) * 3),
    "one right in .9, two in .6": (0.5, (0.9, 0.6, 0.6)),
    "one right in .76, 7 % MET": (0.07, (0.76,)),
}


def planted(share: float, accuracies: tuple[float, ...], seed: int) -> Recorded:
    """Made judges of a question of which that share is MET."""
    dice = np.random.default_rng(seed)
    truths = [int(dice.random() >= share) for _ in range(120)]
    cells = [
        LabelledCell(
            f"i{at:03}",
            [
                Ballot(true if dice.random() < accuracy else 1 - true, False, 1.0, f"j{judge}")
                for judge, accuracy in enumerate(accuracies)
            ],
            true,
        )
        for at, true in enumerate(truths)
    ]
    criterion = Criterion(name="right", requirement="Is it right?")
    return Recorded("planted", criterion, tuple(cells))


def offers_of_planted(seeds: int = 120) -> None:
    for name, (share, accuracies) in PLANTED.items():
        for labels in (10, *LABELS[1:]):
            fits = offered = constant = worse = 0
            for seed in range(seeds):
                made = planted(share, accuracies, seed)
                known, rest = list(made.cells[:labels]), list(made.cells[labels:])
                fitted = fit_criterion(made.criterion, known, RULES, [c.ballots for c in rest])
                if isinstance(fitted, str):
                    continue
                fits += 1
                if fitted.better:
                    lesson = LearnedCells(made.criterion, known)
                    ours, plain = (_figures(lesson, rest, one)[0] for one in (fitted.weights, None))
                    offered += 1
                    constant += bool(fitted.constant)
                    worse += ours < plain
            print(
                f"{name}, {labels} labels: offered in {offered} of {fits}, a constant {constant}, "
                f"worse {worse}",
                flush=True,
            )


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
        *(hanna("relevance", f"prompt{n}") for n in (1, 2, 3, 4)),
        hanna("coherence", "prompt2"),
        hanna("surprise", "prompt2"),
        llm_rubric("overall_satisfaction"),
        llm_rubric("naturalness"),
    ]
    print(
        f"{'votes':52} labels, plain, best judge on the labels, calibrated where offered (s.e.), "
        "offered; of the offered: promised, came"
    )
    for recorded in sets:
        for labels in LABELS:
            print(line(recorded, labels, seeds), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--planted"]:
        offers_of_planted(*map(int, sys.argv[2:3]))
    else:
        main(*map(int, sys.argv[1:2]))

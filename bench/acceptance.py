"""Whether promises about unseen verdicts are kept, on recorded votes with known truth.

    python -m bench.acceptance [simulations]

Each simulation labels some items at random, as an audit does, and decides from them alone.

Acceptance: the lowest confidence from which on verdicts are accepted, so that at most a share alpha
of them disagrees with the truth, promised with 95 % confidence. Confidence is the agreement of the
panel, or the chance that a rule fitted on 50 other labels gives its verdict. A trial breaks the
promise where more than alpha of the accepted verdicts, which nobody labelled, disagree with the
truth. Beside it: the same with the bound for an endless supply, which verdicts of a run are not.

Corrected mean: 95 % intervals of the accuracy (said: confidence) and of the mean value of the
labels (said: the mean vote), prediction-powered; and of the labels alone.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.recorded import Recorded, dices, found, gpt4, llmbar
from core.domain.panel import Rules
from core.domain.weight_fit import Fitted, weights_as_shares
from core.metrics.intervals.acceptance import acceptance
from core.metrics.intervals.sampling import powered_mean
from core.scoring.verdict import log_weights, settle
from core.services.results.weight_fit import fit_criterion

SIMULATIONS, LEARN, AUDIT = 1000, 50, 100

Floats = npt.NDArray[np.float64]


class Judged(NamedTuple):
    """Per item: how sure the verdict is, whether it is right, the mean vote and the true value."""

    name: str
    sure: Floats
    right: npt.NDArray[np.bool_]
    said: Floats
    true: Floats


def judged(recorded: Recorded, name: str, learn: int = 0) -> Judged:
    """The verdicts, how sure they are, and the truth; ``learn`` items fit and are left out."""
    cells = list(recorded.cells)
    order = np.random.default_rng(7).permutation(len(cells))
    taught = [cells[i] for i in order[:learn]]
    fitted = fit_criterion(recorded.criterion, taught, Rules()) if learn else None
    rows = []
    for i in order[learn:]:
        cell = cells[i]
        weights = fitted.weights if isinstance(fitted, Fitted) else None
        verdict = settle(recorded.criterion, cell.ballots, Rules(), weights=weights)
        values = recorded.criterion.values
        votes = [values[b.option] or 0.0 for b in cell.ballots if b.option is not None]
        if verdict is None or verdict.option is None:
            continue
        sure = verdict.agreement or 0.0
        logs = log_weights(recorded.criterion, cell.ballots, weights) if weights else None
        if logs:
            chances = dict(zip(logs, weights_as_shares(tuple(logs.values())), strict=True))
            sure = chances[verdict.option]
        rows.append(
            (sure, verdict.option == cell.truth, float(np.mean(votes)), values[cell.truth] or 0.0)
        )
    columns = list(zip(*rows, strict=True))
    return Judged(
        name,
        np.array(columns[0]),
        np.array(columns[1], np.bool_),
        np.array(columns[2]),
        np.array(columns[3]),
    )


class Trials(NamedTuple):
    """Shares of the simulations: promise broken, nothing accepted; and what was accepted."""

    broken: float
    nothing: float
    accepted: float


def acceptances(
    data: Judged, alpha: float, labels: int, simulations: int, *, endless: bool = False
) -> Trials:
    """How often the promise was broken, and how much was accepted."""
    rng = np.random.default_rng(11)
    n, broken, nothing = len(data.sure), 0, 0
    taken: list[float] = []
    for _ in range(simulations):
        audit = np.zeros(n, np.bool_)
        audit[rng.choice(n, labels, replace=False)] = True
        rest = None if endless else data.sure[~audit]
        at = acceptance(data.sure[audit], data.right[audit], alpha, unseen=rest).threshold
        unseen = ~audit & (data.sure >= (np.inf if at is None else at))
        nothing += at is None
        broken += bool(unseen.any() and (~data.right[unseen]).mean() > alpha)
        taken.append(float(unseen.sum() / (~audit).sum()))
    return Trials(broken / simulations, nothing / simulations, float(np.mean(taken)))


def means(data: Judged, labels: int, simulations: int) -> str:
    """How often intervals hold the mean over all items, and how wide they are."""
    rng = np.random.default_rng(13)
    n, lines = len(data.sure), []
    cases = (("accuracy", data.sure, data.right.astype(float)), ("mean", data.said, data.true))
    for what, said, true in cases:
        held, width = np.zeros(2), np.zeros(2)
        for _ in range(simulations):
            audit = np.zeros(n, np.bool_)
            audit[rng.choice(n, labels, replace=False)] = True
            got = powered_mean(said, true[audit], audit)
            for place, mean in enumerate((got.mean, got.labels)):
                low, high = mean.low or 0.0, mean.high or 0.0
                held[place] += low <= true.mean() <= high
                width[place] += high - low
        held, width = held / simulations, width / simulations
        lines.append(
            f"{data.name:46} {what:8} {labels:3} labels: held {held[0]:.1%}, width {width[0]:.3f} "
            f"(labels alone {held[1]:.1%}, {width[1]:.3f}; uncorrected off by "
            f"{abs(said.mean() - true.mean()):.3f})"
        )
    return "\n".join(lines)


def main(simulations: int = SIMULATIONS) -> None:
    if not found():
        print("the recorded votes are not there (../shared/data): nothing measured")
        return
    models, reference = llmbar("Vanilla"), llmbar("Metrics_Reference")
    crowd, panel = dices(range(5)), gpt4()
    sets = [
        judged(models, models.name),
        judged(models, f"{models.name}, calibrated", LEARN),
        judged(reference, f"{reference.name}, calibrated", LEARN),
        judged(panel, panel.name),
        judged(crowd, crowd.name),
        judged(crowd, f"{crowd.name}, calibrated", LEARN),
    ]
    print(f"{simulations} simulations each\n\nAcceptance")
    for data in sets:
        base = float((~data.right).mean())
        print(f"{data.name}: {base:.1%} of all verdicts disagree")
        for alpha in (0.1, 0.2, 0.3):
            for labels in (AUDIT, 2 * AUDIT):
                got = acceptances(data, alpha, labels, simulations)
                other = acceptances(data, alpha, labels, simulations, endless=True)
                print(
                    f"  at most {alpha:.0%}, {labels:3} labels: broken {got.broken:.1%}, accepted "
                    f"{got.accepted:.0%} of the unseen on average, nothing in {got.nothing:.0%}; "
                    f"endless: broken {other.broken:.1%}, accepted {other.accepted:.0%}"
                )
    print("\nCorrected mean")
    for data in sets:
        for labels in (30, AUDIT):
            print(means(data, labels, simulations))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))

"""What reviewing in the queue's order gains, replayed on recorded votes: truth as the reviewer.

    python -m bench.review_order [picture.svg]

Verdicts are settled by the default rule and cells ordered as the queue orders them,
by ``core.services.queueing.queue_order``;
the first x % get the true option. Ties are drawn at random, 200 times,
and the mean is shown, with random order (which gains in proportion) in brackets. "Learning": after
each 5 % the rule ``calibrated`` is fitted on what was settled so far, and where it beats the plain
rule, its chances order the rest instead of the votes' (20 draws); the verdicts stay
those of the plain rule. With a file's name, the curves are drawn there.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from pathlib import Path
from typing import NamedTuple

from bench.curves import Curve, drawn
from bench.recorded import Recorded, dices, found, gpt4, llmbar
from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Rubric
from core.domain.weight_fit import Fitted, weights_as_shares
from core.identity import seeded_random
from core.scoring.verdict import log_weights, settle
from core.services.queueing.queue_order import (
    WhatIf,
    mixed_measures,
    option_chances,
    tally_votes,
)
from core.services.results.weight_fit import fit_criterion
from core.services.results.weight_fit_kinds import LabelledCell

DRAWS, CHUNK = 200, 0.05
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
SHOWN = (0.0, 0.1, 0.2, 0.3, 0.5)


class Cell(NamedTuple):
    """Its place in the queue and whether its verdict is right."""

    key: tuple[float, ...]
    right: bool


def cells_of(recorded: Recorded, settled: Sequence[LabelledCell] = ()) -> list[Cell]:
    """The cells with their keys, in the recorded order; ``settled`` ones teach a rule."""
    criterion = recorded.criterion
    rubric = build_model(Rubric, {"criteria": [criterion.model_dump()]}, "rubric")
    fitted = fit_criterion(criterion, settled, Rules())
    weights = fitted.weights if isinstance(fitted, Fitted) and fitted.better else None
    what_if, cells = WhatIf(rubric), []
    for cell in recorded.cells:
        verdict = settle(criterion, cell.ballots, Rules())
        logs = log_weights(criterion, cell.ballots, weights) if weights else None
        likely = (
            dict(zip(logs, weights_as_shares(tuple(logs.values())), strict=True)) if logs else None
        )
        answers = {criterion.name: verdict.option} if verdict else {}
        votes = tally_votes(criterion, cell.ballots)
        flip, change = what_if.impact(criterion.name, answers, votes, known_chances=likely)
        right = verdict is not None and verdict.option == cell.truth
        entropy, _ = mixed_measures(criterion, votes)
        mixed = 1.0 if entropy is None else entropy
        shares = likely or option_chances(criterion, votes)
        other = fsum(
            share for option, share in shares.items() if not verdict or option != verdict.option
        )
        key = tuple(-round(x, 9) for x in (flip, change, min(1.0, other), mixed))
        cells.append(Cell(key, right))
    return cells


def curve(recorded: Recorded, draws: int = DRAWS) -> list[float]:
    """The share of right verdicts after each of ``SHARES`` was reviewed, in the queue's order."""
    cells = cells_of(recorded)
    return _means(_replayed(sorted(cells, key=_keyed(draw))) for draw in range(draws))


def learning(recorded: Recorded, draws: int = 20) -> list[float]:
    """The same with the rest ordered anew after every ``CHUNK`` of the cells."""
    return _means(_replayed(_learnt(recorded, draw)) for draw in range(draws))


def _learnt(recorded: Recorded, draw: int) -> list[Cell]:
    cells, order = cells_of(recorded), list[int]()
    left, keyed = list(range(len(cells))), _keyed(draw)
    while left:
        left.sort(key=lambda place: keyed(cells[place]))
        many = max(1, round(CHUNK * len(cells)))
        order, left = order + left[:many], left[many:]
        cells = cells_of(recorded, [recorded.cells[place] for place in order])
    return [cells[place] for place in order]


def _keyed(draw: int) -> Callable[[Cell], tuple[tuple[float, ...], float]]:
    rng = seeded_random("ties", draw)
    return lambda cell: (cell.key, rng.random())


def _replayed(order: Sequence[Cell]) -> list[float]:
    wrong = [0]
    for cell in order:
        wrong.append(wrong[-1] + (not cell.right))
    right = len(order) - wrong[-1]
    return [(right + wrong[round(share * len(order))]) / len(order) for share in SHARES]


def _means(found: Iterable[list[float]]) -> list[float]:
    return [statistics.fmean(column) for column in zip(*found, strict=True)]


def main(picture: str = "") -> None:
    if not found():
        print("the recorded votes are not there (../shared/data): nothing measured")
        return
    sets = [llmbar("Vanilla"), llmbar("Metrics_Reference"), gpt4(), dices(range(5))]
    print(f"{'share reviewed':48}" + "".join(f"{share:>16.0%}" for share in SHOWN))
    curves = []
    for recorded in sets:
        plain, learnt = curve(recorded), learning(recorded)
        _show(recorded.name, plain)
        _show(f"{recorded.name}, learning", learnt)
        curves.append(Curve(recorded.name, SHARES, tuple(plain), tuple(learnt)))
    if picture:
        Path(picture).write_text(drawn(curves), encoding="utf-8")


def _show(name: str, got: list[float]) -> None:
    line = ""
    for share in SHOWN:
        there = got[SHARES.index(share)]
        line += f"{there:>9.3f} ({got[0] + share * (1 - got[0]):.3f})"
    print(f"{name:48}{line}")


if __name__ == "__main__":
    main(*sys.argv[1:2])

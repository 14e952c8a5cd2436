"""Paired probes on made judges: whom they accuse, and what they find.

    python -m bench.probes [SETS]

Answers to four yes-or-no criteria, of which longer texts deserve more; every set asks one judge (or
three) about all twelve edits, as a probe of a run does. Healthy judges are moved by no edit: one
wavers (a fifth of its answers are drawn anew each time it is asked), one always says the same of
the same text and is brittle (a fifth is drawn anew for every edited text), one hardly errs. Printed
is the share of sets in which anybody is accused of anything; then, where an edit truly moves
answers by so much of a criterion's best, the share of sets in which it is found, and in which
anything else is said of that judge.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Rubric
from core.metrics.bias.probes import Replies
from core.services.diagnostics.probe_edits import (
    AGAIN,
    BY_RULE,
    EDITS,
    LAST_LINES,
    NEUTRAL,
    ORIGINAL,
)
from core.services.diagnostics.probe_results import ProbeGrid, figures
from core.services.runs.questions import PROBE

CRITERIA = 4
RUBRIC = Rubric.model_validate(
    {"criteria": [{"name": f"c{at}", "requirement": "Is it?"} for at in range(CRITERIA)]}
)
GROWN = {"longer:25": 0.25, "longer:50": 0.5, "longer:100": 1.0, "shorter": -0.1}
TEXTS = [ORIGINAL, AGAIN, NEUTRAL, *GROWN, "name:openai", "name:meta"]
TEXTS += [name for name in BY_RULE if name not in ("longer", "name", *GROWN)]
HEALTHY = {"wavering": (0.2, True), "brittle": (0.2, False), "steady": (0.02, True)}


def grid_of(n: int) -> ProbeGrid:
    """The texts of n items; only what a probe keeps of them."""

    def made() -> Iterator[Item]:
        for at in range(n):
            for key in TEXTS:
                grown = 0.15 if key in LAST_LINES else GROWN.get(key, 0.0)
                facts = {"of": str(at), "text": key, "grown": grown}
                yield Item(id=f"{at}~{key}", submission="x", meta={PROBE: facts})

    return ProbeGrid([*made()], RUBRIC, ["meta", "openai"])


def replies(
    generator: np.random.Generator,
    grid: ProbeGrid,
    judge: tuple[float, bool],
    moved: dict[str, float],
    only: int | None = None,
) -> Replies:
    """What a judge says; under the edits in ``moved`` a no becomes a yes with that chance."""
    n, k = len(grid.of), len(grid.texts)
    error, wavers = judge
    # Longer answers truly are better: half of the texts are long, and deserve a yes in .7, not .3.
    deserved = (
        generator.random((n, 1, CRITERIA)) < np.where(np.arange(n) % 2, 0.7, 0.3)[:, None, None]
    )
    anew = generator.random((n, k, CRITERIA)) < error
    yes = np.where(anew, generator.random((n, k, CRITERIA)) < 0.5, deserved)
    if not wavers:
        yes[:, 1] = yes[:, 0]
    for key, chance in moved.items():
        hit = generator.random((n, CRITERIA)) < chance
        at = grid.texts[key]
        if only is not None:
            hit &= np.arange(CRITERIA) == only
        yes[:, at] |= hit
    asked = np.array([key in TEXTS for key in grid.texts])
    options = np.where(asked[:, None], np.where(yes, 0, 1), -1)
    return Replies(np.where(asked[:, None], yes * 1.0, np.nan), options.astype(np.int64))


def accused(
    generator: np.random.Generator,
    grid: ProbeGrid,
    judges: list[tuple[float, bool]],
    moved: dict[str, float] | None = None,
    only: int | None = None,
) -> set[tuple[str, str]]:
    """Whom one set of probes accuses of what; the first judge is the one that is moved."""
    seats = [Judge(name=f"gpt-{at}", model=f"gpt-{at}") for at in range(len(judges))]
    given = {
        seat.name: replies(generator, grid, judge, (moved or {}) if not at else {}, only)
        for at, (seat, judge) in enumerate(zip(seats, judges, strict=True))
    }
    whole, single = figures(seats, [EDITS[name] for name in BY_RULE], given, grid)
    return {(one.judge, one.edit.name) for one in (*whole, *single) if one.accused}


def main() -> None:
    """Print a line for each kind of judge and number of answers."""
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    generator = np.random.default_rng(2024)
    grids = {n: grid_of(n) for n in (30, 50, 100, 200, 300)}
    for name, judge in HEALTHY.items():
        for panel in (1, 3):
            for n in (30, 100, 300):
                times = sum(
                    bool(accused(generator, grids[n], [judge] * panel)) for _ in range(sets)
                )
                print(
                    f"healthy, {name} x {panel}, {n} answers: accused in {times / sets:.2%}",
                    flush=True,
                )
    plants: dict[str, dict[str, float]] = {
        # A tenth of the best, since half of the answers are no already; at a doubling.
        "longer": {key: 0.2 * float(np.log2(1 + GROWN[key])) for key in GROWN if "longer" in key},
        "authority": {"authority": 0.2},
        "name": {"name:openai": 0.2},
    }
    for name, judge in HEALTHY.items():
        for edit, moved in plants.items():
            for n in grids:
                found, else_ = 0, Counter[str]()
                for _ in range(sets // 4):
                    said = accused(generator, grids[n], [judge], moved)
                    found += ("gpt-0", edit) in said
                    else_.update(other for _, other in said if other != edit)
                print(
                    f"{name}, {edit} moves by .1, {n} answers: found in {found / (sets // 4):.0%}; "
                    f"else {dict(else_)}",
                    flush=True,
                )
        for n in (100, 200, 300):
            moved = {key: chance * 2 for key, chance in plants["longer"].items()}
            hits = sum(
                ("gpt-0", "longer") in accused(generator, grids[n], [judge], moved, 0)
                for _ in range(sets // 4)
            )
            share = f"{hits / (sets // 4):.0%}"
            print(f"{name}, longer moves one criterion of {CRITERIA} by .2, {n} answers: {share}")


if __name__ == "__main__":
    main()

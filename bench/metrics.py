"""How long every figure with its interval takes.

    python -m bench.metrics

First the whole report of ``metrics --bootstrap 1000`` on 2,000 items x 6 criteria x 3 judges with
gold labels (groups, pairs, panel, scores), then 10,000 resamples of one criterion with 100,000
items x 3 judges. Prints the median of five rounds, wall and CPU, and how many figures and
intervals came out, so that a report that leaves something out cannot look fast.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.domain.base import build
from core.domain.dataset import Item, Label
from core.domain.rubric import Rubric
from core.metrics.agreement.ratings import State
from core.services.agreement.load_ratings import gather
from core.services.agreement.metrics_report import report
from core.services.agreement.ratings import Rated, RatedAnswer, Rater

JUDGES = ("A", "B", "C")
FIVE = [{"label": f"L{i}", "value": i / 4} for i in range(5)]
SIX: list[dict[str, Any]] = [
    {"name": "right", "requirement": "r", "weight": 10},
    {"name": "safe", "requirement": "r", "weight": 5},
    {"name": "depth", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "tone", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "clear", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "kind", "requirement": "r", "scale": "nominal", "options": FIVE[:3]},
]
NOISE, MISSING, ROUNDS = 0.35, 0.02, 5


def made(items: int, criteria: list[dict[str, Any]], seed: int = 7) -> Rated:
    """Judges who each take another level with probability ``NOISE``, and gold labels."""
    rng = np.random.default_rng(seed)
    rubric = build(Rubric, {"criteria": criteria}, "rubric")
    rows: list[dict[str, Label]] = [{} for _ in range(items)]
    answers = []
    for criterion in rubric.criteria:
        scored = np.array(criterion.scored)
        truth = rng.integers(0, len(scored), items)
        for at, level in enumerate(truth):
            rows[at][criterion.name] = Label(label=criterion.choices[scored[level]].label)
        for judge in JUDGES:
            other = rng.integers(0, len(scored), items)
            given = scored[np.where(rng.random(items) < NOISE, other, truth)]
            lost = rng.random(items) < MISSING
            answers += [
                RatedAnswer(
                    str(at),
                    criterion.name,
                    Rater(judge, "llm"),
                    None if lost[at] else int(given[at]),
                    State.FAILED if lost[at] else State.ANSWERED,
                )
                for at in range(items)
            ]
    made_items = [Item(id=str(i), submission="x", labels=labels) for i, labels in enumerate(rows)]
    return gather(rubric, made_items, answers, {})


def main() -> None:
    _show("2,000 items x 6 criteria x 3 judges, points only", made(2_000, SIX), 0)
    _show("2,000 items x 6 criteria x 3 judges, 1,000 resamples", made(2_000, SIX), 1_000)
    one = made(100_000, SIX[2:3])
    _show("100,000 items x 1 criterion x 3 judges, points only", one, 0)
    _show("100,000 items x 1 criterion x 3 judges, 10,000 resamples", one, 10_000)


def _show(name: str, rated: Rated, resamples: int) -> None:
    figures = report(rated, None, resamples, 1)
    wall, cpu = _medians(lambda: report(rated, None, resamples, 1))
    print(
        f"{name:60} {wall:6.2f} s wall {cpu:6.2f} s CPU  "
        f"{_count(figures, 'figures'):5} figures {_count(figures, 'ci'):5} intervals"
    )


def _medians(work: Callable[[], object]) -> tuple[float, float]:
    walls, cpus = list[float](), list[float]()
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def _count(found: Any, what: str) -> int:
    if not isinstance(found, dict):
        return 0
    if what == "ci":
        own = sum(v is not None for v in found.get("ci", {}).values())
    else:
        own = sum(isinstance(v, float) for v in found.values())
    return own + sum(_count(v, what) for key, v in found.items() if key != "ci")


if __name__ == "__main__":
    main()

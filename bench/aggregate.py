"""How long settling and scoring 100,000 votes takes: 5,556 items x 6 criteria x 3 judges.

    python -m bench.aggregate

Prints seconds (best of five), microseconds per cell and per item, and the settled share of cells
on which the judges agree, so that a run that settles nothing cannot look fast.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Rubric
from core.scoring import score_item
from core.scoring.verdict import Ballot, Verdict, settle

ITEMS, JUDGES, ROUNDS = 5_556, 3, 5
FIVE = [{"label": f"L{i}", "value": i / 4} for i in range(5)]
CRITERIA = [
    {"name": "right", "requirement": "r", "weight": 10},
    {"name": "wrong", "requirement": "r", "weight": -5},
    {"name": "depth", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "tone", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "clear", "requirement": "r", "scale": "ordinal", "options": FIVE},
    {"name": "kind", "requirement": "r", "scale": "nominal", "options": FIVE[:3]},
]
GATES = [
    {"name": "poor", "when": {"criterion": "depth", "below": 0.5}, "then": {"cap": 0.4}},
    {"name": "mixed", "when": {"criterion": "depth", "below": 0.75}, "then": {"cap": 0.7}},
]


def main() -> None:
    plain = build_model(Rubric, {"criteria": CRITERIA}, "rubric")
    gated = build_model(Rubric, {"criteria": CRITERIA, "gates": GATES}, "rubric")
    rng, rules = random.Random(7), Rules()
    cells = [
        [[_ballot(rng, len(c.choices)) for _ in range(JUDGES)] for c in plain.criteria]
        for _ in range(ITEMS)
    ]
    names = [c.name for c in plain.criteria]

    def settled() -> list[list[Verdict | None]]:
        return [
            [settle(c, b, rules) for c, b in zip(plain.criteria, item, strict=True)]
            for item in cells
        ]

    verdicts = settled()
    answers = [
        {name: v.option for name, v in zip(names, item, strict=True) if v is not None}
        for item in verdicts
    ]
    n = ITEMS * len(names)
    agreed = sum(v is not None and v.agreement == 1.0 for item in verdicts for v in item)
    print(f"{n * JUDGES:,} votes, {n:,} cells, {agreed / n:.0%} of them agreed")
    _show("settle", n, "cell", settled)
    _show("score_item", ITEMS, "item", lambda: [score_item(plain, a) for a in answers])
    _show("score_item, 2 gates", ITEMS, "item", lambda: [score_item(gated, a) for a in answers])


def _ballot(rng: random.Random, choices: int) -> Ballot:
    option = rng.randrange(choices)
    return Ballot(option, option == choices - 1 and choices > 2)


def _show(name: str, n: int, unit: str, work: Callable[[], object]) -> None:
    times = list[float]()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    best = min(times)
    print(f"{name:20} {best:6.3f} s  {best / n * 1e6:5.1f} us per {unit}")


if __name__ == "__main__":
    main()

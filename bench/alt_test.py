"""The alternative annotator test on made raters: how often it is wrong, and how often it finds.

    python -m bench.alt_test [samples]

Three or six people and a judge rate items of three levels; each gives the truth with a chance, else
one of the other two. "At the edge" the judge's chance is such that every person is ahead by exactly
epsilon (found by bisection on 400,000 items): passing there is a false alarm. Prints the share of
samples in which a judge passes, for epsilon 0.15, and the mean advantage beside the true one.
"""

from __future__ import annotations

import sys

import numpy as np

from core.metrics.agreement.alt_test import alt_test, wins

EPSILON, LEVELS, RIGHT = 0.15, 3, 0.8
ITEMS, PEOPLE = (30, 50, 100, 300), (3, 6)


def rated(
    generator: np.random.Generator, items: int, chances: tuple[float, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """What raters say who give the truth with these chances, shape (items, raters)."""
    truth = generator.integers(0, LEVELS, (items, 1))
    off = generator.integers(1, LEVELS, (items, len(chances)))
    wrong = generator.random((items, len(chances))) >= np.array(chances)
    return np.asarray((truth + wrong * off) % LEVELS, np.int64)


def ahead(judge: float, people: int) -> tuple[float, float]:
    """How far people truly are ahead of such a judge, and its true advantage."""
    found = rated(np.random.default_rng(1), 400_000, (judge, *[RIGHT] * people))
    machine, person = wins(found[:, 0], found[:, 1:], LEVELS, ordered=False)
    return float(np.mean(person - machine)), float(np.mean(machine))


def edge(people: int) -> float:
    """The chance of a judge of whom people are ahead by exactly epsilon."""
    low, high = 0.2, RIGHT
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if ahead(middle, people)[0] > EPSILON else (low, middle)
    return (low + high) / 2


def main() -> None:
    """Print a line for each number of people and items."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    generator = np.random.default_rng(2025)
    for people in PEOPLE:
        judges = {"edge": edge(people), "as people": RIGHT, "better": 0.9}
        for items in ITEMS:
            said = []
            for name, chance in judges.items():
                passed, rho = 0, 0.0
                for _ in range(samples):
                    found = rated(generator, items, (chance, *[RIGHT] * people))
                    one = alt_test(wins(found[:, 0], found[:, 1:], LEVELS, ordered=False), EPSILON)
                    passed += one.passes is True
                    rho += one.advantage.value or 0.0
                true = ahead(chance, people)[1]
                bias = rho / samples - true
                said.append(f"{name} ({chance:.3f}) {passed / samples:.3f}, rho bias {bias:+.4f}")
            print(f"{people} people, {items} items: passes: {'; '.join(said)}", flush=True)


if __name__ == "__main__":
    main()

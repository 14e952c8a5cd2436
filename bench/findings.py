"""False alarms and power of what ails judges and criteria, on runs made up by
tests/services/diagnostics/planted.py.

Usage: python -m bench.findings [RUNS]. Clean runs: how many raise anything that is promised of
(designed: 1 %), how many show the slope on length, of which nothing is promised, and how small the
p of single checks get. Among them are runs of 600 items in which longer answers really are better:
with labels that err as often as the judges, or that tell less than judges see, or both; and with
labels that err more than the judges. Planted runs: how often
the planted fault is found and named, and what else is shown with it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

import numpy as np

from core.services.diagnostics.diagnosis import Diagnosis, diagnose_evidence
from tests.services.diagnostics.planted import Plant, made

HEALTHY = Plant()
LONGER = {
    "": Plant(deserved=1.0),
    ", labels err as judges do": Plant(deserved=1.0, noisy=0.2),
    ", judges see finer than labels": Plant(deserved=1.0, finer=True),
    ", both": Plant(deserved=1.0, finer=True, noisy=0.2),
    ", labels err more than judges": Plant(deserved=1.0, noisy=0.35),
}
PLANTS = {
    "position": (Plant(first=0.15), "ann"),
    "verbosity": (Plant(longer=0.25), "ann"),
    "leniency": (Plant(kinder=0.4), "ann"),
    "extremes": (Plant(middle=0.5), "ann"),
    "halo": (Plant(halo=0.6), "ann"),
    "abstention": (Plant(silent=0.15), "ann"),
    "inconsistency": (Plant(again=0.5), "ann"),
    "flips": (Plant(flipped=0.5), "ann"),
    "agreement": (Plant(vague=0.8), "cites"),
    "discrimination": (Plant(alone=True), "clear"),
    "unused": (Plant(dead=True), "clear"),
    "merge": (Plant(blurred=True), "warm"),
    "redundancy": (Plant(twin=True), "clear"),
}


def clean(runs: int, n: int, plant: Plant = HEALTHY, said: str = "") -> None:
    raised: Counter[str] = Counter()
    smallest: dict[str, list[float]] = {}
    any_found = slopes = checks = 0
    for seed in range(runs):
        diagnosis = diagnose_evidence(made(seed, n, plant))
        any_found += any(f.false_alarms is not None for f in diagnosis.findings)
        slopes += any(f.false_alarms is None for f in diagnosis.findings)
        checks = diagnosis.check_count
        raised.update(f.kind for f in diagnosis.findings)
        for check in diagnosis.checks:
            if check.effect.p is not None:
                smallest.setdefault(check.kind, []).append(check.effect.p)
    print(
        f"clean, {runs} runs of {n} items ({checks} checks each){said}: {any_found} raised "
        f"anything promised of ({any_found / runs:.1%}), {slopes} a slope on length "
        f"({slopes / runs:.1%})",
        dict(raised),
    )
    below = {kind: f"{np.mean(np.array(p) < 0.01):.2%}" for kind, p in sorted(smallest.items())}
    print("   share of single p below .01 (uncorrected):", below)


def planted(kind: str, runs: int, n: int) -> None:
    plant, subject = PLANTS[kind]
    found, others = 0, Counter[str]()
    estimates = []
    for seed in range(runs):
        diagnosis: Diagnosis = diagnose_evidence(made(seed, n, plant))
        hits = [f for f in diagnosis.findings if f.kind == kind and f.subject == subject]
        found += bool(hits)
        estimates += [f.estimate for f in hits]
        others.update(f"{f.kind} {f.subject}" for f in diagnosis.findings if f not in hits)
    mean = f"{np.mean(estimates):+.3f}" if estimates else "-"
    print(f"{kind:15} n={n}: found {found}/{runs}, mean estimate {mean}; with it {dict(others)}")


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    started = time.perf_counter()
    for n in (60, 300, 1000):
        clean(runs, n)
    clean(runs, 300, Plant(labelled=0.0), ", without labels")
    for said, plant in LONGER.items():
        clean(runs, 600, plant, f", longer is better{said}")
    for n in (100, 300, 600):
        for kind in PLANTS:
            planted(kind, max(20, runs // 10), n)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()

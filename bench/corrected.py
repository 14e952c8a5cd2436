"""Gaps of systems and of runs, corrected by random labels: coverage, width, wrong "better", power.

    python -m bench.corrected [samples]

First made systems with a known truth: judges favour the second by .15 of a point whatever it is
worth, cells are labelled at random, tasks differ. Then shares of yes from judges who are wrong at
known rates. Then recorded votes (``../shared/data``, where they are there), 20 seeds each: LLMBar,
which of two models is right more often; HANNA, all pairs of eleven systems on six criteria, where
the truth is the mean of three people over all stories.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bench.recorded import DATA, found, llmbar
from core.metrics.estimate import Estimate
from core.metrics.intervals.bootstrap import holm
from core.metrics.intervals.hit_rates import corrected_share
from core.metrics.intervals.powered_gaps import powered_gap
from core.metrics.intervals.sampling import Powered, item_shares, powered_mean
from core.metrics.measure import Array
from core.services.queueing.draw_chances import SPREADS

TASKS, FAVOUR, SEEDS, LEVEL = 200, 0.15, 20, 0.05


class Tally:
    """Counts of what came out, and the widths of intervals."""

    def __init__(self) -> None:
        self.n = self.held = self.wrong = self.better = 0
        self.off, self.widths, self.alone = [list[float]() for _ in range(3)]

    def add(self, one: Powered, truth: float, about: float, p: float | None) -> None:
        """``truth`` gives the sign of who is better, ``about`` is what the interval should hold."""
        value, low, high = one.mean[:3]
        if value is None or low is None or high is None or p is None:
            return
        self.n += 1
        self.held += low <= about <= high
        self.off.append(value - about)
        self.widths.append(high - low)
        self.alone.append(width(one.labels))
        self.better += p < LEVEL
        self.wrong += p < LEVEL and value * truth <= 0

    def __str__(self) -> str:
        return (
            f"{self.n} gaps, coverage {self.held / self.n:.3f}, bias {np.mean(self.off):+.4f}, "
            f"width {np.mean(self.widths):.3f} (labels alone {np.mean(self.alone):.3f}), "
            f"'better' {self.better / self.n:.3f}, wrong {self.wrong / self.n:.4f}"
        )


def width(one: Estimate) -> float:
    """From end to end."""
    assert one.low is not None
    assert one.high is not None
    return one.high - one.low


def drawn(generator: np.random.Generator, of: int, labels: int) -> Array:
    """Which are labelled, as 1 and NaN."""
    mark = np.full(of, np.nan)
    mark[generator.choice(of, labels, replace=False)] = 1.0
    return mark


def made(samples: int) -> None:
    """Systems with a known gap."""
    generator = np.random.default_rng(2025)
    tasks, parts = np.repeat(np.arange(TASKS), 2), np.tile([-1.0, 1.0], TASKS)
    for steps in (False, True):
        for gap in (0.0, 0.1):
            for labels in (20, 40, 100, 200):
                told, raw, number = Tally(), 0, samples if gap else 4 * samples
                for _ in range(number):
                    level = np.repeat(generator.normal(0.45, 0.12, TASKS), 2)
                    shift = np.tile([0.0, gap], TASKS)
                    chance = np.clip(level + shift, 0, 1)
                    true = generator.binomial(1, chance) if steps else chance
                    heard = 0.6 * true + 0.2 + np.tile([0.0, FAVOUR], TASKS)
                    said = np.clip(heard + generator.normal(0, 0.1, 2 * TASKS), 0, 1)
                    known = true * drawn(generator, 2 * TASKS, labels)
                    one = powered_gap(said, known, np.zeros(2 * TASKS), parts, tasks)
                    told.add(one, gap, gap, one.p)
                    plain = (parts * said).reshape(-1, 2).sum(axis=1)
                    error = plain.std(ddof=1) / np.sqrt(TASKS)
                    raw += abs(plain.mean()) > 1.96 * error
                kind = "0 or 1" if steps else "shares"
                print(
                    f"made, {kind}, gap {gap}, {labels} labels: {told}; votes alone "
                    f"{raw / number:.3f}",
                    flush=True,
                )


def by_doubt(samples: int) -> None:
    """Means over 300 cells drawn by doubt, in strata of 60, 25 and 15 %; values of five levels."""
    generator = np.random.default_rng(31)
    for wrong in ((0.12, 0.3, 0.5), (0.03, 0.12, 0.3)):
        for labels in (20, 30, 50, 100):
            n, held = 0, np.zeros(2)
            for _ in range(samples):
                of = generator.choice(3, 300, p=(0.6, 0.25, 0.15))
                voted = generator.choice(5, 300, p=(0.05, 0.1, 0.2, 0.35, 0.3))
                off = generator.choice([-2, -1, 1], 300)
                off = np.where(generator.random(300) < np.array(wrong)[of], off, 0)
                true = np.clip(voted + off, 0, 4) / 4
                worth = np.array(SPREADS)[of]
                known = generator.random(300) < np.minimum(1, labels * worth / worth.sum())
                found = powered_mean(voted / 4, true[known], known, of)
                if found.mean.low is None:
                    continue
                n += 1
                for at, one in enumerate((found.mean, found.labels)):
                    assert one.low is not None
                    assert one.high is not None
                    held[at] += one.low <= true.mean() <= one.high
            print(
                f"drawn by doubt, wrong {wrong}, about {labels} labels: {n} means, held in "
                f"{held[0] / n:.1%}, labels alone in {held[1] / n:.1%}",
                flush=True,
            )


def uneven(samples: int) -> None:
    """The same where every cell above the middle is drawn with thrice the chance of the others."""
    generator = np.random.default_rng(8)
    tasks, parts = np.repeat(np.arange(TASKS), 2), np.tile([-1.0, 1.0], TASKS)
    for gap in (0.0, 0.1):
        told, naive = Tally(), 0
        for _ in range(samples):
            level = np.repeat(generator.normal(0.45, 0.12, TASKS), 2)
            chance = np.clip(level + np.tile([0.0, gap], TASKS), 0, 1)
            true = generator.binomial(1, chance).astype(np.float64)
            heard = 0.6 * true + 0.2 + np.tile([0.0, FAVOUR], TASKS)
            said = np.clip(heard + generator.normal(0, 0.1, 2 * TASKS), 0, 1)
            high = said > 0.5
            mark = np.where(generator.random(2 * TASKS) < np.where(high, 0.45, 0.15), 1.0, np.nan)
            one = powered_gap(said, true * mark, high.astype(np.int64), parts, tasks)
            told.add(one, gap, gap, one.p)
            known = np.isfinite(mark)
            sides = [true[known & (parts == sign)] for sign in (-1, 1)]
            error = sum(side.var(ddof=1) / len(side) for side in sides) ** 0.5
            naive += abs(sides[1].mean() - sides[0].mean() - gap) > 1.96 * error
        print(
            f"made, 0 or 1, gap {gap}, uneven draw of about {0.3 * 2 * TASKS:.0f}: {told}; plain "
            f"labels miss in {naive / samples:.3f}",
            flush=True,
        )


def whole_items(samples: int) -> None:
    """Means over six criteria where items were labelled whole, which hang together within one."""
    generator = np.random.default_rng(1)
    items, criteria = 300, 6
    cells = np.repeat(np.arange(items), criteria)
    for labels in (20, 50, 100):
        held = [0, 0]
        for _ in range(samples):
            quality = generator.normal(0, 0.2, (items, 1))
            true = np.clip(0.5 + quality + generator.normal(0, 0.1, (items, criteria)), 0, 1)
            heard = 0.6 * true + 0.3 + 0.1 * generator.normal(size=(items, 1))
            said = np.clip(heard + generator.normal(0, 0.05, true.shape), 0, 1).ravel()
            value = (true * drawn(generator, items, labels)[:, None]).ravel()
            alike = np.zeros(len(cells), np.int64)
            whole = item_shares(cells, np.ones(len(cells)), said, value, alike)
            for at, (f, y, strata) in enumerate(((said, value, alike), whole[:3])):
                known = np.isfinite(y)
                _, low, high, *_ = powered_mean(f, y[known], known, strata).mean
                held[at] += (low or 0.0) <= true.mean() <= (high or 1.0)
        by_cell, by_item = (one / samples for one in held)
        print(
            f"items labelled whole, {labels} of {items}: coverage by item {by_item:.3f}, as if "
            f"each cell had been drawn {by_cell:.3f}",
            flush=True,
        )


def rates(samples: int) -> None:
    """Shares of yes by judges who find 85 % and clear 75 %."""
    generator = np.random.default_rng(7)
    for share in (0.1, 0.3, 0.5):
        for labels in (50, 100, 300):
            held, widths, off = 0, list[float](), list[float]()
            for _ in range(samples):
                true = generator.binomial(1, share, 1000).astype(np.float64)
                said = generator.binomial(1, np.where(true == 1, 0.85, 0.25))
                known = true * drawn(generator, 1000, labels)
                one = corrected_share(said, known, np.full(1000, labels / 1000)).share
                if one.value is None or one.low is None or one.high is None:
                    continue
                held += one.low <= share <= one.high
                widths.append(one.high - one.low)
                off.append(one.value - share)
            print(
                f"hit rates, {share} true, {labels} labels: coverage {held / len(off):.3f} of "
                f"{len(off)}, bias {np.mean(off):+.4f}, width {np.mean(widths):.3f}",
                flush=True,
            )


def runs() -> None:
    """LLMBar: which of two models is right more often, from random labels."""
    data = llmbar("CoT")
    truth = [cell.truth for cell in data.cells]
    models = sorted({b.judge for cell in data.cells for b in cell.ballots})
    said = {
        model: np.array(
            [
                next((b.option for b in c.ballots if b.judge == model), -1) == t
                for c, t in zip(data.cells, truth, strict=True)
            ],
            np.float64,
        )
        for model in models
    }
    for labels in (50, 100, 200):
        told = Tally()
        for seed in range(SEEDS):
            mark = drawn(np.random.default_rng(seed), len(truth), labels)
            for one, other in combinations(models, 2):
                told.add(*_run_gap(said[other] - said[one], mark))
        print(f"LLMBar, {len(models)} models, {labels} labels: {told}", flush=True)


def _run_gap(more: Array, mark: Array) -> tuple[Powered, float, float, float | None]:
    """With what is known to be no gap; beside it all labels as they come."""
    apart, n, true = more != 0, len(more), float(more.mean())
    known = np.where(apart, more * mark, 0.0)
    spots, ones = np.arange(n), np.ones(n)
    one = powered_gap(np.zeros(n), known, np.where(apart, 0, -1), ones, spots)
    plain = powered_gap(np.zeros(n), more * mark, np.zeros(n), ones, spots)
    return one._replace(labels=plain.mean), true, true, one.p


class Stories(NamedTuple):
    """What people and a judge say of stories, shape (tasks, systems)."""

    criterion: str
    people: Array
    judge: Array


def stories(judge: str) -> Iterator[Stories]:
    """HANNA: eleven systems in blocks of 96 stories, in the order of their prompts."""
    with (DATA / "hanna" / "items.jsonl").open(encoding="utf-8") as file:
        ids = {json.loads(line)["id"]: at for at, line in enumerate(file)}
    kept: dict[str, dict[str, list[list[float]]]] = {}
    with (DATA / "hanna" / "votes.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            who = "people" if row["rater_kind"] == "human" else row["rater_id"]
            if who in ("people", judge) and row["score"]:
                of = kept.setdefault(row["criterion"], {})
                given = of.setdefault(who, [[] for _ in ids])
                given[ids[row["item_id"]]].append((float(row["score"]) - 1) / 4)
    for criterion, of in kept.items():
        people, said = (
            np.array([np.mean(one) if one else 0.5 for one in of[who]]).reshape(-1, 96).T
            for who in ("people", judge)
        )
        yield Stories(criterion, people, said)


def systems() -> None:
    """HANNA: all pairs of systems, corrected for their number."""
    everything = list(stories("ChatGPT/prompt1"))
    for labels in (220, 440):
        told, families, rankings = Tally(), 0, 0
        for seed in range(SEEDS):
            for one in everything:
                mark = drawn(np.random.default_rng(seed), one.people.size, labels)
                found = list(_pairs(one, mark.reshape(one.people.shape)))
                corrected = holm([gap.p for gap, _ in found])
                before = told.wrong
                for (gap, true), p in zip(found, corrected, strict=True):
                    told.add(gap, true, true, p)
                rankings += told.wrong > before
                families += 1
        print(
            f"HANNA, {labels} of 1,056 labels: {told}; rankings with a wrong 'better': "
            f"{rankings} of {families}",
            flush=True,
        )


def _pairs(one: Stories, mark: Array) -> Iterator[tuple[Powered, float]]:
    tasks, systems_ = one.people.shape
    for first, second in combinations(range(systems_), 2):
        both = [first, second]
        gap = powered_gap(
            one.judge[:, both].ravel(),
            (one.people * mark)[:, both].ravel(),
            np.zeros(2 * tasks),
            np.tile([-1.0, 1.0], tasks),
            np.repeat(np.arange(tasks), 2),
        )
        yield gap, float((one.people[:, second] - one.people[:, first]).mean())


def main() -> None:
    """Print a line for each setting."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    made(samples)
    uneven(samples)
    by_doubt(samples)
    whole_items(samples)
    rates(samples)
    if found():
        runs()
        systems()


if __name__ == "__main__":
    main()

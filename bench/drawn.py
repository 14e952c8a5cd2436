"""Whether intervals from normal draws of frequent patterns are those of exact draws.

    python -m bench.drawn [--sims 400] [--items 5000]

Three raters, five levels; 1,000 resamples by ``resample_patterns`` and by
``resample_many``. Then two criteria together, whose items are drawn one by one, or all counts of
their cells from one normal distribution. Prints how often each holds the truth (that of four
million items), how wide they are beside each other, and how far their ends lie apart, in widths.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt

from core.metrics.agreement.kappa import kappa_quadratic, pair_cells
from core.metrics.agreement.ratings import patterns
from core.metrics.agreement.reliability import alpha_ordinal
from core.metrics.intervals import joint_draws
from core.metrics.intervals.bootstrap import percentile
from core.metrics.intervals.draws import MANY, resample_many, resample_patterns
from core.metrics.intervals.joint_draws import AnswerPairs, Resampled
from core.metrics.measure import Array, Ratings, weight_sums
from core.services.agreement.overall import OVERALL

LEVELS, RESAMPLES, NOISE = 5, 1_000, 0.35
WORLDS = {"even": np.ones(LEVELS) / LEVELS, "skewed": np.array([0.9, 0.04, 0.03, 0.02, 0.01])}
WAYS = {"exact": resample_patterns, "normal": resample_many}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sims", type=int, default=400)
    parser.add_argument("--items", type=int, default=MANY)
    asked = parser.parse_args()
    sims, items, rng = asked.sims, asked.items, np.random.default_rng(5)
    for world, shares in WORLDS.items():
        whole = patterns(_rated(4_000_000, shares, rng))
        true = _figures(whole.rows, whole.times[:, None].astype(np.float64))
        ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for _ in range(sims):
            found = patterns(_rated(items, shares, rng))
            for way, draw in WAYS.items():
                drawn = draw(found.times, RESAMPLES, rng)
                for name, values in _figures(found.rows, drawn).items():
                    low, high, *_ = percentile(values)
                    assert low is not None
                    assert high is not None
                    ends.setdefault((name, way), []).append((low, high))
        for name, value in true.items():
            _print(f"{world}, {name}", float(value[0]), *(ends[name, way] for way in WAYS))
    _together(sims, items, rng)


def _together(sims: int, items: int, rng: np.random.Generator) -> None:
    """The share of right cells and the mean kappa over an even and a skewed criterion."""

    def pairs(items: int) -> list[AnswerPairs]:
        rows = [_rated(items, shares, rng) for shares in WORLDS.values()]
        labels, ids = tuple("01234"), tuple(map(str, range(items)))
        return [AnswerPairs("", labels, True, ids, of[:, 0], of[:, 1]) for of in rows]

    large = pairs(1_000_000)
    tables = Resampled(large[0].items).unweighted_tables(large)
    true = {name: float(figure(tables, large)[0]) for name, figure in OVERALL.items()}
    ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for sim in range(sims):
        mine = pairs(items)
        whole = Resampled(mine[0].items)
        for way, most in (("exact", 10**9), ("normal", 1)):
            before, joint_draws.MOST_DRAWN = joint_draws.MOST_DRAWN, most
            drawn = whole.values(OVERALL, [mine], RESAMPLES, sim)
            joint_draws.MOST_DRAWN = before
            for name, values in drawn.items():
                low, high, *_ = percentile(values[0])
                assert low is not None
                assert high is not None
                ends.setdefault((name, way), []).append((low, high))
    for name, value in true.items():
        _print(f"together, {name}", value, *(ends[name, way] for way in WAYS))


def _rated(items: int, shares: Array, rng: np.random.Generator) -> Ratings:
    truth = rng.choice(LEVELS, items, p=shares)
    columns = [
        np.where(rng.random(items) < NOISE, rng.choice(LEVELS, items, p=shares), truth)
        for _ in range(3)
    ]
    return np.column_stack(columns).astype(np.int64)


def _figures(rows: Ratings, weights: Array) -> dict[str, Array]:
    cells = pair_cells(rows[:, 0], rows[:, 1], LEVELS)
    tables = weight_sums(cells, LEVELS**2, weights).reshape(LEVELS, LEVELS, -1)
    alpha = alpha_ordinal.as_function_of_weights(rows, LEVELS, weights[:, 0])
    return {"ordinal alpha": alpha(weights), "quadratic kappa": kappa_quadratic.many(tables)}


def _print(
    name: str, true: float, exact: list[tuple[float, float]], normal: list[tuple[float, float]]
) -> None:
    one, other = (np.array(ends) for ends in (exact, normal))
    width = float((one[:, 1] - one[:, 0]).mean())
    print(
        f"{name:24} held {_held(one, true):.1%} / {_held(other, true):.1%}, "
        f"width x {float((other[:, 1] - other[:, 0]).mean()) / width:.4f}, "
        f"ends apart {np.abs((other - one).mean(axis=0) / width).max():.4f}"
    )


def _held(ends: npt.NDArray[np.float64], true: float) -> float:
    return float(((ends[:, 0] <= true) & (true <= ends[:, 1])).mean())


if __name__ == "__main__":
    main()

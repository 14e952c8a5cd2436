"""Many items are drawn in blocks for figures over all criteria; they spread as items do."""

from __future__ import annotations

import numpy as np
import pytest

from core.metrics.intervals import joint_draws
from core.metrics.intervals.joint_draws import AnswerPairs, Resampled
from core.services.agreement.overall import OVERALL

ITEMS, DRAWS = 6000, 800


def _pairs(seed: int) -> list[AnswerPairs]:
    """Two criteria of four and two levels, right on 7 of 10 items, and on the same ones."""
    rng = np.random.default_rng(seed)
    right = rng.random(ITEMS) < 0.7
    found = []
    for name, k in (("Depth", 4), ("Right", 2)):
        true = rng.integers(0, k, ITEMS)
        said = np.where(right, true, rng.integers(0, k, ITEMS))
        ids = tuple(f"i{at}" for at in range(ITEMS))
        found.append(AnswerPairs(name, tuple("abcd"[:k]), k > 2, ids, true, said))
    return found


def _spread(seed: int) -> dict[str, float]:
    pairs = _pairs(1)
    whole = Resampled(pairs[0].items)
    drawn = whole.values(OVERALL, [pairs], DRAWS, seed)
    return {name: float(np.std(of[0])) for name, of in drawn.items()}


def test_blocks_spread_as_items_do(monkeypatch: pytest.MonkeyPatch) -> None:
    single = _spread(1)
    monkeypatch.setattr(joint_draws, "MOST_DRAWN", 0)  # so that the least blocks are drawn: 2,000
    monkeypatch.setattr(joint_draws, "MANY", ITEMS + 1)  # and no normal distribution
    blocks = _spread(2)
    for name in OVERALL:
        # A standard deviation of 800 draws is off by 1 / sqrt(1,600) = 2.5 %, that of 2,000 blocks
        # by 1.6 % more: together 3.9 %. Four of these are 16 %.
        assert blocks[name] == pytest.approx(single[name], rel=0.16)


def test_every_item_is_in_one_block_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_draws, "MOST_DRAWN", 0)
    pairs = _pairs(2)
    whole = Resampled(pairs[0].items)
    blocks, number = whole._blocks(DRAWS, np.random.default_rng(0))
    assert (number, np.bincount(blocks).tolist()) == (2000, [3] * 2000)
    counts = pairs[0].counts(blocks, number)
    once = whole.unweighted_tables(pairs)[0][..., 0]
    assert counts.sum(axis=1).reshape(4, 4).tolist() == once.tolist()
    assert once.sum() == ITEMS

"""Before and after on the same items: accuracy and kappa, with the interval of their difference."""

from __future__ import annotations

from dataclasses import dataclass

from core.services.comparing_figures import Delta, deltas
from core.services.comparing_pairs import pair_runs
from core.store.store import Store

RESAMPLES = 1000


@dataclass(frozen=True)
class CriterionGain:
    """One criterion's figures in both runs."""

    name: str
    accuracy: Delta
    kappa: Delta


@dataclass(frozen=True)
class Gain:
    """``accuracy`` is over all cells that have a label and an answer of both runs."""

    items: int
    accuracy: Delta
    criteria: tuple[CriterionGain, ...]

    @property
    def helps(self) -> bool:
        """Whether more cells are right than before; how sure that is, the interval says."""
        found = self.accuracy.difference.value
        return found is not None and found > 0


def gain_between(store: Store, first: int, second: int) -> Gain:
    """What the second run's wording gained over the first's. Resamples are of items, and fixed."""
    paired = pair_runs(store, first, second)
    found = deltas(paired, RESAMPLES, 0)
    criteria = tuple(CriterionGain(one.name, one.accuracy, one.kappa) for one in found.criteria)
    return Gain(len(paired.match.both), found.accuracy, criteria)

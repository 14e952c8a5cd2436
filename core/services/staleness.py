"""Which cells of a run were answered under another question than the one its scores follow."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from core.domain.review import CellKey
from core.domain.rubric import Rubric
from core.domain.runs import RunRow
from core.services.versioning import asks
from core.store.store import Store


@dataclass(frozen=True)
class Standing:
    """What is known of the questions of a run: by criterion the hash of the one that scores follow
    now, those whose judges were asked another one, and the hashes that somebody let stand.
    """

    asks: dict[str, str]
    changed: tuple[str, ...]
    kept: frozenset[str]

    @property
    def stale(self) -> tuple[str, ...]:
        """The criteria whose votes answer another question, and nobody said that they may stand."""
        return tuple(name for name in self.changed if self.asks[name] not in self.kept)


def standing(store: Store, run: RunRow) -> Standing:
    """How the questions that were asked compare to those that scores follow."""
    kept = frozenset(hash_ for change in store.scored.changes(run.id) for hash_ in change.kept)
    now = hashes(store.rubrics.version(run.scored_version_id).rubric)
    if run.scored_version_id == run.rubric_version_id:
        return Standing(now, (), kept)
    asked = hashes(store.rubrics.version(run.rubric_version_id).rubric)
    return Standing(now, tuple(n for n, one in now.items() if asked.get(n) != one), kept)


def hashes(rubric: Rubric) -> dict[str, str]:
    """What each criterion asks, as a hash, by name."""
    return {c.name: asks(rubric, c) for c in rubric.criteria}


def stale_cells(store: Store, run_id: int) -> frozenset[CellKey]:
    """The cells of a run whose question has changed, for ``queueing.make_queue(stale=...)``.

    Not among them: items with a rubric of their own, criteria whose answers somebody let stand,
    and what people settled under the new question.
    """
    run = store.runs.row(run_id)
    found = standing(store, run)
    if not found.stale:
        return frozenset()
    own = store.signs.own_rubrics(run_id)
    ids = [item_id for item_id in store.runs.item_ids(run_id) if item_id not in own]
    cells = {CellKey(item_id, name) for item_id in ids for name in found.stale}
    return frozenset(cells - settled_alike(store, run_id, found.asks))


def settled_alike(store: Store, run_id: int, now: dict[str, str]) -> set[CellKey]:
    """The cells that people settled, in whichever state, when they were asked what counts now."""
    known: dict[int, dict[str, str]] = {}
    found = set[CellKey]()
    for place, version_id in store.scored.settled_under(run_id):
        if version_id not in known:
            known[version_id] = hashes(store.rubrics.version(version_id).rubric)
        if known[version_id].get(place.criterion) == now.get(place.criterion):
            found.add(place)
    return found


def put_aside(
    store: Store, run_id: int, now: dict[str, str], kept: Collection[str]
) -> tuple[set[CellKey], set[CellKey]]:
    """Decisions of people that answer another question than ``now``, and those that answer it.

    The first are to be stale, the second may count again. Items with a rubric of their own are in
    neither.
    """
    own = store.signs.own_rubrics(run_id)
    alike = settled_alike(store, run_id, now)
    places = {place for place, _ in store.scored.settled_under(run_id) if place.item_id not in own}
    stands = {p for p in places if p in alike or now.get(p.criterion) in kept}
    return places - stands, stands

"""What systems can be compared with: contests held, runs that scored several systems, imports."""

from __future__ import annotations

from typing import NamedTuple

from core.services.contests import details_of, listing
from core.store.run_rows import RunRow
from core.store.store import Store

#: Runs that are looked at; what is older is found by its number in the address.
LOOKED_AT = 200


class Comparable(NamedTuple):
    """Runs, newest first. ``scored`` graded two systems or more; ``imported`` came from elsewhere.

    ``rounds`` maps a contest run to the run that begins it.
    """

    contests: tuple[RunRow, ...]
    scored: tuple[RunRow, ...]
    imported: tuple[RunRow, ...]
    rounds: dict[int, int]


def comparable(store: Store) -> Comparable:
    """What there is to compare systems by."""
    held = tuple(listing(store, limit=LOOKED_AT))
    scored, imported = [], []
    pairs = {row.id for row in store.runs.list(detail="contest", limit=10_000)}
    for row in store.runs.list(limit=LOOKED_AT):
        if row.id in pairs or not row.votes:
            continue
        if len(store.results.systems(row.id)) > 1:
            scored.append(row)
        elif not row.panel.askable:
            imported.append(row)
    rounds = {}
    for row in held:
        after = details_of(store, row.id).get("after", [])
        if after:
            rounds[row.id] = after[0]
    return Comparable(held, tuple(scored), tuple(imported), rounds)


def scored_runs(store: Store, run_id: int) -> list[RunRow]:
    """Runs that graded the answers of a contest one by one: those over its dataset's version.

    None where the contest joined several datasets, whose items share their ids.
    """
    datasets = details_of(store, run_id)["datasets"]
    if len(datasets) != 1:
        return []
    pairs = {row.id for row in store.runs.list(detail="contest", limit=10_000)}
    return [
        row
        for row in store.runs.list(limit=1_000)
        if row.dataset_version_id == datasets[0] and row.id not in pairs and row.votes
    ]


def orders_parts(store: Store, run_id: int) -> list[str]:
    """The keys of the items' meta that part them into few groups (2 to 12), to read figures by."""
    run = store.runs.get(run_id)
    values: dict[str, set[str]] = {}
    for item in store.datasets.items(run.dataset_version_id):
        for name, value in item.meta.items():
            if isinstance(value, str | int | bool):
                values.setdefault(name, set()).add(str(value))
    return [name for name, found in values.items() if 2 <= len(found) <= 12]

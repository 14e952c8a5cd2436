"""What systems can be compared with: contests held, runs that scored several systems, imports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from core.domain.runs import RunRow
from core.errors import InputError
from core.services.contest_field import join
from core.services.contests import ContestRequest, details_of, listing, plan
from core.services.estimating import Estimate, estimate_planned
from core.services.ranking_families import EXCLUDED
from core.services.ranking_listwise import Listwise, ballots_of, listwise
from core.services.ranking_unmatched import unmatched_report
from core.services.rated import of_run
from core.store.store import Store

#: Runs that are looked at; what is older is found by its number in the address.
LOOKED_AT = 200


class Comparable(NamedTuple):
    """Runs, newest first. ``scored`` graded two systems or more; raters of ``imported`` answered
    more than once, elsewhere.

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
        elif not row.panel.askable and _asked_twice(store, row):
            imported.append(row)
    rounds = {}
    for row in held:
        after = details_of(store, row.id).get("after", [])
        if after:
            rounds[row.id] = after[0]
    return Comparable(held, tuple(scored), tuple(imported), rounds)


def _asked_twice(store: Store, row: RunRow) -> bool:
    """Whether raters of an import answered more than once: as replicates, or as `NAME|ORDER`."""
    named = Counter(j.name.rpartition("|")[0] for j in row.panel.judges if "|" in j.name)
    return 2 in named.values() or store.runs.get(row.id).plan.replicates == 2


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


class Outlook(NamedTuple):
    """What a request comes to. ``contests`` counts pairs of answers, in whatever orders."""

    contests: int
    tasks: int
    estimate: Estimate
    notices: tuple[str, ...]


def outlook(store: Store, request: ContestRequest) -> Outlook:
    """What a request would take; nothing is stored.

    Raises:
        InputError: what cannot be held.
    """
    made = plan(store, request)
    tasks = len({bout.task for bout in made.bouts})
    return Outlook(
        len(made.bouts), tasks, estimate_planned(store, made.planned), made.joined.notices
    )


def field_of(store: Store, versions: Sequence[int], by: str | None) -> tuple[tuple[str, ...], int]:
    """The systems of some dataset versions, and how many tasks two of them or more answered."""
    field = join([store.datasets.load(version) for version in versions], by=by)
    return field.systems, len(field.tasks)


def meta_names(store: Store, version_id: int) -> list[str]:
    """The keys that the items' meta has, to join by; the first thousand items are looked at."""
    found: dict[str, None] = {}
    for item in islice(store.datasets.items(version_id), 1_000):
        found.update(dict.fromkeys(n for n, v in item.meta.items() if isinstance(v, str | int)))
    return list(found)


def systems_of(store: Store, run_id: int) -> list[str]:
    """The systems that the items of a run name."""
    return store.results.systems(run_id)


def scores_ranked(store: Store, run_id: int, by: str | None = None) -> Listwise | dict[str, Any]:
    """Systems ranked by the scores of a run's judges, their own answers and their kin's left out.

    ``by`` is a key of the items' meta that joins them to tasks; ``None``: their prompts do. Where
    they do not, the report of systems by mean scores alone, as ``rank`` gives it.

    Raises:
        InputError: fewer than two systems; or items without ``by``.
    """
    run = store.runs.get(run_id)
    models = {judge.name: judge.model or judge.name for judge in run.panel.judges}
    rated = of_run(store, run_id)
    try:
        return listwise(ballots_of(rated, by=by, models=models))
    except InputError as error:
        if by is not None:
            raise
        return unmatched_report(rated, error.message, EXCLUDED, models)


def orders_parts(store: Store, run_id: int) -> list[str]:
    """The keys of the items' meta that part them into few groups (2 to 12), to read figures by."""
    run = store.runs.get(run_id)
    values: dict[str, set[str]] = {}
    for item in store.datasets.items(run.dataset_version_id):
        for name, value in item.meta.items():
            if isinstance(value, str | int | bool):
                values.setdefault(name, set()).add(str(value))
    return [name for name, found in values.items() if 2 <= len(found) <= 12]

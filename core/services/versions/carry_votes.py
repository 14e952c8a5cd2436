"""A new run under another version of the rubric that starts with an earlier run's votes.

Unchanged questions need no new calls: their votes are carried over, with their origin. Other votes
are requested at once, or when the run is resumed. The earlier run stays unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from core import clock
from core.domain.review import Seat
from core.domain.runs import RESTING, Run
from core.errors import Conflict, InputError
from core.rubric_diff.edits import VersionEdits, VersionMapping
from core.services.access.allowing import allowed
from core.services.access.spending import within_limits
from core.services.results.verdicts import answers_per_cell
from core.services.review import adjudication
from core.services.runs.planning import program_versions
from core.services.runs.ready_run import load_job
from core.services.versions import follow_version
from core.services.versions.score_changes import new_places, translated_settled
from core.store.review.settled import settled_data
from core.store.runs.rescoring import carry_votes, count_votes
from core.store.store import Store

_LEASE_SECONDS = 600.0


def carry_counts(
    store: Store,
    run_id: int,
    version_id: int,
    moves: VersionMapping | None = None,
    *,
    asked_again: Collection[str] = (),
) -> tuple[int, int]:
    """Return how many votes ``start_under`` would carry over, and how many remain to ask for.

    A cascade or an early stop may make some of these unnecessary.
    """
    run = store.runs.get(run_id)
    edits = _checked_edits(store, run_id, version_id, moves)
    carried = _kept_vote_count(store, run, edits, asked_again)
    planned = sum(count for _, count in _planned_items(store, run, version_id, carried))
    return carried.total(), max(0, planned - carried.total())


@allowed("write")
def start_under(
    store: Store,
    seat: Seat,
    run_id: int,
    version_id: int,
    moves: VersionMapping | None = None,
    *,
    asked_again: Collection[str] = (),
    ask: bool = True,
) -> int:
    """Start a run with the same settings under a version of the rubric; return its id.

    Args:
        store: the data file.
        seat: the person who starts it.
        run_id: the run whose votes are carried over, which stays unchanged.
        version_id: the version of the new run.
        moves: how to read votes of renamed criteria and options; guessed if ``None``.
        asked_again: criteria (by their newer name) whose votes are not carried over.
        ask: whether to ask for missing votes at once, or when the run is resumed.

    Raises:
        InputError: options changed, and ``moves`` does not say how to read their votes.
        Conflict: the run is being processed.
    """
    with store.write() as db:
        run = store.runs.get(run_id)
        if run.status not in RESTING:
            raise Conflict("The run is being graded. Carry its votes over when it is done.")
        edits = _checked_edits(store, run_id, version_id, moves)
        successor = _create_run(store, run, version_id, edits, asked_again)
        chosen = {
            old: (new, places)
            for old, (new, places) in new_places(edits).items()
            if new.name not in asked_again
        }
        carry_votes(db, run_id, successor.id, chosen, store.vote_statistics.own_rubrics(run_id))
        count_votes(db, successor.id)
        _carry_settled(store, seat, run, successor, edits, asked_again)
        store.results.rebuild(successor.id, load_job(store, successor.id).derive)
        _pass_to_runner(store, successor.id, run, edits, asked_again, ask)
        return successor.id


def _checked_edits(
    store: Store, run_id: int, version_id: int, moves: VersionMapping | None
) -> VersionEdits:
    edits = follow_version.version_edits(store, run_id, version_id, moves)
    if edits.unmapped:
        raise InputError(f"Map the options of {', '.join(map(repr, edits.unmapped))} first.")
    return edits


def _kept_vote_count(
    store: Store, run: Run, edits: VersionEdits, asked_again: Collection[str]
) -> Counter[str]:
    """Return how many votes of each item would be carried over."""
    own_rubrics, to, carried = (
        store.vote_statistics.own_rubrics(run.id),
        new_places(edits),
        Counter[str](),
    )
    for row in store.votes.all_ballots(run.id):
        if row.item_id in own_rubrics:
            carried[row.item_id] += 1
        elif row.criterion in to:
            new, place = to[row.criterion]
            is_removed = row.option is not None and place[row.option] is None
            carried[row.item_id] += not is_removed and new.name not in asked_again
    return carried


def _planned_items(
    store: Store, run: Run, version_id: int, kept: Counter[str]
) -> list[tuple[str, int]]:
    """Return the items with their planned number of votes; for imports, the existing number."""
    ids = store.runs.item_ids(run.id)
    if not run.panel.askable:
        return [(item_id, kept[item_id]) for item_id in ids]
    rubric, own_rubrics = (
        store.rubrics.version(version_id).rubric,
        store.vote_statistics.own_rubrics(run.id),
    )
    per_cell = answers_per_cell(run.panel, run.plan.replicates)
    return [(item_id, len(own_rubrics.get(item_id, rubric).criteria) * per_cell) for item_id in ids]


def _create_run(
    store: Store, run: Run, version_id: int, edits: VersionEdits, asked_again: Collection[str]
) -> Run:
    carried = _kept_vote_count(store, run, edits, asked_again)
    number = store.rubrics.version(version_id).number
    origin = {"run": run.id, "votes": carried.total(), "again": sorted(asked_again)}
    plan = replace(
        run.plan,
        name=f"{run.name[:180]} (version {number})",
        rubric_version_id=version_id,
        versions=program_versions(run.panel),
        budget=within_limits(store, run.panel.judges, run.plan.budget),
        details={**run.plan.details, "carried": origin},
    )
    return store.runs.create(plan, _planned_items(store, run, version_id, carried), now=clock.now())


def _carry_settled(
    store: Store,
    seat: Seat,
    run: Run,
    new_run: Run,
    edits: VersionEdits,
    asked_again: Collection[str],
) -> None:
    """Keep cells settled, under the same names, if their question is unchanged."""
    own_rubrics = store.vote_statistics.own_rubrics(run.id)
    changed = {*edits.stale, *asked_again}
    for item_id in store.runs.item_ids(run.id):
        cells = store.settled.of_items(run.id, [item_id]).get(item_id, {})
        act = adjudication.Act(store, seat, new_run, item_id, None, clock.now())
        by_criterion = cells if item_id in own_rubrics else translated_settled(cells, edits)
        for name, verdict in by_criterion.items():
            if item_id not in own_rubrics and name in changed:
                continue
            reason = f"Carried over from run {run.id}"
            event = act.record("settle", name, after=settled_data(verdict), reason=reason)
            store.settled.put(new_run.id, replace(verdict, event_id=event))


def _pass_to_runner(
    store: Store,
    n_made: int,
    run: Run,
    edits: VersionEdits,
    asked_again: Collection[str],
    ask: bool,
) -> None:
    """Pass the run to the Runner, or stop it: as done if it misses nothing, else to be resumed.

    Votes that an early stop or a cascade saved in the earlier run are not missing.
    """
    row = store.runs.row(n_made)
    dropped = any(None in place for place in edits.moves.options.values())
    missing = (
        bool(asked_again or edits.added or dropped) or run.status != "done" or run.failures_open
    )
    if not run.panel.askable or not missing or row.votes >= row.planned:
        lease = store.leases.claim(
            clock.owner_name(), at=clock.seconds_now(), seconds=_LEASE_SECONDS, run_id=n_made
        )
        assert lease is not None, "a run that was just made is free"
        store.leases.release(lease, "done", now=clock.now())
    elif not ask:
        store.runs.request_cancel(n_made, now=clock.now())

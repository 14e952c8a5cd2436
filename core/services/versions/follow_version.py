"""Effects of an edited rubric on a graded run, before and after they are applied.

Votes and plan never change. ``version_difference`` reads them under the newer version,
``follow`` scores the run by it, and ``roll_back`` undoes the last change. No judge is called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from core import clock
from core.domain.review import QueueRule, QueueSettings, Seat, SettledCell
from core.domain.review_records import QueueRow
from core.domain.rubric import Rubric
from core.domain.runs import RESTING, Derive, Run
from core.errors import Conflict, InputError
from core.rubric_diff.edits import VersionEdits, VersionMapping, edits_between
from core.scoring import Texts, needs_texts
from core.services.access.allowing import allowed
from core.services.results.scored_items import (
    fitted_of,
    hashes_of_questions,
    resolved_items,
    set_decisions_aside,
    settled_lookup,
    stale_cells,
)
from core.services.results.verdicts import SettledOf, counting_of, result_deriver, texts_lookup
from core.services.review import adjudication, queues
from core.services.versions.score_changes import (
    ScoreDifference,
    compare_scores,
    translated_ballots,
    translated_settled,
)
from core.store.runs.rescoring import ScoredChange
from core.store.store import Store

__all__ = [
    "ScoredChange",
    "follow",
    "followed_versions",
    "queue_stale",
    "roll_back",
    "score_difference",
    "version_difference",
    "version_edits",
]


def followed_versions(store: Store, run_id: int) -> list[ScoredChange]:
    """Return who made the run's scores follow which version, newest first."""
    return store.scored.changes(run_id)


def version_edits(
    store: Store, run_id: int, version_id: int, moves: VersionMapping | None = None
) -> VersionEdits:
    """Return the edits between the run's rubric and a version of it."""
    asked_version = store.rubrics.version(store.runs.row(run_id).rubric_version_id).rubric
    return edits_between(asked_version, store.rubrics.version(version_id).rubric, moves)


def version_difference(
    store: Store, run_id: int, version_id: int, moves: VersionMapping | None = None
) -> ScoreDifference:
    """Return how a version would change a run's current scores; see ``score_difference``."""
    return score_difference(store, run_id, store.rubrics.version(version_id).rubric, moves)


def score_difference(
    store: Store, run_id: int, rubric: Rubric, moves: VersionMapping | None = None
) -> ScoreDifference:
    """Return how a rubric, saved or not, would change a run's current scores; writes nothing.

    Raises:
        InputError: options changed, and ``moves`` does not say how to read their votes.
    """
    run = store.runs.get(run_id)
    changed = edits_between(store.rubrics.version(run.rubric_version_id).rubric, rubric, moves)
    if changed.unmapped:
        raise InputError(f"Map the options of {', '.join(map(repr, changed.unmapped))} first.")
    own_rubrics = store.vote_statistics.own_rubrics(run_id)
    settled = settled_lookup(store, run_id)
    if not changed.in_place:
        settled = _settlements_under_version(settled, changed, own_rubrics)
    derive = _derivation_under_version(store, run, rubric, own_rubrics, settled)
    ballots = store.votes.ballots(run_id)
    if not changed.in_place:
        ballots = [
            b if b.item_id in own_rubrics else translated_ballots(b, changed) for b in ballots
        ]
    # Items without votes have no score before or after.
    voted = [b for b in ballots if b.ballots or b.failures]
    return compare_scores(store, run, changed, list(derive(voted)), own_rubrics)


@allowed("organise")
def follow(
    store: Store,
    seat: Seat,
    run_id: int,
    version_id: int,
    *,
    keep: Collection[str] = (),
    moves: VersionMapping | None = None,
    reason: str = "",
) -> int:
    """Make the scores of a run follow a version of its rubric; return the change's id.

    Cells whose question changed become stale (``staleness.stale_cells``), except for the criteria
    in ``keep``. People's verdicts on another question no longer count, until they settle the cell
    again; those on this question count again. It is one transaction.

    Raises:
        Conflict: the run is being processed, another change came first, or this person may not set
            decisions aside.
        InputError: options were renamed and ``moves`` does not say how to read their votes; or
            options or criteria changed: start a run under the version (``carry_votes``).
    """
    with store.write():
        run = store.runs.get(run_id)
        _require_rest(run)
        changed = version_edits(store, run_id, version_id, moves)
        if changed.of("options") and moves is None:
            raise InputError("Options are called otherwise. Say which of them are the same.")
        if not changed.in_place:
            raise InputError(
                "Options or criteria changed, so these votes cannot be read as they are. Carry "
                "them over to a new run under this version."
            )
        after = store.rubrics.version(version_id).rubric
        current = hashes_of_questions(after)
        accepted = [current[name] for name in keep if name in changed.stale]
        earlier = {
            criterion for change in followed_versions(store, run_id) for criterion in change.kept
        }
        aside, kept_places = set_decisions_aside(store, run_id, current, {*accepted, *earlier})
        _mark_decisions(store, seat, run, aside, kept_places)
        change = store.scored.follow(
            run_id,
            version_id,
            before=run.scored_version_id,
            actor=seat.name,
            now=clock.now(),
            kept=accepted,
            marked=sorted(aside),
            reason=reason,
        )
        own_rubrics = store.vote_statistics.own_rubrics(run_id)
        derive = _derivation_under_version(
            store, run, after, own_rubrics, settled_lookup(store, run_id)
        )
        store.results.rebuild(run_id, derive)
        _raise_cells(store, run, changed, own_rubrics)
        return change


@allowed("organise")
def roll_back(store: Store, seat: Seat, run_id: int) -> int:
    """Undo the last change of the version that a run's scores follow; this can also be undone.

    Raises:
        Conflict: there was no change, or the run is being processed.
    """
    last = next(iter(followed_versions(store, run_id)), None)
    if last is None:
        raise Conflict("This run's scores follow the version that its judges were asked.")
    reason = f"Back from version {last.to_number}"
    same = version_edits(store, run_id, last.from_id).moves
    return follow(store, seat, run_id, last.from_id, moves=same, reason=reason)


@allowed("organise")
def queue_stale(
    store: Store, seat: Seat, run_id: int, name: str, settings: QueueSettings | None = None
) -> QueueRow:
    """Queue exactly the run's stale cells for people.

    Raises:
        InputError: no cell is stale.
    """
    cells = stale_cells(store, run_id)
    if not cells:
        raise InputError("No cell of this run is stale.")
    rule = QueueRule.only(stale=True)
    chosen = settings or QueueSettings()
    return queues.make_queue(store, seat, run_id, name, rule, chosen, stale=cells)


def _require_rest(run: Run) -> None:
    if run.status not in RESTING:
        raise Conflict("The run is being graded. Change what its scores follow when it is done.")


def _mark_decisions(
    store: Store,
    seat: Seat,
    run: Run,
    aside: Collection[tuple[str, str]],
    kept_places: Collection[tuple[str, str]],
) -> None:
    """Set aside decisions on another question; let those in ``kept_places`` count again."""
    states = {
        place: cell.state for place, cell in adjudication.settled_cells(store, run.id).items()
    }
    marked_places = {
        place for change in followed_versions(store, run.id) for place in change.marked
    }
    removed = [p for p in aside if states.get(p) == "active"]
    returned = [p for p in kept_places if p in marked_places and states.get(p) == "stale"]
    if removed:
        adjudication.mark(store, seat, run.id, sorted(removed), "stale", "The question changed.")
    if returned:
        adjudication.mark(
            store, seat, run.id, sorted(returned), "active", "The question is the same again."
        )


def _raise_cells(store: Store, run: Run, edits: VersionEdits, own: Collection[str]) -> None:
    """Make reviewers look again at open cells whose question changed."""
    names = set(edits.stale)
    for queue in store.queues.list(run.id):
        for cell in store.queues.cells(queue.id):
            if cell.criterion in names and cell.item_id not in own:
                adjudication.restate_cell(store, queue, cell.item_id, cell.criterion, raised=True)


def _derivation_under_version(
    store: Store, run: Run, rubric: Rubric, own: Mapping[str, Rubric], settled: SettledOf
) -> Derive:
    """Return the run's derivation under another version. Texts are read only if needed."""
    texts: Callable[[str], Texts] | None = None
    if any(map(needs_texts, (rubric, *own.values()))):
        ids = store.runs.item_ids(run.id)
        texts = texts_lookup(resolved_items(store, run.dataset_version_id, ids, upto=0))
    return result_deriver(
        run.panel.rules,
        counting_of(run.plan),
        lambda item_id: own.get(item_id, rubric),
        texts,
        settled,
        fitted_of(run),
    )


def _settlements_under_version(
    settled: SettledOf, edits: VersionEdits, own: Mapping[str, Rubric]
) -> SettledOf:
    def lookup_settled(item_ids: Sequence[str]) -> dict[str, dict[str, SettledCell]]:
        return {
            item_id: dict(cells) if item_id in own else translated_settled(cells, edits)
            for item_id, cells in settled(item_ids).items()
        }

    return lookup_settled

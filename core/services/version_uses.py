"""What each version of a rubric was used for."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.domain.runs import RunRow
from core.store.store import Store


@dataclass
class Uses:
    """The runs whose judges were asked a version, and those asked another one that follow it now.

    ``queues`` counts the review queues of either.
    """

    asked: list[RunRow] = field(default_factory=list)
    follow: list[RunRow] = field(default_factory=list)
    queues: int = 0


def uses(store: Store, rubric_id: int) -> dict[int, Uses]:
    """The uses of each version of a rubric, by version id; the newest runs first."""
    found: dict[int, Uses] = {}
    queued: dict[int, int] = {}
    for queue in store.queues.list():
        queued[queue.run_id] = queued.get(queue.run_id, 0) + 1
    for run_id in store.scored.runs_of(rubric_id):
        run = store.runs.row(run_id)
        found.setdefault(run.rubric_version_id, Uses()).asked.append(run)
        if run.scored_version_id != run.rubric_version_id:
            found.setdefault(run.scored_version_id, Uses()).follow.append(run)
        if run_id in queued:
            found[run.scored_version_id].queues += queued[run_id]
    return found


def behind(store: Store, rubric_id: int) -> list[RunRow]:
    """The runs with votes whose scores do not follow the newest version, newest first."""
    newest = store.rubrics.latest_number(rubric_id)
    runs = [store.runs.row(run_id) for run_id in store.scored.runs_of(rubric_id)]
    return [run for run in runs if run.votes and run.scored_number != newest]

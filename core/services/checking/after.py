"""What the votes of a run say about the criteria of a rubric that is being edited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.rubric import Criterion
from core.errors import InputError
from core.services.diagnosing import diagnose
from core.services.draft_types import Draft
from core.services.rehearsing import criterion_from
from core.store.run_rows import RunRow as RunRow
from core.store.store import Store

#: So many runs are looked through for the newest one of a rubric.
RECENT = 200


@dataclass(frozen=True, slots=True)
class Told:
    """What the data of a run say of one criterion, in a sentence with its figures."""

    criterion: str
    sentence: str
    serious: bool


def newest_run(store: Store, rubric_id: int) -> RunRow | None:
    """The newest run with votes that asked a version of this rubric; ``None`` where there is none.

    Looks through the last ``RECENT`` runs.
    """
    rows = store.runs.list(limit=RECENT)
    return next((row for row in rows if row.rubric_id == rubric_id and row.votes), None)


def told(store: Store, run_id: int) -> tuple[Told, ...]:
    """What ails the criteria of a run, the serious first; raises ``NotFound``."""
    return tuple(
        Told(one.subject, one.sentence, one.severity == "serious")
        for one in diagnose(store, run_id).findings
        if one.role == "criterion"
    )


def asked_otherwise(store: Store, run: RunRow, draft: Draft, uid: str) -> bool:
    """Whether the criterion has changed in what judges are shown since that run asked it."""
    version = store.rubrics.version(run.rubric_version_id).rubric
    try:
        now = criterion_from(draft, uid)
    except InputError:
        return True
    return _shown(now) not in [_shown(c) for c in version.criteria]


def _shown(criterion: Criterion) -> tuple[object, ...]:
    options = [(o.label, o.description, o.na) for o in criterion.choices]
    return criterion.name, criterion.requirement, criterion.scale, options


def of_criterion(found: Sequence[Told], name: str) -> list[Told]:
    """Those that are about the criterion of that name."""
    return [one for one in found if one.criterion == name]

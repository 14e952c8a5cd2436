"""What the votes of a run say about the criteria of a rubric that is being edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from core.domain.rubric import Criterion
from core.domain.runs import RunRow
from core.errors import InputError
from core.services.diagnosing import diagnose
from core.services.draft_types import Draft
from core.services.rehearsing import criterion_from
from core.store.store import Store

#: So many runs are looked through for the newest of a rubric.
RECENT = 200
#: Of these, so many are asked at most what they say.
LOOKED = 5


@dataclass(frozen=True, slots=True)
class Told:
    """What the data of a run say of one criterion, in a sentence with its figures."""

    criterion: str
    sentence: str
    serious: bool


@dataclass(frozen=True, slots=True)
class Heard:
    """What a run can say: what ails its criteria, and on which agreement is unknown, and why."""

    told: tuple[Told, ...]
    unknown: Mapping[str, str]
    answers: bool


@dataclass(frozen=True, slots=True)
class Says:
    """What is known of a rubric's criteria by ``run``, the newest that can tell of agreement.

    ``passed`` is a newer run that cannot, and ``why``; where none can, ``run`` is the newest.
    """

    run: RunRow
    heard: Heard
    passed: RunRow | None = None
    why: str = ""


def newest_runs(store: Store, rubric_id: int) -> Iterator[RunRow]:
    """The runs with votes that asked a version of this rubric, newest first, of the last so many
    (``RECENT``).
    """
    for row in store.runs.list(limit=RECENT):
        if row.rubric_id == rubric_id and row.votes:
            yield row


def newest_answer(
    store: Store, rubric_id: int, hear: Callable[[RunRow], Heard] | None = None
) -> Says | None:
    """What the newest run says that can say anything of agreement; ``None`` without a run.

    Looks at ``LOOKED`` runs. ``hear`` replaces ``heard``, for whoever keeps what it found.
    """
    first: Says | None = None
    for row in islice(newest_runs(store, rubric_id), LOOKED):
        found = hear(row) if hear else heard(store, row.id)
        if found.answers:
            if first is None:
                return Says(row, found)
            return Says(row, found, first.run, first.why)
        if first is None:
            first = Says(row, found, why=next(iter(found.unknown.values()), "no votes to compare"))
    return first


def heard(store: Store, run_id: int) -> Heard:
    """What ails the criteria of a run, the serious first, and what it cannot tell; ``NotFound``."""
    found = diagnose(store, run_id)
    told = tuple(
        Told(one.subject, one.sentence, one.severity == "serious")
        for one in found.findings
        if one.role == "criterion"
    )
    asked = [one for one in found.checks if (one.role, one.kind) == ("criterion", "agreement")]
    voting = [judge for judge in store.runs.get(run_id).panel.judges if not judge.shadow]
    alone = len(voting) == 1
    unknown = {
        one.subject: "one judge" if alone else one.effect.reason.rstrip(".").lower()
        for one in asked
        if one.effect.p is None
    }
    return Heard(told, unknown, answers=len(unknown) < len(asked))


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

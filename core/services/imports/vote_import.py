"""Import votes as a run. Its judges are the raters of the file, which are never called.

Pages, figures, queues and exports treat imported votes like any others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from core import clock
from core.domain.base import build_model
from core.domain.panel import JudgeKind, Panel
from core.domain.runs import Lease, RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote, VoteFailure
from core.errors import InputError, Problem
from core.formats.votes.clean_votes import CleanAnswers
from core.formats.votes.imported import ImportedVote, VoteBundle
from core.formats.votes.tools.known_tools import TOOL_NAMES
from core.identity import content_hash
from core.services.access.allowing import allowed
from core.services.datasets import item_columns
from core.services.datasets.catalog import keep_rubric
from core.services.results import run_columns
from core.services.results.scored_items import derivation_for
from core.services.results.verdicts import DerivedFrom
from core.store.database.content import dataset_text, noun_hash
from core.store.runs.kept import MANY
from core.store.store import Store

if TYPE_CHECKING:
    from core.services.imports.clean_import import CleanJudgeVotes

_KINDS: dict[str, JudgeKind] = {
    "human": "person",
    "llm": "imported",
    "offline": "imported_offline",
}
#: The number of items recorded at a time; the whole import is one transaction.
_BATCH = 200
#: The import leases the run only within its transaction, so others do not see the lease.
_LEASE_SECONDS = 3600.0
_NO_ANSWER = "The file holds no usable answer of this rater."


@dataclass(frozen=True, slots=True)
class ImportedRater:
    """One rater's contribution. ``votes`` counts all answers, including ``abstentions``."""

    name: str
    kind: str
    votes: int
    abstentions: int
    failures: int
    weight: float
    counts: bool


@dataclass(frozen=True)
class ImportPreview:
    """What an import would add, and what is already stored.

    ``run`` is the run that already has these votes; ``None`` without such a run, or without votes
    (then only rubric and dataset would be stored). ``hash`` is the hash of everything imported.
    """

    raters: tuple[ImportedRater, ...]
    criteria: int
    items: int
    votes: int
    abstentions: int
    failures: int
    run: int | None
    hash: str = ""


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """The result of an import. ``existed``: the run already had these votes; nothing was added."""

    run: int | None
    rubric_version: int
    dataset_version: int
    existed: bool


def preview(store: Store, bundle: VoteBundle) -> ImportPreview:
    """Return what ``bring_in`` would do; raise ``InputError`` if it could not."""
    seats = _seats(bundle)
    panel, digest = _panel(bundle, seats) if seats else None, _digest(bundle, seats)
    counts = seats.counts
    lines = [
        ImportedRater(
            name=judge.name,
            kind=judge.rater_kind,
            votes=counts[judge.name, "answered"] + counts[judge.name, "abstained"],
            abstentions=counts[judge.name, "abstained"],
            failures=counts[judge.name, "failed"],
            weight=judge.weight,
            counts=not judge.shadow,
        )
        for judge in (panel.judges if panel else ())
    ]
    return ImportPreview(
        raters=tuple(lines),
        criteria=len(bundle.rubric.criteria),
        items=len(bundle.dataset.items),
        votes=sum(line.votes for line in lines),
        abstentions=sum(line.abstentions for line in lines),
        failures=sum(line.failures for line in lines),
        run=store.runs.imported(digest) if panel else None,
        hash=digest,
    )


@allowed("write")
def bring_in(
    store: Store,
    bundle: VoteBundle,
    *,
    name: str = "",
    source: str = "",
    shown_preview: ImportPreview | None = None,
) -> ImportedRun:
    """Store rubric, dataset and votes, all or nothing; equal votes return the existing run.

    Args:
        store: the data file.
        bundle: what ``core.formats`` read.
        name: the run's name; empty for one made from the bundle's.
        source: where the votes came from, e.g. a file's name.
        shown_preview: the ``preview`` of this bundle, which then need not be hashed again.

    Raises:
        InputError: a rater who answers the same question twice in one place, or whose name is too
            long.
    """
    seats = _seats(bundle)
    panel = _panel(bundle, seats) if seats else None
    digest = shown_preview.hash if shown_preview else _digest(bundle, seats)
    with store.write():
        earlier = store.runs.imported(digest) if panel else None
        if earlier is not None:
            row = store.runs.row(earlier)
            return ImportedRun(earlier, row.rubric_version_id, row.dataset_version_id, True)
        rubric = keep_rubric(store, bundle.rubric, source or bundle.name)
        dataset = store.datasets.create(bundle.dataset, now=clock.now(), source=source)
        run = None
        if panel is not None:
            details = {"source": source, "format": bundle.format, "hash": digest}
            plan = RunPlan(
                name=name or f"{bundle.name}: imported votes",
                rubric_version_id=rubric.id,
                dataset_version_id=dataset.id,
                panel=panel,
                versions={"rubric-studio": metadata.version("rubric-studio")},
                details={"imported": {**details, "mapping": bundle.mapping}, **bundle.details},
            )
            run = _record_run(store, plan, bundle, seats)
    return ImportedRun(run, rubric.id, dataset.id, False)


def make_ready(store: Store, brought: ImportedRun) -> None:
    """Precompute what pages count. After a large import, free the bundle before calling this."""
    if brought.existed:
        return
    if store.datasets.version(brought.dataset_version).items >= MANY:
        item_columns.columns_of_version(store, brought.dataset_version)
    if brought.run is not None:
        run_columns.store_columns(store, brought.run)


def origin_words(run_details: Any) -> str:
    """Return the origin of an imported run in words; empty for other runs.

    >>> origin_words({"imported": {"source": "votes.csv", "format": "long"}})
    'votes.csv (long table)'
    """
    imported = run_details.get("imported")
    if not imported:
        return ""
    form = imported.get("format", "")
    shape = FORMAT_WORDS.get(form) or TOOL_NAMES.get(form, "")
    return f"{imported.get('source') or 'a file'} ({shape})" if shape else "a file"


FORMAT_WORDS = {
    "folder": "common layout",
    "long": "long table",
    "wide": "wide table",
    "criteria": "table with a criterion a column",
    "pairs": "table of pairs",
    "autorubric": "autorubric experiment",
    "gradescope": "Gradescope",
}


@dataclass(frozen=True)
class _Seats:
    """The rows of votes, and the judge's name for each row."""

    rows: Sequence[ImportedVote]
    names: Sequence[str]

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def raters(self) -> dict[str, tuple[str, str]]:
        """Return, by the judge's name, its kind and the rater's id, ordered by first answer."""
        by_name: dict[str, tuple[str, str]] = {}
        for row, name in zip(self.rows, self.names, strict=True):
            by_name.setdefault(name, (row.kind, row.rater))
        return by_name

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Return how many answers each judge gave in each state."""
        rows = zip(self.names, map(_vote_state, self.rows), strict=True)
        return Counter(rows)

    def digest(self, prefix: Sequence[Any]) -> str:
        """Return the hash of ``[*head, votes]``."""
        return content_hash([*prefix, [_vote_for_hash(row) for row in self.rows]])

    def planned(self, items: Sequence[str]) -> list[tuple[str, int]]:
        """Return how many answers each item has."""
        votes_of = Counter(row.cell.item for row in self.rows)
        return [(item, votes_of[item]) for item in items]

    def keep(self, store: Store, lease: Lease, now: str, run: DerivedFrom, reason: str) -> None:
        """Record the answers in a leased run, item by item in the order of the dataset."""
        derive = derivation_for(run.plan, run.rubric, run.items)
        by_item: dict[str, list[Vote | VoteFailure]] = {}
        for row, name in zip(self.rows, self.names, strict=True):
            by_item.setdefault(row.cell.item, []).append(_result(row, name, reason))
        ids = [item for item in store.runs.item_ids(lease.run_id) if item in by_item]
        outcomes_of = [AskedOutcome(tuple(by_item[item])) for item in ids]
        for start in range(0, len(outcomes_of), _BATCH):
            outcomes = outcomes_of[start : start + _BATCH]
            store.votes.record(
                lease.run_id,
                outcomes,
                owner=lease.owner,
                fence=lease.fence,
                now=now,
                derive=derive,
            )


def _seats(bundle: VoteBundle) -> _Seats | CleanJudgeVotes:
    rows = bundle.votes.rows
    if isinstance(rows, CleanAnswers):
        # Columns need numpy, which an import of a few rows should not load.
        from core.services.imports.clean_import import CleanJudgeVotes

        clean = CleanJudgeVotes(rows)
        if clean.told_apart:
            return clean
    # Imported here, because these modules load SciPy, which imports of items and rubrics do not
    # need.
    from core.services.agreement.load_ratings import Row, column_names
    from core.services.agreement.ratings import Rater

    names = column_names(
        [Row(v.cell.item, v.criterion, Rater(v.rater, v.kind), v.order, v.replicate) for v in rows]
    )
    kinds: dict[str, set[str]] = {}
    for row, name in zip(rows, names, strict=True):
        kinds.setdefault(name, set()).add(row.kind)
    named = tuple(
        name if len(kinds[name]) == 1 else f"{name} ({row.kind})"
        for row, name in zip(rows, names, strict=True)
    )
    _refuse_doubles(bundle, rows, named)
    return _Seats(tuple(rows), named)


def _refuse_doubles(bundle: VoteBundle, rows: Sequence[ImportedVote], names: Sequence[str]) -> None:
    first: dict[tuple[str, str, str], ImportedVote] = {}
    problems = list[Problem]()
    for row, name in zip(rows, names, strict=True):
        earlier = first.setdefault((row.cell.item, row.criterion, name), row)
        if earlier is not row:
            message = (
                f"repeats the answer of {name!r} to {row.criterion!r} of {row.cell.item!r}"
                f" (line {earlier.line})."
            )
            advice = "Take one of them out, or tell them apart by their replicate."
            problems.append(Problem(message, advice, (), row.line))
    if problems:
        raise InputError("These votes cannot be imported.", tuple(problems[:50]), bundle.name)


def _panel(bundle: VoteBundle, seats: _Seats | CleanJudgeVotes) -> Panel:
    """Return a panel with one judge per rater. People count only if all raters are people."""
    raters = seats.raters
    models = any(kind != "human" for kind, _ in raters.values())
    judges = [
        {
            "name": name,
            "kind": _KINDS[kind],
            "weight": bundle.votes.weights.get(rater, 1.0),
            "shadow": models and kind == "human",
        }
        for name, (kind, rater) in raters.items()
    ]
    return build_model(
        Panel, {"name": "Imported raters", "judges": judges}, "group of raters", bundle.name
    )


def _digest(bundle: VoteBundle, seats: _Seats | CleanJudgeVotes) -> str:
    """Return the content hash of what is imported: rubric, dataset, weights and every vote."""
    weights = sorted(bundle.votes.weights.items())
    _, dataset_hash = dataset_text(bundle.dataset)
    return seats.digest([noun_hash(bundle.rubric), dataset_hash, weights])


def _vote_for_hash(row: ImportedVote) -> list[Any]:
    """Return a vote as plain data for hashing."""
    return [
        *row.cell,
        row.kind,
        row.option,
        _vote_state(row),
        row.reason,
        row.order,
        row.probabilities,
        # A missing confidence is left out of the hash, so that earlier imports keep their hash.
        *([] if row.confidence is None else [row.confidence]),
    ]


def _vote_state(row: ImportedVote) -> str:
    return "failed" if row.failed else "abstained" if row.abstained else "answered"


def _record_run(
    store: Store, plan: RunPlan, bundle: VoteBundle, seats: _Seats | CleanJudgeVotes
) -> int:
    """Record a finished run with these votes in the open transaction; return its id."""
    now, at = clock.now(), clock.seconds_now()
    ids = [item.id for item in bundle.dataset.items]
    run = store.runs.create(plan, seats.planned(ids), now=now)
    lease = store.leases.claim(clock.owner_name(), at=at, seconds=_LEASE_SECONDS, run_id=run.id)
    assert lease is not None, "a run that was just made is free"
    items = bundle.dataset.items
    seats.keep(store, lease, now, DerivedFrom(plan, bundle.rubric, items), _NO_ANSWER)
    store.leases.release(lease, "done", now=now)
    return run.id


def _result(row: ImportedVote, name: str, reason: str) -> Vote | VoteFailure:
    cell = Cell(row.cell.item, row.criterion, name)
    if row.failed:
        return VoteFailure(cell, "empty", reason)
    detail: dict[str, object] = {"order": row.order} if row.order else {}
    return Vote(
        cell,
        row.option,
        row.abstained,
        row.reason,
        confidence=row.confidence,
        probabilities=row.probabilities,
        detail=detail,
    )

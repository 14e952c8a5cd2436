"""The store: one data file and its topics."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from core.domain.access import Actor, Verb
from core.domain.library import LibraryCounts
from core.identity import content_hash
from core.store.database.connection import Connections, PermissionGrant, add_to_record
from core.store.database.data_file import Backup, copy_to, find_damage
from core.store.database.migrations import altered_schema
from core.store.database.sums import RowGroup, altered_rows, uncovered_rows
from core.store.library.access import AuditLog, Members
from core.store.library.datasets import Datasets
from core.store.library.judges import Drafts, Judges, Panels, SettingValues
from core.store.library.rubrics import Rubrics
from core.store.review.events import Events, Reviewers
from core.store.review.queues import Queues, RunVoteStatistics
from core.store.review.settled import SettledCells, Verdicts
from core.store.review.turns import Turns
from core.store.runs.batches import Batches
from core.store.runs.help_tasks import Helps
from core.store.runs.kept import KeptAnswerStore
from core.store.runs.leases import Leases
from core.store.runs.recording import Responses
from core.store.runs.rescoring import ScoredVersions
from core.store.runs.results import Results
from core.store.runs.runs import Runs
from core.store.runs.stops import Stops
from core.store.runs.votes import Votes


class Store:
    """The data file. Make one per process; every thread gets its own connection.

    Raises:
        StoreError: the file is foreign, newer than this program, locked, or unreachable.
    """

    def __init__(self, path: str | Path | Connections, *, reading: bool = False) -> None:
        opened = path if isinstance(path, Connections) else Connections(path, reading=reading)
        self._files = opened
        self.actor = self._files.actor
        #: Whether the store is read-only: opened with ``reading``, or in a read-only place.
        self.read_only = self._files.read_only
        self.path = self._files.path
        self.rubrics = Rubrics(self._files)
        self.datasets = Datasets(self._files)
        self.judges = Judges(self._files)
        self.panels = Panels(self._files)
        self.runs = Runs(self._files)
        self.results = Results(self._files)
        self.kept = KeptAnswerStore(self._files)
        self.votes = Votes(self._files)
        self.responses = Responses(self._files)
        self.leases = Leases(self._files)
        self.stops = Stops(self._files, self.runs, self.leases)
        self.batches = Batches(self._files)
        self.drafts = Drafts(self._files)
        self.settings = SettingValues(self._files)
        self.helps = Helps(self._files)
        self.reviewers = Reviewers(self._files)
        self.queues = Queues(self._files)
        self.vote_statistics = RunVoteStatistics(self._files)
        self.turns = Turns(self._files)
        self.events = Events(self._files)
        self.verdicts = Verdicts(self._files)
        self.settled = SettledCells(self._files)
        self.scored = ScoredVersions(self._files)
        self.members = Members(self._files)
        self.audit = AuditLog(self._files)

    def acting(self, actor: Actor) -> Store:
        """Return the same data file for an actor, who may only write with a grant."""
        return self if actor == self.actor else Store(self._files.acting(actor))

    def authorised(
        self, permission: Verb, action: str, details: Any, time: str
    ) -> AbstractContextManager[PermissionGrant]:
        """Authorise the actor for an action within the block, or raise ``NotAllowed``.

        The audit record gets ``action``, ``details`` and ``time``. Services call it through
        ``core.services.access.allowing``.
        """
        return self._files.authorised(permission, action, details, time)

    def on_record(self, **facts: Any) -> None:
        """Add ``before`` or ``after`` to the current act's audit record."""
        add_to_record(**facts)

    def write(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run one transaction (``BEGIN IMMEDIATE``) around several calls."""
        return self._files.write()

    def rehearsal(self) -> AbstractContextManager[None]:
        """Run a transaction that is always rolled back, to preview its result."""
        return self._files.rehearsal()

    def close(self) -> None:
        """Close this thread's connection. The next use opens it again."""
        self._files.close()

    def moment(self) -> AbstractContextManager[None]:
        """Read one snapshot within the block, unaffected by concurrent writes."""
        return self._files.moment()

    def checkpoint(self) -> None:
        """Move the log into the file, if possible, so that a plain copy is complete.

        Other readers or writers may prevent it. A later call then does it.
        """
        self._files.checkpoint()

    def backup(
        self, target: Path, is_intact: Callable[[Path], bool] = lambda copy: True
    ) -> Backup | None:
        """Copy all data to ``target``, also during writes; return the copy's counts.

        Returns ``None`` if ``is_intact`` rejected the finished copy; ``target`` is then unchanged.
        """
        return copy_to(self._files.thread_connection, target, is_intact)

    def damage(self) -> list[dict[str, str]]:
        """Return the damage that SQLite finds in the file: ``what`` and ``where``."""
        return find_damage(self._files.tuples)

    def altered_schema(self) -> list[str]:
        """Return tables, indexes and triggers that differ from this program's schema."""
        return altered_schema(self._files.thread_connection)

    def altered(self) -> list[RowGroup]:
        """Return the groups of rows that differ from their checksums."""
        return list(altered_rows(self._files.thread_connection))

    def uncovered(self) -> list[RowGroup]:
        """Return the groups of rows without a checksum, which are old or from another program."""
        return list(uncovered_rows(self._files.thread_connection))

    def counts(self) -> LibraryCounts:
        """Return the number of rubrics, datasets, runs and so on.

        Hidden and archived rubrics and datasets, and runs for help tasks, do not count.
        """
        in_use = "NOT hidden AND archived IS NULL"
        ((*counts,),) = self._files.tuples(
            f"""
            SELECT (SELECT count(*) FROM rubric WHERE {in_use}),
                (SELECT count(*) FROM dataset WHERE {in_use}),
                (SELECT count(*) FROM judge WHERE archived IS NULL),
                (SELECT count(*) FROM panel WHERE archived IS NULL),
                count(*) FILTER (WHERE kind = 'run'),
                count(*) FILTER (WHERE kind = 'spot' AND plan -> '$.details.help' IS NULL),
                coalesce(sum(votes), 0), coalesce(sum(failures_open), 0)
            FROM run
            """
        )
        return LibraryCounts(*counts)

    def verify(self) -> list[tuple[str, int, str, str]]:
        """Hash every stored rubric and dataset version again; return the mismatches: the kind, the
        version, its hash when it was saved, and its hash now.
        """
        versions = []
        for version_id, expected, content in self._files.tuples(
            "SELECT id, hash, content FROM rubric_version ORDER BY id"
        ):
            actual = content_hash(json.loads(content))
            versions.append(("rubric", version_id, expected, actual))
        for version_id, expected, head in self._files.tuples(
            "SELECT id, hash, head FROM dataset_version ORDER BY id"
        ):
            items = [json.loads(text) for text in self.datasets.contents(version_id)]
            full_text = {**json.loads(head), "items": items}
            versions.append(("dataset", version_id, expected, content_hash(full_text)))
        return [version for version in versions if version[2] != version[3]]

"""Rubrics and their versions."""

from __future__ import annotations

import builtins
import sqlite3

from core.domain.library import RubricRow, RubricVersion, RubricVersionInfo
from core.domain.rubric import Rubric
from core.errors import Conflict, NotFound
from core.store.database.connection import Connections, new_id
from core.store.database.content import clean, dump, noun_hash, to_json
from core.text.names import STORED

_VERSION = "id, rubric_id, number, hash, content, created, author, note"
_LATEST = "(SELECT max(number) FROM rubric_version WHERE rubric_id = r.id)"
_RUNS = """
    (SELECT count(*) FROM run JOIN rubric_version v ON v.id = run.rubric_version_id
     WHERE v.rubric_id = r.id AND run.kind = 'run')
"""


class Rubrics:
    """Available as ``store.rubrics``. Versions are only ever added."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def create(
        self, rubric: Rubric, *, now: str, author: str = "", note: str = "", hidden: bool = False
    ) -> RubricVersion:
        """Save a new rubric. ``hidden`` rubrics (spot checks) are never listed."""
        with self._files.write() as db:
            cursor = db.execute(
                "INSERT INTO rubric (name, created, hidden) VALUES (?, ?, ?)",
                (rubric.name, now, hidden),
            )
            return self._add_version(db, new_id(cursor), 1, rubric, now, author, note)

    def version_with_content(self, rubric: Rubric, *, now: str) -> RubricVersion:
        """Return the newest version with this content; if there is none, save a hidden rubric."""
        version = self.find_by_hash(noun_hash(rubric))
        return version or self.create(rubric, now=now, hidden=True)

    def add_version(
        self,
        rubric_id: int,
        rubric: Rubric,
        *,
        parent: int,
        now: str,
        author: str = "",
        note: str = "",
    ) -> RubricVersion:
        """Save the next version after version number ``parent``.

        If the latest version has the same content, nothing is added and that version is returned.

        Raises:
            Conflict: ``parent`` is no longer the latest version; nothing was overwritten.
        """
        with self._files.write() as db:
            latest = self.latest(rubric_id)
            if latest.hash == noun_hash(rubric):
                return latest
            if latest.number != parent:
                raise Conflict(
                    f"The rubric {latest.rubric.name!r} changed since you opened it: version "
                    f"{latest.number} was saved by {latest.author or 'somebody'} at "
                    f"{latest.created}. Nothing was overwritten."
                )
            db.execute("UPDATE rubric SET name = ? WHERE id = ?", (rubric.name, rubric_id))
            return self._add_version(db, rubric_id, parent + 1, rubric, now, author, note)

    def latest(self, rubric_id: int) -> RubricVersion:
        """Return the newest version of a rubric."""
        rows = self._files.rows(
            f"SELECT {_VERSION} FROM rubric_version WHERE rubric_id = ? "
            "ORDER BY number DESC LIMIT 1",
            (rubric_id,),
        )
        if not rows:
            raise NotFound(f"There is no rubric {rubric_id}.")
        return _version_from(rows[0])

    def latest_number(self, rubric_id: int) -> int:
        """Return the number of the newest version, without its content."""
        ((number,),) = self._files.tuples(
            "SELECT max(number) FROM rubric_version WHERE rubric_id = ?", (rubric_id,)
        )
        if number is None:
            raise NotFound(f"There is no rubric {rubric_id}.")
        return int(number)

    def version(self, version_id: int) -> RubricVersion:
        """Return a version by its id."""
        rows = self._files.rows(
            f"SELECT {_VERSION} FROM rubric_version WHERE id = ?", (version_id,)
        )
        if not rows:
            raise NotFound(f"There is no rubric version {version_id}.")
        return _version_from(rows[0])

    def find_by_hash(self, content: str) -> RubricVersion | None:
        """Return the newest version with this content hash, or ``None``.

        Listed rubrics take precedence over hidden ones.
        """
        rows = self._files.rows(
            f"SELECT {_VERSION} FROM rubric_version v WHERE hash = ? "
            "ORDER BY (SELECT hidden FROM rubric WHERE id = v.rubric_id), id DESC LIMIT 1",
            (content,),
        )
        return _version_from(rows[0]) if rows else None

    def versions(self, rubric_id: int) -> builtins.list[RubricVersionInfo]:
        """Return the versions of a rubric, newest first, without contents."""
        rows = self._files.rows(
            """
            SELECT id, rubric_id, number, hash, name, criteria, created, author, note,
                (SELECT count(*) FROM run
                 WHERE rubric_version_id = v.id AND kind = 'run') AS runs
            FROM rubric_version v WHERE rubric_id = ? ORDER BY number DESC
            """,
            (rubric_id,),
        )
        if not rows:
            raise NotFound(f"There is no rubric {rubric_id}.")
        return [RubricVersionInfo(**dict(row)) for row in rows]

    def list(self, *, archived: bool = False) -> builtins.list[RubricRow]:
        """Return the current or the archived rubrics, most recently changed first."""
        rows = self._files.rows(
            f"""
            SELECT r.id, r.name, v.number, v.id AS version_id, v.hash, v.criteria,
                {_RUNS} AS runs, r.created, v.created AS updated, v.author, r.archived
            FROM rubric r
            JOIN rubric_version v ON v.rubric_id = r.id AND v.number = {_LATEST}
            WHERE NOT r.hidden AND (r.archived IS NOT NULL) = ?
            ORDER BY v.created DESC, v.id DESC
            """,
            (archived,),
        )
        return [RubricRow(**dict(row)) for row in rows]

    def archive(self, rubric_id: int, *, now: str) -> None:
        """Archive a rubric. Its versions and runs stay."""
        self._files.set_archived("rubric", rubric_id, now)

    def restore(self, rubric_id: int) -> None:
        """Restore a rubric from the archive."""
        self._files.set_archived("rubric", rubric_id, None)

    def _add_version(
        self,
        db: sqlite3.Connection,
        rubric_id: int,
        number: int,
        rubric: Rubric,
        now: str,
        author: str,
        note: str,
    ) -> RubricVersion:
        cursor = db.execute(
            "INSERT INTO rubric_version (rubric_id, number, hash, name, criteria, content, "
            "created, author, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                rubric_id,
                number,
                noun_hash(rubric),
                rubric.name,
                len(rubric.criteria),
                to_json(dump(rubric)),
                now,
                clean(author),
                clean(note),
            ),
        )
        return self.version(new_id(cursor))


def _version_from(row: sqlite3.Row) -> RubricVersion:
    return RubricVersion(
        id=row["id"],
        rubric_id=row["rubric_id"],
        number=row["number"],
        hash=row["hash"],
        rubric=Rubric.model_validate_json(row["content"], context=STORED),
        created=row["created"],
        author=row["author"],
        note=row["note"],
    )

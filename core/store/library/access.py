"""Members of a shared server, and the audit record of their changes."""

from __future__ import annotations

import builtins
import json
import sqlite3
from collections.abc import Sequence

from core.domain.access import AuditRow, MemberRow, TeamRole
from core.errors import NotFound
from core.store.database.connection import Connections
from core.store.database.content import clean


class Members:
    """Available as ``store.members``: members by e-mail address in lower case."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def get(self, email: str) -> MemberRow:
        """Return a member; raises ``NotFound``."""
        member = self.find(email)
        if member is None:
            raise NotFound(f"There is no member {email}.")
        return member

    def find(self, email: str) -> MemberRow | None:
        """Return a member, or ``None``."""
        rows = self._files.rows("SELECT * FROM member WHERE email = ?", (clean(email),))
        return _member_row(rows[0]) if rows else None

    def list(self) -> builtins.list[MemberRow]:
        """Return all members, by address."""
        return [_member_row(row) for row in self._files.rows("SELECT * FROM member ORDER BY email")]

    def put(self, email: str, role: TeamRole, *, disabled: bool, now: str) -> MemberRow:
        """Add or change a member."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO member (email, role, disabled, created, updated) "
                "VALUES (:email, :role, :disabled, :now, :now) ON CONFLICT (email) DO UPDATE "
                "SET role = excluded.role, disabled = excluded.disabled, updated = :now",
                {
                    "email": clean(email),
                    "role": role,
                    "disabled": disabled,
                    "now": now,
                },
            )
        return self.get(email)

    def sign_out(self, email: str, *, now: str) -> None:
        """End all sessions that this member began before ``now``."""
        with self._files.write() as db:
            db.execute("UPDATE member SET signed_out = ? WHERE email = ?", (now, clean(email)))


class AuditLog:
    """The log of changes to settings and data, available as ``store.audit``. `Connections.write`
    appends to it.
    """

    def __init__(self, files: Connections) -> None:
        self._files = files

    def list(
        self, *, actor: str | None = None, offset: int = 0, limit: int = 100
    ) -> builtins.list[AuditRow]:
        """Return audit entries, newest first; all of them with a limit of -1."""
        where, values = _where_actor(actor)
        rows = self._files.rows(
            f"SELECT * FROM audit {where} ORDER BY id DESC LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        return [_audit_row(row) for row in rows]

    def count(self, *, actor: str | None = None) -> int:
        """Return the number of audit entries."""
        where, values = _where_actor(actor)
        ((count,),) = self._files.tuples(f"SELECT count(*) FROM audit {where}", values)
        return int(count)

    def actors(self) -> Sequence[str]:
        """Return the names of all actors in the record."""
        rows = self._files.tuples("SELECT DISTINCT actor FROM audit ORDER BY actor")
        return [name for (name,) in rows]


def _where_actor(actor: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if actor is None else ("WHERE actor = ?", (actor,))


def _member_row(row: sqlite3.Row) -> MemberRow:
    fields = dict(row)
    return MemberRow(**{**fields, "disabled": bool(fields["disabled"])})


def _audit_row(row: sqlite3.Row) -> AuditRow:
    fields = dict(row)
    for name in ("object", "before", "after"):
        fields[name] = json.loads(fields[name])
    return AuditRow(**fields)

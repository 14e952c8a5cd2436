"""People who review."""

from __future__ import annotations

import builtins

from core.domain.review import Role
from core.domain.review_records import ReviewerRow
from core.errors import NotFound
from core.store.connection import Connections
from core.store.content import clean

_REVIEWER = "id, name, role, created"


class Reviewers:
    """Reached as ``store.reviewers``. Names are unique, whatever their case, and never change."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def make(self, name: str, *, now: str) -> ReviewerRow:
        """The reviewer of that name, made when new. The very first one is a lead."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO reviewer (name, role, created) SELECT ?, "
                "CASE WHEN EXISTS (SELECT 1 FROM reviewer) THEN 'reviewer' ELSE 'lead' END, ? "
                "WHERE true ON CONFLICT (name) DO NOTHING",
                (clean(name), now),
            )
            return self.get(name)

    def get(self, name: str) -> ReviewerRow:
        """The reviewer of that name; raises ``NotFound``."""
        rows = self._files.rows(f"SELECT {_REVIEWER} FROM reviewer WHERE name = ?", (clean(name),))
        if not rows:
            raise NotFound(f"There is no reviewer {name!r}.")
        return ReviewerRow(**dict(rows[0]))

    def list(self) -> builtins.list[ReviewerRow]:
        """All of them, by name."""
        rows = self._files.rows(f"SELECT {_REVIEWER} FROM reviewer ORDER BY name")
        return [ReviewerRow(**dict(row)) for row in rows]

    def set_role(self, name: str, role: Role) -> ReviewerRow:
        """Give a reviewer another role; raises ``NotFound``."""
        with self._files.write() as db:
            db.execute("UPDATE reviewer SET role = ? WHERE name = ?", (role, clean(name)))
            return self.get(name)

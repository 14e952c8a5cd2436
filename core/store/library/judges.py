"""Stored judges and panels, drafts of unsaved work, and small settings."""

from __future__ import annotations

import builtins
import json
import sqlite3
from typing import Any

from core.domain.library import JudgeRow, PanelRow, SavedDraft
from core.domain.panel import Judge, Panel
from core.errors import NotFound
from core.store.database.connection import Connections
from core.store.database.content import clean, dump, noun_hash, to_json


class Judges:
    """Available as ``store.judges``, by name; runs keep their own copies."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def save(self, judge: Judge, *, now: str) -> JudgeRow:
        """Save a judge, replacing the current judge of the same name."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO judge (name, content, created, updated) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) WHERE archived IS NULL "
                "DO UPDATE SET content = excluded.content, updated = excluded.updated",
                (judge.name, to_json(dump(judge)), now, now),
            )
            return self.get(judge.name)

    def get(self, name: str) -> JudgeRow:
        """Return the current judge with this name."""
        rows = self._files.rows("SELECT * FROM judge WHERE name = ? AND archived IS NULL", (name,))
        if not rows:
            raise NotFound(f"There is no judge {name!r}.")
        return _judge_row(rows[0])

    def list(self, *, archived: bool = False) -> builtins.list[JudgeRow]:
        """Return the current or the archived judges, by name."""
        rows = self._files.rows(
            "SELECT * FROM judge WHERE (archived IS NOT NULL) = ? ORDER BY lower(name), id",
            (archived,),
        )
        return [_judge_row(row) for row in rows]

    def archive(self, name: str, *, now: str) -> None:
        """Archive a judge; its name is free again."""
        with self._files.write() as db:
            cursor = db.execute(
                "UPDATE judge SET archived = ? WHERE name = ? AND archived IS NULL", (now, name)
            )
            if not cursor.rowcount:
                raise NotFound(f"There is no judge {name!r}.")


class Panels:
    """Available as ``store.panels``, by name; runs keep their own copies."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def save(self, panel: Panel, *, now: str) -> PanelRow:
        """Save a panel, replacing the current panel of the same name."""
        with self._files.write() as db:
            ((panel_id,),) = db.execute(
                "INSERT INTO panel (name, hash, content, created, updated) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (name) WHERE archived IS NULL DO UPDATE "
                "SET hash = excluded.hash, content = excluded.content, updated = excluded.updated "
                "RETURNING id",
                (panel.name, noun_hash(panel), to_json(dump(panel)), now, now),
            ).fetchall()
            return self.get(panel_id)

    def get(self, panel_id: int) -> PanelRow:
        """Return a panel by its id, archived or not."""
        rows = self._files.rows("SELECT * FROM panel WHERE id = ?", (panel_id,))
        if not rows:
            raise NotFound(f"There is no panel {panel_id}.")
        return _panel_row(rows[0])

    def list(self, *, archived: bool = False) -> builtins.list[PanelRow]:
        """Return the current or the archived panels, by name."""
        rows = self._files.rows(
            "SELECT * FROM panel WHERE (archived IS NOT NULL) = ? ORDER BY lower(name), id",
            (archived,),
        )
        return [_panel_row(row) for row in rows]

    def archive(self, panel_id: int, *, now: str) -> None:
        """Archive a panel; its name is free again."""
        self._files.set_archived("panel", panel_id, now)


#: Separates a user's name from the key of a draft; keys never contain it.
_PARTED = "\x1f"


class Drafts:
    """Available as ``store.drafts``: unsaved work by key, which survives a restart.

    On a shared server each user has separate drafts under the same keys.
    """

    def __init__(self, files: Connections) -> None:
        self._files = files
        self._own = "" if files.actor.trusted else f"{clean(files.actor.name)}{_PARTED}"

    def save(self, key: str, content: Any, *, now: str) -> None:
        """Save plain JSON data under ``key``, replacing any earlier draft."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO draft (key, content, updated) VALUES (?, ?, ?) ON CONFLICT (key) "
                "DO UPDATE SET content = excluded.content, updated = excluded.updated",
                (self._own + key, to_json(content), now),
            )

    def get(self, key: str) -> SavedDraft | None:
        """Return the draft under ``key``, or ``None``."""
        rows = self._files.rows(
            "SELECT key, content, updated FROM draft WHERE key = ?", (self._own + key,)
        )
        return self._draft_from(rows[0]) if rows else None

    def list(self, prefix: str = "") -> builtins.list[SavedDraft]:
        """Return the drafts whose keys start with ``prefix``, most recently saved first."""
        full_prefix = self._own + prefix
        rows = self._files.rows(
            "SELECT key, content, updated FROM draft WHERE substr(key, 1, ?) = ? "
            "AND NOT instr(substr(key, ?), ?) ORDER BY updated DESC, key",
            (len(full_prefix), full_prefix, len(full_prefix) + 1, _PARTED),
        )
        return [self._draft_from(row) for row in rows]

    def other_drafts(self, key: str) -> builtins.list[tuple[str, str]]:
        """Return the other users with a draft under ``key`` and its time, newest first."""
        rows = self._files.tuples(
            "SELECT substr(key, 1, instr(key, ?) - 1) AS person, updated FROM draft "
            "WHERE substr(key, instr(key, ?) + 1) = ? AND key <> ? ORDER BY updated DESC, key",
            (_PARTED, _PARTED, key, self._own + key),
        )
        return [(person, updated) for person, updated in rows]

    def delete(self, key: str) -> None:
        """Delete a draft, if there is one."""
        with self._files.write() as db:
            db.execute("DELETE FROM draft WHERE key = ?", (self._own + key,))

    def _draft_from(self, row: sqlite3.Row) -> SavedDraft:
        key = row["key"].removeprefix(self._own)
        return SavedDraft(key, json.loads(row["content"]), row["updated"])


class SettingValues:
    """Available as ``store.settings``: small values of the app by key, as plain JSON data."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of ``key``, or ``default``."""
        rows = self._files.rows("SELECT value FROM setting WHERE key = ?", (key,))
        return json.loads(rows[0]["value"]) if rows else default

    def put(self, key: str, value: Any) -> None:
        """Set the value of ``key``."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO setting (key, value) VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (key, to_json(value)),
            )

    def add(self, key: str, value: Any) -> None:
        """Append a value to the list under ``key``."""
        text = to_json(value)
        with self._files.write() as db:
            db.execute(
                "INSERT INTO setting (key, value) VALUES (?, json_array(json(?))) "
                "ON CONFLICT (key) DO UPDATE SET value = json_insert(value, '$[#]', json(?))",
                (key, text, text),
            )


def _judge_row(row: sqlite3.Row) -> JudgeRow:
    fields = dict(row)
    return JudgeRow(judge=Judge.model_validate_json(fields.pop("content")), **fields)


def _panel_row(row: sqlite3.Row) -> PanelRow:
    fields = dict(row)
    return PanelRow(panel=Panel.model_validate_json(fields.pop("content")), **fields)

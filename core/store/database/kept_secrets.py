"""Remove secrets from data files of earlier versions, which stored all ``params``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

from core.domain.secrets import (
    REMOVED,
    cleaned_address,
    looks_like_key,
    secrets_in,
    without_secrets,
)
from core.identity import content_hash
from core.store.database.content import to_json

# A mark replaces possible secrets in the settings of judges, and the same text wherever a provider
# repeated it. Votes, scores and calls stay as they are. The triggers that forbid changes are
# dropped for this time, because only secrets are rewritten.

#: Stored judge settings in JSON: table, key, column, column of the hash.
_SETTINGS = (
    ("judge", "id", "content", ""),
    ("panel", "id", "content", "hash"),
    ("run", "id", "panel", "panel_hash"),
    ("run", "id", "plan", ""),
    ("call", "id", "params", ""),
    ("draft", "key", "content", ""),
    ("help_task", "id", "request", ""),
    ("help_task", "id", "result", ""),
    ("help_step", "id", "call", ""),
)
#: Stored provider messages, which may repeat a secret.
_WORDS = (
    ("call", ("reply", "thinking")),
    ("vote", ("reason", "evidence", "detail")),
    ("failure", ("message",)),
    ("response", ("completion",)),
    ("help_step", ("value", "message", "call")),
    ("help_task", ("result", "message")),
)
_TABLES = {table for table, *_ in (*_SETTINGS, *_WORDS)}
#: Shorter secrets could be ordinary words.
_SHORTEST = 8


def clean_secrets(db: sqlite3.Connection) -> None:
    """Clean the whole file; the caller holds the write lock."""
    # Removed secrets must not stay in free pages of the file.
    db.execute("PRAGMA secure_delete = ON")
    guards = [
        (name, sql)
        for name, table, sql in db.execute(
            "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        if table in _TABLES
    ]
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    secrets = set[str]()
    for place in _SETTINGS:
        _clean_settings(db, *place, secrets.add)
    for secret in sorted(secrets, key=len, reverse=True):
        _remove_from_texts(db, secret)
    for _, sql in guards:
        db.execute(sql)


def _clean_settings(
    db: sqlite3.Connection,
    table: str,
    key: str,
    column: str,
    digest: str,
    report: Callable[[str], None],
) -> None:
    rows = db.execute(
        f"SELECT {key}, {column} FROM {table} "
        f"WHERE instr({column}, '\"params\"') OR instr({column}, '\"api_base\"') "
        f"OR instr({column}, '\"model\"')"
    )
    changed = []
    for row_id, text in rows:
        before = json.loads(text)
        after = _without_secrets(before, report)
        if after != before:
            changed.append((row_id, after))
    for row_id, after in changed:
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (to_json(after), row_id))
        if digest:
            hashed = (content_hash(after), row_id)
            db.execute(f"UPDATE {table} SET {digest} = ? WHERE {key} = ?", hashed)


def _without_secrets(value: Any, report: Callable[[str], None]) -> Any:
    """Return plain data with judges' settings cleaned; call ``report`` with each removed secret."""
    if isinstance(value, list):
        return [_without_secrets(part, report) for part in value]
    if not isinstance(value, dict):
        return value
    return {name: _cleaned_field(name, part, report) for name, part in value.items()}


def _cleaned_field(name: str, value: Any, report: Callable[[str], None]) -> Any:
    if name == "params" and isinstance(value, dict) and "params" not in value:
        for path in secrets_in(value):
            _report_texts(_value_at(value, path), report)
        return without_secrets(value)
    if name == "api_base" and isinstance(value, str):
        return cleaned_address(value)
    if name == "model" and isinstance(value, str) and looks_like_key(value):
        report(value)
        return REMOVED
    return _without_secrets(value, report)


def _value_at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def _report_texts(value: Any, report: Callable[[str], None]) -> None:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            _report_texts(part, report)
    elif isinstance(value, str):
        # A header's value is "Bearer KEY"; a server may have repeated only the key.
        for text in {value, value.rpartition(" ")[2]}:
            if len(text) >= _SHORTEST:
                report(text)


def _remove_from_texts(db: sqlite3.Connection, secret: str) -> None:
    # JSON text may contain it escaped.
    for spelt in dict.fromkeys((secret, json.dumps(secret)[1:-1])):
        for table, columns in _WORDS:
            for column in columns:
                db.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, ?) "
                    f"WHERE instr({column}, ?)",
                    (spelt, REMOVED, spelt),
                )

"""Which file is ours, what is in it, and that facts in it cannot be changed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

from core.domain.runs import Lease
from core.errors import StoreError
from core.store.database import migrations as steps_of
from core.store.database.migrations import APPLICATION_ID, NAMES, SET, first_tables, migrations
from core.store.store import Store
from tests.places import GOLDEN, ROOT
from tests.store.making import call, claimed, failure, record, vote

GOLDEN = GOLDEN / "schema.sql"


def schema_of(path: Path) -> str:
    connection = sqlite3.connect(path)
    found = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL "
        "ORDER BY instr('table index trigger', type), name"
    ).fetchall()
    connection.close()
    return "".join(f"{sql};\n" for (sql,) in found)


def test_the_final_schema_is_the_golden_one(store: Store) -> None:
    # A released schema only changes by a new migration; then this file is written anew with it:
    # UPDATE_GOLDEN=1 pytest tests/store/database/test_migrations.py
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(schema_of(store.path))
    assert schema_of(store.path) == GOLDEN.read_text()


def test_every_table_of_ours_is_strict(store: Store) -> None:
    with store.write() as db:
        lax = db.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
            "AND NOT strict AND name NOT LIKE 'sqlite%'"
        ).fetchall()
    assert lax == [("_sqlite_migrations",)]  # sqlite-utils makes this one


def test_the_names_kept_apart_are_those_of_the_migrations(store: Store) -> None:
    with store.write() as db:
        applied = db.execute("SELECT name FROM _sqlite_migrations ORDER BY id").fetchall()
    assert applied == [(name,) for name in NAMES]
    assert migrations().name == SET


def test_an_older_file_gets_outcomes_from_what_its_gates_said(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    older = Database(path)
    steps = Migrations(SET)
    steps()(first_tables)
    steps.apply(older)
    # (fail, review): both, one, neither. References are not checked on this connection.
    for place, (fail, review) in enumerate([(1, 1), (1, 0), (0, 1), (0, 0)]):
        older.execute(
            "INSERT INTO run_item (run_id, position, item_id, planned, fail, review) "
            "VALUES (1, ?, ?, 1, ?, ?)",
            (place, f"item {place}", fail, review),
        )
    older.conn.commit()
    older.close()
    Store(path).close()
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT outcome FROM run_item ORDER BY position").fetchall()
    connection.close()
    assert found == [("fail",), ("fail",), ("review",), (None,)]
    assert schema_of(path) == GOLDEN.read_text()


def test_the_help_tasks_of_an_older_file_stay_as_they_were_and_can_be_held(tmp_path: Path) -> None:
    path = tmp_path / "older.db"
    older = Database(path)
    before = Migrations(SET)
    for name in NAMES[: NAMES.index("help_leases")]:
        before()(getattr(steps_of, name))
    before.apply(older)
    # One that a process was at, one that is done, and one that waits.
    for row in (
        ("running", None, "", "host:1:a", 1000.0, 1),
        ("done", '{"rubric": 7}', "", None, None, 0),
        ("queued", None, "", None, None, 0),
    ):
        older.execute(
            "INSERT INTO help_task (kind, subject, request, status, planned, budget, result, "
            "message, owner, until, cancel, created, updated, made_by) "
            "VALUES ('draft', 's', '{\"a\": 1}', ?, 2, 0.5, ?, ?, ?, ?, ?, 'then', 'later', 'ann')",
            row,
        )
    older.execute(
        "INSERT INTO help_step (task_id, name, value, asked, cost, created) "
        "VALUES (2, 'one', '\"words\"', 1, 0.25, 'then')"
    )
    older.conn.commit()
    older.close()
    store = Store(path)
    running, done, queued = (store.helps.get(task) for task in (1, 2, 3))
    assert running.lease == Lease(1, "host:1:a", 0, 1000.0, cancel=True, table="help_task")
    assert (running.status, running.request, running.budget) == ("running", {"a": 1}, 0.5)
    assert (done.status, done.result, done.calls, done.cost) == ("done", {"rubric": 7}, 1, 0.25)
    assert (queued.created, queued.updated, queued.made_by) == ("then", "later", "ann")
    assert store.leases.heartbeat(running.lease, at=900.0, seconds=200.0) is True
    assert not store.helps.claim(1, "me", at=1050.0, seconds=10.0, now="now")
    assert store.helps.claim(1, "me", at=1150.0, seconds=10.0, now="now")
    assert store.leases.heartbeat(running.lease, at=1150.0, seconds=10.0) is None
    store.close()
    assert schema_of(path) == GOLDEN.read_text()


def test_a_connection_is_durable_shared_and_checks_references(store: Store) -> None:
    with store.write() as db:
        values = [
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        ]
    assert values == ["wal", 2, 1, 30_000]  # synchronous 2 is FULL


@pytest.mark.parametrize(
    "table", ["vote", "call", "segment", "rubric_version", "dataset_version", "item"]
)
def test_facts_are_never_updated_nor_deleted(store: Store, run_id: int, table: str) -> None:
    record(store, claimed(store, run_id), vote("a", call=call("Judge this.")))
    column = {"segment": "hash", "item": "preview"}.get(table, "created")
    column = "hash" if table in ("rubric_version", "dataset_version") else column
    for statement in (f"UPDATE {table} SET {column} = 'x'", f"DELETE FROM {table}"):
        with (
            pytest.raises(sqlite3.IntegrityError, match=f"{table} rows are never"),
            store.write() as db,
        ):
            db.execute(statement)


def test_of_a_failure_only_its_being_open_may_change(store: Store, run_id: int) -> None:
    record(store, claimed(store, run_id), failure("a"))
    with store.write() as db:
        db.execute("UPDATE failure SET open = 0")
    for statement in ("UPDATE failure SET kind = 'server'", "DELETE FROM failure"):
        with pytest.raises(sqlite3.IntegrityError, match="never"), store.write() as db:
            db.execute(statement)


def test_the_plan_of_a_run_is_never_updated(store: Store, run_id: int) -> None:
    refused = pytest.raises(sqlite3.IntegrityError, match="run rows are never updated")
    with refused, store.write() as db:
        db.execute("UPDATE run SET plan = '{}' WHERE id = ?", (run_id,))


def test_opening_again_changes_nothing(store: Store) -> None:
    before = schema_of(store.path)
    Store(store.path).close()
    assert schema_of(store.path) == before


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"theirs\.db is a database of another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt is not a data file of Rubric Studio"):
        Store(path)
    assert path.read_text() == "Dear diary, " * 100


def test_a_file_of_a_newer_program_is_refused(store: Store) -> None:
    with store.write() as db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
            (SET, "a_later_one", "2030-01-01"),
        )
    with pytest.raises(StoreError, match="written by a newer Rubric Studio; update"):
        Store(store.path)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path)


def test_a_path_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"folder of .* cannot be made"):
        Store(tmp_path / "file" / "studio.db")


def test_missing_folders_are_made_and_the_file_is_marked_ours(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "studio.db"
    Store(path).close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def test_a_new_data_file_needs_no_pandas(tmp_path: Path) -> None:
    code = (
        "import sys; from core.store.store import Store; Store(sys.argv[1]).close(); "
        "print({'pandas', 'numpy'} & sys.modules.keys()); import numpy"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "studio.db")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"

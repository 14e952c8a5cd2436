"""The tables of a writing model's help, as their migration makes them. Never edited once released.

``help_task`` is what was asked for and how far it is; ``help_step`` holds every call that was made
for it, the failed ones among them, and is only ever added to.
"""

from __future__ import annotations

HELPS = (
    """
    CREATE TABLE help_task (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        request TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN
            ('queued', 'running', 'done', 'cancelled', 'interrupted', 'budget', 'failed')),
        planned INTEGER NOT NULL,
        budget REAL,
        result TEXT,
        message TEXT NOT NULL DEFAULT '',
        owner TEXT,
        until REAL,
        cancel INTEGER NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
        created TEXT NOT NULL,
        updated TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX help_task_by_subject ON help_task (subject, kind, id)",
    """
    CREATE TABLE help_step (
        id INTEGER PRIMARY KEY,
        task_id INTEGER NOT NULL REFERENCES help_task(id),
        name TEXT NOT NULL,
        value TEXT,
        failure TEXT,
        message TEXT NOT NULL DEFAULT '',
        call TEXT,
        asked INTEGER NOT NULL CHECK (asked IN (0, 1)),
        cost REAL,
        created TEXT NOT NULL,
        CHECK ((value IS NULL) <> (failure IS NULL))
    ) STRICT
    """,
    "CREATE UNIQUE INDEX help_step_done ON help_step (task_id, name) WHERE value IS NOT NULL",
    "CREATE INDEX help_step_by_task ON help_step (task_id, id)",
    """
    CREATE TRIGGER help_step_is_never_updated BEFORE UPDATE ON help_step
    BEGIN SELECT RAISE(ABORT, 'help_step rows are never updated'); END
    """,
    """
    CREATE TRIGGER help_step_is_never_deleted BEFORE DELETE ON help_step
    BEGIN SELECT RAISE(ABORT, 'help_step rows are never deleted'); END
    """,
)

"""The record of which version a run's scores follow, as its migration makes it."""

from __future__ import annotations

#: The tables as their migration makes them. Released statements are never edited.
SCORED_VERSIONS = (
    "ALTER TABLE run ADD COLUMN scored_version_id INTEGER REFERENCES rubric_version(id)",
    """
    CREATE TABLE scored_change (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run(id),
        ts TEXT NOT NULL,
        actor TEXT NOT NULL,
        from_id INTEGER NOT NULL REFERENCES rubric_version(id),
        to_id INTEGER NOT NULL REFERENCES rubric_version(id),
        kept TEXT NOT NULL,
        marked TEXT NOT NULL,
        reason TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX scored_change_by_run ON scored_change (run_id, id)",
    """
    CREATE TRIGGER scored_change_is_never_updated BEFORE UPDATE ON scored_change
    BEGIN SELECT RAISE(ABORT, 'scored_change rows are never updated'); END
    """,
    """
    CREATE TRIGGER scored_change_is_never_deleted BEFORE DELETE ON scored_change
    BEGIN SELECT RAISE(ABORT, 'scored_change rows are never deleted'); END
    """,
)

"""The tables of reviewing, as their migration makes them. Released statements are never edited.

``review_event`` is the record, and only ever added to. ``review_verdict``, ``settled`` and the
states in ``queue_cell`` follow from it.
"""

from __future__ import annotations

REVIEWS = (
    """
    CREATE TABLE reviewer (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE COLLATE NOCASE,
        role TEXT NOT NULL CHECK (role IN ('reviewer', 'adjudicator', 'lead')),
        created TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE review_queue (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run(id),
        name TEXT NOT NULL,
        rule TEXT NOT NULL,
        settings TEXT NOT NULL,
        ordering TEXT NOT NULL,
        seed INTEGER NOT NULL,
        author TEXT NOT NULL,
        created TEXT NOT NULL,
        archived TEXT
    ) STRICT
    """,
    "CREATE INDEX review_queue_by_run ON review_queue (run_id)",
    """
    CREATE TABLE queue_item (
        queue_id INTEGER NOT NULL REFERENCES review_queue(id),
        item_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        draw REAL NOT NULL,
        assisted INTEGER NOT NULL CHECK (assisted IN (0, 1)),
        required INTEGER NOT NULL CHECK (required >= 1),
        assigned TEXT NOT NULL DEFAULT '[]',
        PRIMARY KEY (queue_id, item_id)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE queue_cell (
        queue_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        reasons TEXT NOT NULL,
        chance REAL NOT NULL CHECK (chance > 0 AND chance <= 1),
        failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
        flip REAL NOT NULL,
        change REAL NOT NULL,
        entropy REAL,
        margin REAL,
        spread REAL,
        state TEXT NOT NULL CHECK (state IN
            ('needs_review', 'needs_others', 'disagreement', 'resolved')),
        flagged TEXT CHECK (flagged IN ('reviewer', 'adjudicator', 'lead')),
        version INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (queue_id, item_id, criterion),
        FOREIGN KEY (queue_id, item_id) REFERENCES queue_item (queue_id, item_id)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE queue_turn (
        queue_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        reviewer TEXT NOT NULL,
        part TEXT NOT NULL CHECK (part IN ('review', 'resolve')),
        session TEXT,
        until REAL,
        skipped INTEGER,
        PRIMARY KEY (queue_id, item_id, reviewer),
        FOREIGN KEY (queue_id, item_id) REFERENCES queue_item (queue_id, item_id)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE review_event (
        id INTEGER PRIMARY KEY,
        step INTEGER NOT NULL,
        ts TEXT NOT NULL,
        actor TEXT NOT NULL,
        role TEXT NOT NULL,
        session TEXT NOT NULL,
        run_id INTEGER NOT NULL REFERENCES run(id),
        queue_id INTEGER REFERENCES review_queue(id),
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        rubric_version_id INTEGER NOT NULL REFERENCES rubric_version(id),
        action TEXT NOT NULL,
        part TEXT NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        reason TEXT NOT NULL,
        mode TEXT NOT NULL,
        ms_active INTEGER,
        revealed_at TEXT,
        evidence TEXT NOT NULL,
        undo_of INTEGER REFERENCES review_event(id)
    ) STRICT
    """,
    "CREATE INDEX review_event_by_cell ON review_event (run_id, item_id, criterion, id)",
    "CREATE INDEX review_event_by_queue ON review_event (queue_id, actor, id)",
    "CREATE INDEX review_event_by_step ON review_event (step)",
    "CREATE UNIQUE INDEX review_event_undone ON review_event (undo_of) WHERE undo_of IS NOT NULL",
    """
    CREATE TABLE review_verdict (
        queue_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        part TEXT NOT NULL CHECK (part IN ('review', 'resolve')),
        reviewer TEXT NOT NULL,
        mode TEXT NOT NULL,
        first TEXT NOT NULL,
        first_event INTEGER NOT NULL REFERENCES review_event(id),
        revealed TEXT,
        final TEXT,
        final_event INTEGER REFERENCES review_event(id),
        PRIMARY KEY (queue_id, item_id, criterion, part, reviewer),
        FOREIGN KEY (queue_id, item_id, criterion)
            REFERENCES queue_cell (queue_id, item_id, criterion)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE settled (
        run_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        option INTEGER,
        label TEXT,
        why TEXT,
        provenance TEXT NOT NULL CHECK (provenance IN
            ('human_single', 'human_consensus', 'adjudicated', 'imported')),
        people TEXT NOT NULL,
        note TEXT NOT NULL,
        event_id INTEGER NOT NULL REFERENCES review_event(id),
        state TEXT NOT NULL CHECK (state IN ('active', 'stale', 'retired')),
        PRIMARY KEY (run_id, item_id, criterion),
        FOREIGN KEY (run_id, item_id) REFERENCES run_item (run_id, item_id)
    ) STRICT, WITHOUT ROWID
    """,
    "ALTER TABLE cell ADD COLUMN voted INTEGER",
    """
    CREATE TRIGGER review_event_is_never_updated BEFORE UPDATE ON review_event
    BEGIN SELECT RAISE(ABORT, 'review_event rows are never updated'); END
    """,
    """
    CREATE TRIGGER review_event_is_never_deleted BEFORE DELETE ON review_event
    BEGIN SELECT RAISE(ABORT, 'review_event rows are never deleted'); END
    """,
)

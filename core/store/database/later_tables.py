"""Tables of later migrations. Released statements are never edited."""

from __future__ import annotations

# Review tables, as their migration makes them. Released statements are never edited.
#
# ``review_event`` is the record, whose rows are only ever added. ``review_verdict``, ``settled``
# and the states in ``queue_cell`` follow from it.

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


# Tables of writing help, as their migration makes them. Released statements are never edited.
#
# ``help_task`` holds the request and its progress; ``help_step`` holds all of its calls, including
# failed ones, and its rows are only ever added.

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


#: Tables of scored rubric versions. Released statements are never edited.
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


#: Members of a shared server, and the audit record. Released statements are never edited.
ACCESS = (
    """
    CREATE TABLE member (
        email TEXT PRIMARY KEY,
        role TEXT NOT NULL
            CHECK (role IN ('viewer', 'reviewer', 'adjudicator', 'author', 'lead', 'admin')),
        disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        signed_out TEXT
    ) STRICT
    """,
    """
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        actor TEXT NOT NULL,
        role TEXT,
        via TEXT NOT NULL,
        verb TEXT NOT NULL,
        act TEXT NOT NULL,
        object TEXT NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX audit_by_actor ON audit (actor, id)",
    """
    CREATE TRIGGER audit_is_never_updated BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never updated'); END
    """,
    """
    CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
    BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END
    """,
    "ALTER TABLE run ADD COLUMN made_by TEXT NOT NULL DEFAULT ''",
)

#: The user who asked a model for help, and so pays for it.
HELP_MADE_BY = ("ALTER TABLE help_task ADD COLUMN made_by TEXT NOT NULL DEFAULT ''",)
HELP_LEASES = (
    "ALTER TABLE help_task RENAME COLUMN owner TO lease_owner",
    "ALTER TABLE help_task RENAME COLUMN until TO lease_until",
    "ALTER TABLE help_task ADD COLUMN fence INTEGER NOT NULL DEFAULT 0",
)


#: Batches at providers, and the question of each request. Never edited.
BATCHES = (
    """
    CREATE TABLE batch (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run(id),
        judge TEXT NOT NULL,
        token TEXT NOT NULL UNIQUE,
        status TEXT NOT NULL CHECK (status IN ('planned', 'sent', 'taken')),
        lines INTEGER NOT NULL,
        guess REAL NOT NULL,
        file TEXT NOT NULL DEFAULT '',
        batch TEXT NOT NULL DEFAULT '',
        said TEXT NOT NULL DEFAULT '',
        done INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        stopped INTEGER NOT NULL DEFAULT 0 CHECK (stopped IN (0, 1)),
        message TEXT NOT NULL DEFAULT '',
        created TEXT NOT NULL,
        sent REAL,
        looked REAL,
        due REAL
    ) STRICT
    """,
    "CREATE INDEX batch_by_run ON batch (run_id, id)",
    """
    CREATE TABLE batch_line (
        batch_id INTEGER NOT NULL REFERENCES batch(id),
        key TEXT NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        replicate INTEGER NOT NULL,
        answer TEXT,
        PRIMARY KEY (batch_id, key)
    ) STRICT, WITHOUT ROWID
    """,
)

#: Cached columns, and the number of times a run's results were derived.
KEPT = (
    """
    CREATE TABLE kept (
        about TEXT PRIMARY KEY,
        stamp INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT
    """,
    "ALTER TABLE run ADD COLUMN derived INTEGER NOT NULL DEFAULT 0",
)

#: Declarations of how a dataset version's labels were drawn; withdrawn ones are kept.
LABEL_DRAWS = (
    """
    CREATE TABLE label_draw (
        id INTEGER PRIMARY KEY,
        version_id INTEGER NOT NULL REFERENCES dataset_version(id),
        note TEXT NOT NULL,
        declared_by TEXT NOT NULL,
        declared TEXT NOT NULL,
        withdrawn_by TEXT NOT NULL DEFAULT '',
        withdrawn TEXT
    ) STRICT
    """,
    "CREATE UNIQUE INDEX label_draw_standing ON label_draw (version_id) WHERE withdrawn IS NULL",
)

#: Checksums of groups of rows, by the last key of each group; "" for rows without a checksum.
SUMS = (
    """
    CREATE TABLE group_sum (
        tbl TEXT NOT NULL,
        last INTEGER NOT NULL,
        digest TEXT NOT NULL,
        PRIMARY KEY (tbl, last)
    ) STRICT, WITHOUT ROWID
    """,
)

"""The tables of the first migration. Released statements are never edited:
a change is a further migration in ``core.store.database.migrations``.
"""

from __future__ import annotations

LIBRARY = (
    """
    CREATE TABLE rubric (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        created TEXT NOT NULL,
        hidden INTEGER NOT NULL CHECK (hidden IN (0, 1)),
        archived TEXT
    ) STRICT
    """,
    """
    CREATE TABLE rubric_version (
        id INTEGER PRIMARY KEY,
        rubric_id INTEGER NOT NULL REFERENCES rubric(id),
        number INTEGER NOT NULL CHECK (number >= 1),
        hash TEXT NOT NULL,
        name TEXT NOT NULL,
        criteria INTEGER NOT NULL,
        content TEXT NOT NULL,
        created TEXT NOT NULL,
        author TEXT NOT NULL,
        note TEXT NOT NULL,
        UNIQUE (rubric_id, number)
    ) STRICT
    """,
    "CREATE INDEX rubric_version_by_hash ON rubric_version (hash)",
    """
    CREATE TABLE dataset (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        created TEXT NOT NULL,
        hidden INTEGER NOT NULL CHECK (hidden IN (0, 1)),
        archived TEXT
    ) STRICT
    """,
    """
    CREATE TABLE dataset_version (
        id INTEGER PRIMARY KEY,
        dataset_id INTEGER NOT NULL REFERENCES dataset(id),
        number INTEGER NOT NULL CHECK (number >= 1),
        hash TEXT NOT NULL,
        name TEXT NOT NULL,
        head TEXT NOT NULL,
        items INTEGER NOT NULL,
        labelled INTEGER NOT NULL,
        created TEXT NOT NULL,
        source TEXT NOT NULL,
        UNIQUE (dataset_id, number)
    ) STRICT
    """,
    "CREATE INDEX dataset_version_by_hash ON dataset_version (hash)",
    """
    CREATE TABLE item (
        version_id INTEGER NOT NULL REFERENCES dataset_version(id),
        position INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        system TEXT NOT NULL,
        split TEXT CHECK (split IN ('calibration', 'evaluation')),
        labelled INTEGER NOT NULL,
        preview TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (version_id, position),
        UNIQUE (version_id, item_id)
    ) STRICT
    """,
    """
    CREATE TABLE judge (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        content TEXT NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        archived TEXT
    ) STRICT
    """,
    "CREATE UNIQUE INDEX judge_name ON judge (name) WHERE archived IS NULL",
    """
    CREATE TABLE panel (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        hash TEXT NOT NULL,
        content TEXT NOT NULL,
        created TEXT NOT NULL,
        updated TEXT NOT NULL,
        archived TEXT
    ) STRICT
    """,
    "CREATE UNIQUE INDEX panel_name ON panel (name) WHERE archived IS NULL",
    "CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    """
    CREATE TABLE draft (
        key TEXT PRIMARY KEY,
        content TEXT NOT NULL,
        updated TEXT NOT NULL
    ) STRICT
    """,
)

RUNS = (
    """
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('run', 'spot')),
        rubric_version_id INTEGER NOT NULL REFERENCES rubric_version(id),
        dataset_version_id INTEGER NOT NULL REFERENCES dataset_version(id),
        panel TEXT NOT NULL,
        panel_hash TEXT NOT NULL,
        plan TEXT NOT NULL,
        plan_hash TEXT NOT NULL,
        items INTEGER NOT NULL,
        planned INTEGER NOT NULL,
        created TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN
            ('queued', 'running', 'done', 'cancelled', 'interrupted', 'budget', 'failed')),
        votes INTEGER NOT NULL DEFAULT 0,
        abstentions INTEGER NOT NULL DEFAULT 0,
        failures_open INTEGER NOT NULL DEFAULT 0,
        calls INTEGER NOT NULL DEFAULT 0,
        tokens_in INTEGER NOT NULL DEFAULT 0,
        tokens_cached INTEGER NOT NULL DEFAULT 0,
        tokens_out INTEGER NOT NULL DEFAULT 0,
        tokens_thinking INTEGER NOT NULL DEFAULT 0,
        cost REAL NOT NULL DEFAULT 0,
        cost_unknown INTEGER NOT NULL DEFAULT 0,
        seconds REAL NOT NULL DEFAULT 0,
        started TEXT,
        finished TEXT,
        message TEXT NOT NULL DEFAULT '',
        notes TEXT NOT NULL DEFAULT '{}',
        cancel INTEGER NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
        lease_owner TEXT,
        lease_until REAL,
        fence INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX run_active ON run (status) WHERE status IN ('queued', 'running')",
    "CREATE INDEX run_by_kind ON run (kind, id)",
    "CREATE INDEX run_by_rubric ON run (rubric_version_id)",
    "CREATE INDEX run_by_dataset ON run (dataset_version_id)",
    """
    CREATE TABLE run_item (
        run_id INTEGER NOT NULL REFERENCES run(id),
        position INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        planned INTEGER NOT NULL,
        votes INTEGER NOT NULL DEFAULT 0,
        abstentions INTEGER NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        score REAL,
        raw REAL,
        low REAL,
        high REAL,
        complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)),
        fail INTEGER NOT NULL DEFAULT 0 CHECK (fail IN (0, 1)),
        review INTEGER NOT NULL DEFAULT 0 CHECK (review IN (0, 1)),
        agreement REAL,
        trace TEXT,
        PRIMARY KEY (run_id, position),
        UNIQUE (run_id, item_id)
    ) STRICT
    """,
    "CREATE INDEX run_item_by_score ON run_item (run_id, score)",
    "CREATE INDEX run_item_by_agreement ON run_item (run_id, agreement)",
    """
    CREATE TABLE cell (
        run_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        option INTEGER,
        abstained INTEGER NOT NULL CHECK (abstained IN (0, 1)),
        value REAL,
        continuous REAL,
        agreement REAL,
        entropy REAL,
        margin REAL,
        coverage REAL,
        votes INTEGER NOT NULL,
        abstentions INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        rule TEXT NOT NULL,
        tie INTEGER NOT NULL CHECK (tie IN (0, 1)),
        warning TEXT NOT NULL,
        PRIMARY KEY (run_id, item_id, criterion),
        FOREIGN KEY (run_id, item_id) REFERENCES run_item (run_id, item_id)
    ) STRICT, WITHOUT ROWID
    """,
)

VOTES = (
    """
    CREATE TABLE segment (
        id INTEGER PRIMARY KEY,
        hash TEXT NOT NULL UNIQUE,
        body BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE call (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES run(id),
        judge TEXT NOT NULL,
        prompt TEXT NOT NULL,
        params TEXT NOT NULL,
        reply TEXT NOT NULL,
        thinking TEXT NOT NULL,
        model TEXT NOT NULL,
        finish TEXT NOT NULL,
        tokens_in INTEGER,
        tokens_cached INTEGER,
        tokens_out INTEGER,
        tokens_thinking INTEGER,
        cost REAL,
        seconds REAL NOT NULL,
        tries INTEGER NOT NULL,
        created TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX call_by_run ON call (run_id)",
    """
    CREATE TABLE vote (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        judge TEXT NOT NULL,
        replicate INTEGER NOT NULL,
        option INTEGER,
        abstained INTEGER NOT NULL CHECK (abstained IN (0, 1)),
        reason TEXT NOT NULL,
        evidence TEXT NOT NULL,
        ord TEXT,
        confidence REAL,
        probabilities TEXT,
        detail TEXT NOT NULL,
        call_id INTEGER REFERENCES call(id),
        created TEXT NOT NULL,
        UNIQUE (run_id, item_id, criterion, judge, replicate),
        FOREIGN KEY (run_id, item_id) REFERENCES run_item (run_id, item_id)
    ) STRICT
    """,
    """
    CREATE INDEX vote_matrix
        ON vote (run_id, criterion, judge, item_id, replicate, option, abstained)
    """,
    """
    CREATE TABLE failure (
        id INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL,
        item_id TEXT NOT NULL,
        criterion TEXT NOT NULL,
        judge TEXT NOT NULL,
        replicate INTEGER NOT NULL,
        attempt INTEGER NOT NULL CHECK (attempt >= 1),
        kind TEXT NOT NULL,
        message TEXT NOT NULL,
        ord TEXT,
        call_id INTEGER REFERENCES call(id),
        created TEXT NOT NULL,
        open INTEGER NOT NULL CHECK (open IN (0, 1)),
        UNIQUE (run_id, item_id, criterion, judge, replicate, attempt),
        FOREIGN KEY (run_id, item_id) REFERENCES run_item (run_id, item_id)
    ) STRICT
    """,
    "CREATE INDEX failure_open ON failure (run_id, item_id, criterion) WHERE open = 1",
)


def _refusal_trigger(table: str, verb: str, columns: str = "") -> str:
    of_columns, which_columns = (f" OF {columns}", " in these columns") if columns else ("", "")
    return f"""
    CREATE TRIGGER {table}_is_never_{verb.lower()}d BEFORE {verb}{of_columns} ON {table}
    BEGIN SELECT RAISE(ABORT, '{table} rows are never {verb.lower()}d{which_columns}'); END
    """


_FACTS = ("rubric_version", "dataset_version", "item", "segment", "call", "vote")
_FAILURE = "id, run_id, item_id, criterion, judge, replicate, attempt, kind, message, ord, call_id"
_RUN = "id, kind, rubric_version_id, dataset_version_id, panel, panel_hash, plan, plan_hash"

TRIGGERS = (
    *(_refusal_trigger(table, verb) for table in _FACTS for verb in ("UPDATE", "DELETE")),
    _refusal_trigger("failure", "UPDATE", f"{_FAILURE}, created"),
    _refusal_trigger("failure", "DELETE"),
    _refusal_trigger("run", "UPDATE", f"{_RUN}, items, planned, created"),
    _refusal_trigger("run", "DELETE"),
)

CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
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
) STRICT;
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
) STRICT;
CREATE TABLE batch_line (
    batch_id INTEGER NOT NULL REFERENCES batch(id),
    key TEXT NOT NULL,
    item_id TEXT NOT NULL,
    criterion TEXT NOT NULL,
    replicate INTEGER NOT NULL,
    answer TEXT,
    PRIMARY KEY (batch_id, key)
) STRICT, WITHOUT ROWID;
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
, cached INTEGER NOT NULL DEFAULT 0 CHECK (cached IN (0, 1)), first_cost REAL, asked INTEGER, kept INTEGER) STRICT;
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
    warning TEXT NOT NULL, voted INTEGER,
    PRIMARY KEY (run_id, item_id, criterion),
    FOREIGN KEY (run_id, item_id) REFERENCES run_item (run_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE dataset (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    hidden INTEGER NOT NULL CHECK (hidden IN (0, 1)),
    archived TEXT
) STRICT;
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
) STRICT;
CREATE TABLE draft (
    key TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    updated TEXT NOT NULL
) STRICT;
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
) STRICT;
CREATE TABLE group_sum (
    tbl TEXT NOT NULL,
    last INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (tbl, last)
) STRICT, WITHOUT ROWID;
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
) STRICT;
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
    lease_owner TEXT,
    lease_until REAL,
    cancel INTEGER NOT NULL DEFAULT 0 CHECK (cancel IN (0, 1)),
    created TEXT NOT NULL,
    updated TEXT NOT NULL
, made_by TEXT NOT NULL DEFAULT '', fence INTEGER NOT NULL DEFAULT 0) STRICT;
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
) STRICT;
CREATE TABLE judge (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    archived TEXT
) STRICT;
CREATE TABLE kept (
    about TEXT PRIMARY KEY,
    stamp INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE label_draw (
    id INTEGER PRIMARY KEY,
    version_id INTEGER NOT NULL REFERENCES dataset_version(id),
    note TEXT NOT NULL,
    declared_by TEXT NOT NULL,
    declared TEXT NOT NULL,
    withdrawn_by TEXT NOT NULL DEFAULT '',
    withdrawn TEXT
) STRICT;
CREATE TABLE member (
    email TEXT PRIMARY KEY,
    role TEXT NOT NULL
        CHECK (role IN ('viewer', 'reviewer', 'adjudicator', 'author', 'lead', 'admin')),
    disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    signed_out TEXT
) STRICT;
CREATE TABLE panel (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL,
    content TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    archived TEXT
) STRICT;
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
) STRICT, WITHOUT ROWID;
CREATE TABLE queue_item (
    queue_id INTEGER NOT NULL REFERENCES review_queue(id),
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    draw REAL NOT NULL,
    assisted INTEGER NOT NULL CHECK (assisted IN (0, 1)),
    required INTEGER NOT NULL CHECK (required >= 1),
    assigned TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (queue_id, item_id)
) STRICT, WITHOUT ROWID;
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
) STRICT, WITHOUT ROWID;
CREATE TABLE response (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, completion TEXT NOT NULL, cost REAL, created TEXT NOT NULL) STRICT;
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
) STRICT;
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
) STRICT;
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
) STRICT, WITHOUT ROWID;
CREATE TABLE reviewer (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    role TEXT NOT NULL CHECK (role IN ('reviewer', 'adjudicator', 'lead')),
    created TEXT NOT NULL
) STRICT;
CREATE TABLE rubric (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    hidden INTEGER NOT NULL CHECK (hidden IN (0, 1)),
    archived TEXT
) STRICT;
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
) STRICT;
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
, cached INTEGER NOT NULL DEFAULT 0, saved REAL NOT NULL DEFAULT 0, scored_version_id INTEGER REFERENCES rubric_version(id), lost INTEGER NOT NULL DEFAULT 0, out INTEGER NOT NULL DEFAULT 0, made_by TEXT NOT NULL DEFAULT '', derived INTEGER NOT NULL DEFAULT 0) STRICT;
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
    trace TEXT, outcome TEXT CHECK (outcome IN ('pass', 'fail', 'review')),
    PRIMARY KEY (run_id, position),
    UNIQUE (run_id, item_id)
) STRICT;
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
) STRICT;
CREATE TABLE segment (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
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
) STRICT, WITHOUT ROWID;
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
) STRICT;
CREATE INDEX audit_by_actor ON audit (actor, id);
CREATE INDEX batch_by_run ON batch (run_id, id);
CREATE INDEX call_by_run ON call (run_id);
CREATE INDEX dataset_version_by_hash ON dataset_version (hash);
CREATE INDEX failure_open ON failure (run_id, item_id, criterion) WHERE open = 1;
CREATE INDEX help_step_by_task ON help_step (task_id, id);
CREATE UNIQUE INDEX help_step_done ON help_step (task_id, name) WHERE value IS NOT NULL;
CREATE INDEX help_task_by_subject ON help_task (subject, kind, id);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX judge_name ON judge (name) WHERE archived IS NULL;
CREATE UNIQUE INDEX label_draw_standing ON label_draw (version_id) WHERE withdrawn IS NULL;
CREATE UNIQUE INDEX panel_name ON panel (name) WHERE archived IS NULL;
CREATE INDEX review_event_by_cell ON review_event (run_id, item_id, criterion, id);
CREATE INDEX review_event_by_queue ON review_event (queue_id, actor, id);
CREATE INDEX review_event_by_step ON review_event (step);
CREATE UNIQUE INDEX review_event_undone ON review_event (undo_of) WHERE undo_of IS NOT NULL;
CREATE INDEX review_queue_by_run ON review_queue (run_id);
CREATE INDEX rubric_version_by_hash ON rubric_version (hash);
CREATE INDEX run_active ON run (status) WHERE status IN ('queued', 'running');
CREATE INDEX run_by_dataset ON run (dataset_version_id);
CREATE INDEX run_by_kind ON run (kind, id);
CREATE INDEX run_by_rubric ON run (rubric_version_id);
CREATE INDEX run_item_by_agreement ON run_item (run_id, agreement);
CREATE INDEX run_item_by_outcome ON run_item (run_id, outcome);
CREATE INDEX run_item_by_score ON run_item (run_id, score);
CREATE INDEX scored_change_by_run ON scored_change (run_id, id);
CREATE INDEX vote_matrix
    ON vote (run_id, criterion, judge, item_id, replicate, option, abstained);
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'audit rows are never deleted'); END;
CREATE TRIGGER audit_is_never_updated BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit rows are never updated'); END;
CREATE TRIGGER call_is_never_deleted BEFORE DELETE ON call
BEGIN SELECT RAISE(ABORT, 'call rows are never deleted'); END;
CREATE TRIGGER call_is_never_updated BEFORE UPDATE ON call
BEGIN SELECT RAISE(ABORT, 'call rows are never updated'); END;
CREATE TRIGGER dataset_version_is_never_deleted BEFORE DELETE ON dataset_version
BEGIN SELECT RAISE(ABORT, 'dataset_version rows are never deleted'); END;
CREATE TRIGGER dataset_version_is_never_updated BEFORE UPDATE ON dataset_version
BEGIN SELECT RAISE(ABORT, 'dataset_version rows are never updated'); END;
CREATE TRIGGER failure_is_never_deleted BEFORE DELETE ON failure
BEGIN SELECT RAISE(ABORT, 'failure rows are never deleted'); END;
CREATE TRIGGER failure_is_never_updated BEFORE UPDATE OF id, run_id, item_id, criterion, judge, replicate, attempt, kind, message, ord, call_id, created ON failure
BEGIN SELECT RAISE(ABORT, 'failure rows are never updated in these columns'); END;
CREATE TRIGGER help_step_is_never_deleted BEFORE DELETE ON help_step
BEGIN SELECT RAISE(ABORT, 'help_step rows are never deleted'); END;
CREATE TRIGGER help_step_is_never_updated BEFORE UPDATE ON help_step
BEGIN SELECT RAISE(ABORT, 'help_step rows are never updated'); END;
CREATE TRIGGER item_is_never_deleted BEFORE DELETE ON item
BEGIN SELECT RAISE(ABORT, 'item rows are never deleted'); END;
CREATE TRIGGER item_is_never_updated BEFORE UPDATE ON item
BEGIN SELECT RAISE(ABORT, 'item rows are never updated'); END;
CREATE TRIGGER review_event_is_never_deleted BEFORE DELETE ON review_event
BEGIN SELECT RAISE(ABORT, 'review_event rows are never deleted'); END;
CREATE TRIGGER review_event_is_never_updated BEFORE UPDATE ON review_event
BEGIN SELECT RAISE(ABORT, 'review_event rows are never updated'); END;
CREATE TRIGGER rubric_version_is_never_deleted BEFORE DELETE ON rubric_version
BEGIN SELECT RAISE(ABORT, 'rubric_version rows are never deleted'); END;
CREATE TRIGGER rubric_version_is_never_updated BEFORE UPDATE ON rubric_version
BEGIN SELECT RAISE(ABORT, 'rubric_version rows are never updated'); END;
CREATE TRIGGER run_is_never_deleted BEFORE DELETE ON run
BEGIN SELECT RAISE(ABORT, 'run rows are never deleted'); END;
CREATE TRIGGER run_is_never_updated BEFORE UPDATE OF id, kind, rubric_version_id, dataset_version_id, panel, panel_hash, plan, plan_hash, items, planned, created ON run
BEGIN SELECT RAISE(ABORT, 'run rows are never updated in these columns'); END;
CREATE TRIGGER scored_change_is_never_deleted BEFORE DELETE ON scored_change
BEGIN SELECT RAISE(ABORT, 'scored_change rows are never deleted'); END;
CREATE TRIGGER scored_change_is_never_updated BEFORE UPDATE ON scored_change
BEGIN SELECT RAISE(ABORT, 'scored_change rows are never updated'); END;
CREATE TRIGGER segment_is_never_deleted BEFORE DELETE ON segment
BEGIN SELECT RAISE(ABORT, 'segment rows are never deleted'); END;
CREATE TRIGGER segment_is_never_updated BEFORE UPDATE ON segment
BEGIN SELECT RAISE(ABORT, 'segment rows are never updated'); END;
CREATE TRIGGER vote_is_never_deleted BEFORE DELETE ON vote
BEGIN SELECT RAISE(ABORT, 'vote rows are never deleted'); END;
CREATE TRIGGER vote_is_never_updated BEFORE UPDATE ON vote
BEGIN SELECT RAISE(ABORT, 'vote rows are never updated'); END;

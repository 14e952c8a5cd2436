"""Calls and the pieces of their prompts. A piece is kept once, however many calls sent it."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable

from core.domain.votes import Call, CallRow, Segment
from core.errors import NotFound
from core.identity import text_hash
from core.store.connection import Connections, new_id
from core.store.content import clean, to_json

_COLUMNS = (
    "reply, thinking, model, finish, tokens_in, tokens_cached, tokens_out, tokens_thinking, "
    "cost, seconds, tries, cached, first_cost, asked, kept"
)


def add_segments(db: sqlite3.Connection, calls: Iterable[Call]) -> dict[str, int]:
    """Keep the texts of these prompts; returns the id of each text."""
    texts = {segment.text for call in calls for segment in call.prompt}
    hashes = {text_hash(text): text for text in texts}
    ids = _segment_ids(db, hashes)
    fresh = [(digest, _pack(text)) for digest, text in hashes.items() if digest not in ids]
    if fresh:
        db.executemany("INSERT INTO segment (hash, body) VALUES (?, ?)", fresh)
        ids = _segment_ids(db, hashes)
    return {text: ids[digest] for digest, text in hashes.items()}


def add_call(
    db: sqlite3.Connection, run_id: int, judge: str, call: Call, segments: dict[str, int], now: str
) -> int:
    """Keep one call whose prompt's texts have these ids; returns the call's id."""
    cursor = db.execute(
        f"INSERT INTO call (run_id, judge, prompt, params, {_COLUMNS}, created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run_id,
            judge,
            to_json([[segment.role, segments[segment.text]] for segment in call.prompt]),
            to_json(call.params),
            clean(call.reply),
            clean(call.thinking),
            clean(call.model),
            clean(call.finish),
            call.tokens_in,
            call.tokens_cached,
            call.tokens_out,
            call.tokens_thinking,
            call.cost,
            call.seconds,
            call.tries,
            call.cached,
            call.first_cost,
            call.asked,
            call.kept,
            now,
        ),
    )
    return new_id(cursor)


def read_call(files: Connections, call_id: int) -> CallRow:
    """One call, its prompt put together again."""
    rows = files.rows("SELECT * FROM call WHERE id = ?", (call_id,))
    if not rows:
        raise NotFound(f"There is no call {call_id}.")
    fields = dict(rows[0])
    pieces = json.loads(fields.pop("prompt"))
    bodies = dict(
        files.tuples(
            "SELECT id, body FROM segment WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([segment_id for _, segment_id in pieces]),),
        )
    )
    fields["cached"] = bool(fields["cached"])
    prompt = tuple(Segment(role, _unpack(bodies[segment_id])) for role, segment_id in pieces)
    return CallRow(prompt=prompt, params=json.loads(fields.pop("params")), **fields)


def _segment_ids(db: sqlite3.Connection, hashes: Iterable[str]) -> dict[str, int]:
    return dict(
        db.execute(
            "SELECT hash, id FROM segment WHERE hash IN (SELECT value FROM json_each(?))",
            (json.dumps(list(hashes)),),
        ).fetchall()
    )


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpack(body: bytes) -> str:
    return zlib.decompress(body).decode("utf-8", "surrogatepass")

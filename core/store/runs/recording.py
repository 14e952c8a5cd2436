"""Record judges' answers: one transaction from call to score, no vote twice."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from core.domain.runs import Derive
from core.domain.votes import (
    AskedOutcome,
    Call,
    CallRow,
    ItemBallots,
    KeptAnswer,
    Segment,
    Vote,
    VoteFailure,
)
from core.errors import NotFound
from core.identity import Same, text_hash
from core.store.database.connection import Connections
from core.store.database.content import clean, to_json
from core.store.runs.results import put_results, read_ballots

# Calls and the pieces of their prompts. A shared piece is stored once.

_COLUMNS = (
    "reply, thinking, model, finish, tokens_in, tokens_cached, tokens_out, tokens_thinking, "
    "cost, seconds, tries, cached, first_cost, asked, kept"
)


def add_segments(db: sqlite3.Connection, calls: Iterable[Call]) -> dict[str, int]:
    """Store the texts of these prompts; return the id of each text."""
    texts = {segment.text for call in calls for segment in call.prompt}
    hashes = {text_hash(text): text for text in texts}
    ids = _segment_ids(db, hashes)
    new_pieces = [
        (digest, _pack_text(text)) for digest, text in hashes.items() if digest not in ids
    ]
    if new_pieces:
        db.executemany("INSERT INTO segment (hash, body) VALUES (?, ?)", new_pieces)
        ids = _segment_ids(db, hashes)
    return {text: ids[digest] for digest, text in hashes.items()}


def add_calls(
    db: sqlite3.Connection, run_id: int, calls: Sequence[tuple[str, Call]], now: str
) -> range:
    """Store calls with their judges; return their ids in the same order."""
    segments = add_segments(db, (call for _, call in calls))
    ((first,),) = db.execute("SELECT coalesce(max(id), 0) + 1 FROM call")
    ids = range(first, first + len(calls))
    db.executemany(
        f"INSERT INTO call (id, run_id, judge, prompt, params, {_COLUMNS}, created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                id_,
                run_id,
                judge,
                to_json([[segment.role, segments[segment.text]] for segment in call.prompt]),
                _params_json(Same(call.params)),
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
            )
            for id_, (judge, call) in zip(ids, calls, strict=True)
        ),
    )
    return ids


@lru_cache(maxsize=64)
def _params_json(same: Same) -> str:
    # A judge's calls with the same settings share one object, so each is serialised once.
    return to_json(same.thing)


def read_call(files: Connections, call_id: int) -> CallRow:
    """Return a call with its reassembled prompt."""
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
    prompt = tuple(Segment(role, _unpack_text(bodies[segment_id])) for role, segment_id in pieces)
    return CallRow(prompt=prompt, params=json.loads(fields.pop("params")), **fields)


def _segment_ids(db: sqlite3.Connection, hashes: Iterable[str]) -> dict[str, int]:
    return dict(
        db.execute(
            "SELECT hash, id FROM segment WHERE hash IN (SELECT value FROM json_each(?))",
            (json.dumps(list(hashes)),),
        ).fetchall()
    )


def _pack_text(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def _unpack_text(body: bytes) -> str:
    return zlib.decompress(body).decode("utf-8", "surrogatepass")


# The cache of model answers, by the hash of the request. It holds no facts.


#: Trimming reduces the cache to this share of the limit, so that not every run trims.
TRIMMED_TO = 0.9
#: The size of an answer: its text plus a fixed amount for key and index.
_BYTES = "length(CAST(completion AS BLOB)) + 250"


class Responses:
    """Available as ``store.responses``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def get(self, keys: Sequence[str]) -> dict[str, KeptAnswer]:
        """Return the cached answers, by key."""
        rows = self._files.tuples(
            "SELECT key, model, completion, cost FROM response "
            "WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        return {
            key: KeptAnswer(key, model, json.loads(completion), cost)
            for key, model, completion, cost in rows
        }

    def put(self, answers: Iterable[KeptAnswer], *, now: str) -> None:
        """Cache answers; existing answers stay."""
        with self._files.write() as db:
            add_answers(db, answers, now)

    def trim(self, most: int, used_keys: Collection[str] = ()) -> int:
        """Trim the cache to about ``most`` bytes; return the number of deleted answers.

        The least recently used go first. Answers with keys in ``used_keys`` count as new, once the
        cache reaches half of ``most``.
        """
        if 4 * self._guess_size() <= most or 2 * self._cache_size() <= most:
            return 0
        with self._files.write() as db:
            db.executemany(
                "UPDATE response SET id = (SELECT max(id) FROM response) + 1 WHERE key = ?",
                ((key,) for key in used_keys),
            )
        size = self._cache_size()
        if size <= most:
            return 0
        last, trimmed = 0, 0
        for row, length in self._files.tuples(f"SELECT id, {_BYTES} FROM response ORDER BY id"):
            if size <= TRIMMED_TO * most:
                break
            last, size, trimmed = row, size - length, trimmed + 1
        with self._files.write() as db:
            db.execute("DELETE FROM response WHERE id <= ?", (last,))
        return trimmed

    def _guess_size(self) -> float:
        """Return the estimated cache size in bytes, from the newest hundred answers."""
        ((guess,),) = self._files.tuples(
            "SELECT coalesce((SELECT max(id) - min(id) + 1 FROM response) * avg(bytes), 0) FROM "
            f"(SELECT {_BYTES} AS bytes FROM response ORDER BY id DESC LIMIT 100)"
        )
        return float(guess)

    def _cache_size(self) -> int:
        ((size,),) = self._files.tuples(f"SELECT coalesce(sum({_BYTES}), 0) FROM response")
        return int(size)

    def any(self) -> bool:
        """Return whether there are cached answers."""
        return bool(self._files.tuples("SELECT 1 FROM response LIMIT 1"))

    def count(self) -> int:
        """Return the number of cached answers."""
        ((count,),) = self._files.tuples("SELECT count(*) FROM response")
        return int(count)


def add_answers(db: sqlite3.Connection, answers: Iterable[KeptAnswer], now: str) -> None:
    """Cache answers within an open transaction."""
    db.executemany(
        "INSERT INTO response (key, model, completion, cost, created) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (
            (answer.key, clean(answer.model), to_json(dict(answer.completion)), answer.cost, now)
            for answer in answers
        ),
    )


_KEY = "run_id = ? AND item_id = ? AND criterion = ? AND judge = ? AND replicate = ?"
_ADD_VOTE = """
    INSERT INTO vote (run_id, item_id, criterion, judge, replicate, option, abstained, reason,
        evidence, ord, confidence, probabilities, detail, call_id, created)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, item_id, criterion, judge, replicate) DO NOTHING
"""
_ADD_FAILURE = f"""
    INSERT INTO failure (run_id, item_id, criterion, judge, replicate, attempt, kind, message, ord,
        call_id, created, open)
    SELECT ?, ?, ?, ?, ?, coalesce(max(attempt), 0) + 1, ?, ?, ?, ?, ?,
        NOT EXISTS (SELECT 1 FROM vote WHERE {_KEY})
    FROM failure WHERE {_KEY}
"""
_CLOSE = f"UPDATE failure SET open = 0 WHERE {_KEY} AND open = 1"
_ANY_OPEN = "SELECT 1 FROM failure WHERE run_id = ? AND open = 1 LIMIT 1"
_COUNT_CALLS = """
    UPDATE run SET calls = calls + ?, tokens_in = tokens_in + ?, tokens_cached = tokens_cached + ?,
        tokens_out = tokens_out + ?, tokens_thinking = tokens_thinking + ?, cost = cost + ?,
        cost_unknown = cost_unknown + ?, cached = cached + ?, saved = saved + ?
    WHERE id = ?
"""
_COUNT_VOTES = """
    UPDATE run SET votes = votes + ?, abstentions = abstentions + ?,
        failures_open = failures_open + ? WHERE id = ?
"""


def record_outcomes(
    db: sqlite3.Connection, run_id: int, outcomes: Sequence[AskedOutcome], now: str, derive: Derive
) -> None:
    """Store outcomes and their items' ``derive`` results, within an open transaction.

    A second vote on a cell is dropped, but its call is stored, since it was paid for. Cached
    answers are stored together with their votes: neither exists without the other.
    """
    calls = _add_calls(db, run_id, outcomes, now)
    _add_votes(db, run_id, outcomes, calls, now)
    add_failures(db, run_id, outcomes, calls, now)
    add_answers(db, (answer for outcome in outcomes for answer in outcome.answers), now)
    touched = list(dict.fromkeys(r.cell.item for o in outcomes for r in o.results))
    ballots = read_ballots(db, run_id, touched)
    count_items(db, run_id, ballots)
    put_results(db, run_id, derive(ballots))


def _add_calls(
    db: sqlite3.Connection, run_id: int, outcomes: Sequence[AskedOutcome], now: str
) -> list[int | None]:
    judged = [
        (outcome.results[0].cell.judge if outcome.results else "", outcome.call)
        for outcome in outcomes
        if outcome.call is not None
    ]
    if not judged:
        return [None] * len(outcomes)
    ids = iter(add_calls(db, run_id, judged, now))
    db.execute(_COUNT_CALLS, (*_cost_sums([call for _, call in judged]), run_id))
    return [None if outcome.call is None else next(ids) for outcome in outcomes]


def _cost_sums(recorded: Sequence[Call]) -> tuple[int, int, int, int, int, float, int, int, float]:
    calls = [call for call in recorded if not call.cached]
    return (
        sum(call.calls for call in calls),
        _total_calls(call.tokens_in for call in calls),
        _total_calls(call.tokens_cached for call in calls),
        _total_calls(call.tokens_out for call in calls),
        _total_calls(call.tokens_thinking for call in calls),
        sum(call.cost for call in calls if call.cost is not None),
        sum(call.calls for call in calls if call.cost is None),
        sum(call.known for call in recorded),
        sum(call.first_cost for call in recorded if call.first_cost is not None),
    )


def _total_calls(counts: Iterable[int | None]) -> int:
    return sum(count for count in counts if count is not None)


def _add_votes(
    db: sqlite3.Connection,
    run_id: int,
    outcomes: Sequence[AskedOutcome],
    calls: Sequence[int | None],
    now: str,
) -> None:
    votes = [
        (vote, call_id)
        for outcome, call_id in zip(outcomes, calls, strict=True)
        for vote in outcome.results
        if isinstance(vote, Vote)
    ]
    db.executemany(
        _ADD_VOTE,
        (
            (
                run_id,
                *vote.cell,
                vote.option,
                vote.abstained,
                clean(vote.reason),
                to_json(vote.evidence),
                _as_json(vote.order),
                vote.confidence,
                None if vote.probabilities is None else to_json(vote.probabilities),
                to_json(vote.detail) if vote.detail else "{}",
                call_id,
                now,
            )
            for vote, call_id in votes
        ),
    )
    if db.execute(_ANY_OPEN, (run_id,)).fetchone():
        db.executemany(_CLOSE, ((run_id, *vote.cell) for vote, _ in votes))


def add_failures(
    db: sqlite3.Connection,
    run_id: int,
    outcomes: Sequence[AskedOutcome],
    calls: Sequence[int | None],
    now: str,
) -> None:
    """Store the failures among these outcomes, within an open transaction."""
    for outcome, call_id in zip(outcomes, calls, strict=True):
        for failure in outcome.results:
            if not isinstance(failure, VoteFailure):
                continue
            key = (run_id, *failure.cell)
            details = (failure.kind, clean(failure.message), _as_json(failure.order), call_id, now)
            db.execute(_CLOSE, key)
            db.execute(_ADD_FAILURE, (*key, *details, *key, *key))


def count_items(db: sqlite3.Connection, run_id: int, ballots: Sequence[ItemBallots]) -> int:
    """Update the counts of these items and of the run; return the number of added votes."""
    before = {
        item_id: (votes, abstentions, failures)
        for item_id, votes, abstentions, failures in db.execute(
            "SELECT item_id, votes, abstentions, failures FROM run_item "
            "WHERE run_id = ? AND item_id IN (SELECT value FROM json_each(?))",
            (run_id, json.dumps([ballot.item_id for ballot in ballots])),
        )
    }
    after = {
        item.item_id: (
            len(item.ballots),
            sum(b.abstained for b in item.ballots),
            sum(item.failures.values()),
        )
        for item in ballots
    }
    db.executemany(
        "UPDATE run_item SET votes = ?, abstentions = ?, failures = ? "
        "WHERE run_id = ? AND item_id = ?",
        ((*counts, run_id, item_id) for item_id, counts in after.items()),
    )
    gained = [
        sum(counts[i] - before.get(item_id, (0, 0, 0))[i] for item_id, counts in after.items())
        for i in range(3)
    ]
    db.execute(_COUNT_VOTES, (*gained, run_id))
    return int(gained[0])


@lru_cache(maxsize=1024)
def _as_json(numbers: tuple[int, ...] | None) -> str | None:
    return None if numbers is None else to_json(numbers)

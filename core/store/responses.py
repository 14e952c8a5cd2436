"""Answers of models kept for later runs, by the hash of what was asked. No facts: a cache."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from core.domain.votes import KeptAnswer
from core.store.connection import Connections
from core.store.content import clean, to_json


class Responses:
    """Reached as ``store.responses``."""

    def __init__(self, files: Connections) -> None:
        self._files = files

    def get(self, keys: Sequence[str]) -> dict[str, KeptAnswer]:
        """Those of these answers that are kept, by key."""
        found = self._files.tuples(
            "SELECT key, model, completion, cost FROM response "
            "WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        )
        return {
            key: KeptAnswer(key, model, json.loads(completion), cost)
            for key, model, completion, cost in found
        }

    def put(self, answers: Iterable[KeptAnswer], *, now: str) -> None:
        """Keep these answers. Where there is one under a key already, that one stays."""
        with self._files.write() as db:
            add_answers(db, answers, now)

    def count(self) -> int:
        """How many answers are kept."""
        ((count,),) = self._files.tuples("SELECT count(*) FROM response")
        return int(count)


def add_answers(db: sqlite3.Connection, answers: Iterable[KeptAnswer], now: str) -> None:
    """Keep these answers (transaction open)."""
    db.executemany(
        "INSERT INTO response (key, model, completion, cost, created) "
        "VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
        (
            (one.key, clean(one.model), to_json(dict(one.completion)), one.cost, now)
            for one in answers
        ),
    )

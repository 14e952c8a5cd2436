"""Ballots: the part of votes that decides, read in bulk."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence

from core.domain.votes import BallotRow, ItemBallots


def read_ballots(db: sqlite3.Connection, run_id: int, item_ids: Sequence[str]) -> list[ItemBallots]:
    """All votes and open failures of these items of a run, in the order given.

    Ballots of an item come in the order criterion, judge, replicate. Without votes: none.
    """
    wanted = (run_id, json.dumps(list(item_ids)))
    ballots: defaultdict[str, list[BallotRow]] = defaultdict(list)
    for *key, abstained in db.execute(
        "SELECT item_id, criterion, judge, replicate, option, abstained FROM vote "
        "WHERE run_id = ? AND item_id IN (SELECT value FROM json_each(?)) "
        "ORDER BY item_id, criterion, judge, replicate",
        wanted,
    ):
        ballots[key[0]].append(BallotRow._make((*key, bool(abstained))))
    failures: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item_id, criterion in db.execute(
        "SELECT item_id, criterion FROM failure "
        "WHERE run_id = ? AND item_id IN (SELECT value FROM json_each(?)) AND open = 1",
        wanted,
    ):
        failures[item_id][criterion] += 1
    return [
        ItemBallots(item_id, tuple(ballots[item_id]), dict(failures[item_id]))
        for item_id in item_ids
    ]

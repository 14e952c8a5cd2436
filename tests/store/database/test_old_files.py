"""A data file that the very first schema's program wrote, opened by today's.

``golden/first-data.sql`` dumps a file written when ``first_tables`` was the only migration:
``grade`` over three items, two judges, three criteria and a gate, against the stand-in provider,
which refused one question for good. It is never written anew: old files do not change either.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from core.cli.integrity import report_as_text, verify_store
from core.domain.review import QueueRule, QueueSettings
from core.services.review import queues
from core.services.runs import lifecycle
from core.services.runs.ready_run import load_job
from core.store.database.content import noun_hash
from core.store.database.migrations import APPLICATION_ID
from core.store.store import Store
from tests.places import GOLDEN
from tests.services.results.partly_assessed import partly_assessed
from tests.services.reviewed import sit

RUN = 1
#: Weights 10, 5, 1. i0: nothing met. i1: UNMET, Warm, Refund: (5 + 1) / 16, under the gate's cap of
#: 0.4. i2: MET, Warm (one vote; the other judge's failed), Other: (10 + 5) / 16.
SCORES = {"i0": 0.0, "i1": 0.375, "i2": 0.9375}


@pytest.fixture
def old(tmp_path: Path) -> Store:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    connection.executescript((GOLDEN / "first-data.sql").read_text())
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")  # no part of a dump
    connection.close()
    return Store(path)


def scores(store: Store) -> dict[str, float | None]:
    return {row.item_id: row.score for row in store.results.items(RUN)}


def test_it_gets_the_schema_of_a_new_file(old: Store) -> None:
    with old.write() as db:
        found = db.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL "
            "ORDER BY instr('table index trigger', type), name"
        ).fetchall()
    assert "".join(f"{sql};\n" for (sql,) in found) == (GOLDEN / "schema.sql").read_text()


def test_it_keeps_every_vote_failure_call_and_score(old: Store) -> None:
    row = old.runs.row(RUN)
    assert (row.status, row.planned, row.votes, row.abstentions) == ("done", 18, 17, 2)
    assert (len(old.votes.present(RUN)), len(old.votes.failed(RUN))) == (17, 1)
    (failure,) = old.votes.open_failures(RUN)
    assert (failure.cell.item, failure.cell.criterion) == ("i2", "tone")
    assert failure.kind == "bad_request"
    for vote in old.votes.for_item(RUN, "i0"):
        assert vote.call_id is not None
        assert old.votes.call(vote.call_id).reply.startswith('{"evidence"')
    assert scores(old) == SCORES


def test_what_it_holds_still_hashes_to_what_was_noted_then(old: Store) -> None:
    # Fields that nouns have gained since must not change the hash of nouns without them, or the
    # same rubric would be stored twice and no kept answer found again.
    assert old.verify() == []
    rubric, dataset = old.rubrics.version(1).rubric, old.datasets.load(1)
    found = (
        old.rubrics.find_by_hash(noun_hash(rubric)),
        old.datasets.find_by_hash(noun_hash(dataset)),
    )
    assert [one and one.id for one in found] == [1, 1]


def test_its_votes_give_the_same_scores_to_todays_derivation(old: Store) -> None:
    before = old.results.verdicts(RUN)
    assert old.results.rebuild(RUN, load_job(old, RUN).derive) == 3
    assert scores(old) == SCORES
    assert old.results.verdicts(RUN) == before


def test_its_failure_can_be_asked_again_and_its_cells_be_reviewed(old: Store) -> None:
    lead = sit(old, "Lea")
    queue = queues.make_queue(old, lead, RUN, "All", QueueRule(everything=True), QueueSettings())
    assert len(old.queues.items(queue.id)) == 3
    assert lifecycle.retry(old, RUN) == 1
    assert old.runs.row(RUN).status == "queued"


def test_its_scores_say_what_they_cover_and_are_what_its_votes_make(old: Store) -> None:
    # Of i2 all has a verdict: a failed call beside a vote takes nothing from the coverage.
    assert [row.coverage for row in old.results.items(RUN)] == [1.0, 1.0, 1.0]
    assert verify_store(lambda: old)["problems"] == []


def test_what_it_held_before_there_were_sums_is_said_to_be_covered_by_none(old: Store) -> None:
    report = verify_store(lambda: old)
    covered_by_none = {one["where"] for one in report["not_covered"]}
    assert covered_by_none >= {"votes 1 to 17", "failures 1", "plans of runs 1"}
    assert "Sound" not in report_as_text(report)
    assert "votes 1 to 17" in report_as_text(report)
    # What is recorded now is covered, and what was there stays what it is.
    old.reviewers.make("Lea", now="2026-03-01T10:00:00.000Z")
    lifecycle.retry(old, RUN)
    assert verify_store(lambda: old)["not_covered"] == report["not_covered"]


def test_a_score_of_a_quarter_loses_its_grade_when_the_file_is_brought_up_to_date(
    tmp_path: Path,
) -> None:
    path = tmp_path / "older.db"
    run = partly_assessed(Store(path))
    before = Store(path).results.items(run)
    # As a program wrote it that scored what was assessed and said nothing of the rest.
    connection = sqlite3.connect(path)
    for position, trace in connection.execute("SELECT position, trace FROM run_item").fetchall():
        kept = json.loads(trace)
        for name in ("coverage", "min_coverage", "assessed_points", "assessed_of"):
            del kept[name]
        kept["complete"], kept["review"] = True, False
        connection.execute(
            "UPDATE run_item SET trace = ?, score = 1, complete = 1, review = 0 WHERE position = ?",
            (json.dumps(kept), position),
        )
    connection.execute("DELETE FROM _sqlite_migrations WHERE name = 'coverage'")
    connection.commit()
    connection.close()
    now = Store(path)
    assert now.results.items(run) == before
    assert verify_store(lambda: now)["problems"] == []

"""Everything that was said, as rows, while it is still being said."""

from __future__ import annotations

import csv
import io
import json

import pytest

from core.domain.review import ReviewerAnswer, Span
from core.formats.datasets.dataset_file import parse_dataset
from core.services.exports import run_export
from core.services.exports.judgement_rows import LONG
from core.services.exports.run_export import as_csv, as_jsonl, event_rows, long_rows, wide_rows
from core.services.review import commit_reveal
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit, take


@pytest.fixture
def half(store: Store) -> int:
    """A run of four items: Ada settled i1, and committed a verdict on i2 without confirming it."""
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    ada = sit(store, "Ada")
    ticket = take(store, ada, queue, "i1")
    says = ReviewerAnswer(UNMET, evidence=(Span(0, 6, "Answer"),))
    ticket = commit_reveal.commit(store, ticket, {"Right": says}, ms_active={"Right": 900}).ticket
    commit_reveal.reveal(store, ticket)
    commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(MET, note="=SUM(A1)")})
    ticket = take(store, ada, queue, "i2")
    commit_reveal.commit(store, ticket, {"Short": ReviewerAnswer(None, "missing_info")})
    return run.id


def test_every_vote_and_every_verdict_is_a_row(store: Store, half: int) -> None:
    rows = list(long_rows(store, half))
    assert [tuple(row) for row in rows] == [LONG] * len(rows)
    assert len(rows) == 4 * 6 + 2
    mine = {row["item_id"]: row for row in rows if row["rater_type"] == "human"}
    first = mine["i1"]
    assert (first["vote"], first["vote_value"], first["first_vote"]) == ("MET", 1.0, "UNMET")
    assert (first["status"], first["ms_active"], first["rater_id"]) == ("answered", 900, "Ada")
    assert (first["stratum"], first["inclusion_prob"]) == ("rule", 1.0)
    assert first["revealed"]
    assert (mine["i2"]["vote"], mine["i2"]["status"]) == ("Cannot assess", "unconfirmed")
    assert mine["i2"]["rationale"] == "missing_info"
    judged = [row for row in rows if row["item_id"] == "i3" and row["criterion_id"] == "Right"]
    assert [row["vote"] for row in judged] == ["MET", "UNMET", "Cannot assess"]
    assert [row["status"] for row in judged] == ["answered", "answered", "abstained"]
    unqueued = next(row for row in rows if row["item_id"] == "i0")
    assert (unqueued["stratum"], unqueued["inclusion_prob"]) == (None, None)


def test_a_row_per_item_says_who_settled_it(store: Store, half: int) -> None:
    rows = {row["item_id"]: row for row in wide_rows(store, half)}
    assert len({tuple(row) for row in rows.values()}) == 1
    assert rows["i1"]["Right verdict"] == "MET"
    assert rows["i1"]["Right rule"] == "adjudicated"
    assert rows["i1"]["Right provenance"] == "human_single (active)"
    assert (rows["i0"]["Right rule"], rows["i0"]["Right provenance"]) == ("majority", "")
    assert rows["i2"]["score"] == 0.0


def test_the_record_is_complete_and_in_order(store: Store, half: int) -> None:
    rows = list(event_rows(store, half))
    assert [row["action"] for row in rows] == ["verdict", "reveal", "final", "settle", "verdict"]
    assert [row["id"] for row in rows] == [1, 2, 3, 4, 5]
    assert [row["step"] for row in rows] == [1, 2, 3, 3, 5]


def test_csv_comes_back_as_it_was_and_runs_no_formula(store: Store, half: int) -> None:
    rows = list(long_rows(store, half))
    read = list(csv.DictReader(io.StringIO(as_csv(rows))))
    assert len(read) == len(rows)
    note = next(row["rationale"] for row in read if row["rater_type"] == "human")
    assert note == "'=SUM(A1)"
    lines = [json.loads(line) for line in as_jsonl(rows).splitlines()]
    assert lines == json.loads(json.dumps(rows))
    assert as_csv([], LONG).strip() == ",".join(LONG)


def test_the_dataset_goes_out_with_what_people_settled(store: Store, half: int) -> None:
    version = store.runs.row(half).dataset_version_id
    read = parse_dataset(run_export.labelled_dataset(store, version).encode(), "x.jsonl").value
    assert [sorted(item.labels) for item in read.items] == [["Right"], ["Right"], [], []]
    assert read.items[1].labels["Right"].reason == "=SUM(A1)"  # Ada's note, not the old reason

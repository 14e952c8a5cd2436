"""What people said of a run leaves the app with it, half-way too."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli import main
from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Span
from core.formats.datasets.dataset_file import parse_dataset
from core.services.exports import judgement_rows
from core.services.exports.run_export import export
from core.services.review import commit_reveal, other_acts
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, UNMET, sit, take


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = reviewed.open_store(tmp_path)
    yield made
    made.close()


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def settled_rows(store: Store, run: int) -> list[dict[str, str]]:
    found = rows(export(store, run, "csv").text)
    return [row for row in found if row["rater_type"] == "adjudicator"]


def test_the_first_vote_is_the_one_before_the_votes_were_seen(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, QueueRule(near_mark=None, audit_share=1.0))
    ada = sit(store, "Ada")
    ticket = commit_reveal.commit(
        store, take(store, ada, queue, "i1"), {"Right": ReviewerAnswer(UNMET)}
    ).ticket
    commit_reveal.reveal(store, ticket)
    other_acts.undo_last(store, ada, queue)
    # Ada has seen the votes, takes back UNMET and says MET: blind she said UNMET.
    commit_reveal.commit(store, take(store, ada, queue, "i1"), {"Right": ReviewerAnswer(MET)})
    (verdict,) = [v for v in store.verdicts.of_item(queue, "i1") if v.criterion == "Right"]
    assert (verdict.mode, verdict.first.option) == ("assisted", MET)
    reviews = judgement_rows.reviews_of(store, run.id)
    criterion = next(c for c in reviewed.RUBRIC.criteria if c.name == "Right")
    assert reviews.given([verdict], criterion)["first_vote"] == "UNMET"


def test_a_settled_cell_says_how_it_was_decided(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, QueueRule(near_mark=None, audit_share=1.0))
    ticket = take(store, sit(store, "Ada"), queue, "i1")
    first = ReviewerAnswer(UNMET, evidence=(Span(0, 6, "Answer"),))
    ticket = commit_reveal.commit(store, ticket, {"Right": first}, ms_active={"Right": 900}).ticket
    commit_reveal.reveal(store, ticket)
    final = ReviewerAnswer(MET, note="Oh.", evidence=(Span(0, 6, "Answer"),))
    commit_reveal.finish(store, ticket, {"Right": final})

    (one,) = settled_rows(store, run.id)
    assert (one["vote"], one["first_vote"], one["ms_active"]) == ("MET", "UNMET", "900")
    assert (one["stratum"], one["inclusion_prob"], one["round"]) == ("rule", "1.0", "1")
    assert (one["evidence_quote"], one["evidence_end"]) == ("Answer", "6")
    assert one["revealed"]
    assert one["created_at"] >= one["revealed"]
    votes = [row for row in rows(export(store, run.id, "csv").text) if row["rater_type"] == "judge"]
    assert {row["round"] for row in votes} == {"1"}
    # i0 is unanimous: only the audit took it; the rest was split.
    assert {row["stratum"] for row in votes if row["item_id"] == "i0"} == {"audit"}
    assert {row["stratum"] for row in votes if row["item_id"] == "i2"} == {"rule"}


def test_several_people_are_told_together_and_an_adjudicator_alone(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, EVERYTHING, QueueSettings(mode="blind", reviewers=2))
    ada, bob, lea = sit(store, "Ada"), sit(store, "Bob"), sit(store, "Lea")
    for seat in (ada, bob):
        reviewed.settle(store, seat, queue, "i0", MET)
    reviewed.settle(store, ada, queue, "i1", MET)
    reviewed.settle(store, bob, queue, "i1", UNMET)
    reviewed.settle(store, lea, queue, "i1", UNMET, note="Bob is right.")

    found = {(row["item_id"], row["criterion_id"]): row for row in settled_rows(store, run.id)}
    both, ended = found["i0", "Right"], found["i1", "Right"]
    assert (both["rater_id"], both["first_vote"], both["round"]) == ("Ada, Bob", "MET, MET", "1")
    assert (ended["rater_id"], ended["first_vote"], ended["round"]) == ("Lea", "UNMET", "2")
    assert (ended["status"], ended["rationale"]) == ("adjudicated", "Bob is right.")


@pytest.mark.parametrize("form", ["reviews", "events", "labelled"])
def test_reviews_go_out_by_the_command_line(store: Store, form: str) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run)
    reviewed.settle(store, sit(store, "Ada"), queue, "i2", MET)
    told = CliRunner().invoke(
        main, ["export", str(run.id), "--format", form, "--out", "-", "--db", str(store.path)]
    )
    assert told.exit_code == 0
    if form == "reviews":
        people = [row for row in rows(told.output) if row["rater_type"] == "human"]
        assert [(r["item_id"], r["rater_id"], r["vote"]) for r in people] == [
            ("i2", "Ada", "MET"),
            ("i2", "Ada", "MET"),
        ]
    elif form == "events":
        acts = [json.loads(line)["action"] for line in told.output.splitlines()]
        assert acts == ["verdict"] * 2 + ["final", "final", "settle", "settle"]
    else:
        read = parse_dataset(told.output.encode(), "x.jsonl").value
        assert sorted(read.items[2].labels) == ["Right", "Short"]

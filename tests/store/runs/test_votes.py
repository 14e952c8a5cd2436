"""Votes are recorded once and for all, by whoever holds the lease, with what they cost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.runs import ItemResult
from core.domain.votes import (
    AskedOutcome,
    BallotRow,
    Cell,
    FailureCount,
    ItemBallots,
    Segment,
    Vote,
)
from core.errors import Conflict, NotFound
from core.store.runs.leases import LeaseLost
from core.store.store import Store
from tests.new_store import new_store
from tests.store.making import (
    AT,
    LATER,
    NOW,
    call,
    claimed,
    derive,
    failure,
    queued_run,
    record,
    vote,
)


def test_a_vote_comes_back_with_everything_it_said(store: Store, run_id: int) -> None:
    said = Vote(
        Cell("a", "Clear", "ann", 1),
        1,
        False,
        reason="Broken \ud800 text, ünïcode, \x00.",  # a lone surrogate cannot be kept
        evidence=("rain", "essay"),
        order=(1, 0, 2),
        confidence=0.75,
        probabilities=(0.25, 0.75, 0.0),
        detail={"terms": ["rain"]},
    )
    record(store, claimed(store, run_id), AskedOutcome((said,), call("Judge.")))
    (kept,) = store.votes.for_item(run_id, "a")
    assert (kept.cell, kept.option, kept.abstained) == (said.cell, 1, False)
    assert kept.reason == "Broken ? text, ünïcode, \x00."
    assert (kept.evidence, kept.order, kept.confidence, kept.probabilities, kept.detail) == (
        said.evidence, said.order, said.confidence, said.probabilities, said.detail,
    )  # fmt: skip
    assert kept.created == NOW
    assert kept.call_id is not None


def test_a_call_is_kept_with_its_whole_prompt_and_its_cost(store: Store, run_id: int) -> None:
    sent = call("Shared part \ud800.", "The criterion.")
    record(store, claimed(store, run_id), vote("a", call=sent))
    (kept,) = store.votes.for_item(run_id, "a")
    assert kept.call_id is not None
    made = store.votes.call(kept.call_id)
    assert made.prompt == (
        Segment("user", "Shared part \ud800."),
        Segment("user", "The criterion."),
    )
    assert (made.judge, made.params, made.reply, made.model) == (
        "ann", {"temperature": 0}, '{"option": 1}', "m",
    )  # fmt: skip
    assert (made.tokens_in, made.tokens_cached, made.tokens_out, made.cost) == (100, None, 10, 0.5)


def test_a_piece_of_prompt_is_kept_once_however_many_calls_sent_it(
    store: Store, run_id: int
) -> None:
    lease = claimed(store, run_id)
    record(store, lease, vote("a", call=call("Long", "1")), vote("b", call=call("Long", "2")))
    record(store, lease, vote("c", call=call("Long", "1")))
    with store.write() as db:
        assert db.execute("SELECT count(*) FROM segment").fetchone() == (3,)  # Long, 1, 2
        assert db.execute("SELECT count(*) FROM call").fetchone() == (3,)


def test_calls_are_added_up_on_the_run(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    record(store, lease, vote("a", call=call("x")), vote("b", call=call("x", cost=None)))
    record(store, lease, vote("c", call=call("x", cost=0.25)), vote("a", "Brief"))
    row = store.runs.row(run_id)
    # three calls of 100 + 10 tokens; 0.5 + 0.25 dollars, one of unknown cost; one vote had no call
    assert (row.calls, row.tokens_in, row.tokens_out, row.tokens_cached) == (3, 300, 30, 0)
    assert (row.cost, row.cost_unknown) == (0.75, 1)


def test_a_second_vote_for_a_cell_is_not_kept_but_its_call_is(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    store.votes.record(
        run_id,
        [vote("a"), vote("a", option=1)],
        owner="me",
        fence=lease.fence,
        now=NOW,
        derive=derive,
    )
    row = store.runs.row(run_id)
    assert (row.votes, row.calls) == (1, 0)
    store.votes.record(
        run_id, [vote("a", option=1, call=call("x"))], owner="me", fence=lease.fence, now=LATER,
        derive=derive,
    )  # fmt: skip
    (kept,) = store.votes.for_item(run_id, "a")
    assert (kept.option, kept.created) == (0, NOW)
    row = store.runs.row(run_id)
    assert (row.votes, row.calls) == (1, 1)


def test_failures_are_counted_by_attempt_until_a_vote_closes_them(
    store: Store, run_id: int
) -> None:
    lease = claimed(store, run_id)
    record(store, lease, failure("a", "timeout", "Too slow."))
    record(store, lease, failure("a", "server", "It fell over."))
    attempts = store.votes.failures_of(run_id, "a")
    assert [(f.attempt, f.kind, f.open, f.order) for f in attempts] == [
        (1, "timeout", False, (1, 0, 2)),
        (2, "server", True, (1, 0, 2)),
    ]
    assert store.votes.open_failures(run_id) == attempts[1:]
    assert store.votes.failed(run_id) == {Cell("a", "Clear", "ann")}
    assert store.runs.row(run_id).failures_open == 1
    record(store, lease, vote("a"))
    assert store.votes.open_failures(run_id) == []
    row = store.runs.row(run_id)
    assert (row.failures_open, row.votes) == (0, 1)
    record(store, lease, failure("a"))  # a straggler after the vote is kept, and not open
    assert [f.open for f in store.votes.failures_of(run_id, "a")] == [False, False, False]


def test_failures_are_counted_by_kind_with_their_newest_message(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    record(store, lease, failure("a", "timeout", "First."), failure("b", "timeout", "Last."))
    record(store, lease, failure("c", "auth", "Bad key."))
    assert store.votes.failure_kinds(run_id) == [
        FailureCount("timeout", 2, ("ann",), "Last."),
        FailureCount("auth", 1, ("ann",), "Bad key."),
    ]
    record(store, lease, vote("c"))
    assert [f.kind for f in store.votes.failure_kinds(run_id)] == ["timeout"]
    assert len(store.votes.failure_kinds(run_id, open_only=False)) == 2


def test_ballots_come_by_item_with_open_failures(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    record(store, lease, vote("b", judge="bob"), vote("b", option=2), failure("a"))
    record(store, lease, vote("b", "Brief", option=1))
    a, b, c = store.votes.ballots(run_id)
    assert a == ItemBallots("a", (), {"Clear": 1})
    assert b.ballots == (
        BallotRow("b", "Brief", "ann", 0, 1, False),
        BallotRow("b", "Clear", "ann", 0, 2, True),
        BallotRow("b", "Clear", "bob", 0, 0, False),
    )
    assert c == ItemBallots("c", (), {})
    assert store.votes.ballots(run_id, ["b"]) == [b]
    assert store.votes.all_ballots(run_id) == list(b.ballots)
    assert store.votes.all_ballots(run_id, "Brief") == list(b.ballots[:1])


def test_what_is_present_is_what_resuming_skips(store: Store, run_id: int) -> None:
    record(store, claimed(store, run_id), vote("a"), vote("b", judge="bob"), failure("c"))
    assert store.votes.present(run_id) == {Cell("a", "Clear", "ann"), Cell("b", "Clear", "bob")}


def test_an_owner_who_lost_the_lease_can_write_nothing(store: Store, run_id: int) -> None:
    late = claimed(store, run_id, "late")
    now = claimed(store, run_id, "now", at=AT + 61)
    with pytest.raises(LeaseLost, match="late no longer works on run"):
        record(store, late, vote("a", call=call("x")))
    assert issubclass(LeaseLost, Conflict)
    record(store, now, vote("b"))
    assert store.votes.present(run_id) == {Cell("b", "Clear", "ann")}
    assert store.runs.row(run_id).calls == 0


def test_a_run_given_back_takes_no_more_votes(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    store.leases.release(lease, "cancelled", now=LATER)
    with pytest.raises(LeaseLost):
        record(store, lease, vote("a"))


def test_a_vote_for_an_item_outside_the_run_is_refused_whole(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    with pytest.raises(Exception, match="FOREIGN KEY"):
        record(store, lease, vote("a"), vote("zz"))
    assert store.votes.present(run_id) == set()


def test_when_results_cannot_be_derived_nothing_is_kept(store: Store, run_id: int) -> None:
    def broken(items: object) -> list[ItemResult]:
        raise ZeroDivisionError

    lease = claimed(store, run_id)
    with pytest.raises(ZeroDivisionError):
        store.votes.record(
            run_id,
            [vote("a", call=call("x"))],
            owner="me",
            fence=lease.fence,
            now=NOW,
            derive=broken,
        )
    assert store.votes.present(run_id) == set()
    assert store.runs.row(run_id).calls == 0


def test_an_unknown_call_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="call 5"):
        store.votes.call(5)


@st.composite
def outcomes(draw: st.DrawFn) -> AskedOutcome:
    item, criterion = draw(st.sampled_from("abc")), draw(st.sampled_from(["Clear", "Brief"]))
    if draw(st.booleans()):
        return failure(item)
    return vote(item, criterion, draw(st.sampled_from(["ann", "bob"])), draw(st.integers(0, 2)))


@given(batches=st.lists(st.lists(outcomes(), max_size=6), max_size=5))
def test_counts_always_equal_what_is_there(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[AskedOutcome]]
) -> None:
    store = new_store(tmp_path_factory.mktemp("counts") / "studio.db")
    run_id = queued_run(store)
    lease = claimed(store, run_id)
    for batch in batches:
        record(store, lease, *batch)
    row, items = store.runs.row(run_id), store.results.items(run_id)
    votes = [v for i in "abc" for v in store.votes.for_item(run_id, i)]
    assert (
        row.votes == sum(i.votes for i in items) == len(votes) == len(store.votes.present(run_id))
    )
    assert row.abstentions == sum(i.abstentions for i in items) == sum(v.abstained for v in votes)
    open_ones = store.votes.open_failures(run_id)
    assert row.failures_open == sum(i.failures for i in items) == len(open_ones)
    assert not store.votes.failed(run_id) & store.votes.present(run_id)
    assert len(store.votes.failed(run_id)) == len(open_ones)  # at most one open per cell
    before = store.results.items(run_id)
    store.results.rebuild(run_id, derive)
    touched = [i for i in before if i.votes or store.votes.failures_of(run_id, i.item_id)]
    assert [i for i in store.results.items(run_id) if i in touched] == touched
    store.close()

"""Who may work on a run, and until when."""

from __future__ import annotations

from dataclasses import replace

from core.domain.runs import Lease
from core.store.store import Store
from tests.store.making import AT, LATER, NOW, claimed, queued_run


def test_spot_checks_go_first_then_the_oldest_run(store: Store) -> None:
    old, new, spot = queued_run(store), queued_run(store), queued_run(store, kind="spot")
    taken = [store.leases.claim("me", at=AT, seconds=5) for _ in range(4)]
    assert [lease and lease.run_id for lease in taken] == [spot, old, new, None]


def test_a_claim_starts_the_run_and_keeps_others_out(store: Store, run_id: int) -> None:
    lease = store.leases.claim("me", at=AT, seconds=5)
    assert lease == Lease(run_id, "me", 1, AT + 5, False)
    row = store.runs.row(run_id)
    assert (row.status, row.started, row.lease_owner, row.lease_until) == (
        "running", NOW, "me", AT + 5,
    )  # fmt: skip
    assert store.leases.claim("you", at=AT + 4.9, seconds=5) is None
    assert store.leases.active(at=AT) == [lease]
    assert store.leases.active(at=AT + 5) == []


def test_a_run_whose_lease_ran_out_is_taken_over_with_a_higher_fence(
    store: Store, run_id: int
) -> None:
    first = claimed(store, run_id, "first")
    second = claimed(store, run_id, "second", at=AT + 60)
    assert (first.fence, second.fence) == (1, 2)
    assert store.leases.heartbeat(first, at=AT + 61, seconds=60) is None
    assert store.leases.heartbeat(second, at=AT + 61, seconds=60) is False
    assert store.runs.row(run_id).lease_until == AT + 121
    assert store.runs.row(run_id).started == NOW  # by the first


def test_a_late_owner_whom_nobody_replaced_keeps_the_lease(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    assert store.leases.heartbeat(lease, at=AT + 1000, seconds=60) is False


def test_a_lease_given_back_says_how_it_went(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    assert store.leases.release(lease, "budget", now=LATER, message="Spent.", seconds=2.5)
    row = store.runs.row(run_id)
    assert (row.status, row.finished, row.message, row.seconds) == ("budget", LATER, "Spent.", 2.5)
    assert row.lease_owner is None
    assert not store.leases.release(lease, "done", now=LATER)
    assert store.runs.row(run_id).status == "budget"
    assert store.leases.claim("me", at=AT, seconds=5) is None


def test_a_run_given_back_to_the_queue_is_taken_up_again(store: Store, run_id: int) -> None:
    store.leases.release(claimed(store, run_id), "queued", now=LATER, seconds=1)
    row = store.runs.row(run_id)
    assert (row.status, row.finished) == ("queued", None)
    store.leases.release(claimed(store, run_id), "done", now=LATER, seconds=2)
    assert store.runs.row(run_id).seconds == 3


def test_a_run_given_back_to_the_queue_after_a_wish_to_stop_is_cancelled(
    store: Store, run_id: int
) -> None:
    lease = claimed(store, run_id)
    store.runs.request_cancel(run_id, now=NOW)
    store.leases.release(lease, "queued", now=LATER)
    assert store.runs.row(run_id).status == "cancelled"


def test_the_lease_of_an_owner_known_to_be_gone_can_be_ended(store: Store, run_id: int) -> None:
    lease = claimed(store, run_id)
    assert not store.leases.expire(replace(lease, owner="somebody else"))
    assert store.leases.expire(lease)
    assert claimed(store, run_id, "you").fence == 2


def test_only_the_run_asked_for_is_claimed(store: Store) -> None:
    first, second = queued_run(store), queued_run(store)
    assert claimed(store, second).run_id == second
    assert store.leases.claim("me", at=AT, seconds=5, run_id=second) is None
    assert claimed(store, first).run_id == first

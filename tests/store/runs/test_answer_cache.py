"""Kept answers: found by key, whatever is in them, and the first one stays."""

from __future__ import annotations

from core.domain.votes import Call, KeptAnswer, Segment
from core.store.store import Store
from tests.store.making import LATER, NOW, call, claimed, record, vote


def test_answers_are_found_by_their_keys_and_the_first_one_stays(store: Store) -> None:
    odd = KeptAnswer("k1", "m", {"text": "half a pair: \ud83d, and \x00", "tokens_in": 3}, 0.25)
    plain = KeptAnswer("k2", "m", {"text": None}, None)
    store.responses.put([odd, plain], now=NOW)
    store.responses.put([KeptAnswer("k1", "m", {"text": "later"}, 9.0)], now=LATER)
    assert store.responses.get(["k2", "k1", "k3"]) == {"k1": odd, "k2": plain}
    assert store.responses.get([]) == {}
    assert store.responses.count() == 2


def test_a_kept_answer_is_counted_apart_from_calls(store: Store, run_id: int) -> None:
    def known(first_cost: float | None) -> Call:
        return Call(
            (Segment("user", "x"),), {}, tokens_in=100, cost=0.0, tries=0, cached=True,
            first_cost=first_cost,
        )  # fmt: skip

    lease = claimed(store, run_id)
    record(store, lease, vote("a", call=known(0.5)), vote("b", call=known(None)))
    record(store, lease, vote("c", call=call("y", cost=0.125)))
    row = store.runs.row(run_id)
    assert (row.calls, row.cost, row.cost_unknown, row.tokens_in) == (1, 0.125, 0, 100)
    assert (row.cached, row.saved) == (2, 0.5)
    (kept,) = store.votes.for_item(run_id, "a")
    assert kept.call_id is not None
    made = store.votes.call(kept.call_id)
    assert (made.cached, made.first_cost, made.tries) == (True, 0.5, 0)

"""Nobody reviews what they wrote themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.dataset import Item
from core.domain.review import QueueSettings
from core.errors import Conflict
from core.services.review import claims
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, UNMET, sit

#: Who wrote which item, and where that stands in its meta.
WROTE = {"i0": {"author": "ada "}, "i1": {"student": "Bob"}, "i2": {"name": "ADA"}, "i3": {}}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    plain = reviewed.items

    def authored(count: int) -> tuple[Item, ...]:
        return tuple(i.model_copy(update={"meta": WROTE[i.id]}) for i in plain(count))

    monkeypatch.setattr(reviewed, "items", authored)
    made = reviewed.open_store(tmp_path)
    yield made
    made.close()


def test_an_item_is_not_for_whoever_wrote_it(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4), EVERYTHING)
    ada, bob = sit(store, "Ada"), sit(store, "Bob")
    assert claims.queue_for_person(store, ada, queue).counts == {"available": 2, "assigned": 2}
    assert claims.queue_for_person(store, bob, queue).counts == {"available": 3, "assigned": 1}
    with pytest.raises(Conflict, match="written by you"):
        claims.claim(store, ada, queue, "i0")
    reviewed.settle(store, ada, queue, "i1", MET)
    reviewed.settle(store, ada, queue, "i3", MET)
    assert claims.claim_next(store, ada, queue) is None
    assert (
        "2 assigned to others, or written by you" in claims.queue_for_person(store, ada, queue).why
    )


def test_nor_does_an_author_end_a_disagreement_about_it(store: Store) -> None:
    settings = QueueSettings(mode="blind", reviewers=2)
    queue = reviewed.make_queue(store, reviewed.graded(store, 4), EVERYTHING, settings)
    sit(store, "Lea")
    for name, option in (("Cem", MET), ("Dan", UNMET)):
        reviewed.settle(store, sit(store, name), queue, "i0", option)
    store.reviewers.set_role(sit(store, "Ada").name, "adjudicator")
    store.reviewers.set_role(sit(store, "Bob").name, "adjudicator")
    with pytest.raises(Conflict, match="written by you"):
        claims.claim(store, sit(store, "Ada"), queue, "i0")
    assert claims.claim(store, sit(store, "Bob"), queue, "i0").part == "resolve"


def test_a_lead_may_take_it_over_and_the_record_says_so(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4), EVERYTHING)
    store.reviewers.set_role(sit(store, "Ada").name, "lead")
    ada = sit(store, "Ada")
    claims.claim(store, ada, queue, "i0", take_over=True)
    run = store.queues.get(queue).run_id
    assert [e.action for e in store.events.of_cell(run, "i0")] == ["take_over"]

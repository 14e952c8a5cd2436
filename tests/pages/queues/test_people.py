"""Several people on one queue, on their screens: disagreement, resolution, sending back, roles.

Item 1 is i0: all judges say MET of both criteria (`tests.services.reviewed`).
"""

from __future__ import annotations

import pytest

from core.domain.review import QueueSettings
from core.services.review import adjudication, claims, queues
from core.store.store import Store
from pages.queues.outlook import QUEUE_ACT, QUEUE_FIELD
from pages.review_item.opened import REVIEW_NOTE
from pages.ui import routes, state
from tests.pages import reviewing as at
from tests.pages.conftest import shown
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET

TWO = QueueSettings(reviewers=2)


def disagree(store: Store) -> int:
    """A queue of one item on whose criterion Right (not Short) two reviewers disagree."""
    queue = at.queue(store, count=1, settings=TWO)
    for name, right in (("Ann", MET), ("Ben", UNMET)):
        app = at.sit_down(store, queue, name)
        at.choose(app, 1, "Right", right)
        at.choose(app, 1, "Short", MET)
        at.commit(app, 1)
        if right == UNMET:
            at.write(app, 1, "Right", "Benreason.")
        at.commit(app, 1)
    return queue


def cell_states(store: Store, queue: int) -> dict[str, str]:
    return {c.criterion: c.state for c in store.queues.cells(queue, "i0")}


def test_a_disagreement_waits_for_an_adjudicator_and_the_reviewers_are_told(store: Store) -> None:
    queue = disagree(store)
    assert cell_states(store, queue) == {"Right": "disagreement", "Short": "resolved"}
    ben = at.sit_down(store, queue, "Ben")
    assert "No items left for you" in shown(ben)
    assert "waiting for an adjudicator" in shown(ben)


def test_a_lead_sees_on_the_queue_how_far_everybody_is(store: Store) -> None:
    queue = at.queue(store, count=3)
    reviewed.settle(store, reviewed.sit(store, "Ben"), queue, "i0", MET)
    lea = shown(at.sit_down(store, queue, "Lea", page=routes.QUEUES))
    assert "Progress of each reviewer" in lea
    assert "<td>Ben</td>" in lea
    assert "Progress of each reviewer" not in shown(
        at.sit_down(store, queue, "Ann", page=routes.QUEUES)
    )


def test_the_resolver_sees_only_what_differs_speaks_first_and_then_sees_letters_not_names(
    store: Store,
) -> None:
    queue = disagree(store)
    lea = at.sit_down(store, queue, "Lea")
    before = shown(lea)
    assert "Reviewers disagree here. Give your own verdict first." in before
    assert "Short" not in before
    assert "Benreason" not in before
    at.choose(lea, 1, "Right", UNMET)
    at.commit(lea, 1)
    after = shown(lea)
    assert "Reviewer A" in after
    assert "Reviewer B" in after
    assert "Benreason." in after
    # Their names are nowhere; "Lea" is me.
    assert not [name for name in ("Ann", "Ben ", "Ben<") if name in after]
    at.write(lea, 1, "Right", "The reference settles it.")
    at.commit(lea, 1)
    run = store.queues.get(queue).run_id
    found = adjudication.settled_cells(store, run)[("i0", "Right")]
    assert (found.label, found.provenance) == ("UNMET", "adjudicated")


def test_uncertain_is_a_legal_end_of_a_disagreement(store: Store) -> None:
    queue = disagree(store)
    lea = at.sit_down(store, queue, "Lea")
    at.cannot(lea, 1, "Right", "ambiguous_item")
    at.commit(lea, 1)
    at.write(lea, 1, "Right", "It can be read both ways.")
    at.commit(lea, 1)
    assert cell_states(store, queue)["Right"] == "resolved"
    run = store.queues.get(queue).run_id
    assert adjudication.settled_cells(store, run)[("i0", "Right")].uncertain
    assert "Right: MET → <b>Cannot assess</b>" in shown(lea)


def test_a_resolver_can_send_the_cell_back_with_a_reason_that_reviewers_see(store: Store) -> None:
    queue = disagree(store)
    lea = at.sit_down(store, queue, "Lea")
    at.act(lea, at.FLAG)
    at.choose(lea, 1, "Right", "back")
    assert "First give the reason in the note" in shown(lea)
    at.write(lea, 1, "Right", "Read the reference again.")
    at.act(lea, at.FLAG)
    at.choose(lea, 1, "Right", "back")
    assert cell_states(store, queue)["Right"] == "needs_review"
    ben = at.sit_down(store, queue, "Ben")
    assert "Read the reference again." in shown(ben)
    assert at.has(ben, "option", 1, "Right", MET)
    # Taken back, both verdicts stand again.
    at.act(lea, at.UNDO)
    assert cell_states(store, queue)["Right"] == "disagreement"


def test_a_second_person_is_told_who_was_faster_and_overwrites_nothing(store: Store) -> None:
    queue = at.queue(store, count=1)
    ann = at.sit_down(store, queue, "Ann")
    at.choose(ann, 1, "Right", UNMET)
    at.choose(ann, 1, "Short", UNMET)
    bea = reviewed.sit(store, "Bea")
    for held in store.turns.leases_in_force(queue, at=0.0):  # Ann's tab has been closed for long
        seat = reviewed.sit(store, held.reviewer, held.session)
        store.turns.extend_lease(queue, held.item_id, seat, 1.0)
    reviewed.settle(store, bea, queue, "i0", MET)
    at.commit(ann, 1)
    assert "You do not have item 1 open any more; Bea went on with it" in shown(ann)
    run = store.queues.get(queue).run_id
    assert {s.label for s in adjudication.settled_cells(store, run).values()} == {"MET"}


def test_an_open_item_is_nobody_elses_and_the_queue_says_whose_it_is(store: Store) -> None:
    queue = at.queue(store, count=1)
    at.sit_down(store, queue, "Ann")
    ben = at.sit_down(store, queue, "Ben")
    assert "open elsewhere (Ann" in shown(ben)
    page = at.sit_down(store, queue, "Ben", page=routes.QUEUES)
    assert "No item is available to you now" in shown(page)
    assert not [b for b in page.button if "Take over" in b.label]


def test_a_lead_takes_over_from_the_queues_page(store: Store) -> None:
    queue = at.queue(store, count=1)
    at.sit_down(store, queue, "Ann")
    lea = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    (take,) = [b for b in lea.button if b.label == "Take over from Ann"]
    take.click().run()
    assert "Item 1" in shown(lea)
    (held,) = claims.queue_for_person(store, reviewed.sit(store, "Lea"), queue).held
    assert held.reviewer == "Lea"


@pytest.mark.parametrize(("name", "may"), [("Lea", True), ("Ben", False)])
def test_only_a_lead_changes_a_queue(store: Store, name: str, may: bool) -> None:
    queue = at.queue(store)
    page = at.sit_down(store, queue, name, page=routes.QUEUES)
    assert bool([b for b in page.button if b.label == "Archive"]) == may


def test_a_queue_is_put_away_and_brought_back(store: Store) -> None:
    queue = at.queue(store)
    page = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    page.button(key=state.key(QUEUE_ACT, "archive")).click().run()
    assert queues.queue_by_id(store, queue).archived is not None
    ben = at.sit_down(store, queue, "Ben")
    assert "archived" in shown(ben)
    page.button(key=state.key(QUEUE_ACT, "archive")).click().run()
    assert queues.queue_by_id(store, queue).archived is None


def test_who_made_a_submission_is_shown_to_a_lead_who_says_why_and_recorded(store: Store) -> None:
    queue = at.queue(store, count=1)
    ben = at.sit_down(store, queue, "Ben")
    assert not at.has(ben, "unmask")
    at.act(ben, "back")
    lea = at.sit_down(store, queue, "Lea")
    at.act(lea, "unmask")
    assert "Say why" in shown(lea)
    lea.text_input(key=state.key(REVIEW_NOTE, "unmask", 1)).set_value("A complaint.").run()
    at.act(lea, "unmask")
    assert "secret-system" in shown(lea)
    run = store.queues.get(queue).run_id
    told = [e.reason for e in store.events.of_run(run, queue) if e.action == "unmask"]
    assert told == ["A complaint."]


def test_a_lead_assigns_open_items_to_people_and_frees_them(store: Store) -> None:
    queue = at.queue(store, count=2)
    reviewed.seats(store, "Ann", "Ben")
    lea = at.sit_down(store, queue, "Lea", page=routes.QUEUES)
    items, names = (state.key(QUEUE_FIELD, part, queue) for part in ("hand over", "hand over to"))
    assert lea.multiselect(key=items).options == ["i0", "i1"]
    assert lea.button(key=state.key(QUEUE_ACT, "hand over")).disabled
    lea.multiselect(key=items).set_value(["i0"])
    lea.multiselect(key=names).set_value(["Ben"]).run()
    lea.button(key=state.key(QUEUE_ACT, "hand over")).click().run()
    assert "1 item assigned to Ben" in shown(lea)
    assert lea.multiselect(key=items).options == ["i0 · Ben", "i1"]
    ann, ben = (reviewed.sit(store, name) for name in ("Ann", "Ben"))
    assert [claims.queue_for_person(store, who, queue).available for who in (ann, ben)] == [1, 2]
    lea.multiselect(key=items).set_value(["i0"]).run()
    lea.button(key=state.key(QUEUE_ACT, "hand over")).click().run()
    assert "1 item assigned to anyone" in shown(lea)
    assert claims.queue_for_person(store, ann, queue).available == 2

"""Who is to review a run blind gets nothing of it by another way, until it is done."""

from __future__ import annotations

import pytest

from core.domain.access import LOCAL, Actor, TeamRole
from core.domain.review import QueueSettings
from core.errors import NotAllowed
from core.services.access import blindness
from core.services.exports import grade_lists, judgement_rows, run_export
from core.services.review import claims, queues
from core.store.store import Store
from tests.services import reviewed
from tests.services.access.made import member
from tests.services.reviewed import MET

#: Four items of two cells each (`tests.services.reviewed`), all of them in the queue.
CELLS = 8


@pytest.fixture
def run_id(store: Store) -> int:
    run = reviewed.graded(store, 4)
    reviewed.make_queue(store, run, reviewed.EVERYTHING, QueueSettings())
    return run.id


@pytest.mark.parametrize(
    ("role", "cells"),
    [
        ("reviewer", CELLS),
        ("adjudicator", CELLS),
        # They may see it (docs/access.md), or have nothing to review.
        ("lead", 0),
        ("admin", 0),
        ("author", 0),
        ("viewer", 0),
    ],
)
def test_who_reviews_and_is_no_lead_has_cells_to_decide(
    store: Store, run_id: int, role: TeamRole, cells: int
) -> None:
    assert blindness.cells_to_decide(store.acting(member(role)), run_id) == cells


def test_the_person_at_the_machine_is_not_kept_from_anything(store: Store, run_id: int) -> None:
    assert blindness.cells_to_decide(store, run_id) == 0
    assert blindness.cells_to_decide(store.acting(Actor("root", "admin", "local")), run_id) == 0


@pytest.mark.parametrize("form", run_export.FORMATS)
def test_no_file_of_the_run_reaches_who_reviews_it(store: Store, run_id: int, form: str) -> None:
    theirs = store.acting(member("reviewer"))
    with pytest.raises(NotAllowed, match="You are to review 8 cells of run"):
        run_export.export(theirs, run_id, form)  # type: ignore[arg-type]


def test_no_part_of_a_file_does_either(store: Store, run_id: int) -> None:
    theirs = store.acting(member("adjudicator"))
    for act in (
        lambda: judgement_rows.load_graded(theirs, run_id),
        lambda: run_export.event_rows(theirs, run_id),
        lambda: list(run_export.long_rows(theirs, run_id)),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert grade_lists.fill  # stands on `judgement_rows.graded`


def decide(store: Store, queue_id: int) -> None:
    """The first item of the queue, decided by whoever acts."""
    seat = reviewed.sit(store, store.actor.name)
    reviewed.settle(store, seat, queue_id, "i0", MET)


def test_each_decision_takes_its_cells_off_and_the_end_of_a_queue_all(
    store: Store, run_id: int
) -> None:
    theirs = store.acting(member("reviewer"))
    (queue,) = queues.queues_of_run(store, run_id)
    decide(theirs, queue.id)
    assert blindness.cells_to_decide(theirs, run_id) == CELLS - 2
    queues.archive(store, reviewed.sit(store, "Lea"), queue.id)
    assert blindness.cells_to_decide(theirs, run_id) == 0
    assert run_export.export(theirs, run_id, "canvas").text


def test_what_is_given_to_others_is_not_theirs(store: Store, run_id: int) -> None:
    (queue,) = queues.queues_of_run(store, run_id)
    lead = store.acting(member("lead"))
    ann = store.acting(member("reviewer", "ann@example.org"))
    reviewed.sit(ann, "ann@example.org")
    seat = reviewed.sit(lead, "lead@example.org")
    claims.assign(lead, seat, queue.id, [f"i{n}" for n in range(4)], ["ann@example.org"])
    assert blindness.cells_to_decide(ann, run_id) == CELLS
    assert (
        blindness.cells_to_decide(store.acting(member("reviewer", "bob@example.org")), run_id) == 0
    )


def test_before_anybody_reviews_every_file_is_for_authors_too(store: Store) -> None:
    run = reviewed.graded(store, 4)
    assert run_export.export(store.acting(member("author")), run.id, "csv").text


def test_files_that_name_reviewers_are_for_leads_once_there_are_any(
    store: Store, run_id: int
) -> None:
    author = store.acting(member("author"))
    (queue,) = queues.queues_of_run(store, run_id)
    decide(store.acting(member("lead")), queue.id)
    for form in sorted(run_export.NAMING):
        with pytest.raises(NotAllowed, match="only a lead or admin may"):
            run_export.export(author, run_id, form)
        assert run_export.export(store.acting(LOCAL), run_id, form)
    assert run_export.export(author, run_id, "xlsx").binary

"""Second looks, items whose label is known, and what people are told of how they review."""

from __future__ import annotations

import pytest

from core import clock
from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Seat
from core.errors import Conflict, InputError
from core.services.review import claims, commit_reveal, other_acts, second_looks
from core.services.review.queues import preview_queue
from core.services.review.random_audit import unaudited_cells, verdict_accuracy
from core.services.review.reviewer_quality import (
    FORETOLD,
    ReviewerPace,
    people_at_work,
    reviewer_pace,
    reviewer_quality,
)
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, UNMET, sit, take

ALWAYS = QueueSettings(mode="blind", repeat_share=1.0)


def work_through(store: Store, queue: int, count: int, name: str = "Ada") -> None:
    for n in range(count):
        reviewed.settle(store, sit(store, name), queue, f"i{n}", MET)


def test_an_item_comes_back_once_five_others_were_decided(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING, ALWAYS)
    ada = sit(store, "Ada")
    work_through(store, queue, 5)
    assert second_looks.items_to_repeat(store, ada, queue) == []
    reviewed.settle(store, ada, queue, "i5", MET)
    assert second_looks.items_to_repeat(store, ada, queue) == ["i0"]
    reviewed.settle(store, ada, queue, "i6", MET)
    assert second_looks.items_to_repeat(store, ada, queue) == ["i0", "i1"]
    assert second_looks.items_to_repeat(store, sit(store, "Bob"), queue) == []


def test_a_second_look_shows_nothing_of_the_first_and_changes_nothing(store: Store) -> None:
    run = reviewed.graded(store, 8)
    queue = reviewed.make_queue(store, run, EVERYTHING, ALWAYS)
    ada = sit(store, "Ada")
    work_through(store, queue, 6)
    pictures, cells = reviewed.pictures(store, run.id), store.queues.cells(queue)
    look = second_looks.second_look(store, ada, queue)
    assert look is not None
    assert [c.name for c in look.criteria] == ["Right", "Short"]
    assert "secret" not in repr(look)
    said = {"Right": ReviewerAnswer(UNMET), "Short": ReviewerAnswer(MET)}
    second_looks.say_again(store, ada, look, said, ms_active=1_000)
    assert second_looks.second_look(store, ada, queue) is None
    assert reviewed.pictures(store, run.id) == pictures
    assert store.queues.cells(queue) == cells
    (mine,) = reviewer_quality(store, ada, queue)
    # MET on both at first; one of the two cells came out the same.
    assert (mine.same.hits, mine.same.n) == (1, 2)
    with pytest.raises(Conflict, match="already"):
        second_looks.say_again(store, ada, look, said)


def test_a_second_look_takes_only_what_the_criterion_offers(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING, ALWAYS)
    ada = sit(store, "Ada")
    work_through(store, queue, 6)
    look = second_looks.second_look(store, ada, queue)
    assert look is not None
    with pytest.raises(InputError):
        second_looks.say_again(store, ada, look, {"Right": ReviewerAnswer(7)})


def test_without_the_setting_nothing_comes_back(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING)
    work_through(store, queue, 8)
    assert second_looks.second_look(store, sit(store, "Ada"), queue) is None


def test_a_reviewer_reads_about_oneself_and_a_lead_about_all(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING)
    work_through(store, queue, 2, "Zoe")
    reviewed.settle(store, sit(store, "Ada"), queue, "i2", UNMET)
    assert [q.name for q in reviewer_quality(store, sit(store, "Zoe"), queue)] == ["Zoe"]
    # By name, not by how well they do.
    assert [q.name for q in reviewer_quality(store, sit(store, "Lea"), queue)] == ["Ada", "Zoe"]
    # The role in hand is not believed.
    forged = Seat("Ada", "lead", "tab")
    assert [q.name for q in reviewer_quality(store, forged, queue)] == ["Ada"]
    assert reviewer_quality(store, sit(store, "Bob"), queue) == []


def test_first_verdicts_are_compared_with_known_labels(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING)
    ada = sit(store, "Ada")
    reviewed.settle(store, ada, queue, "i0", MET)  # labelled MET on Right
    ticket = take(store, ada, queue, "i1")  # labelled MET, too
    both = ("Right", "Short")
    ticket = commit_reveal.commit(store, ticket, dict.fromkeys(both, ReviewerAnswer(UNMET))).ticket
    commit_reveal.reveal(store, ticket)
    commit_reveal.finish(store, ticket, dict.fromkeys(both, ReviewerAnswer(MET, note="Oh.")))
    (mine,) = reviewer_quality(store, ada, queue)
    # The first verdict counts, not the one after the votes were seen.
    assert (mine.gold.hits, mine.gold.n, mine.verdicts) == (1, 2, 4)


def test_others_are_met_where_they_looked_too(store: Store) -> None:
    settings = QueueSettings(mode="blind", reviewers=2)
    queue = reviewed.make_queue(store, reviewed.graded(store, 4), EVERYTHING, settings)
    ada, bob, lea = sit(store, "Ada"), sit(store, "Bob"), sit(store, "Lea")
    reviewed.settle(store, ada, queue, "i0", MET)
    reviewed.settle(store, bob, queue, "i0", MET)  # settled as MET by both
    reviewed.settle(store, ada, queue, "i1", MET)
    reviewed.settle(store, bob, queue, "i1", UNMET)
    reviewed.settle(store, lea, queue, "i1", UNMET, note="Bob is right.")
    reviewed.settle(store, ada, queue, "i2", MET)  # nobody else yet
    shared = {q.name: (q.shared.hits, q.shared.n) for q in reviewer_quality(store, lea, queue)}
    assert shared == {"Ada": (2, 4), "Bob": (4, 4)}


def test_time_and_weeks_are_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = reviewed.make_queue(
        store,
        reviewed.graded(store, 12),
        EVERYTHING,
        QueueSettings(mode="blind", assignment="named", assignees=("Ada",)),
    )
    ada = sit(store, "Ada")
    # Nine verdicts of 8 s on Right, the tenth in 1 s; the last five are of the week after.
    for n in range(10):
        day = "2026-03-04" if n < 5 else "2026-03-10"
        monkeypatch.setattr(clock, "now", lambda day=day: f"{day}T10:00:00.000Z")
        ticket = take(store, ada, queue, f"i{n}")
        ms = {"Right": 8_000 if n < 9 else 1_000}
        done = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(MET)}, ms_active=ms)
        claims.release(store, done.ticket)
    (mine,) = reviewer_quality(store, ada, queue)
    assert (mine.each_seconds, mine.timed, mine.quick) == (8.0, 10, 1)
    # Mondays before 4 and 10 March 2026, a Wednesday and a Tuesday.
    assert [(w.monday, w.verdicts) for w in mine.weeks] == [("2026-03-02", 5), ("2026-03-09", 5)]
    # Ten cells of Short on items begun, and both cells of i10 and i11: 14 at 8 s.
    assert (mine.left, mine.left_minutes) == (12, pytest.approx(14 * 8 / 60))


def timed(store: Store, name: str, queue: int, item: str, right: int, short: int) -> None:
    """Both cells of an item, in so many milliseconds each."""
    ticket = take(store, sit(store, name), queue, item)
    given = dict.fromkeys(("Right", "Short"), ReviewerAnswer(MET))
    done = commit_reveal.commit(store, ticket, given, ms_active={"Right": right, "Short": short})
    claims.release(store, done.ticket)


def test_ones_own_progress_is_in_items_and_the_time_left_is_at_ones_own_pace(store: Store) -> None:
    settings = QueueSettings(mode="blind")
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING, settings)
    ada = sit(store, "Ada")
    assert reviewer_pace(store, ada, queue) == ReviewerPace(done=0, left=8, each_seconds=None)
    timed(store, "Ada", queue, "i0", 8_000, 2_000)  # 10 s
    timed(store, "Ada", queue, "i1", 15_000, 5_000)  # 20 s
    assert FORETOLD == 3
    assert reviewer_pace(store, ada, queue) == ReviewerPace(2, 6, None)
    timed(store, "Ada", queue, "i2", 3_600_000, 1_000)  # an hour away counts as 15 min: 901 s
    # The median of 10, 20 and 901 s is 20 s; five items at 20 s are 100 s.
    mine = reviewer_pace(store, ada, queue)
    assert (mine.done, mine.left, mine.total, mine.each_seconds) == (3, 5, 8, 20.0)
    assert mine.left_minutes == pytest.approx(100 / 60)
    timed(store, "Bob", queue, "i3", 500, 500)
    # What Bob did is neither mine nor left for me, and his second does not make me faster.
    assert reviewer_pace(store, ada, queue) == ReviewerPace(3, 4, 20.0)
    assert reviewer_pace(store, sit(store, "Bob"), queue) == ReviewerPace(1, 4, None)
    other_acts.undo_last(store, ada, queue)
    # i2 is open again, and without it two items are timed.
    assert reviewer_pace(store, ada, queue) == ReviewerPace(2, 5, None)


def test_a_lead_reads_how_far_everybody_is_and_others_only_about_themselves(store: Store) -> None:
    settings = QueueSettings(mode="blind")
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), EVERYTHING, settings)
    lea, ada, ben = sit(store, "Lea"), sit(store, "Ada"), sit(store, "Ben")
    assert people_at_work(store, lea, queue) == []
    for item in ("i0", "i1", "i2"):
        timed(store, "Ada", queue, item, 8_000, 2_000)
    take(store, ben, queue, "i3")
    found = {one.name: one for one in people_at_work(store, lea, queue)}
    # Lea made the queue and reviewed nothing. Five of eight items are open; Ben has one of them.
    assert list(found) == ["Ada", "Ben"]
    assert (found["Ada"].pace, found["Ada"].role) == (ReviewerPace(3, 4, 10.0), "reviewer")
    assert found["Ada"].last is not None
    assert (found["Ben"].pace, found["Ben"].last, found["Ben"].open_now) == (
        ReviewerPace(0, 5, None),
        None,
        True,
    )
    assert [one.name for one in people_at_work(store, ada, queue)] == ["Ada"]


def test_an_item_that_waits_to_be_confirmed_is_not_done(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4), EVERYTHING)
    ada = sit(store, "Ada")
    timed(store, "Ada", queue, "i0", 8_000, 2_000)
    assert reviewer_pace(store, ada, queue) == ReviewerPace(0, 4, None)
    reviewed.settle(store, ada, queue, "i1", MET, note="So it is.")
    assert reviewer_pace(store, ada, queue) == ReviewerPace(1, 3, None)


GOLD = QueueRule(near_mark=None, audit_share=0.0, gold_share=1.0)


def test_cells_with_a_known_label_can_be_queued(store: Store) -> None:
    run = reviewed.graded(store, 8)
    # i0 and i1 are labelled on Right; i1 is split and in anyhow.
    assert preview_queue(store, run.id, GOLD).by_reason["gold"] == 1
    queue = reviewed.make_queue(store, run, GOLD)
    (cell,) = [c for c in store.queues.cells(queue) if c.gold]
    assert (cell.item_id, cell.criterion, cell.chance, cell.audit) == ("i0", "Right", 1.0, False)


def test_the_chance_of_a_labelled_cell_counts_both_draws(store: Store) -> None:
    rule = QueueRule.only(stale=True, audit_share=0.5, gold_share=0.4)
    queue = reviewed.make_queue(store, reviewed.graded(store, 40), rule, seed=3)
    chances = {(c.item_id, c.criterion): c.chance for c in store.queues.cells(queue)}
    labelled = {
        place: pi for place, pi in chances.items() if place in (("i0", "Right"), ("i1", "Right"))
    }
    # .5 + .5 * .4
    assert all(pi == pytest.approx(0.7) for pi in labelled.values())
    assert {pi for place, pi in chances.items() if place not in labelled} == {0.5}


def test_known_labels_do_not_pass_for_hard_cells_nor_for_the_audit(store: Store) -> None:
    run = reviewed.graded(store, 8)
    queue = reviewed.make_queue(store, run, GOLD)
    for item in ("i0", "i1", "i2", "i3", "i5", "i6", "i7"):
        reviewed.settle(store, sit(store, "Ada"), queue, item, MET)
    found = verdict_accuracy(store, queue)
    # Twelve cells of six split items are hard; the cell of i0 is neither that nor audited.
    assert (found.queued, found.audited) == (12, 0)
    # Not looked at: Short of i0, both cells of i4. The labelled one was looked at, and is known.
    assert (unaudited_cells(store, queue).audited, unaudited_cells(store, queue).rest) == (0, 3)
    assert unaudited_cells(store, queue).elsewhere == 1

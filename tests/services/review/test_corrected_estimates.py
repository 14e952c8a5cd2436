"""What a queue's decisions say of all cells, of the judges' pull, and of the session.

The run is that of ``reviewed``: of every four items the votes give MET on the first two, and only
on the first without a split. The rule queues the other three, the audit draws from the first.
"""

from __future__ import annotations

import pytest

from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer
from core.services.labelling.label_plan import label_plan
from core.services.labelling.queue_results import session
from core.services.review import claims, commit_reveal, other_acts
from core.services.review.corrected_estimates import (
    corrected_means,
    selection_of,
    selection_warning,
)
from core.services.review.random_audit import unaudited_cells, verdict_accuracy
from core.services.review.reviewer_quality import anchoring_effect
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, UNMET, sit, take

HALF = QueueRule(near_mark=None, audit_share=0.5)


def settle_all(store: Store, queue: int, audited: int = MET, ruled: int = MET) -> int:
    """Everything in the queue; returns how many cells the audit drew."""
    cells = store.queues.cells(queue)
    for item in dict.fromkeys(cell.item_id for cell in cells):
        option = audited if int(item[1:]) % 4 == 0 else ruled
        reviewed.settle(store, sit(store, "Ada"), queue, item, option, note="I looked.")
    return sum(cell.audit for cell in cells)


def test_the_accuracy_of_all_cells_weighs_the_audited_ones(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 48), HALF)
    audited = settle_all(store, queue)
    found = verdict_accuracy(store, queue)
    # 36 items, 72 cells are queued by the rule; people say MET, which the votes do on every third.
    assert (found.queued, found.audited, found.missing) == (72, audited, 0)
    assert found.hard.value == pytest.approx(24 / 72)
    # Every audited cell is right, and together they stand for the 24 that no rule wanted.
    assert found.weighted.value == pytest.approx((24 + 24) / 96)
    assert found.naive.value == pytest.approx((24 + audited) / (72 + audited))
    assert found.weighted.value > found.naive.value


def test_what_a_queue_says_of_all_cells_reads_them_as_columns(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = reviewed.graded(store, 48)
    queue = reviewed.make_queue(store, run, HALF)
    settle_all(store, queue)
    read_whole = (
        ("verdicts", store.results),
        ("cells", store.queues),
        ("answers", store.vote_statistics),
    )
    for name, of in (*read_whole, ("ballots", store.votes), ("contents", store.datasets)):
        monkeypatch.setattr(type(of), name, lambda *_, name=name: pytest.fail(name))
    assert verdict_accuracy(store, queue).weighted.value is not None
    assert unaudited_cells(store, queue).accuracy.value is not None
    assert corrected_means(store, queue)[0].powered is not None
    assert label_plan(store, run.id).known > 0


def test_a_half_reviewed_queue_has_no_headline(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 48), HALF)
    total = len(store.queues.cells(queue))
    reviewed.settle(store, sit(store, "Ada"), queue, "i1", MET)
    found = verdict_accuracy(store, queue)
    assert found.weighted.value is None
    assert f"{total - 2} cells of the queue are still open" in found.weighted.reason
    assert found.hard.value == 1.0


def test_fewer_than_ten_audited_cells_have_no_headline(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), HALF)
    audited = settle_all(store, queue)
    assert audited < 10
    reason = verdict_accuracy(store, queue).weighted.reason
    assert f"Only {audited} cell" in reason
    assert "10 are needed" in reason


def test_scores_follow_what_people_said_of_the_drawn_cells(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 48), HALF)
    settle_all(store, queue, audited=UNMET, ruled=MET)
    whole, right, short = corrected_means(store, queue)
    assert [line.criterion for line in (whole, right, short)] == ["", "Right", "Short"]
    # Votes: MET on two items of four. People: MET on the three that the rule queued, UNMET on the
    # fourth wherever they looked; so .75, of each criterion and by weight (both have all items).
    for line in (whole, right, short):
        assert line.said == pytest.approx(0.5)
    assert whole.powered is not None
    assert whole.powered.mean.value == pytest.approx(0.75)
    assert (whole.cells, right.cells) == (96, 48)
    low, high = whole.powered.mean.low, whole.powered.mean.high
    assert low is not None
    assert high is not None
    assert low < 0.75 < high <= 1.0


def test_when_all_is_labelled_the_corrected_mean_is_what_people_say(store: Store) -> None:
    rule = QueueRule(near_mark=None, audit_share=1.0)
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), rule)
    settle_all(store, queue, audited=UNMET, ruled=MET)
    whole = corrected_means(store, queue)[0]
    assert whole.powered is not None
    mean = whole.powered.mean
    assert (mean.value, mean.low, mean.high) == (0.75, 0.75, 0.75)


def test_deductions_are_points_below_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    right, short = reviewed.RUBRIC.criteria
    criteria = (right, short.model_copy(update={"weight": -1.0}))
    rubric = reviewed.RUBRIC.model_copy(update={"criteria": criteria})
    monkeypatch.setattr(reviewed, "RUBRIC", rubric)
    rule = QueueRule(near_mark=None, audit_share=1.0)
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), rule)
    settle_all(store, queue, audited=UNMET, ruled=MET)
    whole = corrected_means(store, queue)[0]
    # Three of four items get +3 for Right and -1 for Short, of 3 that could be reached: .75 * 2/3.
    # Votes: Right is MET on two of four, Short on three (a tie takes the worst): (6 - 3) / 12.
    assert whole.said == pytest.approx(0.25)
    assert whole.powered is not None
    assert whole.powered.mean.value == pytest.approx(0.5)


def test_scores_of_an_open_queue_are_only_what_the_votes_say(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), HALF)
    whole = corrected_means(store, queue)[0]
    assert (whole.powered, whole.said) == (None, 0.5)
    assert "still open" in whole.reason


def say(store: Store, queue: int, item: str, first: int, final: int, ms: int = 0) -> None:
    """Both cells of an item: first blind, then with the votes in sight."""
    ticket = take(store, sit(store, "Ada"), queue, item)
    both = ("Right", "Short")
    spent = dict.fromkeys(both, ms) if ms else None
    ticket = commit_reveal.commit(
        store, ticket, dict.fromkeys(both, ReviewerAnswer(first)), ms_active=spent
    ).ticket
    commit_reveal.reveal(store, ticket)
    note = "I changed my mind." if first != final else ""
    done = commit_reveal.finish(
        store, ticket, dict.fromkeys(both, ReviewerAnswer(final, note=note))
    )
    claims.release(store, done.ticket)


def test_who_joins_the_judges_after_seeing_them_is_counted(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8))
    say(store, queue, "i1", UNMET, MET)  # the votes say MET: towards them
    say(store, queue, "i5", UNMET, UNMET)  # stays apart
    say(store, queue, "i2", UNMET, UNMET)  # the votes say UNMET: the same
    say(store, queue, "i6", UNMET, MET)  # away from them
    found = anchoring_effect(store, queue)
    assert found.revealed == 8
    assert (found.toward.hits, found.toward.n) == (2, 4)
    assert (found.away.hits, found.away.n) == (2, 4)
    assert (found.blind.hits, found.blind.n) == (4, 8)
    assert found.difference.value is None
    assert "shown with the votes" in found.difference.reason


def test_items_shown_with_the_votes_are_compared_with_the_others(store: Store) -> None:
    settings = QueueSettings(mode="assisted", assisted_share=0.5)
    queue = reviewed.make_queue(store, reviewed.graded(store, 16), settings=settings)
    shown = [item for item in store.queues.items(queue) if item.assisted]
    hidden = [item for item in store.queues.items(queue) if not item.assisted]
    assert shown
    assert hidden
    for item in (*shown, *hidden):
        panel = MET if int(item.item_id[1:]) % 4 < 2 else UNMET
        other = UNMET if panel == MET else MET
        option = panel if item.assisted else other
        reviewed.settle(store, sit(store, "Ada"), queue, item.item_id, option, note="So.")
    found = anchoring_effect(store, queue)
    # As the votes on every item where they were seen, otherwise on all others.
    assert (found.assisted.hits, found.assisted.n) == (2 * len(shown), 2 * len(shown))
    assert (found.blind.hits, found.blind.n) == (0, 2 * len(hidden))
    assert found.difference.value == 1.0


def test_a_session_tells_what_it_mended_and_what_is_left(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8))
    say(store, queue, "i1", MET, MET, ms=6_000)  # as the votes
    say(store, queue, "i2", MET, MET, ms=12_000)  # mended
    reviewed.settle(store, sit(store, "Ada"), queue, "i3", None, why="criterion_wrong")
    found = session(store, queue)
    assert (found.kept, found.mended, found.given, found.uncertain) == (2, 2, 0, 2)
    assert (found.settled, found.left) == (6, 6)
    # Four times are known: 6, 6, 12 and 12 seconds, 36 in all; six cells at 9 seconds each are .9.
    assert (found.timed, found.each_seconds) == (4, 9.0)
    assert found.minutes == pytest.approx(0.6)
    assert found.left_minutes == pytest.approx(0.9)
    assert [(t.criterion, t.wrong, t.faulty_criterion_count, t.of) for t in found.troubles] == [
        ("Right", 1, 1, 3),
        ("Short", 1, 1, 3),
    ]
    assert 0 < found.flips <= 6


def test_going_away_is_not_work(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 4))
    say(store, queue, "i1", MET, MET, ms=8 * 3_600_000)
    assert session(store, queue).minutes == 30.0  # two cells of at most fifteen minutes


def test_what_was_taken_back_is_in_no_figure(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store, 8), HALF)
    before = (
        verdict_accuracy(store, queue),
        anchoring_effect(store, queue),
        session(store, queue).settled,
    )
    say(store, queue, "i2", UNMET, MET)
    ada = sit(store, "Ada")
    while other_acts.undo_last(store, ada, queue):
        pass
    assert before == (
        verdict_accuracy(store, queue),
        anchoring_effect(store, queue),
        session(store, queue).settled,
    )


def test_three_reviewers_take_three_times_as_long(store: Store) -> None:
    queue = reviewed.make_queue(
        store, reviewed.graded(store, 4), settings=QueueSettings(reviewers=3)
    )
    say(store, queue, "i1", MET, MET, ms=6_000)
    # Two verdicts more on each cell of i1, three on the four cells of i2 and i3: 16 of 6 seconds.
    assert session(store, queue).left_minutes == pytest.approx(1.6)


def test_labels_of_a_random_draw_are_not_said_to_be_of_doubtful_cells(store: Store) -> None:
    run = reviewed.graded(store, 24)
    queue = reviewed.make_queue(store, run, QueueRule.only(audit_share=0.5))
    drawn = list(dict.fromkeys(cell.item_id for cell in store.queues.cells(queue)))
    reviewed.settle(store, sit(store, "Ada"), queue, drawn[0], MET)
    found = selection_of(store, run.id)
    assert found is not None
    words = selection_warning(found)
    assert "in review, of cells drawn at random: figures" in words
    assert "doubtful" not in words
    # The queue holds an audit; what keeps it from speaking is said, not that one would be needed.
    assert "A queue with a random audit" not in words
    assert "cannot speak of all yet. " in words

"""What reviewers found wrong with criteria. The run is that of `tests.services.reviewed`."""

from __future__ import annotations

import pytest

from core.domain.review import QueueSettings, ReviewerAnswer, Seat
from core.errors import InputError
from core.services.review import claims, commit_reveal, reviewers
from core.services.rubrics import library
from core.services.rubrics.issues import criterion_issues
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET


def doubt(store: Store, seat: Seat, queue: int, item: str) -> None:
    """Right is called wrong, Short is met."""
    ticket = reviewed.take(store, seat, queue, item)
    given = {
        "Right": ReviewerAnswer(None, "criterion_wrong", "It asks for a source."),
        "Short": ReviewerAnswer(MET, note="Fine."),
    }
    done = commit_reveal.commit(store, ticket, given)
    done = commit_reveal.finish(store, done.ticket, given)
    claims.release(store, done.ticket)


def test_a_criterion_called_wrong_is_an_issue_of_its_rubric(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store), reviewed.EVERYTHING)
    doubt(store, reviewed.sit(store, "Ben"), queue, "i0")
    (issue,) = criterion_issues(store)
    assert (issue.criterion, issue.why, issue.note) == (
        "Right",
        "criterion_wrong",
        "It asks for a source.",
    )
    assert (issue.reviewer, issue.number, issue.changed) == ("Ben", 1, False)
    assert criterion_issues(store, issue.rubric_id) == [issue]
    assert criterion_issues(store, issue.rubric_id + 1) == []


def test_once_the_rubric_asks_something_else_the_issue_says_so(store: Store) -> None:
    queue = reviewed.make_queue(store, reviewed.graded(store), reviewed.EVERYTHING)
    doubt(store, reviewed.sit(store, "Ben"), queue, "i0")
    (issue,) = criterion_issues(store)
    old = store.rubrics.latest(issue.rubric_id)
    right, short = old.rubric.criteria
    heavier = old.rubric.model_copy(
        update={"criteria": (right.model_copy(update={"weight": 9.0}), short)}
    )
    made = store.rubrics.add_version(issue.rubric_id, heavier, parent=1, now=reviewed.NOW)
    assert not criterion_issues(store)[0].changed  # another weight is not another question
    asked = right.model_copy(update={"requirement": "It is right, with or without a source."})
    mended = old.rubric.model_copy(update={"criteria": (asked, short)})
    store.rubrics.add_version(issue.rubric_id, mended, parent=made.number, now=reviewed.NOW)
    assert library.version_by_id(store, made.id).rubric != mended
    assert criterion_issues(store)[0].changed


def test_what_others_must_still_review_is_not_told_here(store: Store) -> None:
    run = reviewed.graded(store)
    two = QueueSettings(reviewers=2)
    queue = reviewed.make_queue(store, run, reviewed.EVERYTHING, two)
    doubt(store, reviewed.sit(store, "Ben"), queue, "i0")
    assert criterion_issues(store) == []
    doubt(store, reviewed.sit(store, "Ann"), queue, "i0")
    assert [issue.reviewer for issue in criterion_issues(store)] == ["Ben", "Ann"]


def test_kept_notes_are_each_reviewers_own_newest_first_and_can_be_forgotten(store: Store) -> None:
    ann, ben = reviewed.seats(store, "Ann", "Ben")
    reviewers.keep(store, ann, " No source. ")
    reviewers.keep(store, ann, "Too long.")
    reviewers.keep(store, ann, "No source.")  # again: it comes first
    assert reviewers.snippets_of(store, ann) == ("No source.", "Too long.")
    assert reviewers.snippets_of(store, ben) == ()
    reviewers.forget(store, ann, "No source.")
    assert reviewers.snippets_of(store, ann) == ("Too long.",)
    with pytest.raises(InputError, match="Write the note first"):
        reviewers.keep(store, ann, "  ")
    for n in range(30):
        reviewers.keep(store, ann, f"Note {n}")
    assert len(reviewers.snippets_of(store, ann)) == reviewers.MOST

"""Reviewers among the raters of a run: by their first, blind verdicts."""

from __future__ import annotations

import numpy as np

from core.domain.review import QueueSettings, ReviewerAnswer
from core.services.agreement import load_ratings, rater_pairs, reliability, score_agreement
from core.services.agreement.ratings import ABSTAINED, LABELS, NOT_ASKED, PANEL, PEOPLE
from core.services.review import claims, commit_reveal, other_acts
from core.store.store import Store
from tests.pages.agreement.test_views import imported
from tests.services import reviewed
from tests.services.reviewed import EVERYTHING, MET, UNMET, sit, take


def levels(store: Store, run: int, column: str, criterion: str = "Right") -> list[int]:
    sheet = load_ratings.sheet_of_run(store, run)
    return list(sheet.criterion(criterion).column(column, len(sheet.items)))


def test_a_reviewer_is_a_rater_by_the_first_verdict(store: Store) -> None:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    ada = sit(store, "Ada")
    ticket = take(store, ada, queue, "i1")
    ticket = commit_reveal.commit(store, ticket, {"Right": ReviewerAnswer(UNMET)}).ticket
    commit_reveal.reveal(store, ticket)
    done = commit_reveal.finish(store, ticket, {"Right": ReviewerAnswer(MET, note="I was wrong.")})
    claims.release(store, done.ticket)
    reviewed.settle(store, ada, queue, "i3", None, why="missing_info")

    sheet = load_ratings.sheet_of_run(store, run.id)
    assert (sheet.people, sheet.reviewers) == ((), ("reviewer:Ada",))
    assert levels(store, run.id, "reviewer:Ada") == [NOT_ASKED, UNMET, NOT_ASKED, ABSTAINED]
    # The label is what was settled in the end; the panel stays what it voted.
    assert levels(store, run.id, LABELS) == [MET, MET, NOT_ASKED, NOT_ASKED]
    assert levels(store, run.id, PANEL) == [MET, MET, UNMET, UNMET]


def test_what_was_said_with_the_votes_in_sight_is_no_rating(store: Store) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(mode="assisted", assisted_share=1.0)
    queue = reviewed.make_queue(store, run, EVERYTHING, settings)
    reviewed.settle(store, sit(store, "Ada"), queue, "i2", UNMET)
    assert load_ratings.sheet_of_run(store, run.id).reviewers == ()


def test_two_reviewers_are_two_raters_and_an_adjudicator_is_none(store: Store) -> None:
    run = reviewed.graded(store, 4)
    settings = QueueSettings(mode="blind", reviewers=2)
    queue = reviewed.make_queue(store, run, EVERYTHING, settings)
    for name, option in (("Ada", MET), ("Bob", UNMET)):
        reviewed.settle(store, sit(store, name), queue, "i0", option)
        reviewed.settle(store, sit(store, name), queue, "i1", MET)
    reviewed.settle(store, sit(store, "Lea"), queue, "i0", MET, note="Ada is right.")

    sheet = load_ratings.sheet_of_run(store, run.id)
    assert sheet.reviewers == ("reviewer:Ada", "reviewer:Bob")
    # Reviewers are no graders: nobody is compared with a majority of them.
    assert PEOPLE not in sheet.references
    # Labels that the review settled are not what its reviewers are measured by: the dataset has a
    # label for i0 and i1 alone.
    (line, _) = rater_pairs.compare_pair(sheet, LABELS, "reviewer:Ada")
    assert (line.n, line.accuracy.value) == (2, 1.0)


def test_reviewers_do_not_move_the_agreement_of_graders(store: Store) -> None:
    kinds = {"ann": "person", "ben": "person", "gpt": "imported"}
    run = store.runs.get(imported(store, kinds))
    before = reliability.alphas_of_kind(load_ratings.sheet_of_run(store, run.id), "human")
    settings = QueueSettings(mode="blind", reviewers=2)
    queue = reviewed.make_queue(store, run, EVERYTHING, settings)
    for name, option in (("Ada", 0), ("Bob", 1)):
        for at in range(4):
            reviewed.settle(store, sit(store, name), queue, f"i{at}", option)

    sheet = load_ratings.sheet_of_run(store, run.id)
    assert (sheet.people, sheet.reviewers) == (
        ("person:ann", "person:ben"),
        ("reviewer:Ada", "reviewer:Bob"),
    )
    assert reliability.alphas_of_kind(sheet, "human") == before


def test_when_all_is_taken_back_there_is_no_reviewer(store: Store) -> None:
    run = reviewed.graded(store, 4)
    before = load_ratings.sheet_of_run(store, run.id)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    ada = sit(store, "Ada")
    reviewed.settle(store, ada, queue, "i2", MET)
    assert load_ratings.sheet_of_run(store, run.id).reviewers
    while other_acts.undo_last(store, ada, queue):
        pass
    after = load_ratings.sheet_of_run(store, run.id)
    assert (after.reviewers, after.judges, after.items) == ((), before.judges, before.items)
    for one, other in zip(before.criteria, after.criteria, strict=True):
        assert one.columns.keys() == other.columns.keys()
        assert all(np.array_equal(one.columns[k], other.columns[k]) for k in one.columns)


def test_whole_items_of_a_reviewer_or_a_judge_meet_no_score_with_an_own_answer(
    store: Store,
) -> None:
    """The votes of item 3 are MET, UNMET and an abstention; people settle it as UNMET."""
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, EVERYTHING)
    reviewed.settle(store, sit(store, "Ada"), queue, "i3", UNMET)
    sheet = load_ratings.sheet_of_run(store, run.id)
    scores = score_agreement.scores_of(store, run.id, sheet)

    # No item had a label on every criterion before the review.
    assert not scores.of(sheet, LABELS, "reviewer:Ada").known.any()
    assert scores.of(sheet, LABELS, PANEL).known.tolist() == [False, False, False, True]
    # ann meets the mean of bob's and cem's scores: on item 1 bob's is 1 and cem's 0.
    others = scores.of(sheet, PANEL, "judge:ann")
    assert others.values[1] == 0.5
    lines = score_agreement.score_report(load_ratings.run_ratings(store, run.id), None, None)
    assert lines["raters"]["Ada"]["vs_gold"]["n"] == 0

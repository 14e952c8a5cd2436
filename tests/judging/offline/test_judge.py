import asyncio
import random

import pytest

from core.domain.rubric import Rubric
from core.domain.votes import Cell, Vote
from core.judging.offline import OfflineJudge, train
from core.judging.protocol import Question
from tests.judging.offline.answers import (
    CANNOT_ASSESS,
    CLASSIFIER,
    CORRECT,
    GRADE,
    MET,
    NEIGHBOURS,
    answer,
    noise,
    seasons,
)
from tests.places import SHARED

SHARED = SHARED / "saf_en"


def question(item, criterion=CORRECT):
    cell = Cell(item.id, criterion.name, "C")
    return Question(cell, item, Rubric(criteria=(criterion,)), criterion, (1, 0, 2), 7)


def vote_of(judge, asked):
    outcome = asyncio.run(judge.ask(asked))
    assert outcome.call is None
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    return vote


@pytest.fixture(scope="module")
def fitted():
    return train(CLASSIFIER, CORRECT, seasons(60), [], seed=1)


def test_a_vote_carries_confidence_probabilities_and_reason_but_no_order(fitted):
    judge = OfflineJudge(CLASSIFIER, {"Correct": fitted})
    (item, _), *_ = seasons(1, start=1000)
    vote = vote_of(judge, question(item))
    assert vote.cell == Cell(item.id, "Correct", "C")
    assert vote.order is None
    assert vote.confidence == max(vote.probabilities)
    assert len(vote.probabilities) == len(CORRECT.choices)
    assert vote.detail["method"] == "logistic regression on labelled answers"
    assert "spoke for" in vote.reason


def test_prepared_answers_are_the_same_as_asked_ones(fitted):
    items = [item for item, _ in seasons(12, start=1000)]
    ready, fresh = (OfflineJudge(CLASSIFIER, {"Correct": fitted}) for _ in range(2))
    ready.prepare(items)
    for item in items:
        assert vote_of(ready, question(item)) == vote_of(fresh, question(item))


def test_a_prepared_item_that_has_changed_is_judged_anew(fitted):
    judge = OfflineJudge(CLASSIFIER, {"Correct": fitted})
    # Said in six of the twenty wrong answers it learnt from, and in no right one.
    item = answer("new", "further away", random.Random(1))
    judge.prepare([item])
    changed = item.model_copy(update={"submission": "axis tilt, sunlight is direct"})
    assert vote_of(judge, question(changed)).detail["likeliest"] == "MET"
    assert vote_of(judge, question(item)).detail["likeliest"] == "UNMET"


def test_neighbours_leave_their_ids_on_the_vote():
    labelled = seasons(45)
    judge = OfflineJudge(NEIGHBOURS, {"Correct": train(NEIGHBOURS, CORRECT, labelled, [], seed=1)})
    vote = vote_of(judge, question(labelled[4][0].model_copy(update={"id": "twin"})))
    assert vote.detail["neighbours"][0] == "a4"
    assert vote.option == MET


def test_a_doubtful_answer_is_an_abstention_that_keeps_its_figures(fitted):
    from core.judging.offline.trained import Trained

    learnt = fitted._learnt._replace(threshold=1.01)
    strict = Trained(CORRECT, fitted._method, fitted.encoder, learnt, fitted.report)
    (item, _), *_ = seasons(1, start=1000)
    vote = vote_of(OfflineJudge(CLASSIFIER, {"Correct": strict}), question(item))
    assert vote.abstained
    assert vote.option == CANNOT_ASSESS
    assert vote.confidence > 0.5
    assert "it needs to answer" in vote.reason


def test_a_switched_off_judge_abstains_and_says_why():
    judge = OfflineJudge(
        CLASSIFIER, {"Correct": train(CLASSIFIER, CORRECT, noise(9, 1), [], seed=1)}
    )
    vote = vote_of(judge, question(noise(1, 2)[0][0]))
    assert (vote.option, vote.abstained, vote.probabilities) == (CANNOT_ASSESS, True, None)
    assert vote.reason == ("Switched off: 9 different labelled answers; it needs at least 10.")
    assert vote.detail["switched_off"] is True
    assert vote.detail["report"]["n"] == 9


def test_where_a_choice_is_forced_the_abstention_has_no_option():
    judge = OfflineJudge(CLASSIFIER, {"Grade": train(CLASSIFIER, GRADE, noise(9, 1), [], seed=1)})
    vote = vote_of(judge, question(noise(1, 2)[0][0], GRADE))
    assert (vote.option, vote.abstained) == (None, True)


def test_a_criterion_it_never_met_or_with_other_options_is_not_guessed(fitted):
    (item, _), *_ = seasons(1)
    unknown = vote_of(OfflineJudge(CLASSIFIER, {}), question(item))
    assert unknown.abstained
    assert unknown.reason == "Switched off: it was not trained on this criterion."
    renamed = GRADE.model_copy(update={"name": "Correct"})
    other = vote_of(OfflineJudge(CLASSIFIER, {"Correct": fitted}), question(item, renamed))
    assert other.abstained
    assert "other options" in other.reason


def test_real_answers_to_eight_questions_are_judged_better_than_by_the_commonest_label():
    if not SHARED.exists():
        pytest.skip("../shared/data/saf_en is not here")
    from bench.offline import load, split

    (criterion,), items, truths = load("saf_en")
    truth = truths[criterion.name]
    prompts = sorted({item.prompt for item in items})[:8]
    items = [item for item in items if item.prompt in prompts]
    learn, test = split(items, 20, seed=1)
    model = train(CLASSIFIER, criterion, [(i, truth[i.id]) for i in learn], items, seed=1)
    said = model.predict(test)
    right = [p.best == truth[i.id] for p, i in zip(said, test, strict=True)]
    shares = [sum(truth[i.id] == c for i in test) / len(test) for c in criterion.scored]
    # Every judge kept, all 22 questions: see bench/offline.py. Eight have about 130 test answers.
    assert sum(right) / len(right) >= max(shares) + 0.04
    assert sum(not p.abstained for p in said) >= len(said) * 0.4

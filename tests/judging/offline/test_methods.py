import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Regression

from core.domain.dataset import Item
from core.judging.offline import train
from core.judging.offline.features import Encoder, Nearness
from core.judging.offline.methods import (
    NEVER,
    NUMBERS,
    STRENGTH,
    WORDS,
    LogisticRegression,
    Neighbourhood,
)
from core.judging.offline.trained import Explainer
from tests.judging.offline.answers import CLASSIFIER, CORRECT, MET, NEIGHBOURS, UNMET, seasons


def encoded(n=40):
    items = [
        item.model_copy(update={"prompt": f"Question {i % 2}?"})
        for i, (item, _) in enumerate(seasons(n))
    ]
    encoder = Encoder(tuple((i.output, i.prompt, i.reference) for i in items))
    return encoder, encoder.encode(items)


@pytest.mark.parametrize("k", [2, 3])
def test_the_fit_on_products_equals_the_fit_on_the_features_themselves(k):
    generator = np.random.default_rng(1)
    features = generator.normal(size=(40, 6))
    labels = np.digitize(features[:, 0] + 0.5 * generator.normal(size=40), [0, 0.8][: k - 1])
    dual = LogisticRegression().fit(features @ features.T, labels, k)
    ours = dual.scores(features @ features.T)
    primal = Regression(C=STRENGTH, max_iter=5000, tol=1e-6).fit(features, labels)
    grown = np.exp(ours - ours.max(axis=1, keepdims=True))
    chances = grown / grown.sum(axis=1, keepdims=True)
    assert chances == pytest.approx(primal.predict_proba(features), abs=2e-3)


def test_a_label_without_an_example_has_no_chance_and_one_label_alone_is_certain():
    products = np.eye(6)
    scores = LogisticRegression().fit(products, np.array([0, 0, 0, 2, 2, 2]), 3).scores(products)
    assert (scores[:, 1] == NEVER).all()
    alone = LogisticRegression().fit(products, np.full(6, 1), 3).scores(products)
    assert (alone.argmax(axis=1) == 1).all()


def test_neighbours_vote_by_nearness_and_base_rates_have_one_vote():
    # Three examples vote (the root of 4 is below 3). Asked is as near as .8 to the first (label 0)
    # and .4 to the next two (label 1): cubes of .4/.8 weigh 1/8 each. Votes 1 and 2/8, times .8,
    # plus base rates .25 and .75: 1.05 against .95.
    hood = Neighbourhood(np.array([0, 1, 1, 1]), np.array([0.25, 0.75]))
    chances = np.exp(hood.scores(np.array([[0.8, 0.4, 0.4, 0.0]])))
    assert chances[0] == pytest.approx([1.05 / 2, 0.95 / 2])
    assert hood.nearest(np.array([[0.8, 0.4, 0.5, 0.0]])).tolist() == [[0, 2, 1]]


def test_an_answer_like_no_other_gets_the_base_rates():
    hood = Neighbourhood(np.array([0, 1, 1, 1]), np.array([0.25, 0.75]))
    assert np.exp(hood.scores(np.zeros((1, 4))))[0] == pytest.approx([0.25, 0.75])


def test_text_rows_have_length_one_and_equal_answers_are_equally_near():
    encoder, part = encoded()
    lengths = np.asarray(part.rows.multiply(part.rows).sum(axis=1)).ravel()
    assert lengths == pytest.approx(np.ones(len(part)))
    near = Nearness.nearness_matrix(part, part)
    assert np.diag(near.text) == pytest.approx(1)
    assert near.same[0].tolist() == [i % 2 == 0 for i in range(40)]
    assert encoder.lexicon.width == part.rows.shape[1]


def test_what_relates_an_answer_to_its_reference_by_hand():
    texts = (("red fox", "which fox", "red hen"), ("red hen", "which hen", "red hen"))
    encoder = Encoder(texts)
    items = [Item(id=a, submission=a, prompt=p, reference=r) for a, p, r in texts]
    raw = encoder.encode(items).raw
    assert raw[1, [4, 5, 6, 7]].tolist() == [1, 1, 1, 1]  # says all of the reference, no more
    red, rare = encoder.lexicon.idf("red"), encoder.lexicon.rarest
    # "fox" is in one answer only, so it is unknown to the lexicon, as is "hen": both as rare.
    assert raw[0, 4] == pytest.approx(red / (red + rare))
    assert raw[0, 8] == pytest.approx(np.log(3))  # two words
    assert raw[0, 9] == 0  # as long as its reference
    assert raw[0, 10] == 0.5  # "red" is not in the prompt, "fox" is
    assert raw[:, 11].tolist() == [0, 1]  # the one pair of words "red hen"


@pytest.mark.parametrize("kernel", [WORDS, NUMBERS], ids=["words", "numbers"])
def test_the_parts_named_in_a_reason_sum_to_the_score_they_explain(kernel):
    encoder, part = encoded()
    labels = np.array([label for _, label in seasons(40)])
    method = LogisticRegression(kernel)
    products = method.products(Nearness.nearness_matrix(part, part))
    dual = method.fit(products, labels, 2)
    explainer = Explainer(encoder.lexicon, kernel, dual, part, labels)
    scores = dual.scores(products) - dual.intercept
    weights = dual.weights - dual.weights.mean(axis=1, keepdims=True)
    for index in range(5):
        same = part.prompts == part.prompts[index]
        item, mine = part.take(index), weights[:, MET]
        words = explainer.word_parts(item, mine, same)
        related = explainer.related_parts(item, mine, same)
        total = sum(words.values()) + related.sum() + kernel.prompt * (mine * same).sum()
        assert total == pytest.approx(scores[index, MET] - scores[index].mean(), abs=1e-6)


def test_the_classifier_names_the_words_that_spoke_for_the_label():
    model = train(CLASSIFIER, CORRECT, seasons(60), [], seed=1)
    item = seasons(60)[1][0].model_copy(
        update={"id": "new", "submission": "the tilted axis, not the distance to the sun"}
    )
    reason = model.predict([item])[0].reason
    spoke, against = reason.split('Words that spoke for "MET": ')[1].split(" Against: ")
    assert "tilted" in spoke
    assert "axis" in spoke
    assert "distance" in against
    assert "the," not in reason


def test_neighbours_name_the_examples_that_decided():
    labelled = seasons(45)
    model = train(NEIGHBOURS, CORRECT, labelled, [], seed=1)
    item = labelled[4][0].model_copy(update={"id": "twin"})
    said = model.predict([item])[0]
    assert said.neighbours[0] == "a4"
    assert 'a4 ("MET", similarity 1.00)' in said.reason
    assert said.best == MET


@pytest.mark.parametrize("spec", [CLASSIFIER, NEIGHBOURS], ids=lambda s: s.kind)
def test_an_item_it_learnt_from_is_judged_without_its_own_label(spec):
    labelled = seasons(60)
    item, _ = labelled[1]
    labelled[1] = (item, UNMET)  # a right answer, mislabelled
    model = train(spec, CORRECT, labelled, [], seed=1)
    said = model.predict([item])[0]
    assert said.best == MET
    assert said.held_out
    assert "without its own label" in said.reason


def test_another_item_under_the_same_id_is_not_taken_for_a_labelled_one():
    labelled = seasons(45)
    model = train(CLASSIFIER, CORRECT, labelled, [], seed=1)
    other = labelled[0][0].model_copy(update={"submission": "axis tilt, sunlight is direct"})
    said = model.predict([other])[0]
    assert not said.held_out
    assert said.best == MET

"""Every figure against an independent implementation, to 1e-12, on random ratings with gaps."""

import itertools

import krippendorff
import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import jensenshannon
from sklearn import metrics as sk

from core.metrics.agreement import accuracy, correlation_distance, kappa, reliability, scores
from core.metrics.agreement.kappa import mean_pairwise_cohen

CLOSE = {"abs": 1e-12, "rel": 1e-12}


def _two(seed, k=4, n=60):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, k, n)
    return a, np.where(rng.random(n) < 0.5, a, rng.integers(0, k, n)), k


def _many(seed, k=4, items=40, raters=4, gaps=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, items)[:, None]
    other = rng.integers(0, k, (items, raters))
    ratings = np.where(rng.random((items, raters)) < 0.5, truth, other)
    return np.where(rng.random((items, raters)) < gaps, -1, ratings), k


PAIRED = {
    accuracy.accuracy: sk.accuracy_score,
    accuracy.phi: sk.matthews_corrcoef,
    accuracy.recall_macro: sk.balanced_accuracy_score,
    accuracy.f1_macro: lambda a, b: sk.f1_score(a, b, average="macro", zero_division=0),
    accuracy.precision_macro: lambda a, b: sk.precision_score(
        a, b, average="macro", zero_division=np.nan
    ),
    kappa.kappa_unweighted: sk.cohen_kappa_score,
    kappa.kappa_linear: lambda a, b: sk.cohen_kappa_score(a, b, weights="linear"),
    kappa.kappa_quadratic: lambda a, b: sk.cohen_kappa_score(a, b, weights="quadratic"),
    correlation_distance.pearson: lambda a, b: stats.pearsonr(a, b).statistic,
    correlation_distance.spearman: lambda a, b: stats.spearmanr(a, b).statistic,
    correlation_distance.kendall_tau_b: lambda a, b: stats.kendalltau(a, b).statistic,
    correlation_distance.mae: sk.mean_absolute_error,
    correlation_distance.rmse: sk.root_mean_squared_error,
    correlation_distance.bias: lambda a, b: np.mean(b - a),
    correlation_distance.bias_p: lambda a, b: stats.ttest_rel(b, a).pvalue,
    correlation_distance.bias_effect_size: lambda a, b: np.mean(b - a) / np.std(b - a, ddof=1),
    correlation_distance.emd: stats.wasserstein_distance,
    correlation_distance.ks: lambda a, b: stats.ks_2samp(a, b).statistic,
    correlation_distance.jensen_shannon: lambda a, b: (
        jensenshannon(np.bincount(a, minlength=4), np.bincount(b, minlength=4), base=2) ** 2
    ),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("figure", PAIRED)
def test_a_pair_equals_scikit_learn_and_scipy(figure, seed):
    a, b, k = _two(seed)
    counts = accuracy.confusion(a, b, k)
    assert figure(counts).value == pytest.approx(float(PAIRED[figure](a, b)), **CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_levels_equal_scikit_learns_report(seed):
    a, b, k = _two(seed)
    expected = sk.precision_recall_fscore_support(a, b)
    for level, found in enumerate(accuracy.figures_by_level(accuracy.confusion(a, b, k))):
        shares = [figure.value for figure in found]
        assert shares == pytest.approx([column[level] for column in expected[:3]], **CLOSE)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_equals_the_krippendorff_package(metric, seed):
    ratings, k = _many(seed)
    figure = getattr(reliability, f"alpha_{metric}")
    theirs = krippendorff.alpha(
        np.where(ratings < 0, np.nan, ratings).T, level_of_measurement=metric
    )
    assert figure(ratings, k).value == pytest.approx(theirs, **CLOSE)


def test_krippendorffs_own_example():
    # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers,
    # twelve units, missing data; nominal .743, ordinal .815, interval .849.
    a = [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1]
    b = [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3]
    c = [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1]
    d = [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1]
    ratings = np.array([a, b, c, d]).T
    ratings = np.where(ratings < 0, -1, ratings - 1)
    found = [
        reliability.alpha_nominal(ratings, 5).value,
        reliability.alpha_ordinal(ratings, 5).value,
        reliability.alpha_interval(ratings, 5).value,
    ]
    assert [round(value, 3) for value in found] == [0.743, 0.815, 0.849]


def test_the_textbook_example_of_fleiss_kappa():
    # Ten subjects, fourteen raters, five categories, the worked example of the statistic's
    # textbooks: P = .378, P_e = .213, kappa = (.378 - .213) / (1 - .213) = .210.
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    ratings = np.array([np.repeat(np.arange(5), row) for row in counts])
    assert round(reliability.fleiss_kappa(ratings, 5).value, 3) == 0.210


def test_shrout_and_fleiss_own_example():
    # Shrout and Fleiss (1979), table 2: six targets, four judges; ICC(2,1) .29, ICC(2,4) .62.
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert round(reliability.icc_2_1(ratings, 11).value, 2) == 0.29
    assert round(reliability.icc_2_k(ratings, 11).value, 2) == 0.62


def _gwet(ratings, k, credit):
    """Gwet (2008) item by item, by hand."""
    share, used = [], []
    for row in ratings:
        given = row[row >= 0]
        if len(given):
            used.append(np.bincount(given, minlength=k) / len(given))
        pairs = list(itertools.permutations(given, 2))
        if pairs:
            share.append(np.mean([credit[x, y] for x, y in pairs]))
    pi = np.mean(used, axis=0)
    chance = credit.sum() / (k * (k - 1)) * (pi * (1 - pi)).sum()
    return (np.mean(share) - chance) / (1 - chance)


@pytest.mark.parametrize("seed", range(5))
def test_gwet_equals_the_definition_item_by_item(seed):
    ratings, k = _many(seed)
    distance_of = np.abs(np.subtract.outer(np.arange(k), np.arange(k)))
    assert reliability.gwet_ac1(ratings, k).value == pytest.approx(
        _gwet(ratings, k, np.eye(k)), **CLOSE
    )
    assert reliability.gwet_ac2(ratings, k).value == pytest.approx(
        _gwet(ratings, k, 1 - (distance_of / (k - 1)) ** 2), **CLOSE
    )


@pytest.mark.parametrize("seed", range(5))
def test_percent_agreement_is_the_mean_over_items_of_agreeing_pairs(seed):
    ratings, k = _many(seed)
    shares = []
    for row in ratings:
        pairs = list(itertools.combinations(row[row >= 0], 2))
        if pairs:
            shares.append(np.mean([x == y for x, y in pairs]))
    assert reliability.item_agreement(ratings, k).value == pytest.approx(np.mean(shares), **CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_mean_pairwise_kappa_equals_scikit_learn_pair_by_pair(seed):
    ratings, k = _many(seed)
    for weights in kappa.WEIGHTS:
        kappas = []
        for a, b in itertools.combinations(ratings.T, 2):
            both = (a >= 0) & (b >= 0)
            scheme = None if weights == "none" else weights
            kappas.append(
                sk.cohen_kappa_score(a[both], b[both], labels=list(range(k)), weights=scheme)
            )
        found = mean_pairwise_cohen(weights)(ratings, k)
        assert found.value == pytest.approx(np.mean(kappas), **CLOSE)


@pytest.mark.parametrize(("other", "value"), [((1, 0), 0.0), ((0, 1), 1.0)])
def test_two_items_are_enough_for_kendalls_w(other, value):
    # Ranks (1, 2) and (2, 1) add up to 3 each: no spread. Twice (1, 2): the largest there is.
    assert reliability.kendall_w(np.array([[0, 1], other]).T, 2).value == value


@pytest.mark.parametrize("seed", range(5))
def test_kendalls_w_is_the_friedman_statistic_over_its_largest_value(seed):
    # W = Q / (m (n - 1)), with scipy's tie-corrected Q over items as treatments.
    ratings, k = _many(seed, gaps=0)
    n, m = ratings.shape
    q = stats.friedmanchisquare(*ratings).statistic
    assert reliability.kendall_w(ratings, k).value == pytest.approx(q / (m * (n - 1)), **CLOSE)


@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_scipy(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, 80) / 11
    y = np.clip(x + rng.normal(0, 0.2, 80), 0, 1).round(2)
    found = {name: figure.value for name, figure in scores.score_agreement(x, y).items()}
    gap = y - x
    expected = {
        "pearson": stats.pearsonr(x, y).statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "kendall_tau_b": stats.kendalltau(x, y).statistic,
        "rmse": sk.root_mean_squared_error(x, y),
        "mae": sk.mean_absolute_error(x, y),
        "bias": gap.mean(),
        "bias_effect_size": gap.mean() / gap.std(ddof=1),
        "bias_p": stats.ttest_rel(y, x).pvalue,
        "limit_low": gap.mean() - 1.96 * gap.std(ddof=1),
        "limit_high": gap.mean() + 1.96 * gap.std(ddof=1),
        "emd": stats.wasserstein_distance(x, y),
        "ks": stats.ks_2samp(x, y).statistic,
        "ks_p": stats.kstwobign.sf(stats.ks_2samp(x, y).statistic * np.sqrt(40)),
    }
    assert found == pytest.approx(expected, **CLOSE)

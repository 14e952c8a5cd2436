"""Labels from a queue of hard items: the weighted estimate is right where the plain one is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from core.metrics.estimate import Estimate
from core.metrics.intervals.sampling import mean_of_selected, plain_mean


def queue_and_audit(seed: int, cells: int = 20_000) -> tuple[float, dict[str, Estimate]]:
    """20% of cells are hard (judge right in 60%), the others easy (95%).

    Half of the hard ones are labelled through the queue, and 5% of everything else by an audit.
    """
    rng = np.random.default_rng(seed)
    hard = rng.random(cells) < 0.2
    right = rng.random(cells) < np.where(hard, 0.6, 0.95)
    queued = hard & (rng.random(cells) < 0.5)
    audited = ~queued & (rng.random(cells) < 0.05)
    labelled = queued | audited
    stands = np.where(audited, (~queued).sum() / audited.sum(), 1.0)
    found = {
        "weighted": mean_of_selected(right[labelled], stands[labelled], audited[labelled]),
        "naive": plain_mean(right[labelled].astype(float)),
        "hard": plain_mean(right[queued].astype(float)),
    }
    return float(right.mean()), found


def test_the_simulated_queue_of_the_specification() -> None:
    # Expected: truth .2 * .6 + .8 * .95 = .880. Labelled: hard .2 * .525 = .105 and easy .8 * .05
    # = .040, so the plain mean is (.105 * .6 + .04 * .95) / .145 = .697; among the queued, .600.
    # (The specification's own draw gave .878, .684 and .874.)
    truth, found = queue_and_audit(2)
    assert truth == pytest.approx(0.880, abs=0.007)  # 3 x sqrt(.88 * .12 / 20000)
    weighted, naive = found["weighted"], found["naive"]
    assert naive.value == pytest.approx(0.697, abs=0.026)  # 3 x sqrt(.21 / 2900)
    assert found["hard"].value == pytest.approx(0.600, abs=0.033)
    assert weighted.value == pytest.approx(truth, abs=0.03)
    assert weighted.low is not None
    assert weighted.high is not None
    assert naive.high is not None
    assert weighted.low <= truth <= weighted.high
    assert naive.high < truth


def test_the_weighted_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    # Nominal 95%; of 300 draws 95% +- 3 x 1.3%.
    covered = 0
    for seed in range(300):
        truth, found = queue_and_audit(seed, cells=3_000)
        weighted = found["weighted"]
        assert weighted.low is not None
        assert weighted.high is not None
        covered += weighted.low <= truth <= weighted.high
    assert 0.91 <= covered / 300 <= 0.99


def test_equal_chances_give_the_plain_mean() -> None:
    values = [1.0, 0.0, 1.0, 1.0] * 5
    assert mean_of_selected(values, [5] * 20, [True] * 20).value == pytest.approx(0.75)
    assert plain_mean(np.array(values)).value == 0.75
    assert plain_mean(np.array([])).reason == "No such item was labelled."


def test_where_everything_was_labelled_no_doubt_is_left() -> None:
    found = mean_of_selected([1.0] * 30, [1.0] * 30, [True] * 30)
    assert (found.low, found.high) == (1.0, 1.0)


def test_an_audit_of_nine_gives_no_headline() -> None:
    audited = [True] * 9 + [False] * 50
    found = mean_of_selected([1.0] * 59, [10] * 59, audited)
    assert found.value is None
    assert found.reason == (
        "Only 9 cells were drawn at random; 10 are needed to speak of all cells."
    )


def test_an_item_that_stands_for_fewer_than_none_is_refused() -> None:
    with pytest.raises(ValueError, match="fewer than none"):
        mean_of_selected([1.0], [-1.0], [True])


def test_the_audit_stands_for_just_what_it_was_drawn_from() -> None:
    # 74 cells of the queue, 56 of them right, and 47 of 49 drawn from the other 126: all 200 cells
    # count once, (56 + 126 * 47 / 49) / 200.
    right = [1] * 56 + [0] * 18 + [1] * 47 + [0] * 2
    audited = [False] * 74 + [True] * 49
    found = mean_of_selected(right, [1] * 74 + [126 / 49] * 49, audited)
    assert found.value == pytest.approx((56 + 126 * 47 / 49) / 200)


@pytest.mark.parametrize(("cells", "drawn", "sure"), [(60, 30, 0), (200, 30, 0), (300, 30, 100)])
def test_an_equal_draw_from_finitely_many_holds_whatever_the_share_is(
    cells: int, drawn: int, sure: int
) -> None:
    # Of ``cells`` so many are wrong, 30 are drawn: how likely each number of wrong ones among them
    # is follows from counting (scipy's hypergeometric), so that no chance enters here. ``sure``
    # others were looked at for certain, all right. By t the lower end missed in up to a tenth.
    audited = [True] * drawn + [False] * sure
    stands = [cells / drawn] * drawn + [1.0] * sure
    ends = []
    for wrong in range(drawn + 1):
        right = [0.0] * wrong + [1.0] * (drawn - wrong + sure)
        found = mean_of_selected(right, stands, audited)
        assert found.low is not None
        assert found.high is not None
        assert found.value is not None
        assert found.low <= found.value <= found.high
        ends.append((found.low, found.high))
    low, high = np.array(ends).T
    for bad in range(cells + 1):
        true = (cells - bad + sure) / (cells + sure)
        chance = hypergeom(cells, bad, drawn).pmf(np.arange(drawn + 1))
        for missed in (low > true + 1e-9, high < true - 1e-9):
            assert chance[missed].sum() <= 0.025 + 1e-9, bad


def test_thirty_random_cells_without_an_error_leave_as_many_as_the_exact_bound() -> None:
    # Of 200 cells, 30 drawn: no wrong one among them with chance prod((200 - bad - i) / (200 - i)),
    # which is 2.7 % where 21 are wrong and 2.2 where 22 are. By t up to 13 of 200 were wrong.
    chances = [np.prod([(200 - bad - i) / (200 - i) for i in range(30)]) for bad in (21, 22)]
    assert chances[0] > 0.025 > chances[1]
    found = mean_of_selected([1.0] * 30, [200 / 30] * 30, [True] * 30)
    assert (found.low, found.high) == (pytest.approx(179 / 200), 1.0)

"""What the worked example promises who opens it first: figures to trust, and one not to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.services.agreement.blocks.headline import headline
from core.services.agreement.conclusion import Conclusion
from core.services.diagnostics import diagnosis
from core.services.queueing import queue_cells
from core.services.reports import worked_example
from core.store.store import Store
from core.text.numbers import score
from tests.new_store import new_store
from tests.samples.test_samples import SAMPLES

UNCLEAR = "Reads clearly"


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A data file in which the example is graded: run 1."""
    store = new_store(tmp_path_factory.mktemp("example") / "studio.db")
    worked_example.grade_example(store)
    yield store
    store.close()


@pytest.fixture(scope="module")
def told(graded: Store) -> Conclusion:
    return worked_example.label_conclusion(graded, 1)


def test_all_criteria_but_the_one_that_words_cannot_tell_are_trusted(told: Conclusion) -> None:
    assert {one.name for one in told.criteria if told.standing_of(one) != "trusted"} == {UNCLEAR}
    assert f"5 of 6 criteria; undecided on 1. Weakest: {UNCLEAR}" in headline(told)


def test_what_is_not_trusted_is_right_as_often_as_always_the_most_common_label(
    told: Conclusion,
) -> None:
    (one,) = [one for one in told.criteria if one.name == UNCLEAR]
    assert one.no_better
    assert one.agreement.value is not None
    assert one.agreement.value < 0.4


def test_no_judge_is_off_and_at_most_a_tenth_of_the_votes_abstains(graded: Store) -> None:
    run = worked_example.example_report(graded, 1)
    trained = [one["trained"] for judge in run["training"].values() for one in judge.values()]
    assert trained == [True] * 12  # two judges, six criteria
    assert 0 < run["abstentions"] <= run["votes"] / 10


def test_there_is_something_to_settle_and_something_to_find(graded: Store) -> None:
    assert queue_cells.disagreements_of(graded, 1)[0] > 0
    assert diagnosis.diagnose(graded, 1).findings
    assert worked_example.telling_item(graded, 1) is not None


def test_the_figures_of_the_readme_are_those_of_the_run(graded: Store, told: Conclusion) -> None:
    readme = (SAMPLES / "README.md").read_text("utf-8")
    for one in told.criteria:
        kappa, right = one.agreement, one.accuracy
        assert right is not None
        ends = f"{score(kappa.value)} ({score(kappa.low)} to {score(kappa.high)})"
        figures = (one.name, str(kappa.n), score(right.value), score(one.commonest), ends)
        assert f"| {' | '.join(figures)} |" in readme

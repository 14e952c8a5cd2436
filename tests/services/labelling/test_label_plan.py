"""What more random labels would buy, and queues whose cells were drawn with known chances.

The run of ``test_corrected_systems``: forty tasks of two systems, one judge, who says MET of all
answers of "bold" and of half of those of "calm" (60 of 80 cells).
"""

from __future__ import annotations

import json
from collections import Counter
from math import sqrt

import pytest
from scipy import stats

from core.domain.review import QueueRule
from core.errors import InputError
from core.services.labelling.label_plan import label_plan
from core.services.labelling.plan_queue import queue_rule
from core.services.labelling.plan_words import plan_as_text, plan_in_words
from core.services.pairwise.system_gaps import corrected_systems
from core.services.review import random_labels
from core.services.review.corrected_estimates import corrected_means_of_run
from core.services.review.random_audit import unaudited_cells
from core.store.store import Store
from tests.command_line import cli
from tests.services import reviewed
from tests.services.pairwise.test_corrected_systems import DRAW, graded, reviewed_whole, truth
from tests.services.reviewed import sit


def test_before_any_label_the_width_rests_on_how_far_votes_agree(store: Store) -> None:
    plan = label_plan(store, graded(store), labels=40)
    assert (plan.left, plan.known, plan.measured) == (80, 0, False)
    # One vote, so the other answer has a chance of (1 * 0 + 1/2) / 2 = 1/4, and is 1 away.
    assert plan.off == pytest.approx(sqrt(0.25))
    step = next(one for one in plan.steps if one.labels == 40)
    # 40 of 80, one stratum: t with 38 degrees. Heard half, the judge is off by 3/4 1/4 alone.
    reach = stats.t.ppf(0.975, 38) * sqrt(0.5 * 0.1875 / 40)
    assert step.width["even"] == pytest.approx(reach)
    # 20 of the 20 UNMET, who are then all known, and 20 of the 60 MET.
    alone = stats.t.ppf(0.975, 18) * 60 / 80 * sqrt((1 - 20 / 60) * 0.1875 / 20)
    assert step.width["strata"] == pytest.approx(alone)
    assert (step.minutes, step.money) == (None, None)
    assert "guessed from how far votes agree" in plan_in_words(plan)


def test_random_labels_show_how_far_people_are_off_and_what_their_time_costs(store: Store) -> None:
    run_id = graded(store)
    queue = reviewed.make_queue(store, store.runs.get(run_id), DRAW)
    drawn = store.queues.cells(queue)
    for cell in drawn:
        reviewed.settle(
            store, sit(store, "Ada"), queue, cell.item_id, truth(cell.item_id), note="So."
        )
    plan = label_plan(store, run_id, labels=20, hourly=30.0)
    assert (plan.known, plan.left, plan.measured) == (len(drawn), 80 - len(drawn), True)
    # What labels show of how far judges are off, and ten labels' worth of the quarter expected.
    known = random_labels.labels_of_run(store, run_id).cells
    off = (known.said != known.value)[known.drawn].sum()
    square = 0.25 * (off + 2.5) / (0.25 * len(drawn) + 2.5)
    assert plan.off == pytest.approx(sqrt(square))
    assert "random labels)" in plan_in_words(plan)
    assert len(plan_as_text(plan).splitlines()) == 2 + len(plan.steps)


def test_labels_on_every_cell_leave_nothing_to_draw_or_to_guess(store: Store) -> None:
    plan = label_plan(store, graded(store, labelled=80), pair=("calm", "bold"))
    assert (plan.left, plan.known, plan.measured, plan.steps) == (0, 80, True, ())
    # The votes are wrong on 20 of calm and on all 40 of bold: the root of 60 / 80.
    assert plan_in_words(plan) == (
        "Labels lie 0.87 from the votes (root mean square). Every cell with a verdict has a label."
    )


def test_the_lead_that_people_are_expected_to_find_stands_beside_that_of_the_votes(
    store: Store,
) -> None:
    # By the votes 1 against .5; people are expected to give bold .75 and calm .5.
    words = plan_in_words(label_plan(store, graded(store), pair=("calm", "bold")))
    assert "to find bold ahead by 0.25 (the votes have bold ahead by 0.50)" in words


@pytest.mark.parametrize("pair", [("calm", "bold"), ("bold", "calm")])
def test_the_lead_that_labels_show_counts_and_not_that_of_the_votes(
    store: Store, pair: tuple[str, str]
) -> None:
    run_id = graded(store)
    reviewed_whole(store, run_id)
    # People say the reverse of the votes: of calm's answers half are right, of bold's none.
    plan = label_plan(store, run_id, pair=pair)
    assert plan.shown is not None
    assert plan.shown.value == pytest.approx(plan.gap)
    corrected = corrected_systems(store, store.runs.get(run_id))
    (gap,) = corrected.gaps
    assert gap.found.mean.value is not None
    assert abs(plan.gap or 0.0) == pytest.approx(abs(gap.found.mean.value))
    assert gap.better_system == "calm"
    words = plan_in_words(plan)
    assert f"By {plan.known} random labels calm is ahead by " in words
    assert "which is more than chance; the votes have bold ahead by 0.50." in words
    assert "To find" not in words


def test_a_lead_by_labels_that_may_be_chance_is_called_so(store: Store) -> None:
    # People say MET and UNMET in turn, whoever wrote the answer.
    run_id = graded(store)
    queue = reviewed.make_queue(store, store.runs.get(run_id), QueueRule.only(audit_share=0.5))
    for at, cell in enumerate(store.queues.cells(queue)):
        reviewed.settle(store, sit(store, "Ada"), queue, cell.item_id, at % 2, note="So.")
    plan = label_plan(store, run_id, pair=("calm", "bold"))
    assert plan.shown is not None
    assert not plan.told
    assert "which may be chance; the votes have bold ahead by 0.50. To find that" in plan_in_words(
        plan
    )


def test_two_systems_ask_for_labels_or_for_more_tasks(store: Store) -> None:
    run_id = graded(store)
    plan = label_plan(store, run_id, labels=60, pair=("calm", "bold"), gap=0.5)
    step = next(one for one in plan.steps if one.labels == 60)
    # People are expected to give bold .75, calm .75 or .25, twenty each: gaps of 0 and .5, and both
    # answers with the variance 3/16 beside. Of each side 30 of 40 are labelled.
    tasks = 40 / 39 * 0.25**2 / 40 + 2 * 0.1875 / 40
    labels = 2 * (1 - 30 / 40) * 0.1875 / 30
    spread = sqrt(tasks + labels)
    assert step.finds == pytest.approx((1.959964 + 0.841621) * spread, rel=1e-5)
    assert step.power == pytest.approx(stats.norm.cdf(0.5 / spread - 1.959964), rel=1e-5)
    assert plan.needed is not None
    assert plan.needed <= 60
    small = label_plan(store, run_id, pair=("calm", "bold"), gap=0.05)
    assert small.needed is None
    # Nobody has looked yet, so that all this hangs on a guess.
    assert (
        "By this guess, to find that in 80 of 100 cases is beyond these tasks: with every cell "
        "labelled the chance is"
    ) in plan_in_words(small)
    assert "more labels would not" not in plan_in_words(small)
    with pytest.raises(InputError, match="has no system 'new'"):
        label_plan(store, run_id, pair=("calm", "new"))
    with pytest.raises(InputError, match="has no criterion 'tone'"):
        label_plan(store, run_id, criterion="tone")


def test_a_queue_of_a_plan_draws_with_known_chances_and_goes_on_from_the_last(store: Store) -> None:
    run_id = graded(store)
    reviewed_whole(store, run_id)
    first = random_labels.labels_of_run(store, run_id)
    plan = label_plan(store, run_id)
    rule = queue_rule(plan, plan.left // 2, "strata")
    second = reviewed_whole(store, run_id, rule, seed=2)
    # About as many UNMET as MET are drawn, and each was drawn with the chance of its kind.
    ids = [first.cells.table.ids[item] for item in first.cells.item]
    kinds = dict(zip(ids, first.cells.voted.tolist(), strict=True))
    chances = {(kinds[c.item_id], c.chance) for c in store.queues.cells(second)}
    assert len(chances) == 2
    left = Counter(first.cells.voted[~first.cells.drawn].tolist())
    for option, chance in chances:
        assert chance == pytest.approx(min(1.0, plan.left // 2 / 2 / left[option]), rel=0.2)
    both = random_labels.labels_of_run(store, run_id)
    # Both draws count together, by the stratum of the second.
    assert both.reason == ""
    number = both.cells.drawn.sum()
    assert number == first.cells.drawn.sum() + len(store.queues.cells(second))
    assert set(both.cells.stratum.tolist()) == {1, 2}
    mean = corrected_means_of_run(store, run_id)[0][0].powered
    assert mean is not None
    assert mean.mean.low is not None
    assert mean.mean.high is not None
    assert mean.mean.low <= 0.5 <= mean.mean.high
    # Bounds for what is left are those of an even draw.
    assert "drew some cells more often" in unaudited_cells(store, second).accuracy.reason


def test_a_plan_in_text_says_what_each_half_width_is_of(store: Store) -> None:
    run_id = graded(store)
    head = (
        "± is half the 95% interval of the corrected mean score after this many more labels: even, "
        "every cell alike; strata, as many of each verdict; doubt, doubtful ones more often."
    )
    assert plan_as_text(label_plan(store, run_id)).splitlines()[1] == head
    of_two = plan_as_text(label_plan(store, run_id, pair=("calm", "bold"))).splitlines()[1]
    assert of_two == f"{head} Power is the chance to find calm and bold apart; ± is of all systems."
    one = plan_as_text(label_plan(store, run_id, criterion="clear")).splitlines()[1]
    assert "of the corrected mean of clear after" in one


def test_a_plan_is_made_from_a_terminal(store: Store) -> None:
    run_id = graded(store)
    path = store.path
    told = json.loads(
        cli("queue", "plan", run_id, "--labels", 30, "--draw", "doubt", "--between", "calm", "bold",
            "--db", path, "--json").stdout
    )  # fmt: skip
    assert told["cells_without_label"] == 80
    assert [one["labels"] for one in told["steps"]] == [25, 30, 50]
    assert told["between"] == ["calm", "bold"]
    queue = store.queues.get(told["queue"])
    assert (queue.rule.draw, queue.rule.only_draws, queue.name) == (
        "doubt",
        True,
        "30 random labels",
    )
    told = cli("queue", "plan", run_id, "--labels", 30, "--draw", "even", "--db", path).stdout
    number = told.rpartition("Queue ")[2].partition(" ")[0]
    cells = len(store.queues.cells(int(number)))
    assert told.endswith(f"Queue {number} is made: {cells} cells, drawn by chance.\n")
    # One judge is never of two minds: every cell has the same chance.
    assert {round(cell.chance, 9) for cell in store.queues.cells(queue.id)} == {30 / 80}


def test_a_draw_that_could_tell_no_difference_says_so_before(store: Store) -> None:
    run_id = graded(store)
    few = label_plan(store, run_id, labels=12, pair=("calm", "bold"))
    # Drawn by verdict: 6 of 20 UNMET, all calm's; 6 of 60 MET, 4 of them bold's and 2 calm's.
    assert few.thin["strata"] == 2
    assert "Drawn with as many of each verdict, 2 groups of one system's cells" in plan_in_words(
        few
    )
    enough = label_plan(store, run_id, labels=60, pair=("calm", "bold"))
    assert enough.thin == {}
    assert "Drawn with" not in plan_in_words(enough)

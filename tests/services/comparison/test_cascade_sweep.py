"""A cascade replayed at every threshold: by hand, and by the rule that a real cascade goes by."""

from __future__ import annotations

import pytest

from core.domain.base import build_model
from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Cascade, Judge, Panel
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Call, Cell, Vote
from core.errors import InputError
from core.services.comparison import cascade_sweep
from core.services.results.verdicts import counting_of
from core.services.runs.questions import Selector, rounds_of
from core.store.store import Store
from tests.recording import record
from tests.services.comparison.world import CLEAR, NOW, ONE, RUBRIC, TWO

#: How sure the first judge is; it is right from .6 on. The second errs on the last two items.
SURE = [0.1 + 0.04 * at for at in range(20)]
ITEMS = tuple(
    Item(id=f"i{at:02}", submission="Yes.", labels={"clear": Label(label="MET")})
    for at in range(20)
)


def voted(
    store: Store,
    panel: Panel,
    *,
    priced: bool = True,
    meant_none: str = "",
    away: tuple[int, ...] = (),
    chances: bool = False,
) -> int:
    """A run of both judges; the first meant no option on the item ``meant_none``, and both
    abstained on the items of the numbers ``away``. With ``chances`` it says how sure it is by
    those of both options alone.
    """
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.version_with_content(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=ITEMS), now=NOW).id,
        panel=panel,
    )
    run = store.runs.create(plan, [(item.id, 2) for item in ITEMS], now=NOW).id
    outcomes = []
    for at, item in enumerate(ITEMS):
        options = {"one": int(SURE[at] < 0.6), "two": int(at >= 18)}
        for name, option in options.items():
            lost = name == "one" and item.id == meant_none
            confidence = SURE[at] if name == "one" and not lost else None
            by_option = None
            if chances and confidence is not None:
                by_option = (confidence, 1 - confidence)[:: 1 if option == 0 else -1]
                confidence = None
            cost = {"one": 0.001, "two": 0.009}[name] if priced else None
            vote = Vote(
                Cell(item.id, CLEAR.name, name),
                len(CLEAR.options) if at in away else option,
                at in away,
                confidence=confidence,
                probabilities=by_option,
                detail={"other_chance": 0.99} if lost else {},
            )
            outcomes.append(AskedOutcome((vote,), Call((), {}, cost=cost)))
    return record(store, run, RUBRIC, ITEMS, outcomes, now=NOW)


def test_the_cheapest_threshold_that_is_right_as_often_as_the_best(store: Store) -> None:
    run = voted(store, Panel(judges=(ONE, TWO)))
    assert cascade_sweep.possible_first_judges(store, run) == ["one"]
    found = cascade_sweep.sweep_cascade(store, run, ["one"])

    # Sure from .62 on (item 13): right on the last seven. Below, the second is right on all 13.
    assert (found.alone, found.all_of_them) == (7 / 20, 18 / 20)
    assert (found.chosen.threshold, found.chosen.goes_on) == (0.6, 13 / 20)
    assert found.chosen.right.estimate == 1.0
    by = {one.threshold: one for one in found.points}
    assert by[0.0].right.estimate == 7 / 20
    # Everybody below 1.0 goes on: the second alone, wrong on two.
    assert by[1.0].right.estimate == 18 / 20
    # 1,000 cells cost the first 1 dollar and the second 9: 1 + 13 / 20 of 9.
    assert found.cost(found.chosen.goes_on) == pytest.approx(1 + 9 * 13 / 20)
    # Without item 12 (sure .58) the threshold is .56, where that item stays and is wrong: 19 of 20.
    # Items of one cell; Wilson's interval with t(19) = 2.093 of 20 cells: 75 to 99.
    assert cascade_sweep.sweep_words(found).startswith(
        "one alone gives the label on 35% of 20 labelled cells, two on 90%. Where one decides "
        "alone from a confidence of 0.60 on, 65% go on, and 95% (75% to 99%) are right on items "
        "that were not used to choose the threshold (100% on those that were). That costs 68% of "
        "asking all"
    )
    data = cascade_sweep.sweep_data(found)
    assert (data["chosen"]["threshold"], len(data["points"])) == (0.6, 51)
    assert data["held_out"]["right"] == 19 / 20
    low, high = data["held_out"]["ci"]["right"]
    # (p + q / 2 -+ t sqrt(p (1 - p) / n + q / 4 n)) / (1 + q) with q = t^2 / n, p = .95, n = 20.
    assert (low, high) == pytest.approx((0.7464, 0.9919), abs=1e-4)


def _sure(store: Store, run: int) -> dict[str, float]:
    return {item: sure for (item, *_), [sure] in store.votes.confidences(run).items()}


def test_how_sure_an_answer_is_may_be_the_chance_of_its_option(store: Store) -> None:
    stated, listed = (voted(store, Panel(judges=(ONE, TWO)), chances=one) for one in (False, True))

    assert cascade_sweep.possible_first_judges(store, listed) == ["one"]
    assert _sure(store, listed) == pytest.approx(_sure(store, stated))
    found = [
        cascade_sweep.sweep_data(cascade_sweep.sweep_cascade(store, run))
        for run in (stated, listed)
    ]
    assert found[0]["chosen"] == found[1]["chosen"]


def test_shares_of_right_cells_say_how_many_are_decided_at_all(store: Store) -> None:
    # Both abstain on the first ten, on which the second would be right.
    run = voted(store, Panel(judges=(ONE, TWO)), away=tuple(range(10)))
    found = cascade_sweep.sweep_cascade(store, run, ["one"])
    # The first is right on items 13 to 19, the second on 10 to 17: of the ten decided.
    words = cascade_sweep.sweep_words(found)
    assert words.startswith(
        "one alone gives the label on 35% of 20 labelled cells (70% of the 50% that it decides), "
        "two on 40% (80% of the 50% that it decides). Where one decides alone from a confidence "
        "of 0.60 on, 65% go on, and 45% ("
    )
    # From .6 on: items 13 to 19 by the first, 10 to 12 by the second, all right. Tried on others,
    # item 12 goes wrong as above: 9 of the 10.
    assert "are right (90% of the 50% that are decided) on items that were not used" in words
    data = cascade_sweep.sweep_data(found)
    assert (data["first_decided"], data["then_decided"]) == (0.5, 0.5)
    assert (data["chosen"]["decided"], data["held_out"]["decided"]) == (0.5, 0.5)


def test_which_cells_go_on_is_what_a_real_cascade_would_ask(store: Store) -> None:
    run = voted(store, Panel(judges=(ONE, TWO)))
    found = cascade_sweep.sweep_cascade(store, run, ["one"])
    later = TWO.model_copy(update={"stage": 1})
    for point in found.points[::7]:
        rule = Cascade(below_confidence=point.threshold)
        plan = RunPlan(
            "", 0, 0, build_model(Panel, {"judges": (ONE, later), "cascade": rule}, "panel")
        )
        selector = Selector(
            plan.panel, 1, counting_of(plan), lambda _: RUBRIC, store.votes.confidences(run)
        )
        second = rounds_of(plan.panel)[1]
        asked = [
            c
            for c in selector.cells_to_grade(second, store.votes.ballots(run))
            if c[1] == CLEAR.name
        ]
        assert len(asked) == round(point.goes_on * 20)


def test_a_vote_that_meant_no_option_goes_on_at_every_threshold(store: Store) -> None:
    # The surest answer (.86) is not believed any more: .99 of its chance lay on no option.
    run = voted(store, Panel(judges=(ONE, TWO)), meant_none="i19")
    assert store.votes.confidences(run)["i19", CLEAR.name, "one"] == [0.0]
    # 13 of 20 went on at .6 before (the test above), and now the last one, too.
    by = {
        point.threshold: point for point in cascade_sweep.sweep_cascade(store, run, ["one"]).points
    }
    assert (by[0.0].goes_on, by[0.6].goes_on) == (0.0, 14 / 20)


def test_what_cannot_be_replayed_says_why(store: Store) -> None:
    alone = voted(store, Panel(judges=(ONE, TWO)), priced=False)
    assert cascade_sweep.sweep_cascade(store, alone).cost(0.5) is None
    with pytest.raises(InputError, match="No judge comes after"):
        cascade_sweep.sweep_cascade(store, alone, ["one", "two"])
    with pytest.raises(InputError, match="ghost: no judge"):
        cascade_sweep.sweep_cascade(store, alone, ["ghost"])
    # A run that was a cascade asked the second about doubtful cells only: no replay is fair.
    second = Judge.model_validate({**TWO.model_dump(), "stage": 1})
    was = voted(store, Panel(judges=(ONE, second), cascade=Cascade()))
    with pytest.raises(InputError, match="was a cascade itself"):
        cascade_sweep.sweep_cascade(store, was)

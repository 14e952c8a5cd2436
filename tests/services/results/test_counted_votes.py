"""Which votes count: shadows, flips, and the last stage of a cascade."""

from __future__ import annotations

import pytest

from core.domain.panel import Asking, Cascade, Judge, Panel, Rules
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import BallotRow, ItemBallots
from core.scoring.verdict import Ballot
from core.services.results.flip_check import count_pairs
from core.services.results.verdicts import VoteCounting, answers_per_cell, counting_of
from core.services.runs.questions import (
    AskingRound,
    Selector,
    can_change,
    changes_gate_state,
    rounds_of,
)

YES_NO = Criterion(name="cites", requirement="Cites a source.")
LEVELS = Criterion(
    name="depth",
    requirement="How deep?",
    scale="ordinal",
    options=tuple(Option(label=str(i), value=i / 4) for i in range(5)),
)
RUBRIC = Rubric(criteria=(YES_NO, LEVELS))
MET, UNMET, AWAY = 0, 1, 2


def llm(name: str, **settings: object) -> Judge:
    return Judge(name=name, model="m", **settings)  # type: ignore[arg-type]


def plan(panel: Panel, replicates: int = 1) -> RunPlan:
    return RunPlan("", 1, 1, panel, replicates=replicates)


def row(judge: str, option: int, replicate: int = 0, criterion: str = "cites") -> BallotRow:
    return BallotRow("i1", criterion, judge, replicate, option, option == AWAY)


def test_a_shadow_votes_without_counting() -> None:
    counting = counting_of(plan(Panel(judges=(llm("a"), llm("b", shadow=True)))))
    rows = [row("a", MET), row("b", UNMET)]
    assert counting.count(rows) == [Ballot(MET, False, 1.0, "a")]
    assert counting.planned_for(rows) == 1


def test_a_panel_of_shadows_is_refused() -> None:
    with pytest.raises(ValueError, match="only shadow judges"):
        Panel(judges=(llm("a", shadow=True),))


def test_a_flip_check_records_the_second_answer_and_counts_the_first() -> None:
    counting = counting_of(plan(Panel(judges=(llm("a"),), asking=Asking(flip="check"))))
    assert counting.count([row("a", MET, 0), row("a", UNMET, 1)]) == [Ballot(MET, False, 1.0, "a")]


@pytest.mark.parametrize(
    ("second", "counted"),
    [(MET, Ballot(MET, False, 1.0, "a")), (UNMET, Ballot(None, True, 1.0, "a"))],
    ids=["both orders agree", "they differ: an abstention"],
)
def test_both_orders_may_be_required_to_agree(second: int, counted: Ballot) -> None:
    panel = Panel(judges=(llm("a"),), asking=Asking(flip="require"))
    counting = counting_of(plan(panel, replicates=2))
    rows = [row("a", MET, 0), row("a", MET, 1), row("a", second, 2), row("a", MET, 3)]
    assert counting.count(rows) == [counted, Ballot(MET, False, 1.0, "a")]


def test_flips_double_the_answers_of_models_only() -> None:
    offline = Judge(name="t", kind="classifier")
    panel = Panel(judges=(llm("a"), offline), asking=Asking(flip="check"))
    assert answers_per_cell(panel, 3) == 3 * 2 + 3


def test_flip_pairs_are_counted_within_cell_judge_and_replicate() -> None:
    rows = [
        row("a", MET, 0),
        row("a", UNMET, 2),
        row("a", MET, 1),
        row("a", MET, 3),
        row("b", MET, 0),
    ]
    assert count_pairs(rows, own=2) == (2, 1)  # (0, 2) differ, (1, 3) agree, b has no twin


CASCADE = Panel(judges=(llm("first"), llm("a", stage=1), llm("b", stage=1)), cascade=Cascade())


def test_in_a_cascade_the_last_stage_that_was_asked_decides() -> None:
    counting = counting_of(plan(CASCADE))
    alone = [row("first", MET)]
    assert (len(counting.count(alone)), counting.planned_for(alone)) == (1, 1)
    further = [*alone, row("a", UNMET), row("b", UNMET)]
    assert [b.option for b in counting.count(further)] == [UNMET, UNMET]
    assert counting.planned_for(further) == 2


def selector(panel: Panel, rubric: Rubric = RUBRIC, **confidence: float) -> Selector:
    sure = {("i1", "cites", name): [value] for name, value in confidence.items()}
    return Selector(panel, 1, counting_of(plan(panel)), lambda _: rubric, sure)


def wanted(
    panel: Panel, rows: list[BallotRow], failures: dict[str, int] | None = None, **confidence: float
) -> set[str]:
    second = rounds_of(panel)[1]
    item = ItemBallots("i1", tuple(rows), failures or {})
    return {
        criterion for _, criterion in selector(panel, **confidence).cells_to_grade(second, [item])
    }


def test_a_cell_goes_on_when_its_stage_abstains_or_fails() -> None:
    sure = [row("first", MET), row("first", 3, criterion="depth")]
    assert wanted(CASCADE, sure) == set()
    assert wanted(CASCADE, [row("first", AWAY), sure[1]]) == {"cites"}
    assert wanted(CASCADE, [sure[0]], {"depth": 1}) == {"depth"}


def test_a_cell_goes_on_when_its_stage_is_split_or_not_confident() -> None:
    two = Panel(judges=(llm("x"), llm("y"), llm("z", stage=1)), cascade=Cascade())
    rows = [row("x", MET), row("y", UNMET), *(row(n, 3, criterion="depth") for n in "xy")]
    assert wanted(two, rows) == {"cites"}
    unsure = CASCADE.model_copy(update={"cascade": Cascade(below_confidence=0.8)})
    votes = [row("first", MET), row("first", 3, criterion="depth")]
    assert wanted(unsure, votes, first=0.79) == {"cites"}
    assert wanted(unsure, votes, first=0.81) == set()


def test_a_cell_near_a_gate_can_go_on() -> None:
    gated = Rubric.model_validate(
        {
            "criteria": [LEVELS.model_dump()],
            "gates": [
                {"name": "g", "when": {"criterion": "depth", "below": "2"}, "then": {"cap": 0.4}}
            ],
        }
    )
    # The gate fires below option 2, so 1 and 2 are one step from the other side of it.
    near = [i for i in range(5) if changes_gate_state(gated, gated.criteria[0], i)]
    assert near == [1, 2]


def test_an_early_stop_asks_one_judge_a_round_and_the_free_ones_first() -> None:
    offline = Judge(name="free", kind="classifier")
    panel = Panel(judges=(llm("a"), offline, llm("s", shadow=True)), early_stop=True)
    first, second = rounds_of(panel)
    assert [j.name for j in first.judges] == ["free", "s"]
    assert [j.name for j in second.judges] == ["a"]
    assert [j.name for j in second.earlier] == ["free"]


def test_votes_that_cannot_change_the_verdict_are_not_asked_for() -> None:
    yes, no = Ballot(MET, False), Ballot(UNMET, False)
    majority = Rules()
    assert not can_change(YES_NO, [yes, yes], majority, [1.0])
    assert can_change(YES_NO, [yes, no], majority, [1.0])
    assert can_change(YES_NO, [yes], majority, [1.0])  # 1:1 is a tie, which goes to UNMET
    assert not can_change(YES_NO, [no], majority, [1.0])  # 1:1 would be UNMET as well
    assert can_change(YES_NO, [yes, yes], Rules(binary="unanimous"), [1.0])
    assert can_change(LEVELS, [Ballot(3, False)] * 2, majority, [1.0])  # the mean can move
    assert can_change(YES_NO, [], majority, [1.0])


def test_one_round_asks_everybody_where_nothing_is_staged() -> None:
    panel = Panel(judges=(llm("a"), llm("b", stage=3)))
    assert rounds_of(panel) == [AskingRound(panel.judges, 0)]


def test_imports_count_every_vote_alike() -> None:
    rows = [row("a", MET), row("b", AWAY)]
    assert VoteCounting().count(rows) == [
        Ballot(MET, False, 1.0, "a"),
        Ballot(AWAY, True, 1.0, "b"),
    ]
    assert VoteCounting().planned_for(rows) is None

"""A run of which some items were assessed in part only, with what every surface must say.

Four criteria of 4 points, one judge (M met, U unmet, A cannot assess, - the call failed):

    item      answers   assessed                       score
    whole     MMMU      12 of 16                       .75
    most      MMMA      12 of 12; 4 of 16 not          1.0, and a person must look
    quarter   MAAA      4 of 4; 12 of 16 not           none: a quarter is less than half
    lost      M---      4 of 4; 12 of 16 not           none, for want of verdicts
    failed    ----      nothing                        none, and no vote at all

The mean is (.75 + 1) / 2 = .875; two items were judged and have no grade.
"""

from __future__ import annotations

from collections.abc import Mapping

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote, VoteFailure
from core.store.store import Store
from tests.recording import record

NOW = "2026-03-01T10:00:00.000Z"
NAMES = ("a", "b", "c", "d")
ANSWERS = {"whole": "MMMU", "most": "MMMA", "quarter": "MAAA", "lost": "M---", "failed": "----"}
RUBRIC = Rubric(
    name="Essays",
    criteria=tuple(Criterion(name=name, requirement=f"Is {name}?", weight=4) for name in NAMES),
)
UNGRADED = "2 items have no grade: too little was assessed"


def partly_assessed(store: Store, answers: Mapping[str, str] = ANSWERS) -> int:
    """The run above, finished."""
    items = tuple(
        Item(id=item, submission=f"Text of {item}.", system=item, meta={"Student": f"S {item}"})
        for item in answers
    )
    plan = RunPlan(
        name="Essays",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(name="Class", items=items), now=NOW).id,
        panel=Panel(name="One", judges=(Judge(name="ann", model="openai/m"),)),
    )
    outcomes = list[AskedOutcome]()
    for item, given in answers.items():
        for name, letter in zip(NAMES, given, strict=True):
            cell = Cell(item, name, "ann")
            vote = Vote(cell, "MUA".find(letter), letter == "A")
            lost = VoteFailure(cell, "timeout", "The call took too long.")
            outcomes.append(AskedOutcome((lost if letter == "-" else vote,)))
    run_id = store.runs.create(plan, [(item, 4) for item in answers], now=NOW).id
    return record(store, run_id, RUBRIC, items, outcomes, now=NOW)

"""Runs that put an experiment folder to the test: everything that can stand in a cell.

`every_kind`: ann (weight 2) and bob answer twice, the same both times; eve is a shadow.

    item  criterion                                ann      bob        verdict            label
    a     Kind (binary: "unmet", "Met", "n/a")     Met      Met        Met                Met
    a     Flaws (penalty: None 0, Some .4, Many)   Some     Many       Many, mean .7      Some
    a     Field (nominal: law, arts; unanimous)    law      arts       abstains           law
    a     Forced (ordinal: Low 0, High 1)          Low      timeout    Low                Low
    b     Kind                                     n/a      n/a        n/a                unmet
    b     Flaws                                    None     None       None               None
    b     Field                                    arts     arts       arts               law
    b     Forced                                   abstains timeout    abstains           Low
    c     Own (a rubric of its own)                MET      UNMET      MET, by weight     -
    d     nobody was asked anything                -        -          -                  -

Flaws of a: .4, .4, 1, 1 have the mean .7, as near to .4 as to 1; the worse of a penalty is 1.
Weights: Kind 10, Flaws -5, Field 10, Forced 5; abstentions leave a score. Score of a: Kind 10 of
10, Flaws -5, Forced 0 of 5 make 5 of 15; of b: Flaws 0, Field (arts, .5) 5 of 10. Ann's own of a:
10 - .4 * 5 + 10 + 0 of 25 = .72.
"""

from __future__ import annotations

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel, Rules
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote, VoteFailure
from core.store.store import Store
from tests.recording import record

NOW = "2026-03-01T10:00:00.000Z"
KIND = Criterion(
    name="Kind",
    requirement="It is kind.",
    options=(
        Option(label="unmet", value=0.0),
        Option(label="Met", value=1.0, description="It thanks the reader."),
        Option(label="n/a", na=True),
    ),
)
FLAWS = Criterion(
    name="Flaws",
    requirement="How many flaws?",
    weight=-5,
    scale="ordinal",
    options=(
        Option(label="None", value=0.0),
        Option(label="Some", value=0.4),
        Option(label="Many", value=1.0),
    ),
)
FIELD = Criterion(
    name="Field",
    requirement="Which field?",
    scale="nominal",
    aggregation="unanimous",
    options=(Option(label="law", value=1.0), Option(label="arts", value=0.5)),
)
FORCED = Criterion(
    name="Forced",
    requirement="How well is it told?",
    weight=5,
    scale="ordinal",
    forced_choice=True,
    options=(Option(label="Low", value=0.0), Option(label="High", value=1.0)),
)
RUBRIC = Rubric(name="Every kind", guidelines="Be fair.", criteria=(KIND, FLAWS, FIELD, FORCED))
OWN = Rubric(name="Own", criteria=(Criterion(name="Own", requirement="Has it an end?"),))
TRUTH = {
    "a": ("Met", "Some", "law", "Low"),
    "b": ("unmet", "None", "law", "Low"),
}
ITEMS = (
    *(
        Item(
            id=name,
            submission=f"Text {name}.",
            labels={
                c.name: Label(label=one) for c, one in zip(RUBRIC.criteria, labels, strict=True)
            },
        )
        for name, labels in TRUTH.items()
    ),
    Item(id="c", submission="Text c.", rubric=OWN),
    Item(id="d", submission="Text d."),
)
#: Of ann and bob; an index into `choices`, None for an abstention without an option, "" a timeout.
ANSWERS: dict[tuple[str, str], tuple[int | str | None, int | str | None]] = {
    ("a", "Kind"): (1, 1),
    ("a", "Flaws"): (1, 2),
    ("a", "Field"): (0, 1),
    ("a", "Forced"): (0, ""),
    ("b", "Kind"): (2, 2),
    ("b", "Flaws"): (0, 0),
    ("b", "Field"): (1, 1),
    ("b", "Forced"): (None, ""),
    ("c", "Own"): (0, 1),
}
JUDGES = (
    Judge(name="ann", model="m", weight=2.0),
    Judge(name="bob", model="m"),
    Judge(name="eve", model="m", shadow=True),
)


def every_kind(store: Store) -> int:
    """The run of the table above, of which item d was never begun."""
    plan = RunPlan(
        name="Every kind",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(name="D", items=ITEMS), now=NOW).id,
        panel=Panel(judges=JUDGES, rules=Rules(binary="weighted")),
        replicates=2,
    )
    outcomes = [
        _outcome(Cell(item, criterion, judge, replicate), answer)
        for (item, criterion), given in ANSWERS.items()
        for judge, answer in zip(("ann", "bob", "eve"), (*given, given[0]), strict=True)
        for replicate in (0, 1)
    ]
    return _recorded(store, plan, RUBRIC, ITEMS, outcomes)


def _outcome(cell: Cell, answer: int | str | None) -> AskedOutcome:
    if isinstance(answer, str):
        return AskedOutcome((VoteFailure(cell, "timeout", "No answer in time."),))
    rubric = OWN if cell.item == "c" else RUBRIC
    na = answer is None or rubric.criterion(cell.criterion).choices[answer].na
    return AskedOutcome((Vote(cell, answer, na, reason="Because.", order=(1, 0)),))


def people_only(store: Store) -> int:
    """Ada and Ben, who are people, on one binary criterion: both MET, MET and UNMET."""
    rubric = Rubric(name="R", criteria=(Criterion(name="Clear", requirement="It is clear."),))
    items = (Item(id="a", submission="Rain."), Item(id="b", submission="Snow."))
    plan = RunPlan(
        name="People",
        rubric_version_id=store.rubrics.create(rubric, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(name="D", items=items), now=NOW).id,
        panel=Panel(judges=tuple(Judge(name=n, kind="person") for n in ("Ada", "Ben"))),
    )
    votes = [("a", "Ada", 0), ("a", "Ben", 0), ("b", "Ada", 0), ("b", "Ben", 1)]
    outcomes = [
        AskedOutcome((Vote(Cell(item, "Clear", judge), option, False),))
        for item, judge, option in votes
    ]
    return _recorded(store, plan, rubric, items, outcomes)


def _recorded(
    store: Store,
    plan: RunPlan,
    rubric: Rubric,
    items: tuple[Item, ...],
    outcomes: list[AskedOutcome],
) -> int:
    run_id = store.runs.create(plan, [(item.id, 24) for item in items], now=NOW).id
    return record(store, run_id, rubric, items, outcomes, now=NOW)

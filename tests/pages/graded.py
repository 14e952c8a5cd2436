"""A small run, made as a Runner makes it, in which everything that can happen has happened.

Two judges, two criteria, three items, twelve cells:

    item         criterion  ann                          bob           label
    <b>a</b>     Clear      MET (quotes the text)        UNMET         MET
    <b>a</b>     Depth      Deep (an invented quote)     Deep          Some
    b            Clear      MET                          MET           MET
    b            Depth      abstains                     abstains      -
    c            Clear      no key                       UNMET         MET
    c            Depth      no key                       Some          -

A tie on a binary criterion of positive weight takes UNMET, so the verdict on `a`, Clear is UNMET.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.dataset import Dataset, Item, Label, Message, Sections
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan, RunStatus
from core.domain.votes import AskedOutcome, Call, Cell, Segment, Vote, VoteFailure
from core.store.store import Store
from tests.recording import record

NOW = "2026-03-01T10:00:00.000Z"
HOSTILE = "$5$ **bold** ![x](http://127.0.0.1:9/x) <script>alert(1)</script> \u202eevil"
RUBRIC = Rubric(
    name="Essays *starred*",
    criteria=(
        Criterion(name="Clear", requirement="The text is clear."),
        Criterion(
            name="Depth",
            requirement="How deep is it?",
            scale="ordinal",
            options=(
                Option(label="None", value=0.0),
                Option(label="Some", value=0.5),
                Option(label="Deep", value=1.0),
            ),
        ),
    ),
)
MET, SOME = Label(label="MET", reason="It reads well."), Label(label="Some")
FIRST = "<b>a</b>"
DATASET = Dataset(
    name="Essays",
    prompt="Write about rain.",
    items=(
        Item(
            id=FIRST,
            submission=f"Rain falls. {HOSTILE}",
            system="x",
            labels={"Clear": MET, "Depth": SOME},
        ),
        Item(
            id="b",
            submission=(Message(role="user", content="Hi"), Message(role="bot", content="Snow")),
            system="y",
            labels={"Clear": MET},
        ),
        Item(
            id="c",
            submission=Sections(thinking="Let me see.", output="Sun."),
            reference="The sun.",
            labels={"Clear": MET},
        ),
    ),
)
ANN = Judge(name="ann", model="openai/m", key_env="NO_SUCH_KEY")
BOB = Judge(name="bob", model="m", api_base="http://localhost:1/v1")
CALL = Call(
    (Segment("system", "You judge."), Segment("user", "SENT TO ANN")),
    {"temperature": 0},
    reply="RAW REPLY",
    model="m-2026",
    tokens_in=100,
    tokens_out=10,
    cost=0.5,
    seconds=0.25,
)
#: What was answered: an index into `choices`; Depth's abstention is 3.
ANSWERS = {
    (FIRST, "Clear", "ann"): 0,
    (FIRST, "Clear", "bob"): 1,
    (FIRST, "Depth", "ann"): 2,
    (FIRST, "Depth", "bob"): 2,
    ("b", "Clear", "ann"): 0,
    ("b", "Clear", "bob"): 0,
    ("b", "Depth", "ann"): 3,
    ("b", "Depth", "bob"): 3,
    ("c", "Clear", "bob"): 1,
    ("c", "Depth", "bob"): 1,
}
QUOTES = {"Clear": "Rain falls.", "Depth": "It pours."}


def planned(store: Store, name: str = "First **run**", budget: float | None = None) -> int:
    """The run, queued; nobody has started it."""
    plan = RunPlan(
        name=name,
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(DATASET, now=NOW).id,
        panel=Panel(name="Two", judges=(ANN, BOB)),
        seed=7,
        budget=budget,
    )
    return store.runs.create(plan, [(item.id, 4) for item in DATASET.items], now=NOW).id


def all_failed(store: Store) -> int:
    """The run, over, without any vote."""
    lost = [
        AskedOutcome((VoteFailure(Cell(item.id, name, judge.name), "server", "It is down."),))
        for item in DATASET.items
        for name in ("Clear", "Depth")
        for judge in (ANN, BOB)
    ]
    return graded(store, outcomes=lost)


def graded(
    store: Store,
    status: RunStatus = "done",
    at: float = 1e10,
    outcomes: Sequence[AskedOutcome] | None = None,
) -> int:
    """The run with the votes of the table above; still `running` where that is asked for."""
    found = _outcomes() if outcomes is None else outcomes
    run_id = planned(store)
    return record(store, run_id, RUBRIC, DATASET.items, found, now=NOW, status=status, at=at)


def _outcomes() -> list[AskedOutcome]:
    votes = [_vote(Cell(*key), option) for key, option in ANSWERS.items()]
    lost = [
        AskedOutcome(
            (VoteFailure(Cell("c", name, "ann"), "missing_key", "NO_SUCH_KEY is not set."),)
        )
        for name in ("Clear", "Depth")
    ]
    return [*votes, *lost]


def _vote(cell: Cell, option: int) -> AskedOutcome:
    criterion = RUBRIC.criterion(cell.criterion)
    of_ann = cell.judge == "ann"
    vote = Vote(
        cell,
        option,
        criterion.choices[option].na,
        reason=f"Because {HOSTILE}",
        evidence=(QUOTES[cell.criterion],) if of_ann and cell.item == FIRST else (),
        order=(1, 0, 2) if cell.criterion == "Clear" else (2, 0, 1, 3),
        confidence=0.75,
        probabilities=None if of_ann or cell.criterion == "Depth" else (0.25, 0.75, 0.0),
    )
    return AskedOutcome((vote,), CALL if of_ann else None)

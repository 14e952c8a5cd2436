"""Runs with given answers, made as a Runner makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Call, Cell, Vote
from core.services.results.scored_items import derivation_for
from core.store.database.content import noun_hash
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
TONE = Criterion(
    name="tone",
    requirement="How warm?",
    scale="ordinal",
    options=(
        Option(label="Cold", value=0.0),
        Option(label="Fair", value=0.5),
        Option(label="Warm", value=1.0),
    ),
)
CLEAR = Criterion(name="clear", requirement="It is clear.")
RUBRIC = Rubric(name="Replies", criteria=(CLEAR, TONE))
ONE = Judge(name="one", model="m", api_base="http://localhost:1/v1", price_in=1, price_out=1)
TWO = Judge(name="two", model="m", api_base="http://localhost:1/v1", price_in=1, price_out=1)

#: judge -> criterion -> an option per item, or ``None``: not asked.
Answers = Mapping[str, Mapping[str, Sequence[int | None]]]


def dataset(labels: Mapping[str, Sequence[str]], texts: Sequence[str] = ()) -> Dataset:
    """Items ``i0``, ``i1`` ... with these labels; an empty one is none."""
    number = max(len(given) for given in labels.values())
    items = tuple(
        Item(
            id=f"i{at}",
            submission=texts[at] if texts else f"Reply {at}",
            labels={name: Label(label=of[at]) for name, of in labels.items() if of[at]},
        )
        for at in range(number)
    )
    return Dataset(name="Replies", items=items)


def run_with(
    store: Store,
    data: Dataset,
    answers: Answers,
    *,
    rubric: Rubric = RUBRIC,
    judges: Sequence[Judge] = (ONE,),
    cost: float | None = 0.0,
    cached: bool = False,
    first_cost: float | None = None,
    items: Sequence[str] | None = None,
    **plan: Any,
) -> int:
    """A finished run in which the judges answered so; every vote is a call of that cost."""
    version = store.rubrics.find_by_hash(noun_hash(rubric)) or store.rubrics.create(rubric, now=NOW)
    kept = store.datasets.create(data, now=NOW)
    panel = plan.pop("panel", None) or Panel(judges=tuple(judges))
    made = RunPlan(
        name=plan.pop("name", "A run"),
        rubric_version_id=version.id,
        dataset_version_id=kept.id,
        panel=panel,
        **plan,
    )
    chosen = [i.id for i in data.items] if items is None else list(items)
    per_item = len(rubric.criteria) * len(panel.judges)
    run = store.runs.create(made, [(one, per_item) for one in chosen], now=NOW)
    lease = store.leases.claim("me:1:x", at=1e10, seconds=60, run_id=run.id)
    assert lease is not None
    call = Call((), {}, cost=cost, cached=cached, first_cost=first_cost)
    outcomes = [
        AskedOutcome((_vote(rubric, Cell(data.items[at].id, name, judge), option),), call)
        for judge, by_criterion in answers.items()
        for name, options in by_criterion.items()
        for at, option in enumerate(options)
        if option is not None and data.items[at].id in chosen
    ]
    store.votes.record(
        run.id,
        outcomes,
        owner=lease.owner,
        fence=lease.fence,
        now=NOW,
        derive=derivation_for(made, rubric, data.items),
    )
    store.leases.release(lease, "done", now=NOW)
    return run.id


def _vote(rubric: Rubric, cell: Cell, option: int) -> Vote:
    choice = rubric.criterion(cell.criterion).choices[option]
    return Vote(cell, option, choice.na, reason="So.")

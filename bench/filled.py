"""Fills a data file through the store, as a Runner would, so that pages can be timed on it."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from core import clock
from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Call, Cell, Segment, Vote, VoteFailure
from core.services.results.scored_items import derivation_for
from core.store.store import Store

LEVELS = tuple(
    Option(label=name, value=i / 3) for i, name in enumerate(("None", "Some", "Most", "All"))
)
KINDS = tuple(
    Option(label=name, value=v) for name, v in (("Right", 1.0), ("Odd", 0.5), ("Wrong", 0.0))
)
RUBRIC = Rubric(
    name="Bench rubric",
    criteria=(
        Criterion(name="Correct", requirement="The answer is correct."),
        Criterion(
            name="Complete", requirement="How complete is it?", scale="ordinal", options=LEVELS
        ),
        Criterion(name="Kind", requirement="Which kind is it?", scale="nominal", options=KINDS),
        Criterion(name="Brief", requirement="The answer is brief.", weight=5),
        Criterion(name="Rude", requirement="The answer is rude.", weight=-5),
    ),
)
JUDGES = tuple(Judge(name=name, model=f"mock-{name}") for name in ("ada", "ben"))
WORDS = ("the", "sun", "leans", "north", "because", "axis", "light", "falls", "directly", "summer")


def dataset(items: int, dice: random.Random) -> Dataset:
    """Items of about 60 words, every fifth of them labelled."""
    return Dataset(
        name="Bench dataset",
        prompt="Why are summers warm?",
        items=tuple(_item(i, dice) for i in range(items)),
    )


def _item(number: int, dice: random.Random) -> Item:
    labels = {
        c.name: Label(label=c.options[dice.randrange(len(c.options))].label)
        for c in RUBRIC.criteria
    }
    return Item(
        id=f"item-{number:05d}",
        submission=" ".join(dice.choices(WORDS, k=60)),
        system=f"model {number % 4}",
        labels=labels if number % 5 == 0 else {},
    )


def fill(path: Path, *, items: int = 10_050, seed: int = 7, runs: int = 1) -> int:
    """Grades every item on 5 criteria by 2 judges (over 100,000 votes); returns the last run's id.

    Two in a thousand of the answers are failures. ``runs`` grade the same items, each anew.
    """
    dice = random.Random(seed)
    store = Store(path)
    now = clock.now()
    version = store.datasets.create(dataset(items, dice), now=now)
    rubric = store.rubrics.create(RUBRIC, now=now)
    graded = tuple(version.head.resolved(i) for i in store.datasets.items(version.id))
    plans = [
        RunPlan(
            name="A hundred thousand votes",
            rubric_version_id=rubric.id,
            dataset_version_id=version.id,
            panel=Panel(name="Bench", judges=JUDGES),
            seed=seed + number,
        )
        for number in range(runs)
    ]
    made = [_grade(store, plan, graded, dice, now) for plan in plans]
    _keep_columns(store, version.id, made)
    store.close()
    return made[-1]


def _keep_columns(store: Store, version: int, runs: Sequence[int]) -> None:
    """What an import and a Runner do at their end, and the first plan that needs twins."""
    from core.services.datasets import item_columns, twins
    from core.services.results import run_columns

    item_columns.columns_of_version(store, version)
    for run_id in runs:
        run_columns.store_columns(store, run_id)
    began = time.process_time()
    twins.twin_numbers(store, version)
    print(f"looked for twins in {time.process_time() - began:.1f} s of CPU, once for the dataset")


def _grade(
    store: Store, plan: RunPlan, graded: Sequence[Item], dice: random.Random, now: str
) -> int:
    per_item = len(RUBRIC.criteria) * len(JUDGES)
    run = store.runs.create(plan, [(i.id, per_item) for i in graded], now=now)
    lease = store.leases.claim("bench", at=clock.seconds_now(), seconds=3600, run_id=run.id)
    assert lease is not None
    derive = derivation_for(plan, RUBRIC, graded)
    for start in range(0, len(graded), 250):
        asked = [o for i in graded[start : start + 250] for o in outcomes(i, dice)]
        store.votes.record(
            run.id, asked, owner=lease.owner, fence=lease.fence, now=now, derive=derive
        )
    store.leases.release(lease, "done", now=clock.now(), seconds=60.0)
    return run.id


def outcomes(item: Item, dice: random.Random, failing: float = 0.002) -> Iterator[AskedOutcome]:
    """What was asked about an item; a share of the answers is failures."""
    shared = Segment("system", "You judge short answers. " * 40), Segment("user", item.output)
    for criterion in RUBRIC.criteria:
        usual = dice.randrange(len(criterion.options))
        for judge in JUDGES:
            cell = Cell(item.id, criterion.name, judge.name)
            call = Call(
                (*shared, Segment("user", criterion.requirement)),
                {"temperature": 0},
                reply='{"option": 1}',
                tokens_in=400,
                tokens_out=60,
                cost=0.0004,
                seconds=0.8,
            )
            if dice.random() < failing:
                yield AskedOutcome(
                    (VoteFailure(cell, "server", "The provider had an error."),), call
                )
                continue
            option = usual if dice.random() < 0.85 else dice.randrange(len(criterion.choices))
            order = tuple(dice.sample(range(len(criterion.options)), len(criterion.options)))
            yield AskedOutcome(
                (
                    Vote(
                        cell,
                        option,
                        criterion.choices[option].na,
                        reason="The answer says so in its second sentence.",
                        evidence=(" ".join(item.output.split()[3:9]),),
                        order=(*order, len(criterion.options)),
                    ),
                ),
                call,
            )

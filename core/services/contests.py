"""Contests, in verbs: what one would take, starting it, listing them.

A contest run is a run over pairs: every two answers, in each order, are an item of a hidden
dataset, and the criteria ask which one is better. Engine, budget, failures and resume are those of
any run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.domain.base import build
from core.domain.dataset import Dataset, Item, Pair
from core.domain.panel import Panel
from core.domain.runs import RunPlan, RunRow
from core.errors import InputError
from core.identity import content_hash
from core.judging.pair_wording import PAIR_VERSION
from core.services import clock
from core.services.clock import draw_seed
from core.services.contest_designs import Bout, Design, bouts_of, swapped_first
from core.services.contest_field import Field, join
from core.services.contest_questions import Question, contest_rubric, overall
from core.services.estimating import Estimate, estimate_planned
from core.services.planning import Planned, versions
from core.services.readiness import require_ready
from core.store.content import noun_hash
from core.store.store import Store


@dataclass(frozen=True)
class ContestRequest:
    """What a person asks for. ``datasets`` are dataset versions; ``systems=()`` means all.

    ``bouts`` holds just these instead of the design's; ``after`` names the runs they go on from.
    ``join`` is the key of the items' meta to join by.
    """

    datasets: tuple[int, ...]
    panel: Panel
    systems: tuple[str, ...] = ()
    questions: tuple[Question, ...] = field(default_factory=lambda: (overall(),))
    design: Design = field(default_factory=Design)
    guidelines: str = ""
    join: str | None = None
    name: str = ""
    seed: int | None = None
    replicates: int = 1
    budget: float | None = None
    bouts: tuple[Bout, ...] | None = None
    after: tuple[int, ...] = ()


@dataclass(frozen=True)
class PlannedContest:
    """A contest before it is stored: the run's plan (without ids), its dataset, and its bouts."""

    planned: Planned
    dataset: Dataset
    joined: Field
    bouts: tuple[Bout, ...]

    @property
    def notices(self) -> tuple[str, ...]:
        """What somebody should know of the data."""
        return self.joined.notices


def plan(store: Store, request: ContestRequest) -> PlannedContest:
    """The plan for a request; nothing is stored.

    Raises:
        InputError: judges that cannot compare, systems or a baseline that are not there, items
            that cannot be joined, questions that are none.
    """
    panel = _comparing(request.panel)
    joined = join([store.datasets.load(v) for v in request.datasets], request.systems, request.join)
    seed = draw_seed() if request.seed is None else request.seed
    bouts = bouts_of(joined, request.design, seed) if request.bouts is None else request.bouts
    rubric = contest_rubric(request.questions, request.design, request.guidelines)
    name = request.name or f"{' vs '.join(joined.systems)} on {joined.name}"
    items = _items(joined, bouts, request.design, seed)
    details: dict[str, Any] = {
        "design": request.design.model_dump(exclude_defaults=True),
        "systems": list(joined.systems),
        "datasets": list(request.datasets),
    }
    extra = {
        "summaries": request.design.summaries,
        "join": request.join,
        "after": list(request.after),
    }
    details |= {key: value for key, value in extra.items() if value}
    run_plan = RunPlan(
        name=name[:200],
        rubric_version_id=0,
        dataset_version_id=0,
        panel=panel,
        seed=seed,
        replicates=request.replicates,
        budget=request.budget,
        versions={**versions(panel), "prompt": PAIR_VERSION},
        details={"contest": details},
    )
    data = {"name": f"Contests: {name}"[:200], "items": items}
    dataset = build(Dataset, data, "contest")
    return PlannedContest(Planned(run_plan, rubric, dataset.items, ()), dataset, joined, bouts)


def estimate(store: Store, request: ContestRequest) -> Estimate:
    """Calls, tokens and cost; ``items`` counts pairs of answers as shown, both orders apart."""
    return estimate_planned(store, plan(store, request).planned)


def start(store: Store, request: ContestRequest) -> int:
    """Makes the run and queues it; returns its id."""
    made = plan(store, request)
    require_ready(made.planned.plan.panel.judges)
    now = clock.now()
    with store.write():
        dataset = store.datasets.create(made.dataset, now=now, source="contest", hidden=True)
        rubric = store.rubrics.find_by_hash(noun_hash(made.planned.rubric))
        if rubric is None:
            rubric = store.rubrics.create(made.planned.rubric, now=now, hidden=True)
        stored = replace(
            made.planned.plan, rubric_version_id=rubric.id, dataset_version_id=dataset.id
        )
        return store.runs.create(stored, made.planned.cells, now=now).id


def details_of(store: Store, run_id: int) -> Mapping[str, Any]:
    """What is kept of a contest run's design. Raises ``InputError`` for any other run."""
    found = store.runs.get(run_id).plan.details.get("contest")
    if found is None:
        raise InputError(f"Run {run_id} is no contest: it graded answers one by one.")
    return dict(found)


def is_contest(store: Store, run_id: int) -> bool:
    """Whether a run compares answers in pairs."""
    return "contest" in store.runs.get(run_id).plan.details


def listing(store: Store, *, limit: int = 50) -> list[RunRow]:
    """The contest runs, newest first; people's arenas are no contests of their own."""
    rows = store.runs.list(detail="contest", limit=10 * limit)
    return [row for row in rows if row.panel.askable][:limit]


def _comparing(panel: Panel) -> Panel:
    """The panel as it compares: options in one order, because the answers are exchanged instead."""
    unable = [j.name for j in panel.judges if j.offline or not j.askable]
    if unable:
        raise InputError(
            f"{', '.join(unable[:5])} cannot compare two answers. Choose models as judges."
        )
    judges = tuple(j.model_copy(update={"shuffle": False}) for j in panel.judges)
    plain = {"few_shot": 0, "flip": "off", "balanced": False}
    asking = panel.asking.model_copy(update=plain)
    return panel.model_copy(update={"judges": judges, "asking": asking})


def _items(joined: Field, bouts: Sequence[Bout], design: Design, seed: int) -> list[Item]:
    tasks = {task.id: task for task in joined.tasks}
    place = {system: at for at, system in enumerate(joined.systems)}
    begins = [False] * len(bouts) if design.orders == "both" else swapped_first(bouts, seed)
    items = []
    for (task_id, first, second), swapped in zip(bouts, begins, strict=True):
        task = tasks[task_id]
        orders = (False, True) if design.orders == "both" else (swapped,)
        for turn in orders:
            shown = (second, first) if turn else (first, second)
            a, b = (task.answers[name].submission for name in shown)
            items.append(
                Item(
                    id=f"{task_id} · {place[shown[0]]}-{place[shown[1]]}",
                    prompt=task.prompt,
                    context=dict(task.context),
                    reference=task.reference,
                    submission=Pair(first=a, second=b),
                    meta={
                        "task": task_id,
                        "first": shown[0],
                        "second": shown[1],
                        "swapped": turn,
                        "leads": turn == orders[0],
                        "sources": [task.answers[name].id for name in shown],
                    },
                )
            )
    return items


def request_hash(request: ContestRequest) -> str:
    """What tells two requests apart, for pages that remember an estimate."""
    return content_hash(
        [
            request.datasets,
            noun_hash(request.panel),
            request.systems,
            request.questions,
            request.design.model_dump(),
            request.replicates,
        ]
    )

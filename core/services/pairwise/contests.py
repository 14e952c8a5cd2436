"""Contests, in verbs: what can be compared, what it would take, starting, listing.

A contest run is a run over pairs: every two answers, in each order, are an item of a hidden
dataset, and the criteria ask which one is better. Engine, budget, failures and resume are those
of any run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from core import clock
from core.clock import draw_seed
from core.domain.base import build
from core.domain.dataset import Dataset, Item, Pair
from core.domain.panel import Panel
from core.domain.runs import RunPlan, RunRow
from core.errors import InputError
from core.identity import content_hash
from core.judging.prompts.pair_wording import PAIR_VERSION
from core.metrics.estimate import USUAL
from core.services.access.allowing import allowed
from core.services.access.spending import within_limits
from core.services.agreement.load_ratings import of_run
from core.services.judges.readiness import require_ready
from core.services.pairwise.design import (
    Bout,
    ContestQuestion,
    Design,
    bouts_of,
    contest_rubric,
    overall,
    swapped_first,
)
from core.services.pairwise.pointwise_ranks import EXCLUDED, Listwise, ballots_of, listwise
from core.services.pairwise.system_answers import ContestField, join
from core.services.pairwise.unmatched_tasks import unmatched_report
from core.services.results import browsing
from core.services.runs.cost_estimate import CostEstimate, estimate_planned
from core.services.runs.planning import Planned, versions
from core.store.database.content import noun_hash
from core.store.runs.kept import MANY
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
    questions: tuple[ContestQuestion, ...] = field(default_factory=lambda: (overall(),))
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
    joined: ContestField
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


def estimate_contest(store: Store, request: ContestRequest) -> CostEstimate:
    """Calls, tokens and cost; ``items`` counts pairs of answers as shown, both orders apart."""
    return estimate_planned(store, plan(store, request).planned)


@allowed("write")
def start(store: Store, request: ContestRequest) -> int:
    """Makes the run and queues it; returns its id."""
    made = plan(store, request)
    judges = made.planned.plan.panel.judges
    require_ready(judges)
    expected = estimate_planned(store, made.planned).cost
    now = clock.now()
    with store.write():
        budget = within_limits(store, judges, made.planned.plan.budget, expected)
        dataset = store.datasets.create(made.dataset, now=now, source="contest", hidden=True)
        rubric = store.rubrics.kept(made.planned.rubric, now=now)
        stored = replace(
            made.planned.plan,
            rubric_version_id=rubric.id,
            dataset_version_id=dataset.id,
            budget=budget,
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
    imported = {row.id for row in store.runs.list(detail="imported", limit=10_000)}
    return [row for row in rows if row.panel.askable or row.id in imported][:limit]


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


def _items(joined: ContestField, bouts: Sequence[Bout], design: Design, seed: int) -> list[Item]:
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


#: Runs that are looked at; what is older is found by its number in the address.
LOOKED_AT = 200


class Comparable(NamedTuple):
    """Runs, newest first. ``scored`` graded two systems or more; raters of ``imported`` answered
    more than once, elsewhere.

    ``rounds`` maps a contest run to the run that begins it.
    """

    contests: tuple[RunRow, ...]
    scored: tuple[RunRow, ...]
    imported: tuple[RunRow, ...]
    rounds: dict[int, int]


def comparable(store: Store) -> Comparable:
    """What there is to compare systems by."""
    held = tuple(listing(store, limit=LOOKED_AT))
    scored, imported = [], []
    pairs = {row.id for row in store.runs.list(detail="contest", limit=10_000)}
    for row in store.runs.list(limit=LOOKED_AT):
        if row.id in pairs or not row.votes:
            continue
        if len(systems_of(store, row)) > 1:
            scored.append(row)
        elif not row.panel.askable and _asked_twice(store, row):
            imported.append(row)
    rounds = {}
    for row in held:
        after = details_of(store, row.id).get("after", [])
        if after:
            rounds[row.id] = after[0]
    return Comparable(held, tuple(scored), tuple(imported), rounds)


def _asked_twice(store: Store, row: RunRow) -> bool:
    """Whether raters of an import answered more than once: as replicates, or as `NAME|ORDER`."""
    named = Counter(j.name.rpartition("|")[0] for j in row.panel.judges if "|" in j.name)
    return 2 in named.values() or store.runs.get(row.id).plan.replicates == 2


def scored_runs(store: Store, run_id: int) -> list[RunRow]:
    """Runs that graded the answers of a contest one by one: those over its dataset's version.

    None where the contest joined several datasets, whose items share their ids.
    """
    datasets = details_of(store, run_id)["datasets"]
    if len(datasets) != 1:
        return []
    pairs = {row.id for row in store.runs.list(detail="contest", limit=10_000)}
    return [
        row
        for row in store.runs.list(limit=1_000)
        if row.dataset_version_id == datasets[0] and row.id not in pairs and row.votes
    ]


class RankingOutlook(NamedTuple):
    """What a request comes to. ``contests`` counts pairs of answers, in whatever orders."""

    contests: int
    tasks: int
    estimate: CostEstimate
    notices: tuple[str, ...]


def outlook(store: Store, request: ContestRequest) -> RankingOutlook:
    """What a request would take; nothing is stored.

    Raises:
        InputError: what cannot be held.
    """
    made = plan(store, request)
    tasks = len({bout.task for bout in made.bouts})
    return RankingOutlook(
        len(made.bouts), tasks, estimate_planned(store, made.planned), made.joined.notices
    )


def field_of(store: Store, versions: Sequence[int], by: str | None) -> tuple[tuple[str, ...], int]:
    """The systems of some dataset versions, and how many tasks two of them or more answered."""
    field = join([store.datasets.load(version) for version in versions], by=by)
    return field.systems, len(field.tasks)


def meta_names(store: Store, version_id: int) -> list[str]:
    """The keys that the items' meta has, to join by; the first thousand items are looked at."""
    found: dict[str, None] = {}
    for item in islice(store.datasets.items(version_id), 1_000):
        found.update(dict.fromkeys(n for n, v in item.meta.items() if isinstance(v, str | int)))
    return list(found)


def systems_of(store: Store, run: RunRow) -> list[str]:
    """The systems that the items of a run name."""
    # Of few items they are counted sooner than columns are made.
    if run.items >= MANY:
        return browsing.groups(store, run.id).systems
    return store.results.systems(run.id)


def scores_ranked(
    store: Store, run_id: int, by: str | None = None, level: float = USUAL.level
) -> Listwise | dict[str, Any]:
    """Systems ranked by the scores of a run's judges, their own answers and their kin's left out.

    ``by`` is a key of the items' meta that joins them to tasks; ``None``: their prompts do. Where
    they do not, the report of systems by mean scores alone, as ``rank`` gives it.

    Raises:
        InputError: fewer than two systems; or items without ``by``.
    """
    run = store.runs.get(run_id)
    models = {judge.name: judge.model or judge.name for judge in run.panel.judges}
    rated = of_run(store, run_id)
    try:
        return listwise(ballots_of(rated, by=by, models=models))
    except InputError as error:
        if by is not None:
            raise
        return unmatched_report(rated, error.message, EXCLUDED, models, level=level)


def orders_parts(store: Store, run_id: int) -> list[str]:
    """The keys of the items' meta that part them into few groups (2 to 12), to read figures by."""
    run = store.runs.get(run_id)
    values: dict[str, set[str]] = {}
    for item in store.datasets.items(run.dataset_version_id):
        for name, value in item.meta.items():
            if isinstance(value, str | int | bool):
                values.setdefault(name, set()).add(str(value))
    return [name for name, found in values.items() if 2 <= len(found) <= 12]

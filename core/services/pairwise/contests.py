"""Plan, estimate, start and list contests.

A contest run is a run over pairs. Every pair of answers, in either order, is an item of a hidden
dataset, and the criteria ask which answer is better. The engine, budget, failures and resuming are
those of any run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

from core import clock
from core.clock import draw_seed
from core.domain.base import build_model
from core.domain.dataset import Dataset, Item, Pair
from core.domain.panel import Panel
from core.domain.runs import RunPlan, RunRow
from core.errors import InputError
from core.identity import content_hash
from core.judging.prompts.pair_wording import PAIR_VERSION
from core.metrics.estimate import USUAL
from core.services.access.allowing import allowed
from core.services.access.spending import within_limits
from core.services.agreement.load_ratings import run_ratings
from core.services.judges.readiness import require_ready
from core.services.pairwise.design import (
    Bout,
    ContestQuestion,
    Design,
    bouts_of,
    bouts_swapped_first,
    contest_rubric,
    overall_question,
)
from core.services.pairwise.pointwise_ranks import EXCLUDED, Listwise, ballots_of, compare_methods
from core.services.pairwise.system_answers import ContestField, join_datasets
from core.services.pairwise.unmatched_tasks import unmatched_report
from core.services.results import browsing
from core.services.runs.cost_estimate import CostEstimate, estimate_planned
from core.services.runs.planning import Planned, program_versions
from core.store.database.content import noun_hash
from core.store.runs.kept import MANY
from core.store.store import Store


@dataclass(frozen=True)
class ContestRequest:
    """The settings of a new contest. ``datasets`` are dataset versions; ``systems=()`` means all.

    ``bouts`` replaces the bouts of the design; ``after`` names the earlier rounds. ``join`` is the
    key of the items' meta by which tasks are joined.
    """

    datasets: tuple[int, ...]
    panel: Panel
    systems: tuple[str, ...] = ()
    questions: tuple[ContestQuestion, ...] = field(default_factory=lambda: (overall_question(),))
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
        """Return remarks on the data."""
        return self.joined.notices


def plan_contest(store: Store, request: ContestRequest) -> PlannedContest:
    """Return the plan for a request, without storing anything.

    Raises:
        InputError: the judges cannot compare, a system or the baseline is unknown, the items
            cannot be joined, or a question is invalid.
    """
    panel = _panel_for_comparing(request.panel)
    joined = join_datasets(
        [store.datasets.load(v) for v in request.datasets], request.systems, request.join
    )
    seed = draw_seed() if request.seed is None else request.seed
    bouts = bouts_of(joined, request.design, seed) if request.bouts is None else request.bouts
    rubric = contest_rubric(request.questions, request.design, request.guidelines)
    name = request.name or f"{' vs '.join(joined.systems)} on {joined.name}"
    items = _contest_items(joined, bouts, request.design, seed)
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
        versions={**program_versions(panel), "prompt": PAIR_VERSION},
        details={"contest": details},
    )
    data = {"name": f"Contests: {name}"[:200], "items": items}
    dataset = build_model(Dataset, data, "contest")
    return PlannedContest(Planned(run_plan, rubric, dataset.items, ()), dataset, joined, bouts)


def estimate_contest(store: Store, request: ContestRequest) -> CostEstimate:
    """Return calls, tokens and cost; ``items`` counts each order of a pair."""
    return estimate_planned(store, plan_contest(store, request).planned)


@allowed("write")
def start(store: Store, request: ContestRequest) -> int:
    """Create the run and queue it; return its id."""
    contest = plan_contest(store, request)
    judges = contest.planned.plan.panel.judges
    require_ready(judges)
    expected = estimate_planned(store, contest.planned).cost
    now = clock.now()
    with store.write():
        budget = within_limits(store, judges, contest.planned.plan.budget, expected)
        dataset = store.datasets.create(contest.dataset, now=now, source="contest", hidden=True)
        rubric = store.rubrics.version_with_content(contest.planned.rubric, now=now)
        stored = replace(
            contest.planned.plan,
            rubric_version_id=rubric.id,
            dataset_version_id=dataset.id,
            budget=budget,
        )
        return store.runs.create(stored, contest.planned.cells, now=now).id


def details_of(store: Store, run_id: int) -> Mapping[str, Any]:
    """Return the stored design of a contest run. Raises ``InputError`` for any other run."""
    details = store.runs.get(run_id).plan.details.get("contest")
    if details is None:
        raise InputError(f"Run {run_id} is not a contest: it graded answers one by one.")
    return dict(details)


def is_contest(store: Store, run_id: int) -> bool:
    """Return whether a run compares answers in pairs."""
    return "contest" in store.runs.get(run_id).plan.details


def contest_runs(store: Store, *, limit: int = 50) -> list[RunRow]:
    """Return the contest runs, newest first, without people's arenas."""
    rows = store.runs.list(detail="contest", limit=10 * limit)
    imported = {row.id for row in store.runs.list(detail="imported", limit=10_000)}
    return [row for row in rows if row.panel.askable or row.id in imported][:limit]


def _panel_for_comparing(panel: Panel) -> Panel:
    """Return the panel for comparing. Its options keep one order, since answers are swapped
    instead.
    """
    unable = [j.name for j in panel.judges if j.offline or not j.askable]
    if unable:
        raise InputError(
            f"{', '.join(unable[:5])} cannot compare two answers. Choose models as judges."
        )
    judges = tuple(j.model_copy(update={"shuffle": False}) for j in panel.judges)
    plain = {"few_shot": 0, "flip": "off", "balanced": False}
    asking = panel.asking.model_copy(update=plain)
    return panel.model_copy(update={"judges": judges, "asking": asking})


def _contest_items(
    joined: ContestField, bouts: Sequence[Bout], design: Design, seed: int
) -> list[Item]:
    place = {system: index for index, system in enumerate(joined.systems)}
    begins = [False] * len(bouts) if design.orders == "both" else bouts_swapped_first(bouts, seed)
    items = []
    for (task_id, first, second), swapped in zip(bouts, begins, strict=True):
        answers = joined.tasks[task_id]
        task = next(iter(answers.values()))
        orders = (False, True) if design.orders == "both" else (swapped,)
        for turn in orders:
            shown = (second, first) if turn else (first, second)
            a, b = (answers[name].submission for name in shown)
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
                        "sources": [answers[name].id for name in shown],
                    },
                )
            )
    return items


def request_hash(request: ContestRequest) -> str:
    """Return a hash of a request, so that pages can remember its estimate."""
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


#: The number of runs that are listed; older runs are found by their number in the address.
LOOKED_AT = 200


def other_comparable_runs(store: Store) -> tuple[list[RunRow], list[RunRow]]:
    """Return the runs besides contests that compare systems, newest first.

    The first graded two systems or more; raters of the second answered more than once, elsewhere.
    """
    scored, imported = [], []
    pairs = {row.id for row in store.runs.list(detail="contest", limit=10_000)}
    for row in store.runs.list(limit=LOOKED_AT):
        if row.id in pairs or not row.votes:
            continue
        if len(systems_of(store, row)) > 1:
            scored.append(row)
        elif not row.panel.askable and _raters_answered_twice(store, row):
            imported.append(row)
    return scored, imported


def first_round(store: Store, run_id: int) -> int | None:
    """Return the first round of the contest that a contest run continues, or ``None``."""
    after = details_of(store, run_id).get("after", [])
    return after[0] if after else None


def _raters_answered_twice(store: Store, row: RunRow) -> bool:
    """Return whether an import's raters answered twice: as replicates, or as `NAME|ORDER`."""
    named = Counter(j.name.rpartition("|")[0] for j in row.panel.judges if "|" in j.name)
    return 2 in named.values() or store.runs.get(row.id).plan.replicates == 2


def scored_runs(store: Store, run_id: int) -> list[RunRow]:
    """Return the runs that graded a contest's answers one by one: the runs on its dataset version.

    It is empty if the contest joined several datasets, whose items share their ids.
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
    """What a request would contain. ``contests`` counts pairs of answers, in any order."""

    contests: int
    tasks: int
    estimate: CostEstimate
    notices: tuple[str, ...]


def request_preview(store: Store, request: ContestRequest) -> RankingOutlook:
    """Return what a request would contain and cost, without storing anything.

    Raises:
        InputError: the request is invalid.
    """
    contest = plan_contest(store, request)
    tasks = len({bout.task for bout in contest.bouts})
    return RankingOutlook(
        len(contest.bouts), tasks, estimate_planned(store, contest.planned), contest.joined.notices
    )


def systems_and_tasks_of(
    store: Store, versions: Sequence[int], note_key: str | None
) -> tuple[tuple[str, ...], int]:
    """Return the systems of dataset versions, and the number of tasks with two answers or more."""
    field = join_datasets([store.datasets.load(version) for version in versions], note_key=note_key)
    return field.systems, len(field.tasks)


def meta_names(store: Store, version_id: int) -> list[str]:
    """Return the keys of the items' meta that could join tasks, from the first thousand items."""
    names: dict[str, None] = {}
    for item in islice(store.datasets.items(version_id), 1_000):
        names.update(dict.fromkeys(n for n, v in item.meta.items() if isinstance(v, str | int)))
    return list(names)


def systems_of(store: Store, run: RunRow) -> list[str]:
    """Return the systems named by a run's items."""
    # For a few items, counting is faster than building columns.
    if run.items >= MANY:
        return browsing.item_groups(store, run.id)[0]
    return store.results.systems(run.id)


def scores_ranked(
    store: Store, run_id: int, note_key: str | None = None, level: float = USUAL.level
) -> Listwise | dict[str, Any]:
    """Rank systems by the scores of a run's judges, without scores of their own answers and their
    family's.

    ``note_key`` is a key of the items' meta that joins them to tasks; ``None``: their prompts do.
    If the prompts do not match, the result is the report of systems by mean scores alone, as in
    ``rank``.

    Raises:
        InputError: fewer than two systems, or items without ``note_key``.
    """
    run = store.runs.get(run_id)
    models = {judge.name: judge.model or judge.name for judge in run.panel.judges}
    rated = run_ratings(store, run_id)
    try:
        return compare_methods(ballots_of(rated, note_key=note_key, models=models))
    except InputError as error:
        if note_key is not None:
            raise
        return unmatched_report(rated, error.message, EXCLUDED, models, level=level)


def orders_parts(store: Store, run_id: int) -> list[str]:
    """Return the keys of the items' meta with 2 to 12 values, to group figures by."""
    run = store.runs.get(run_id)
    values: dict[str, set[str]] = {}
    for item in store.datasets.items(run.dataset_version_id):
        for name, value in item.meta.items():
            if isinstance(value, str | int | bool):
                values.setdefault(name, set()).add(str(value))
    return [name for name, distinct in values.items() if 2 <= len(distinct) <= 12]

"""Asking about the rows of a workbench: exactly the cells that need it, as hidden runs.

Each criterion is a question of its own, so that an edit of one touches no other. The runs are
worked off by the Runner like any; nothing waits here, and a reload finds them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from core import clock
from core.domain.base import build
from core.domain.dataset import Dataset, Item
from core.domain.panel import Asking, Judge, Panel
from core.domain.runs import RunPlan
from core.errors import InputError
from core.services.access.allowing import allowed
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import estimate_planned
from core.services.runs.planning import Planned, RunRequest
from core.services.spot.spot_check import HELP
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import Bench
from core.services.workbench.bench_state import WorkbenchState, standing
from core.services.workbench.known_answers import WORKBENCH, judge_hash
from core.store.store import Store

#: ``open``: what has no answer to the present question; ``failed``: what went wrong; ``all``.
Which = Literal["open", "failed", "all"]
#: Runs further back than this are not looked into any more.
MOST_RUNS = 60


class Want(NamedTuple):
    """What to ask: which cells, perhaps of one row, perhaps about one criterion."""

    which: Which = "open"
    row: str | None = None
    criterion: str | None = None


class Batch(NamedTuple):
    """Rows that the same judges are asked about the same criteria: one run."""

    rows: tuple[str, ...]
    criteria: tuple[str, ...]
    judges: tuple[Judge, ...]
    offline: bool


@dataclass(frozen=True)
class AskingCost:
    """What asking takes. ``cells`` are pairs of row and criterion, ``answers`` what judges give.

    Tokens are estimated. ``cost`` is in US dollars, ``None`` where a price is unknown; answers that
    are known already cost nothing, so it is at most that.
    """

    cells: int
    answers: int
    calls: int
    tokens: int
    cost: float | None
    seconds: float | None


def outlook(store: Store, now: WorkbenchState, want: Want) -> AskingCost:
    """What asking these cells takes; nothing is stored."""
    batches = list(_batches(now, want))
    found = [estimate_planned(store, _planned(now, batch)) for batch in batches]
    costs, times = [e.cost for e in found], [e.seconds for e in found]
    return AskingCost(
        cells=len({(row, name) for b in batches for row in b.rows for name in b.criteria}),
        answers=sum(e.votes for e in found),
        calls=sum(e.calls for e in found),
        tokens=sum(e.tokens_in + e.tokens_out for e in found),
        cost=None if None in costs else sum(c for c in costs if c is not None),
        seconds=None if None in times else max((t for t in times if t is not None), default=0.0),
    )


@allowed("write")
def ask(store: Store, name: str, draft: RubricDraft, want: Want) -> tuple[int, ...]:
    """Starts asking; returns the ids of the runs, none where nothing is left to ask.

    What is being asked is not asked twice. Cells that are fresh are asked anew (for ``all``, or a
    row of which nothing is open) with another order of options.

    Raises:
        InputError: nobody is chosen, there is no text, or offline judges have nothing to learn
            from.
    """
    with store.write():
        bench = bench_rows.opened(store, name)
        now = standing(store, bench, draft)
        _refuse(now)
        batches = list(_batches(now, want))
        anew = want.which == "all" or (want.row is not None and not _any_open(now, want))
        seed = clock.draw_seed() if anew or not bench["seed"] else bench["seed"]
        started = tuple(_start(store, name, now, batch, seed) for batch in batches)
        if started:
            bench_rows.change(store, name, lambda b: _grown(b, started, seed))
    return started


@allowed("write")
def cancel(store: Store, name: str) -> int:
    """Stops asking; what was answered stays. Returns how many runs were stopped."""
    active = [i for i in bench_rows.opened(store, name)["runs"] if store.runs.row(i).active]
    for run_id in active:
        lifecycle.cancel(store, run_id)
    return len(active)


def needs(store: Store, now: WorkbenchState) -> list[str]:
    """What keeps the chosen judges from being asked, in sentences; empty where nothing does."""
    if not now.judges:
        return ["No judge is chosen. Choose a model, or an offline judge."]
    found = list[str]()
    learners = [judge.name for judge in now.judges if judge.learns]
    if learners and now.bench["learn_from"] is None:
        found.append(
            f"{', '.join(learners)}: offline judges learn from labelled items. Choose the dataset "
            "they learn from."
        )
    return found


def _refuse(now: WorkbenchState) -> None:
    if not now.judges:
        raise InputError("No judge is chosen. Choose a model, or an offline judge.")
    if not now.subject.criteria:
        raise InputError("No criterion can be asked yet. Fix what the check says first.")
    if not now.cells:
        raise InputError("No row has a text to judge. Write, paste or take one from a dataset.")
    if any(judge.learns for judge in now.judges) and now.bench["learn_from"] is None:
        raise InputError(
            "Offline judges learn from labelled items. Choose the dataset they learn from, or ask "
            "a model."
        )


def _any_open(now: WorkbenchState, want: Want) -> bool:
    return any(True for _ in _wanted(now, want._replace(which="open")))


def _wanted(now: WorkbenchState, want: Want) -> Iterator[tuple[str, str, str]]:
    """Row, criterion and judge of every cell to be asked."""
    for row, cells in now.cells.items():
        for name, cell in cells.items():
            if (want.row not in (None, row)) or (want.criterion not in (None, name)):
                continue
            for one in cell.judges:
                states = {
                    "open": ("failed", "stale", "never", "half"),
                    "failed": ("failed",),
                    "all": ("failed", "stale", "never", "half", "fresh"),
                }[want.which]
                lost_twin = want.which == "failed" and one.state == "half" and one.failure
                if one.state in states or lost_twin:
                    yield row, name, one.judge


def _batches(now: WorkbenchState, want: Want) -> Iterator[Batch]:
    """The fewest runs that ask these cells and no others."""
    if want.row is not None and want.which == "open" and not _any_open(now, want):
        # Nothing is open in this row: it is asked anew.
        want = want._replace(which="all")
    by_row: dict[str, dict[str, set[str]]] = {}
    for row, name, judge in _wanted(now, want):
        by_row.setdefault(row, {}).setdefault(judge, set()).add(name)
    grouped: dict[tuple[bool, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    kinds = {judge.name: judge.offline for judge in now.judges}
    for row, asked in by_row.items():
        alike: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
        for judge, names in asked.items():
            ordered = tuple(n for n in now.subject.criteria if n in names)
            alike.setdefault((kinds[judge], ordered), []).append(judge)
        for (offline, names_in_order), judges in alike.items():
            grouped.setdefault((offline, names_in_order, tuple(judges)), []).append(row)
    known = {judge.name: judge for judge in now.judges}
    for (offline, criteria, chosen), rows in grouped.items():
        yield Batch(tuple(rows), criteria, tuple(known[n] for n in chosen), offline)


def _panel(now: WorkbenchState, batch: Batch) -> Panel:
    shown = not batch.offline and any(
        item.truth(now.subject.criteria[name]) is not None
        for item in now.hashes.examples
        for name in batch.criteria
    )
    asking = Asking(
        few_shot=now.hashes.few_shot if shown else 0,
        flip="check" if now.bench["flip"] and not batch.offline else "off",
    )
    seats = [judge.model_copy(update={"stage": 0, "shadow": False}) for judge in batch.judges]
    return build(Panel, {"name": "Workbench", "judges": seats, "asking": asking}, "panel")


def _planned(now: WorkbenchState, batch: Batch) -> Planned:
    """The plan as it would be, made of what is here; its ids mean nothing."""
    panel = _panel(now, batch)
    plan = RunPlan(name="", rubric_version_id=0, dataset_version_id=0, panel=panel, kind="spot")
    chosen = set(batch.rows)
    items = tuple(item for item in now.hashes.tests if item.id in chosen)
    shown = now.hashes.examples if panel.asking.few_shot else ()
    return Planned(plan, now.subject.rubric(batch.criteria, "Workbench"), items, shown)


def _start(store: Store, name: str, now: WorkbenchState, batch: Batch, seed: int) -> int:
    rubric = now.subject.rubric(batch.criteria, f"Workbench of {name}")
    version = store.rubrics.kept(rubric, now=clock.now())
    chosen = set(batch.rows)
    panel = _panel(now, batch)
    tests = [item for item in now.hashes.tests if item.id in chosen]
    learn_from = now.bench["learn_from"] if batch.offline else None
    if panel.asking.few_shot:
        learn_from = _kept(store, "examples", now.hashes.examples)
    hashes = now.offline if batch.offline else now.questions
    details = {
        WORKBENCH: name,
        "asked": {row: {c: hashes[row, c] for c in batch.criteria} for row in batch.rows},
        "judges": {j.name: judge_hash(j, now.bench["learn_from"]) for j in batch.judges},
    }
    request = RunRequest(
        rubric_version=version.id,
        dataset_version=_kept(store, "rows", tests),
        panel=panel,
        name=f"Workbench: {name}",
        seed=seed,
        label_share=1.0,
        items=batch.rows,
        learn_from=learn_from,
        kind="spot",
        details={HELP: details},
    )
    return lifecycle.start(store, request)


def _kept(store: Store, what: str, items: Iterable[Item]) -> int:
    """The version of a hidden dataset of these items; the same one is there once."""
    dataset = Dataset(name=f"Workbench {what}", items=tuple(items))
    return store.datasets.create(dataset, now=clock.now(), source="workbench", hidden=True).id


def _grown(bench: Bench, started: Sequence[int], seed: int) -> Bench:
    runs = [*bench["runs"], *started][-MOST_RUNS:]
    return {**bench, "seed": seed, "runs": runs, "last": list(started)}

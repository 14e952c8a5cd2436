"""Ask judges about the workbench cells that need it, in hidden runs.

Each criterion is a separate question, so that editing one affects no other. The Runner processes
these runs like any others; nothing waits here, and a reload finds them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.panel import Asking, Judge
from core.errors import InputError
from core.services.access.allowing import allowed
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import CostEstimate
from core.services.spot import trials
from core.services.spot.trials import HELP, Trial
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import Bench
from core.services.workbench.bench_state import WorkbenchState, workbench_state
from core.services.workbench.known_answers import WORKBENCH, judge_hash
from core.store.store import Store

#: The cells to ask. ``open``: cells that lack an answer to the current question in any of the
#: orders to ask; ``failed``: cells whose call failed; ``all``: every cell.
Which = Literal["open", "failed", "all"]
#: The number of newest runs that are searched.
MOST_RUNS = 60
_SOURCE = "workbench"


class CellsToAsk(NamedTuple):
    """The cells to ask about; optionally only of one row or one criterion."""

    which: Which = "open"
    row: str | None = None
    criterion: str | None = None


def cost_estimate(
    store: Store, bench: WorkbenchState, want: CellsToAsk
) -> tuple[int, CostEstimate]:
    """Return how many pairs of row and criterion would be asked about, and the cost; nothing is
    stored. Cached answers cost nothing, so this is an upper bound.
    """
    fewest = list(_fewest_trials("", bench, want))
    estimates = [trials.estimate_trial(store, trial, bench.hashes.examples) for trial in fewest]
    asked = [trial.details[HELP]["asked"] for trial in fewest]
    cells = {(row, name) for rows in asked for row, questions in rows.items() for name in questions}
    return len(cells), CostEstimate(
        items=len({row for row, _ in cells}),
        calibration=0,
        votes=sum(estimate.votes for estimate in estimates),
        judges=tuple(judge for estimate in estimates for judge in estimate.judges),
    )


@allowed("write")
def ask(store: Store, name: str, draft: RubricDraft, want: CellsToAsk) -> tuple[int, ...]:
    """Start asking; return the ids of the runs; empty if nothing is left to ask.

    Running questions are not asked twice. Fresh cells are asked again with another order of options
    (for ``all``, or a row without open cells).

    Raises:
        InputError: no judge is chosen, there is no text, or offline judges have nothing to learn
            from.
    """
    with store.write():
        bench = bench_rows.saved_workbench(store, name)
        now = workbench_state(store, bench, draft)
        _refuse_request(now)
        fewest = list(_fewest_trials(name, now, want))
        anew = want.which == "all" or (want.row is not None and not _has_open_cell(now, want))
        seed = clock.draw_seed() if anew or not bench["seed"] else bench["seed"]
        started = tuple(_start_run(store, now, replace(trial, seed=seed)) for trial in fewest)
        if started:
            bench_rows.change(store, name, lambda b: _with_runs_started(b, started, seed))
    return started


@allowed("write")
def cancel(store: Store, name: str) -> int:
    """Stop asking; answers stay. Return how many runs were stopped."""
    active = [
        i for i in bench_rows.saved_workbench(store, name)["runs"] if store.runs.row(i).active
    ]
    for run_id in active:
        lifecycle.cancel(store, run_id)
    return len(active)


def obstacle_to_asking(state: WorkbenchState) -> str:
    """Return why the chosen judges cannot be asked; empty if they can."""
    if not state.judges:
        return "No judge is chosen. Choose a model, or an offline judge."
    learners = ", ".join(judge.name for judge in state.judges if judge.learns)
    if learners and state.bench["learn_from"] is None:
        return (
            f"{learners}: offline judges learn from labelled items. Choose the dataset they learn "
            "from, or ask a model."
        )
    return ""


def _refuse_request(state: WorkbenchState) -> None:
    reason = obstacle_to_asking(state)
    if not state.subject.criteria:
        reason = reason or "No criterion can be asked yet. Fix what the check says first."
    if not state.cells:
        reason = reason or "No row has a text to judge. Write, paste or take one from a dataset."
    if reason:
        raise InputError(reason)


def _has_open_cell(state: WorkbenchState, want: CellsToAsk) -> bool:
    return any(True for _ in _cells_to_ask(state, want._replace(which="open")))


def _cells_to_ask(state: WorkbenchState, want: CellsToAsk) -> Iterator[tuple[str, str, str]]:
    """Yield the row, criterion and judge of every cell to ask about."""
    for row, cells in state.cells.items():
        for name, cell in cells.items():
            if (want.row not in (None, row)) or (want.criterion not in (None, name)):
                continue
            for judged in cell.judges:
                states = {
                    "open": ("failed", "stale", "never", "half"),
                    "failed": ("failed",),
                    "all": ("failed", "stale", "never", "half", "fresh"),
                }[want.which]
                lost_twin = want.which == "failed" and judged.state == "half" and judged.failure
                if judged.state in states or lost_twin:
                    yield row, name, judged.judge


def _fewest_trials(name: str, state: WorkbenchState, want: CellsToAsk) -> Iterator[Trial]:
    """Yield the fewest runs that ask about exactly these cells."""
    if want.row is not None and want.which == "open" and not _has_open_cell(state, want):
        # This row has no open cells, so all of its cells are asked again.
        want = want._replace(which="all")
    by_row: dict[str, dict[str, set[str]]] = {}
    for row, criterion, judge in _cells_to_ask(state, want):
        by_row.setdefault(row, {}).setdefault(judge, set()).add(criterion)
    grouped: dict[tuple[bool, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    kinds = {judge.name: judge.offline for judge in state.judges}
    for row, cells in by_row.items():
        orders_by_cells: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
        for judge, names in cells.items():
            ordered = tuple(n for n in state.subject.criteria if n in names)
            orders_by_cells.setdefault((kinds[judge], ordered), []).append(judge)
        for (offline, names_in_order), judges in orders_by_cells.items():
            grouped.setdefault((offline, names_in_order, tuple(judges)), []).append(row)
    by_name = {judge.name: judge for judge in state.judges}
    for (_, criteria, chosen), rows in grouped.items():
        yield _trial_of(name, state, rows, criteria, tuple(by_name[n] for n in chosen))


def _trial_of(
    name: str,
    state: WorkbenchState,
    rows: Sequence[str],
    criteria: Sequence[str],
    judges: tuple[Judge, ...],
) -> Trial:
    """Return the run in which these judges, all offline or none, are asked about these rows."""
    offline = all(judge.offline for judge in judges)
    shown = not offline and any(
        item.truth(state.subject.criteria[criterion]) is not None
        for item in state.hashes.examples
        for criterion in criteria
    )
    asking = Asking(
        few_shot=state.hashes.few_shot if shown else 0,
        flip="check" if state.bench["flip"] and not offline else "off",
    )
    chosen = set(rows)
    hashes = state.offline if offline else state.questions
    return Trial(
        name=f"Workbench: {name}",
        rubric=state.subject.rubric(criteria, f"Workbench of {name}"),
        panel=trials.panel_of("Workbench", judges, asking),
        texts=_dataset_of_rows("rows", [item for item in state.hashes.tests if item.id in chosen]),
        source=_SOURCE,
        learn_from=state.bench["learn_from"] if offline else None,
        details={
            HELP: {
                WORKBENCH: name,
                "asked": {row: {c: hashes[row, c] for c in criteria} for row in rows},
                "judges": {j.name: judge_hash(j, state.bench["learn_from"]) for j in judges},
            }
        },
    )


def _start_run(store: Store, state: WorkbenchState, trial: Trial) -> int:
    if trial.panel.asking.few_shot:
        shown = trials.hidden_dataset(
            store, _dataset_of_rows("examples", state.hashes.examples), _SOURCE
        )
        trial = replace(trial, learn_from=shown)
    return trials.begin(store, trial)


def _dataset_of_rows(name: str, items: Iterable[Item]) -> Dataset:
    return Dataset(name=f"Workbench {name}", items=tuple(items))


def _with_runs_started(bench: Bench, started: Sequence[int], seed: int) -> Bench:
    runs = [*bench["runs"], *started][-MOST_RUNS:]
    return {**bench, "seed": seed, "runs": runs, "last": list(started)}

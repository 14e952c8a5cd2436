"""Whether the data file is sound: its bytes, its versions, and all that is derived from votes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from core import clock
from core.domain.runs import CellResult, ItemResult, Run
from core.errors import Damaged, InputError, StoreError
from core.identity import canonical_json
from core.services.runs.monitoring import LAST_BACKUP
from core.services.runs.ready_run import load_job
from core.store.database.content import to_json
from core.store.database.data_file import Backup
from core.store.store import Store

#: So many items of a run are derived and compared at a time.
BATCH = 500


def backup(store: Store, target: Path, *, force: bool = False) -> Backup:
    """A whole, consistent copy of the data file in ``target``, while others go on writing.

    Raises:
        InputError: there is a file already (without ``force``), or it is the data file itself.
    """
    target = target.expanduser().absolute()
    if target.exists() and target.samefile(store.path):
        raise InputError("is the data file itself. Name another.", (), str(target))
    if target.is_dir():
        raise InputError("is a folder. Name a file in it.", (), str(target))
    if target.exists() and not force:
        raise InputError("is there already. Name another, or use --force.", (), str(target))
    made = store.backup(target)
    # Whoever watches the server is told; a file that cannot be written now is copied all the same.
    with suppress(StoreError):
        store.settings.put(LAST_BACKUP, clock.now())
    return made


def verify(open_store: Callable[[], Store]) -> dict[str, Any]:
    """``verify --json`` of the contract. Nothing is mended."""
    try:
        problems = _problems(open_store())
    except Damaged as error:
        # Too much of it to say where.
        problems = [{"what": str(error), "where": "the file"}]
    return {"ok": not problems, "problems": problems}


def _problems(store: Store) -> list[dict[str, str]]:
    problems = [
        *store.damage(),
        *(
            {
                "what": f"the content is not what was saved: its hash is {one.found}, and was "
                f"{one.expected}",
                "where": f"{one.what} version {one.id}",
            }
            for one in store.verify()
        ),
    ]
    if not problems:
        # What is derived stands on these; of a damaged file it says nothing more.
        problems = list(_derived(store))
    return problems


def as_text(report: dict[str, Any]) -> str:
    """The same in lines."""
    if report["ok"]:
        return "Sound: the file, its versions, and every verdict and score as its votes make it."
    return "\n".join(f"{one['where']}: {one['what']}" for one in report["problems"])


def _derived(store: Store) -> Iterator[dict[str, str]]:
    for run_id in store.runs.all_ids():
        with store.moment():
            yield from _of_run(store, run_id)


def _of_run(store: Store, run_id: int) -> Iterator[dict[str, str]]:
    run = store.runs.get(run_id)
    where = f"run {run_id}"
    ballots = store.votes.ballots(run_id)
    counted = {
        "votes": (run.votes, sum(len(item.ballots) for item in ballots)),
        "abstentions": (run.abstentions, sum(b.abstained for i in ballots for b in i.ballots)),
        "open failures": (run.failures_open, sum(sum(i.failures.values()) for i in ballots)),
    }
    for name, (said, found) in counted.items():
        if said != found:
            yield {"what": f"it counts {said} {name}, and has {found}", "where": where}
    touched = [item for item in ballots if item.ballots or item.failures]
    job = load_job(store, run_id)
    for start in range(0, len(touched), BATCH):
        for result in job.derive(touched[start : start + BATCH]):
            if wrong := _differs(store, run, result):
                yield {"what": wrong, "where": f"{where}, item {result.item_id}"}


def _differs(store: Store, run: Run, result: ItemResult) -> str:
    row = store.results.item(run.id, result.item_id)
    names = ("score", "raw", "low", "high", "complete", "fail", "review", "agreement", "outcome")
    wrong = [name for name in names if getattr(row, name) != getattr(result, name)]
    if canonical_json(row.trace) != canonical_json(json.loads(to_json(result.trace))):
        wrong.append("trace")
    stored = {cell.criterion: cell for cell in store.results.cells(run.id, result.item_id)}
    made = {cell.criterion: _plain(cell) for cell in result.cells}
    wrong += [
        f"the verdict on {name}"
        for name in sorted(stored.keys() | made.keys())
        if name not in stored or name not in made or _plain(stored[name]) != made[name]
    ]
    return f"not what its votes make: {', '.join(wrong)}" if wrong else ""


def _plain(cell: CellResult) -> tuple[Any, ...]:
    return tuple(cell)

"""Integrity of the data file: its bytes, its versions, and everything derived from votes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from core import clock
from core.domain.runs import ItemResult, Run
from core.domain.votes import ItemBallots, Verdict
from core.errors import Damaged, InputError, RubricStudioError, StoreError
from core.identity import canonical_json
from core.services.runs.monitoring import LAST_BACKUP
from core.services.runs.ready_run import load_job
from core.store.database.content import to_json
from core.store.database.data_file import Backup
from core.store.database.sums import UNCOVERED
from core.store.store import Store

#: Items of a run that are derived and compared at a time.
BATCH = 500


def backup(
    store: Store, target: Path, *, force: bool = False, damaged: bool = False
) -> tuple[Backup | None, dict[str, Any]]:
    """Copy the whole data file to ``target`` consistently, while others keep writing.

    The copy is verified first. Returns its counts and the report; a damaged copy is deleted, unless
    ``damaged`` allows it.

    Raises:
        InputError: the file exists (without ``force``), or it is the data file itself.
    """
    target = target.expanduser().absolute()
    if target.exists() and target.samefile(store.path):
        raise InputError("is the data file itself. Name another.", (), str(target))
    if target.is_dir():
        raise InputError("is a folder. Name a file in it.", (), str(target))
    if target.exists() and not force:
        raise InputError("is there already. Name another, or use --force.", (), str(target))
    checked = dict[str, Any]()

    def is_sound(copy: Path) -> bool:
        checked.update(verify_store(lambda: Store(copy, reading=True)))
        return damaged or checked["ok"]

    backup_result = store.backup(target, is_sound)
    if backup_result is not None:
        # Record the backup for monitoring. Recording fails on a file that is no longer writable,
        # but such a file is copied as well.
        with suppress(StoreError):
            store.settings.put(LAST_BACKUP, clock.now())
    return backup_result, checked


def copy_nightly(
    stores: Iterable[tuple[str, Callable[[], Store]]], folder: Path, today: str, keep: int
) -> Iterator[tuple[str, Backup | None, str]]:
    """Copy each data file to ``folder``, named by file and day; yield each result.

    Older copies of a data file beyond the newest ``keep`` are deleted only after its new copy
    exists and is sound. If a copy fails, its older copies stay, and the others continue.
    """
    for name, open_store in stores:
        target = folder / f"{name}-{today}.db"
        try:
            copy, checked = backup(open_store(), target, force=True)
        except RubricStudioError as error:
            yield name, None, str(error)
            continue
        if copy is None:
            yield name, None, report_as_text(checked)
            continue
        dated = re.compile(re.escape(name) + r"-\d{4}-\d\d-\d\d\.db")
        copies = [path for path in folder.iterdir() if dated.fullmatch(path.name)]
        for older in sorted(copies)[:-keep]:
            older.unlink()
        yield name, copy, ""


def verify_store(open_store: Callable[[], Store]) -> dict[str, Any]:
    """Return the report of ``verify --json``. Repairs nothing.

    ``not_covered``, if present, lists the rows without a checksum, whose integrity is unknown.
    """
    try:
        store = open_store()
    except Damaged as error:
        # The file is too damaged to say where the damage is.
        return _verify_report([_problem_data(error, "the file")])
    problems = [
        *_check_results(store.damage, "the file"),
        *_check_results(partial(_altered_versions, store), "the records"),
        *_check_results(partial(_version_problems, store), "the versions"),
    ]
    if not problems:
        # Derived data depends on the damaged parts, so checking it would add nothing.
        problems += _check_results(partial(_derived_problems, store), "the runs")
    problems += _check_results(partial(_schema_problems, store), "the tables")
    gaps = _check_results(partial(_uncovered_data, store), "the records")
    store.close()
    return _verify_report(problems, gaps)


def _derived_problems(store: Store) -> Iterator[dict[str, str]]:
    for run_id in store.runs.all_ids():
        with store.moment():
            yield from _check_results(partial(_run_problems, store, run_id), f"run {run_id}")


def _verify_report(
    problems: list[dict[str, str]], not_covered: Sequence[dict[str, str]] = ()
) -> dict[str, Any]:
    report = {"ok": not problems, "problems": problems}
    return {**report, "not_covered": list(not_covered)} if not_covered else report


def _check_results(look: Callable[[], Iterable[Any]], part: str) -> list[Any]:
    """Return all results of a check; if it fails half way, its error is the last."""
    results = list[Any]()
    try:
        results.extend(look())
    except Exception as error:  # a damaged row may raise anything
        results.append(_problem_data(error, part))
    return results


def _problem_data(error: Exception, part: str) -> dict[str, str]:
    if isinstance(error, RubricStudioError):
        return {"what": str(error), "where": part}
    first = str(error).partition("\n")[0][:200]
    return {"what": f"it cannot be read: {first or type(error).__name__}", "where": part}


def _schema_problems(store: Store) -> Iterator[dict[str, str]]:
    for name in store.altered_schema():
        yield {"what": "not as this program makes it", "where": f"the table or trigger {name}"}


def _altered_versions(store: Store) -> Iterator[dict[str, str]]:
    for group in store.altered():
        yield {"what": "not as it was recorded: its sum differs", "where": _location_text(*group)}


def _uncovered_data(store: Store) -> Iterator[dict[str, str]]:
    for group in store.uncovered():
        yield {
            "what": "not covered by a checksum, so changes cannot be detected",
            "where": _location_text(*group),
        }


def _location_text(words: str, first: int, last: int) -> str:
    return f"{words} {first}" if first == last else f"{words} {first} to {last}"


def _version_problems(store: Store) -> Iterator[dict[str, str]]:
    for kind, version_id, expected, actual in store.verify():
        yield {
            "what": f"the content is not what was saved: its hash is {actual}, and was {expected}",
            "where": f"{kind} version {version_id}",
        }


def report_as_text(report: dict[str, Any]) -> str:
    """Return the report as lines of text."""
    lines = [f"{problem['where']}: {problem['what']}" for problem in report["problems"]]
    gaps = report.get("not_covered", [])
    if not lines and not gaps:
        lines = [
            "Sound: the file, its versions, every record as it was made, and every verdict and "
            "score as its votes make it."
        ]
    elif not lines:
        lines = [
            "No problem was found, and not all could be checked. Recorded before there were "
            "sums, or by another program, so that a flipped bit would not be noticed: "
            + "; ".join(gap["where"] for gap in gaps)
            + "."
        ]
    return "\n".join([*lines, f"No sum covers {UNCOVERED}."])


def _run_problems(store: Store, run_id: int) -> Iterator[dict[str, str]]:
    run = store.runs.get(run_id)
    where = f"run {run_id}"
    ballots = store.votes.ballots(run_id)
    counted = {
        "votes": (run.votes, sum(len(item.ballots) for item in ballots)),
        "abstentions": (run.abstentions, sum(b.abstained for i in ballots for b in i.ballots)),
        "open failures": (run.failures_open, sum(sum(i.failures.values()) for i in ballots)),
    }
    for name, (stored, counted_anew) in counted.items():
        if stored != counted_anew:
            yield {"what": f"it counts {stored} {name}, and has {counted_anew}", "where": where}
    yield from _changed_counts(store, run_id, ballots)
    touched = [item for item in ballots if item.ballots or item.failures]
    job = load_job(store, run_id)
    for start in range(0, len(touched), BATCH):
        for result in job.derive(touched[start : start + BATCH]):
            if wrong := _counts_differ(store, run, result):
                yield {"what": wrong, "where": f"{where}, item {result.item_id}"}


def _changed_counts(
    store: Store, run_id: int, ballots: Sequence[ItemBallots]
) -> Iterator[dict[str, str]]:
    """Yield the items whose stored counts differ from those of their votes."""
    rows = {row.item_id: row for row in store.results.items(run_id, limit=-1)}
    for item in ballots:
        row = rows[item.item_id]
        counted = (len(item.ballots), sum(b.abstained for b in item.ballots))
        if (row.votes, row.abstentions, row.failures) != (*counted, sum(item.failures.values())):
            message = "its numbers of votes, abstentions and failures are not those that it has"
            yield {"what": message, "where": f"run {run_id}, item {item.item_id}"}


def _counts_differ(store: Store, run: Run, result: ItemResult) -> str:
    row = store.results.item(run.id, result.item_id)
    names = ("score", "raw", "low", "high", "complete", "fail", "review", "agreement", "outcome")
    wrong = [name for name in names if getattr(row, name) != getattr(result, name)]
    if canonical_json(row.trace) != canonical_json(json.loads(to_json(result.trace))):
        wrong.append("trace")
    stored = {cell.criterion: cell for cell in store.results.cells(run.id, result.item_id)}
    derived = {cell.criterion: _comparable_cell(cell) for cell in result.cells}
    wrong += [
        f"the verdict on {name}"
        for name in sorted(stored.keys() | derived.keys())
        if name not in stored
        or name not in derived
        or _comparable_cell(stored[name]) != derived[name]
    ]
    return f"not what its votes make: {', '.join(wrong)}" if wrong else ""


def _comparable_cell(cell: Verdict) -> tuple[Any, ...]:
    return tuple(cell)

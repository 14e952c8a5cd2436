"""What every row stands on: a run over loopback, counted at both ends, and faults made in C."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.calls import dataset, rubric
from core import clock
from core.cli import integrity
from core.domain.panel import Asking, Judge, Panel
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.rubrics.rubric_file import dump_rubric
from core.judging.local import own_address
from core.services.runs import lifecycle, runner
from core.services.runs.planning import RunRequest
from core.store.store import Store
from tests.provider import Answer, Provider
from tests.services.runs.world import by_request

ROOT = Path(__file__).parents[2]
CRITERIA = len(rubric().criteria)


@dataclass
class Row:
    """What a row of the matrix came to. ``wrong`` says what was not as it must be."""

    figures: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)

    def say(self, figure: str) -> None:
        self.figures.append(figure)

    def must(self, held: bool, otherwise: str) -> None:
        if not held:
            self.wrong.append(otherwise)


class Counting(Provider):
    """A provider that keeps when it gave each answer; ``pause`` seconds before each."""

    def __init__(self, pause: float = 0.0) -> None:
        super().__init__()
        self.given: list[float] = []
        self.rule = lambda body: Answer(body=by_request(body).body, stall=pause)

    async def _give(self, answer: Answer, request: Any) -> Any:
        response = await super()._give(answer, request)
        self.given.append(time.monotonic())
        return response


class Site:
    """A folder with a data file, a rubric and a dataset, and a provider to ask."""

    def __init__(self, folder: Path, provider: Provider, items: int = 50) -> None:
        self.folder, self.provider, self.items = folder, provider, items
        self.db, self.run = folder / "studio.db", 1
        (folder / "rubric.yaml").write_text(dump_rubric(rubric()))
        (folder / "items.jsonl").write_text(dump_dataset(dataset(items)))
        Store(self.db).close()

    @property
    def planned(self) -> int:
        """Votes of one judge."""
        return self.items * CRITERIA

    def judge(self, name: str = "ada", **more: Any) -> Judge:
        return Judge(name=name, model=name, api_base=self.provider.url, **more)

    def plan(self, *judges: Judge, data: Any = None, by: Any = None, **more: Any) -> int:
        """A queued run of these judges; answers kept from earlier runs are not used."""
        store, now = Store(self.db), clock.now()
        version = store.rubrics.create(by or rubric(), now=now).id
        items = store.datasets.create(data or dataset(self.items), now=now).id
        panel = Panel(judges=judges or (self.judge(),), asking=Asking(cache=False))
        self.run = lifecycle.start(store, RunRequest(version, items, panel, seed=1, **more))
        store.close()
        return self.run

    def work(self, run: int = 1) -> str:
        """Works the run off here, and says how it ended."""
        store = Store(self.db)
        try:
            return str(runner.work_here(store, run))
        finally:
            store.close()

    def go_on(self, run: int = 1) -> str:
        """Resumes whatever is left, as the button does, and works it off."""
        store = Store(self.db)
        if store.runs.row(run).active:
            lifecycle.release_if_gone(store, run)
        if store.runs.row(run).status in ("interrupted", "cancelled", "failed"):
            lifecycle.resume(store, run)
        store.close()
        return self.work(run)

    def retry(self, run: int = 1) -> str:
        """Asks again what failed."""
        store = Store(self.db)
        lifecycle.retry(store, run)
        store.close()
        return self.work(run)

    def grade(self, *options: object, **environment: str) -> subprocess.Popen[str]:
        """The command line grades these files, in a process of its own."""
        files = (self.folder / "rubric.yaml", self.folder / "items.jsonl")
        how = ("--judge", "openai/ada", "--api-base", self.provider.url, "--db", self.db, "--seed")
        return command("grade", *files, *how, 1, "--no-cache", "--json", *options, **environment)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.db) as connection:
            return connection.execute(sql).fetchall()

    def count(self, sql: str) -> int:
        return int(self.ask(sql)[0][0] or 0)

    @property
    def votes(self) -> int:
        """Of this run alone: an app grades its example beside it."""
        return self.count(f"SELECT count(*) FROM vote WHERE run_id = {self.run}")

    def failures(self) -> dict[str, int]:
        return dict(self.ask("SELECT kind, count(*) FROM failure GROUP BY kind"))

    def attempts(self) -> int:
        """Requests that the data file knows of: tries of recorded calls, and calls known lost."""
        return self.count("SELECT (SELECT sum(tries) FROM call)") + self.count(
            "SELECT sum(lost) FROM run"
        )

    def twice(self) -> int:
        """Votes beyond one for each cell."""
        return self.count(
            "SELECT count(*) - count(DISTINCT run_id || '|' || item_id || '|' || criterion || '|' "
            "|| judge || '|' || replicate) FROM vote"
        )

    def sound(self) -> str:
        """What `verify` finds wrong; empty: nothing."""
        report = integrity.verify_store(lambda: Store(self.db))
        return "" if report["ok"] else json.dumps(report["problems"][:2])


def command(*words: object, **environment: str) -> subprocess.Popen[str]:
    """`rubric-studio` in a process of its own, from this checkout."""
    return subprocess.Popen(
        [sys.executable, "-m", "core.cli", *map(str, words)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def site(
    items: int = 50, provider: Provider | None = None, under: Path | None = None
) -> Iterator[Site]:
    """A new site, for as long as it is used.

    Its provider counts as one elsewhere: a local server is asked few questions at once, and not
    again after a timeout.
    """
    with (
        tempfile.TemporaryDirectory(dir=under) as folder,
        provider or Counting() as server,
        patch.object(own_address, "is_private_address", return_value=False),
    ):
        yield Site(Path(folder), server, items)


def until(true: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Waits for something that others do; whether it came about."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def at_random(share: float, answers: Sequence[Answer], seed: int = 7) -> Callable[[Any], Answer]:
    """A rule that gives one of these in a share of the requests, and else a good answer."""
    dice = random.Random(seed)
    return lambda body: dice.choice(answers) if dice.random() < share else by_request(body)


@cache
def shim() -> Path | None:
    """The library that makes faults when it is preloaded; `None`: there is no C compiler."""
    folder = Path(tempfile.mkdtemp(prefix="faults"))
    made, source = folder / "shim.so", Path(__file__).with_name("shim.c")
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return made


def faulty(kind: str, **more: object) -> dict[str, str]:
    """The environment in which a program's writes to its data file fail."""
    library = shim()
    if library is None:
        raise SystemExit("These rows need a C compiler (cc).")
    return {
        "LD_PRELOAD": str(library),
        "FAULT_FILE": "studio.db",
        "FAULT_KIND": kind,
        **{f"FAULT_{name.upper()}": str(value) for name, value in more.items()},
    }


@contextmanager
def small_disk(size: str) -> Iterator[Path | None]:
    """A file system of its own of that size; `None` where this machine does not let us."""
    folder = Path(tempfile.mkdtemp(prefix="disk"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()

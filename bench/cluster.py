"""A run on a Dask cluster of this machine: its cost, and what is left when a part is killed.

    python -m bench.cluster [--trials 20] [--only costs|training|worker|scheduler|owner]

Scheduler and workers are processes, the provider answers on loopback. *Costs*: 3,000 questions to
each of two workers, answers after 100 ms, 16 calls at once each, against two plain processes that
grade half of the items each into a data file of their own; in turns, the median of the ratios of
wall time from the first request to the last. *Training*: an offline judge learns four criteria
from 600 labels each and judges 3,000 answers of 150 words, here and by two workers of this machine;
wall time of the run and processor time of its owner. *Kills*: kill -9 at a random moment with 32
calls of 40 ms in flight on three workers; where the scheduler or the owner goes, another one
resumes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.faults.world import ROOT, Counting, Row, Site, site, until
from bench.stand_in import stand_in

IN_FLIGHT, SECONDS = 32, 0.04
IMPATIENT = """
from core.services.runs.cluster import joining
joining.PATIENCE = 1.0
from core.cli import main
main()
"""


@contextmanager
def process(*words: str, code: Path = ROOT) -> Iterator[subprocess.Popen[bytes]]:
    """A module of the program at ``code`` in a process of its own, which is gone afterwards."""
    begun = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=code, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(code)},
    )  # fmt: skip
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


class Cluster:
    """A scheduler and its workers; ``others`` are the programs of further workers."""

    def __init__(self, stack: ExitStack, folder: Path, workers: int, *others: Path) -> None:
        file = folder / f"scheduler{time.monotonic_ns()}.json"
        self.scheduler = stack.enter_context(
            process(
                "distributed.cli.dask_scheduler",
                *("--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
                *("--dashboard-address", "127.0.0.1:0", "--scheduler-file", str(file)),
            )
        )
        until(file.exists, 60)
        time.sleep(0.2)
        self.address = str(json.loads(file.read_text())["address"])
        self.workers = [
            stack.enter_context(
                process(
                    "distributed.cli.dask_worker",
                    *(self.address, "--nthreads", "4", "--no-nanny", "--no-dashboard"),
                    *("--local-directory", str(folder), "--death-timeout", "30"),
                    code=code,
                )
            )
            for code in (*[ROOT] * workers, *others)
        ]
        self._wait(len(self.workers))

    def _wait(self, workers: int) -> None:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=60)


def kill(which: str, dice: random.Random, row: Row) -> int:
    """One kill in the middle of a run; how many calls were made again."""
    with site(100, Counting(SECONDS)) as at, ExitStack() as stack:
        made = Cluster(stack, at.folder, 3)
        server: Counting = at.provider  # type: ignore[assignment]
        owner = grade(at, made.address)
        until(lambda: len(server.given) >= IN_FLIGHT, 60)
        time.sleep(dice.uniform(0.05, 0.4))
        victim = {"worker": made.workers[0], "scheduler": made.scheduler, "owner": owner}[which]
        seen = at.votes
        victim.send_signal(signal.SIGKILL)
        _, heard = owner.communicate(timeout=120)
        row.must("Traceback" not in heard, heard[-400:])
        if which == "worker":
            row.must(owner.returncode == 0, f"the run ended with status {owner.returncode}")
        else:
            row.must(at.votes >= seen, "votes that were there are gone")
            if which == "scheduler":
                row.must("scheduler" in message(at), f"it says {message(at)!r}")
                made = Cluster(stack, at.folder, 3)
            status = resume(at, made.address)
            row.must(status == 0, f"resumed, it ended with status {status}")
        row.must(at.votes == at.planned, f"{at.votes} of {at.planned} votes")
        row.must(not at.twice(), "votes twice")
        row.must(not at.sound(), str(at.sound()))
        return at.provider.count - at.planned


def grade(at: Site, address: str) -> subprocess.Popen[str]:
    """The owner of a run on the cluster, which waits only a second for a scheduler that is gone."""
    files = (at.folder / "rubric.yaml", at.folder / "items.jsonl")
    how = ("--judge", "openai/ada", "--api-base", at.provider.url, "--seed", "1", "--no-cache")
    more = ("--concurrency", str(IN_FLIGHT), "--cluster", address, "--db", at.db)
    return subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, "grade", *files, *how, *more],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def resume(at: Site, address: str) -> int:
    """Goes on with it, and returns the status in which that ended."""
    deadline = time.monotonic() + 60
    while True:
        done = subprocess.run(
            [sys.executable, "-m", "core.cli", "resume", "1", "--cluster", address, "--db", at.db],
            cwd=ROOT, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )  # fmt: skip
        if done.returncode == 0 or time.monotonic() > deadline:
            return done.returncode
        time.sleep(0.5)


def message(at: Site) -> str:
    """What the run says of how it ended."""
    import sqlite3

    with sqlite3.connect(at.db) as file:
        return str(file.execute("SELECT message FROM run").fetchone()[0])


def kills(which: str, trials: int) -> bool:
    """``trials`` kills; prints what they cost, and whether all held."""
    row, dice = Row(), random.Random(11)
    again = [kill(which, dice, row) for _ in range(trials)]
    print(
        f"{which} killed {trials} times: votes lost 0, twice 0, asked again at most {max(again)}, "
        f"{statistics.mean(again):.1f} on average ({IN_FLIGHT} in flight)"
        if not row.wrong
        else f"{which}: {sorted(set(row.wrong))}"
    )
    return not row.wrong


def costs(rounds: int = 3) -> None:
    """The ratio of wall times, in turns."""
    ratios = list[float]()
    with tempfile.TemporaryDirectory() as folder, stand_in(0.1) as url:
        for turn in range(rounds):
            spread = once(Path(folder) / f"a{turn}", url, "--cluster", "local:2", items=1500)
            plain = once(Path(folder) / f"b{turn}", url, items=750, times=2)
            ratios.append(spread / plain)
            print(f"  on the cluster {spread:.1f} s, two plain processes {plain:.1f} s")
    print(f"costs: {statistics.median(ratios):.2f} times the wall time of two plain processes")


def once(folder: Path, url: str, *more: str, items: int, times: int = 1) -> float:
    """Seconds from the first vote's call to the last one's, over all data files."""
    import sqlite3
    from contextlib import closing

    from bench.calls import dataset, rubric
    from core.formats.datasets.dataset_file import dump_dataset
    from core.formats.rubrics.rubric_file import dump_rubric

    folder.mkdir()
    (folder / "rubric.yaml").write_text(dump_rubric(rubric()))
    (folder / "items.jsonl").write_text(dump_dataset(dataset(items)))
    at_once = "32" if more else "16"
    began = time.time()
    running = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "core.cli", "grade", folder / "rubric.yaml"),
                *(folder / "items.jsonl", "--judge", "openai/one", "--api-base", url),
                *("--concurrency", at_once, "--seed", "1", "--db", folder / f"{n}.db", *more),
            ],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for n in range(times)
    ]  # fmt: skip
    for one in running:
        assert one.wait(600) == 0
    assert time.time() > began
    spans = list[tuple[float, float]]()
    for n in range(times):
        with closing(sqlite3.connect(folder / f"{n}.db")) as file:
            spans.append(
                file.execute(
                    "SELECT min(julianday(created)), max(julianday(created)) FROM call"
                ).fetchone()
            )
    return 86400 * (max(last for _, last in spans) - min(first for first, _ in spans))


def training(items: int = 3000, labels: int = 600) -> None:
    """Wall time of a run of an offline judge, and its owner's processor time; here and spread."""
    from core import clock
    from core.domain.dataset import Dataset, Item, Label
    from core.domain.panel import Judge, Panel
    from core.domain.rubric import Criterion, Rubric
    from core.services.runs import lifecycle, runner
    from core.services.runs.planning import RunRequest
    from core.store.store import Store

    dice, names = random.Random(5), [f"criterion {n}" for n in range(4)]
    common = [f"word{n}" for n in range(3000)]
    made = list[Item]()
    for n in range(items + labels):
        met = {name: dice.random() < 0.5 for name in names}
        telling = [f"{name[-1]}{'yes' if met[name] else 'no'}{dice.randrange(5)}" for name in names]
        text = " ".join(dice.choices(common, k=146) + telling)
        truth = {name: Label(label="MET" if met[name] else "UNMET") for name in names}
        part = {"labels": truth, "split": "calibration"} if n < labels else {}
        made.append(Item(id=f"i{n}", submission=text, **part))
    rubric = Rubric(name="r", criteria=[Criterion(name=n, requirement="Is it?") for n in names])
    with tempfile.TemporaryDirectory() as folder:
        store, now = Store(Path(folder) / "studio.db"), clock.now()
        panel = Panel(judges=(Judge(name="words", kind="classifier"),))
        asked = RunRequest(
            store.rubrics.create(rubric, now=now).id,
            store.datasets.create(Dataset(name="d", items=made), now=now).id,
            panel,
            seed=1,
        )
        for where in ("", "local:2"):
            run = lifecycle.start(store, asked)
            wall, cpu = time.perf_counter(), time.process_time()
            assert runner.work_here(store, run, cluster=where) == "done"
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            votes = store.runs.row(run).votes
            print(f"training {where or 'here'}: {wall:.1f} s, {cpu:.1f} s of the owner, {votes:,}")
        store.close()


def main() -> None:
    """Print the figures; status 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--only", choices=["costs", "training", "worker", "scheduler", "owner"])
    asked = parser.parse_args()
    held = [
        kills(one, asked.trials)
        for one in ("worker", "scheduler", "owner")
        if asked.only in (one, None)
    ]
    if asked.only in ("costs", None):
        costs()
    if asked.only in ("training", None):
        training()
    sys.exit(not all(held))


if __name__ == "__main__":
    main()

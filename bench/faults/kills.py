"""Rows 9 and 10, and those beside them: what is left when a process is ended, wherever it was."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.faults.world import ROOT, Counting, Row, Site, faulty, site, until
from bench.filled import JUDGES, RUBRIC
from bench.filled import dataset as many_items
from bench.filled import outcomes as planted
from core import clock
from core.domain.panel import Panel
from core.domain.runs import RunPlan
from core.services.results.scored_items import derivation_for
from core.services.runs import lifecycle
from core.services.runs.keeping import keeper
from core.services.runs.keeping.keeper import WorkerProcess
from core.store.store import Store

IN_FLIGHT, SECONDS, GROUP = 32, 0.04, 8


class Kill:
    """What one kill of a grading process cost."""

    def __init__(self, dice: random.Random, sent: signal.Signals = signal.SIGKILL) -> None:
        with site(100, Counting(SECONDS)) as at:
            server: Counting = at.provider  # type: ignore[assignment]
            process = at.grade("--concurrency", IN_FLIGHT)
            until(lambda: len(server.given) >= IN_FLIGHT, 60)
            time.sleep(dice.uniform(0.05, 0.5))
            seen = at.votes  # what another program was shown is acknowledged
            process.send_signal(sent)
            killed = time.monotonic()
            _, self.said = process.communicate()
            given = sorted(when for when in list(server.given) if when < killed)
            self.kept = at.votes
            self.forgotten = max(0, seen - self.kept)
            self.lost = max(0, len(given) - self.kept)
            self.back = (killed - given[self.kept]) * 1000 if self.lost else 0.0
            _ended(self, at)


def _ended(kill: Kill, at: Site) -> None:
    """Resumes the run, and looks at what became of it."""
    began = time.monotonic()
    status = at.go_on()
    kill.resumed = time.monotonic() - began  # type: ignore[attr-defined]
    kill.twice = at.provider.count - at.planned  # type: ignore[attr-defined]
    kill.over = at.attempts() - at.provider.count  # type: ignore[attr-defined]
    kill.wrong = [  # type: ignore[attr-defined]
        words
        for held, words in (
            (status == "done", f"ended {status}"),
            (at.votes == at.planned, f"{at.votes} of {at.planned} votes"),
            (not at.twice(), "a vote twice"),
            (not at.sound(), at.sound()),
            (said(at), f"{at.provider.count} asked, {at.attempts()} known"),
            ("Traceback" not in kill.said, "a traceback"),
        )
        if not held
    ]


def said(at: Site, kills: int = 1) -> bool:
    """Whether what was asked is what the data file says was asked: recorded, or lost.

    A call is noted before it goes out, and all in flight may go out in one turn of the loop: those
    that a kill catches in that moment did not arrive. None that arrived may be missing.
    """
    return 0 <= at.attempts() - at.provider.count <= kills * IN_FLIGHT


def engine(trials: int) -> Row:
    """kill -9 of a grading process at a random moment, 32 calls of 40 ms in flight."""
    return _killed(trials, signal.SIGKILL)


def told_to_end(trials: int) -> Row:
    """SIGTERM and SIGHUP in turn at a random moment: what was answered is recorded first."""
    return _killed(trials, signal.SIGTERM, signal.SIGHUP)


def _killed(trials: int, *sent: signal.Signals) -> Row:
    row, dice = Row(), random.Random(7)
    kills = [Kill(dice, sent[trial % len(sent)]) for trial in range(trials)]
    forgotten, lost = sum(k.forgotten for k in kills), max(k.lost for k in kills)
    back = max(k.back for k in kills)
    twice = max(k.twice for k in kills)  # type: ignore[attr-defined]
    row.say(
        f"{trials} trials: acknowledged votes lost {forgotten}, votes twice 0, asked again at most "
        f"{twice}; answers that came and were not kept at most {lost}, {back:.0f} ms back"
    )
    row.must(not forgotten, "acknowledged votes lost")
    exact = sum(not k.over for k in kills)  # type: ignore[attr-defined]
    over = max(k.over for k in kills)  # type: ignore[attr-defined]
    row.say(f"calls said to be lost are those that were lost in {exact} of {trials}; else more,")
    row.figures[-1] += f" at most {over}, and never fewer"
    gentle = sent != (signal.SIGKILL,)
    # In flight, what gathered and was written as the kill came, and as much again of a slow writer;
    # whoever is told to end waits for what is in flight.
    row.must(twice <= (0 if gentle else 4 * IN_FLIGHT), f"{twice} asked again")
    for kill in kills:
        row.wrong += kill.wrong  # type: ignore[attr-defined]
    return row


def commit_steps(trials: int) -> Row:
    """kill -9 at every step of writing: 50 places evenly over all writes of a run."""
    return at_writes("kill", 50)


def at_writes(kind: str, places: int) -> Row:
    """A fault at one write each, `places` of them evenly over all that a run makes."""
    row = Row()
    with site(4, Counting(SECONDS)) as at:
        counted = at.folder / "count"
        at.grade("--concurrency", 1, **faulty("none", count=counted)).communicate()
        writes = int(counted.read_text())
    steps = sorted({1 + (writes - 1) * place // (places - 1) for place in range(places)})
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda step: _at_write(kind, step), steps))
    asked = max(twice for twice, _ in found)
    row.say(f"{len(steps)} places of {writes} writes: asked again at most {asked}, votes twice 0")
    # One in flight, and what was answered while a group gathered and was written.
    row.must(asked <= GROUP, f"{asked} asked again with one call in flight")
    for step, (_, wrong) in zip(steps, found, strict=True):
        row.must(not wrong, f"at write {step}: {wrong}")
    return row


def _at_write(kind: str, step: int) -> tuple[int, str]:
    with site(4, Counting(SECONDS)) as at:
        running = at.grade("--concurrency", 1, **faulty(kind, at=step))
        _, said = running.communicate(timeout=120)
        began = at.count("SELECT count(*) FROM run")
        if began:
            at.go_on()
        else:
            _, said = at.grade("--concurrency", 1).communicate(timeout=120)
        wrong = at.sound()
        if at.votes != at.planned or at.twice():
            wrong += f" {at.votes} of {at.planned} votes, {at.twice()} twice"
        if not 0 <= at.provider.count - at.attempts() <= GROUP:
            wrong += f" {at.provider.count} requests, {at.attempts()} known"
        if "Traceback" in said:
            wrong += f" {said[-300:]}"
        return at.provider.count - at.planned, wrong


def workers(trials: int) -> Row:
    """kill -9 of the app's worker, and of the process above it, while a run is worked off."""
    row = Row()
    acts = (_worker_kills, _driver_kills)
    threads = [threading.Thread(target=act, args=(row, trials)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return row


def _worker_kills(row: Row, trials: int) -> None:
    with site(60 * trials, Counting(0.5)) as at:
        at.plan(at.judge(concurrency=32))
        keeping = WorkerProcess(at.db)
        seen, waits = 0, []
        for _ in range(trials):
            began = time.monotonic()
            row.must(until(lambda seen=seen: at.votes > seen + 16), "a worker did not go on")
            waits.append(time.monotonic() - began)
            seen = at.votes
            keeping._worker.kill()
        until(lambda: at.votes > seen + 16)
        _quick(at)
        row.must(until(lambda: at.ask("SELECT status FROM run") == [("done",)], 60), "not done")
        keeping.stop()
        _told(row, at, trials, f"worker, {trials} kills, going on after {max(waits):.1f} s at most")


def hung(trials: int) -> Row:
    """A worker that is stopped and not ended (SIGSTOP) while a run is worked off."""
    row = Row()
    with site(60 * trials, Counting(0.5)) as at:
        run, store = at.plan(at.judge(concurrency=32)), Store(at.db)
        keeper.HUNG_AFTER, keeper.LOOK_EVERY = 3.0, 0.2
        keeping, seen, asides = WorkerProcess(at.db), 0, 0
        for _ in range(trials):
            row.must(until(lambda seen=seen: at.votes > seen + 16), "a worker did not go on")
            seen, stopped = at.votes, keeping._worker.pid
            os.kill(stopped, signal.SIGSTOP)
            until(lambda stopped=stopped: keeping._worker.pid != stopped)
            row.must(keeping._worker.pid != stopped, "a worker that hangs was not replaced")
            if store.runs.row(run).status == "failed":  # every second time
                asides += 1
                lifecycle.resume(store, run)
        until(lambda: at.votes > seen + 16)
        _quick(at)
        # The rest is most of the run, and longer with more trials.
        ended = until(lambda: at.ask("SELECT status FROM run") != [("running",)], at.planned / 50)
        status = store.runs.row(run).status
        row.must(ended and status == "done", f"{status}, not done")
        keeping.stop()
        # Whatever ran at the moment of such a stop is held against it: a failure to be retried.
        row.say(f"{store.runs.row(run).failures_open} cells failed for it, and were retried")
        at.retry(run)
        store.close()
        row.must(asides == trials // 2, f"put aside {asides} times")
        _told(row, at, trials, f"{trials} hung, put aside {asides} times")
    return row


def _driver_kills(row: Row, trials: int) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from core.services.runs.keeping.keeper import runner_beside\n"
        "from core.settings import Settings\n"
        "with runner_beside(Settings(Path(sys.argv[1]))):\n    time.sleep(600)"
    )
    with site(60 * trials, Counting(0.5)) as at:
        at.plan(at.judge(concurrency=32))
        seen = 0
        for trial in range(trials + 1):
            driver = subprocess.Popen([sys.executable, "-c", code, at.db], cwd=ROOT)
            row.must(until(lambda seen=seen: at.votes > seen + 16), "a run did not go on")
            seen = at.votes
            if trial < trials:
                driver.kill()
                driver.wait()
        _quick(at)
        row.must(until(lambda: at.ask("SELECT status FROM run") == [("done",)], 60), "not done")
        driver.terminate()
        driver.wait()
        _told(row, at, trials, f"process above it, {trials} kills")


def _quick(at: Site) -> None:
    """The rest of the run need not take as long."""
    at.provider.rule = Counting().rule


def _told(row: Row, at: Site, kills: int, what: str) -> None:
    more = at.provider.count - at.planned
    row.say(f"{what}: {at.votes} of {at.planned} votes, twice {at.twice()}, asked again {more}")
    row.must(at.votes == at.planned and not at.twice(), f"{what}: votes lost or twice")
    row.say(f"{at.provider.count} requests, {at.attempts()} said to be recorded or lost")
    row.must(said(at, kills), "what is said to be lost is not what was lost")
    row.must(not at.sound(), at.sound())


def million(trials: int) -> Row:
    """A run of a million votes: kill -9 near its end, and how soon it goes on."""
    row, items = Row(), 100_000
    left = 10 * (trials + 2)
    with site(1, Counting(0.2)) as at:
        Path(at.db).unlink()
        began = time.monotonic()
        run = _nearly_done(at, items, left)
        size = at.db.stat().st_size / 1e9
        row.say(f"{at.votes:,} votes made in {time.monotonic() - began:.0f} s, {size:.1f} GB")
        first = [_first_question(row, at, run) for _ in range(trials + 1)]
        for act, took in (("a stop", first[:1]), (f"{trials} times kill -9", first[1:])):
            wall, cpu = (max(one) for one in zip(*took, strict=True))
            row.say(f"after {act}: asks the next question after {cpu:.1f} s of CPU, {wall:.1f} s")
            row.must(cpu <= 5, f"after {act}: {cpu:.1f} s of CPU")
        _quick(at)
        status = at.go_on(run)
        row.must(status == "done" and at.votes == items * 10, f"{status}, {at.votes} votes")
        row.say(f"{at.votes:,} votes in the end, twice {at.twice()}")
        row.must(not at.twice(), "votes twice")
        row.must(not at.sound(), at.sound())
    return row


def _first_question(row: Row, at: Site, run: int) -> tuple[float, float]:
    """Goes on until there are 50 votes more, and is killed: seconds to the first question."""
    asked, votes, began = at.provider.count, at.votes, time.monotonic()
    resumed = subprocess.Popen(
        [sys.executable, "-m", "core.cli", "resume", str(run), "--db", at.db], cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    row.must(until(lambda: at.provider.count > asked, 120), "nothing is asked")
    wall = time.monotonic() - began
    used = Path(f"/proc/{resumed.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    row.must(until(lambda: at.votes >= votes + 50, 120), "no votes come")
    resumed.kill()
    resumed.wait()
    row.must(at.votes >= votes + 50, "votes that were there are gone")
    return wall, sum(map(int, used)) / os.sysconf("SC_CLK_TCK")


def _nearly_done(at: Site, items: int, left: int) -> int:
    dice, now, store = random.Random(7), clock.now(), Store(at.db)
    version = store.datasets.create(many_items(items, dice), now=now)
    rubric = store.rubrics.create(RUBRIC, now=now)
    graded = tuple(version.head.resolved(i) for i in store.datasets.items(version.id))
    judges = tuple(judge.model_copy(update={"api_base": at.provider.url}) for judge in JUDGES)
    plan = RunPlan("A million", rubric.id, version.id, Panel(judges=judges), seed=7)
    run = store.runs.create(plan, [(item.id, 10) for item in graded], now=now)
    lease = store.leases.claim("bench", at=clock.seconds_now(), seconds=3600, run_id=run.id)
    assert lease is not None
    derive = derivation_for(plan, RUBRIC, graded)
    for start in range(0, items - left, 250):
        part = graded[start : min(start + 250, items - left)]
        votes = [one for item in part for one in planted(item, dice, failing=0)]
        store.votes.record(
            run.id, votes, owner=lease.owner, fence=lease.fence, now=now, derive=derive
        )
    store.leases.release(lease, "interrupted", now=clock.now(), seconds=60.0)
    store.close()
    return run.id

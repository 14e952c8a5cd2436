"""A cluster whose scheduler dies by itself, and one of unequal programs."""

from __future__ import annotations

import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from bench import cluster
from bench.faults.world import ROOT, Row, Site, site


def schedulers(trials: int) -> Row:
    """kill -9 of the scheduler alone, owner and workers live; the run goes on with another one."""
    row, dice = Row(), random.Random(11)
    with ThreadPoolExecutor(2) as threads:
        seeds = [random.Random(dice.random()) for _ in range(trials)]
        again = list(threads.map(lambda one: cluster.kill("scheduler", one, row), seeds))
    row.say(f"{trials} kills: votes lost 0, twice 0, asked again at most {max(again)}")
    return row


def unequal(trials: int) -> Row:
    """Workers with another state of the program: not asked, and said so; alone, the run waits."""
    row = Row()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda ours: _unequal(row, ours), [2, 0] * (trials // 2)))
    row.say(f"{trials} clusters of unequal programs: none of another program was asked")
    return row


def _unequal(row: Row, ours: int) -> None:
    with site(30) as at, ExitStack() as stack:
        code, asked = _other(at.folder)
        made = cluster.Cluster(stack, at.folder, ours, code)
        owner = cluster.grade(at, made.address)
        _, heard = owner.communicate(timeout=120)
        row.must("Traceback" not in heard, heard[-400:])
        row.must(not asked.exists(), "a worker of another program was asked")
        if ours:
            row.must("it is not asked" in heard, f"it says {heard[-400:]!r}")
            row.must(owner.returncode == 0, f"the run ended with status {owner.returncode}")
        else:
            row.must("No worker of the cluster fits" in cluster.message(at), cluster.message(at))
            row.must(at.provider.count == 0, f"{at.provider.count} calls")
            row.must(at.go_on() == "done", "it does not go on here")
        _whole(row, at)


def _other(folder: Path) -> tuple[Path, Path]:
    """A program under the same version in which one line differs; and what it makes when asked."""
    code, asked = folder / "other", folder / "asked"
    shutil.copytree(ROOT / "core", code / "core", ignore=shutil.ignore_patterns("__pycache__"))
    remote = code / "core" / "services" / "runs" / "cluster" / "remote.py"
    line = "    worker, work = get_worker(), pickle.loads(chunk)\n"
    assert line in remote.read_text()
    made = f"{line}    open({str(asked)!r}, 'w').close()\n"
    remote.write_text(remote.read_text().replace(line, made))
    return code, asked


def _whole(row: Row, at: Site) -> None:
    row.must(at.votes == at.planned and not at.twice(), f"{at.votes} of {at.planned} votes")
    row.must(at.provider.count == at.planned, f"{at.provider.count} asked of {at.planned}")
    row.must(not at.sound(), at.sound())

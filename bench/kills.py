"""What a kill -9 in the middle of a run costs: answers that came and are asked for again.

    python bench/kills.py [--kills 20] [--items 200] [--seed 7]

Workload: the rubric and items of ``bench/calls.py``, one judge with 32 calls in flight and 40 ms to
an answer, graded by the command line in a process of its own, which is killed at a random moment.
The provider keeps the time of every answer it gave. Answers beyond the votes in the data file are
lost; the oldest of them says how far back the loss reaches.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.calls import dataset, rubric
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.rubrics.rubric_file import dump_rubric
from core.store.store import Store
from tests.provider import Answer, Provider
from tests.services.runs.world import by_request

IN_FLIGHT, SECONDS = 32, 0.04


class Counting(Provider):
    """A provider that keeps when it gave each answer."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[float] = []
        self.rule = lambda body: Answer(body=by_request(body).body, stall=SECONDS)

    async def _give(self, answer: Answer, request: Any) -> Any:
        response = await super()._give(answer, request)
        self.given.append(time.monotonic())
        return response


def kill_once(folder: Path, items: int, dice: random.Random) -> tuple[int, int, float]:
    """Votes kept, answers lost, and the age in seconds of the oldest answer that was lost."""
    (folder / "rubric.yaml").write_text(dump_rubric(rubric()))
    (folder / "items.jsonl").write_text(dump_dataset(dataset(items)))
    db = folder / "studio.db"
    Store(db).close()
    with Counting() as provider:
        files = (str(folder / "rubric.yaml"), str(folder / "items.jsonl"))
        how = ("--judge", "openai/ada", "--api-base", provider.url, "--db", str(db))
        command = [sys.executable, "-m", "core.cli", "grade", *files, *how]
        more = ("--concurrency", str(IN_FLIGHT))
        process = subprocess.Popen(
            [*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(provider.given) < IN_FLIGHT:
            time.sleep(0.01)
        time.sleep(dice.uniform(0.1, 1.0))
        process.kill()
        killed = time.monotonic()
        process.wait()
        given = sorted(at for at in provider.given if at < killed)
    store = Store(db)
    votes = store.runs.row(1).votes
    store.close()
    return votes, len(given) - votes, killed - given[votes] if votes < len(given) else 0.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    dice = random.Random(asked.seed)
    lost, back = [], []
    for _ in range(asked.kills):
        with tempfile.TemporaryDirectory() as folder:
            votes, answers, seconds = kill_once(Path(folder), asked.items, dice)
        print(f"{votes:6} votes kept, {answers:4} answers lost, {seconds * 1000:5.0f} ms back")
        lost.append(answers)
        back.append(seconds * 1000)
    print(f"{asked.kills} kills: {max(lost)} answers lost at most, {max(back):.0f} ms at most")


if __name__ == "__main__":
    main()

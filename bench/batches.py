"""A run in batches that is killed again and again: what is lost, and what is bought twice.

So many questions (`--cells`, three to an item) go to a stand-in for a provider's batch interface,
in files of 2,000. Of the requests 3 % come back as errors. The process that works the run off is
killed with -9 at random moments (`--kills`), up to four seconds after it did something: while it
writes files, waits or takes answers. The run is resumed each time by a new one; the last one ends
it. Then the failures are asked again, and now they are answered. The provider counts every request
that it worked off: one that it did twice was bought twice. Votes and open failures of the run are
all there is of what it was asked. ``--at`` says whose interface the stand-in has.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.store.store import Store
from tests.provider import Answer, Provider, status
from tests.provider_batches import ProviderBatches
from tests.services.runs.world import ROOT, by_message, by_request, write_files

#: The commands as a person types them; files are small and looks follow soon, to kill often.
CHILD = """
import sys
from core.services.runs.batches import desk, lanes, sending
lanes.MOST_LINES, lanes.SOONEST_LOOK = 2000, 0.3
desk.FIRST_PAUSE = sending.FIRST_PAUSE = 0.3
sending.SETTLED = 2.0
from core.cli import main
main(sys.argv[1:])
"""


def errors(share: float, answer: Callable[[dict[str, Any]], Answer]) -> Any:
    """A rule that turns down this share of the requests, by what they say."""

    def rule(body: dict[str, Any]) -> Answer:
        drawn = random.Random(str(body["messages"])).random()
        return status(500, "The server had an error.") if drawn < share else answer(body)

    return rule


def command(*words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def killed(words: tuple[object, ...], db: Path, after: float) -> str:
    """Starts the command and kills it so many seconds after it did something; how far it was."""
    before = _state(db)
    running = command(*words)
    while _state(db) == before and running.poll() is None:
        time.sleep(0.02)
    time.sleep(after)
    ended = running.poll() is not None
    running.kill()
    running.wait()
    votes, failures, *batches = _state(db)
    names = ("planned", "sent", "taken")
    by_status = {name: sum(one == name for one in batches) for name in names}
    how = "had ended" if ended else "killed"
    return f"{how} {after:.2f} s later: {votes} votes, {failures} failures, {by_status}"


def _state(db: Path) -> tuple[Any, ...]:
    """How many votes and failures there are, and how each batch stands."""
    if not db.exists():
        return (0, 0)
    store = Store(db)
    try:
        if not store.runs.count():
            return (0, 0)
        row, batches = store.runs.row(1), store.batches.of_run(1)
        return (row.votes, row.failures_open, *(one.status for one in batches))
    finally:
        store.close()


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", choices=("openai", "anthropic"), default="openai")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder, Provider() as provider:
        claude = given.at == "anthropic"
        answer = by_message if claude else by_request
        batches = provider.message_batches if claude else provider.batches
        provider.rule = errors(0.03, answer)
        db = Path(folder) / "studio.db"
        rubric, dataset = write_files(Path(folder), items=-(-given.cells // 3))
        os.environ["ANTHROPIC_API_BASE"] = provider.url.removesuffix("/v1")
        os.environ["ANTHROPIC_API_KEY"] = "none"
        judge = ["--judge", "claude-sonnet-4-5"]
        if not claude:
            judge = ["--judge", "openai/ada", "--api-base", provider.url]
        base = (*judge, "--seed", 7, "--batch", "--db", db)
        words: tuple[object, ...] = ("grade", rubric, dataset, *base)
        began = time.monotonic()
        for _ in range(given.kills):
            print(killed(words, db, rng.choice([0.2, 4.0]) * rng.random()), flush=True)
            words = ("resume", 1, "--db", db)
        command(*words).wait()
        _say(db, batches, "resumed to the end", began)
        batches.bought.clear()
        provider.rule = answer
        command("retry", 1, "--db", db).wait()
        _say(db, batches, "failures asked again", began)


def _say(db: Path, batches: ProviderBatches, what: str, began: float) -> None:
    store = Store(db)
    row = store.runs.row(1)
    store.close()
    bought = batches.bought
    twice = sum(times - 1 for times in bought.values())
    lost = row.planned - row.votes - row.failures_open
    print(
        f"{what} ({time.monotonic() - began:.0f} s): run {row.status}, {row.planned} questions, "
        f"{row.votes} votes, {row.failures_open} failures, lost {lost}; "
        f"{len(batches.made)} batches, {sum(bought.values())} requests worked off for "
        f"{len(bought)} asked, worked off twice {twice}; calls counted {row.calls}",
        flush=True,
    )


if __name__ == "__main__":
    main()

"""Seconds of app time per decision: `python bench/reviewing.py`.

A server on a new data file with the bundled example graded, and Chromium: a reviewer works off a
queue of 20 cells (four items, five criteria) with keys alone. Time is from a key until what it does
is drawn: what the person must wait, not what they think. Beside it the server's CPU time for the
same, which a full machine disturbs less. With `--large` the same 20 cells lie in a queue over all
50,250 cells of a run of 100,500 votes, half as likely to be next as any others.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.filled import fill
from core.domain.review import QueueRule, QueueSettings
from core.services.reports import worked_example
from core.services.review import queues, reviewers
from core.store.store import Store
from tests.browser.conftest import ARGS, CHROMIUM
from tests.browser.driving import main_text, settle, visit, watch

ROOT = Path(__file__).resolve().parents[1]
CELLS = 20
WHO = "Bench"


def queue(db: Path, *, large: bool) -> int:
    """Grades the example, or fills the file, and makes the queue that is worked off."""
    run_id = fill(db) if large else 0
    store = Store(db)
    chosen: dict[str, Any] = {}
    if not large:
        run_id = worked_example.ensure_example(store)
        worked_example.grade_example(store)
        run = store.runs.get(run_id)
        names = [c.name for c in store.rubrics.version(run.rubric_version_id).rubric.criteria]
        chosen = {"items": tuple(store.runs.item_ids(run_id)[:4]), "criteria": tuple(names[:5])}
    reviewers.sign_in(store, WHO)
    seat = reviewers.seat_of(store, WHO, "bench")
    rule = QueueRule(everything=True, audit_share=0.0, **chosen)
    made = queues.make_queue(store, seat, run_id, "All", rule, QueueSettings(), order="impact")
    store.close()
    return made.id


@contextmanager
def served(db: Path) -> Iterator[tuple[str, int]]:
    """A server on the file: its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    settings = {"RUBRIC_STUDIO_DB": str(db), "RUBRIC_STUDIO_RUNNER": "none"}
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        cwd=ROOT,
        env={**os.environ, **settings, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}", server.pid
    finally:
        server.terminate()
        server.wait(timeout=30)


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processor so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def begin(page: Any, url: str, queue_id: int) -> None:
    """Wait for the server, say who one is, and open the first item."""
    for _ in range(120):
        try:
            visit(page, f"{url}/queues?queue={queue_id}")
            break
        except Exception as error:  # the server is not there yet
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            time.sleep(0.5)
    field = page.get_by_role("textbox", name="Your name")
    field.fill(WHO)
    field.press("Enter")
    page.get_by_role("button", name="Start reviewing").wait_for()
    settle(page)
    page.keyboard.press("Enter")
    page.get_by_text("Give your verdict").wait_for()
    settle(page)


def decide(page: Any) -> list[float]:
    """Decide 20 cells with keys; returns the seconds that the app took after each key."""
    waits = list[float]()

    def press(name: str) -> None:
        began = time.perf_counter()
        page.keyboard.press(name)
        settle(page)
        waits.append(time.perf_counter() - began)

    given = 0
    while True:
        said = main_text(page)
        if "A note is needed" in said:
            page.wait_for_function("() => document.activeElement.tagName === 'TEXTAREA'")
            page.keyboard.type("The reference says so.")
            press("Escape")
            press("Enter")
        elif "Give your verdict" in said and "no verdict yet" in said and given < CELLS:
            press("1")
            given += 1
        elif "No items left for you" in said or (
            given >= CELLS and "Give your verdict" in said and "no verdict yet" in said
        ):
            return waits
        else:
            press("Enter")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="a queue over 100,500 votes")
    large = parser.parse_args().large
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "studio.db"
        queue_id = queue(db, large=large)
        with served(db) as (url, pid), sync_playwright() as play:
            chromium = play.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            page = chromium.new_context(viewport={"width": 1360, "height": 900}).new_page()
            watch(page)
            begin(page, url, queue_id)
            used = cpu_seconds(pid)
            waits = decide(page)
            used = cpu_seconds(pid) - used
            chromium.close()
    print(f"{len(waits)} keys for {CELLS} cells, load {os.getloadavg()[0]:.1f}")
    print(f"app seconds per decision {sum(waits) / CELLS:.2f}, server CPU {used / CELLS:.3f}")
    print(f"seconds a key: median {statistics.median(waits):.2f}, most {max(waits):.2f}")


if __name__ == "__main__":
    main()

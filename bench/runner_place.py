"""How long a click on a page takes while a run is being graded, by where the Runner lives.

    python bench/runner_place.py [--rounds 4] [--clicks 20]

Two apps are started, each on a data file of its own: one with its Runner in a thread, one with it
in a process beside (``RUBRIC_STUDIO_RUNNER``). Chromium shows the bundled example's run in each and
switches between two of its views; a click ends when the address has changed, the script has ended
and nothing on the page is stale. Meanwhile another run is graded, 64 calls in flight, by a provider
that takes 200 ms (``bench/stand_in.py``), through the lean door or through litellm's, whose calls
cost ten times the CPU; ``idle`` is without it. The conditions take turns, so that what else the
machine does falls on all of them. Milliseconds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.calls import dataset, panel, rubric
from bench.stand_in import stand_in
from core import clock
from core.domain.panel import Panel
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.store.store import Store

ROOT = Path(__file__).resolve().parents[1]
IN_FLIGHT = (22, 21, 21)
ITEMS = 2_000
CHROMIUM_ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
SERVE = [sys.executable, "-m", "streamlit", "run", "app.py"]
VIEWS = ("What was run", "Items")
#: Clicks and waits in the browser itself, so that the driver's own messages are not counted.
CLICK = """async ([words, wanted]) => {
    const began = performance.now();
    [...document.querySelectorAll('button')].find(b => b.innerText.trim() === words).click();
    const done = () => location.search.includes('view=plan') === wanted
        && document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
        && !document.querySelector('[data-stale=true]');
    while (!done()) await new Promise(again => setTimeout(again, 2));
    return performance.now() - began;
}"""


class App(NamedTuple):
    """A running app: the place of its Runner, its store, and a browser page on it."""

    place: str
    store: Store
    page: Any


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--clicks", type=int, default=20)
    asked = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("Not measured: this needs playwright and an installed Chromium.")
        return
    times: dict[str, list[float]] = defaultdict(list)
    rates: dict[str, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        url = stack.enter_context(stand_in(0.2))
        play = stack.enter_context(sync_playwright())
        browser = play.chromium.launch(
            executable_path=chromium, args=["--headless", "--no-sandbox"]
        )
        apps = [stack.enter_context(_app(place, browser)) for place in ("thread", "process")]
        for app in apps:
            _clicks(app.page, 6)
        for _ in range(asked.rounds):
            for app in apps:
                times["idle"] += _clicks(app.page, asked.clicks // 2)
                for door in ("lean", "litellm"):
                    name = f"{app.place}, {door}"
                    with _graded(app.store, panel(url, door, IN_FLIGHT), rates[name]):
                        times[name] += _clicks(app.page, asked.clicks)
    _print(times, rates)


@contextmanager
def _app(place: str, browser: Any) -> Iterator[App]:
    """An app whose example is graded, and the page of that run in a browser."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "studio.db"
        settings = {"RUBRIC_STUDIO_DB": str(db), "RUBRIC_STUDIO_RUNNER": place}
        server = subprocess.Popen(
            [*SERVE, f"--server.port={port}", "--server.address=127.0.0.1"],
            cwd=ROOT,
            env={**os.environ, **settings, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(lambda: bool(urllib.request.urlopen(f"{url}/_stcore/health", timeout=2)))
            store = Store(db)
            _wait_for(lambda: any(row.status == "done" for row in store.runs.list()))
            page = browser.new_page(viewport={"width": 1360, "height": 900})
            page.goto(f"{url}/run?run={store.runs.list()[0].id}")
            page.get_by_role("radio", name=VIEWS[0]).wait_for()
            yield App(place, store, page)
            store.close()
        finally:
            server.terminate()
            server.wait(20)


@contextmanager
def _graded(store: Store, judges: Panel, rates: list[float]) -> Iterator[None]:
    """A run being worked off by the app's own Runner meanwhile, and cancelled afterwards."""
    now = clock.now()
    version = store.rubrics.create(rubric(), now=now, hidden=True).id
    data = store.datasets.create(dataset(ITEMS), now=now, hidden=True).id
    request = RunRequest(version, data, judges)
    run = lifecycle.start(store, request)
    _wait_for(lambda: store.runs.row(run).votes > 0)
    votes, began = store.runs.row(run).votes, time.monotonic()
    yield
    row = store.runs.row(run)
    assert row.status == "running", f"the run ended meanwhile ({row.status}); give it more items"
    rates.append((row.votes - votes) / (time.monotonic() - began))
    lifecycle.cancel(store, run)
    _wait_for(lambda: store.runs.row(run).status == "cancelled")


def _clicks(page: Any, count: int) -> list[float]:
    """The milliseconds of so many clicks, which end on the view where they began."""
    taken = list[float]()
    for number in range(count + count % 2):
        taken.append(page.evaluate(CLICK, [VIEWS[number % 2], number % 2 == 0]))
        page.wait_for_timeout(40)
    return taken


def _wait_for(ready: Callable[[], bool], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if ready():
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise SystemExit("Waited in vain.")


def _print(times: dict[str, list[float]], rates: dict[str, list[float]]) -> None:
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'Runner, door':18}{'clicks':>8}{'p50':>8}{'p90':>8}{'p99':>8}{'votes/s':>10}")
    for name in sorted(times):
        cuts = statistics.quantiles(times[name], n=100, method="inclusive")
        rate = f"{statistics.median(rates[name]):.0f}" if name in rates else "-"
        shown = "".join(f"{cuts[percent - 1]:8.0f}" for percent in (50, 90, 99))
        print(f"{name:18}{len(times[name]):8}{shown}{rate:>10}")


if __name__ == "__main__":
    main()

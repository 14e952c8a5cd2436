"""Times pages on a data file with runs of 100,000 votes: `python bench/screens.py [--browser]`.

`--items 100000` makes runs of a million; beside each page stands its goal (first visit 1 s of CPU,
report 2, every further visit .15), and what is beyond it is marked. `--note FILE` adds the figures
to a file of JSON lines, which `python -m bench.growth FILE PICTURE` draws.

Time is that of a page's whole run in Streamlit's AppTest, in this process, with the imports
done: the first visit (nothing remembered) and the fastest of three more. With `--browser`, a server
is started on the file and Chromium opens every address in a context that has the app's scripts
already; the figure is from navigation to the moment the script has ended and nothing is stale.

The file has two such runs over the same items, and two queues over the first: its doubtful cells,
200 items of which one person has reviewed, and another one that nobody began.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.filled import fill
from pages.ui import routes
from pages.ui.identity import NAME, SESSION

FRAME = Path(__file__).resolve().parents[1] / "pages" / "frame.py"
WHO = "Bench"
REVIEWED = 200
#: The goal of every further visit, in seconds of CPU.
AGAIN = 0.15
ADDRESSES = (
    ("runs", {}),
    ("runs, plan", {"plan": "new", "rubric": "1", "dataset": "1"}),
    ("runs, sweep", {"plan": "sweep", "rubric": "1", "dataset": "1"}),
    ("run, items", {"run": "1"}),
    ("run, page 150 by score", {"run": "1", "sort": "score", "page": "150"}),
    ("run, search", {"run": "1", "find": "axis light north"}),
    ("run, has failures", {"run": "1", "only": "failures"}),
    ("run, scores", {"run": "1", "view": "scores"}),
    ("run, labels", {"run": "1", "view": "labels"}),
    ("run, plan", {"run": "1", "view": "plan"}),
    ("item", {"run": "1", "item": "item-05000"}),
    ("start", {}),
    ("rubrics", {}),
    ("library", {}),
    ("datasets", {}),
    ("datasets, items", {"dataset": "1"}),
    ("datasets, labels", {"dataset": "1", "dataset_view": "Labels"}),
    ("datasets, split", {"dataset": "1", "dataset_view": "Split"}),
    ("judges", {}),
    ("import_votes", {}),
    ("contests", {}),
    ("agreement, criteria", {"run": "1"}),
    ("agreement, one criterion", {"run": "1", "view": "one", "criterion": "Complete"}),
    ("agreement, one model", {"run": "1", "system": "model 1"}),
    ("agreement, raters", {"run": "1", "view": "raters"}),
    ("agreement, scores", {"run": "1", "view": "scores"}),
    ("agreement, how sure", {"run": "1", "view": "sure"}),
    ("agreement, variance", {"run": "1", "view": "variance"}),
    ("agreement, severity", {"run": "1", "view": "severity"}),
    ("agreement, findings", {"run": "1", "view": "findings"}),
    ("agreement, probes", {"run": "1", "view": "probes"}),
    ("agreement, over time", {"run": "1", "view": "over_time"}),
    ("report", {"run": "1"}),
    ("compare", {"runs": "1,2"}),
    ("compare, a flip", {"runs": "1,2", "flip": "0"}),
    ("queues", {}),
    ("queues, new", {"new": "queue", "run": "1"}),
    ("queues, labels", {"new": "labels", "run": "1"}),
    ("queues, one", {"queue": "1"}),
    ("reviewing", {"queue": "1"}),
    ("reviewing, first", {"queue": "2"}),
    ("record, all cells", {"queue": "1"}),
    ("record, session", {"queue": "1", "view": "session"}),
    ("record, calibrated", {"queue": "1", "view": "calibrated"}),
    ("record, people", {"queue": "1", "view": "people"}),
    ("record, log", {"queue": "1", "view": "record"}),
)
SCREENS = {
    **{screen.url: screen for screen in routes.SCREENS},
    "item": routes.RUN,
    "reviewing": routes.REVIEW_ITEM,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=10_050)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--note", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = asked.db or Path(folder) / "bench.db"
        if not db.exists():
            began = time.perf_counter()
            fill(db, items=asked.items, runs=2)
            review(db)
            print(
                f"filled in {time.perf_counter() - began:.1f} s, {db.stat().st_size / 1e6:.0f} MB"
            )
        os.environ["RUBRIC_STUDIO_DB"] = str(db)
        from core.store.store import Store

        votes = Store(db).runs.get(1).votes
        print(f"{votes:,} votes a run")
        found = browser(db) if asked.browser else scripts()
        if asked.note is not None and found:
            line = json.dumps({"votes": votes, "pages": found})
            with asked.note.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def review(db: Path) -> None:
    """Two queues; one person says MET or the like of all doubtful cells of some items."""
    from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer
    from core.services.review import claims, commit_reveal, queues, reviewers
    from core.store.store import Store

    store = Store(db)
    reviewers.sign_in(store, WHO)
    seat = reviewers.seat_of(store, WHO, "bench")
    for name in ("Doubtful", "Fresh"):
        queues.make_queue(store, seat, 1, name, QueueRule(), QueueSettings(), seed=1)
    for _ in range(REVIEWED):
        ticket = claims.claim_next(store, seat, 1)
        assert ticket is not None
        cells = commit_reveal.blind_item(store, ticket).cells
        said = {cell.criterion.name: ReviewerAnswer(0, note="So.") for cell in cells if cell.mine}
        done = commit_reveal.commit(store, ticket, said)
        done = commit_reveal.finish(store, done.ticket, said)
        claims.release(store, done.ticket)
    store.close()


def scripts() -> dict[str, tuple[float, float]]:
    """Prints seconds per page: the first visit, and the fastest of three more; gives the CPU's.

    The processor's seconds stand beside the clock's: on a busy machine only they say anything.
    """
    import logging

    import pandas as pd
    import plotly.graph_objects as go
    from streamlit.testing.v1 import AppTest

    logging.disable(logging.WARNING)
    found = dict[str, tuple[float, float]]()
    heads = "".join(f"{h:>8}" for h in ("first", "cpu", "goal", "again", "cpu", "goal"))
    print(f"{'page':<26}{heads}   seconds ({pd.__name__}, {go.__name__} loaded)")
    for name, parameters in ADDRESSES:
        times = []
        for _ in range(4):
            test = AppTest.from_file(str(FRAME), default_timeout=600)
            _sit_down(test)
            test.run()
            for key, value in parameters.items():
                test.query_params[key] = value
            test.switch_page(str(SCREENS[name.split(",")[0]].script))
            began, cpu = time.perf_counter(), time.process_time()
            test.run()
            # What takes some seconds is worked out when asked for, on a click.
            asked = [button for button in test.button if button.label == "Work them out"]
            if asked:
                asked[0].click().run()
            times.append((time.perf_counter() - began, time.process_time() - cpu))
            assert not test.exception, (name, test.exception)
        first, again = times[0][1], min(cpu for _, cpu in times[1:])
        figures = (*times[0], goal(name), min(clock for clock, _ in times[1:]), again, AGAIN)
        beyond = " beyond" if first > goal(name) or again > AGAIN else ""
        print(f"{name:<26}" + "".join(f"{one:>8.3f}" for one in figures) + beyond, flush=True)
        found[name] = first, again
    over = [name for name, (first, again) in found.items() if first > goal(name) or again > AGAIN]
    print(
        f"{len(found) - len(over)} of {len(found)} pages within their goals"
        + "".join(map("; {}".format, over))
    )
    return found


def goal(page: str) -> float:
    """How many seconds of CPU its first visit may take."""
    return 2.0 if page == "report" else 1.0


def _sit_down(test: Any) -> None:
    """What a browser would say of who is at it."""

    test.session_state[NAME] = WHO
    test.session_state[SESSION] = "bench"


def browser(db: Path) -> None:
    """Prints seconds from navigation to a settled page, the median of five."""
    from playwright.sync_api import sync_playwright

    port = 8923
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
        env={**os.environ, "PYTHONPATH": "."},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with sync_playwright() as play:
            chromium = play.chromium.launch(
                executable_path="/usr/bin/chromium",
                args=["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"],
            )
            page = chromium.new_context(viewport={"width": 1400, "height": 1000}).new_page()
            _wait_for(page, port)
            for name, parameters in ADDRESSES:
                path = SCREENS[name.split(",")[0]].url.replace("start", "")
                query = "&".join(f"{k}={v}" for k, v in parameters.items())
                address = f"http://localhost:{port}/{path}?{query}"
                times = sorted(_visit(page, address) for _ in range(6))
                print(f"{name:<26}{times[2]:>8.2f} s (slowest {times[-1]:.2f})")
    finally:
        server.terminate()
        server.wait()


def _wait_for(page: object, port: int) -> None:
    from playwright.sync_api import Error

    for _ in range(100):
        try:
            page.goto(f"http://localhost:{port}/")  # type: ignore[attr-defined]
        except Error:
            time.sleep(0.3)
        else:
            return


def _visit(page: object, address: str) -> float:
    page.goto("about:blank")  # type: ignore[attr-defined]
    began = time.perf_counter()
    page.goto(address)  # type: ignore[attr-defined]
    page.wait_for_selector(  # type: ignore[attr-defined]
        '[data-testid="stApp"][data-test-script-state="notRunning"]'
    )
    page.wait_for_selector('[data-testid="stMainBlockContainer"] h1')  # type: ignore[attr-defined]
    page.wait_for_function(  # type: ignore[attr-defined]
        "()=>!document.querySelector('[data-testid=stSkeleton]')"
        "&&!document.querySelector('[data-stale=true]')"
    )
    return time.perf_counter() - began


if __name__ == "__main__":
    main()

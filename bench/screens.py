"""Times pages on a data file with 100,000 votes: `python bench/screens.py [--browser]`.

Script time is that of a page's whole run in Streamlit's AppTest, in this process, with the imports
done: the first visit (nothing remembered) and the fastest of three more. With `--browser`, a server
is started on the file and Chromium opens every address in a context that has the app's scripts
already; the figure is from navigation to the moment the script has ended and nothing is stale.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.filled import fill

FRAME = Path(__file__).resolve().parents[1] / "pages" / "frame.py"
ADDRESSES = (
    ("runs", {}),
    ("runs, plan", {"plan": "new", "rubric": "1", "dataset": "1"}),
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
    ("datasets", {}),
    ("judges", {}),
)
FILES = {
    "run": "grade/run.py",
    "item": "grade/run.py",
    "runs": "grade/runs.py",
    "start": "home/start.py",
    "rubrics": "author/rubrics.py",
    "datasets": "author/datasets.py",
    "judges": "grade/judges.py",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=10_050)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--browser", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = asked.db or Path(folder) / "bench.db"
        if not db.exists():
            began = time.perf_counter()
            fill(db, items=asked.items)
            print(
                f"filled in {time.perf_counter() - began:.1f} s, {db.stat().st_size / 1e6:.0f} MB"
            )
        os.environ["RUBRIC_STUDIO_DB"] = str(db)
        from core.store.store import Store

        print(f"{Store(db).counts().votes:,} votes")
        browser(db) if asked.browser else scripts()


def scripts() -> None:
    """Prints seconds per page: the first visit, and the fastest of three more."""
    import logging

    import pandas as pd
    import plotly.graph_objects as go
    from streamlit.testing.v1 import AppTest

    logging.disable(logging.WARNING)
    print(f"{'page':<26}{'first':>8}{'again':>8}   seconds ({pd.__name__}, {go.__name__} loaded)")
    for name, parameters in ADDRESSES:
        times = []
        for _ in range(4):
            test = AppTest.from_file(str(FRAME), default_timeout=60)
            test.run()
            for key, value in parameters.items():
                test.query_params[key] = value
            test.switch_page(FILES[name.split(",")[0]])
            began = time.perf_counter()
            test.run()
            times.append(time.perf_counter() - began)
            assert not test.exception, (name, test.exception)
            assert test.title, name
        print(f"{name:<26}{times[0]:>8.3f}{min(times[1:]):>8.3f}")


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
                path = FILES[name.split(",")[0]].split("/")[1][:-3].replace("start", "")
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

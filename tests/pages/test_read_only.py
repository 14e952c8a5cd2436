"""Every page of a data file that cannot be written: it is shown, and says so."""

from __future__ import annotations

import json
import os
from pathlib import Path

from core.domain.review import QueueRule, QueueSettings
from core.services.review import queues
from core.store.store import Store
from tests.read_only import begin, locked
from tests.services.results.partly_assessed import partly_assessed
from tests.services.reviewed import sit

SCRIPT = """
import json
from pages.ui.routes import SCREENS
from tests.pages.conftest import open_page, shown
for screen in SCREENS:
    app = open_page(screen, run="1", queue="1", rubric="1", dataset="1")
    print(json.dumps([screen.url, [str(one.value) for one in app.get("error")], shown(app)]))
"""


def test_every_page_is_shown_and_nothing_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path / "studio.db")
    run = partly_assessed(store)
    lead = sit(store, "Lea")
    queues.make_queue(store, lead, run, "All", QueueRule(everything=True), QueueSettings())
    path = tmp_path / "archive" / "studio.db"
    store.backup(path)
    with locked(path.parent):
        environment = {**os.environ, "RUBRIC_STUDIO_DB": str(path), "RUBRIC_STUDIO_RUNNER": "none"}
        out, errors = begin("-c", SCRIPT, env=environment).communicate(timeout=240)
        pages = [json.loads(line) for line in out.splitlines() if line.startswith("[")]
        assert len(pages) > 15, errors[-2000:]
        wrong = {url: said for url, said, _ in pages if "cannot be written" in str(said)}
        silent = [url for url, _, words in pages if "can only be read here" not in words]
        assert (wrong, silent) == ({}, [])
    assert [one.name for one in path.parent.iterdir()] == ["studio.db"]

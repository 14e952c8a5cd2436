"""What a process was at is known after it was killed, and goes away with it otherwise."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from core.store.runs import logbook
from tests.places import ROOT

NOTES = """
import os, sys, time
from pathlib import Path
from core.store.runs.logbook import Logbook, path_of
book = Logbook(path_of(Path(sys.argv[1]), "host:1:dead"))
book.begin(7, 3, 40)
for _ in range(12):
    book.went_out(7, 1)
book.record_heartbeat()
book.record_work(b"the fifth")
print("noted", flush=True)
time.sleep(60)
"""


def test_after_a_kill_the_last_note_is_there_and_is_swept_once_nobody_needs_it(
    tmp_path: Path,
) -> None:
    db = tmp_path / "studio.db"
    process = subprocess.Popen(
        [sys.executable, "-c", NOTES, db], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "noted\n"
    logbook.delete_dead_logbooks(db, ())  # it lives: nobody takes its logbook away
    process.send_signal(signal.SIGKILL)
    process.communicate()
    noted = logbook.read_logbook(path := logbook.path_of(db, "host:1:dead"))
    assert noted is not None
    assert (noted.moves, noted.at) == (1, b"the fifth")
    # 12 calls went out, of which 5 were recorded after the 40 that had been before.
    assert noted.unrecorded(7, 3, 45) == 7
    assert noted.unrecorded(7, 2, 45) is None
    logbook.delete_dead_logbooks(db, ["host:1:dead"])
    assert path.exists()
    logbook.delete_dead_logbooks(db, ())
    assert not path.exists()


def test_a_logbook_is_private_and_gone_when_its_process_ends_in_order(tmp_path: Path) -> None:
    db = tmp_path / "studio.db"
    with logbook.logbook_for(db, "host:1:ab") as book:
        book.begin(1, 1, 0)
        book.end(1)
        (path,) = logbook.logbooks_of_process(db, "host:1:")
        assert path.stat().st_mode & 0o777 == 0o600
        assert logbook.read_logbook(path) == (0, b"", {})
    assert list(tmp_path.iterdir()) == []


def test_where_no_file_can_be_made_work_goes_on_without(tmp_path: Path) -> None:
    with logbook.logbook_for(tmp_path / "none" / "studio.db", "host:1:ab") as book:
        book.record_heartbeat()
        book.record_work(b"somewhere")
        book.begin(1, 1, 0)
        book.went_out(1, 1)

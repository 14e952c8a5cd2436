"""A check that would never end takes its own cell, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.panel import Panel
from core.formats.folder import read_dataset_file, read_rubric_file
from core.judging.checks import desk
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import Runner
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.services.runs.world import ROOT, until

RUBRIC = "name: Forms\ncriteria:\n- {name: fits, requirement: It fits the form.}\n"
ITEMS, HUNG = 200, "i100"


def doubled(levels: int) -> dict[str, Any]:
    """A schema of so many levels, each of which asks for the next one twice."""
    steps = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(levels)} | {
        f"d{levels}": {"type": "string"}
    }
    return {"properties": {"deep": {"$ref": "#/$defs/d0"}}, "$defs": steps}


AS_AND_NO_END = "a" * 60 + "!"
#: A schema, and a text that it would take hours for.
HANGING: dict[str, tuple[dict[str, Any], Any]] = {
    "uniqueItems": ({"uniqueItems": True}, [{"n": at, "s": [str(at)]} for at in range(60_000)]),
    "pattern": ({"properties": {"deep": {"pattern": "^(a+)+$"}}}, {"deep": AS_AND_NO_END}),
    "patternProperties": ({"patternProperties": {"^(a+)+$": {}}}, {AS_AND_NO_END: 1}),
    "allOf": (doubled(40), {"deep": "a"}),
}


def written(folder: Path, kind: str = "pattern") -> list[object]:
    """The words that grade a dataset in which one text hangs, and the panel's name for files."""
    schema, hostile = HANGING[kind]
    judge = {"name": "forms", "kind": "check", "checks": {"fits": {"json_schema": schema}}}
    lines = [
        {"id": f"i{at:03}", "submission": json.dumps(hostile if f"i{at:03}" == HUNG else {})}
        for at in range(ITEMS)
    ]
    (folder / "rubric.yaml").write_text(RUBRIC)
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "panel.json").write_text(json.dumps({"name": "p", "judges": [judge]}))
    files = [folder / "rubric.yaml", folder / "items.jsonl", "--panel", folder / "panel.json"]
    return ["grade", *files, "--db", folder / "x.db"]


def queued(store: Store, folder: Path) -> int:
    written(folder)
    judges = json.loads((folder / "panel.json").read_text())["judges"]
    rubric = read_rubric_file(folder / "rubric.yaml").value
    dataset = read_dataset_file(folder / "items.jsonl").value
    request = RunRequest(
        rubric_version=store.rubrics.create(rubric, now=clock.now()).id,
        dataset_version=store.datasets.create(dataset, now=clock.now()).id,
        panel=Panel.model_validate({"judges": judges}),
        seed=1,
    )
    return lifecycle.start(store, request)


def children(parent: int) -> list[int]:
    """The processes for checks that a process or one of its own started, by the list of all."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    found = list[int]()
    for pid, above, words in rows:
        if int(above) == parent:
            found += [int(pid)] if "judging.checks" in words else children(int(pid))
    return found


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


#: The command line, with so long a patience that a signal surely comes in the middle of a hang.
PATIENT = (
    "from core.judging.checks import desk; desk.PATIENCE = 600.0; "
    "from core.cli.main import main; main()"
)


def running(*words: object, patient: bool = False) -> subprocess.Popen[str]:
    how = ["-c", PATIENT] if patient else ["-m", "core.cli"]
    return subprocess.Popen(
        [sys.executable, *how, *map(str, words)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("kind", HANGING)
def test_one_hanging_text_among_200_takes_its_own_cell(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long enough for the checks that do not hang on a machine with much else to do.
    monkeypatch.setattr(desk, "PATIENCE", 3.0)

    done = cli(*written(tmp_path, kind), "--json")

    figures = json.loads(done.stdout)
    assert (done.returncode, figures["status"]) == (1, "done")
    assert (figures["votes"], figures["failures"]) == (ITEMS - 1, {"code": 1})
    (failure,) = Store(tmp_path / "x.db").votes.open_failures(1)
    assert "'forms'" in failure.message
    assert f"'{HUNG}'" in failure.message
    assert "3 s" in failure.message


def test_what_hung_is_asked_again_by_retry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "PATIENCE", 2.0)
    words = written(tmp_path)
    cli(*words)
    again = json.loads(cli("retry", 1, "--db", tmp_path / "x.db", "--json").stdout)
    assert (again["votes"], again["failures"]) == (ITEMS - 1, {"code": 1})


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_in_the_middle_of_a_hang_a_signal_ends_all(tmp_path: Path, sent: signal.Signals) -> None:
    store = new_store(tmp_path / "x.db")
    process = running(*written(tmp_path), patient=True)
    until(lambda: bool(store.runs.list()) and store.runs.row(1).votes >= 100, 60)
    (child,) = children(process.pid)
    process.send_signal(sent)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.splitlines()[-1]) == (
        130,
        "Interrupted. What was finished is kept.",
    )
    assert not alive(child)
    assert store.runs.row(1).status == "interrupted"


def test_a_child_ends_itself_where_its_parent_was_killed(tmp_path: Path) -> None:
    store = new_store(tmp_path / "x.db")
    process = running(*written(tmp_path), patient=True)
    until(lambda: bool(store.runs.list()) and store.runs.row(1).votes >= 100, 60)
    (child,) = children(process.pid)
    process.kill()
    process.communicate(timeout=60)
    until(lambda: not alive(child), 60)


def test_a_worker_goes_on_with_other_cells_and_other_runs(store: Store, tmp_path: Path) -> None:
    runs = [queued(store, tmp_path) for _ in range(2)]
    process = running("worker", "--db", store.path)
    until(lambda: all(not store.runs.row(run).active for run in runs), 120)
    (first, *others) = children(process.pid)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    for run in runs:
        row = store.runs.row(run)
        assert (row.status, row.votes) == ("done", ITEMS - 1)
        assert [one.cell.item for one in store.votes.open_failures(run)] == [HUNG]
    assert not any(map(alive, (first, *others)))


def test_in_the_middle_of_a_hang_a_worker_gives_its_run_back(store: Store, tmp_path: Path) -> None:
    run = queued(store, tmp_path)
    # As its keeper starts it.
    process = running("worker", "--with-parent", "--db", store.path, patient=True)
    until(lambda: store.runs.row(run).votes >= 100, 60)
    (child,) = children(process.pid)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert (process.returncode, store.runs.row(run).status) == (0, "queued")
    assert (alive(child), store.votes.open_failures(run)) == (False, [])


def test_a_runner_in_the_apps_own_process_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "PATIENCE", 2.0)
    run = queued(store, tmp_path)
    runner = Runner(Store(store.path)).start()
    until(lambda: not store.runs.row(run).active, 60)
    runner.stop()
    assert (store.runs.row(run).status, store.runs.row(run).votes) == ("done", ITEMS - 1)

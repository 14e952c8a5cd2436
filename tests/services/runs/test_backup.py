"""`backup`, `verify`, and that a plain copy of the data file after a run is whole."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.provider import Provider
from tests.services.runs.test_kept_answers import run, with_judge
from tests.services.runs.world import ROOT, by_request, slowly, until, votes_of, write_files


def test_when_a_run_has_ended_a_plain_copy_of_the_file_holds_all_of_it(
    store: Store, request_: RunRequest, tmp_path: Path
) -> None:
    # This connection stays open, as the app's do: so SQLite itself clears no log away.
    assert store.counts().votes == 0
    threading.Thread(target=run, args=(Store(store.path), request_)).start()
    until(lambda: bool(store.runs.list()) and store.runs.row(1).status == "done")
    until(lambda: store.path.with_name("studio.db-wal").stat().st_size == 0)
    shutil.copy(store.path, tmp_path / "copy.db")
    assert len(votes_of(Store(tmp_path / "copy.db"))) == 12


def test_a_backup_taken_while_a_run_goes_on_is_whole_and_sound(
    store: Store, request_: RunRequest, provider: Provider, tmp_path: Path
) -> None:
    provider.rule = lambda body: slowly(body, 0.2)
    run_id = lifecycle.start(store, with_judge(request_, concurrency=1))
    thread = threading.Thread(target=work_here, args=(Store(store.path), run_id))
    thread.start()
    until(lambda: store.runs.row(run_id).votes >= 3)
    target = tmp_path / "copy.db"
    done = cli("backup", target, "--db", store.path, "--json")
    thread.join(30)
    said = json.loads(done.stdout)
    assert done.returncode == 0
    assert said == {
        "file": str(target), "bytes": target.stat().st_size, "runs": 1, "votes": said["votes"]
    }  # fmt: skip
    assert 3 <= said["votes"] < 12
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*.part")) + list(tmp_path.glob(".*.part"))
    sound = cli("verify", "--db", target, "--json")
    assert (sound.returncode, json.loads(sound.stdout)) == (0, {"ok": True, "problems": []})
    copy = Store(target)
    assert len(votes_of(copy)) == said["votes"]
    # It goes on where it was: what was answered is not asked again.
    provider.requests.clear()
    lifecycle.resume(copy, run_id)
    assert json.loads(cli("resume", run_id, "--db", target, "--json").stdout)["votes"] == 12


def test_a_backup_replaces_nothing_unless_told_and_never_the_data_file(
    store: Store, request_: RunRequest, tmp_path: Path
) -> None:
    run(store, request_)
    there = tmp_path / "there.db"
    there.write_text("kept")
    done = cli("backup", there, "--db", store.path)
    assert (done.returncode, there.read_text()) == (2, "kept")
    assert "is there already" in done.stderr
    assert cli("backup", there, "--db", store.path, "--force").returncode == 0
    assert len(votes_of(Store(there))) == 12
    itself = cli("backup", store.path, "--db", store.path, "--force")
    assert itself.returncode == 2
    assert "is the data file itself" in itself.stderr
    nowhere = cli("backup", there / "folder.db", "--db", store.path)
    assert nowhere.returncode == 2
    assert "Traceback" not in nowhere.stderr


def test_a_backup_makes_the_folder_it_goes_to_for_its_owner_alone(
    store: Store, tmp_path: Path
) -> None:
    target = tmp_path / "copies" / "monday" / "studio.db"
    done = cli("backup", target, "--db", store.path)
    assert (done.returncode, done.stderr) == (0, "")
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700
    assert cli("verify", "--db", target).returncode == 0


def test_a_copy_taken_under_load_is_restored_elsewhere_after_a_kill_and_lacks_only_what_came_later(
    tmp_path: Path, provider: Provider
) -> None:
    provider.rule = lambda body: slowly(body, 0.05)
    rubric, dataset = write_files(tmp_path, items=40)
    db, copy = tmp_path / "studio.db", tmp_path / "copies" / "studio.db"
    new_store(db).close()
    words = ("--judge", "openai/ada", "--api-base", provider.url, "--concurrency", 4, "--db", db)
    running = subprocess.Popen(
        [sys.executable, "-m", "core.cli", "grade", *map(str, (rubric, dataset, *words))],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: provider.count > 20, 60)
    before = votes_of(Store(db))
    assert cli("backup", copy, "--db", db).returncode == 0
    running.kill()
    running.wait()
    killed = votes_of(Store(db))
    db.unlink()  # the disk is gone, too

    restored = tmp_path / "elsewhere" / "data" / "studio.db"
    restored.parent.mkdir(parents=True)
    shutil.copy(copy, restored)
    assert cli("verify", "--db", restored).returncode == 0
    kept = votes_of(Store(restored))
    # Everything that had been kept when the copy began, and each as it was; at most what came after
    # is missing.
    assert 0 < len(before) <= len(kept) <= len(killed)
    assert before.items() <= kept.items() <= killed.items()
    provider.rule = by_request
    done = json.loads(cli("resume", 1, "--db", restored, "--json").stdout)
    assert (done["status"], done["votes"]) == ("done", 40 * 3)
    whole = votes_of(Store(restored))
    assert killed.items() <= whole.items()  # what was lost is answered as before
    assert cli("verify", "--db", restored).returncode == 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE vote SET reason = 'another' WHERE id = 3",
        "UPDATE call SET cost = cost + 1 WHERE id = 1",
        "UPDATE run_item SET score = 0.123 WHERE item_id = 'i001'",
        "DELETE FROM vote WHERE id = 5",
        "UPDATE rubric_version SET content = replace(content, 'policy', 'police')",
    ],
)
def test_of_a_damaged_file_no_copy_is_kept_and_the_older_copy_stays(
    change: str, store: Store, request_: RunRequest, tmp_path: Path
) -> None:
    run(store, request_)
    copy = tmp_path / "copies" / "studio.db"
    assert cli("backup", copy, "--db", store.path).returncode == 0
    good = copy.read_bytes()
    behind = sqlite3.connect(store.path)
    for table in ("vote", "call", "rubric_version"):
        for verb in ("update", "delete"):
            behind.execute(f"DROP TRIGGER {table}_is_never_{verb}d")
    behind.execute(change)
    behind.commit()
    behind.close()
    done = cli("backup", copy, "--db", store.path, "--force", "--json")
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (1, False)
    assert "was not written" in done.stderr
    assert copy.read_bytes() == good
    assert [path.name for path in copy.parent.iterdir()] == ["studio.db"]
    # Whoever wants it all the same gets it, and is told.
    kept = cli("backup", copy, "--db", store.path, "--force", "--damaged")
    assert (kept.returncode, "not" in kept.stderr) == (1, True)
    assert cli("verify", "--db", copy).returncode == 1


def test_of_a_file_with_damaged_pages_no_copy_is_kept(
    store: Store, request_: RunRequest, tmp_path: Path
) -> None:
    run(store, request_)
    whole = tmp_path / "whole.db"
    store.backup(whole)
    data, copy = whole.read_bytes(), tmp_path / "copies" / "studio.db"
    pages = len(data) // 4096
    for page in range(0, pages, max(1, pages // 12)):
        broken = tmp_path / "broken.db"
        start = max(100, page * 4096)  # the header of the file says which it is
        broken.write_bytes(data[:start] + b"\xff" * 700 + data[start + 700 :])
        if page == pages - 1:
            broken.write_bytes(data[: page * 4096])
        done = cli("backup", copy, "--db", broken)
        assert (done.returncode in (1, 2), "Traceback" in done.stderr) == (True, False), page
        assert not copy.exists()


def test_what_a_kill_left_of_a_copy_goes_and_what_somebody_writes_stays(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    script = (
        "import sys, time; from pathlib import Path; from core.part_files import part_file\n"
        "with part_file(Path(sys.argv[1])) as part:\n"
        "    part.write_text('what pupils wrote'); print('ready', flush=True); time.sleep(60)\n"
    )

    def writer(name: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", script, str(folder / name)]
        process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    killed, (other, living) = writer("killed.db"), (folder / ".other.part", writer("living.db"))
    other.write_text("another program's")
    killed.kill()
    killed.communicate()
    assert len(list(folder.glob(".rubric-studio-*.part"))) == 2
    assert cli("backup", folder / "studio.db", "--db", store.path).returncode == 0
    assert len(list(folder.glob(".rubric-studio-*.part"))) == 1
    living.kill()
    living.communicate()
    Store(folder / "studio.db")  # a start beside them is enough
    assert list(folder.glob(".*.part")) == [other]


@pytest.mark.parametrize("verb", [("verify",), ("backup", "copy.db")])
def test_without_a_data_file_none_is_made(verb: tuple[str, ...], tmp_path: Path) -> None:
    db = tmp_path / "folder" / "none.db"
    words = [tmp_path / word if word.endswith(".db") else word for word in verb]
    done = cli(*words, "--db", db)
    assert done.returncode == 2
    assert "There is no data file here yet" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ("UPDATE run_item SET score = 0.123 WHERE item_id = 'i001'", "run 1, item i001", "score"),
        (
            "UPDATE cell SET option = 1 - option WHERE item_id = 'i002' AND criterion = 'cites'",
            "run 1, item i002",
            "the verdict on cites",
        ),
        ("UPDATE run SET votes = 11", "run 1", "it counts 11 votes, and has 12"),
        ("DELETE FROM rubric_version", "row 1", "rubric_version"),
    ],
)
def test_verify_finds_what_its_votes_do_not_make(
    change: str, where: str, what: str, store: Store, request_: RunRequest
) -> None:
    run(store, request_)
    assert cli("verify", "--db", store.path).returncode == 0
    behind = sqlite3.connect(store.path)
    behind.execute("DROP TRIGGER IF EXISTS rubric_version_is_never_deleted")
    behind.execute(change)
    behind.commit()
    behind.close()
    done = cli("verify", "--db", store.path, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    assert any(where in one["where"] and what in one["what"] for one in report["problems"])


def test_verify_finds_damage_in_the_bytes(store: Store, request_: RunRequest) -> None:
    run(store, request_)
    store.close()
    data = bytearray(store.path.read_bytes())
    size = 4096
    data[3 * size : 3 * size + 600] = b"\xff" * 600
    store.path.write_bytes(data)
    done = cli("verify", "--db", store.path, "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["ok"]) == (1, False)
    assert report["problems"][0]["where"] == "the file"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("show", 1, "i000"),
        ("score", 1),
        ("metrics", 1),
        ("export", 1, "--format", "csv", "--out", "-"),
        ("backup", "copy.db"),
    ],
)
def test_of_a_text_that_nobody_wrote_so_every_command_says_that_the_file_is_damaged(
    words: tuple[object, ...], store: Store, request_: RunRequest, tmp_path: Path
) -> None:
    run(store, request_)
    behind = sqlite3.connect(store.path)
    for table in ("vote", "item", "dataset_version"):
        behind.execute(f"DROP TRIGGER {table}_is_never_updated")
    behind.execute(
        "UPDATE vote SET reason = CAST(x'ff' AS TEXT), probabilities = CAST(x'ff' AS TEXT)"
    )
    behind.execute("UPDATE item SET content = CAST(x'ff' AS TEXT)")
    behind.commit()
    behind.close()
    target = [tmp_path / word if word == "copy.db" else word for word in words]
    done = cli(*target, "--db", store.path)
    assert done.returncode in (1, 2)
    assert "damaged" in done.stderr or "not sound" in done.stderr

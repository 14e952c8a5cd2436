"""A stranger's panel, run or data file takes no secret of this machine where nobody allowed it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rubric_studio as rs
from core import clock
from core.domain.panel import Judge, Panel
from core.errors import InputError
from core.services.assist import rubric_draft
from core.services.judges import connection, registry
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest, plan_run
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.provider import Provider, status
from tests.services.runs.batch_world import killed_at
from tests.services.runs.test_cluster import cluster
from tests.services.runs.world import asked_of, by_request, write_files

NAME, VALUE = "AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI-K7MDENG"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv(NAME, VALUE)


@pytest.fixture
def theirs() -> Iterator[Provider]:
    """The stranger's server."""
    with Provider() as server:
        server.rule = by_request
        yield server


def allowed() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"]) / "rubric-studio" / "allowed.json"


def planted(theirs: Provider, **more: Any) -> dict[str, Any]:
    """A judge who has a secret sent to the stranger."""
    return {"name": "ann", "model": "m", "api_base": theirs.url, "key_env": NAME, "tries": 1} | more


def panel_file(folder: Path, *judges: dict[str, Any]) -> Path:
    (folder / "panel.json").write_text(json.dumps({"judges": judges}))
    return folder / "panel.json"


def grade(folder: Path, *more: object) -> Any:
    rubric, dataset = write_files(folder, items=2)
    return cli("grade", rubric, dataset, "--db", folder / "x.db", "--json", *more)


def secrets_at(theirs: Provider) -> list[str]:
    return [str(asked.headers) for asked in theirs.requests if VALUE in str(asked.headers)]


def test_a_panel_file_is_asked_for_once_in_a_sentence_that_shows_both(
    theirs: Provider, tmp_path: Path
) -> None:
    panel = panel_file(tmp_path, planted(theirs))
    refused = grade(tmp_path, "--panel", panel)
    assert (refused.returncode, theirs.count) == (2, 0)
    for said in (str(panel), NAME, "127.0.0.1", theirs.url.rstrip("/"), "--trust", "ann"):
        assert said in refused.stderr
    assert VALUE not in refused.stderr
    assert json.loads(cli("runs", "--db", tmp_path / "x.db", "--json").stdout)["runs"] == []

    assert grade(tmp_path, "--panel", panel, "--trust").returncode == 0
    assert len(secrets_at(theirs)) == theirs.count > 0
    assert grade(tmp_path, "--panel", panel).returncode == 0  # and from now on it may
    assert allowed().stat().st_mode & 0o077 == 0
    assert VALUE not in allowed().read_text()


@pytest.mark.parametrize(
    "another",
    [
        {"key_env": "GITHUB_TOKEN"},
        {"replicas": ["http://127.0.0.1:9/v1"]},
        {"params": {"extra_headers": {"X-Note": {"env": "GITHUB_TOKEN"}}}},
        {"params": {"user": [{"env": "GITHUB_TOKEN"}]}},
    ],
)
def test_what_was_allowed_is_one_variable_for_one_address(
    theirs: Provider, tmp_path: Path, another: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", VALUE)
    grade(tmp_path, "--panel", panel_file(tmp_path, planted(theirs)), "--trust")
    before = theirs.count
    refused = grade(tmp_path, "--panel", panel_file(tmp_path, planted(theirs, **another)))
    assert (refused.returncode, theirs.count) == (2, before)


def test_what_is_typed_is_not_asked_for(theirs: Provider, tmp_path: Path) -> None:
    words = ("--judge", "m", "--api-base", theirs.url, "--key-env", NAME)
    assert grade(tmp_path, *words).returncode == 0
    assert len(secrets_at(theirs)) == theirs.count > 0
    assert cli("retry", 1, "--db", tmp_path / "x.db").returncode == 0


@pytest.fixture
def sent(theirs: Provider, tmp_path: Path) -> Path:
    """A data file whose run the stranger graded, with a failure left to ask again."""
    theirs.say(status(400))
    grade(tmp_path, "--panel", panel_file(tmp_path, planted(theirs)), "--trust")
    allowed().unlink(missing_ok=True)
    theirs.requests.clear()
    return tmp_path / "x.db"


@pytest.mark.parametrize("verb", [("resume", 1), ("retry", 1), ("probe", 1), ("drift", 1, "--ask")])
def test_a_run_of_their_data_file_sends_nothing(
    theirs: Provider, sent: Path, verb: tuple[Any, ...]
) -> None:
    refused = cli(*verb, "--db", sent)
    assert (refused.returncode, theirs.count) == (2, 0)
    assert NAME in refused.stderr
    assert "--trust" in refused.stderr
    assert cli("resume", 1, "--db", sent, "--trust").returncode in (0, 1)
    assert cli("retry", 1, "--db", sent).returncode == 0
    assert len(secrets_at(theirs)) == theirs.count > 0


def test_a_contest_asks_as_well(theirs: Provider, tmp_path: Path) -> None:
    _, dataset = write_files(tmp_path, items=2)
    other = tmp_path / "other.jsonl"
    other.write_text(dataset.read_text().replace("Reply", "Answer"))
    panel = panel_file(tmp_path, planted(theirs))
    words = ("contest", dataset, other, "--criterion", "better", "--db", tmp_path / "x.db")
    refused = cli(*words, "--panel", panel)
    assert (refused.returncode, theirs.count) == (2, 0), refused.stderr
    assert (str(panel) in refused.stderr, NAME in refused.stderr) == (True, True)
    assert cli(*words, "--panel", panel, "--trust").returncode == 0
    assert len(secrets_at(theirs)) == theirs.count > 0


def queued(store: Store, judge: Judge, folder: Path, **more: Any) -> int:
    """A run as it stands in a stranger's data file, waiting for whoever works runs off."""
    asked = asked_of(store, judge, folder, 2)
    planned = plan_run(store, RunRequest(**{**vars(asked), **more}))
    return store.runs.create(planned.plan, planned.cells, now=clock.now()).id


@pytest.mark.parametrize("batch", [False, True])
def test_a_worker_that_takes_it_sends_nothing(
    theirs: Provider, tmp_path: Path, batch: bool
) -> None:
    store = new_store(tmp_path / "studio.db")
    run = queued(store, Judge(**planted(theirs)), tmp_path, batch=batch)
    assert (work_here(store, run), theirs.count) == ("failed", 0)
    assert NAME in (store.runs.row(run).message or "")


def test_cancelling_tells_their_server_nothing_with_a_key(
    theirs: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path / "studio.db")
    judge = Judge(**planted(theirs))
    run = queued(store, judge, tmp_path, batch=True)
    registry.permits.allow_sendings([judge])
    with monkeypatch.context() as patch:
        killed_at("bought", patch)
        with pytest.raises(SystemError):
            work_here(store, run)
    allowed().unlink()
    before = theirs.batches.headers[:]
    refused = cli("cancel", run, "--db", store.path)
    assert (refused.returncode, theirs.batches.headers) == (2, before)
    assert f"run {run}" in refused.stderr
    assert cli("cancel", run, "--db", store.path, "--trust").returncode == 0
    assert len(theirs.batches.headers) > len(before)


def test_the_owner_of_a_cluster_sends_nothing(theirs: Provider, tmp_path: Path) -> None:
    store = new_store(tmp_path / "studio.db")
    run = queued(store, Judge(**planted(theirs)), tmp_path)
    with cluster() as there:
        assert work_here(store, run, cluster=there.scheduler_address) == "failed"
        assert theirs.count == 0
        registry.save_judge(store, planted(theirs))
        lifecycle.resume(store, run)
        assert work_here(store, run, cluster=there.scheduler_address) == "done"
    assert len(secrets_at(theirs)) == theirs.count > 0


def ask_for_a_draft(store: Store, judge: Judge) -> object:
    request = rubric_draft.DraftRequest(judge, "Essays on tides.")
    return rubric_draft.begin(store, request)


@pytest.mark.parametrize(
    "way",
    [
        lambda store, judge: connection.check_connection(judge),
        lambda store, judge: connection.begin(store, judge),
        ask_for_a_draft,
    ],
    ids=["check", "test of a connection", "assist"],
)
def test_no_page_sends_it_either(
    theirs: Provider, tmp_path: Path, way: Callable[[Store, Judge], object]
) -> None:
    store = new_store(tmp_path / "studio.db")
    with pytest.raises(InputError, match=NAME):
        way(store, Judge(**planted(theirs)))
    assert theirs.count == 0


def test_a_judge_of_their_file_is_allowed_by_a_click_and_not_by_saving_it(
    theirs: Provider, tmp_path: Path
) -> None:
    store = new_store(tmp_path / "studio.db")
    store.judges.save(Judge(**planted(theirs)), now=clock.now())
    assert NAME in registry.get_judge(store, "ann").secrets_not_allowed[0]
    # Only what is changed was typed here.
    registry.save_judge(store, planted(theirs, weight=2), former="ann")
    registry.archive_judge(store, "ann")
    registry.restore_judge(store, store.judges.list(archived=True)[0].id)
    assert registry.get_judge(store, "ann").secrets_not_allowed
    registry.allow_judge(store, "ann")
    assert registry.get_judge(store, "ann").secrets_not_allowed == ()
    assert connection.check_connection(registry.get_judge(store, "ann").judge).tries == 1
    # What a person types on the page is allowed with it.
    registry.save_judge(store, planted(theirs, key_env="OWN_KEY"), former="ann")
    assert registry.get_judge(store, "ann").secrets_not_allowed == ()


def test_python_asks_as_well(theirs: Provider, tmp_path: Path) -> None:
    rubric, dataset = map(str, write_files(tmp_path, items=2))
    given: dict[str, Any] = {"db": tmp_path / "py.db", "progress": False}
    given["judges"] = [rs.Judge(**planted(theirs))]
    with pytest.raises(InputError, match=NAME):
        rs.grade(rubric, dataset, **given)
    assert theirs.count == 0
    run = rs.grade(rubric, dataset, trust=True, **given)
    assert len(secrets_at(theirs)) == theirs.count > 0
    allowed().unlink(missing_ok=True)
    with pytest.raises(InputError, match=NAME):
        rs.resume(run, progress=False)
    rs.resume(run, trust=True, progress=False)


def test_what_is_usual_needs_no_question() -> None:
    panel = Panel(
        judges=(
            Judge(name="a", model="openai/gpt-4.1-mini", key_env="OPENAI_API_KEY"),
            Judge(name="b", model="gemini/x"),
            Judge(name="c", model="m", api_base="http://stranger.example/v1"),
        )
    )
    assert registry.permits.secrets_not_allowed(panel.judges) == []


def test_a_file_of_what_is_allowed_that_cannot_be_read_allows_nothing(
    theirs: Provider, tmp_path: Path
) -> None:
    allowed().parent.mkdir(parents=True)
    allowed().write_text("{")
    refused = grade(tmp_path, "--panel", panel_file(tmp_path, planted(theirs)), "--trust")
    assert (refused.returncode, theirs.count) == (2, 0)
    assert str(allowed()) in refused.stderr

"""What a server says of itself: health, figures for whom they are meant, logs without secrets."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.errors import StoreError
from core.services.runs import lifecycle, monitoring, server, server_log
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.settings import load_settings
from core.store.store import Store
from tests.command_line import cli
from tests.provider import Provider, status

HERE = {"host": "localhost:8501"}
TOKEN = "planted-metrics-token"
NEVER_COPIED = "ok\nlast good backup: never\n"


async def behind(scope: Any, receive: Any, send: Any) -> None:
    """The app behind: it answers everything, with who asked."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"the app"})


def get(
    app: Any, path: str, client: str = "127.0.0.1", **headers: str
) -> tuple[int, str, dict[str, str]]:
    """What is answered: status, text, headers."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> None:
        given = {**HERE, **{name.replace("_", "-"): said for name, said in headers.items()}}
        scope = {
            "type": "http", "method": "GET", "path": path, "client": (client, 4711),
            "headers": [(n.encode(), v.encode()) for n, v in given.items()],
        }  # fmt: skip
        await app(scope, lambda: None, send)

    asyncio.run(ask())
    told = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], sent[1]["body"].decode(), told


def monitored(store: Callable[[], Store], token: str = "", base: str = "") -> Any:
    return monitoring.Monitor(behind, lambda: {"": store()}, token, base, lambda: 3)


def test_figures_are_those_of_the_data_file(
    store: Store, request_: RunRequest, provider: Provider
) -> None:
    provider.rule = lambda body: status(400)
    # 4 items x 3 criteria, each asked once and refused.
    work_here(store, lifecycle.start(store, request_))
    _, text, _ = get(app := monitored(lambda: store), "/metrics")
    where = provider.url.removeprefix("http://").removesuffix("/v1")
    lines = text.splitlines()
    assert 'rubric_studio_runs{status="done"} 1' in lines
    assert "rubric_studio_failures_open 12" in lines
    assert f'rubric_studio_calls_total{{provider="{where}"}} 12' in lines
    assert "rubric_studio_sessions 3" in lines
    assert f"rubric_studio_data_file_bytes {_size(store)}" in lines
    lifecycle.retry(store, 1)
    work_here(store, 1)
    # Counted on from where it was: 12 and 12 more.
    _, text, _ = get(app, "/metrics")
    assert f'rubric_studio_calls_total{{provider="{where}"}} 24' in text.splitlines()


def test_figures_of_workspaces_stand_side_by_side(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path / "arts" / "arts.db")
    app = monitoring.Monitor(behind, lambda: {"science": store, 'the "arts"': other})
    lines = get(app, "/metrics")[1].splitlines()
    at = lines.index("# TYPE rubric_studio_votes gauge")
    assert lines[at + 1 : at + 3] == [
        'rubric_studio_votes{workspace="science"} 0',
        'rubric_studio_votes{workspace="the \\"arts\\""} 0',
    ]


def _size(store: Store) -> int:
    return sum(file.stat().st_size for file in store.path.parent.glob("studio.db*")
               if not file.name.endswith("-shm"))  # fmt: skip


@pytest.mark.parametrize("path", ["/metrics", "/_stcore/metrics"])
def test_figures_are_for_this_machine_or_for_who_has_the_token(path: str, store: Store) -> None:
    def asked(token: str, client: str = "127.0.0.1", **headers: str) -> int:
        return get(monitored(lambda: store, token), path, client, **headers)[0]

    assert asked("") == 200
    # From elsewhere, through a proxy on this machine, or by a name that others can ask by.
    assert asked("", "10.0.0.7") == 403
    assert asked("", x_forwarded_for="10.0.0.7") == 403
    assert asked("", forwarded="for=10.0.0.7") == 403
    assert asked("", host="studio.example.org") == 403
    assert asked(TOKEN) == asked(TOKEN, authorization="Bearer planted") == 403
    assert asked(TOKEN, "10.0.0.7", authorization=f"Bearer {TOKEN}") == 200


def test_health_says_whether_the_data_file_can_be_read_and_grow(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert get(monitored(lambda: store), "/healthz", "10.0.0.7")[:2] == (200, NEVER_COPIED)

    def gone() -> Store:
        raise StoreError(f"{store.path} was deleted.")

    # A stranger may ask, so that it says no more than that.
    assert get(monitored(gone), "/healthz")[:2] == (503, "a data file is out of reach\n")
    monkeypatch.setattr(monitoring, "LEAST_ROOM", 10**18)
    assert get(monitored(lambda: store), "/healthz")[:2] == (503, "the disk is nearly full\n")


def test_health_and_figures_say_that_no_run_moves(
    store: Store, request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.seconds_now()
    monkeypatch.setattr(clock, "seconds_now", lambda: now)
    app = monitored(lambda: store)

    def asked(later: float) -> tuple[int, str]:
        monkeypatch.setattr(clock, "seconds_now", lambda: now + later)
        status, text, _ = get(app, "/healthz")
        return status, text.splitlines()[0]

    run_id = lifecycle.start(store, request_)
    assert asked(0) == (200, "ok")
    assert asked(59) == (200, "ok")  # a worker may be about to take it
    assert asked(60) == (503, "no run moves")
    assert "rubric_studio_still_seconds 60" in get(app, "/metrics")[1].splitlines()
    assert get(app, "/healthz/pages")[:2] == (200, "ok\n")  # people can go on working
    # Held by somebody it moves, however long its calls take.
    lease = store.leases.claim("me", at=now + 60, seconds=10)
    assert asked(60) == (200, "ok")
    # A lease that ended a minute ago: whoever held it does not move.
    assert asked(129) == (200, "ok")
    assert asked(130) == (503, "no run moves")
    assert lease is not None
    store.leases.release(lease, "failed", now=clock.now())
    assert asked(130) == (200, "ok")
    assert store.runs.row(run_id).status == "failed"


def test_health_and_figures_say_when_the_last_good_backup_was_made(
    store: Store, tmp_path: Path
) -> None:
    app = monitored(lambda: store)
    assert get(app, "/healthz")[1] == NEVER_COPIED
    assert "rubric_studio_last_backup_seconds 0" in get(app, "/metrics")[1].splitlines()
    assert cli("backup", tmp_path / "none" / "of" / "it", "--db", tmp_path / "no.db").returncode
    assert cli("backup", tmp_path / "copy.db", "--db", store.path).returncode == 0
    copied = str(store.settings.get(monitoring.LAST_BACKUP))
    assert get(app, "/healthz")[1] == f"ok\nlast good backup: {copied}\n"
    figures = [one.split() for one in get(app, "/metrics")[1].splitlines() if "#" not in one]
    told = dict(figures)["rubric_studio_last_backup_seconds"]
    assert abs(int(told) - clock.seconds_now()) < 600  # now, as the figure is rounded
    # Of several data files it is the one that was never copied.
    both = monitoring.Monitor(behind, lambda: {"a": store, "b": Store(tmp_path / "b.db")})
    assert get(both, "/healthz")[1] == NEVER_COPIED


def test_under_a_path_of_a_proxy_only_that_path_is_answered_and_files_stay_guarded(
    store: Store,
) -> None:
    app = monitored(lambda: store, base="studio/")
    assert get(app, "/studio/healthz")[1] == NEVER_COPIED
    assert get(app, "/studio/metrics", "10.0.0.7")[0] == 403
    assert get(app, "/studio/start")[1] == "the app"
    hosts = server.Hosts("127.0.0.1")
    guard = server.Guard(app, hosts, {}, member=lambda cookies, path: "known" in cookies)
    assert get(guard, "/studio/media/0123.csv")[0] == 403
    assert get(guard, "/studio/_stcore/upload_file/a/b")[0] == 403
    assert get(guard, "/studio/media/0123.csv", cookie="known")[0] == 200


def test_a_request_has_an_id_in_the_log_and_in_the_answer(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    _, _, told = get(monitored(lambda: store), "/start", x_request_id="from-the-proxy.1")
    assert told["x-request-id"] == "from-the-proxy.1"
    line = json.loads(server_log.JsonLines({}).format(caplog.records[-1]))
    assert line == {
        "at": line["at"], "level": "info", "logger": "core.services.runs.monitoring",
        "says": "answered", "method": "GET", "path": "/start", "status": 200,
        "ms": line["ms"], "request": "from-the-proxy.1",
    }  # fmt: skip
    _, _, told = get(monitored(lambda: store), "/start", x_request_id="a line\nmore")
    assert len(told["x-request-id"]) == 16  # its own: what cannot be an id is not written


KEY, JUDGED = "planted4Xy8Wm2secret", "The dog ate my homework"


def test_lines_of_the_log_hold_no_planted_key_and_no_judged_text(
    store: Store, request_: RunRequest, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    # Twenty in a row are an outage, which is logged with the provider's words.
    provider.rule = lambda body: status(401, f"You sent {KEY} and {JUDGED}")
    work_here(store, lifecycle.start(store, request_))
    log = logging.getLogger("core.test")
    log.warning("A key is %s, another %s.", KEY, "sk-proj-abcdefghijklmnop1234")
    try:
        raise ValueError(f"cannot read {JUDGED}")
    except ValueError:
        log.exception("run %(run)s ended with a defect", {"run": 7}, extra={"run": 7})
    log.error("%s %s", KEY, JUDGED, extra={"plain": "A question ended with a defect."})
    form = server_log.JsonLines({"SOME_API_KEY": KEY, "PATH": "/usr/bin"})
    lines = [form.format(record) for record in caplog.records]
    told = "\n".join(lines)
    assert (told.count(KEY), told.count(JUDGED), told.count("abcdefghijkl")) == (0, 0, 0)
    assert all(line == line.strip() and json.loads(line) for line in lines)
    defect = json.loads(lines[-2])
    assert (defect["run"], defect["error"]) == (7, "ValueError")
    assert defect["where"][0].endswith(
        "test_lines_of_the_log_hold_no_planted_key_and_no_judged_text"
    )
    assert [json.loads(line)["says"] for line in lines if '"run": 1' in line] == [
        "Run 1 has started.",
        "Run 1: done.",
    ]


def test_settings_say_how_a_server_logs_and_never_show_the_token() -> None:
    settings = load_settings(
        {"HOME": "/h", "RUBRIC_STUDIO_LOG": "json", "RUBRIC_STUDIO_METRICS_TOKEN": TOKEN}
    )
    assert (settings.json_log, settings.metrics_token) == ("info", TOKEN)
    assert TOKEN not in repr(settings)
    for name, value in (("RUBRIC_STUDIO_LOG", "xml"), ("RUBRIC_STUDIO_LOG_LEVEL", "loud")):
        with pytest.raises(Exception, match=f"{name} is '{value}'"):
            load_settings({"HOME": "/h", name: value})


def test_everything_a_process_logs_becomes_lines_of_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root, hook = logging.getLogger(), sys.excepthook
    before, level = root.handlers[:], root.level
    access = logging.getLogger("uvicorn.access")
    try:
        assert server_log.begin_log(None) is None
        server_log.begin_log("warning")
        logging.getLogger("anybody").warning("full")
        logging.getLogger("anybody").info("not said")
        assert access.disabled  # its lines hold the code of a sign-in
    finally:
        root.handlers[:], root.level, sys.excepthook, access.disabled = before, level, hook, False
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["says"] == "full"

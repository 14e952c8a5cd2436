"""A key that was planted in the environment is found nowhere: data file, logs, output, exports.

The provider repeats the header that it was sent in everything it says, errors and answers alike.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from core.cli import reports_as_text
from core.domain.panel import Judge
from core.services.access.permits import allow_sendings
from core.services.judges import connection
from core.services.runs import lifecycle
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.command_line import cli, cli_process
from tests.new_store import new_store
from tests.provider import Answer, Provider, malformed, ok, plain, refusal, said, status
from tests.services.runs.world import asked_of, write_files

KEY = "planted7Q2xW9vKs4secret"  # spelt like no provider's keys, so that only knowing it helps
NAME = "PLANTED_KEY"


def echo(provider: Provider) -> Any:
    """A rule that repeats what it was sent as Authorization in nine ways."""

    def rule(body: dict[str, Any]) -> Answer:
        sent = provider.requests[-1].headers["authorization"]
        words = f"You sent {sent} to me"
        return [
            status(400, words),
            status(500, words, error_code=sent),
            status(503, words),
            ok(1, reason=words),
            ok(1, reasoning_content=words),
            said(words),
            refusal(words),
            plain({"error": {"message": words, "code": 502}}),
            plain({"unexpected": words}),
            malformed(),
        ][provider.count % 10]

    return rule


def everything_in(path: Path) -> str:
    """The whole data file as text: its bytes, its tables, its packed prompts."""
    raw = b"".join(part.read_bytes() for part in path.parent.glob(f"{path.name}*"))
    connection = sqlite3.connect(path)
    tables = "\n".join(connection.iterdump())
    packed = connection.execute("SELECT body FROM segment").fetchall()
    connection.close()
    texts = [zlib.decompress(body).decode("utf-8", "surrogatepass") for (body,) in packed]
    return "\n".join([raw.decode("latin-1"), tables, *texts])


def places_of_a_run(
    tmp_path: Path,
    judge: Judge,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> dict[str, str]:
    """A run of that judge, some of whose calls fail, and five tests of its connection: all that is
    kept, logged and shown of them.
    """
    db = tmp_path / "data" / "studio.db"
    store = Store(db)
    request = asked_of(store, judge, tmp_path, items=10)
    with caplog.at_level(logging.DEBUG):
        run_id = lifecycle.start(store, request)
        work_here(store, run_id)
        told = [repr(connection.check_connection(judge)) for _ in range(5)]
    row = store.runs.row(run_id)
    assert row.votes > 0  # answers that repeat what was sent were kept ...
    assert row.failures_open > 0  # ... and errors that do
    shown = [reports_as_text.run_as_text(store, run_id)]
    for item in store.runs.item_ids(run_id):
        shown.append(json.dumps(reports_as_text.item_as_data(store, run_id, item)))
        shown.append(reports_as_text.item_as_text(store, run_id, item))
    store.close()
    out, err = capfd.readouterr()
    return {
        "data file": everything_in(db),
        "log": caplog.text,
        "output": out + err,
        "connection test": "\n".join(told),
        "exports": "\n".join(shown),
    }


@pytest.mark.parametrize("door", ["openai", "litellm"])
def test_a_planted_key_is_found_nowhere(
    door: Any,
    tmp_path: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(NAME, KEY)
    provider.rule = echo(provider)
    judge = Judge(name="ada", model="ada", api_base=provider.url, key_env=NAME, door=door, tries=2)
    allow_sendings([judge])
    places = places_of_a_run(tmp_path, judge, caplog, capfd)
    assert any(KEY in sent.headers["authorization"] for sent in provider.requests)
    assert {place: text.count(KEY) for place, text in places.items() if KEY in text} == {}
    # It was there to be hidden:
    assert "[key]" in places["data file"]
    assert "[key]" in places["exports"]


def test_the_command_line_does_not_print_it_either(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME, KEY)
    provider.rule = echo(provider)
    rubric, dataset = write_files(tmp_path, items=4)
    db = new_store(tmp_path / "studio.db").path
    asked = ("--judge", "openai/ada", "--api-base", provider.url, "--key-env", NAME)
    graded = cli_process("grade", rubric, dataset, *asked, "--concurrency", 1, "--db", db)
    shown = cli("show", 1, "i000", "--json", "--db", db)
    assert provider.count > 0
    text = graded.stdout + graded.stderr + shown.stdout + shown.stderr + everything_in(db)
    assert KEY not in text
    assert "[key]" in text

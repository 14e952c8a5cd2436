"""A server for a team from its terminal, and an app that lets no stranger in by accident."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import clock
from core.errors import InputError
from core.services.runs.server import serve_app
from core.settings import Settings
from core.store.store import Store
from tests.command_line import cli
from tests.services.access.made import team


def test_the_mode_is_local_without_a_configuration() -> None:
    said = cli("access", "check", "--json")
    assert json.loads(said.stdout) == {"mode": "local", "open": False}
    assert "Nobody else is let in" in cli("access", "check").stdout


def test_the_check_says_what_is_open_to_whom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team(tmp_path, monkeypatch)
    found = json.loads(cli("access", "check", "--json").stdout)
    assert found["mode"] == "team"
    assert found["admins"] == ["alice@example.org"]
    assert found["may"]["set judges"] == ["admin"]
    assert found["providers"][0]["key_env"] == "VLLM_KEY"
    text = cli("access", "check").stdout
    assert "viewer, reviewer, adjudicator, author, lead, admin may read rubrics" in text
    assert (
        "vllm: http://10.0.0.5:8000/v1 with the key in VLLM_KEY, for author, lead, at most 2 US"
        in text
    )


def test_members_are_set_and_listed_and_it_is_on_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team(tmp_path, monkeypatch)
    db = str(tmp_path / "studio.db")
    assert cli("access", "members", "--db", db).stdout == "Nobody has signed in yet.\n"
    assert cli("access", "set", "Bob@example.org", "author", "--db", db).returncode == 0
    assert cli("access", "set", "eve@example.org", "viewer", "--off", "--db", db).returncode == 0
    assert cli("access", "members", "--db", db).stdout == (
        "bob@example.org: author\neve@example.org: viewer, may not sign in\n"
    )
    # Kept by an earlier version: said to be what it is.
    Store(Path(db)).members.put("\u0430nn@example.org", "lead", disabled=False, now=clock.now())
    listed = cli("access", "members", "--db", db).stdout
    assert "\u0430nn@example.org: lead ('\\u0430nn@example.org' is not an e-mail address" in listed
    refused = cli("access", "set", "bob", "author", "--db", db)
    assert refused.returncode == 2
    assert "is not an e-mail address" in refused.stderr


def test_a_broken_configuration_stops_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBRIC_STUDIO_CONFIG", str(tmp_path / "gone.toml"))
    said = cli("runs", "--db", str(tmp_path / "studio.db"))
    assert said.returncode == 2
    assert "cannot be read" in said.stderr
    assert not (tmp_path / "studio.db").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "studio.example.org", "::"])
def test_an_app_that_asks_nobody_to_sign_in_listens_on_this_machine_only(
    tmp_path: Path, host: str
) -> None:
    with pytest.raises(InputError, match="sign-in is off"):
        serve_app(Settings(tmp_path / "studio.db"), 8501, host)

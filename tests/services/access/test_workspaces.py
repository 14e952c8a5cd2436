"""Workspaces: separate teams on one server, each with a data file and members of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from core import clock
from core.errors import InputError, NotFound
from core.services import open_store
from core.services.access import members
from core.settings import Settings, load_settings
from rubric_studio.results import opened
from tests.command_line import cli
from tests.services.access.made import CONFIG, team

WORKSPACES = """
[[workspace]]
name = "physics"
title = "Physics"
data = "physics.db"

[[workspace]]
name = "chemistry"
data = "elsewhere/chemistry.db"
new_members = "none"
"""


@dataclass
class Said:
    """What the provider of the login says of somebody."""

    email: str

    def now(self) -> dict[str, object]:
        return {"email": self.email, "email_verified": True, "iat": int(clock.seconds_now())}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    team(tmp_path, monkeypatch, CONFIG + WORKSPACES)
    return load_settings()


def role(settings: Settings, workspace: str, email: str, *, join: bool = True) -> str | None:
    there = settings.scoped(workspace)
    assert there.access is not None
    store = open_store(there)
    try:
        return members.actor(store, there.access, Said(email).now(), join=join).role
    finally:
        store.close()


def test_each_has_a_file_beside_the_configuration(settings: Settings, tmp_path: Path) -> None:
    found = {one.workspace.title: one.db for one in settings.each() if one.workspace}
    assert found == {
        "Physics": tmp_path / "physics.db",
        "chemistry": tmp_path / "elsewhere" / "chemistry.db",
    }
    with pytest.raises(NotFound):
        settings.scoped("biology")


def test_a_member_of_one_is_nobody_in_the_other_and_admins_are_in_all(settings: Settings) -> None:
    assert role(settings, "physics", "ann@example.org") == "viewer"
    # There only an admin adds somebody (new_members = "none").
    assert role(settings, "chemistry", "ann@example.org") is None
    assert role(settings, "chemistry", "alice@example.org") == "admin"
    store = open_store(settings.scoped("chemistry"))
    members.put(store, "ann@example.org", "lead")
    assert [row.email for row in members.all_members(store)] == [
        "alice@example.org",
        "ann@example.org",
    ]
    store.close()
    assert role(settings, "chemistry", "ann@example.org") == "lead"
    assert role(settings, "physics", "ann@example.org") == "viewer"


def test_asking_who_may_enter_makes_nobody_a_member(settings: Settings) -> None:
    assert role(settings, "physics", "ann@example.org", join=False) == "viewer"
    store = open_store(settings.scoped("physics"))
    assert store.members.list() == []
    store.close()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[[workspace]]\nname = "Physics"\ndata = "a.db"', "is not a name of a workspace"),
        ('[[workspace]]\nname = "a"', "is missing"),
        (
            '[[workspace]]\nname = "a"\ndata = "a.db"\n[[workspace]]\nname = "b"\ndata = "./a.db"',
            "is another's data file",
        ),
        (
            '[[workspace]]\nname = "a"\ndata = "a.db"\n[[workspace]]\nname = "a"\ndata = "b.db"',
            "is there twice",
        ),
        ('[[workspace]]\nname = "a"\ndata = "a.db"\nnew_members = "boss"', "is no role"),
    ],
)
def test_a_configuration_that_does_not_separate_them_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        team(tmp_path, monkeypatch, f"{CONFIG}\n{text}")


def test_a_command_says_which_one_it_means(settings: Settings, tmp_path: Path) -> None:
    unsaid = cli("runs")
    assert unsaid.returncode == 2
    assert "several workspaces: physics, chemistry" in unsaid.stderr
    assert cli("where", "--workspace", "physics").stdout == f"{tmp_path / 'physics.db'}\n"
    assert "this server has physics, chemistry" in cli("runs", "--workspace", "biology").stderr
    both = cli("runs", "--workspace", "physics", "--db", "x.db")
    assert "not both" in both.stderr
    assert cli("runs", "--db", str(tmp_path / "own.db"), "--json").returncode == 0
    with pytest.raises(InputError, match="several workspaces"), opened(None):
        pass


def test_the_check_says_who_is_what_where(settings: Settings, tmp_path: Path) -> None:
    said = cli("access", "set", "bob@example.org", "author", "--workspace", "chemistry")
    assert said.returncode == 0, said.stderr
    found = json.loads(cli("access", "check", "--json").stdout)["workspaces"]
    assert [one["members"] for one in found] == [
        [],
        [{"email": "bob@example.org", "role": "author", "may_sign_in": True}],
    ]
    # To ask makes nothing.
    assert not (tmp_path / "physics.db").exists()
    text = cli("access", "check").stdout
    assert f"Workspace physics (Physics): {tmp_path / 'physics.db'}; who signs in is viewer" in text
    assert "an admin adds its members\nbob@example.org: author" in text


def test_one_worker_works_for_all_of_them(settings: Settings, tmp_path: Path) -> None:
    import threading

    from core.services.runs.keeping.keeper import work_until_stopped
    from core.services.runs.runner import Runner

    stores = [open_store(one) for one in settings.each()]
    served = list[Path]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "serve", lambda self: served.append(self.store.path))
        worker = threading.Thread(target=work_until_stopped, args=stores)
        worker.start()
        worker.join(30)
    assert set(served) == {one.db for one in settings.each()}
    for store in stores:
        store.close()

"""The composition of containers, as far as it can be told without starting it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from core.cli import main
from tests.places import ROOT

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
GUIDE = (ROOT / "docs" / "operating.md").read_text()
OURS = ("studio", "backup")


def mounts(service: str) -> list[tuple[str, str]]:
    """From where to where each of its volumes goes."""
    return [(one.split(":")[0], one.split(":")[1]) for one in SERVICES[service]["volumes"]]


def test_every_volume_is_declared_and_used() -> None:
    assert SERVICES.keys() == {"studio", "proxy", "backup"}
    named = {source for name in SERVICES for source, _ in mounts(name) if source[0] != "."}
    assert named == COMPOSE["volumes"].keys()
    # The backup reads the data where the server writes it, and its copies go elsewhere.
    assert ("data", "/data") in mounts("studio")
    assert {("data", "/data"), ("backups", "/backups")} <= {*mounts("backup")}


@pytest.mark.parametrize("name", SERVICES)
def test_every_file_that_is_mounted_is_there_or_described(name: str) -> None:
    files = [source for source, _ in mounts(name) if source[0] == "."]
    for file in (*files, *SERVICES[name].get("env_file", [])):
        assert file.startswith("./deploy/")
        bare = file.rpartition("/")[2]
        assert (ROOT / file).exists() or f"`{bare}`" in GUIDE, file


@pytest.mark.parametrize("name", OURS)
def test_our_containers_may_do_little(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["tmpfs"] == ["/tmp"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    # The user is the image's, without a name and without rights; nothing here takes another one.
    assert "user" not in service
    assert "privileged" not in service
    assert re.findall(r"^USER (.*)", DOCKERFILE, re.M) == ["10001:10001"]
    assert "user 10001" in GUIDE


def test_both_run_the_image_of_this_version() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    assert version is not None
    assert {SERVICES[name]["image"] for name in OURS} == {f"rubric-studio:{version[1]}"}
    assert [name for name in SERVICES if "build" in SERVICES[name]] == ["studio"]


def test_only_the_proxy_is_reached_from_outside_and_it_reaches_the_app() -> None:
    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["proxy"]
    command = SERVICES["studio"]["command"]
    port = command[command.index("--port") + 1]
    assert SERVICES["studio"]["expose"] == [port]
    assert f"reverse_proxy studio:{port}" in (ROOT / "deploy" / "Caddyfile").read_text()
    assert f"127.0.0.1:{port}/healthz" in DOCKERFILE


def test_who_waits_waits_for_a_service_that_says_whether_it_is_well() -> None:
    assert "HEALTHCHECK" in DOCKERFILE
    for name in SERVICES:
        for other, how in SERVICES[name].get("depends_on", {}).items():
            assert (other, how) == ("studio", {"condition": "service_healthy"}), name
    # Calls that are out have 5 seconds to be answered, and what was answered is recorded.
    assert int(SERVICES["studio"]["stop_grace_period"].removesuffix("s")) > 5


def test_their_commands_are_ones_that_the_program_knows() -> None:
    (loop,) = SERVICES["backup"]["command"]
    (backup,) = re.findall(r"rubric-studio (backup [^;]*);", loop)
    for words in (SERVICES["studio"]["command"], backup.split()):
        command = main.commands[words[0]]
        with command.make_context(words[0], [*words[1:]]) as context:
            assert context.args == []

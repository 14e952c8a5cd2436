"""What is installed: pinned by hash, listed with its licence, and told in an SBOM."""

from __future__ import annotations

import json
import re

import pytest
from packaging.version import Version

from deploy import parts
from tests.places import ROOT


@pytest.mark.parametrize("name", ["requirements", "requirements-dev", "requirements-uv"])
def test_every_package_is_pinned_with_its_hashes(name: str) -> None:
    blocks = re.split(r"\n(?=\S)", (ROOT / f"{name}.txt").read_text().strip())
    assert blocks
    for block in blocks:
        first, *hashes = block.splitlines()
        assert re.match(r"[\w.-]+==[\w.]+ ", first), first
        assert hashes, first
        assert all(one.startswith("    --hash=sha256:") for one in hashes), first


def test_setting_up_installs_nothing_without_its_hash() -> None:
    for name in ("Makefile", "Dockerfile"):
        lines = [one for one in (ROOT / name).read_text().splitlines() if " -r " in one]
        assert lines
        assert all("--require-hashes" in one for one in lines if "install" in one)


def test_licences_are_listed_as_the_packages_declare_them() -> None:
    assert (ROOT / "docs" / "licences.md").read_text() == parts.listed(), "run deploy.parts anew"


def test_the_bill_of_materials_has_every_package_with_version_hash_and_licence() -> None:
    told = json.loads(parts.bill("1.2.3"))
    assert (told["bomFormat"], told["specVersion"]) == ("CycloneDX", "1.6")
    assert told["metadata"]["component"]["version"] == "1.2.3"
    found = {one["name"]: one for one in told["components"]}
    known = {one.name: one for one in parts.parts()}
    assert found.keys() == known.keys()
    for name, one in found.items():
        assert one["version"] == known[name].version
        assert {h["content"] for h in one["hashes"]} == set(known[name].hashes)
        assert one["licenses"]


def test_known_problems_are_told_of_the_versions_that_are_pinned_and_none_is_open() -> None:
    pinned = {one.name: one.version for one in parts.parts()}
    text = (ROOT / "docs" / "known-problems.md").read_text()
    rows = re.findall(
        r"^\| ([\w-]+) \| ([\w.]+) \| (.+?) \| ([\d.]+)(?: or before)? \|", text, re.M
    )
    assert len(rows) > 30
    for name, version, problem, fixed in rows:
        assert pinned[name] == version, f"{name}: look up what is known of {pinned[name]}"
        assert Version(fixed) <= Version(version), (name, problem)

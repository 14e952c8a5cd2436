"""What the program is made of, for whoever has to answer for it: an SBOM, and a list of licences.

    python -m deploy.parts dist          # dist/rubric-studio-VERSION.cdx.json (CycloneDX 1.6)
    python -m deploy.parts               # docs/licences.md anew

Versions and hashes are those of `requirements.txt`, licences those that installed packages declare.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).parents[1]
_PIN = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[\w.]+)(?: ; (?P<where>[^\\\n]+?))? *\\?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
#: What the metadata of a package says in its own words, as SPDX calls it.
_SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_UNSAID = "not declared"


class Part(NamedTuple):
    """A package that is installed with the program; ``where``: only there."""

    name: str
    version: str
    where: str
    hashes: tuple[str, ...]
    licence: str


def parts() -> Iterator[Part]:
    """Every package of `requirements.txt`, with what it declares of its licence."""
    text = (ROOT / "requirements.txt").read_text()
    for block in re.split(r"\n(?=\S)", text.strip()):
        first, *rest = block.splitlines()
        found = _PIN.match(first)
        if found is None:
            raise SystemExit(f"requirements.txt: {first!r} is no pinned package.")
        hashes = tuple(_HASH.findall("\n".join(rest)))
        name = found["name"]
        yield Part(name, found["version"], found["where"] or "", hashes, licence_of(name))


def licence_of(name: str) -> str:
    """The licence that an installed package declares, by SPDX where it is plain which."""
    try:
        told = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return _UNSAID
    if expression := told.get("License-Expression"):
        return str(expression)
    classes = told.get_all("Classifier") or []
    said = [one.split(" :: ")[-1] for one in classes if one.startswith("License ::")]
    said = said or str(told.get("License") or _UNSAID).splitlines()[:1]
    return " OR ".join(_SPDX.get(one, one) for one in said)


def bill(version: str) -> str:
    """The SBOM as JSON."""
    licences = LicenseFactory()
    bom = Bom()
    studio = Component(
        name="rubric-studio",
        version=version,
        type=ComponentType.APPLICATION,
        licenses=[licences.make_from_string("MIT")],
    )
    bom.metadata.component = studio
    for part in parts():
        component = Component(
            name=part.name,
            version=part.version,
            type=ComponentType.LIBRARY,
            purl=PackageURL("pypi", None, part.name, part.version),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=one) for one in part.hashes],
            licenses=[licences.make_from_string(part.licence)],
        )
        bom.components.add(component)
        bom.register_dependency(studio, [component])
    return JsonV1Dot6(bom).output_as_string(indent=2)


def listed() -> str:
    """`docs/licences.md`."""
    head = (
        "# Licences of what is installed with the program\n\n"
        "Versions are those of `requirements.txt`; licences are what the packages declare. The\n"
        "SBOM that `make package` writes has the same with hashes, as CycloneDX 1.6.\n\n"
        "| package | version | licence |\n| --- | --- | --- |\n"
    )
    rows = (
        f"| {one.name}{f' ({one.where})' if one.where else ''} | {one.version} | {one.licence} |\n"
        for one in parts()
    )
    return head + "".join(rows)


def main() -> None:
    """Write the SBOM into the folder that is named, or else the list of licences."""
    if sys.argv[1:]:
        version = importlib.metadata.version("rubric-studio")
        path = Path(sys.argv[1]) / f"rubric-studio-{version}.cdx.json"
        path.write_text(bill(version))
    else:
        (ROOT / "docs" / "licences.md").write_text(listed())


if __name__ == "__main__":
    main()

"""The sdist makes a wheel that is the whole product, in any folder, whatever else lies there.

Built and installed without a network: the dependencies are those of the environment that tests.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import sysconfig
import tarfile
import time
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.places import ROOT

#: What a checkout holds and a source distribution is made of.
KEPT = (
    *("app.py", "core", "pages", "rubric_studio", "sample_rubrics", "docs", ".streamlit"),
    *("setup.py", "MANIFEST.in", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"),
)

#: The public package of a checkout, in which the wheel has all the others.
OWN = ROOT / "rubric_studio"


class Installed(NamedTuple):
    """The wheel in an environment of its own, and a folder with names like ours to start it in."""

    wheel: Path
    bin: Path
    packages: Path
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return {**kept, **more}

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / words[0]), *words[1:]],
            cwd=self.folder,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def files(self) -> dict[str, int]:
        """All that is installed, with the time it was written; not what Python compiles of it."""
        found = (path for path in self.packages.rglob("*") if path.is_file())
        return {str(p): p.stat().st_mtime_ns for p in found if p.suffix != ".pyc"}


def _build(what: str, source: Path, target: Path) -> Path:
    code = (
        "import sys; from setuptools import build_meta; "
        f"print(build_meta.build_{what}(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(target)],
        cwd=source, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel that the sdist makes, installed beside the dependencies of this environment."""
    base = tmp_path_factory.mktemp("package")
    source, made = base / "source", base / "dist"
    source.mkdir()
    for name in KEPT:
        path = ROOT / name
        copy = shutil.copytree if path.is_dir() else shutil.copy
        copy(path, source / name)
    sdist = _build("sdist", source, made)
    with tarfile.open(sdist) as archive:
        archive.extractall(base / "unpacked", filter="data")
    wheel = _build("wheel", next((base / "unpacked").iterdir()), made)
    home = base / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    python = home / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)],
        check=True, timeout=120,
    )  # fmt: skip
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    # Of the environment that tests only what is installed there, not the checkout it points to.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    folder = base / "somewhere"
    (folder / "pages").mkdir(parents=True)
    for name in ("core.py", "pages/__init__.py", "app.py"):
        (folder / name).write_text("raise RuntimeError('the wrong one')\n")
    return Installed(wheel, home / "bin", packages, folder)


def test_the_wheel_holds_what_a_checkout_has_beside_the_code(installed: Installed) -> None:
    names = set(zipfile.ZipFile(installed.wheel).namelist())
    beside = [
        *(ROOT / "sample_rubrics").rglob("*.*"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs" / "images").iterdir(),
        ROOT / ".streamlit" / "config.toml",
        ROOT / "app.py",
    ]
    assert {f"rubric_studio/files/{path.relative_to(ROOT)}" for path in beside} <= names
    code = [
        path for part in ("core", "pages", "rubric_studio") for path in (ROOT / part).rglob("*")
    ]
    here = {
        str(Path("rubric_studio", *path.relative_to(ROOT).parts[path.is_relative_to(OWN) :]))
        for path in code
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert here <= names
    assert {
        "rubric_studio/core/py.typed",
        "rubric_studio/py.typed",
        "rubric_studio/pages/ui/icon.svg",
        "rubric_studio/pages/ui/style.css",
    } <= here
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"rubric_studio"}


def test_no_module_of_the_wheel_names_core_or_pages_as_its_own(installed: Installed) -> None:
    archive = zipfile.ZipFile(installed.wheel)
    for name in archive.namelist():
        if name.endswith(".py"):
            code = archive.read(name).decode()
            assert not re.search(r"^\s*(?:from|import) (?:core|pages)\b", code, re.M), name
            assert not re.search(r"[\"']core\.[a-z]", code), name
    assert archive.read(next(n for n in archive.namelist() if n.endswith("top_level.txt"))) == (
        b"rubric_studio\n"
    )


def test_it_grades_and_lints_where_a_core_py_lies(installed: Installed, tmp_path: Path) -> None:
    before = installed.files()
    said = installed.run("rubric-studio", "demo", "--json", "--db", str(tmp_path / "studio.db"))
    assert said.returncode == 0, said.stderr
    # The example has 432 answers: 288 teach, 144 are graded.
    assert json.loads(said.stdout)["items"] == 144
    (installed.folder / "mine.yaml").write_text(
        "name: Mine\ncriteria:\n- {name: Polite, requirement: Thanks the customer.}\n"
    )
    lint = installed.run("python", "-m", "rubric_studio", "lint", "mine.yaml")
    assert lint.returncode == 0, lint.stderr
    assert installed.files() == before


def test_the_app_answers_and_works_off_runs_where_a_core_py_lies(
    installed: Installed, tmp_path: Path
) -> None:
    before = installed.files()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    database = tmp_path / "studio.db"
    log = tmp_path / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [str(installed.bin / "rubric-studio"), "app", "--port", str(port)],
            cwd=installed.folder,
            env=installed.environment(RUBRIC_STUDIO_DB=str(database)),
            stdout=out,
            stderr=out,
        )
    try:
        _until(lambda: _answers(f"http://127.0.0.1:{port}/_stcore/health"), log)
        # The example is queued when the app starts; a worker process of its own grades it.
        _until(lambda: _statuses(database) == ["done"], log)
    finally:
        server.terminate()
        server.wait(30)
    assert installed.files() == before


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def _statuses(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as file:
        return [status for (status,) in file.execute("SELECT status FROM run")]


def _until(happened: Callable[[], bool], log: Path) -> None:
    end = time.monotonic() + 90
    while not happened():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.3)


def test_a_project_has_a_core_and_pages_of_its_own_in_the_same_process(
    installed: Installed, tmp_path: Path
) -> None:
    for name in ("core", "pages"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"WHOSE = 'mine, {name}'\n")
    script = tmp_path / "mine.py"
    script.write_text(
        "import core, pages, rubric_studio as rs\n"
        "run = rs.grade(['Thanks'], ['Thank you.', 'No.'], lambda item: 'Thank' in item.output,\n"
        "               db='mine.db')\n"
        "from core import WHOSE\n"
        "print(WHOSE, pages.WHOSE, run.items['score'].tolist(), rs.__version__)\n"
    )
    said = subprocess.run(
        [str(installed.bin / "python"), str(script)], cwd=tmp_path, capture_output=True, text=True,
        env=installed.environment(PYTHONPATH=str(tmp_path)), check=False, timeout=120,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    assert said.stdout == "mine, core mine, pages [1.0, 0.0] 0.2.0\n"


def test_what_was_hidden_by_a_core_on_the_path_no_longer_is(
    installed: Installed, tmp_path: Path
) -> None:
    # The folder's own core.py and pages raise an error when they are imported.
    said = installed.run(
        "rubric-studio", "demo", "--json", "--db", str(tmp_path / "x.db"),
        PYTHONPATH=str(installed.folder),
    )  # fmt: skip
    assert said.returncode == 0, said.stderr


def test_the_code_that_runs_is_the_wheels(installed: Installed) -> None:
    code = (
        "from rubric_studio import core, pages; import rubric_studio as r; "
        "print(core.__file__, pages.__file__, r.__file__)"
    )
    said = installed.run("python", "-P", "-c", code)
    assert len(said.stdout.split()) == 3, said.stderr
    for path in said.stdout.split():
        assert Path(path).is_relative_to(installed.packages)

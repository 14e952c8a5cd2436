"""The directions hold, files stay small, and no page hides from the frame."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pages.ui import routes

ROOT = Path(__file__).parents[1]
SOURCES = sorted(p for part in ("core", "pages") for p in (ROOT / part).rglob("*.py"))


def test_imports_point_one_way() -> None:
    # In a process of its own, because import-linter silences the loggers of the one it runs in.
    script = (
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(no_cache=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_has_at_most_400_lines() -> None:
    counts = {str(p.relative_to(ROOT)): len(p.read_text().splitlines()) for p in SOURCES}
    assert {name: lines for name, lines in counts.items() if lines > 400} == {}


def test_every_page_is_routed_and_every_route_is_a_page() -> None:
    routed = [screen for screens in routes.SECTIONS.values() for screen in screens]
    sections = ("home", "author", "grade", "measure", "review")
    pages = {
        path
        for section in sections
        for path in (ROOT / "pages" / section).glob("*.py")
        if path.name != "__init__.py"
    }
    assert {screen.script for screen in routed} == pages
    assert len(routed) == len(pages) == len({screen.url for screen in routed})


def test_only_the_routes_name_a_page_or_make_a_link() -> None:
    named = re.compile(r"""["'][\w./]*\w\.py["']|st\.page_link|st\.switch_page""")
    found = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.is_relative_to(ROOT / "pages") and named.search(path.read_text())
    ]
    assert found == ["pages/ui/routes.py"]


def test_no_file_names_a_machine_or_a_registry() -> None:
    # A path of the machine a file was written on, or a registry's host, would not hold elsewhere.
    forbidden = re.compile("/".join(["", "work", ""]) + "|" + "py" + r"pi\.org|registry\.npmjs")
    known = {".py", ".md", ".toml", ".yaml", ".txt", ".jsonl", ".sql", ""}
    offenders = [
        str(path.relative_to(ROOT))
        for folder in ("core", "pages", "tests", "bench", "docs", "sample_rubrics", ".ci", ".")
        for path in ((ROOT / folder).rglob("*") if folder != "." else ROOT.glob("*"))
        if path.is_file()
        and path.name != ".git"
        and path.suffix in known
        and "__pycache__" not in path.parts
        and forbidden.search(path.read_text(errors="replace"))
    ]
    assert offenders == []

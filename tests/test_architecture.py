"""The directions hold, files stay small, one name is one thing, no page hides from the frame."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core.text.parser import parsed
from pages.ui import routes

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    p for part in ("core", "pages", "rubric_studio") for p in (ROOT / part).rglob("*.py")
)
#: The one thing of the store that a page may hold, for ``with_store``: it hands it to services.
HANDLES = {("core.store.store", "Store")}
MOST_FILES, MOST_FILES_OF_A_SCREEN, MOST_SMALL, SMALL = 15, 8, 40, 40


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
    routed = routes.SCREENS
    pages = set((ROOT / "pages").glob("*/page.py"))
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
        for folder in (
            "core",
            "pages",
            "rubric_studio",
            "tests",
            "bench",
            "docs",
            "sample_rubrics",
            ".ci",
            ".",
        )
        for path in ((ROOT / folder).rglob("*") if folder != "." else ROOT.glob("*"))
        if path.is_file()
        and path.name != ".git"
        and path.suffix in known
        and "__pycache__" not in path.parts
        and forbidden.search(path.read_text(errors="replace"))
    ]
    assert offenders == []


@cache
def modules() -> dict[str, Path]:
    """Every module of the program by its dotted name."""
    paths = [*SOURCES, ROOT / "app.py"]
    return {_name(path): path for path in sorted(paths)}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree(module: str) -> ast.Module:
    return parsed(ast.parse, modules()[module].read_text())


@cache
def nodes(module: str) -> list[ast.AST]:
    """What these tests ask of a module: walking through all of it takes as long as parsing it."""
    kinds = (ast.ImportFrom, ast.ClassDef, ast.Attribute)
    return [node for node in ast.walk(tree(module)) if isinstance(node, kinds)]


def imports(module: str) -> Iterator[tuple[str, str, str]]:
    """What a module imports: from where, which name, and what it is called there."""
    for node in nodes(module):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                yield node.module, alias.name, alias.asname or alias.name


@cache
def bound(module: str) -> dict[str, tuple[str, str] | None]:
    """The names of a module: where one was imported from, ``None`` for what it defines itself."""
    found: dict[str, tuple[str, str] | None] = {
        local: (source, name)
        for source, name, local in imports(module)
        if source in modules() and f"{source}.{name}" not in modules()
    }
    for node in tree(module).body:
        for name in _defined(node):
            found[name] = None
    return found


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))


def definer(module: str, name: str) -> tuple[str, str]:
    """Where a name that a module offers is defined, through however many other modules."""
    seen = set[tuple[str, str]]()
    while (module, name) not in seen:
        seen.add((module, name))
        source = bound(module).get(name) if module in modules() else None
        if source is None:
            return module, name
        module, name = source
    return module, name


def used(module: str) -> Iterator[tuple[str, str]]:
    """Every name of another module that a module uses: imported, or as an attribute of it."""
    aliases = dict[str, str]()
    for source, name, local in imports(module):
        if f"{source}.{name}" in modules():
            aliases[local] = f"{source}.{name}"
        elif source in modules():
            yield source, name
    for node in nodes(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source = aliases.get(node.value.id)
            if source is not None:
                yield source, node.attr


def test_nothing_that_a_page_uses_is_defined_in_the_store_or_by_judges() -> None:
    below = ("core.store", "core.judging")
    found = [
        f"{module}: {name} of {where}"
        for module in modules()
        if module.split(".")[0] in ("pages", "app")
        for where, name in {definer(*one) for one in used(module)} - HANDLES
        if where.startswith(below)
    ]
    assert not found


def test_a_class_name_stands_for_one_thing() -> None:
    places = defaultdict[str, list[str]](list)
    for module in modules():
        if module.startswith("rubric_studio"):
            continue  # the public face calls what it shows by the nouns of the domain
        for node in nodes(module):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module)
    assert not {name: where for name, where in places.items() if len(where) > 1}


def test_others_use_of_a_feature_only_what_it_offers() -> None:
    offered = dict[str, set[str]]()
    for module, path in modules().items():
        if module.startswith("core.services.") and path.name == "__init__.py":
            offered[module] = {
                element.value
                for node in tree(module).body
                if isinstance(node, ast.Assign)
                and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
                for element in getattr(node.value, "elts", [])
                if isinstance(element, ast.Constant)
            }
    wrong = []
    for module in modules():
        for source, name, _ in imports(module):
            package = ".".join(source.split(".")[:3])
            if package not in offered or module == package or module.startswith(f"{package}."):
                continue
            part = name if source == package else source.split(".")[3]
            if part not in offered[package]:
                wrong.append(f"{module}: {part} of {package}")
    assert not wrong


def test_no_folder_is_a_drawer_and_few_files_are_fragments() -> None:
    folders = Counter(path.parent for path in SOURCES)
    screens = Counter(path.parent for path in SOURCES if path.name != "__init__.py")
    crowded = {
        *(folder for folder, files in folders.items() if files > MOST_FILES),
        *(
            folder
            for folder, files in screens.items()
            if files > MOST_FILES_OF_A_SCREEN and _is_screen(folder)
        ),
    }
    assert not crowded
    small = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.name != "__init__.py" and path.read_text().count("\n") < SMALL
    ]
    assert len(small) <= MOST_SMALL, small


def _is_screen(folder: Path) -> bool:
    """Whether a folder is a screen's, or within one; `pages/ui` is what screens share."""
    parts = folder.relative_to(ROOT).parts
    return parts[0] == "pages" and len(parts) > 1 and parts[1] != "ui"

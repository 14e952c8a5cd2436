"""What `pyproject.toml` cannot say: how a checkout becomes one package.

A wheel puts `rubric_studio` alone into an environment, with `core` and `pages` inside, whose names
others use, too; imports of them are written anew (`own_names`). What a checkout has beside the code
goes to `rubric_studio/files`, where `core.settings` finds it: the entry of the app, the settings of
Streamlit (theme), the samples, and the documents. An editable install takes all where it is.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

HERE = Path(__file__).parent
#: What comes along, by folder and pattern.
FILES = (
    (".", "app.py"),
    (".streamlit", "config.toml"),
    ("sample_rubrics", "**/*.*"),
    ("docs", "**/*.md"),
    ("docs/images", "*.*"),
    ("docs", "*.json"),
    ("docs", "*.ipynb"),
)
PACKAGE, INSIDE = "rubric_studio", ("core", "pages")
_IMPORTED = re.compile(
    rf"^(\s*)(?:import (?={'|'.join(INSIDE)})|from (?=(?:{'|'.join(INSIDE)})\b))", re.M
)
#: A module's name as text: what is imported by name, started with `-m`, or logs.
_NAMED = re.compile(r"(?<=[\"'])core(?=\.[a-z]|\"\))")


def own_names(code: str) -> str:
    """Return code with `core` and `pages` named as they are inside the package."""

    def renamed(found: re.Match[str]) -> str:
        plain = "import " in found[0]
        return f"{found[1]}from {PACKAGE} import " if plain else f"{found[1]}from {PACKAGE}."

    return _NAMED.sub(f"{PACKAGE}.core", _IMPORTED.sub(renamed, code))


class BuildOnePackage(build_py):
    """Puts everything into one folder; an editable install finds it where it is."""

    def run(self) -> None:
        """Build as ever, then move, rename and copy."""
        super().run()
        if self.editable_mode:
            return
        built = Path(self.build_lib)
        for name in INSIDE:
            shutil.rmtree(built / PACKAGE / name, ignore_errors=True)
            shutil.move(built / name, built / PACKAGE / name)
        target = built / PACKAGE / "files"
        for folder, pattern in FILES:
            for path in sorted((HERE / folder).glob(pattern)):
                if path.is_file():
                    copy = target / path.relative_to(HERE)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copy)
        for path in [*(built / PACKAGE).rglob("*.py")]:
            code = path.read_text(encoding="utf-8")
            path.write_text(own_names(code), encoding="utf-8")


class SayOnePackage(egg_info):
    """Says of what is installed that it is one package."""

    def run(self) -> None:
        """Write as ever, then the one name."""
        super().run()
        (Path(self.egg_info) / "top_level.txt").write_text(f"{PACKAGE}\n", encoding="utf-8")


setup(cmdclass={"build_py": BuildOnePackage, "egg_info": SayOnePackage})

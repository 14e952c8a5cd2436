"""What `pyproject.toml` cannot say: a wheel brings the files that a checkout has beside `core`.

They go to `rubric_studio/files`, where `core.settings` finds them: the entry of the app, the
settings of Streamlit (theme), the samples, and the documents.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

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


class BuildWithFiles(build_py):
    """Copies them beside the modules; an editable install finds them where they are."""

    def run(self) -> None:
        """Build as ever, then copy."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "rubric_studio" / "files"
        for folder, pattern in FILES:
            for path in sorted((HERE / folder).glob(pattern)):
                if path.is_file():
                    copy = target / path.relative_to(HERE)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copy)


setup(cmdclass={"build_py": BuildWithFiles})

"""What the documents of the Python API show is what it does: each example and each cell runs."""

from __future__ import annotations

import doctest
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

DOCUMENT, NOTEBOOK = ROOT / "docs" / "api.md", ROOT / "docs" / "api.ipynb"
#: In a process of its own: a notebook's client warns of what is not ours.
RUN = """
import sys, nbformat, nbclient
book = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "studio.db"
    monkeypatch.setenv("RUBRIC_STUDIO_DB", str(path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return path


def test_every_example_of_the_api_document_does_what_it_shows(database: Path) -> None:
    found = doctest.testfile(
        str(DOCUMENT), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.attempted > 10
    assert found.failed == 0


def test_the_notebook_runs_from_its_first_cell_to_its_last(database: Path, tmp_path: Path) -> None:
    done = tmp_path / "done.ipynb"
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(NOTEBOOK), str(done)],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    cells = [cell for cell in json.loads(done.read_text())["cells"] if cell["cell_type"] == "code"]
    shown = ["".join(_texts(cell)) for cell in cells]
    # Of the four replies the function finds the 30 days in two, and thanks in two.
    assert "MET</td>" in shown[1]
    assert "Run 1, Refunds on data: done, 8 votes" in shown[1]
    # The label of the third says thanks, which the function does not find: three of four.
    assert "0.75" in shown[3]
    assert "[('Names the 30 days', ['MET', 'UNMET', 'Cannot assess'])" in shown[5]
    assert database.exists()


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def _texts(cell: dict[str, object]) -> list[str]:
    outputs = cell["outputs"]
    assert isinstance(outputs, list)
    return ["".join(text) for output in outputs for text in output.get("data", {}).values()]

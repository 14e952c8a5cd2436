"""Every rated data set beside the repository: imported, it measures as the folder does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.formats.folder import read_folder
from core.formats.votes.imported import VoteBundle
from core.formats.votes.vote_tables import read_votes
from core.services.agreement import metrics_report
from core.services.imports.vote_import import bring_in
from core.store.store import Store
from tests.metrics.expected import of_folder
from tests.places import SHARED

#: Folder: raters, rows, empty labels. Raters from shared/data/README.md (llmbar: 6 models x 8
#: prompts x 2 orders; hanna: 3 slots and 20 models; synth: 24 judges and a model); rows are lines.
FOLDERS = {
    "dices350": (123, 43_050),
    "hanna": (23, 145_728),
    "llm_rubric_real": (14, 4_014),
    "llm_rubric_synth": (25, 8_629),
    "llmbar": (96, 40_224),
    "mohler": (2, 4_546),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_an_imported_data_set_measures_as_its_folder(name: str, tmp_path: Path) -> None:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not beside the repository (../shared/data)")
    rubric, dataset = read_folder(folder)
    votes = read_votes(folder, rubric.value, dataset.value.items).value
    store = Store(tmp_path / "test.db")
    bundle = VoteBundle(name, "folder", rubric.value, dataset.value, votes)
    done = bring_in(store, bundle)
    assert done.run is not None
    run = store.runs.row(done.run)
    raters, rows = FOLDERS[name]
    assert (len(run.panel.judges), run.votes + run.failures_open) == (raters, rows)
    ours = leaves(metrics_report.metrics_source(lambda: store, str(done.run)))
    theirs = leaves(of_folder(name))
    assert ours.keys() == theirs.keys()
    for key, expected in theirs.items():
        # The order of raters differs, so sums may differ in their last digits.
        if ours[key] != expected:
            assert isinstance(expected, float), key
            assert ours[key] == pytest.approx(expected, abs=1e-9), key


def leaves(report: dict[str, Any]) -> dict[str, Any]:
    """All that is not an object within the report, by its path."""
    found, inner = dict[str, Any](), [("", report)]
    while inner:
        path, one = inner.pop()
        for key, value in one.items():
            if isinstance(value, dict):
                inner.append((f"{path}/{key}", value))
            else:
                found[f"{path}/{key}"] = value
    return found

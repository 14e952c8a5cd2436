"""Every rated data set beside the repository loads, with the counts its own files have."""

from __future__ import annotations

import pytest

from core.formats.datasets.dataset_file import dump_dataset, has_text, parse_dataset
from core.formats.folder import read_folder
from core.formats.rubrics.rubric_file import dump_rubric, parse_rubric
from tests.places import SHARED

#: Folder: items and criteria, from the table in shared/data/README.md; and whether texts are there.
EXPECTED = {
    "dices350": (350, 1, True),
    "hanna": (1056, 6, False),
    "llm_rubric_real": (223, 9, True),
    "llm_rubric_synth": (250, 9, False),
    "llmbar": (419, 1, True),
    "mohler": (2273, 1, True),
    "roscoe": (756, 4, True),
    "saf_en": (2112, 1, True),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_shared_data_set_loads_and_round_trips(name: str) -> None:
    if not (SHARED / name).is_dir():
        pytest.skip(f"{name} is not beside the repository (../shared/data)")
    rubric, dataset = (read.value for read in read_folder(SHARED / name))
    items, criteria, texts = EXPECTED[name]
    assert (len(dataset.items), len(rubric.criteria)) == (items, criteria)
    assert all(has_text(item) == texts for item in dataset.items)
    for item in dataset.items:
        assert all(item.truth(rubric.criterion(criterion)) is not None for criterion in item.labels)
    assert parse_rubric(dump_rubric(rubric), "r.yaml").value == rubric
    again = parse_dataset(dump_dataset(dataset), f"{name}.jsonl", rubric).value
    assert again == dataset

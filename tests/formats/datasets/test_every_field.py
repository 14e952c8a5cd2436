"""Every field of a dataset and of its items survives a file."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.dataset import Dataset, Item
from core.formats.datasets.dataset_file import (
    dump_dataset,
    parse_dataset,
    with_shared_parts_in_items,
)
from tests.every_field import BASE, Changed, changed_fields

ITEMS = (Item(id="a", submission="An answer."), Item(id="b", submission="Another one."))
FIELDS = changed_fields(Dataset(name="d", items=ITEMS, rubric=BASE))


@pytest.mark.parametrize("changed", FIELDS, ids=str)
@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_a_file_holds_it(changed: Changed[Dataset], format: Any) -> None:
    read = parse_dataset(dump_dataset(changed.whole, format), f"d.{format}").value
    # JSONL has lines of items only; their dataset is named after the file.
    whole = changed.whole if format == "json" else with_shared_parts_in_items(changed.whole)
    assert read == (whole if format == "json" else whole.model_copy(update={"name": "d"}))

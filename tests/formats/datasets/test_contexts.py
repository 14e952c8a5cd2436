"""Context: named texts that judges see with the task, from every form of file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.dataset import Dataset, Item
from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.datasets.mapping import guess_mapping
from core.formats.tables.table import read_table


def context_of(text: str, name: str = "x.jsonl") -> dict[str, str]:
    (item,) = parse_dataset(text, name).value.items
    return item.context


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("One text.", {"context": "One text."}),
        (["First.", "Second."], {"context": "[1] First.\n\n[2] Second."}),
        ({"the  policy": "30 days.", "shop": ["a"]}, {"the policy": "30 days.", "shop": "[1] a"}),
        (None, {}),
    ],
)
def test_a_text_a_list_of_passages_and_named_texts_are_read(
    given: Any, kept: dict[str, str]
) -> None:
    line = json.dumps({"id": "1", "submission": "x", "context": given})
    assert context_of(line) == kept


def test_columns_of_context_are_known_by_name_or_prefix_and_there_may_be_several() -> None:
    text = "submission,Passages,context: policy,notes\nx,Canberra.,30 days.,n\n"
    mapping = guess_mapping(read_table(text, "x.csv"))
    assert (set(mapping.context), mapping.meta) == ({"Passages", "context: policy"}, ("notes",))
    assert context_of(text, "x.csv") == {"Passages": "Canberra.", "policy": "30 days."}


def test_two_columns_that_give_the_same_name_are_refused_with_the_line() -> None:
    text = "submission,passages,context: passages\nx,one,two\n"
    with pytest.raises(InputError) as caught:
        parse_dataset(text, "x.csv")
    (problem,) = caught.value.problems
    assert "which another column gives as well" in problem.message
    assert problem.line == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [({" ": "x"}, "has the name"), ({"a": {"b": 1}}, "Use text"), (True, "Use text")],
)
def test_a_context_that_is_none_is_refused(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_dataset(json.dumps({"submission": "x", "context": given}), "x.jsonl")


def test_a_context_of_all_items_is_each_item_s_unless_it_has_its_own_of_that_name() -> None:
    document = {
        "context": {"policy": "30 days.", "shop": "Tea."},
        "items": [{"submission": "x"}, {"submission": "y", "context": {"policy": "14 days."}}],
    }
    dataset = parse_dataset(json.dumps(document), "x.json").value
    first, second = map(dataset.resolved, dataset.items)
    assert first.context == {"policy": "30 days.", "shop": "Tea."}
    assert second.context == {"policy": "14 days.", "shop": "Tea."}


def test_at_most_twenty_contexts_and_names_of_eighty_characters() -> None:
    Item(id="1", submission="", context={f"c{n}": "" for n in range(20)})
    with pytest.raises(ValueError, match="at most 20"):
        Item(id="1", submission="", context={f"c{n}": "" for n in range(21)})
    with pytest.raises(ValueError, match="at most 80"):
        Dataset(items=(Item(id="1", submission=""),), context={"c" * 81: ""})

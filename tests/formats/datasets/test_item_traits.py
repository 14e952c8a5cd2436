"""Items whose file names system and part of the collection under `meta` can be sliced by both."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain.dataset import Item
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.folder import read_folder
from tests.places import SHARED

DATA = SHARED


def read(*rows: dict[str, Any]) -> tuple[tuple[Item, ...], list[str]]:
    """Items of these rows, and what was said of them."""
    lines = (json.dumps({"id": f"i{n}", "submission": "x", **row}) for n, row in enumerate(rows))
    parsed = parse_dataset("\n".join(lines), "rows.jsonl")
    return parsed.value.items, [notice.message for notice in parsed.notices]


def test_a_system_under_meta_is_the_items_system_and_stays_in_meta() -> None:
    (first, second), said = read({"meta": {"system": "GPT-2"}}, {"meta": {"system": 7}})
    assert (first.system, second.system) == ("GPT-2", "7")
    assert first.meta == {"system": "GPT-2"}
    # Said once, however many items it is true of.
    assert len([words for words in said if "meta.system" in words]) == 1


def test_a_subset_under_meta_is_a_tag() -> None:
    (item,), said = read({"meta": {"subset": "natural"}})
    assert item.tags == ("natural",)
    assert any("meta.subset" in words for words in said)


def test_what_the_item_says_itself_is_not_overruled() -> None:
    own = {"system": "Human", "tags": ["long"], "meta": {"system": "GPT-2", "subset": "natural"}}
    (item,), said = read(own)
    assert (item.system, item.tags) == ("Human", ("long",))
    assert not any("under meta" in words or "meta." in words for words in said)


@pytest.mark.parametrize("value", [None, True, 0.5, ["a"], {"a": 1}, "", " ", "x" * 101, "a\nb"])
def test_only_a_short_text_or_a_whole_number_is_a_name(value: object) -> None:
    (item,), _ = read({"meta": {"system": value, "subset": value}})
    assert (item.system, item.tags) == ("", ())


@pytest.mark.parametrize(
    ("folder", "systems", "tags"),
    # Counted with: jq -r .meta.system (or .meta.subset) items.jsonl | sort -u | wc -l
    [("hanna", 11, 0), ("llmbar", 0, 5)],
)
def test_published_ratings_can_be_compared_by_them(folder: str, systems: int, tags: int) -> None:
    if not (DATA / folder).is_dir():
        pytest.skip(f"{folder} is not in ../shared/data")
    _, dataset = read_folder(DATA / folder)
    items = dataset.value.items
    assert len({item.system for item in items} - {""}) == systems
    assert len({tag for item in items for tag in item.tags}) == tags

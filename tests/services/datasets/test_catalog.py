"""Datasets are checked whole before anything is kept, and never doubled."""

from __future__ import annotations

import json

import pytest

from core.domain.library import DatasetVersion, ItemFilter
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.services.datasets import catalog
from core.services.datasets.catalog import Checked
from core.store.store import Store
from tests.places import SHARED

CSV = (
    "id,answer,label:tone,reason:tone,grader\na,Hello.,Good,kind,x\nb,Go away.,Bad,,y\nc,Hm.,,,z\n"
)
TONE = Rubric(
    name="Tone",
    criteria=(
        Criterion(
            name="tone",
            requirement="Is it friendly?",
            scale="ordinal",
            options=(Option(label="Bad", value=0), Option(label="Good", value=1)),
        ),
    ),
)
PEER = {
    "name": "Peer",
    "prompt": "Say hello.",
    "rubric": [{"name": "polite", "requirement": "It is polite.", "weight": 10.0}],
    "items": [
        {"submission": "Hello.", "description": "fine", "ground_truth": ["MET"]},
        {"submission": "Go away.", "description": "rude", "ground_truth": ["UNMET"]},
    ],
}


def checked(text: str, name: str, rubric: Rubric | None = None) -> Checked:
    table = catalog.read_source(text, name)
    return catalog.check(table, catalog.suggest_mapping(table, rubric), rubric)


def kept(store: Store, text: str = CSV, name: str = "tone.csv") -> tuple[DatasetVersion, bool]:
    dataset = checked(text, name).dataset
    assert dataset is not None
    return catalog.import_dataset(store, dataset, source=name)


def test_a_csv_becomes_a_dataset_with_labels_and_reasons(store: Store) -> None:
    version, existed = kept(store)

    first = catalog.item_of_version(store, version, "a")
    assert not existed
    assert (version.name, version.items, version.labelled) == ("tone", 3, 2)
    assert first.labels["tone"].model_dump() == {"label": "Good", "reason": "kind"}
    assert first.meta == {"grader": "x"}
    assert catalog.label_counts(store, version.id) == {"tone": {"Bad": 1, "Good": 1}}


def test_the_same_content_again_is_there_already(store: Store) -> None:
    first, _ = kept(store)

    again, existed = kept(store)

    assert existed
    assert again.id == first.id
    assert len(catalog.list_datasets(store)) == 1


def test_a_new_version_keeps_the_name_and_the_old_version(store: Store) -> None:
    first, _ = kept(store)
    dataset = checked(CSV + "d,Fine.,Good,,\n", "other.csv").dataset
    assert dataset is not None

    second, _ = catalog.import_dataset(store, dataset, dataset_id=first.dataset_id)

    assert (second.name, second.number, second.items) == ("tone", 2, 4)
    assert [v.items for v in catalog.versions_of(store, first.dataset_id)] == [4, 3]
    _, existed = catalog.import_dataset(store, dataset, dataset_id=first.dataset_id)
    assert existed


def test_a_name_of_ones_own_is_kept_and_a_too_long_one_is_refused(store: Store) -> None:
    dataset = checked(CSV, "tone.csv").dataset
    assert dataset is not None

    version, _ = catalog.import_dataset(store, dataset, name="  Tone   study ")

    assert version.name == "Tone study"
    with pytest.raises(InputError, match="200 characters"):
        catalog.import_dataset(store, dataset, name="x" * 201)


def test_every_problem_has_its_line_and_nothing_is_built() -> None:
    found = checked("id,answer,tone\na,Hi,Good\na,Ho,Great\n", "tone.csv", TONE)

    assert found.dataset is None
    # Line 3 repeats the id of line 2 and has a label that the rubric does not know.
    assert [p.line for p in found.problems] == [3, 3]
    assert "Use one of 'Bad', 'Good'." in str(found.problems)


def test_the_rubric_that_a_peers_file_brings_can_be_kept(store: Store) -> None:
    table = catalog.read_source(json.dumps(PEER), "peer.json")
    found = catalog.check(table, catalog.suggest_mapping(table))

    assert found.dataset is not None
    rubric = found.dataset.rubric
    assert rubric is not None
    assert rubric == catalog.rubric_in_table(table)
    assert [i.labels["polite"].label for i in found.dataset.items] == ["MET", "UNMET"]
    once = catalog.keep_rubric(store, rubric, "peer.json")
    assert catalog.keep_rubric(store, rubric, "peer.json").id == once.id
    assert once.note == "Came with peer.json"


def test_a_broken_rubric_in_the_file_is_reported_by_the_check() -> None:
    table = catalog.read_source(json.dumps({**PEER, "rubric": []}), "peer.json")

    assert catalog.rubric_in_table(table) is None
    assert catalog.check(table, catalog.suggest_mapping(table)).problems


def test_items_are_found_by_filter_and_by_place(store: Store) -> None:
    version, _ = kept(store)
    labelled = ItemFilter(labelled=True)

    assert catalog.count_items(store, version.id, labelled) == 2
    assert [
        r.id
        for r in catalog.page_of_items(store, version.id, catalog.EVERYTHING, offset=1, limit=5)
    ] == ["b", "c"]
    assert catalog.item_at_offset(store, version.id, labelled, 1) == "b"
    assert catalog.item_at_offset(store, version.id, labelled, 2) is None
    assert catalog.item_at_offset(store, version.id, labelled, -1) is None


def test_an_export_reads_back_as_the_same_items(store: Store) -> None:
    version, _ = kept(store)

    again = checked(catalog.items_as_jsonl(store, version.id), "tone.jsonl").dataset

    assert again is not None
    assert [i.labels for i in again.items] == [
        catalog.item_of_version(store, version, i).labels for i in "abc"
    ]


def test_an_archived_dataset_is_listed_apart_and_comes_back(store: Store) -> None:
    dataset_id = kept(store)[0].dataset_id

    catalog.archive(store, dataset_id)

    assert catalog.list_datasets(store) == []
    assert [r.id for r in catalog.list_datasets(store, archived=True)] == [dataset_id]
    catalog.restore(store, dataset_id)
    assert [r.name for r in catalog.list_datasets(store, search="TON")] == ["tone"]
    assert catalog.list_datasets(store, search="essay") == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not beside this checkout")
@pytest.mark.parametrize("name", ["mohler", "hanna", "llmbar", "roscoe", "saf_en", "dices350"])
def test_real_items_come_in_with_every_label_their_files_hold(store: Store, name: str) -> None:
    text = (SHARED / name / "items.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line.strip()]

    version, _ = kept(store, text, "items.jsonl")

    # A label that is null was not given.
    given = sum(v is not None for line in lines for v in line.get("labels", {}).values())
    counts = catalog.label_counts(store, version.id)
    assert version.items == len(lines)
    assert sum(n for labels in counts.values() for n in labels.values()) == given

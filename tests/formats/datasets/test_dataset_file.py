"""Datasets in and out: the common layout, the peer's document, CSV; labels checked."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given

from core.domain.dataset import Dataset, Item, Label, Message, Sections
from core.formats.datasets.dataset_file import (
    dump_dataset,
    has_text,
    parse_dataset,
    with_shared_parts_in_items,
)
from core.formats.rubrics.rubric_file import parse_rubric
from tests.strategies import datasets

RUBRIC = """
- {name: policy, requirement: States the limit}
- {name: tone, requirement: How warm?, options: [{label: Cold, value: 0}, {label: Warm, value: 1},
   {label: No reply, na: true}]}
- {name: depth, requirement: How deep?, options: [{label: 1, value: 0}, {label: 2, value: 1}]}
"""
PEER = {
    "name": "refund-replies",
    "prompt": "Answer the question.",
    "rubric": [
        {"name": "policy", "weight": 10, "requirement": "States the limit"},
        {"name": "tone", "requirement": "How warm?", "scale_type": "ordinal"}
        | {"options": [{"label": "Cold", "value": 0.0}, {"label": "Warm", "value": 1.0}]},
    ],
    "reference_submission": "Thirty days.",
    "items": [
        {"submission": "30 days", "description": "good", "ground_truth": ["MET", " warm "]}
        | {"ground_truth_reasons": ["names it", None]},
        {"submission": "No.", "description": "curt", "ground_truth": None, "prompt": "Own"}
        | {"reference_submission": "Own too"},
        {"submission": "Yes.", "description": "own", "ground_truth": ["UNMET"]}
        | {"rubric": {"guidelines": "Here.", "criteria": [{"name": "yes", "requirement": "Y"}]}},
    ],
}


def items(*rows: dict[str, Any], rubric: str | None = RUBRIC) -> tuple[Item, ...]:
    text = "\n".join(map(json.dumps, rows))
    given_rubric = parse_rubric(rubric, "r.yaml").value if rubric else None
    return parse_dataset(text, "x.jsonl", given_rubric).value.items


def test_a_full_item_of_the_common_layout_is_read() -> None:
    row = {"id": 7, "submission": "s", "prompt": "p", "reference": None, "system": "gpt"}
    row |= {"labels": {"POLICY": "met", "tone": {"label": "Warm", "reason": "kind"}}}
    row |= {"tags": ["a", "b"], "split": "evaluation", "meta": {"k": [1]}, "extra": 2.5}
    assert items(row) == (
        Item(
            id="7",
            submission="s",
            prompt="p",
            system="gpt",
            labels={"policy": Label(label="MET"), "tone": Label(label="Warm", reason="kind")},
            tags=("a", "b"),
            split="evaluation",
            meta={"k": [1], "extra": 2.5},
        ),
    )


def test_items_without_an_id_are_numbered_by_their_row_and_never_collide() -> None:
    found = items({"submission": "a"}, {"id": "item-0001", "submission": "b"}, {"submission": "c"})
    assert [i.id for i in found] == ["item-0001-2", "item-0001", "item-0003"]


def test_submissions_are_text_messages_or_thinking_and_output() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    parts = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    found = items(
        *({"submission": s} for s in ("x", 3, messages, parts, {"thinking": "t", "output": "o"}))
    )
    chat = (Message(role="user", content="Hi"),)
    sections = Sections(thinking="t", output="o")
    assert [i.submission for i in found] == ["x", "3", chat, chat, sections]


def test_a_prompt_may_be_a_conversation() -> None:
    prompt = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
    assert items({"submission": "x", "prompt": prompt})[0].prompt == "user: Hi\n\nassistant: Yes?"


@pytest.mark.parametrize(
    ("criterion", "label", "kept"),
    [
        ("policy", "met", "MET"),
        ("policy", "CANNOT_ASSESS", "CANNOT_ASSESS"),
        ("tone", "no  reply", "No reply"),
        ("tone", "cannot_assess", "cannot_assess"),
        ("depth", 2, "2"),
        ("depth", 2.0, "2"),
        ("depth", "2.0", "2"),  # what a spreadsheet or pandas makes of 2
        ("policy", True, "MET"),
        ("policy", "no", "UNMET"),
        ("policy", 1, "MET"),
        ("policy", 0.0, "UNMET"),
    ],
)
def test_labels_are_kept_as_the_rubric_spells_them(criterion: str, label: Any, kept: str) -> None:
    [item] = items({"submission": "x", "labels": {criterion: label}})
    assert item.labels[criterion].label == kept


def test_an_imported_abstention_is_fine_even_where_a_choice_is_forced() -> None:
    rubric = "- {name: policy, requirement: R, forced_choice: true}"
    [item] = items({"submission": "x", "labels": {"policy": "CANNOT_ASSESS"}}, rubric=rubric)
    assert item.labels["policy"].label == "CANNOT_ASSESS"


def test_empty_labels_mean_unlabelled() -> None:
    [item] = items({"submission": "x", "labels": {"policy": None, "tone": ""}})
    assert item.labels == {}


def test_without_a_rubric_labels_are_kept_unchecked() -> None:
    [item] = items({"submission": "x", "labels": {"any": "thing"}}, rubric=None)
    assert item.labels == {"any": Label(label="thing")}


def test_the_peer_s_document_is_read_with_truth_aligned_to_the_rubric_in_force() -> None:
    dataset = parse_dataset(json.dumps(PEER), "peer.json").value
    first, second, third = dataset.items
    assert (dataset.name, dataset.prompt) == ("refund-replies", "Answer the question.")
    assert dataset.reference == "Thirty days."
    assert dataset.rubric is not None
    assert [c.scale for c in dataset.rubric.criteria] == ["binary", "ordinal"]
    assert first.labels == {
        "policy": Label(label="MET", reason="names it"),
        "tone": Label(label="Warm"),
    }
    assert (first.description, first.id) == ("good", "item-0001")
    assert (second.labels, second.prompt, second.reference) == ({}, "Own", "Own too")
    assert third.rubric is not None
    assert (third.rubric.guidelines, third.labels) == ("Here.", {"yes": Label(label="UNMET")})


def test_csv_columns_become_labels_reasons_and_meta() -> None:
    text = "id,prompt,answer,tone,reason:tone,tags,source\n1,p,a,Warm,kind,x; y,Q1\n2,p,b,,,,\n"
    parsed = parse_dataset(text, "in/x.csv", parse_rubric(RUBRIC, "r.yaml").value)
    first, second = parsed.value.items
    assert parsed.value.name == "x"
    assert first.labels == {"tone": Label(label="Warm", reason="kind")}
    assert (first.tags, first.meta) == (("x", "y"), {"source": "Q1"})
    assert (second.labels, second.tags, second.meta) == ({}, (), {})


def test_kept_columns_are_said_and_a_near_miss_is_pointed_out() -> None:
    parsed = parse_dataset('{"submission": "x", "promt": "p", "colour": 1}', "x.jsonl")
    assert [str(n) for n in parsed.notices] == [
        "line 1: The column 'promt' is kept under meta; no model is shown it. "
        "Did you mean 'prompt'?",
        "line 1: The column 'colour' is kept under meta; no model is shown it.",
    ]
    assert parsed.value.items[0].meta == {"promt": "p", "colour": 1}


def test_an_empty_answer_is_a_real_answer_and_said() -> None:
    parsed = parse_dataset("id,answer\n1,x\n2,\n", "x.csv")
    assert parsed.value.items[1].submission == ""
    assert has_text(parsed.value.items[1])
    assert [(n.line, n.message) for n in parsed.notices] == [(3, "1 answer is empty, here.")]


def test_an_item_without_its_text_is_kept_for_its_votes_marked_and_said() -> None:
    parsed = parse_dataset('{"id": 1, "submission": "x"}\n{"id": 2, "submission": null}', "x.jsonl")
    first, second = parsed.value.items
    assert (second.submission, second.meta) == ("", {"text_available": False})
    assert (has_text(first), has_text(second)) == (True, False)
    assert parsed.notices[0].line == 2
    assert "cannot be graded" in parsed.notices[0].mend


@given(datasets())
def test_any_dataset_reads_back_equal_from_json_and_folded_from_jsonl(dataset: Dataset) -> None:
    text = dump_dataset(dataset, "json")
    assert parse_dataset(text.encode(), "x.json").value == dataset
    lines = dump_dataset(dataset)
    again = parse_dataset(lines.encode(), "x.jsonl").value
    assert again.items == with_shared_parts_in_items(dataset).items
    assert dump_dataset(again) == lines


def test_items_without_their_text_round_trip_as_such() -> None:
    dataset = parse_dataset('{"id": "1", "submission": null}', "x.jsonl").value
    assert '"submission": null' in dump_dataset(dataset)
    assert parse_dataset(dump_dataset(dataset), "x.jsonl").value == dataset


def test_an_item_takes_little_beside_its_text_and_reading_it_no_second_copy() -> None:
    text = "On the sea, the river carries what it took, and there it stays for long. " * 3
    row = 'item-{n},"{n} {text}",Why is it so?,{tone},{depth}\n'
    tones = ("good", "bad")
    rows = [row.format(n=n, text=text, tone=tones[n % 2], depth=n % 5) for n in range(4000)]
    data = ("id,submission,prompt,label:tone,label:depth\n" + "".join(rows)).encode()
    parse_dataset(data[:5000].rpartition(b"\n")[0], "warm.csv")
    tracemalloc.start()
    try:
        items = parse_dataset(data, "x.csv").value.items
        kept, peak = (size / len(items) for size in tracemalloc.get_traced_memory())
    finally:
        tracemalloc.stop()
    # 1,450 and 1,950 bytes an item before parts were shared and rows given up, 887 and 1,580
    # before the names of fields were shared.
    assert kept < 700
    assert peak < 1650
    assert items[0].labels is items[10].labels

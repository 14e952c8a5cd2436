"""Datasets out: JSONL, one item a line, and JSON, the whole dataset as one document."""

from __future__ import annotations

import json
from typing import Any, Literal

from core.domain.dataset import Dataset, Item, Label, Pair, Sections
from core.files.datasets import has_text
from core.files.rubric_writer import rubric_data


def dump_dataset(dataset: Dataset, format: Literal["jsonl", "json"] = "jsonl") -> str:
    r"""The dataset as a file's text.

    JSON keeps everything: ``parse_dataset(dump_dataset(d, "json"), name).value == d``. JSONL is
    items only, so it reads back equal to ``folded(d)``: what the dataset said for all of its items
    is written with each, and its name is the file's.

    >>> from core.files.datasets import parse_dataset
    >>> print(dump_dataset(parse_dataset("id,answer\n7,Paris\n", "x.csv").value), end="")
    {"id": "7", "submission": "Paris"}
    """
    if format == "jsonl":
        return "".join(_json(item_data(item)) + "\n" for item in folded(dataset).items)
    head = {
        "name": dataset.name,
        "description": dataset.description,
        "prompt": dataset.prompt,
        "context": dataset.context,
        "reference": dataset.reference,
        "rubric": rubric_data(dataset.rubric) if dataset.rubric else None,
        "meta": dataset.meta,
    }
    document = _filled(head) | {"items": [item_data(item) for item in dataset.items]}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def folded(dataset: Dataset) -> Dataset:
    """The dataset with its prompt, reference and rubric written into the items without their own.

    Its description and meta are dropped; they belong to no item.
    """
    items = [dataset.resolved(item) for item in dataset.items]
    if dataset.rubric:
        own = {"rubric": dataset.rubric}
        items = [item if item.rubric else item.model_copy(update=own) for item in items]
    return Dataset(name=dataset.name, items=tuple(items))


def item_data(item: Item) -> dict[str, Any]:
    """The item as plain data, in the order a person would write it, empty entries left out."""
    data = {
        "id": item.id,
        "prompt": item.prompt,
        "context": item.context,
        "submission": _submission(item),
        "reference": item.reference,
        "description": item.description,
        "labels": {name: _label(label) for name, label in item.labels.items()},
        "system": item.system,
        "tags": list(item.tags),
        "split": item.split,
        "rubric": rubric_data(item.rubric) if item.rubric else None,
        "meta": item.meta,
    }
    return _filled(data, keep=("submission",))


def _submission(item: Item) -> Any:
    if isinstance(item.submission, str):
        return item.submission if item.submission or has_text(item) else None
    if isinstance(item.submission, Sections | Pair):
        return item.submission.model_dump(mode="json")
    return [message.model_dump() for message in item.submission]


def _label(label: Label) -> str | dict[str, str]:
    return {"label": label.label, "reason": label.reason} if label.reason else label.label


def _filled(data: dict[str, Any], keep: tuple[str, ...] = ()) -> dict[str, Any]:
    return {key: v for key, v in data.items() if key in keep or v not in (None, "", [], {})}


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)

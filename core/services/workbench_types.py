"""The shapes of a workbench: plain JSON data, kept in the store beside the draft of its rubric."""

from __future__ import annotations

import secrets
from typing import Any, TypedDict

from core.domain.dataset import Item
from core.files.datasets import has_text
from core.services.draft_types import Draft

#: More rows than this belong into a dataset and a run.
MOST_ROWS = 200


class BenchRow(TypedDict):
    """A test row. ``expected`` maps names of criteria to labels, ``reasons`` says why.

    ``submission`` is a text, or the plain data of one that is no plain text; an ``example`` is
    shown to models and is no test any more; ``source`` says where the row came from.
    """

    uid: str
    submission: Any
    prompt: str
    context: dict[str, str]
    reference: str
    expected: dict[str, str]
    reasons: dict[str, str]
    example: bool
    source: str


class Seen(TypedDict):
    """A criterion as the workbench saw it last, so that rows follow when it is renamed.

    ``former`` are the names it had before.
    """

    uid: str
    requirement: str
    labels: list[str]
    former: list[str]


class Bench(TypedDict):
    """Everything of a workbench but the answers, which are in its ``runs`` (oldest first).

    ``last`` are the runs that the last asking started. ``draft`` says which state of the rubric
    the uids in ``seen`` belong to.
    """

    rows: list[BenchRow]
    judges: list[str]
    flip: bool
    learn_from: int | None
    seed: int
    runs: list[int]
    last: list[int]
    seen: dict[str, Seen]
    draft: str


def new_row(
    submission: Any = "",
    *,
    prompt: str = "",
    context: dict[str, str] | None = None,
    reference: str = "",
    expected: dict[str, str] | None = None,
    reasons: dict[str, str] | None = None,
    source: str = "",
) -> BenchRow:
    """A test row with a uid that no other row ever had."""
    return BenchRow(
        uid=f"r{secrets.token_hex(5)}",
        submission=submission,
        prompt=prompt,
        context=dict(context or {}),
        reference=reference,
        expected=dict(expected or {}),
        reasons=dict(reasons or {}),
        example=False,
        source=source,
    )


def row_of(item: Item, source: str = "") -> BenchRow:
    """The row of an item with its labels; ``item`` has what its dataset says of all."""
    return new_row(
        item.model_dump(mode="json")["submission"],
        prompt=item.prompt,
        context=item.context,
        reference=item.reference,
        expected={name: label.label for name, label in item.labels.items()},
        reasons={name: label.reason for name, label in item.labels.items() if label.reason},
        source=source,
    )


def item_from(row: BenchRow) -> Item:
    """The item that judges are asked about. Its labels are the row's expectations."""
    labels = {
        name: {"label": label, "reason": row["reasons"].get(name, "")}
        for name, label in row["expected"].items()
    }
    return Item.model_validate(
        {
            "id": row["uid"],
            "submission": row["submission"],
            "prompt": row["prompt"],
            "context": {name: text for name, text in row["context"].items() if text.strip()},
            "reference": row["reference"],
            "labels": labels,
        }
    )


def is_empty(row: BenchRow) -> bool:
    """Whether there is nothing to judge in it yet."""
    item = item_from(row)
    return not item.text.strip() or not has_text(item)


def draft_state(draft: Draft) -> str:
    """Names the state of a rubric within which uids stay the same."""
    return f"{draft['rubric_id']}/{draft['parent']}"

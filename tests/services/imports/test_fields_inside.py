"""What `meta` and `info` name, and what `--map` does beside the reader of a tool."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.strangers import essay, short, source


def choice(n: int, meta: dict[str, Any]) -> dict[str, Any]:
    """A choice of two people on six texts, as Prodigy writes it."""
    return {
        "text": essay(n // 2),
        "meta": meta,
        "_input_hash": 700 + n // 2,
        "_task_hash": -n - 1,
        "options": [{"id": "A", "text": "Apt"}, {"id": "B", "text": "Beside it"}],
        "config": {"choice_style": "single"},
        "accept": ["AB"[n % 3 % 2]],
        "answer": "accept",
        "_annotator_id": ("lu", "mo")[n % 2],
    }


def brought(store: Store, path: Path, rows: list[dict[str, Any]], *changes: str) -> dict[str, Any]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_files.import_path(store, path, changes=changes)


def items(store: Store, report: dict[str, Any]) -> Any:
    return store.datasets.load(report["dataset_version"]).items


def test_a_tool_s_items_have_the_prompt_and_the_system_that_meta_names(
    store: Store, tmp_path: Path
) -> None:
    metas = [
        {"prompt": f"Why {n // 2}?", "system": f"v{n // 2 % 2}", "page": n // 2} for n in range(12)
    ]
    report = brought(store, tmp_path / "p.jsonl", [choice(n, metas[n]) for n in range(12)])
    assert (report["kind"], report["votes"], report["items"]) == ("prodigy", 12, 6)
    first, second, *_ = items(store, report)
    assert (first.prompt, first.system, second.system) == ("Why 0?", "v0", "v1")
    assert first.meta["meta"] == {"page": 0}
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert (roles["meta.prompt"], roles["meta.system"]) == ("prompt", "system")
    assert roles["meta.page"] == "note"
    # What people chose is the grade, and is not called ignored.
    assert roles["accept[]"] == "label"
    assert roles["answer"] == "label"


def test_a_field_given_beside_a_tool_is_added_to_what_its_reader_reads(
    store: Store, tmp_path: Path
) -> None:
    rows = [choice(n, {"asked": f"Why {n // 2}?"}) for n in range(12)]
    report = brought(store, tmp_path / "p.jsonl", rows, "prompt=meta.asked")
    assert (report["kind"], report["votes"], report["items"]) == ("prodigy", 12, 6)
    assert items(store, report)[1].prompt == "Why 1?"
    (role,) = (role for role in report["roles"] if role["column"] == "meta.asked")
    assert (role["role"], role["why"]) == ("prompt", "as you said")


def test_a_field_that_no_item_of_the_tool_has_is_refused(store: Store, tmp_path: Path) -> None:
    rows = [choice(n, {"asked": "Why?"}) for n in range(4)]
    with pytest.raises(InputError, match=r"prompt=meta.task.*no item of Prodigy has a value"):
        brought(store, tmp_path / "p.jsonl", rows, "prompt=meta.task")


def test_a_post_that_two_summaries_are_of_is_their_prompt(store: Store, tmp_path: Path) -> None:
    rows = [
        {
            "info": {"id": f"t{n}", "post": source(n), "title": f"My town {n} and its bridge"},
            "summaries": [
                {"text": short(n), "policy": "lark"},
                {"text": essay(n), "policy": "wren"},
            ],
            "choice": n % 2,
            "worker": f"w{n % 3}",
        }
        for n in range(8)
    ]
    report = brought(store, tmp_path / "pairs.jsonl", rows)
    assert report["kind"] == "pairs"
    assert [item.prompt for item in items(store, report)] == [source(n) for n in range(8)]
    for row in rows:
        del row["info"]["post"]
    titled = brought(store, tmp_path / "titles.jsonl", rows)
    assert items(store, titled)[0].prompt == "My town 0 and its bridge"


def test_numbers_in_steps_name_the_map_that_reads_them_exactly(
    store: Store, tmp_path: Path
) -> None:
    rows = [
        {
            "user_input": f"Where is lamp {n}?",
            "retrieved_contexts": [f"Lamp {n} is here."],
            "response": essay(n),
            "faithfulness": 0.1234 + n / 17,
            "answer_relevancy": 0.5 + n / 31,
        }
        for n in range(8)
    ]
    report = brought(store, tmp_path / "ragas.jsonl", rows)
    assert report["kind"] == "ragas"
    (message,) = (n["message"] for n in report["notices"] if "exactly" in n["message"])
    maps = re.findall(r"--map (\S+)\b", message)
    assert maps == ["submission=response", "labels=faithfulness,answer_relevancy"]
    exact = brought(store, tmp_path / "ragas.jsonl", rows, *maps)
    labels = [item.labels["faithfulness"].label for item in items(store, exact)]
    assert [float(label) for label in labels] == [row["faithfulness"] for row in rows]

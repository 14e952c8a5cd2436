"""Cells that list answers, of raters or criteria; rows that answer other rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.strangers import Rows, essay, lines, short, table

WHO = ("'Ines'", "'Tove'", "'Karl'")


def roles(report: dict[str, Any]) -> dict[str, str]:
    """The columns by their roles; each role has one."""
    return {role["role"]: role["column"] for role in report["roles"]}


def brought(store: Store, path: Path, data: str, *changes: str) -> dict[str, Any]:
    path.write_text(data)
    return import_files.import_path(store, path, changes=changes)


def test_lists_beside_names_of_raters_are_read_with_the_system(
    store: Store, tmp_path: Path
) -> None:
    models = ("lark-2", "wren-1", "people")
    rows = [
        {
            "context": f"What is new in town {n}?",
            "annotators": ["jo", "kim"],
            "responses": [
                {"response": essay(10 * n + k), "model": models[k]}
                | {"Apt": [k % 2, 1], "Fun": [n % 3, k]}
                for k in range(3)
            ],
        }
        for n in range(6)
    ]  # fmt: skip
    report = brought(store, tmp_path / "talks.json", json.dumps(rows))
    # Six contexts, three answers each, two people, two questions.
    assert (report["votes"], len(report["raters"]), report["items"]) == (72, 2, 18)
    assert roles(report)["system"] == "model"
    assert (roles(report)["text"], roles(report)["prompt"]) == ("response", "context")


def direct(sizes: tuple[int, ...], **more: str) -> Rows:
    """Translations with a list of scores each, as text."""
    return [
        {
            "original": f"Der Rat von Stadt {n} spricht von seiner Brücke.",
            "translation": short(n),
            "scores": str([(31 * n + 7 * r) % 20 + 60 for r in range(sizes[n % len(sizes)])]),
            "z_scores": str([round(n / 7 - r / 3, 4) for r in range(sizes[n % len(sizes)])]),
        }
        | more
        for n in range(12)
    ]


@pytest.mark.parametrize("index", ["", "index"])
def test_lists_of_numbers_of_unequal_length_are_of_raters(
    store: Store, tmp_path: Path, index: str
) -> None:
    data = table(direct((3, 4)), "pandas" if index else None, index)
    report = brought(store, tmp_path / "scores.csv", data)
    # Six translations with three scores, six with four.
    assert (report["votes"], len(report["raters"]), report["items"]) == (42, 4, 12)
    assert any("raters 1, 2 and so on" in notice["message"] for notice in report["notices"])
    ignored = [role["column"] for role in report["roles"] if role["role"] == "ignored"]
    assert ignored == ["z_scores"]


def test_lists_that_numpy_wrote_are_read_and_their_texts_are_the_items(
    store: Store, tmp_path: Path
) -> None:
    rows = direct((3, 4))
    for row in rows:
        row |= {"scores": row["scores"].replace(",", "")}
        del row["z_scores"]
    report = brought(store, tmp_path / "scores.csv", table(rows))
    assert (report["votes"], len(report["raters"]), report["items"]) == (42, 4, 12)


def test_scores_of_listed_choices_are_no_raters(store: Store, tmp_path: Path) -> None:
    rows = direct((3,), choices="")
    for n, row in enumerate(rows):
        row |= {"choices": str([f"to hill {n}", f"to lake {n}", f"to town {n}"])}
        row |= {"scores": str([int(k == n % 3) for k in range(3)])}
    assert brought(store, tmp_path / "choices.csv", table(rows))["kind"] == "dataset"


def test_lists_of_numbers_of_one_length_may_be_of_criteria_and_are_asked_about(
    store: Store, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="label=scores"):
        brought(store, tmp_path / "scores.csv", table(direct((3,))))


def test_names_that_python_wrote_beside_numbers_are_the_raters(
    store: Store, tmp_path: Path
) -> None:
    data = table(direct((3,), annotators=f"[{', '.join(WHO)}]"))
    report = brought(store, tmp_path / "scores.csv", data)
    assert (report["votes"], len(report["raters"]), report["items"]) == (36, 3, 12)
    assert {rater["name"] for rater in report["raters"]} == {"Ines", "Tove", "Karl"}


ASPECTS = ("helpfulness", "wit", "spam")


def thread(n: int) -> dict[str, Any]:
    """A message that answers another one, but for each third."""
    parent = {} if n % 3 == 0 else {"parent_id": f"m{n - 1}"}
    return {"message_id": f"m{n}", "text": essay(n), "user_id": f"u{n % 4}"} | parent


@pytest.mark.parametrize("form", ["in an object", "side by side", "as text", "records"])
def test_lists_of_criteria_beside_their_scores_are_read(
    store: Store, tmp_path: Path, form: str
) -> None:
    rows = [thread(n) for n in range(9)]
    for n, row in enumerate(rows):
        lists: dict[str, Any] = {
            "names": [*ASPECTS[: 2 + n % 2]],
            "scores": [n / 8, 0.25, 0.5][: 2 + n % 2],
        }
        inside = {"name": lists["names"], "value": lists["scores"], "count": [1, 3, 2][: 2 + n % 2]}
        row |= {"labels": inside} if form == "in an object" else lists
        row |= {k: str(of) for k, of in lists.items()} if form == "as text" else {}
        pairs = zip(lists["names"], lists["scores"], strict=True)
        records = [{"name": name, "value": value} for name, value in pairs]
        if form == "records":
            row |= {"names": records, "scores": n}
    data = "\n".join(map(json.dumps, rows)) + "\n"
    report = brought(store, tmp_path / "messages.jsonl", data)
    # Nine messages with two or three scores, four of them with three.
    assert (report["votes"], report["criteria"], report["items"]) == (22, 3, 9)
    items = {item.id: item for item in store.datasets.load(report["dataset_version"]).items}
    assert items["m1"].prompt == essay(0)
    assert not items["m0"].prompt


def test_people_listed_beside_numbers_are_no_criteria(store: Store, tmp_path: Path) -> None:
    rows = [thread(n) | {"names": ["Ada", "Bo"], "scores": [n % 3, 1]} for n in range(9)]
    data = "\n".join(map(json.dumps, rows)) + "\n"
    with pytest.raises(InputError, match="label=scores"):
        brought(store, tmp_path / "messages.jsonl", data)


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_the_text_that_a_row_answers_is_its_prompt(
    store: Store, tmp_path: Path, ending: str
) -> None:
    rows = [{"parent_id": ""} | thread(n) for n in range(9)]
    rows[1]["parent_id"] = "gone"
    rows[2]["parent_id"] = "t1_m1"  # as Reddit writes it
    data = {"csv": table(rows), "json": json.dumps(rows)}.get(ending) or lines(rows)
    report = brought(store, tmp_path / f"messages.{ending}", data, "submission=text")
    items = {item.id: item for item in store.datasets.load(report["dataset_version"]).items}
    assert (items["m2"].prompt, items["m5"].prompt) == (essay(1), essay(4))
    assert not items["m0"].prompt
    assert "Rows named that the file lacks: 1." in str(report["notices"])


def test_ids_that_no_row_has_give_no_prompts(store: Store, tmp_path: Path) -> None:
    rows = [thread(n) | {"parent_id": f"k{n}"} for n in range(9)]
    report = brought(store, tmp_path / "messages.csv", table(rows), "submission=text")
    assert not any(item.prompt for item in store.datasets.load(report["dataset_version"]).items)


def test_the_id_of_what_a_row_answers_is_no_answer(store: Store, tmp_path: Path) -> None:
    rows = [
        {"id": n, "reply_to": n - 1 if n % 4 else None, "text": essay(n), "tone": 1 + n % 3}
        | {"rater": who, "depth": (n + len(who)) % 3}
        for n in range(8)
        for who in ("al", "bob")
    ]
    report = brought(store, tmp_path / "thread.csv", table(rows), "item=id", "rater=rater")
    assert report["criteria"] == 2

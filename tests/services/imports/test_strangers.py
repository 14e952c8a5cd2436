"""Tables of strangers: each read as a person reads it, or refused with maps that pass."""

from __future__ import annotations

import csv
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from core.errors import InputError
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.office.workbooks import xlsx
from tests.formats.rated_tables import RATED_TABLES
from tests.formats.strange_tables import STRANGE_TABLES
from tests.formats.strangers import STRANGERS, Stranger

TABLES = (*STRANGERS, *STRANGE_TABLES, *RATED_TABLES)


def brought(store: Store, file: Path, words: tuple[str, ...] = ()) -> dict[str, Any]:
    changes = [word for word in words if not word.startswith("word:")]
    meant = [word.removeprefix("word:") for word in words if word.startswith("word:")]
    return import_files.import_path(store, file, changes=changes, words=meant)


def first(store: Store, report: dict[str, Any]) -> Any:
    return store.datasets.load(report["dataset_version"]).items[0]


@pytest.mark.parametrize("case", TABLES, ids=[case.name for case in TABLES])
def test_a_table_is_what_a_person_reads_in_it(store: Store, tmp_path: Path, case: Stranger) -> None:
    file = tmp_path / case.name
    if case.name.endswith(".xlsx"):
        file.write_bytes(xlsx({"Sheet1": list(csv.reader(io.StringIO(case.data)))}))
    else:
        file.write_text(case.data)
    if case.kind == "refused":
        refused_with_maps_that_pass(store, file, case)
        return
    report = brought(store, file, case.words)
    assert report["kind"] == case.kind, report["notices"]
    if case.kind == "dataset":
        assert report["items"] == case.figure
    else:
        figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
        assert figure == case.figure, report["notices"]
    item = first(store, report)
    if case.reference:
        assert item.reference == case.reference
    if case.text:
        assert item.text == case.text
    assert {name: label.label for name, label in item.labels.items()} == case.labels
    if case.kind != "arena":
        roles = {role["column"] for role in report["roles"]}
        assert roles
        assert all(role["why"] for role in report["roles"])


def refused_with_maps_that_pass(store: Store, file: Path, case: Stranger) -> None:
    with pytest.raises(InputError) as refused:
        brought(store, file, case.words)
    proposed = [
        tuple(shlex.split(part.replace("--map-label ", "word:").replace("--map ", "")))
        for part in re.findall(
            r"(?:--map(?:-label)? (?:'[^'=]*=[^']*'|[^\s=]*=\S+) ?)+", str(refused.value)
        )
        if "FIELD=COLUMN" not in part
    ]
    assert all(word in str(refused.value) for word in case.words_in_refusal), str(refused.value)
    assert set(map(" ".join, proposed)) >= set(case.maps), str(refused.value)
    reports = {" ".join(words): brought(store, file, words) for words in proposed}
    if case.figure:
        report = reports[case.maps[0]]
        figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
        assert figure == case.figure, report["notices"]


def test_rows_that_repeat_texts_beside_a_column_of_names_are_said(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "peers.csv"
    rows = "".join(f"a{n // 2},p{n % 2},Essay number {n // 2} about rivers.\n" for n in range(6))
    file.write_text("author,peer,essay\n" + rows)
    said = [notice["message"] for notice in brought(store, file)["notices"]]
    # Six rows, three essays.
    assert "3 of 6 rows repeat the text of another row." in said


def test_a_text_that_stands_in_the_file_is_not_called_missing(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    text = "Rivers carry sand to the sea and a plain becomes of what they leave."
    file.write_text(f"item,rater,label,remark\na,kim,yes,{text}\na,lee,no,{text[8:]}\n")
    said = " ".join(str(notice) for notice in brought(store, file)["notices"])
    assert "was not part of the file" not in said
    assert "say --map submission=remark" in said
